/* Part of attacks: tries a call, and prints which ones worked. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int worked;

static inline void tried(const char* name, long result)
{
    if (result < 0) return;
    printf("%s worked\n", name);
    ++worked;
}

#define TRY(name, call) tried(name, (long)(call))

static inline int end_of_tries(void)
{
    if (!worked) puts("none");
    return 0;
}
