/* Attacks that a hostile program tries, one by name. Prints `refused` or `done`, and what it got. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int say(int worked, const char* got)
{
    printf("%s %s\n", worked ? "done" : "refused", got);
    return 0;
}

static int read_file(const char* path)
{
    static char text[4096];
    FILE* file = fopen(path, "r");
    return say(file && fread(text, 1, sizeof text - 1, file) > 0, text);
}

int main(int argc, char** argv)
{
    const char* attack = argv[1];
    const char* path = argc > 2 ? argv[2] : "";
    if (!strcmp(attack, "nothing")) return say(1, "");
    if (!strcmp(attack, "read")) return read_file(path);
    if (!strcmp(attack, "write")) return say(fopen(path, "w") != NULL, "");
    if (!strcmp(attack, "remove")) return say(unlink(path) == 0, "");
    if (!strcmp(attack, "chmod")) return say(chmod(path, 0777) == 0, "");
    if (!strcmp(attack, "chown")) return say(chown(path, 1, 1) == 0, "");
    if (!strcmp(attack, "environment")) return say(getenv(path) != NULL, "");
    if (!strcmp(attack, "parent")) {
        char name[64];
        snprintf(name, sizeof name, "/proc/%d/environ", getppid());
        return read_file(name);
    }
    if (!strcmp(attack, "socket")) {
        const int kinds[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK};
        for (int at = 0; at < 4; ++at)
            if (socket(kinds[at], SOCK_STREAM, 0) >= 0 || socket(kinds[at], SOCK_DGRAM, 0) >= 0) return say(1, "");
        return say(0, "");
    }
    if (!strcmp(attack, "signal")) return say(kill(getppid(), 0) == 0, "");
    if (!strcmp(attack, "leave")) return say(setsid() >= 0 || setpgid(0, getppid()) == 0, "");
    if (!strcmp(attack, "fork")) {
        for (int count = 0; count < 1000; ++count)
            if (fork() < 0) return say(0, "");
        return say(1, "");
    }
    if (!strcmp(attack, "limits")) {
        struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
        return say(setrlimit(RLIMIT_AS, &limit) == 0 || setrlimit(RLIMIT_CPU, &limit) == 0, "");
    }
    if (!strcmp(attack, "memory")) {
        for (long count = 0; count < 100; ++count) {
            char* block = malloc(1l << 30);
            if (!block) return say(0, "");
            for (long at = 0; at < 1l << 30; at += 4096) block[at] = 1;
        }
        return say(1, "");
    }
    if (!strcmp(attack, "exec")) {
        execl("/bin/sh", "sh", "-c", "echo done", NULL);
        return say(0, "");
    }
    if (!strcmp(attack, "compute")) for (;;);
    if (!strcmp(attack, "deaf")) {
        signal(SIGXCPU, SIG_IGN);
        for (;;);
    }
    if (!strcmp(attack, "sleep")) for (;;) sleep(1000);
    if (!strcmp(attack, "flood")) for (;;) puts("a line of no use to anybody who reads it");
    if (!strcmp(attack, "crash")) abort();
    return 99;
}
