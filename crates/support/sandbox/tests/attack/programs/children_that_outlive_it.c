// compiler, interpreter: ends "ended with status 4"
// The pipe is held open by a child: it ends with its parent.
#include "attack.h"
#include <signal.h>

int main(void)
{
    if (fork()) return 4;
    for (int number = 1; number < 32; ++number) signal(number, SIG_IGN);
    for (;;) sleep(1000);
}
