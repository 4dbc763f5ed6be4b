//! Facts that hold on all ways to the code that is lowered now: indices that were checked.

use cranelift_codegen::ir::Value;
use rustc_hash::FxHashMap;

/// Facts about pairs of values. For an index and an extent, the fact is the index as 64 bits. A
/// fact about one value (an address isn't null, a stride is the size of an element) has that value
/// twice as its key.
#[derive(Default)]
pub(crate) struct Proven {
    facts: FxHashMap<(Value, Value), Value>,
    order: Vec<(Value, Value)>,
}

impl Proven {
    pub(crate) fn get(&self, of: Value, by: Value) -> Option<Value> {
        self.facts.get(&(of, by)).copied()
    }

    pub(crate) fn note(&mut self, of: Value, by: Value, fact: Value) {
        if self.facts.insert((of, by), fact).is_none() {
            self.order.push((of, by));
        }
    }

    /// Returns the number of facts, a mark to which [`Self::forget_since`] goes back.
    pub(crate) fn mark(&self) -> usize {
        self.order.len()
    }

    /// Forgets the facts that were recorded since a mark.
    pub(crate) fn forget_since(&mut self, mark: usize) {
        for key in self.order.drain(mark.min(self.order.len())..) {
            self.facts.remove(&key);
        }
    }
}
