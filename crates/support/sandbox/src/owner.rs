//! A child process and all processes that it starts: one process group, which is ended as a whole.

use std::collections::BTreeSet;
use std::io::{Error, Result};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::tree::Looks;
use crate::{ChildEnd, Policy, orphan_killer, tree};

/// Time between two polls of a child.
const POLL_EVERY: Duration = Duration::from_millis(5);

/// Time between two measurements of a running group. Every [`LOOKS_PER_FOLDER`]th measurement
/// includes the group's folder.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const LOOKS_PER_FOLDER: u32 = 32;

/// Groups of this process that are not known to have ended.
static GROUPS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn groups<R>(change: impl FnOnce(&mut BTreeSet<u32>) -> R) -> R {
    change(&mut GROUPS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A running child that ends, with its descendants, when this is dropped, at [`end_all`], and when
/// this process ends in any way.
#[derive(Debug)]
pub struct ChildGroup {
    child: Child,
    /// Exit status, once it was waited for.
    status: Option<ExitStatus>,
    /// The limit of the whole group that the group exceeded, so that it was ended.
    exceeded: Arc<OnceLock<ChildEnd>>,
}

impl ChildGroup {
    /// Starts a command in a new process group.
    ///
    /// # Errors
    /// The program can't be started.
    pub fn spawn(command: &mut Command) -> Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.spawn()?;
        groups(|all| all.insert(child.id()));
        orphan_killer::watch(child.id());
        Ok(Self { child, status: None, exceeded: Arc::default() })
    }

    /// Returns the child, whose pipes the caller takes. Only [`ChildGroup::end`] and
    /// [`ChildGroup::wait`] may wait for it.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Returns the child's process group.
    #[must_use]
    pub fn group(&self) -> u32 {
        self.child.id()
    }

    /// Starts a thread that ends the group when its processes together exceed the policy: in
    /// number, threads, memory or bytes of files.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn hold_to(&self, policy: &Policy) -> Result<()> {
        let (group, policy) = (self.group(), policy.clone());
        let exceeded = Arc::downgrade(&self.exceeded);
        let look = move || {
            #[cfg(target_os = "linux")]
            let _first = tree::come_first();
            for count in 1_u32.. {
                std::thread::sleep(LOOK_EVERY);
                // Once this group has ended, its number may belong to another one.
                let Some(exceeded) = exceeded.upgrade() else { return };
                if !groups(|all| all.contains(&group)) {
                    return;
                }
                let at_folder = count.is_multiple_of(LOOKS_PER_FOLDER);
                let looks = Looks { at_folder, at_all: true };
                if let Some(limit) = tree::exceeded(group, &policy, looks) {
                    _ = exceeded.set(limit);
                    groups(|all| all.contains(&group).then(|| end_group(group)));
                    return;
                }
            }
        };
        std::thread::Builder::new().spawn(look).map(drop)
    }

    /// Returns the limit of the whole group for which the group was ended, if there is one.
    #[must_use]
    pub fn exceeded(&self) -> Option<ChildEnd> {
        self.exceeded.get().copied()
    }

    /// Returns true if the child has ended by itself; other processes of its group may still run.
    pub fn has_ended(&mut self) -> bool {
        self.status.is_some() || has_ended(&mut self.child)
    }

    /// Waits until the child has ended by itself, then ends the other processes of its group.
    ///
    /// # Errors
    /// The system doesn't report the child's exit status.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        while !self.has_ended() {
            std::thread::sleep(POLL_EVERY);
        }
        self.end()
    }

    /// Ends the child and all of its group, if they still run, and returns the child's exit status.
    ///
    /// # Errors
    /// The system doesn't report the status.
    pub fn end(&mut self) -> Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        // The child has the group's number, which no other process gets until the child is waited
        // for.
        end_group(self.child.id());
        // The child may have ended by itself.
        let _ = self.child.kill();
        let status = self.child.wait()?;
        self.status = Some(status);
        groups(|all| all.remove(&self.child.id()));
        orphan_killer::group_ended(self.child.id());
        Ok(status)
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Ends all children of this process and their groups: for a signal that ends this process.
pub fn end_all() {
    groups(|all| all.iter().for_each(|&group| end_group(group)));
}

#[cfg(unix)]
fn end_group(group: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};

    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        // A failure means that the last member has just ended.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end_group(_: u32) {}

/// Checks without reaping the child, so that its process group id is not reused.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    let Some(id) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return true };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // An error means that the child is gone.
    waitid(WaitId::Pid(id), options).map_err(Error::from).map_or(true, |status| status.is_some())
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> bool {
    child.try_wait().map_or(true, |status| status.is_some())
}
