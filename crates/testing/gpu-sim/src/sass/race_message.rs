//! Parts of messages about races: the earlier access, and what would order it before the later one.

use super::shadow::CellAccess;
use super::warp::Warp;

impl Warp<'_> {
    /// End of a message about a race with an earlier access: what would order the two.
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

    /// Description of an earlier access that nothing orders before a later one.
    pub(super) fn earlier(&self, earlier: CellAccess, has: &str) -> String {
        let (block, thread) = (earlier.thread() / self.threads, earlier.thread() % self.threads);
        let line = self.program.steps[earlier.instruction as usize].line();
        let line = line.map_or_else(String::new, |line| format!(" in line {line}"));
        format!("which thread {thread} of block {block} {has}{line}")
    }
}
