//! Facts that hold on all ways to where code is lowered now: indices that were checked.

use cranelift_codegen::ir::Value;
use rustc_hash::FxHashMap;

/// Facts about values: an index into an extent, as 64 bits; an address that is one, or a stride
/// that is an element's, with itself.
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

    /// The number of facts: what is noted from here on can be forgotten.
    pub(crate) fn mark(&self) -> usize {
        self.order.len()
    }

    /// Forgets what was noted since.
    pub(crate) fn forget_since(&mut self, mark: usize) {
        for key in self.order.drain(mark.min(self.order.len())..) {
            self.facts.remove(&key);
        }
    }
}
