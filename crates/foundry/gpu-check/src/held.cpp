// A library that is loaded before `nvdisasm -b ARCH code.bin`, which builds its tables for a fifth
// of a second, then opens the file for the second time. There it is held: for each line on standard
// input a child of it goes on, with the tables, and disassembles what the file holds by then. Its
// output follows on standard output after the line "STATUS LENGTH".
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

// Reads a pipe to its end, then writes it behind its length.
static void pass_on(int pipe, pid_t child)
{
    std::string text;
    char bytes[1 << 14];
    for (ssize_t count; (count = read(pipe, bytes, sizeof bytes)) > 0;)
        if (text.size() < 32 << 20)
            text.append(bytes, count);
    close(pipe);
    int status = -1;
    waitpid(child, &status, 0);
    // The program's own buffer of standard output belongs to the children.
    dprintf(1, "%d %zu\n", status, text.size());
    for (size_t at = 0; at < text.size();) {
        ssize_t count = write(1, text.data() + at, text.size() - at);
        if (count <= 0)
            _exit(1);
        at += count;
    }
}

// Returns in each child, once for each line.
static void serve()
{
    int letter;
    while ((letter = getchar()) != EOF) {
        int ends[2];
        if (pipe(ends) != 0)
            _exit(1);
        pid_t child = fork();
        if (child == 0) {
            // No child reaches another's input or output.
            dup2(open("/dev/null", O_RDONLY), 0);
            dup2(ends[1], 1);
            close(ends[0]);
            close(ends[1]);
            alarm(60);
            return;
        }
        close(ends[1]);
        pass_on(ends[0], child);
    }
    _exit(0);
}

extern "C" FILE* fopen(const char* path, const char* mode)
{
    static auto own = (FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen");
    static int count = 0;
    if (strcmp(path, "code.bin") == 0 && ++count == 2)
        serve();
    return own(path, mode);
}
