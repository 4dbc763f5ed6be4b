//! Distinguishes faults of this machine from faults of a text. Only measurements decide, because a
//! text can control the output and the exit status of compilers and programs.
//!
//! A failure with a sign of a shortage (little free disk, a process that the system killed for
//! memory, an end by SIGKILL) is retried while no other job of this process runs. If the shortage
//! is still measured before the retry, the machine is at fault, else the text.

use super::{Attempt, HostLimits, JobFailure};
use crate::error::SynthError;
use gbxcule_sandbox::Room;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

/// Lock that jobs share while they run, and that a second try holds alone.
static RUNNING: RwLock<()> = RwLock::new(());

/// Returns the result of an attempt, which is repeated if `retries` is true and this machine may be
/// at fault.
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

/// Sign of a shortage of memory or disk on this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Sign {
    None,
    /// A text may have caused the sign, too.
    Possible,
    /// The shortage was measured before the attempt, or the system reports it.
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
