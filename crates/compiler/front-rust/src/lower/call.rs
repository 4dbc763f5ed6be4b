//! Calls.

use super::Lowering;
use crate::tree::Expr;
use crate::ty::Ty;
use gbxcule_ir::op::{Arg, Value};

impl Lowering<'_, '_, '_, '_> {
    /// Lowers a call. Its value has the unit type if the function has no result.
    pub(super) fn call(&mut self, id: usize, args: &[Expr]) -> Value {
        let function = self.all.declared(id, self.b.module);
        let signature = self.all.program.signature(id);
        let mut passed = Vec::with_capacity(args.len());
        for (arg, param) in args.iter().zip(&signature.params) {
            passed.push(match &param.ty {
                Ty::Ref { to, .. } if matches!(**to, Ty::Slice(_)) => Arg::Value(self.slice(arg)),
                Ty::Ref { .. } => Arg::Place(self.reference(arg)),
                _ => Arg::Value(self.value(arg)),
            });
        }
        self.b.call(function, &passed)
    }
}
