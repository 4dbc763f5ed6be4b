//! Statements of native snippets.

use super::{Lowered, Lowering, Variable};
use crate::tree::{Expr, SnippetType, Stmt};
use gbxcule_ir::ty::Type;
use rustc_hash::FxHashMap;

impl Lowering<'_> {
    fn block(&mut self, body: &[Stmt]) -> Lowered<()> {
        self.scopes.push(FxHashMap::default());
        let lowered = body.iter().try_for_each(|stmt| self.stmt(stmt));
        self.scopes.pop();
        lowered
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Lowered<()> {
        if self.b.diverged() {
            return Ok(());
        }
        match stmt {
            Stmt::Block(body) => self.block(body),
            Stmt::Declare(ty, name, value) => self.declare(*ty, name, value.as_ref()),
            Stmt::Assign(target, op, value) => {
                let place = self.target(target)?;
                let mut value = self.expr(value)?;
                if let Some(op) = op {
                    let before = self.b.load(place);
                    value = self.binary(*op, before, value)?;
                }
                let value = self.value_as(value, self.b.place_type(place))?;
                self.b.store(place, value);
                Ok(())
            }
            Stmt::If(condition, accept, reject) => {
                self.branch(condition, accept, reject.as_deref())
            }
            Stmt::While(condition, body, step) => {
                self.repeat(condition.as_ref(), body, step.as_deref())
            }
            Stmt::Return(value) => {
                let value = match value {
                    Some(value) => {
                        let value = self.expr(value)?;
                        if self.result == Type::UNIT {
                            return Err("a result that no annotation names".to_owned());
                        }
                        Some(self.value_as(value, self.result)?)
                    }
                    None if self.result == Type::UNIT => None,
                    None => return Err("`return` without a value".to_owned()),
                };
                self.b.ret(value);
                Ok(())
            }
            Stmt::Break if self.in_loop > 0 => {
                self.b.break_loop();
                Ok(())
            }
            Stmt::Break => Err("`break` without a loop".to_owned()),
            Stmt::Drop(value) => self.expr(value).map(|_| ()),
        }
    }

    fn branch(&mut self, condition: &Expr, accept: &Stmt, reject: Option<&Stmt>) -> Lowered<()> {
        let condition = self.truth(condition)?;
        self.b.open_block();
        let accepted = self.stmt(accept);
        let accept = self.b.close_block();
        self.b.open_block();
        let rejected = match reject {
            Some(reject) => self.stmt(reject),
            None => Ok(()),
        };
        let reject = self.b.close_block();
        self.b.if_blocks(condition, accept, reject);
        accepted.and(rejected)
    }

    fn repeat(
        &mut self,
        condition: Option<&Expr>,
        body: &Stmt,
        step: Option<&Stmt>,
    ) -> Lowered<()> {
        self.b.open_block();
        let condition = match condition {
            Some(condition) => self.truth(condition),
            None => Ok(self.b.bool(true)),
        };
        let header = self.b.close_block();
        self.b.open_block();
        self.in_loop += 1;
        let mut lowered = self.stmt(body);
        if let (Ok(()), Some(step)) = (&lowered, step) {
            lowered = self.stmt(step);
        }
        self.in_loop -= 1;
        let body = self.b.close_block();
        self.b.while_blocks(header, condition?, body);
        lowered
    }

    fn declare(&mut self, ty: SnippetType, name: &str, value: Option<&Expr>) -> Lowered<()> {
        let value = match value {
            Some(value) => self.expr(value)?,
            None if ty == SnippetType::Auto => return Err("`auto` without a value".to_owned()),
            None => {
                let ty = self.type_of(ty)?;
                self.b.zero_of(ty)
            }
        };
        let value = match ty {
            SnippetType::Auto => value,
            ty => {
                let ty = self.type_of(ty)?;
                self.value_as(value, ty)?
            }
        };
        let local = {
            let ty = self.b.ty(value);
            self.b.local(name, ty)
        };
        let place = self.b.local_place(local);
        self.b.store(place, value);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), Variable::Local(local));
        }
        Ok(())
    }
}
