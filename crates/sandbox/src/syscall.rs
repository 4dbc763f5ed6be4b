//! System calls that a child may not make, by seccomp: those of no use to a compiler or a program
//! that computes, and of some to an attacker. What is refused fails with `EPERM`, as if the user
//! had no right to it.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Calls that no child may make: other machines, other processes, the kernel, and the limits that
/// were set.
const REFUSED: &[c_long] = &[
    // The network, and sockets to other processes.
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Other processes. Those of the child stay in its group, by which they are ended.
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_kcmp,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_process_madvise,
    // Its limits.
    libc::SYS_setrlimit,
    libc::SYS_setpriority,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setattr,
    // Other roots, mounts, namespaces, users.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setgroups,
    libc::SYS_setfsuid,
    libc::SYS_setfsgid,
    libc::SYS_capset,
    libc::SYS_open_by_handle_at,
    libc::SYS_personality,
    // Doors into the kernel, some with calls of their own behind them.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_fanotify_init,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    // Queues and segments of memory that outlive a process.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    libc::SYS_mknodat,
    // Who may read a file that isn't its own: Landlock doesn't hold these.
    libc::SYS_fchownat,
    libc::SYS_fchown,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] = &[
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_mknod,
    libc::SYS_ioperm,
    libc::SYS_iopl,
    libc::SYS_modify_ldt,
    libc::SYS_kexec_file_load,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

/// A program that computes changes no file's times and rights.
const REFUSED_TO_PROGRAMS: &[c_long] =
    &[libc::SYS_fchmod, libc::SYS_fchmodat, libc::SYS_utimensat, libc::SYS_clone];
#[cfg(target_arch = "x86_64")]
const REFUSED_TO_PROGRAMS_HERE: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_fork,
    libc::SYS_vfork,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_TO_PROGRAMS_HERE: &[c_long] = &[];

/// New namespaces in `clone`'s flags: cgroup, UTS, IPC, user, PID, network, mounts, time.
const NAMESPACES: u64 = 0x7e02_0080;

/// The 32-bit face of a 64-bit x86 kernel has the same calls by numbers with this bit, and some
/// more of its own.
#[cfg(target_arch = "x86_64")]
const X32: (c_long, std::ops::Range<c_long>) = (0x4000_0000, 512..548);

/// The filters of a child, each to be installed; `forks` if it may start processes.
pub(crate) fn filters(forks: bool) -> Result<Vec<BpfProgram>, seccompiler::Error> {
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().chain(REFUSED_HERE).map(|&call| (call, Vec::new())).collect();
    // Asking for a limit is allowed, setting one isn't.
    refused.insert(libc::SYS_prlimit64, vec![rule(2, SeccompCmpOp::Ne, 0)?]);
    if forks {
        let bits = (0..64).map(|bit| 1_u64 << bit).filter(|bit| NAMESPACES & bit != 0);
        let rules = bits.map(|bit| rule(0, SeccompCmpOp::MaskedEq(bit), bit));
        refused.insert(libc::SYS_clone, rules.collect::<Result<_, _>>()?);
    } else {
        let more = REFUSED_TO_PROGRAMS.iter().chain(REFUSED_TO_PROGRAMS_HERE);
        refused.extend(more.map(|&call| (call, Vec::new())));
    }
    #[cfg(target_arch = "x86_64")]
    {
        let (bit, own) = X32;
        let all: Vec<i64> = refused.keys().copied().chain(own).collect();
        refused.extend(all.into_iter().map(|call| (call | bit, Vec::new())));
    }
    // Its flags lie in memory, where no filter looks; the C library then asks by `clone`.
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    Ok(vec![filter(refused, libc::EPERM)?, filter(unknown, libc::ENOSYS)?])
}

fn rule(argument: u8, op: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::Error> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Qword, op, value)?;
    Ok(SeccompRule::new(vec![condition])?)
}

fn filter(
    calls: BTreeMap<i64, Vec<SeccompRule>>,
    error: libc::c_int,
) -> Result<BpfProgram, seccompiler::Error> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    Ok(SeccompFilter::new(calls, SeccompAction::Allow, refuse, arch)?.try_into()?)
}

/// Returns true if this kernel takes the filters: a thread that ends tries them. Where the system
/// gives no thread they are taken for granted: then a child is confined, or not started.
pub(crate) fn works() -> bool {
    let tried = std::thread::Builder::new().spawn(|| {
        filters(false).is_ok_and(|all| all.iter().all(|it| seccompiler::apply_filter(it).is_ok()))
    });
    tried.map_or(true, |thread| thread.join().unwrap_or(false))
}
