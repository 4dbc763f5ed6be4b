// right
#include <sys/mman.h>
static int held = [] {
    // Shared memory stays when all but a page of it is unmapped, and no limit counts it.
    if (mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        __builtin_trap();
    return 0;
}();
