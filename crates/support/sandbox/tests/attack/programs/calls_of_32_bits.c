// program, compiler, interpreter: ends "was ended by signal"
// The gate of 32-bit programs, whose calls have other numbers.
#include "attack.h"

int main(void)
{
#ifdef __x86_64__
    long result = 20;
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    TRY("getpid by the gate of 32 bits", result);
#else
    __builtin_trap();
#endif
    return end_of_tries();
}
