//! Windows: reads of a table that select one of its parts by an address's upper bits make the
//! selection once for many addresses.
//!
//! A loop that interprets a program reads the program mostly from ROM. ROM is seen through
//! windows: the page of an address decides which offset is added to the address. This pass keeps
//! two numbers in variables: the offset of the page in which the loop reads, and the limit, the
//! first address at which that offset may no longer hold:
//!
//! ```text
//! offset = (page(pc) == 0 ? low : page(pc) == 1 ? high : none) + pc
//! if offset < rom.len() { byte = rom[offset] } else { .. }
//!
//! if pc < limit { byte = rom[base + pc] } else { .. }
//! ```
//! An address that lies in the table may be outside the window. The read then takes its second
//! branch, so the second branch must read the table as well, as `Machine::read_elsewhere` does.
//!
//! Three rules keep `limit` right. After each store to a variable that selects a page's offset,
//! and after each store that moves `pc` to any address but the next, `limit` becomes 0 if `base`
//! may no longer hold. The last read of a round looks for a new window first if the address is
//! outside. `pc` returns to low addresses only through such a read.

use super::copy::Copier;
use super::writer::{Writer, whole};
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
/// Bits of an address that number its page.
const PAGE_MASK: u32 = 0xffff & !(PAGE - 1);

/// Gives reads at the address in a `u32` variable a window. Returns the number of these reads. If
/// the function has no endless loop that ends with such a read, it stays unchanged and the number
/// is 0.
pub fn run(module: &mut Module, function: FunctionId, address: &str) -> usize {
    let parameters: Vec<Type> =
        module.functions[function].params.iter().map(|param| param.ty).collect();
    let body = &mut module.functions[function].body;
    let is_address = |local: &Local| local.name == address && local.ty == Type::U32;
    let address = body.locals.iter().find(|(_, local)| is_address(local));
    let Some((pc, _)) = address else { return 0 };
    let reads = reads(body, pc);
    let root = body.root;
    let is_loop = |stmt: &Stmt| matches!(stmt.kind, StmtKind::While { .. });
    let Some(at) = body.blocks[root].stmts.iter().position(is_loop) else { return 0 };
    let StmtKind::While { body: round, .. } = body.blocks[root].stmts[at].kind else { return 0 };
    let Some(&last) = reads.iter().rfind(|read| read.block == round) else { return 0 };
    let banks = banks(body, last.offset, pc);
    let [limit, base] = ["limit", "base"].map(|name| variable(body, name));
    let pc = whole(body, Root::Local(pc), Type::U32);
    let writer = Writer { body, span: Span::NONE };
    let mut window = Window { writer, limit, base, pc };
    let inside: Vec<Read> = reads.iter().copied().filter(|read| read.block != root).collect();
    window.watch(at, &banks);
    for &read in &inside {
        window.redirect(read, read.branch == last.branch, &parameters);
    }
    let (mut first, _, _) = window.find_window(last);
    let mut zero = Vec::new();
    window.set_limit(0, &mut zero);
    first.splice(0..0, zero);
    let stmts = &mut window.writer.body.blocks[root].stmts;
    let at = stmts.iter().position(is_loop).unwrap_or_else(|| unreachable!("found above"));
    stmts.splice(at..at, first);
    inside.len()
}

/// A branch whose first arm reads a table.
#[derive(Clone, Copy)]
struct Read {
    block: BlockId,
    /// Condition of the branch: the offset is below the table's length.
    branch: Value,
    /// Index of the element, as it is compared, and the address in it.
    index: Value,
    address: Value,
    /// Number that is added to the address.
    offset: Value,
    length: Value,
}

fn variable(body: &mut Body, name: &str) -> PlaceId {
    let local = Local { name: name.into(), ty: Type::U32, scratch: false, span: Span::NONE };
    let local = body.locals.push(local);
    whole(body, Root::Local(local), Type::U32)
}

/// Returns a value without its conversions.
fn bare(body: &Body, mut value: Value) -> Value {
    while let Op::Convert(from) = body.values[value].op {
        value = from;
    }
    value
}

/// Returns true if a value is loaded from a variable.
fn is_load(body: &Body, value: Value, of: LocalId) -> bool {
    let Op::Load(place) = body.values[bare(body, value)].op else { return false };
    body.places[place].root == Root::Local(of) && body.path(place).is_empty()
}

