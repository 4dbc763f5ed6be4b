// compiler, interpreter: ends "wrote a file of more than 4194304 bytes"
#include "attack.h"

int main(void)
{
    const int file = open("file", O_CREAT | O_RDWR, 0600);
    ftruncate(file, 1l << 40);
    return end_of_tries();
}
