//! Functions of the text (`@wp.func`), and calls of them.

use super::KernelBuilder;
use super::plausibility::reads;
use super::scope::Scope;
use crate::ast::{Expr, Function, Name, Param, Stmt, Ty};
use crate::identifiers::Role;

impl KernelBuilder {
    /// Calls each function that has no call yet; the results are still to be read.
    pub(super) fn call_all(&mut self) {
        while let Some(function) = self.uncalled_function() {
            let results = function.results.clone();
            let value = self.call_of(function, 2);
            let names: Vec<Name> = results.iter().map(|&ty| self.name_for(ty)).collect();
            self.push(Stmt::Assign(names.iter().map(Expr::from).collect(), value));
            names.iter().zip(results).for_each(|(name, ty)| self.reveal(name, ty));
        }
    }

    /// Writes a function with these types of parameters and of one result or several.
    pub(super) fn function(&mut self, params: &[Ty], results: &[Ty]) {
        let name = self.name_of(Role::Function);
        let outer = self.enter_function();
        let types = params.to_vec();
        let param = |&ty: &Ty| {
            let name = self.name_for(ty);
            self.reveal(&name, ty);
            Param { name, ty, dims: 0 }
        };
        let params = params.iter().map(param).collect();
        self.function_body(results);
        let body = self.leave_function(outer, name.clone(), types, results.to_vec());
        self.functions.push(Function::new(name, params, body));
    }

    fn function_body(&mut self, results: &[Ty]) {
        let (float, result) = (self.float_type(), results[0]);
        self.bindings(&[float, result], 2);
        if self.random().chance(25) {
            let condition = self.truth(2);
            let early = self.block(|m| {
                let values = results.iter().map(|&ty| m.expr(ty, 1)).collect();
                m.push(Stmt::Return(values));
            });
            self.push(Stmt::If(vec![(condition, early)], vec![]));
        } else if self.random().chance(25) {
            self.branch(float);
        } else if self.random().chance(30) {
            self.repeated(results);
        }
        let constant = |_: &Scope, expr: &Expr| !reads(expr);
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
        let real = self.real();
        let with = self.float(real, 0);
        let float = self.float_type();
        let start = self.absorb(&start, ty, &with, float);
        let name: Name = self.define(ty, start);
        let index = self.name_from(&["k", "m", "turn", "pass_no"]);
        let most = self.random().between(2, 5);
        let body = self.block(|m| {
            let since = m.next_var();
            m.reveal(&index, crate::ast::INT);
            m.change(&name, ty, since);
            if m.random().chance(35) {
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
