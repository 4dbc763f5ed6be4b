//! A command whose child applies a policy to itself between fork and exec. Allocations are not
//! allowed there, so everything that needs memory is made before the fork.

use std::ffi::OsString;
use std::io::PipeWriter;
#[cfg(target_os = "linux")]
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::policy::{Kind, Policy};
use crate::{SandboxError, protection::Protection};

/// Makes a command whose program is confined by the policy from its first instruction on. A thread
/// that outlives the child must start it by [`crate::ChildGroup::spawn`]; the group's owner counts
/// wall time, output and processes.
///
/// # Errors
/// The system has the parts of a sandbox and refuses them.
pub fn command(program: &Path, policy: &Policy) -> Result<Command, SandboxError> {
    marked(program, policy, None)
}

/// Makes the same command; its child also writes a byte to the pipe directly before exec. A failure
/// before this byte is this machine's fault, a later failure the program's.
pub(crate) fn marked(
    program: &Path,
    policy: &Policy,
    mark: Option<PipeWriter>,
) -> Result<Command, SandboxError> {
    // The search along `PATH` is done here, because the child can't read all folders.
    let path = crate::policy::find(program).unwrap_or_else(|| program.to_owned());
    let mut command = Command::new(path);
    command.current_dir(&policy.folder).env_clear();
    for (name, value) in environment(policy) {
        command.env(name, value);
    }
    confine(&mut command, program, policy, mark)?;
    Ok(command)
}

/// Returns the child's whole environment: `PATH` and the policy's variables as the user has them,
/// the child's folders, and settings for compilers.
fn environment(policy: &Policy) -> Vec<(&'static str, OsString)> {
    let names = ["PATH"].iter().chain(&policy.variables);
    let mut all: Vec<_> = names.filter_map(|&name| Some((name, std::env::var_os(name)?))).collect();
    all.extend(["HOME", "TMPDIR", "TMP"].map(|name| (name, policy.folder.clone().into())));
    // Messages come in one language, and `ccache` looks for no cache in the user's home.
    all.extend(
        [("LC_ALL", "C"), ("CCACHE_DISABLE", "1")].map(|(name, value)| (name, value.into())),
    );
    all
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the child confines itself before it runs the program")]
fn confine(
    command: &mut Command,
    program: &Path,
    policy: &Policy,
    mark: Option<PipeWriter>,
) -> Result<(), SandboxError> {
    use std::io::Error;
    use std::os::unix::process::CommandExt;

    let failed = |reason: String| SandboxError::Confine { program: program.into(), reason };
    let here = Protection::here();
    let mut rules = if here.files {
        Some(crate::landlock::rules(policy).map_err(|error| failed(error.to_string()))?)
    } else {
        None
    };
    let filters =
        if here.calls { crate::syscall::filters(policy.kind).map_err(failed)? } else { &[] };
    let limits = resource_limits(policy);
    let parent = rustix::process::getpid();
    let priority = rustix::process::getpriority_process(None).ok();
    let tasks = limit_of_tasks(policy, here.namespaces);
    let before_exec = move || {
        use rustix::process::{Resource, setrlimit};
        for (resource, limit) in &limits {
            setrlimit(*resource, *limit)?;
        }
        // SAFETY: the call takes three numbers, and only marks descriptors to be closed by exec. An
        // old kernel refuses it; what this process opens is marked already.
        unsafe {
            libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
        }
        if let Some(priority) = priority {
            rustix::process::setpriority_process(None, priority)?;
        }
        crate::privilege::drop_all(here.namespaces)?;
        // In a new namespace only this child's processes count.
        setrlimit(Resource::Nproc, tasks)?;
        crate::privilege::end_with(parent)?;
        if let Some(rules) = rules.take() {
            rules.restrict_self().map_err(|_| Error::from_raw_os_error(libc::EPERM))?;
        }
        for filter in filters {
            seccompiler::apply_filter(filter).map_err(|_| Error::from_raw_os_error(libc::EPERM))?;
        }
        mark.as_ref().map_or(Ok(()), |mut mark| mark.write_all(&[1]))
    };
    // SAFETY: between fork and exec the closure makes system calls on numbers, descriptors and
    // memory that were made before, and allocates and locks nothing; errors are numbers.
    unsafe {
        command.pre_exec(before_exec);
    }
    Ok(())
}

/// Returns the kernel's limit for processes and threads, for a program that makes them faster than
/// this process can count. The limit is greater than the policy's, so that the policy's limit is
/// reported first. Outside of a namespace the kernel counts all processes of the user; root's
/// processes have no limit.
#[cfg(target_os = "linux")]
fn limit_of_tasks(policy: &Policy, namespaces: bool) -> rustix::process::Rlimit {
    /// Number of processes that the user's other programs may start while the child runs.
    const OTHERS: u64 = 1000;

    // A compiled program may not start processes, so the count would only delay it.
    let is_counted = !namespaces && policy.kind != Kind::Program;
    let beside = if is_counted { crate::tree::tasks_of_user() + OTHERS } else { 0 };
    let most = rustix::process::getrlimit(rustix::process::Resource::Nproc).maximum;
    let wanted = beside + 2 * policy.limits.tasks as u64;
    let wanted = Some(wanted.min(most.unwrap_or(u64::MAX)));
    rustix::process::Rlimit { current: wanted, maximum: wanted }
}

/// Returns the kernel's limits for each process.
#[cfg(target_os = "linux")]
fn resource_limits(policy: &Policy) -> Vec<(rustix::process::Resource, rustix::process::Rlimit)> {
    use rustix::process::{Resource, Rlimit, getrlimit};

    let limits = policy.limits;
    // At the first limit the kernel sends SIGXCPU, which a program can catch, at the second
    // SIGKILL.
    let seconds = limits.cpu.as_secs().max(1);
    let wanted = [
        (Resource::Cpu, seconds, seconds + 1),
        (Resource::As, limits.memory_bytes, limits.memory_bytes),
        (Resource::Fsize, limits.file_bytes, limits.file_bytes),
        (Resource::Nofile, limits.open_files, limits.open_files),
        (Resource::Core, 0, 0),
    ];
    let within = |(resource, soft, hard): (Resource, u64, u64)| {
        // A lower limit of the user stays.
        let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        (resource, Rlimit { current: Some(soft.min(most)), maximum: Some(hard.min(most)) })
    };
    wanted.into_iter().map(within).collect()
}

/// Confines a child on systems without Landlock: a shell sets the limits that it knows, then
/// executes the program.
#[cfg(all(unix, not(target_os = "linux")))]
fn confine(
    command: &mut Command,
    _: &Path,
    policy: &Policy,
    _: Option<PipeWriter>,
) -> Result<(), SandboxError> {
    const SET: &str =
        "ulimit -t $0 2>/dev/null; ulimit -c 0; ulimit -f $1; ulimit -n $2; shift 2; exec \"$@\"";
    let limits = policy.limits;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", SET]).arg(limits.cpu.as_secs().max(1).to_string());
    // The shell counts blocks of 512 bytes.
    shell.arg((limits.file_bytes / 512).to_string()).arg(limits.open_files.to_string());
    shell.arg(command.get_program()).current_dir(&policy.folder).env_clear();
    for (name, value) in environment(policy) {
        shell.env(name, value);
    }
    *command = shell;
    Ok(())
}

#[cfg(not(unix))]
fn confine(
    _: &mut Command,
    _: &Path,
    _: &Policy,
    _: Option<PipeWriter>,
) -> Result<(), SandboxError> {
    Ok(())
}
