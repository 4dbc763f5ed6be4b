//! Functions of the text (`@wp.func`), and calls of them.

use super::plausibility::reads;
use super::{KernelBuilder, Signature};
use crate::ast::{Expr, Function, Name, Param, Stmt, Ty};
use crate::identifiers::Role;

impl KernelBuilder {
    /// Returns true if some function of the text returns one value of that type.
    pub(super) fn callable(&self, ty: Ty) -> bool {
        self.signatures.iter().any(|signature| signature.results == [ty])
    }

    /// Returns a call of a function of the text that returns a value of a type.
    pub(super) fn call(&mut self, ty: Ty, depth: usize) -> Option<Expr> {
        let fitting: Vec<usize> =
            (0..self.signatures.len()).filter(|&at| self.signatures[at].results == [ty]).collect();
        if fitting.is_empty() {
            return None;
        }
        let unused = fitting.iter().copied().find(|&at| !self.signatures[at].used);
        let at = unused.unwrap_or_else(|| self.random.pick(&fitting));
        Some(self.call_at(at, depth))
    }

    fn call_at(&mut self, at: usize, depth: usize) -> Expr {
        self.signatures[at].used = true;
        let Signature { name, params, .. } = self.signatures[at].clone();
        let args = params
            .into_iter()
            .map(|param| self.expr(param, depth.saturating_sub(1).min(1)))
            .collect();
        Expr::call(name, args)
    }

    /// Calls each function that has no call yet; the results are still to be read.
    pub(super) fn call_all(&mut self) {
        while let Some(at) = self.signatures.iter().position(|signature| !signature.used) {
            let value = self.call_at(at, 2);
            let results = self.signatures[at].results.clone();
            let names: Vec<Name> = results.iter().map(|&ty| self.name_for(ty)).collect();
            self.push(Stmt::Assign(names.iter().map(Expr::from).collect(), value));
            names.iter().zip(results).for_each(|(name, ty)| self.reveal(name, ty));
        }
    }

    /// Writes a function with these types of parameters and of one result or several.
    pub(super) fn function(&mut self, params: &[Ty], results: &[Ty]) {
        let name = self.name_of(Role::Function);
        // The body of a function sees its parameters only.
        let vars = std::mem::take(&mut self.vars);
        let arrays = std::mem::take(&mut self.arrays);
        let blocks = std::mem::replace(&mut self.blocks, vec![Vec::new()]);
        let (taken, known) = (self.taken.clone(), std::mem::take(&mut self.known));
        let params: Vec<Param> = params
            .iter()
            .map(|&ty| {
                let name = self.name_for(ty);
                self.reveal(&name, ty);
                Param { name, ty, dims: 0 }
            })
            .collect();
        self.function_body(results);
        let body = self.blocks.swap_remove(0);
        (self.vars, self.arrays, self.blocks) = (vars, arrays, blocks);
        (self.taken, self.known) = (taken, known);
        self.taken.push(name.clone());
        self.taken.extend(self.constants.iter().map(|(name, _)| name.clone()));
        let types = params.iter().map(|param| param.ty).collect();
        self.functions.push(Function::new(name.clone(), params, body));
        self.signatures.push(Signature {
            name,
            params: types,
            results: results.to_vec(),
            used: false,
        });
    }

    fn function_body(&mut self, results: &[Ty]) {
        let (float, result) = (self.float_type(), results[0]);
        self.bindings(&[float, result], 2);
        if self.random.chance(25) {
            let condition = self.truth(2);
            let early = self.block(|m| {
                let values = results.iter().map(|&ty| m.expr(ty, 1)).collect();
                m.push(Stmt::Return(values));
            });
            self.push(Stmt::If(vec![(condition, early)], vec![]));
        } else if self.random.chance(25) {
            self.branch(float);
        } else if self.random.chance(30) {
            self.repeated(results);
        }
        let constant = |_: &Self, expr: &Expr| !reads(expr);
        let value = |m: &mut Self, ty| m.drawn(|m| m.expr(ty, 2), constant);
        let mut values: Vec<Expr> =
            results.iter().map(|&ty| value(self, ty).unwrap_or_else(|expr| expr)).collect();
        if let (Some(last), Some(&ty)) = (values.pop(), results.last()) {
            values.push(self.absorb_pending(last, ty, 0));
        }
        self.push(Stmt::Return(values));
    }

    /// Writes a small loop that changes a variable and may end the function.
    fn repeated(&mut self, results: &[Ty]) {
        let ty = results[0];
        let start = self.expr(ty, 1);
        let with = self.float(self.real, 0);
        let float = self.float_type();
        let start = self.absorb(&start, ty, &with, float);
        let name: Name = self.define(ty, start);
        let index = self.name_from(&["k", "m", "turn", "pass_no"]);
        let most = self.random.between(2, 5);
        let body = self.block(|m| {
            let since = m.vars.len();
            m.reveal(&index, crate::ast::INT);
            m.change(&name, ty, since);
            if m.random.chance(35) {
                let condition = m.truth(1);
                let rest = results.iter().skip(1).map(|&ty| m.expr(ty, 0)).collect::<Vec<_>>();
                let values = [vec![Expr::from(&name)], rest].concat();
                m.push(Stmt::If(vec![(condition, vec![Stmt::Return(values)])], vec![]));
            }
        });
        self.push(Stmt::For(index, vec![Expr::Int(most)], body));
        self.reveal(&name, ty);
    }
}
