//! Loops: unrolled where NVIDIA Warp unrolls, else loops of the IR.

use super::control::Statements;
use super::geometry::next_of;
use super::operand::{LoweringResult, Operand, fault};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Type};
use gbxcule_python_names::syntax::{self, Expr, Stmt, StmtFor, StmtWhile};
use gbxcule_warp_types::value::{KnownValue, OverloadSet, WarpValue};

/// Greatest number of rounds of a loop that is unrolled, as NVIDIA Warp does by default.
const MAX_UNROLL: i128 = 16;
/// Greatest number of rounds of a loop around `wp.static` that is unrolled.
const MAX_STATIC_UNROLL: i128 = 4096;

impl<'a> Statements<'_, 'a> {
    fn ends_without_else(&self, orelse: &[Stmt]) -> LoweringResult<()> {
        let Some(stmt) = orelse.first() else { return Ok(()) };
        let span = self.e.unit.span(stmt);
        fault(Code::UnsupportedSyntax, span, "`else` after a loop isn't part of the dialect")
    }

    pub(super) fn for_each(&mut self, each: &'a StmtFor) -> LoweringResult<()> {
        self.ends_without_else(&each.orelse)?;
        let Expr::Name(target) = &*each.target else {
            let message = "a loop has one name as its target";
            return fault(Code::UnsupportedSyntax, self.e.span(&each.target), message);
        };
        let target = target.id.as_str();
        if let Some(query) = self.query(&each.iter)? {
            let (query, next) = query;
            return self.for_query(each, target, query, next);
        }
        let (call, reversed) = self.range_call(&each.iter)?;
        let span = self.e.span(&each.iter);
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
                let message =
                    format!("a loop around `wp.static` has at most {MAX_STATIC_UNROLL} iterations");
                return fault(Code::TooComplex, span, message);
            }
            if has_static && leaves_loop(&each.body, Stmt::is_break_stmt) {
                let what = "`break` can't leave a loop that `wp.static` unrolls";
                return fault(Code::UnsupportedSyntax, self.e.unit.span(each), what);
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

    /// Returns true if a body has a `wp.static` whose value depends on the loop or the function.
    /// NVIDIA Warp unrolls a loop of any length if this is true.
    fn has_open_static(&self, body: &'a [Stmt]) -> bool {
        statics(body).into_iter().any(|expr| self.e.unit.known(expr, self.e.scope).is_err())
    }

    /// Returns the query that a loop iterates over; `None` for another loop.
    fn query(&mut self, iter: &'a Expr) -> LoweringResult<Option<(Value, OverloadSet<'a>)>> {
        let is_named = match iter {
            Expr::Name(name) => self.e.names.contains(name.id.as_str()),
            Expr::Call(call) => {
                matches!(
                    self.e.unit.known(&call.func, self.e.scope),
                    Ok(KnownValue::Dialect(WarpValue::Function(_)))
                )
            }
            _ => false,
        };
        if !is_named || self.e.unit.files.library.is_none() {
            return Ok(None);
        }
        let Operand::Value(value) = self.e.expr(iter)? else { return Ok(None) };
        let next = next_of(&self.e.b, self.e.b.ty(value));
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
            bounds.push(self.e.expr(arg)?);
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
        let value = self.e.b.integer(bound, span, "`range` needs integers")?;
        Ok(self.e.b.convert(value, Scalar::I32))
    }

    fn range_call(&mut self, iter: &'a Expr) -> LoweringResult<(&'a syntax::ExprCall, bool)> {
        let mut iter = iter;
        let mut reversed = false;
        loop {
            if let Expr::Call(call) = iter {
                let callee = match &*call.func {
                    Expr::Name(name) if self.e.names.contains(name.id.as_str()) => None,
                    func => self.e.unit.known(func, self.e.scope).ok(),
                };
                if let Some(KnownValue::Member(path)) = callee {
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
                            if let Some((code, what)) =
                                gbxcule_warp_types::warp::missing_feature(name)
                            {
                                return fault(
                                    code,
                                    self.e.span(iter),
                                    format!("{what} aren't supported"),
                                );
                            }
                        }
                    }
                }
            }
            let message = "a loop iterates over a `range`";
            return fault(Code::UnsupportedIteration, self.e.span(iter), message);
        }
    }

    /// Range of the same numbers in reverse order.
    fn reversed(&mut self, [start, end, step]: [Value; 3]) -> [Value; 3] {
        // count = ceil((end - start) / step), at least 0.
        let zero = self.e.b.i32(0);
        let one = self.e.b.i32(1);
        let positive = self.e.b.lt(zero, step);
        let up = self.e.b.sub(step, one);
        let down = self.e.b.add(step, one);
        let rounding = self.e.b.select(positive, up, down);
        let distance = self.e.b.sub(end, start);
        let sum = self.e.b.add(distance, rounding);
        let count = self.e.b.div(sum, step);
        let negative = self.e.b.lt(count, zero);
        let count = self.e.b.select(negative, zero, count);
        let last = self.e.b.sub(count, one);
        let last = self.e.b.mul(last, step);
        let first = self.e.b.add(start, last);
        let back = self.e.b.neg(step);
        let end = self.e.b.mul(count, back);
        let end = self.e.b.add(first, end);
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
        self.e.names.note_iterator(target);
        if numbers.len() > 1 {
            self.e.b.session().report.unroll();
        }
        let has_continue = leaves_loop(&each.body, Stmt::is_continue_stmt);
        for (position, &number) in numbers.iter().enumerate() {
            let is_last = position + 1 == numbers.len();
            self.e.names.bind_round(&mut self.e.b, target, number, is_last);
            if has_continue {
                self.one_round(&each.body, self.e.unit.span(each))?;
            } else {
                self.suite(&each.body);
            }
            if self.e.b.diverged() {
                break;
            }
        }
        Ok(())
    }

    /// Lowers a round of an unrolled loop as a loop of one round, which `continue` leaves.
    fn one_round(&mut self, body: &'a [Stmt], span: Span) -> LoweringResult<()> {
        self.e.b.check_nesting(span)?;
        let before = self.e.names.enter_loop(&mut self.e.b, body, span)?;
        let (zero, one) = (self.e.b.i32(0), self.e.b.i32(1));
        let index = self.e.b.loop_index(Type::I32, "round");
        self.e.b.open_block();
        let block = self.loop_body(body);
        self.e.b.for_block(index, [zero, one, one], block);
        self.e.names.leave_loop(&before, None, body);
        self.e.names.leave_block(block);
        Ok(())
    }

    fn dynamic_for(
        &mut self,
        each: &'a StmtFor,
        target: &'a str,
        range: [Value; 3],
    ) -> LoweringResult<()> {
        self.e.b.check_nesting(self.e.unit.span(each))?;
        let before = self.e.names.enter_loop(&mut self.e.b, &each.body, self.e.unit.span(each))?;
        let index = self.e.b.loop_index(Type::I32, target);
        self.e.b.open_block();
        self.e.names.bind_index(&mut self.e.b, target, index);
        let body = self.loop_body(&each.body);
        self.e.b.for_block(index, range, body);
        self.e.names.leave_loop(&before, Some(target), &each.body);
        self.e.names.leave_block(body);
        Ok(())
    }

    pub(super) fn while_loop(&mut self, each: &'a StmtWhile) -> LoweringResult<()> {
        self.ends_without_else(&each.orelse)?;
        self.e.b.check_nesting(self.e.unit.span(each))?;
        let before = self.e.names.enter_loop(&mut self.e.b, &each.body, self.e.unit.span(each))?;
        self.e.b.open_block();
        let condition = self.e.expr_truth(&each.test);
        let header = self.e.b.close_block();
        self.e.b.open_block();
        let body = self.loop_body(&each.body);
        let condition = condition?;
        self.e.b.while_blocks(header, condition, body);
        self.e.names.leave_loop(&before, None, &each.body);
        self.e.names.leave_block(body);
        Ok(())
    }

    /// `for index in query`
    pub(super) fn for_query(
        &mut self,
        each: &'a StmtFor,
        target: &'a str,
        query: Value,
        next: OverloadSet<'a>,
    ) -> LoweringResult<()> {
        let span = self.e.unit.span(each);
        self.e.b.check_nesting(span)?;
        let before = self.e.names.enter_loop(&mut self.e.b, &each.body, span)?;
        let state = self.e.b.stored("query", query);
        let place = self.e.names.bind_found(&mut self.e.b, target);
        let zero = self.e.b.i32(0);
        self.e.b.store(place, zero);
        self.e.b.open_block();
        let has_next = self.e.call_next(next, state, place, span);
        let header = self.e.b.close_block();
        self.e.b.open_block();
        let body = self.loop_body(&each.body);
        self.e.b.while_blocks(header, has_next?, body);
        self.e.names.leave_loop(&before, Some(target), &each.body);
        self.e.names.leave_block(body);
        Ok(())
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

/// Returns true if a statement of this loop's body leaves the loop. Loops inside don't count.
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
