//! Statements of native snippets.

use super::{Snippet, Variable, unread};
use crate::lower::{FunctionLowering, LoweringResult};
use crate::snippet::{Expr, SnippetType, Stmt};
use gbxcule_ir::ty::Type;
use rustc_hash::FxHashMap;

impl FunctionLowering<'_, '_, '_, '_> {
    fn snippet_block(&mut self, snippet: &mut Snippet, body: &[Stmt]) -> LoweringResult<()> {
        snippet.scopes.push(FxHashMap::default());
        let lowered = body.iter().try_for_each(|stmt| self.snippet_stmt(snippet, stmt));
        snippet.scopes.pop();
        lowered
    }

    pub(super) fn snippet_stmt(
        &mut self,
        snippet: &mut Snippet,
        stmt: &Stmt,
    ) -> LoweringResult<()> {
        if self.b.diverged() {
            return Ok(());
        }
        match stmt {
            Stmt::Block(body) => self.snippet_block(snippet, body),
            Stmt::Declare(ty, name, value) => self.declare(snippet, *ty, name, value.as_ref()),
            Stmt::Assign(target, op, value) => {
                let place = self.target(snippet, target)?;
                let mut value = self.snippet_expr(snippet, value)?;
                if let Some(op) = op {
                    let before = self.b.load(place);
                    value = self.snippet_binary(*op, before, value)?;
                }
                let value = self.value_as(value, self.b.place_type(place))?;
                self.b.store(place, value);
                Ok(())
            }
            Stmt::If(condition, accept, reject) => {
                self.snippet_if(snippet, condition, accept, reject.as_deref())
            }
            Stmt::While(condition, body, step) => {
                self.snippet_while(snippet, condition.as_ref(), body, step.as_deref())
            }
            Stmt::Return(value) => {
                let value = match value {
                    Some(value) => {
                        let value = self.snippet_expr(snippet, value)?;
                        if snippet.result == Type::UNIT {
                            return Err(unread("a result that no annotation names"));
                        }
                        Some(self.value_as(value, snippet.result)?)
                    }
                    None if snippet.result == Type::UNIT => None,
                    None => return Err(unread("`return` without a value")),
                };
                self.b.ret(value);
                Ok(())
            }
            Stmt::Break if snippet.in_loop > 0 => {
                self.b.break_loop();
                Ok(())
            }
            Stmt::Break => Err(unread("`break` without a loop")),
            Stmt::Drop(value) => self.snippet_expr(snippet, value).map(|_| ()),
        }
    }

    fn snippet_if(
        &mut self,
        snippet: &mut Snippet,
        condition: &Expr,
        accept: &Stmt,
        reject: Option<&Stmt>,
    ) -> LoweringResult<()> {
        let condition = self.snippet_truth(snippet, condition)?;
        self.b.open_block();
        let accepted = self.snippet_stmt(snippet, accept);
        let accept = self.b.close_block();
        self.b.open_block();
        let rejected = match reject {
            Some(reject) => self.snippet_stmt(snippet, reject),
            None => Ok(()),
        };
        let reject = self.b.close_block();
        self.b.if_blocks(condition, accept, reject);
        accepted.and(rejected)
    }

    fn snippet_while(
        &mut self,
        snippet: &mut Snippet,
        condition: Option<&Expr>,
        body: &Stmt,
        step: Option<&Stmt>,
    ) -> LoweringResult<()> {
        self.b.open_block();
        let condition = match condition {
            Some(condition) => self.snippet_truth(snippet, condition),
            None => Ok(self.b.bool(true)),
        };
        let header = self.b.close_block();
        self.b.open_block();
        snippet.in_loop += 1;
        let mut lowered = self.snippet_stmt(snippet, body);
        if let (Ok(()), Some(step)) = (&lowered, step) {
            lowered = self.snippet_stmt(snippet, step);
        }
        snippet.in_loop -= 1;
        let body = self.b.close_block();
        self.b.while_blocks(header, condition?, body);
        lowered
    }

    fn declare(
        &mut self,
        snippet: &mut Snippet,
        ty: SnippetType,
        name: &str,
        value: Option<&Expr>,
    ) -> LoweringResult<()> {
        let value = match value {
            Some(value) => self.snippet_expr(snippet, value)?,
            None if ty == SnippetType::Auto => return Err(unread("`auto` without a value")),
            None => {
                let ty = self.snippet_type(ty)?;
                self.zero(ty)
            }
        };
        let value = match ty {
            SnippetType::Auto => value,
            ty => {
                let ty = self.snippet_type(ty)?;
                self.value_as(value, ty)?
            }
        };
        let local = self.b.local(name, self.ty(value));
        let place = self.b.local_place(local);
        self.b.store(place, value);
        if let Some(scope) = snippet.scopes.last_mut() {
            scope.insert(name.to_owned(), Variable::Local(local));
        }
        Ok(())
    }
}
