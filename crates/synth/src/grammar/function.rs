//! `@wp.func`: functions of the text, and calls to them.

use super::{Maker, Signature};
use crate::ast::{Expr, Function, Name, Param, Stmt, Ty};
use crate::word::Role;

impl Maker {
    /// Whether a function of the text gives that type.
    pub(super) fn callable(&self, ty: Ty) -> bool {
        self.signatures.iter().any(|signature| signature.result == ty)
    }

    /// A call to a function of the text that gives that type.
    pub(super) fn call(&mut self, ty: Ty, depth: usize) -> Option<Expr> {
        let fitting: Vec<usize> =
            (0..self.signatures.len()).filter(|&at| self.signatures[at].result == ty).collect();
        if fitting.is_empty() {
            return None;
        }
        let unused = fitting.iter().copied().find(|&at| !self.signatures[at].used);
        let at = unused.unwrap_or_else(|| self.random.pick(&fitting));
        self.signatures[at].used = true;
        let Signature { name, params, .. } = self.signatures[at].clone();
        let args = params
            .into_iter()
            .map(|param| self.expr(param, depth.saturating_sub(1).min(1)))
            .collect();
        Some(Expr::call(name, args))
    }

    /// Calls each function that nobody has called, and keeps the results pending.
    pub(super) fn call_all(&mut self) {
        while let Some(at) = self.signatures.iter().position(|signature| !signature.used) {
            let ty = self.signatures[at].result;
            if let Some(value) = self.call(ty, 2) {
                self.define(ty, value);
            }
        }
    }

    /// Writes a function of these types.
    pub(super) fn function(&mut self, params: &[Ty], result: Ty) {
        let name = self.name_of(Role::Function);
        // Inside, only the parameters are known.
        let vars = std::mem::take(&mut self.vars);
        let arrays = std::mem::take(&mut self.arrays);
        let blocks = std::mem::replace(&mut self.blocks, vec![Vec::new()]);
        let taken = self.taken.clone();
        let params: Vec<Param> = params
            .iter()
            .map(|&ty| {
                let name = self.name_for(ty);
                self.reveal(&name, ty);
                Param { name, ty, dims: 0 }
            })
            .collect();
        self.function_body(result);
        let body = self.blocks.swap_remove(0);
        (self.vars, self.arrays, self.blocks) = (vars, arrays, blocks);
        self.taken = taken;
        self.taken.insert(name.to_string());
        self.taken.extend(self.constants.iter().map(|(name, _)| name.to_string()));
        let types = params.iter().map(|param| param.ty).collect();
        self.functions.push(Function { name: name.clone(), params, body });
        self.signatures.push(Signature { name, params: types, result, used: false });
    }

    fn function_body(&mut self, result: Ty) {
        let float = self.float_type();
        self.bindings(&[float, result], 2);
        if self.random.chance(25) {
            let condition = self.truth(2);
            let early = self.block(|m| {
                let value = m.expr(result, 1);
                m.push(Stmt::Return(vec![value]));
            });
            self.push(Stmt::If(vec![(condition, early)], vec![]));
        } else if self.random.chance(25) {
            self.branch(float);
        } else if self.random.chance(20) {
            self.repeated(result);
        }
        let value = self.expr(result, 2);
        let value = self.absorb_pending(value, result, 0);
        self.push(Stmt::Return(vec![value]));
    }

    /// A small loop that works on a variable.
    fn repeated(&mut self, ty: Ty) {
        let start = self.expr(ty, 1);
        let with = self.float(self.real, 0);
        let float = self.float_type();
        let start = self.absorb(start, ty, with, float);
        let name: Name = self.define(ty, start);
        let index = self.name_from(&["k", "m", "turn", "pass_no"]);
        let most = self.random.between(2, 5);
        let body = self.block(|m| {
            let since = m.vars.len();
            m.reveal(&index, crate::ast::INT);
            m.change(&name, ty, since);
        });
        self.push(Stmt::For(index, vec![Expr::Int(most)], body));
        self.reveal(&name, ty);
    }
}
