//! Windows: reads that choose their part of a table by an address's upper bits choose it once for
//! many addresses.
//!
//! A loop that interprets a program reads it mostly from ROM. ROM is seen through windows: the
//! address's page says which offset is added to it. This pass keeps the offset of the page in which
//! the loop reads, and the address at which it ends to hold:
//!
//! ```text
//! offset = (page(pc) == 0 ? low : page(pc) == 1 ? high : none) + pc
//! if offset < rom.len() { byte = rom[offset] } else { .. }
//!
//! if pc < limit { byte = rom[base + pc] } else { .. }
//! ```
//! An address of the table may lie outside the window: it takes the read's other way, so that way
//! must read the table, too, as `Machine::read_elsewhere` does.
//!
//! Three things keep `limit` true: after each store to a variable that chooses, and after each
//! store that moves `pc` elsewhere than to the next address, it becomes 0 if `base` need not hold
//! any more; and where the loop reads last in a round, it first looks for a window anew if the
//! address is outside. `pc` only comes back to low addresses through such a read.

use super::copy::Copier;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{Body, FunctionId, Local, LocalId};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{BinaryOp, CompareOp, Op, Value, ValueData};
use gbxcule_ir::place::{Place, PlaceId, Projection, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::{Scalar, Type};
use gbxcule_ir::walk::{Step, Use, map_operands, op_uses, walk};

/// Bits of an address within its page.
const PAGE_BITS: u32 = 14;
const PAGE: u32 = 1 << PAGE_BITS;
/// The page's bits of an address.
const PAGES: u32 = 0xffff & !(PAGE - 1);

/// Gives reads at the address in a `u32` variable a window. Returns the number of reads: 0 if the
/// function has no endless loop with such a read at its end, and then it is left as it is.
pub fn run(module: &mut Module, function: FunctionId, address: &str) -> usize {
    let parameters: Vec<Type> =
        module.functions[function].params.iter().map(|param| param.ty).collect();
    let body = &mut module.functions[function].body;
    let is_it = |local: &Local| local.name == address && local.ty == Type::U32;
    let found = body.locals.iter().find(|(_, local)| is_it(local));
    let Some((pc, _)) = found else { return 0 };
    let reads = reads(body, pc);
    let root = body.root;
    let is_loop = |stmt: &Stmt| matches!(stmt.kind, StmtKind::While { .. });
    let Some(at) = body.blocks[root].stmts.iter().position(is_loop) else { return 0 };
    let StmtKind::While { body: round, .. } = body.blocks[root].stmts[at].kind else { return 0 };
    let Some(&last) = reads.iter().rfind(|read| read.block == round) else { return 0 };
    let banks = banks(body, last.offset, pc);
    let [limit, base] = ["limit", "base"].map(|name| variable(body, name));
    let pc = whole(body, pc);
    let mut writer = Writer { body, limit, base, pc };
    let inside: Vec<Read> = reads.iter().copied().filter(|read| read.block != root).collect();
    writer.watch(at, &banks);
    for &read in &inside {
        writer.redirect(read, read.branch == last.branch, &parameters);
    }
    let (mut first, _, _) = writer.find_window(last);
    let mut zero = Vec::new();
    writer.set_limit(0, &mut zero);
    first.splice(0..0, zero);
    let stmts = &mut writer.body.blocks[root].stmts;
    let at = stmts.iter().position(is_loop).unwrap_or_else(|| unreachable!("found above"));
    stmts.splice(at..at, first);
    inside.len()
}

/// A branch whose first way reads a table.
#[derive(Clone, Copy)]
struct Read {
    block: BlockId,
    /// The condition of the branch: offset below the table's length.
    branch: Value,
    /// Offset, as it is compared, and the address in it.
    index: Value,
    address: Value,
    /// Number that is added to the address.
    offset: Value,
    length: Value,
}

fn variable(body: &mut Body, name: &str) -> PlaceId {
    let local = Local { name: name.into(), ty: Type::U32, scratch: false, span: Span::NONE };
    let local = body.locals.push(local);
    whole(body, local)
}

fn whole(body: &mut Body, local: LocalId) -> PlaceId {
    let path = body.paths.add([]);
    body.places.push(Place { root: Root::Local(local), path, ty: Type::U32 })
}

/// A value without its conversions.
fn bare(body: &Body, mut value: Value) -> Value {
    while let Op::Convert(from) = body.values[value].op {
        value = from;
    }
    value
}

/// Returns true if a value is what a variable holds.
fn is_load(body: &Body, value: Value, of: LocalId) -> bool {
    let Op::Load(place) = body.values[bare(body, value)].op else { return false };
    body.places[place].root == Root::Local(of) && body.path(place).is_empty()
}

/// All reads at the address that a variable holds.
fn reads(body: &Body, pc: LocalId) -> Vec<Read> {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    walk(body, body.root, |step| match step {
        Step::Enter(block) => open.push(block),
        Step::Leave(_) => _ = open.pop(),
        Step::Stmt(stmt) => {
            let StmtKind::If { condition, .. } = stmt.kind else { return };
            let Op::Compare(CompareOp::Less, index, length) = body.values[condition].op else {
                return;
            };
            let Op::Binary(BinaryOp::Add, offset, address) = body.values[bare(body, index)].op
            else {
                return;
            };
            let fits = is_load(body, address, pc)
                && body.type_of(address) == Type::U32
                && chooses_by_page(body, offset, pc);
            let block = open[open.len() - 1];
            if fits && is_one_address(body, block, condition, pc) {
                found.push(Read { block, branch: condition, index, address, offset, length });
            }
        }
    });
    found
}

/// Returns true if a value needs no more of its block than what stands there after the last store
/// to a variable: all of it is then computed from one value of the variable.
fn is_one_address(body: &Body, block: BlockId, value: Value, pc: LocalId) -> bool {
    let stmts = &body.blocks[block].stmts;
    let mut after = Vec::new();
    for stmt in stmts {
        match stmt.kind {
            StmtKind::Let(it) => after.push(it),
            StmtKind::Store { place, .. } if body.places[place].root != Root::Local(pc) => {}
            StmtKind::If { condition, .. } if condition == value => break,
            _ => after.clear(),
        }
    }
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        if is_load(body, value, pc) && !after.contains(&bare(body, value)) {
            return false;
        }
        let op = body.values[value].op;
        let operand = |used| {
            if let Use::Value(value) = used {
                todo.push(value);
            }
        };
        op_uses(body, &op, |_| false, operand);
    }
    true
}

