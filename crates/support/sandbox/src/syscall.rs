//! System calls of a child, restricted by seccomp to a list for its kind ([`table`]). Other calls
//! of Linux fail with `EPERM`, as if the user had no right to them; numbers that the table lacks
//! fail with `ENOSYS`, as on a kernel without them.

mod table;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::policy::Kind;

/// Bits of `clone` that no child may set: new namespaces (cgroup, UTS, IPC, user, PID, network,
/// mounts, time), a tracer, and a child that is its parent's sibling.
const CLONE_REFUSED: u64 = 0x7e02_0080 | 0x2000 | 0x8000;
/// Commands of `fcntl` that a child may use: descriptors, flags, locks. Refused are those that name
/// a receiver of signals, leases and watches.
const FCNTL: [u64; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 1030, 36, 37, 38, 1034];
/// Requests of `ioctl` that a child may make: the kind of a terminal, its size, bytes that wait,
/// flags of a descriptor. Attributes of files such as "immutable" are refused.
const IOCTL: [u64; 7] = [0x5401, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x802c_542a];
/// Flags of `mmap` that no child may set together: `MAP_SHARED` and `MAP_ANONYMOUS`, whose memory
/// stays, uncounted by any limit, when all but a page of it is unmapped; and `MAP_HUGETLB`, whose
/// pages are the whole machine's.
const MMAP_REFUSED: [u64; 2] = [0x21, 0x4_0000];
/// Options of `prctl` that a child may use: names of threads and of memory, and questions. It can't
/// change the signal that it gets when its owner ends.
const PRCTL: [u64; 8] = [3, 15, 16, 23, 51, 56, 64, 0x5356_4d41];

/// Returns the filters of a child in the order in which they are installed. If two refuse a call,
/// the later one chooses the error.
pub(crate) fn filters(kind: Kind) -> Result<&'static [BpfProgram], String> {
    static MADE: [OnceLock<Result<Vec<BpfProgram>, String>>; 3] = [const { OnceLock::new() }; 3];
    let made = MADE[kind as usize].get_or_init(|| make(kind).map_err(|error| error.to_string()));
    made.as_deref().map_err(String::clone)
}

fn make(kind: Kind) -> Result<Vec<BpfProgram>, seccompiler::Error> {
    // The earlier filters allow the call that installs the last one; the last one refuses it.
    let allowed = allowed(kind).into_iter().chain([libc::SYS_seccomp]);
    let allowed = allowed.map(|call| (call, Vec::new())).collect();
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
        known_and_refused(kind).into_iter().map(|call| (call, Vec::new())).collect();
    // Asking for a limit is allowed, setting one isn't.
    refused.insert(libc::SYS_prlimit64, vec![any_but(2, &SeccompCmpArgLen::Qword, &[0])?]);
    let int = SeccompCmpArgLen::Dword;
    refused.insert(libc::SYS_fcntl, vec![any_but(1, &int, &FCNTL)?]);
    refused.insert(libc::SYS_ioctl, vec![any_but(1, &int, &IOCTL)?]);
    refused.insert(libc::SYS_prctl, vec![any_but(0, &int, &PRCTL)?]);
    let masked = |argument: u8, bits: u64| -> Result<SeccompRule, seccompiler::Error> {
        let is_set = SeccompCmpOp::MaskedEq(bits);
        Ok(SeccompRule::new(vec![condition(argument, SeccompCmpArgLen::Qword, is_set, bits)?])?)
    };
    let shared = MMAP_REFUSED.into_iter().map(|bits| masked(3, bits));
    refused.insert(libc::SYS_mmap, shared.collect::<Result<_, _>>()?);
    if kind != Kind::Program {
        let bits = (0..64).map(|bit| 1_u64 << bit).filter(|bit| CLONE_REFUSED & bit != 0);
        let rules = bits.map(|bit| masked(0, bit));
        refused.insert(libc::SYS_clone, rules.collect::<Result<_, _>>()?);
    }
    let (allow, error) = (SeccompAction::Allow, |number: i32| SeccompAction::Errno(number as u32));
    // Reserved disk space would not be counted before it is written. With this error the C library
    // writes zeros instead.
    let reserving = [(libc::SYS_fallocate, Vec::new())].into();
    Ok(vec![
        filter(allowed, error(libc::ENOSYS), allow.clone())?,
        filter(reserving, allow.clone(), error(libc::EOPNOTSUPP))?,
        filter(refused, allow, error(libc::EPERM))?,
    ])
}

/// Returns the calls that a kind of child may make, some of them only with certain arguments.
pub(crate) fn allowed(kind: Kind) -> Vec<c_long> {
    let mut calls = [table::EVERY, table::EVERY_HERE].concat();
    if kind != Kind::Program {
        calls.extend([table::BUILDING, table::BUILDING_HERE].concat());
    }
    if kind == Kind::Interpreter {
        calls.extend([table::INTERPRETING, table::INTERPRETING_HERE].concat());
    }
    calls
}

