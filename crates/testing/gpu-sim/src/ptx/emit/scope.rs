//! Meanings of the names in a function's body.

use super::super::syntax::{Function, Module, Variable};
use super::super::ty::Type;
use rustc_hash::FxHashMap;

/// Functions by their names.
pub(super) type Callees<'s> = FxHashMap<&'s str, &'s Function<'s>>;

/// Registers, variables, lists of labels and functions declared so far.
pub(super) struct Scope<'s> {
    pub(super) callees: &'s Callees<'s>,
    registers: FxHashMap<&'s str, (Type, Option<u64>)>,
    /// Size of each variable in bytes.
    variables: FxHashMap<&'s str, u64>,
    targets: FxHashMap<&'s str, &'s [&'s str]>,
}

impl<'s> Scope<'s> {
    pub(super) fn new(
        module: &'s Module<'s>,
        callees: &'s Callees<'s>,
        function: &'s Function<'s>,
    ) -> Self {
        let all = module.variables.iter().chain(&function.results).chain(&function.params);
        let variables = all.map(|it| (it.name, it.bytes())).collect();
        let (registers, targets) = (FxHashMap::default(), FxHashMap::default());
        Self { callees, registers, variables, targets }
    }

    pub(super) fn add_registers(&mut self, name: &'s str, ty: Type, count: Option<u64>) {
        self.registers.insert(name, (ty, count));
    }

    pub(super) fn add_variable(&mut self, variable: &Variable<'s>) {
        self.variables.insert(variable.name, variable.bytes());
    }

    pub(super) fn add_targets(&mut self, name: &'s str, labels: &'s [&'s str]) {
        self.targets.insert(name, labels);
    }

    /// Returns the type of a register.
    pub(super) fn register(&self, name: &str) -> Option<Type> {
        if let Some((ty, None)) = self.registers.get(name) {
            return Some(*ty);
        }
        let stem = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
        let number: u64 = name[stem.len()..].parse().ok()?;
        let (ty, count) = self.registers.get(stem)?;
        (number < (*count)?).then_some(*ty)
    }

    /// Returns the size of a variable in bytes.
    pub(super) fn variable(&self, name: &str) -> Option<u64> {
        self.variables.get(name).copied()
    }

    /// Returns the labels of a list.
    pub(super) fn targets(&self, name: &str) -> Option<&'s [&'s str]> {
        self.targets.get(name).copied()
    }
}
