// program: prints "none"
// A program changes no file, not even its own folder's.
#include "attack.h"
#include <sys/xattr.h>
#include <utime.h>

int main(void)
{
    TRY("a new file", open("new", O_CREAT | O_WRONLY, 0600));
    TRY("a nameless file", open(".", O_TMPFILE | O_WRONLY, 0600));
    TRY("a folder", mkdir("folder", 0700));
    TRY("a link", symlink("program", "link"));
    TRY("a second name", link("program", "second"));
    TRY("another name", rename("program", "other"));
    TRY("removing", unlink("program.c"));
    TRY("truncating", truncate("program.c", 0));
    TRY("opening to write", open("program.c", O_WRONLY));
    TRY("appending", open("program.c", O_WRONLY | O_APPEND));
    TRY("rights", chmod("program.c", 0777));
    TRY("times", utime("program.c", NULL));
    TRY("an attribute", setxattr("program.c", "user.x", "y", 1, 0));
    TRY("a lock", syscall(SYS_flock, open("program.c", O_RDONLY), 2));
    return end_of_tries();
}
