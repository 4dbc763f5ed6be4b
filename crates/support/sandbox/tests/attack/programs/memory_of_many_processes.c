// compiler, interpreter: ends "had more than 536870912 bytes of memory together"
// Each process stays within its own limit; together they would take the machine's memory.
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
    enum { LENGTH = 128 << 20, PROCESSES = 8 };
    for (int count = 1; count < PROCESSES && fork() != 0; ++count) {
    }
    char* memory = mmap(0, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    memset(memory, 1, LENGTH);
    sleep(50);
    return 2;
}
