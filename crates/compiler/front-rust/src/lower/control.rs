//! Branches and loops.

use super::{Binding, Lowering};
use crate::tree::{Arm, Block, Expr, ExprKind, VarId};
use crate::ty::Ty;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{CompareOp, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{BlockId, Case};
use gbxcule_ir::ty::{Scalar, Type};

/// Greatest number of labels of a switch; a `match` on more numbers becomes a chain of `If`s.
const MAX_LABELS: i128 = 1024;

/// Arm of a `match`, and the numbers that reach it.
struct Choice<'e> {
    body: &'e Expr,
    ranges: Vec<(i128, i128)>,
}

impl Lowering<'_, '_, '_, '_> {
    pub(super) fn sub_block(&mut self, fill: impl FnOnce(&mut Self)) -> BlockId {
        self.b.open_block();
        fill(self);
        self.b.close_block()
    }

    pub(super) fn while_loop(&mut self, condition: &Expr, body: &Block) {
        self.b.open_block();
        let condition = self.value(condition);
        let header = self.b.close_block();
        let body = self.body_of(body, None);
        self.b.while_blocks(header, condition, body);
    }

    /// Lowers `loop`, whose value, if there is one, is stored in a place.
    pub(super) fn infinite_loop(&mut self, body: &Block, value: Option<PlaceId>) {
        self.b.open_block();
        let condition = self.b.bool(true);
        let header = self.b.close_block();
        let body = self.body_of(body, value);
        self.b.while_blocks(header, condition, body);
    }

    fn body_of(&mut self, body: &Block, value: Option<PlaceId>) -> BlockId {
        self.loops.push(value);
        let block = self.sub_block(|it| {
            it.stmts(&body.stmts);
            if let Some(tail) = &body.tail {
                it.effect(tail);
            }
        });
        self.loops.pop();
        block
    }

    pub(super) fn for_loop(
        &mut self,
        var: VarId,
        [start, end]: [&Expr; 2],
        inclusive: bool,
        body: &Block,
    ) {
        let (start, mut end) = (self.value(start), self.value(end));
        let ty = self.b.body().type_of(start);
        let Some(scalar) = ty.as_scalar() else { return };
        if inclusive {
            let last = self.b.body().integer(end).map(|last| last + 1);
            let after = last.filter(|&after| Literal::int(scalar, after).as_int() == Some(after));
            let Some(after) = after else {
                return self.inclusive_loop(var, [start, end], scalar, body);
            };
            end = self.b.literal(Literal::int(scalar, after));
        }
        let step = self.b.literal(Literal::int(scalar, 1));
        let name = self.body.vars[var].name.clone();
        let index = self.b.loop_index(ty, if name == "_" { "turn" } else { &name });
        self.vars[var] = Some(Binding::Value(index));
        let body = self.body_of(body, None);
        self.b.for_block(index, [start, end, step], body);
    }

    /// Lowers a loop whose last index may be the greatest of its type. The index is incremented
    /// before the body runs, so that `continue` doesn't skip the increment.
    fn inclusive_loop(
        &mut self,
        var: VarId,
        [start, end]: [Value; 2],
        scalar: Scalar,
        body: &Block,
    ) {
        let more = self.b.local("more", Type::BOOL);
        let more = self.b.local_place(more);
        let next = self.spill(start);
        let begins = self.b.compare(CompareOp::LessEqual, start, end);
        self.b.store(more, begins);
        self.b.open_block();
        let condition = self.b.load(more);
        let header = self.b.close_block();
        self.loops.push(None);
        let body = self.sub_block(|it| {
            let index = it.b.load(next);
            it.vars[var] = Some(Binding::Value(index));
            let goes_on = it.b.lt(index, end);
            it.b.store(more, goes_on);
            let one = it.b.literal(Literal::int(scalar, 1));
            let following = it.b.add(index, one);
            it.b.store(next, following);
            it.stmts(&body.stmts);
            if let Some(tail) = &body.tail {
                it.effect(tail);
            }
        });
        self.loops.pop();
        self.b.while_blocks(header, condition, body);
    }

