// compiler, interpreter: ends "had more than 16 processes and threads"
#include "attack.h"

int main(void)
{
    while (fork() >= 0) {}
    for (;;) fork();
}
