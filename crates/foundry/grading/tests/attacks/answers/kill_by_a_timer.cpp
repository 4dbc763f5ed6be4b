// wrong result
#include <signal.h>
#include <stdlib.h>
#include <time.h>
static int end = [] {
    sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGKILL;
    timer_t timer;
    itimerspec soon = {{0, 0}, {0, 1}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon, nullptr))
        abort();
    for (;;) {}
    return 0;
}();