/// Returns true if a value is a choice among variables by the page of the address in a variable.
fn chooses_by_page(body: &Body, value: Value, pc: LocalId) -> bool {
    let Op::Select { condition, accept, reject } = body.values[value].op else {
        return match body.values[value].op {
            Op::Literal(_) => true,
            Op::Load(place) => {
                matches!(body.places[place].root, Root::Local(_)) && body.path(place).is_empty()
            }
            _ => false,
        };
    };
    let Op::Compare(CompareOp::Equal, page, number) = body.values[condition].op else {
        return false;
    };
    let is_page = match body.values[bare(body, page)].op {
        Op::Binary(BinaryOp::ShiftRight, from, by) => {
            let bits = Literal::int(
                body.type_of(by).as_scalar().unwrap_or(Scalar::U32),
                i128::from(PAGE_BITS),
            );
            is_load(body, from, pc) && body.values[by].op == Op::Literal(bits)
        }
        _ => false,
    };
    is_page
        && matches!(body.values[number].op, Op::Literal(_))
        && chooses_by_page(body, accept, pc)
        && chooses_by_page(body, reject, pc)
}

/// The variables among which a value chooses.
fn banks(body: &Body, value: Value, pc: LocalId) -> Vec<Root> {
    let (mut found, mut todo) = (Vec::new(), vec![value]);
    while let Some(value) = todo.pop() {
        let op = body.values[value].op;
        op_uses(
            body,
            &op,
            |_| false,
            |used| match used {
                Use::Value(value) => todo.push(value),
                Use::Read(place) => found.push(body.places[place].root),
                _ => {}
            },
        );
    }
    found.retain(|root| *root != Root::Local(pc));
    found
}

