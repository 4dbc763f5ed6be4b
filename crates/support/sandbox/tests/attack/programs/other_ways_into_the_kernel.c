// program, compiler, interpreter: prints "none"
// The numbers of x32, by which a filter for x86-64 would look elsewhere.
#include "attack.h"

int main(void)
{
#ifdef __x86_64__
    TRY("getpid of x32", syscall(0x40000000 + SYS_getpid));
    TRY("fork of x32", syscall(0x40000000 + SYS_fork));
#endif
    return end_of_tries();
}
