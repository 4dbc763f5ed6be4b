//! Gives names to elements that a finished kernel reads several times, at the first point at which
//! their indices are defined.

use super::Scope;
use crate::ast::{Expr, Function, Name, Stmt, Ty};
use std::collections::HashSet;

impl Scope {
    /// Returns the kernel's statements, with names for the elements that they read several times.
    pub(super) fn with_repeats_named(&mut self) -> Vec<Stmt> {
        let body = self.blocks.swap_remove(0);
        let known = self.launch.names().to_vec();
        // The first statement defines the launch indices.
        self.with_elements(body, &known, None, 1)
    }

    /// Drops the constants that only rejected expressions used.
    pub(super) fn drop_constants(&mut self, functions: &[Function], body: &[Stmt]) {
        if self.constants.is_empty() {
            return;
        }
        let mut read = HashSet::new();
        let functions = functions.iter().flat_map(|it| &it.body);
        for stmt in functions.chain(body) {
            each(&mut stmt.clone(), &mut |expr| {
                if let Expr::Name(name) = expr {
                    read.insert(name.clone());
                }
            });
        }
        self.constants.retain(|(name, _)| read.contains(name));
    }

    /// Returns statements with names for the elements that they read several times. Such an element
    /// is read at indices that are `known`, or in a loop at the loop's index `own`.
    fn with_elements(
        &mut self,
        body: Vec<Stmt>,
        known: &[Name],
        own: Option<&Name>,
        first: usize,
    ) -> Vec<Stmt> {
        let mut body: Vec<Stmt> = body
            .into_iter()
            .map(|stmt| match stmt {
                Stmt::For(name, range, body) => {
                    let known = [known, std::slice::from_ref(&name)].concat();
                    let body = self.with_elements(body, &known, Some(&name), 0);
                    Stmt::For(name, range, body)
                }
                other => other,
            })
            .collect();
        let mut elements: Vec<(Expr, Ty, usize)> = Vec::new();
        for stmt in &mut body {
            each(stmt, &mut |expr| {
                if let Some(ty) = self.element_at(expr, known, own) {
                    match elements.iter_mut().find(|(it, ..)| it == expr) {
                        Some((.., count)) => *count += 1,
                        None => elements.push((expr.clone(), ty, 1)),
                    }
                }
            });
        }
        let mut named = Vec::new();
        for (element, ty, count) in elements {
            if count < 2 || count == 2 && self.random.chance(40) {
                continue;
            }
            let name = match ty {
                Ty::Struct(_) => self.name_from(&["p", "item", "it", "entry", "elem"]),
                ty => self.name_for(ty),
            };
            let read = Expr::from(&name);
            body.iter_mut().for_each(|stmt| {
                each(stmt, &mut |expr| {
                    if *expr == element {
                        expr.clone_from(&read);
                    }
                });
            });
            named.push(Stmt::Assign(vec![read], element));
        }
        body.splice(first..first, named);
        body
    }

    /// Returns the element type of an array that is only read.
    fn element_at(&self, expr: &Expr, known: &[Name], own: Option<&Name>) -> Option<Ty> {
        let Expr::Index(of, indices) = expr else { return None };
        let Expr::Name(array) = &**of else { return None };
        let names = indices.iter().map(|it| match it {
            Expr::Name(name) if known.contains(name) => Some(name),
            _ => None,
        });
        let names: Vec<&Name> = names.collect::<Option<_>>()?;
        let ty = self.launch.read_only_type(array)?;
        own.is_none_or(|own| names.contains(&own)).then_some(ty)
    }
}

/// Visits every expression of a statement, outer ones first.
fn each(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut Expr)) {
    let mut inside = |expr: &mut Expr| within(expr, visit);
    match stmt {
        Stmt::Assign(targets, value) => {
            targets.iter_mut().for_each(&mut inside);
            inside(value);
        }
        Stmt::Augment(target, _, value) => {
            inside(target);
            inside(value);
        }
        Stmt::Do(value) => inside(value),
        Stmt::Return(values) => values.iter_mut().for_each(inside),
        Stmt::If(arms, rest) => {
            for (condition, arm) in arms {
                within(condition, visit);
                arm.iter_mut().for_each(|stmt| each(stmt, visit));
            }
            rest.iter_mut().for_each(|stmt| each(stmt, visit));
        }
        Stmt::For(_, range, body) => {
            range.iter_mut().for_each(inside);
            body.iter_mut().for_each(|stmt| each(stmt, visit));
        }
        Stmt::While(condition, body) => {
            inside(condition);
            body.iter_mut().for_each(|stmt| each(stmt, visit));
        }
        Stmt::Break | Stmt::Continue => {}
    }
}

fn within(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    visit(expr);
    match expr {
        Expr::Name(_) | Expr::Int(_) | Expr::Float(_) => {}
        Expr::Unary(_, of) | Expr::Attr(of, _) | Expr::Keyword(_, of) => within(of, visit),
        Expr::Binary(left, _, right) => {
            within(left, visit);
            within(right, visit);
        }
        Expr::If(condition, accept, reject) => {
            [condition, accept, reject].into_iter().for_each(|it| within(it, visit));
        }
        Expr::Call(_, args) => args.iter_mut().for_each(|it| within(it, visit)),
        Expr::Index(of, indices) => {
            within(of, visit);
            indices.iter_mut().for_each(|it| within(it, visit));
        }
    }
}
