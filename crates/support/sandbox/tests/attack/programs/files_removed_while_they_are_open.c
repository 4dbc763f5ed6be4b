// compiler, interpreter: ends "wrote more than 8388608 bytes to files"
#include "attack.h"

int main(void)
{
    static char bytes[1 << 20];
    for (int count = 0; count < 60; ++count) {
        const int file = open("file", O_CREAT | O_EXCL | O_RDWR, 0600);
        unlink("file");
        if (file >= 0) write(file, bytes, sizeof bytes);
    }
    sleep(10);
    return end_of_tries();
}