struct Writer<'a> {
    body: &'a mut Body,
    limit: PlaceId,
    base: PlaceId,
    pc: PlaceId,
}

impl Writer<'_> {
    /// Keeps the limit true in the loop at a position of the outermost block.
    fn watch(&mut self, at: usize, banks: &[Root]) {
        let body = &self.body;
        let stmts = &body.blocks[body.root].stmts;
        let StmtKind::While { body: round, .. } = stmts[at].kind else { return };
        let mut blocks = Vec::new();
        walk(body, round, |step| {
            if let Step::Enter(block) = step {
                blocks.push(block);
            }
        });
        for block in blocks {
            let stmts = std::mem::take(&mut self.body.blocks[block].stmts);
            let mut out = Vec::with_capacity(stmts.len());
            // Old and new values of the variables that choose.
            let mut changes: Vec<(Value, Value)> = Vec::new();
            for stmt in stmts {
                let target = match stmt.kind {
                    StmtKind::Store { place, value } => {
                        Some((place, self.body.places[place].root, value))
                    }
                    _ => None,
                };
                if let Some((place, root, value)) = target
                    && banks.contains(&root)
                {
                    changes.push((self.define(Op::Load(place), Type::U32, &mut out), value));
                    out.push(stmt);
                    continue;
                }
                let jump = target.filter(|&(_, root, value)| {
                    root == self.body.places[self.pc].root && !self.is_next(value)
                });
                let goes_on = match stmt.kind {
                    StmtKind::Store { .. } => jump.is_none(),
                    StmtKind::Let(value) => !matches!(self.body.values[value].op, Op::Call { .. }),
                    _ => false,
                };
                if !goes_on {
                    self.keep_if_equal(&std::mem::take(&mut changes), &mut out);
                }
                out.push(stmt);
                if let Some((_, _, value)) = jump {
                    let holds = self.is_in_page(value, &mut out);
                    self.keep_if(holds, &mut out);
                }
            }
            self.keep_if_equal(&changes, &mut out);
            self.body.blocks[block].stmts = out;
        }
    }

    /// Keeps the limit if all pairs are equal.
    fn keep_if_equal(&mut self, pairs: &[(Value, Value)], out: &mut Vec<Stmt>) {
        let mut all: Option<Value> = None;
        for &(one, other) in pairs {
            let equal = Op::Compare(CompareOp::Equal, one, other);
            let equal = self.define(equal, Type::BOOL, out);
            all = Some(match all {
                None => equal,
                Some(all) => self.define(Op::Binary(BinaryOp::And, all, equal), Type::BOOL, out),
            });
        }
        if let Some(holds) = all {
            self.keep_if(holds, out);
        }
    }

    /// Returns true if a value is the variable's address plus one.
    fn is_next(&self, value: Value) -> bool {
        let Root::Local(pc) = self.body.places[self.pc].root else { return false };
        let Op::Binary(BinaryOp::Add, from, by) = self.body.values[bare(self.body, value)].op
        else {
            return false;
        };
        let is_one = matches!(self.body.values[bare(self.body, by)].op,
            Op::Literal(number) if number.bits() == 1);
        is_one && is_load(self.body, from, pc)
    }

    /// An address lies in the page that ends with the limit: `(limit - 1 ^ address) & PAGES == 0`.
    fn is_in_page(&mut self, address: Value, out: &mut Vec<Stmt>) -> Value {
        let limit = self.define(Op::Load(self.limit), Type::U32, out);
        let one = self.number(1, out);
        let last = self.binary(BinaryOp::Subtract, limit, one, out);
        let differs = self.binary(BinaryOp::Xor, last, address, out);
        let pages = self.number(PAGES, out);
        let differs = self.binary(BinaryOp::And, differs, pages, out);
        let zero = self.number(0, out);
        self.define(Op::Compare(CompareOp::Equal, differs, zero), Type::BOOL, out)
    }

    fn keep_if(&mut self, holds: Value, out: &mut Vec<Stmt>) {
        let limit = self.define(Op::Load(self.limit), Type::U32, out);
        let zero = self.number(0, out);
        let kept = Op::Select { condition: holds, accept: limit, reject: zero };
        let value = self.define(kept, Type::U32, out);
        out.push(statement(StmtKind::Store { place: self.limit, value }));
    }

    fn set_limit(&mut self, number: u32, out: &mut Vec<Stmt>) {
        let value = self.number(number, out);
        out.push(statement(StmtKind::Store { place: self.limit, value }));
    }

    /// Looks for the window of the address in the variable; gives the read's condition, and its
    /// index, as they are there.
    fn find_window(&mut self, read: Read) -> (Vec<Stmt>, Value, Value) {
        let mut out = Vec::new();
        let mut known = Vec::new();
        let is_inside = self.repeat(read.branch, &mut known, &mut out);
        let index = self.repeat(read.index, &mut known, &mut out);
        let offset = self.repeat(read.offset, &mut known, &mut out);
        let address = self.repeat(read.address, &mut known, &mut out);
        let length = self.repeat(read.length, &mut known, &mut out);
        out.push(statement(StmtKind::Store { place: self.base, value: offset }));
        let pages = self.number(PAGES, &mut out);
        let page = self.binary(BinaryOp::And, address, pages, &mut out);
        // The whole page up to the end lies in the table.
        let begin = self.binary(BinaryOp::Add, offset, page, &mut out);
        let here = self.binary(BinaryOp::Add, offset, address, &mut out);
        let in_order = Op::Compare(CompareOp::LessEqual, begin, here);
        let in_order = self.define(in_order, Type::BOOL, &mut out);
        let holds = Op::Binary(BinaryOp::And, is_inside, in_order);
        let holds = self.define(holds, Type::BOOL, &mut out);
        let size = self.number(PAGE, &mut out);
        let page_end = self.binary(BinaryOp::Add, page, size, &mut out);
        let length = match self.body.type_of(length) {
            ty if ty == Type::U32 => length,
            _ => self.define(Op::Convert(length), Type::U32, &mut out),
        };
        let table_end = self.binary(BinaryOp::Subtract, length, offset, &mut out);
        let is_first = Op::Compare(CompareOp::Less, page_end, table_end);
        let is_first = self.define(is_first, Type::BOOL, &mut out);
        let end = Op::Select { condition: is_first, accept: page_end, reject: table_end };
        let end = self.define(end, Type::U32, &mut out);
        let zero = self.number(0, &mut out);
        let value = Op::Select { condition: holds, accept: end, reject: zero };
        let value = self.define(value, Type::U32, &mut out);
        out.push(statement(StmtKind::Store { place: self.limit, value }));
        (out, is_inside, index)
    }

    /// Makes a read use the window; the last one of a round looks for one on its other way.
    fn redirect(&mut self, read: Read, is_last: bool, parameters: &[Type]) {
        let stmts = &self.body.blocks[read.block].stmts;
        let is_it = |stmt: &Stmt| matches!(stmt.kind, StmtKind::If { condition, .. } if condition == read.branch);
        let Some(at) = stmts.iter().position(is_it) else { return };
        let StmtKind::If { accept, reject, .. } = stmts[at].kind else { return };
        if is_last {
            // The rest of the round belongs to both ways: on the quick one no address wraps.
            let before = self.body.clone();
            let rest = self.body.blocks[read.block].stmts.split_off(at + 1);
            let mut copier = Copier::inside(&before, self.body, parameters, &rest);
            let copy: Vec<Stmt> = rest.iter().map(|stmt| copier.stmt(stmt)).collect();
            let inner = before.blocks[read.block].stmts[at].clone();
            let mut copier =
                Copier::inside(&before, self.body, parameters, std::slice::from_ref(&inner));
            let mut inner = copier.stmt(&inner);
            let (mut other, is_inside, index) = self.find_window(read);
            if let StmtKind::If { condition, accept, .. } = &mut inner.kind {
                *condition = is_inside;
                self.index_by(*accept, read.index, index);
            }
            other.push(inner);
            other.extend(rest);
            self.body.blocks[reject].stmts = other;
            self.body.blocks[accept].stmts.extend(copy);
            self.unwrap_next(accept);
        }
        let mut quick = Vec::new();
        let base = self.define(Op::Load(self.base), Type::U32, &mut quick);
        let index = self.binary(BinaryOp::Add, base, read.address, &mut quick);
        let index = match self.body.type_of(read.index) {
            ty if ty == Type::U32 => index,
            ty => self.define(Op::Convert(index), ty, &mut quick),
        };
        self.index_by(accept, read.index, index);
        self.body.blocks[accept].stmts.splice(0..0, quick);
        let mut test = Vec::new();
        let limit = self.define(Op::Load(self.limit), Type::U32, &mut test);
        let less = Op::Compare(CompareOp::Less, read.address, limit);
        let condition = self.define(less, Type::BOOL, &mut test);
        let stmts = &mut self.body.blocks[read.block].stmts;
        stmts[at].kind = StmtKind::If { condition, accept, reject };
        stmts.splice(at..at, test);
    }

    /// Makes a block's own reads of a table use another index.
    fn index_by(&mut self, block: BlockId, from: Value, to: Value) {
        for at in 0..self.body.blocks[block].stmts.len() {
            let StmtKind::Let(value) = self.body.blocks[block].stmts[at].kind else { continue };
            let Op::Load(place) = self.body.values[value].op else { continue };
            let path = self.body.path(place).to_vec();
            let [Projection::Element(indices)] = path[..] else { continue };
            if self.body.value_lists[indices] != [from] {
                continue;
            }
            let indices = self.body.value_lists.add([to]);
            let path = self.body.paths.add([Projection::Element(indices)]);
            let place = Place { path, ..self.body.places[place] };
            self.body.values[value].op = Op::Load(self.body.places.push(place));
        }
    }

    /// Below the limit the next address needs no more than its own bits.
    fn unwrap_next(&mut self, block: BlockId) {
        let stmts = std::mem::take(&mut self.body.blocks[block].stmts);
        let mut out = Vec::with_capacity(stmts.len());
        for mut stmt in stmts {
            if let StmtKind::Store { place, value } = &mut stmt.kind
                && self.body.places[*place].root == self.body.places[self.pc].root
                && self.is_next(*value)
            {
                let from = self.define(Op::Load(self.pc), Type::U32, &mut out);
                let one = self.number(1, &mut out);
                *value = self.binary(BinaryOp::Add, from, one, &mut out);
            }
            out.push(stmt);
        }
        self.body.blocks[block].stmts = out;
    }

    /// Computes a value anew, from what the variables hold now.
    fn repeat(
        &mut self,
        value: Value,
        known: &mut Vec<(Value, Value)>,
        out: &mut Vec<Stmt>,
    ) -> Value {
        if let Some(&(_, copy)) = known.iter().find(|(it, _)| *it == value) {
            return copy;
        }
        let ValueData { mut op, ty, .. } = self.body.values[value];
        map_operands(&mut op, |operand| *operand = self.repeat(*operand, known, out));
        let copy = self.define(op, ty, out);
        known.push((value, copy));
        copy
    }

    fn binary(&mut self, op: BinaryOp, one: Value, other: Value, out: &mut Vec<Stmt>) -> Value {
        self.define(Op::Binary(op, one, other), Type::U32, out)
    }

    fn number(&mut self, number: u32, out: &mut Vec<Stmt>) -> Value {
        let literal = Op::Literal(Literal::int(Scalar::U32, i128::from(number)));
        self.define(literal, Type::U32, out)
    }

    fn define(&mut self, op: Op, ty: Type, out: &mut Vec<Stmt>) -> Value {
        let value = self.body.values.push(ValueData { op, ty, name: None, span: Span::NONE });
        out.push(statement(StmtKind::Let(value)));
        value
    }
}

fn statement(kind: StmtKind) -> Stmt {
    Stmt { kind, span: Span::NONE }
}
