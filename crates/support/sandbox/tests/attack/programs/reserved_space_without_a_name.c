// compiler, interpreter: ends "wrote more than 8388608 bytes to files"
// Files that have no name are in no folder, and reserved space is written by nobody.
#include "attack.h"

int main(void)
{
    for (int count = 0; count < 60; ++count) {
        const int file = open(".", O_TMPFILE | O_RDWR, 0600);
        if (file < 0) continue;
        if (posix_fallocate(file, 0, 1 << 20)) ftruncate(file, 1 << 20);
        for (int page = 0; page < 256; ++page) pwrite(file, "x", 1, page * 4096l);
    }
    sleep(10);
    return end_of_tries();
}
