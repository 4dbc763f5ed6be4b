//! Counts the uses of each value, without uses by values that have no use themselves.

use gbxcule_ir::abi::Checks;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{Body, Function, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{BinaryOp, Op};
use gbxcule_ir::place::{PlaceId, Projection};
use gbxcule_ir::stmt::StmtKind;
use gbxcule_ir::walk::{any_stmt, stmt_values, walk_stmts};

/// Counts the uses of each value, by position. Uses by values that are not needed don't count.
pub(super) fn uses(module: &Valid<Module>, body: &Body, faults: &Faults) -> Vec<u32> {
    let mut uses = vec![0; body.values.len()];
    let mut lets = Vec::new();
    walk_stmts(body, body.root, |stmt| match stmt.kind {
        StmtKind::Let(value) => lets.push(value),
        _ => stmt_values(body, &stmt.kind, |value| uses[value.index()] += 1),
    });
    // A value is defined before it is used, so a backwards walk knows all its users when it reaches
    // the value.
    for value in lets.into_iter().rev() {
        let op = &body.values[value].op;
        if uses[value.index()] > 0 || has_effect(module, op) || faults.op(body, op) {
            stmt_values(body, &StmtKind::Let(value), |value| uses[value.index()] += 1);
        }
    }
    uses
}

/// Returns true if an operation has an effect besides its value.
pub(super) fn has_effect(module: &Valid<Module>, op: &Op) -> bool {
    match *op {
        // A warp's minimum must be computed at its place, and so must a value that is hidden from
        // compilers.
        Op::Atomic { .. } | Op::Lowest(_) | Op::Opaque(_) => true,
        Op::Call { function, .. } => {
            let callee = &module.functions[function];
            let mutable = callee.params.iter().any(|param| param.mode == PassMode::Mutable);
            mutable || !module.facts(function).effects.is_none()
        }
        _ => false,
    }
}

/// Answers whether operations of a function may fault and are checked.
#[derive(Debug)]
pub(super) struct Faults {
    checks: Checks,
    /// True if the current function is checked.
    checked: bool,
    /// True, by position, if a call of the function may fault.
    functions: Vec<bool>,
}

impl Faults {
    pub(super) fn new(module: &Valid<Module>, checks: Checks) -> Self {
        let functions = vec![false; module.functions.len()];
        let mut faults = Self { checks, checked: true, functions };
        for &id in module.call_order() {
            let function = &module.functions[id];
            faults.enter(function);
            let body = &function.body;
            faults.functions[id.index()] = any_stmt(body, body.root, |stmt| match stmt.kind {
                StmtKind::Let(value) => faults.op(body, &body.values[value].op),
                StmtKind::Store { place, .. } => faults.place(body, place),
                _ => false,
            });
        }
        faults
    }

    /// Selects the function to which the next questions refer.
    pub(super) fn enter(&mut self, function: &Function) {
        self.checked = self.checks.of(function);
    }

    /// Returns true if the current function is checked.
    pub(super) fn checked(&self) -> bool {
        self.checked
    }

    /// Returns the last argument for calls of the header's functions in a trusted function of a
    /// text that has checks.
    pub(super) fn trusted_argument(&self) -> &'static str {
        if self.checked || self.checks == Checks::None { "" } else { ", gbx::trusted()" }
    }

    /// Returns true if an operation may fault by itself.
    pub(super) fn op(&self, body: &Body, op: &Op) -> bool {
        match *op {
            Op::Binary(
                BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Remainder,
                left,
                right,
            ) => {
                let by_number = body.literal(right).is_some_and(|divisor| divisor.bits() != 0);
                let floats = body.type_of(left).as_scalar().is_some_and(|of| of.is_float());
                self.checked && !by_number && !floats
            }
            Op::Load(place) | Op::AsArray(place) => self.place(body, place),
            Op::View { selectors, .. } => self.checked && !selectors.is_empty(),
            Op::Call { function, .. } => self.functions[function.index()],
            _ => false,
        }
    }

    fn place(&self, body: &Body, place: PlaceId) -> bool {
        let steps = |step: &Projection| matches!(step, Projection::At(_) | Projection::Element(_));
        self.checked && body.path(place).iter().any(steps)
    }
}
