//! Loops: unrolled where NVIDIA Warp unrolls, else loops of the IR.

use super::control::{joined, visible_after};
use super::{Binding, FunctionLowering, LoweringResult, Operand, fault, usage};
use crate::constant::KnownValue;
use crate::scope::OverloadSet;
use crate::syntax::{self, Expr, Stmt, StmtFor, StmtWhile};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Type};
use rustc_hash::FxHashMap;

/// Loops over so many known numbers are unrolled, as NVIDIA Warp does by default.
const MAX_UNROLL: i128 = 16;
/// Loops around `wp.static` are unrolled up to here.
const MAX_STATIC_UNROLL: i128 = 4096;

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    fn ends_without_else(&self, orelse: &[Stmt]) -> LoweringResult<()> {
        let Some(stmt) = orelse.first() else { return Ok(()) };
        let span = self.unit.span(stmt);
        fault(Code::UnsupportedSyntax, span, "`else` after a loop is no part of the dialect")
    }

    pub(super) fn for_each(&mut self, each: &'a StmtFor) -> LoweringResult<()> {
        self.ends_without_else(&each.orelse)?;
        let Expr::Name(target) = &*each.target else {
            return fault(
                Code::UnsupportedSyntax,
                self.span(&each.target),
                "a loop has one name as its target",
            );
        };
        let target = target.id.as_str();
        if let Some(query) = self.query(&each.iter)? {
            let (query, next) = query;
            return self.for_query(each, target, query, next);
        }
        let (call, reversed) = self.range_call(&each.iter)?;
        let span = self.span(&each.iter);
        let [start, end, step] = self.bounds(call, span)?;
        if let (Some(first), Some(last), Some(by)) =
            (known_int(&start), known_int(&end), known_int(&step))
        {
            if by == 0 {
                return fault(Code::WrongArguments, span, "the step of a `range` can't be 0");
            }
            let count = (last - first).abs() / by.abs();
            let has_static = self.has_open_static(&each.body);
            if has_static && count > MAX_STATIC_UNROLL {
                return fault(
                    Code::TooComplex,
                    span,
                    format!("a loop around `wp.static` has at most {MAX_STATIC_UNROLL} iterations"),
                );
            }
            if has_static && leaves_loop(&each.body, Stmt::is_break_stmt) {
                let what = "`break` can't leave a loop that `wp.static` unrolls";
                return fault(Code::UnsupportedSyntax, self.unit.span(each), what);
            }
            let leaves =
                leaves_loop(&each.body, |stmt| stmt.is_break_stmt() || stmt.is_continue_stmt());
            if has_static || (count <= MAX_UNROLL && !leaves) {
                return self.unrolled(each, target, first, last, by, reversed);
            }
        }
        let mut range = [
            self.range_bound(start, span)?,
            self.range_bound(end, span)?,
            self.range_bound(step, span)?,
        ];
        if reversed {
            range = self.reversed(range);
        }
        self.dynamic_for(each, target, range)
    }

    /// Returns true if a body has a `wp.static` whose value depends on the loop or the function:
    /// only then NVIDIA Warp unrolls the loop, however long it is.
    fn has_open_static(&self, body: &'a [Stmt]) -> bool {
        statics(body).into_iter().any(|expr| self.unit.known(expr, self.scope).is_err())
    }

    /// The query that a loop goes over, if it does.
    fn query(&mut self, iter: &'a Expr) -> LoweringResult<Option<(Value, OverloadSet<'a>)>> {
        let is_named = match iter {
            Expr::Name(name) => self.names.contains_key(name.id.as_str()),
            Expr::Call(call) => {
                matches!(self.unit.known(&call.func, self.scope), Ok(KnownValue::Function(_)))
            }
            _ => false,
        };
        if !is_named || self.unit.files.geometry.is_none() {
            return Ok(None);
        }
        let Operand::Value(value) = self.expr(iter)? else { return Ok(None) };
        let next = self.next_of(self.ty(value));
        Ok(next.map(|next| (value, next)))
    }

    /// Start, end and step.
    fn bounds(
        &mut self,
        call: &'a syntax::ExprCall,
        span: Span,
    ) -> LoweringResult<[Operand<'a>; 3]> {
        let mut bounds = Vec::new();
        for arg in &call.arguments.args {
            bounds.push(self.expr(arg)?);
        }
        let known = |number| Operand::KnownValue(KnownValue::Int(number));
        let count = bounds.len();
        let mut bounds = bounds.into_iter();
        match (count, bounds.next(), bounds.next(), bounds.next()) {
            (1, Some(end), ..) => Ok([known(0), end, known(1)]),
            (2, Some(start), Some(end), _) => Ok([start, end, known(1)]),
            (3, Some(start), Some(end), Some(step)) => Ok([start, end, step]),
            _ => fault(
                Code::WrongArguments,
                span,
                format!("`range` takes 1 to 3 arguments, found {count}"),
            ),
        }
    }

    fn range_bound(&mut self, bound: Operand<'a>, span: Span) -> LoweringResult<Value> {
        let value = self.value(bound, span)?;
        let ty = self.ty(value);
        if ty.as_scalar().is_some_and(Scalar::is_int) {
            return Ok(self.b.convert(value, Scalar::I32));
        }
        let found = self.shown(ty);
        fault(Code::TypeMismatch, span, format!("`range` needs integers, found `{found}`"))
    }

    fn range_call(&mut self, iter: &'a Expr) -> LoweringResult<(&'a syntax::ExprCall, bool)> {
        let mut iter = iter;
        let mut reversed = false;
        loop {
            if let Expr::Call(call) = iter {
                let known = match &*call.func {
                    Expr::Name(name) if self.names.contains_key(name.id.as_str()) => None,
                    func => self.unit.known(func, self.scope).ok(),
                };
                if let Some(KnownValue::Member(path)) = known {
                    match &*path {
                        "builtins.range" | "warp.range" if call.arguments.keywords.is_empty() => {
                            return Ok((call, reversed));
                        }
                        "builtins.reversed" | "warp.reversed" if call.arguments.args.len() == 1 => {
                            reversed = !reversed;
                            iter = &call.arguments.args[0];
                            continue;
                        }
                        path => {
                            let name = path.rsplit('.').next().unwrap_or(path);
                            if let Some((code, what)) = crate::warp::missing_feature(name) {
                                return fault(
                                    code,
                                    self.span(iter),
                                    format!("{what} aren't supported"),
                                );
                            }
                        }
                    }
                }
            }
            return fault(
                Code::UnsupportedIteration,
                self.span(iter),
                "a loop goes over a `range`",
            );
        }
    }

    /// Range of the numbers from the last to the first.
    fn reversed(&mut self, [start, end, step]: [Value; 3]) -> [Value; 3] {
        // count = ceil((end - start) / step), at least 0.
        let zero = self.b.i32(0);
        let one = self.b.i32(1);
        let positive = self.b.lt(zero, step);
        let up = self.b.sub(step, one);
        let down = self.b.add(step, one);
        let rounding = self.b.select(positive, up, down);
        let distance = self.b.sub(end, start);
        let sum = self.b.add(distance, rounding);
        let count = self.b.div(sum, step);
        let negative = self.b.lt(count, zero);
        let count = self.b.select(negative, zero, count);
        let last = self.b.sub(count, one);
        let last = self.b.mul(last, step);
        let first = self.b.add(start, last);
        let back = self.b.neg(step);
        let end = self.b.mul(count, back);
        let end = self.b.add(first, end);
        [first, end, back]
    }

    fn unrolled(
        &mut self,
        each: &'a StmtFor,
        target: &'a str,
        first: i128,
        last: i128,
        by: i128,
        reversed: bool,
    ) -> LoweringResult<()> {
        let mut numbers = Vec::new();
        let mut next = first;
        while if by > 0 { next < last } else { next > last } {
            numbers.push(next);
            next += by;
        }
        if reversed {
            numbers.reverse();
        }
        self.iterators.insert(target);
        self.session.has_unrolled |= numbers.len() > 1;
        let has_continue = leaves_loop(&each.body, Stmt::is_continue_stmt);
        for (position, &number) in numbers.iter().enumerate() {
            let is_last = position + 1 == numbers.len();
            let outlives = self.usage.is_rebound(target) && !self.usage.is_loop_index(target);
            let local = if outlives && is_last || self.locals.contains_key(target) {
                let value = self.b.i32(number as i32);
                let local = self.local(target, Type::I32);
                let place = self.b.local_place(local);
                self.b.store(place, value);
                Some(local)
            } else {
                None
            };
            self.names.insert(target, Binding::KnownValue(KnownValue::Int(number), local));
            if has_continue {
                self.one_round(&each.body, self.unit.span(each))?;
            } else {
                self.suite(&each.body);
            }
            if self.b.diverged() {
                break;
            }
        }
        Ok(())
    }

    /// A round of an unrolled loop as a loop of one round, which `continue` leaves.
    fn one_round(&mut self, body: &'a [Stmt], span: Span) -> LoweringResult<()> {
        self.check_nesting(span)?;
        let before = self.enter_loop(body, span)?;
        let (zero, one) = (self.b.i32(0), self.b.i32(1));
        let index = self.b.loop_index(Type::I32, "round");
        self.b.open_block();
        self.in_loop += 1;
        self.suite(body);
        self.in_loop -= 1;
        let block = self.b.close_block();
        self.b.for_block(index, [zero, one, one], block);
        self.leave_loop(&before, None, body);
        self.leave_block(block);
        Ok(())
    }

    fn dynamic_for(
        &mut self,
        each: &'a StmtFor,
        target: &'a str,
        range: [Value; 3],
    ) -> LoweringResult<()> {
        self.check_nesting(self.unit.span(each))?;
        let before = self.enter_loop(&each.body, self.unit.span(each))?;
        let index = self.b.loop_index(Type::I32, target);
        self.b.open_block();
        if self.usage.needs_variable(target, false, false) && !self.usage.is_loop_index(target) {
            let local = self.local(target, Type::I32);
            let place = self.b.local_place(local);
            self.b.store(place, index);
            self.names.insert(target, Binding::Local(local));
        } else {
            self.names.insert(target, Binding::Value(index));
        }
        self.in_loop += 1;
        self.suite(&each.body);
        self.in_loop -= 1;
        let body = self.b.close_block();
        self.b.for_block(index, range, body);
        self.leave_loop(&before, Some(target), &each.body);
        self.leave_block(body);
        Ok(())
    }

    pub(super) fn while_loop(&mut self, each: &'a StmtWhile) -> LoweringResult<()> {
        self.ends_without_else(&each.orelse)?;
        self.check_nesting(self.unit.span(each))?;
        let before = self.enter_loop(&each.body, self.unit.span(each))?;
        self.b.open_block();
        let condition = self
            .condition(&each.test)
            .and_then(|condition| self.truth(condition, self.span(&each.test)));
        let header = self.b.close_block();
        self.b.open_block();
        self.in_loop += 1;
        self.suite(&each.body);
        self.in_loop -= 1;
        let body = self.b.close_block();
        let condition = condition?;
        self.b.while_blocks(header, condition, body);
        self.leave_loop(&before, None, &each.body);
        self.leave_block(body);
        Ok(())
    }

    /// Prepares the bindings of names for a loop. Iterators of unrolled loops and copies of
    /// constants that the body changes become variables; other names known from the text may not
    /// change in it, all as in NVIDIA Warp.
    pub(super) fn enter_loop(
        &mut self,
        body: &'a [Stmt],
        span: Span,
    ) -> LoweringResult<FxHashMap<&'a str, Binding<'a>>> {
        for name in usage::assigned(body) {
            let Some(Binding::KnownValue(known, kept)) = self.names.get(name).cloned() else {
                continue;
            };
            if known.as_f64().is_none() {
                continue;
            }
            if self.iterators.contains(name) || self.copies.contains(name) {
                let local = match kept {
                    Some(local) => local,
                    None => {
                        let value = self.materialize(&known, span)?;
                        let local = self.local(name, self.ty(value));
                        let place = self.b.local_place(local);
                        self.b.store(place, value);
                        local
                    }
                };
                self.names.insert(name, Binding::Local(local));
                continue;
            }
            let constructor = match known {
                KnownValue::Bool(_) => "bool",
                KnownValue::Int(_) => "int",
                _ => "float",
            };
            let message = format!("constant `{name}` changes in a loop that isn't unrolled");
            let help = format!("make it a variable before the loop: `{name} = {constructor}(..)`");
            let fault = Diagnostic::error(Code::ConstantInLoop, span, message).help(help);
            return Err(super::LoweringError::Fault(Box::new(fault)));
        }
        Ok(self.names.clone())
    }

    /// Bindings of names after a loop: its body ran any number of times, and may have ended early.
    pub(super) fn leave_loop(
        &mut self,
        before: &FxHashMap<&'a str, Binding<'a>>,
        target: Option<&'a str>,
        body: &'a [Stmt],
    ) {
        let after = std::mem::take(&mut self.names);
        let assigned = usage::assigned(body);
        let mut names = FxHashMap::with_capacity_and_hasher(after.len(), rustc_hash::FxBuildHasher);
        for (name, binding) in after {
            let binding = match binding {
                Binding::KnownValue(_, Some(local)) if assigned.contains(&name) => {
                    Binding::Local(local)
                }
                other => other,
            };
            let joined = match before.get(name) {
                Some(old) if Some(name) != target => joined(old, &binding),
                _ => Some(binding),
            };
            if let Some(binding) = joined
                && visible_after(before, name, &binding)
            {
                names.insert(name, binding);
            }
        }
        self.names = names;
    }
}

fn known_int(operand: &Operand<'_>) -> Option<i128> {
    match operand {
        Operand::KnownValue(KnownValue::Int(value)) => Some(*value),
        Operand::KnownValue(KnownValue::Bool(value)) => Some(i128::from(*value)),
        Operand::KnownValue(KnownValue::Typed(literal)) => literal.as_int(),
        _ => None,
    }
}

/// Returns true if a statement of this loop's body, not of a loop in it, leaves it.
fn leaves_loop(body: &[Stmt], leaves: fn(&Stmt) -> bool) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::If(branch) => {
            let mut others = branch.elif_else_clauses.iter();
            leaves_loop(&branch.body, leaves)
                || others.any(|clause| leaves_loop(&clause.body, leaves))
        }
        _ => leaves(stmt),
    })
}

/// The expressions of all `wp.static(..)` in a body.
fn statics(body: &[Stmt]) -> Vec<&Expr> {
    syntax::calls(body)
        .into_iter()
        .filter(|site| {
            let name = match &*site.call.func {
                Expr::Attribute(attribute) => attribute.attr.as_str(),
                Expr::Name(name) => name.id.as_str(),
                _ => "",
            };
            name == "static"
        })
        .filter_map(|site| site.call.arguments.args.first())
        .collect()
}