/// Returns Linux's calls that a kind of child may not make.
fn known_and_refused(kind: Kind) -> Vec<c_long> {
    let mut calls = [
        table::REFUSED,
        table::REFUSED_HERE,
        table::REFUSED_BY_NUMBER,
        table::REFUSED_BY_NUMBER_HERE,
    ]
    .concat();
    if kind != Kind::Interpreter {
        calls.extend([table::INTERPRETING, table::INTERPRETING_HERE].concat());
    }
    if kind == Kind::Program {
        calls.extend([table::BUILDING, table::BUILDING_HERE].concat());
    }
    calls
}

/// Returns a rule for calls whose argument differs from all of these values.
fn any_but(
    argument: u8,
    length: &SeccompCmpArgLen,
    values: &[u64],
) -> Result<SeccompRule, seccompiler::Error> {
    let all = values.iter().map(|&it| condition(argument, length.clone(), SeccompCmpOp::Ne, it));
    Ok(SeccompRule::new(all.collect::<Result<_, _>>()?)?)
}

fn condition(
    argument: u8,
    length: SeccompCmpArgLen,
    op: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::Error> {
    Ok(SeccompCondition::new(argument, length, op, value)?)
}

fn filter(
    calls: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    listed: SeccompAction,
) -> Result<BpfProgram, seccompiler::Error> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    Ok(SeccompFilter::new(calls, otherwise, listed, arch)?.try_into()?)
}

/// Returns true if this kernel accepts the filters; a short-lived thread tries them. Also returns
/// true if no thread starts: a child that can't be confined then fails to start.
pub(crate) fn works() -> bool {
    let tried = std::thread::Builder::new().spawn(|| {
        filters(Kind::Program)
            .is_ok_and(|all| all.iter().all(|it| seccompiler::apply_filter(it).is_ok()))
    });
    tried.map_or(true, |thread| thread.join().unwrap_or(false))
}

/// Returns the calls that the kernel's header on this machine names, with their numbers.
#[cfg(test)]
pub(crate) fn kernels_list() -> Vec<(String, c_long)> {
    let mut command = std::process::Command::new("cc");
    command.args(["-E", "-dM", "-x", "c", "-include", "sys/syscall.h", "/dev/null"]);
    let output = command.output().expect("a C compiler");
    let text = String::from_utf8_lossy(&output.stdout);
    let call = |line: &str| {
        let (name, number) = line.strip_prefix("#define __NR_")?.split_once(' ')?;
        Some((name.to_owned(), number.parse().ok()?))
    };
    text.lines().filter_map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_kernel_with_seccomp_takes_the_filters_of_every_kind() {
        if !std::path::Path::new("/proc/sys/kernel/seccomp/actions_avail").exists() {
            return;
        }
        for kind in [Kind::Program, Kind::Compiler, Kind::Interpreter] {
            let taken = std::thread::spawn(move || {
                filters(kind)
                    .is_ok_and(|all| all.iter().all(|it| seccompiler::apply_filter(it).is_ok()))
            });
            assert!(taken.join().expect("it ends"), "{kind:?}");
        }
    }

    #[test]
    fn every_call_that_the_kernels_header_names_is_allowed_refused_or_told_to_be_unknown() {
        let listed = kernels_list();
        assert!(listed.len() > 300, "{}", listed.len());
        for kind in [Kind::Program, Kind::Compiler, Kind::Interpreter] {
            let unknown = [table::UNKNOWN, table::UNKNOWN_BY_NUMBER].concat();
            let lists = [allowed(kind), known_and_refused(kind), unknown];
            for (name, number) in &listed {
                let homes = lists.iter().filter(|list| list.contains(number)).count();
                assert_eq!(homes, 1, "{kind:?}: `{name}` ({number}) stands in {homes} lists");
            }
            let all = lists.concat();
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{kind:?}");
        }
    }

    #[test]
    fn calls_that_change_files_rights_or_watch_folders_are_refused_to_all() {
        for kind in [Kind::Program, Kind::Compiler, Kind::Interpreter] {
            let refused = known_and_refused(kind);
            for call in [
                452, // fchmodat2
                463, // setxattrat
                466, // removexattrat
                467, // open_tree_attr
                469, // file_setattr
                libc::SYS_fchmodat,
                libc::SYS_utimensat,
                libc::SYS_inotify_init1,
                libc::SYS_inotify_add_watch,
                libc::SYS_msgrcv,
                libc::SYS_shmctl,
                libc::SYS_semctl,
                libc::SYS_msgctl,
                libc::SYS_mq_unlink,
                libc::SYS_sched_setaffinity,
                libc::SYS_ioprio_set,
                libc::SYS_timer_create,
            ] {
                assert!(refused.contains(&call), "{kind:?}: {call}");
            }
        }
    }
}
