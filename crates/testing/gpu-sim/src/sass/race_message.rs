//! Describes races: both accesses, and the operation that would order the earlier access before
//! the later one.

use super::decoded::DecodedInstruction;
use super::device_memory::{DeviceMemory, DevicePlace};
use super::fault::{Fault, FaultKind};
use super::shadow::{CellAccess, Conflict, Manner};
use super::warp::Warp;

impl Warp<'_> {
    /// Makes the fault for a race of an access with an earlier one.
    #[cold]
    pub(super) fn race(
        &self,
        inst: &DecodedInstruction,
        device: &DeviceMemory,
        (place, size): (DevicePlace, usize),
        conflict: Conflict,
        lane: usize,
        (manner, becomes): (Manner, &[u8]),
    ) -> Fault {
        let mut was = [0; 16];
        device.read(place, &mut was[..size]);
        let is_same = manner == Manner::Write && conflict.has_written && was[..size] == *becomes;
        let kind = if is_same { FaultKind::SameValueRace } else { FaultKind::Race };
        let name = device.name(place, conflict.at);
        let does = match manner {
            Manner::Read | Manner::WideRead | Manner::StrongRead => "reads",
            Manner::ConstantRead => "reads by `__ldg`, or through `const __restrict__`,",
            Manner::Write | Manner::StrongWrite => "writes",
            Manner::Atomic | Manner::AtomicOfBlock => "changes",
        };
        let has = if conflict.has_written { "wrote" } else { "read" };
        let mut reason = format!("it {does} {name}, {}", self.earlier(conflict.earlier, has));
        reason += match manner {
            Manner::ConstantRead => ", and such reads may give what was there before",
            _ => self.missing_order(conflict.earlier),
        };
        self.fault_of(kind, inst, 1 << lane, &reason)
    }

    /// Returns the end of a message about a race with an earlier access: the operation that would
    /// order the two accesses.
    pub(super) fn missing_order(&self, earlier: CellAccess) -> &'static str {
        match earlier.thread() / self.threads == self.block {
            true => {
                "; nothing orders the two: `__syncthreads()` between them would, or both as atomic \
                 operations"
            }
            false => {
                "; nothing orders the two, as blocks run in any order: each needs an element of its \
                 own, or an atomic operation"
            }
        }
    }

    /// Describes an earlier access that nothing orders before a later one.
    pub(super) fn earlier(&self, earlier: CellAccess, has: &str) -> String {
        let (block, thread) = (earlier.thread() / self.threads, earlier.thread() % self.threads);
        let line = self.program.instructions[earlier.instruction as usize].line();
        let line = line.map_or_else(String::new, |line| format!(" in line {line}"));
        format!("which thread {thread} of block {block} {has}{line}")
    }
}
