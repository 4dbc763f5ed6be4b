//! Rights of a child to files, sockets and signals, enforced by Landlock as far as the kernel
//! supports it.

use std::thread::JoinHandle;

use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use crate::Policy;

/// Newest version of Landlock that is used; an older kernel enforces the rules that it knows.
const NEWEST: ABI = ABI::V6;

/// Returns the rights of a policy, which a thread or process takes on.
pub(crate) fn rules(policy: &Policy) -> Result<RulesetCreated, RulesetError> {
    let read = AccessFs::from_read(NEWEST);
    let write = AccessFs::from_all(NEWEST) & !AccessFs::Execute & !devices();
    // A compiler's output is executed under another policy, which may read the folder.
    Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(&policy.read, read))?
        .add_rules(path_beneath_rules(&policy.write, write))
}

/// Returns the rights to make devices, sockets and pipes.
fn devices() -> landlock::BitFlags<AccessFs> {
    AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::MakeFifo
}

/// Returns the extent to which this kernel enforces the rules; a short-lived thread tries them. If
/// no thread starts, returns full enforcement: a child that can't be confined then fails to start.
pub(crate) fn status() -> RulesetStatus {
    let tried = std::thread::Builder::new().spawn(|| {
        let policy = Policy::program(std::path::Path::new("/usr/lib"));
        rules(&policy).and_then(RulesetCreated::restrict_self).map(|status| status.ruleset)
    });
    match tried.map(JoinHandle::join) {
        Err(_) => RulesetStatus::FullyEnforced,
        Ok(Ok(Ok(status))) => status,
        _ => RulesetStatus::NotEnforced,
    }
}
