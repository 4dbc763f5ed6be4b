//! Every system call of Linux, by its treatment: allowed to all children, to children that start
//! others, or only to interpreters; reported as unknown; refused. A call in none of the lists is
//! newer than this table: the child is told that the kernel doesn't have it.

use libc::c_long;

macro_rules! calls {
    ($($name:ident)*) => {
        &[$(libc::$name),*]
    };
}

/// Calls of a program that computes: memory, time, and reading the files that Landlock allows.
pub(super) const EVERY: &[c_long] = calls![
    SYS_read SYS_write SYS_close SYS_fstat SYS_newfstatat SYS_statx SYS_lseek SYS_mmap SYS_mprotect
    SYS_munmap SYS_brk SYS_mremap SYS_madvise SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn
    SYS_sigaltstack SYS_ioctl SYS_pread64 SYS_readv SYS_writev SYS_faccessat SYS_faccessat2 SYS_dup
    SYS_dup3 SYS_fcntl SYS_getpid SYS_gettid SYS_exit SYS_exit_group SYS_uname SYS_readlinkat
    SYS_getcwd SYS_gettimeofday SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep
    SYS_nanosleep SYS_getrandom SYS_futex SYS_set_tid_address SYS_set_robust_list SYS_rseq
    SYS_prlimit64 SYS_getrlimit SYS_sysinfo SYS_openat SYS_execve SYS_getuid SYS_geteuid SYS_getgid
    SYS_getegid SYS_sched_yield SYS_sched_getaffinity SYS_fadvise64 SYS_ppoll SYS_restart_syscall
    SYS_getcpu SYS_getrusage SYS_times SYS_prctl SYS_membarrier
];

/// Further calls of a compiler: files in its folder, other processes.
pub(super) const BUILDING: &[c_long] = calls![
    SYS_clone SYS_wait4 SYS_waitid SYS_pipe2 SYS_unlinkat SYS_renameat SYS_renameat2 SYS_mkdirat
    SYS_ftruncate SYS_fallocate SYS_pwrite64 SYS_pwritev SYS_preadv SYS_umask SYS_chdir SYS_fchdir
    SYS_getdents64 SYS_pselect6 SYS_fsync SYS_fdatasync SYS_flock SYS_linkat SYS_symlinkat
    SYS_statfs SYS_fstatfs SYS_getppid SYS_getpgid SYS_getsid SYS_getresuid SYS_getresgid
    SYS_getgroups SYS_get_robust_list SYS_mincore SYS_msync SYS_copy_file_range SYS_sendfile
    SYS_close_range SYS_getpriority SYS_sched_get_priority_max SYS_sched_get_priority_min
    SYS_sched_getparam SYS_sched_getscheduler SYS_capget SYS_rt_sigsuspend SYS_rt_sigtimedwait
    SYS_rt_sigpending
];

/// Further calls of an interpreter: waiting for several events, placement of memory.
pub(super) const INTERPRETING: &[c_long] = calls![
    SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_signalfd4
    SYS_setitimer SYS_getitimer SYS_timerfd_create SYS_timerfd_settime SYS_timerfd_gettime
    SYS_preadv2 SYS_pwritev2 SYS_splice SYS_get_mempolicy SYS_mbind SYS_set_mempolicy SYS_mlock
    SYS_munlock SYS_pkey_alloc SYS_pkey_free SYS_pkey_mprotect SYS_sched_rr_get_interval
    SYS_sched_getattr
];

/// Calls whose arguments lie in memory, which filters can't read. They are reported as unknown, so
/// that the C library uses the older calls that they replace.
#[cfg(test)]
pub(super) const UNKNOWN: &[c_long] = calls![
    SYS_clone3 SYS_futex_waitv SYS_openat2
];

