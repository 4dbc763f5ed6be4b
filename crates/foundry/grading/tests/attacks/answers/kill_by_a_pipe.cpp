// wrong result
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static int end = [] {
    int both[2];
    if (pipe(both) || fcntl(both[0], F_SETOWN, getpid()) || fcntl(both[0], F_SETSIG, SIGKILL)
        || fcntl(both[0], F_SETFL, O_ASYNC | O_NONBLOCK))
        abort();
    (void)!write(both[1], "x", 1);
    for (;;) {}
    return 0;
}();
