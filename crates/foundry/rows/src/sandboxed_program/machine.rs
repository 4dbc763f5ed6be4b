//! Faults of this machine, told from those of a text by what the machine measures: what a compiler
//! or a program says, and how it ends, may be the text's doing.
//!
//! A failure beside a sign of want (little room on the disk, a process that the system ended for
//! want of memory, an end by SIGKILL) is tried again while no other job of this process runs. If
//! the want is still there before that try, the machine is at fault; else the failure is the
//! text's.

use super::{Attempt, HostLimits, JobFailure};
use crate::error::SynthError;
use gbxcule_sandbox::Room;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

/// Held by all who compile and run, and alone by one who tries again.
static RUNNING: RwLock<()> = RwLock::new(());

/// Result of an attempt, made again if this machine may be at fault and `retries`.
pub(super) fn judged(
    folder: &Path,
    limits: HostLimits,
    retries: bool,
    attempt: &dyn Fn() -> Result<Attempt, SynthError>,
) -> Result<Attempt, SynthError> {
    let (first, sign) = {
        let _beside = RUNNING.read().unwrap_or_else(PoisonError::into_inner);
        measured(folder, limits, attempt)?
    };
    if first.is_ok() || !retries || sign == Sign::None {
        return Ok(first);
    }
    let _alone = RUNNING.write().unwrap_or_else(PoisonError::into_inner);
    Ok(match measured(folder, limits, attempt)? {
        (Err(_), Sign::Certain(lack)) => Err(JobFailure::Machine(lack)),
        (second, _) => second,
    })
}

/// Sign of a want of this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Sign {
    None,
    /// Something that a text can bring about as well.
    Possible,
    /// Want of the machine before the attempt began, or at the system's own word.
    Certain(String),
}

fn measured(
    folder: &Path,
    limits: HostLimits,
    attempt: &dyn Fn() -> Result<Attempt, SynthError>,
) -> Result<(Attempt, Sign), SynthError> {
    let before = Room::now(folder);
    let outcome = attempt()?;
    Ok(match outcome {
        Ok(outcomes) => (Ok(outcomes), Sign::None),
        Err(failure) => {
            let after = Room::now(folder);
            let sign = sign(&before, &after, limits, &failure);
            (Err(failure), sign)
        }
    })
}

fn sign(before: &Room, after: &Room, limits: HostLimits, failure: &JobFailure) -> Sign {
    let HostLimits { compiler, program } = limits;
    let memory = [compiler, program].iter().find_map(|it| before.memory_lack(after, it));
    if let Some(lack) = before.disk_lack(&compiler).or(memory) {
        return Sign::Certain(lack);
    }
    let was_killed = after.memory_kills > before.memory_kills
        || matches!(failure, JobFailure::Killed(_))
        || after.disk_lack(&compiler).is_some();
    if was_killed { Sign::Possible } else { Sign::None }
}