/// Returns all reads at the address that a variable holds.
fn reads(body: &Body, pc: LocalId) -> Vec<Read> {
    let (mut reads, mut open) = (Vec::new(), Vec::new());
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
                reads.push(Read { block, branch: condition, index, address, offset, length });
            }
        }
    });
    reads
}

/// Returns true if every load of the variable in a value follows the last store to the variable
/// in this block: then the value is computed from one address.
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

/// Returns the variables among which a value chooses.
fn banks(body: &Body, value: Value, pc: LocalId) -> Vec<Root> {
    let (mut roots, mut todo) = (Vec::new(), vec![value]);
    while let Some(value) = todo.pop() {
        let op = body.values[value].op;
        op_uses(
            body,
            &op,
            |_| false,
            |used| match used {
                Use::Value(value) => todo.push(value),
                Use::Read(place) => roots.push(body.places[place].root),
                _ => {}
            },
        );
    }
    roots.retain(|root| *root != Root::Local(pc));
    roots
}

struct Window<'a> {
    writer: Writer<'a>,
    limit: PlaceId,
    base: PlaceId,
    pc: PlaceId,
}

impl Window<'_> {
    /// Adds the code that keeps the limit right to the loop at a position of the outermost block.
    fn watch(&mut self, at: usize, banks: &[Root]) {
        let body = &self.writer.body;
        let stmts = &body.blocks[body.root].stmts;
        let StmtKind::While { body: round, .. } = stmts[at].kind else { return };
        let mut blocks = Vec::new();
        walk(body, round, |step| {
            if let Step::Enter(block) = step {
                blocks.push(block);
            }
        });
        for block in blocks {
            let stmts = std::mem::take(&mut self.writer.body.blocks[block].stmts);
            let mut out = Vec::with_capacity(stmts.len());
            // Old and new values of the variables that choose.
            let mut changes: Vec<(Value, Value)> = Vec::new();
            for stmt in stmts {
                let target = match stmt.kind {
                    StmtKind::Store { place, value } => {
                        Some((place, self.writer.body.places[place].root, value))
                    }
                    _ => None,
                };
                if let Some((place, root, value)) = target
                    && banks.contains(&root)
                {
                    changes.push((self.writer.define(Op::Load(place), Type::U32, &mut out), value));
                    out.push(stmt);
                    continue;
                }
                let jump = target.filter(|&(_, root, value)| {
                    root == self.writer.body.places[self.pc].root && !self.is_next(value)
                });
                let goes_on = match stmt.kind {
                    StmtKind::Store { .. } => jump.is_none(),
                    StmtKind::Let(value) => {
                        !matches!(self.writer.body.values[value].op, Op::Call { .. })
                    }
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
            self.writer.body.blocks[block].stmts = out;
        }
    }

    /// Adds code that keeps the limit if all pairs are equal, and sets it to 0 otherwise.
    fn keep_if_equal(&mut self, pairs: &[(Value, Value)], out: &mut Vec<Stmt>) {
        let mut all: Option<Value> = None;
        for &(one, other) in pairs {
            let equal = Op::Compare(CompareOp::Equal, one, other);
            let equal = self.writer.define(equal, Type::BOOL, out);
            all = Some(match all {
                None => equal,
                Some(all) => {
                    self.writer.define(Op::Binary(BinaryOp::And, all, equal), Type::BOOL, out)
                }
            });
        }
        if let Some(holds) = all {
            self.keep_if(holds, out);
        }
    }

    /// Returns true if a value is the variable's address plus one.
    fn is_next(&self, value: Value) -> bool {
        let Root::Local(pc) = self.writer.body.places[self.pc].root else { return false };
        let Op::Binary(BinaryOp::Add, from, by) =
            self.writer.body.values[bare(self.writer.body, value)].op
        else {
            return false;
        };
        let is_one = matches!(self.writer.body.values[bare(self.writer.body, by)].op,
            Op::Literal(number) if number.bits() == 1);
        is_one && is_load(self.writer.body, from, pc)
    }

    /// Computes whether an address lies in the page that ends with the limit: `(limit - 1 ^
    /// address) & PAGE_MASK == 0`.
    fn is_in_page(&mut self, address: Value, out: &mut Vec<Stmt>) -> Value {
        let limit = self.writer.define(Op::Load(self.limit), Type::U32, out);
        let one = self.writer.number(1, out);
        let last = self.writer.binary(BinaryOp::Subtract, limit, one, out);
        let differs = self.writer.binary(BinaryOp::Xor, last, address, out);
        let pages = self.writer.number(PAGE_MASK, out);
        let differs = self.writer.binary(BinaryOp::And, differs, pages, out);
        let zero = self.writer.number(0, out);
        self.writer.define(Op::Compare(CompareOp::Equal, differs, zero), Type::BOOL, out)
    }

    fn keep_if(&mut self, holds: Value, out: &mut Vec<Stmt>) {
        let limit = self.writer.define(Op::Load(self.limit), Type::U32, out);
        let zero = self.writer.number(0, out);
        let limit_or_zero = Op::Select { condition: holds, accept: limit, reject: zero };
        let value = self.writer.define(limit_or_zero, Type::U32, out);
        out.push(self.writer.statement(StmtKind::Store { place: self.limit, value }));
    }

    fn set_limit(&mut self, number: u32, out: &mut Vec<Stmt>) {
        let value = self.writer.number(number, out);
        out.push(self.writer.statement(StmtKind::Store { place: self.limit, value }));
    }

    /// Writes the search for the window of the address in the variable. Returns the statements, and
    /// the read's condition and index as computed there.
    fn find_window(&mut self, read: Read) -> (Vec<Stmt>, Value, Value) {
        let mut out = Vec::new();
        let mut repeated = Vec::new();
        let is_inside = self.repeat(read.branch, &mut repeated, &mut out);
        let index = self.repeat(read.index, &mut repeated, &mut out);
        let offset = self.repeat(read.offset, &mut repeated, &mut out);
        let address = self.repeat(read.address, &mut repeated, &mut out);
        let length = self.repeat(read.length, &mut repeated, &mut out);
        out.push(self.writer.statement(StmtKind::Store { place: self.base, value: offset }));
        let pages = self.writer.number(PAGE_MASK, &mut out);
        let page = self.writer.binary(BinaryOp::And, address, pages, &mut out);
        // The whole page, up to the window's end, lies in the table.
        let begin = self.writer.binary(BinaryOp::Add, offset, page, &mut out);
        let here = self.writer.binary(BinaryOp::Add, offset, address, &mut out);
        let in_order = Op::Compare(CompareOp::LessEqual, begin, here);
        let in_order = self.writer.define(in_order, Type::BOOL, &mut out);
        let holds = Op::Binary(BinaryOp::And, is_inside, in_order);
        let holds = self.writer.define(holds, Type::BOOL, &mut out);
        let size = self.writer.number(PAGE, &mut out);
        let page_end = self.writer.binary(BinaryOp::Add, page, size, &mut out);
        let length = match self.writer.body.type_of(length) {
            ty if ty == Type::U32 => length,
            _ => self.writer.define(Op::Convert(length), Type::U32, &mut out),
        };
        let table_end = self.writer.binary(BinaryOp::Subtract, length, offset, &mut out);
        let is_first = Op::Compare(CompareOp::Less, page_end, table_end);
        let is_first = self.writer.define(is_first, Type::BOOL, &mut out);
        let end = Op::Select { condition: is_first, accept: page_end, reject: table_end };
        let end = self.writer.define(end, Type::U32, &mut out);
        let zero = self.writer.number(0, &mut out);
        let value = Op::Select { condition: holds, accept: end, reject: zero };
        let value = self.writer.define(value, Type::U32, &mut out);
        out.push(self.writer.statement(StmtKind::Store { place: self.limit, value }));
        (out, is_inside, index)
    }

    /// Makes a read use the window. The last read of a round searches for a new window in its
    /// second branch.
    fn redirect(&mut self, read: Read, is_last: bool, parameters: &[Type]) {
        let stmts = &self.writer.body.blocks[read.block].stmts;
        let is_it = |stmt: &Stmt| matches!(stmt.kind, StmtKind::If { condition, .. } if condition == read.branch);
        let Some(at) = stmts.iter().position(is_it) else { return };
        let StmtKind::If { accept, reject, .. } = stmts[at].kind else { return };
        if is_last {
            // Both branches get a copy of the statements that follow in the round: on the quick
            // branch no address wraps.
            let before = self.writer.body.clone();
            let following = self.writer.body.blocks[read.block].stmts.split_off(at + 1);
            let mut copier = Copier::inside(&before, self.writer.body, parameters, &following);
            let copy: Vec<Stmt> = following.iter().map(|stmt| copier.stmt(stmt)).collect();
            let inner = before.blocks[read.block].stmts[at].clone();
            let mut copier =
                Copier::inside(&before, self.writer.body, parameters, std::slice::from_ref(&inner));
            let mut inner = copier.stmt(&inner);
            let (mut other, is_inside, index) = self.find_window(read);
            if let StmtKind::If { condition, accept, .. } = &mut inner.kind {
                *condition = is_inside;
                self.index_by(*accept, read.index, index);
            }
            other.push(inner);
            other.extend(following);
            self.writer.body.blocks[reject].stmts = other;
            self.writer.body.blocks[accept].stmts.extend(copy);
            self.unwrap_next(accept);
        }
        let mut quick = Vec::new();
        let base = self.writer.define(Op::Load(self.base), Type::U32, &mut quick);
        let index = self.writer.binary(BinaryOp::Add, base, read.address, &mut quick);
        let index = match self.writer.body.type_of(read.index) {
            ty if ty == Type::U32 => index,
            ty => self.writer.define(Op::Convert(index), ty, &mut quick),
        };
        self.index_by(accept, read.index, index);
        self.writer.body.blocks[accept].stmts.splice(0..0, quick);
        let mut test = Vec::new();
        let limit = self.writer.define(Op::Load(self.limit), Type::U32, &mut test);
        let less = Op::Compare(CompareOp::Less, read.address, limit);
        let condition = self.writer.define(less, Type::BOOL, &mut test);
        let stmts = &mut self.writer.body.blocks[read.block].stmts;
        stmts[at].kind = StmtKind::If { condition, accept, reject };
        stmts.splice(at..at, test);
    }

    /// Makes the reads of a table in a block use another index.
    fn index_by(&mut self, block: BlockId, from: Value, to: Value) {
        for at in 0..self.writer.body.blocks[block].stmts.len() {
            let StmtKind::Let(value) = self.writer.body.blocks[block].stmts[at].kind else {
                continue;
            };
            let Op::Load(place) = self.writer.body.values[value].op else { continue };
            let path = self.writer.body.path(place).to_vec();
            let [Projection::Element(indices)] = path[..] else { continue };
            if self.writer.body.value_lists[indices] != [from] {
                continue;
            }
            let indices = self.writer.body.value_lists.add([to]);
            let path = self.writer.body.paths.add([Projection::Element(indices)]);
            let place = Place { path, ..self.writer.body.places[place] };
            self.writer.body.values[value].op = Op::Load(self.writer.body.places.push(place));
        }
    }

    /// Replaces the wrapping increment of the address by a plain one: an address below the limit
    /// cannot wrap.
    fn unwrap_next(&mut self, block: BlockId) {
        let stmts = std::mem::take(&mut self.writer.body.blocks[block].stmts);
        let mut out = Vec::with_capacity(stmts.len());
        for mut stmt in stmts {
            if let StmtKind::Store { place, value } = &mut stmt.kind
                && self.writer.body.places[*place].root == self.writer.body.places[self.pc].root
                && self.is_next(*value)
            {
                let from = self.writer.define(Op::Load(self.pc), Type::U32, &mut out);
                let one = self.writer.number(1, &mut out);
                *value = self.writer.binary(BinaryOp::Add, from, one, &mut out);
            }
            out.push(stmt);
        }
        self.writer.body.blocks[block].stmts = out;
    }

    /// Computes a value again, from the present values of the variables.
    fn repeat(
        &mut self,
        value: Value,
        known: &mut Vec<(Value, Value)>,
        out: &mut Vec<Stmt>,
    ) -> Value {
        if let Some(&(_, copy)) = known.iter().find(|(it, _)| *it == value) {
            return copy;
        }
        let ValueData { mut op, ty, .. } = self.writer.body.values[value];
        map_operands(&mut op, |operand| *operand = self.repeat(*operand, known, out));
        let copy = self.writer.define(op, ty, out);
        known.push((value, copy));
        copy
    }
}
