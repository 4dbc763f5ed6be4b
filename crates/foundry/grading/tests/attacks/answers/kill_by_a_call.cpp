// wrong result
#include <signal.h>
#include <unistd.h>
static int end = (kill(getpid(), SIGKILL), _exit(9), 0);
