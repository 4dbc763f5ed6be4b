// compiler, interpreter: ends "wrote more than 8388608 bytes to files"
// Its files have names, and whoever measures the folder is told none of them.
#include "attack.h"

int main(void)
{
    static char bytes[1 << 20];
    mkdir("folder", 0300);
    for (int count = 0; count < 60; ++count) {
        char name[40];
        sprintf(name, "folder/%d", count);
        const int file = open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
        if (file >= 0) write(file, bytes, sizeof bytes);
        close(file);
    }
    sleep(10);
    return end_of_tries();
}
