// program, compiler, interpreter: ends "ended with status 3"
// More than a pipe holds, to standard error: it is dropped and holds nothing up.
#include "attack.h"

int main(void)
{
    static char bytes[1 << 16];
    memset(bytes, 27, sizeof bytes);
    for (int count = 0; count < 500; ++count) write(2, bytes, sizeof bytes);
    return 3;
}