    /// Lowers a `match`; `each` lowers the body of an arm.
    pub(super) fn switch(
        &mut self,
        at: Span,
        value: &Expr,
        arms: &[Arm],
        each: impl Fn(&mut Self, &Expr),
    ) {
        let ty = self.body.type_of(value);
        let value = self.value(value);
        let Some(mut choices) = self.choices(&ty, at, arms) else { return };
        let Some(default) = choices.pop() else { return };
        let labels: i128 =
            choices.iter().flat_map(|choice| &choice.ranges).map(|(a, b)| b - a + 1).sum();
        if choices.is_empty() {
            each(self, default.body);
        } else if ty == Ty::Bool || labels > MAX_LABELS {
            self.chain(value, &choices, default.body, &each);
        } else {
            let mut cases = Vec::new();
            for choice in &choices {
                let numbers = choice.ranges.iter().flat_map(|&(a, b)| a..=b);
                let labels = numbers.map(|number| number as i64).collect();
                let body = self.sub_block(|it| each(it, choice.body));
                cases.push(Case { labels, body });
            }
            let default = self.sub_block(|it| each(it, default.body));
            self.b.switch(value, cases, default);
        }
    }

    fn chain(
        &mut self,
        value: Value,
        choices: &[Choice<'_>],
        default: &Expr,
        each: &impl Fn(&mut Self, &Expr),
    ) {
        let Some((first, others)) = choices.split_first() else { return each(self, default) };
        let condition = self.integers().is_in(value, &first.ranges);
        let accept = self.sub_block(|it| each(it, first.body));
        let reject = self.sub_block(|it| it.chain(value, others, default, each));
        self.b.if_blocks(condition, accept, reject);
    }

    /// Returns the ranges of each arm, without the ranges of the arms before it. The last arm
    /// takes all remaining numbers.
    fn choices<'e>(&mut self, ty: &Ty, at: Span, arms: &'e [Arm]) -> Option<Vec<Choice<'e>>> {
        let mut left = self.numbers(ty);
        let mut choices = Vec::new();
        for arm in arms {
            let mut taken = Vec::new();
            match &arm.ranges {
                None => taken = std::mem::take(&mut left),
                Some(ranges) => {
                    for &range in ranges {
                        left = left
                            .iter()
                            .flat_map(|&part| subtract_range(part, range, &mut taken))
                            .collect();
                    }
                }
            }
            if !taken.is_empty() {
                choices.push(Choice { body: &arm.body, ranges: taken });
            }
        }
        if !left.is_empty() {
            self.fault(Code::RustType, at, "this `match` leaves values out");
            return None;
        }
        Some(choices)
    }

    /// Returns all numbers that a value of a type may have.
    fn numbers(&self, ty: &Ty) -> Vec<(i128, i128)> {
        match ty {
            Ty::Bool => vec![(0, 1)],
            Ty::Int(int) => vec![int.range()],
            Ty::Enum(id) => {
                let variants = self.all.program.enums[*id].variants.iter();
                variants.map(|variant| (variant.1, variant.1)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns true if each branch of an expression stores its own value, instead of one value
    /// being selected.
    pub(super) fn branches(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::If(..) => !self.selects(expr),
            ExprKind::Match(..) => true,
            ExprKind::Block(block) => block.tail.as_ref().is_some_and(|tail| self.branches(tail)),
            _ => false,
        }
    }
}

/// Removes a range from a part of the numbers and returns the remaining parts; the removed part is
/// added to `taken`.
fn subtract_range(
    (low, high): (i128, i128),
    (first, last): (i128, i128),
    taken: &mut Vec<(i128, i128)>,
) -> Vec<(i128, i128)> {
    let (from, to) = (low.max(first), high.min(last));
    if from > to {
        return vec![(low, high)];
    }
    taken.push((from, to));
    let around = [(low, from - 1), (to + 1, high)];
    around.into_iter().filter(|(low, high)| low <= high).collect()
}
