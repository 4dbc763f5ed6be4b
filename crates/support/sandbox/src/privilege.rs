//! Removes all privileges of a child between fork and exec. Each function makes only system calls,
//! without memory or locks.

use std::io::{Error, Result};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

/// Drops all capabilities of this process for good: exec gives none back, not even root's. With
/// `namespaces` the process gets new namespaces of users, queues and shared memory.
pub(crate) fn drop_all(namespaces: bool) -> Result<()> {
    if namespaces {
        own_namespaces()?;
    }
    let none = CapabilitySet::empty();
    set_no_new_privs(true)?;
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}

/// Makes this process end with its parent. A change of privileges would undo this, so it comes
/// last.
pub(crate) fn end_with(parent: Pid) -> Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(parent) {
        // The parent ended before the signal was set, so nothing would end this child.
        return Err(Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

#[allow(unsafe_code, reason = "the call has no safe wrapper")]
fn own_namespaces() -> Result<()> {
    // SAFETY: the call takes a number; this process has one thread, which shares no memory.
    match unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWIPC) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Returns true if this system gives namespaces to this user's children, tried by a child that does
/// nothing.
#[allow(unsafe_code, reason = "the child gives up privileges before it runs the program")]
pub(crate) fn has_namespaces() -> bool {
    use std::os::unix::process::CommandExt;

    let mut command = Command::new("/bin/sh");
    command.args(["-c", ":"]).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: the function makes only system calls.
    unsafe {
        command.pre_exec(|| drop_all(true));
    }
    command.status().is_ok_and(|status| status.success())
}