/// Calls that no child may make. They concern other processes and machines, the kernel, mounts and
/// namespaces, limits, queues and segments that outlive a process, watches on folders, and the
/// rights, owners, times and attributes of files, which Landlock doesn't cover.
pub(super) const REFUSED: &[c_long] = calls![
    SYS_shmget SYS_shmat SYS_shmctl SYS_socket SYS_connect SYS_accept SYS_sendto SYS_recvfrom
    SYS_sendmsg SYS_recvmsg SYS_shutdown SYS_bind SYS_listen SYS_getsockname SYS_getpeername
    SYS_socketpair SYS_setsockopt SYS_getsockopt SYS_kill SYS_semget SYS_semop SYS_semctl SYS_shmdt
    SYS_msgget SYS_msgsnd SYS_msgrcv SYS_msgctl SYS_truncate SYS_fchmod SYS_fchown SYS_ptrace
    SYS_syslog SYS_setuid SYS_setgid SYS_setpgid SYS_setsid SYS_setreuid SYS_setregid SYS_setgroups
    SYS_setresuid SYS_setresgid SYS_setfsuid SYS_setfsgid SYS_capset SYS_rt_sigqueueinfo
    SYS_personality SYS_setpriority SYS_sched_setparam SYS_sched_setscheduler SYS_mlockall
    SYS_munlockall SYS_vhangup SYS_pivot_root SYS_adjtimex SYS_setrlimit SYS_chroot SYS_sync
    SYS_acct SYS_settimeofday SYS_mount SYS_umount2 SYS_swapon SYS_swapoff SYS_reboot
    SYS_sethostname SYS_setdomainname SYS_init_module SYS_delete_module SYS_quotactl SYS_nfsservctl
    SYS_readahead SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_getxattr SYS_lgetxattr SYS_fgetxattr
    SYS_listxattr SYS_llistxattr SYS_flistxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
    SYS_tkill SYS_sched_setaffinity SYS_io_setup SYS_io_destroy SYS_io_getevents SYS_io_submit
    SYS_io_cancel SYS_lookup_dcookie SYS_remap_file_pages SYS_semtimedop SYS_timer_create
    SYS_timer_settime SYS_timer_gettime SYS_timer_getoverrun SYS_timer_delete SYS_clock_settime
    SYS_tgkill SYS_mq_open SYS_mq_unlink SYS_mq_timedsend SYS_mq_timedreceive SYS_mq_notify
    SYS_mq_getsetattr SYS_kexec_load SYS_add_key SYS_request_key SYS_keyctl SYS_ioprio_set
    SYS_ioprio_get SYS_inotify_add_watch SYS_inotify_rm_watch SYS_migrate_pages SYS_mknodat
    SYS_fchownat SYS_fchmodat SYS_unshare SYS_tee SYS_sync_file_range SYS_vmsplice SYS_move_pages
    SYS_utimensat SYS_accept4 SYS_inotify_init1 SYS_rt_tgsigqueueinfo SYS_perf_event_open
    SYS_recvmmsg SYS_fanotify_init SYS_fanotify_mark SYS_name_to_handle_at SYS_open_by_handle_at
    SYS_clock_adjtime SYS_syncfs SYS_sendmmsg SYS_setns SYS_process_vm_readv SYS_process_vm_writev
    SYS_kcmp SYS_finit_module SYS_sched_setattr SYS_seccomp SYS_memfd_create SYS_kexec_file_load
    SYS_bpf SYS_execveat SYS_userfaultfd SYS_mlock2 SYS_pidfd_send_signal SYS_io_uring_setup
    SYS_io_uring_enter SYS_io_uring_register SYS_open_tree SYS_move_mount SYS_fsopen SYS_fsconfig
    SYS_fsmount SYS_fspick SYS_pidfd_open SYS_pidfd_getfd SYS_process_madvise SYS_mount_setattr
    SYS_quotactl_fd SYS_landlock_create_ruleset SYS_landlock_add_rule SYS_landlock_restrict_self
    SYS_memfd_secret SYS_process_mrelease SYS_set_mempolicy_home_node
];

/// Refused calls for which the C library has no names. They were added after 2019, so they have the
/// same number on all architectures.
pub(super) const REFUSED_BY_NUMBER: &[c_long] = &[
    // fchmodat2, statmount, listmount, lsm_get_self_attr, lsm_set_self_attr, lsm_list_modules
    452, 457, 458, 459, 460, 461,
    // setxattrat, getxattrat, listxattrat, removexattrat, open_tree_attr, file_getattr,
    // file_setattr
    463, 464, 465, 466, 467, 468, 469,
];

/// Refused calls without names whose numbers differ: io_pgetevents, and on x86 uretprobe, uprobe,
/// create_module, get_kernel_syms, query_module.
#[cfg(target_arch = "x86_64")]
pub(super) const REFUSED_BY_NUMBER_HERE: &[c_long] = &[333, 335, 336, 174, 177, 178];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const REFUSED_BY_NUMBER_HERE: &[c_long] = &[292];

/// Calls without names that are reported as unknown, because the C library has another way:
/// cachestat, map_shadow_stack, futex_wake, futex_wait, futex_requeue, mseal.
#[cfg(test)]
pub(super) const UNKNOWN_BY_NUMBER: &[c_long] = &[451, 453, 454, 455, 456, 462];

/// Calls as in [`EVERY`] that newer architectures lack.
#[cfg(target_arch = "x86_64")]
pub(super) const EVERY_HERE: &[c_long] = calls![
    SYS_stat SYS_lstat SYS_access SYS_dup2 SYS_readlink SYS_time SYS_arch_prctl SYS_open SYS_poll
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const EVERY_HERE: &[c_long] = &[];

/// Calls as in [`BUILDING`] that newer architectures lack.
#[cfg(target_arch = "x86_64")]
pub(super) const BUILDING_HERE: &[c_long] = calls![
    SYS_fork SYS_vfork SYS_pipe SYS_unlink SYS_rename SYS_mkdir SYS_rmdir SYS_creat SYS_getdents
    SYS_select SYS_link SYS_symlink SYS_getpgrp SYS_pause
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const BUILDING_HERE: &[c_long] = &[];

/// Calls as in [`INTERPRETING`] that newer architectures lack.
#[cfg(target_arch = "x86_64")]
pub(super) const INTERPRETING_HERE: &[c_long] = calls![
    SYS_epoll_create SYS_epoll_wait SYS_eventfd SYS_signalfd SYS_alarm
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const INTERPRETING_HERE: &[c_long] = &[];

/// Calls as in [`REFUSED`] that newer architectures lack.
#[cfg(target_arch = "x86_64")]
pub(super) const REFUSED_HERE: &[c_long] = calls![
    SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_mknod SYS_uselib SYS_ustat SYS_sysfs
    SYS_modify_ldt SYS__sysctl SYS_iopl SYS_ioperm
    SYS_getpmsg SYS_putpmsg SYS_afs_syscall SYS_tuxcall SYS_security
    SYS_set_thread_area SYS_get_thread_area SYS_epoll_ctl_old SYS_epoll_wait_old SYS_utimes
    SYS_vserver SYS_inotify_init SYS_futimesat
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const REFUSED_HERE: &[c_long] = &[];
