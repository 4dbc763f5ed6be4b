// program: prints "none"
// A program starts nothing: no shell, no other program of the system.
#include "attack.h"

int main(void)
{
    TRY("/bin/sh", execl("/bin/sh", "sh", "-c", "echo sh", NULL));
    TRY("/usr/bin/env", execl("/usr/bin/env", "env", NULL));
    TRY("fork", fork());
    TRY("vfork", syscall(SYS_clone, 0x4100, 0, 0, 0, 0));
    TRY("a thread", syscall(SYS_clone, 0x10f00, 0, 0, 0, 0));
    return end_of_tries();
}
