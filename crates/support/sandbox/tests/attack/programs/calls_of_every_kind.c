// program, compiler, interpreter: prints "none"
// Calls by which programs left sandboxes, or harmed others from inside: each must fail.
#include "attack.h"
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int main(void)
{
    static char memory[4096];
    struct rlimit limit = {1, 1};
    const int parent = getppid();
    TRY("io_uring_setup", syscall(425, 4, memory));
    TRY("userfaultfd", syscall(SYS_userfaultfd, 0));
    TRY("memfd_create", syscall(SYS_memfd_create, "x", 0));
    TRY("shared memory without a file", mmap(0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    TRY("private and shared memory", mmap(0, 4096, 3, MAP_SHARED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    TRY("huge pages", mmap(0, 2 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0));
    TRY("memfd_secret", syscall(447, 0));
    TRY("execveat", syscall(SYS_execveat, -100, "/bin/sh", 0, 0, 0));
    TRY("name_to_handle_at", syscall(SYS_name_to_handle_at, -100, "/", memory, memory, 0));
    TRY("open_by_handle_at", syscall(SYS_open_by_handle_at, -100, memory, 0));
    TRY("ptrace", syscall(SYS_ptrace, 0, 0, 0, 0));
    TRY("process_vm_readv", syscall(SYS_process_vm_readv, parent, memory, 0, memory, 0, 0));
    TRY("pidfd_open", syscall(434, parent, 0));
    TRY("pidfd_getfd", syscall(438, 0, 0, 0));
    TRY("kcmp", syscall(SYS_kcmp, parent, getpid(), 0, 1, 1));
    TRY("fanotify_init", syscall(SYS_fanotify_init, 0, 0));
    TRY("inotify_init1", syscall(SYS_inotify_init1, 0));
    TRY("keyctl", syscall(SYS_keyctl, 0, -3, 0, 0, 0));
    TRY("add_key", syscall(SYS_add_key, "user", "x", "y", 1, -3));
    TRY("request_key", syscall(SYS_request_key, "user", "x", "y", -3));
    TRY("bpf", syscall(SYS_bpf, 0, memory, 64));
    TRY("perf_event_open", syscall(SYS_perf_event_open, memory, 0, -1, -1, 0));
    TRY("socket", syscall(SYS_socket, 1, 1, 0));
    TRY("socketpair", syscall(SYS_socketpair, 1, 1, 0, memory));
    TRY("TIOCSTI", ioctl(1, 0x5412, "x"));
    TRY("TIOCSTI with high bits", ioctl(1, 0xffffffff00005412ul, "x"));
    TRY("TIOCLINUX", ioctl(1, 0x541c, "x"));
    TRY("FS_IOC_SETFLAGS", ioctl(1, 0x40086602, memory));
    TRY("FS_IOC_FSSETXATTR", ioctl(1, 0x401c5820, memory));
    TRY("FIFREEZE", ioctl(1, 0xc0045877, memory));
    TRY("FICLONE", ioctl(1, 0x40049409, 0));
    TRY("PR_SET_PDEATHSIG", prctl(PR_SET_PDEATHSIG, 0));
    TRY("PR_SET_DUMPABLE", prctl(PR_SET_DUMPABLE, 0));
    TRY("PR_SET_CHILD_SUBREAPER", prctl(PR_SET_CHILD_SUBREAPER, 1));
    TRY("PR_SET_PTRACER", prctl(0x59616d61, -1));
    TRY("PR_SET_MM", prctl(PR_SET_MM, 1, 0, 0, 0));
    TRY("PR_SET_TIMERSLACK", prctl(PR_SET_TIMERSLACK, 1000000000ul, 0, 0, 0));
    TRY("PR_CAP_AMBIENT", prctl(47, 2, 0, 0, 0));
    TRY("setrlimit", syscall(SYS_setrlimit, RLIMIT_CPU, &limit));
    TRY("prlimit64", syscall(SYS_prlimit64, 0, RLIMIT_CPU, &limit, 0));
    TRY("kill", kill(parent, 0));
    TRY("tgkill", syscall(SYS_tgkill, getpid(), getpid(), 0));
    TRY("rt_sigqueueinfo", syscall(SYS_rt_sigqueueinfo, parent, 0, memory));
    TRY("pidfd_send_signal", syscall(424, 0, 0, 0, 0));
    TRY("F_SETOWN", fcntl(1, F_SETOWN, parent));
    TRY("F_SETOWN_EX", fcntl(1, 15, memory));
    TRY("F_SETSIG", fcntl(1, F_SETSIG, SIGKILL));
    TRY("F_SETLEASE", fcntl(1, F_SETLEASE, 0));
    TRY("F_NOTIFY", fcntl(1, F_NOTIFY, 1));
    TRY("F_SETPIPE_SZ", fcntl(1, F_SETPIPE_SZ, 1 << 20));
    TRY("personality", syscall(SYS_personality, 0x0040000));
    TRY("landlock_create_ruleset", syscall(444, 0, 0, 1));
    TRY("seccomp", syscall(SYS_seccomp, 1, 0, memory));
    TRY("clone3", syscall(435, memory, 88));
    TRY("clone into a namespace", syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0));
    TRY("unshare", syscall(SYS_unshare, 0x10000000));
    TRY("setns", syscall(SYS_setns, 0, 0));
    TRY("mount", syscall(SYS_mount, "a", "/mnt", "tmpfs", 0, 0));
    TRY("fsopen", syscall(430, "tmpfs", 0));
    TRY("open_tree", syscall(428, -100, "/", 0));
    TRY("chroot", chroot("/"));
    TRY("setsid", setsid());
    TRY("setpgid", setpgid(0, 0));
    TRY("setpriority", setpriority(PRIO_PROCESS, 0, 19));
    TRY("sched_setaffinity", syscall(SYS_sched_setaffinity, 0, 8, memory));
    TRY("sched_setattr", syscall(SYS_sched_setattr, 0, memory, 0));
    TRY("ioprio_set", syscall(SYS_ioprio_set, 1, 0, 0));
    TRY("timer_create", syscall(SYS_timer_create, 0, 0, memory));
    TRY("mq_open", syscall(SYS_mq_open, "x", O_CREAT | O_RDWR, 0600, 0));
    TRY("shmget", syscall(SYS_shmget, 0, 4096, 01600));
    TRY("msgget", syscall(SYS_msgget, 0, 01600));
    TRY("semget", syscall(SYS_semget, 0, 1, 01600));
    TRY("fallocate", syscall(SYS_fallocate, 1, 0, 0, 4096));
    TRY("fchmodat2", syscall(452, -100, ".", 0700, 0));
    TRY("cachestat", syscall(451, 0, memory, memory, 0));
    TRY("/proc/self/mem", open("/proc/self/mem", O_RDWR));
    TRY("/proc/self/fd", open("/proc/self/fd", O_RDONLY));
    TRY("/proc/self/maps", open("/proc/self/maps", O_RDONLY));
    TRY("/dev/tty", open("/dev/tty", O_RDWR));
    TRY("/dev/mem", open("/dev/mem", O_RDONLY));
    TRY("/dev/shm", open("/dev/shm/x", O_CREAT | O_RDWR, 0600));
    TRY("/run", open("/run", O_RDONLY));
    TRY("/etc/passwd", open("/etc/passwd", O_RDONLY));
    TRY("/sys/kernel", open("/sys/kernel", O_RDONLY));
    TRY("the parent folder", open("..", O_RDONLY));
    TRY("a device", mknod("device", S_IFCHR | 0600, 0x103));
    TRY("a pipe", mkfifo("pipe", 0600));
    return end_of_tries();
}
