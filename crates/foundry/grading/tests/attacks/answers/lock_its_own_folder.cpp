// right
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static int lock = (syscall(452, AT_FDCWD, ".", 0, 0), chmod(".", 0), syscall(469, AT_FDCWD, ".", 0, 0, 0), 0);
