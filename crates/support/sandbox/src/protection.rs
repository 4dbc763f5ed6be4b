//! Description of the protection that a sandbox gives on this machine.

use std::fmt;
use std::sync::OnceLock;

/// Parts of a sandbox that this machine supports. Limits, and the end of children with their owner,
/// work on every Unix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a part of its own")]
pub struct Protection {
    /// Files outside of a policy can't be read or written (Landlock, Linux 6.2 or newer).
    pub files: bool,
    /// The kernel's Landlock also stops signals and sockets to other processes (Linux 6.12 or
    /// newer).
    pub scopes: bool,
    /// The child has no network, and no processes outside of its group (seccomp).
    pub calls: bool,
    /// A child has separate namespaces of users, queues and shared memory. On systems without
    /// namespaces seccomp enforces the same separation.
    pub namespaces: bool,
    /// Time, memory and the lengths of files are limited.
    pub limits: bool,
}

impl Protection {
    /// Returns the protection on this machine; the first call determines it.
    #[must_use]
    pub fn here() -> Self {
        static FOUND: OnceLock<Protection> = OnceLock::new();
        *FOUND.get_or_init(find)
    }

    /// Returns true if a hostile program can neither read nor write foreign files, nor reach a
    /// network.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.files && self.calls && self.limits
    }

    /// Returns a warning that names the missing parts and the consequence, if there are any.
    #[must_use]
    pub fn warning(self) -> Option<String> {
        (!self.is_whole()).then(|| {
            format!("{self}: run texts of unknown origin in a container or a virtual machine instead (SECURITY.md)")
        })
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = if self.files {
            "own folder only"
        } else {
            "everything of this user (no Landlock here)"
        };
        let calls = if self.calls { "none" } else { "not held back (no seccomp here)" };
        let limits = if self.limits { "time, memory, files" } else { "time alone" };
        let own = if self.namespaces { "; namespaces of its own" } else { "" };
        write!(f, "sandbox: files {files}; network {calls}; limits of {limits}{own}")
    }
}

#[cfg(target_os = "linux")]
fn find() -> Protection {
    use landlock::RulesetStatus;

    let status = crate::landlock::status();
    let files = status != RulesetStatus::NotEnforced;
    let scopes = status == RulesetStatus::FullyEnforced;
    let namespaces = crate::privilege::has_namespaces();
    Protection { files, scopes, calls: crate::syscall::works(), namespaces, limits: true }
}

#[cfg(not(target_os = "linux"))]
fn find() -> Protection {
    Protection { files: false, scopes: false, calls: false, namespaces: false, limits: cfg!(unix) }
}
