// wrong result
#include <signal.h>
static int end = [] {
    signal(SIGXCPU, SIG_IGN);
    for (volatile int count = 0;; ++count) {}
    return 0;
}();
