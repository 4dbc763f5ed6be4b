//! Puts blocks into the machine's loop over opcodes.
//!
//! ```text
//! loop {
//!     switch PC {                    // the opcode at PC - 1 has been fetched
//!         head + 1 => {
//!             take the fetch back;
//!             block;                 // it does nothing where it may not run
//!             if it ran { opcode = NOP } else { fetch again }
//!         }
//!     }
//!     execute opcode; leave at the deadline; fetch
//! }
//! ```
//! Instructions outside of blocks are interpreted.

use crate::machine_ir::MachineIr;
use gbxcule_ir::op::{Arg, Op, ValueData};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{self, BlockId, Case, Stmt, StmtKind};
use gbxcule_ir::{
    Body, Builder, FunctionId, Inline, Literal, LocalId, Module, Param, PassMode, Projection, Root,
    Scalar, Type,
};
use std::collections::BTreeMap;

/// Wraps the code of a block in a loop and turns each return into a break, so that the code can
/// stand in the middle of a function.
pub(super) fn leave_by_breaks(body: &mut Body) {
    let root = body.root;
    let is_check = |stmt: &Stmt| matches!(stmt.kind, StmtKind::If { .. });
    let check = body.blocks[root].stmts.iter().position(is_check);
    let check = check.unwrap_or_else(|| unreachable!("a block checks what it relies on first"));
    let mut code = body.blocks[root].stmts.split_off(check + 1);
    let StmtKind::If { accept, reject, .. } = body.blocks[root].stmts[check].kind else {
        unreachable!("found above")
    };
    let leave = |stmt: &mut Stmt| {
        if matches!(stmt.kind, StmtKind::Return(_)) {
            stmt.kind = StmtKind::Break;
        }
    };
    for block in body.blocks.handles().collect::<Vec<_>>() {
        body.blocks[block].stmts.iter_mut().for_each(leave);
    }
    code.iter_mut().for_each(leave);
    body.blocks[reject].stmts.clear();
    if !matches!(code.last().map(|last| &last.kind), Some(StmtKind::While { .. })) {
        let op = Op::Literal(Literal::bool(true));
        let always = ValueData { op, ty: Type::BOOL, name: None, span: Span::NONE };
        let condition = body.values.push(always);
        let statement = |kind| Stmt { kind, span: Span::NONE };
        let test = stmt::Block { stmts: vec![statement(StmtKind::Let(condition))] };
        let header = body.blocks.push(test);
        let round = body.blocks.push(stmt::Block { stmts: code });
        code = vec![statement(StmtKind::While { header, condition, body: round })];
    }
    body.blocks[accept].stmts = code;
}

/// Makes a block a function, `block(machine, rom, cart_ram, cpu)`, which callers inline.
pub(super) fn declare(mut body: Body, machine_ir: &MachineIr, module: &mut Module) -> FunctionId {
    let mut params = module.functions[machine_ir.execute].params[..4].to_vec();
    let cpu = Param { mode: PassMode::Mutable, ..params.remove(0) };
    params.push(cpu);
    let id = module.declare("block", params, Type::UNIT);
    // The loop keeps the registers in a variable.
    let registers = Projection::Field(machine_ir.path(&["cpu"])[0] as u32);
    for place in body.places.handles().collect::<Vec<_>>() {
        let path = body.path(place).to_vec();
        if body.places[place].root == Root::Param(0) && path.first() == Some(&registers) {
            body.places[place].root = Root::Param(3);
            body.places[place].path = body.paths.add(path[1..].iter().copied());
        }
    }
    let function = &mut module.functions[id];
    function.body = body;
    function.trusted = true;
    function.inline = Inline::Always;
    let unknown = vec![false; module.functions.len()];
    gbxcule_passes::pass::dce::clean(module, id, &unknown);
    id
}

/// Adds calls of blocks at the beginning of an iteration of the loop over opcodes.
pub(super) fn plant(
    blocks: &BTreeMap<u16, Vec<FunctionId>>,
    machine_ir: &MachineIr,
    module: &mut Module,
) {
    let hot = module.find("Machine::run_until_deadline");
    let hot = hot.unwrap_or_else(|| unreachable!("the machine executes"));
    let body = &module.functions[hot].body;
    let local = |name: &str| {
        let variable = body.locals.iter().find(|(_, local)| local.name == name);
        variable.map_or_else(|| unreachable!("`{name}` is a variable"), |(id, _)| id)
    };
    let round = body.blocks[body.root].stmts.iter().find_map(|stmt| match stmt.kind {
        StmtKind::While { body, .. } => Some(body),
        _ => None,
    });
    let round = round.unwrap_or_else(|| unreachable!("it executes in a loop"));
    let variables = [local("cpu"), local("opcode")];
    let mut planter = Planter::new(Builder::new(module, hot), machine_ir, variables);
    let [first, entry] = [planter.first(), planter.entry(blocks)];
    planter.builder.finish();
    let body = &mut module.functions[hot].body;
    for (from, to) in [(entry, round), (first, body.root)] {
        let stmts = std::mem::take(&mut body.blocks[from].stmts);
        body.blocks[to].stmts.splice(0..0, stmts);
    }
}

/// Builder of the calls.
struct Planter<'m> {
    builder: Builder<'m>,
    machine: PlaceId,
    cpu: PlaceId,
    pc: PlaceId,
    now: PlaceId,
    opcode: PlaceId,
    halt_bug: PlaceId,
    /// True if the byte at the first PC is fetched twice (HALT bug): blocks can't do so.
    is_twice: PlaceId,
}

impl<'m> Planter<'m> {
    fn new(mut builder: Builder<'m>, machine_ir: &MachineIr, [cpu, opcode]: [LocalId; 2]) -> Self {
        let register = |name| machine_ir.register(name) as u32;
        let machine = builder.param_place(0);
        let mut halt_bug = machine;
        for field in machine_ir.path(&["cpu", "halt_bug"]) {
            halt_bug = builder.field(halt_bug, field as u32);
        }
        let is_twice = builder.scratch("is_twice", Type::BOOL);
        let is_twice = builder.local_place(is_twice);
        let [cpu, opcode] = [cpu, opcode].map(|local| builder.local_place(local));
        let [pc, now] = ["pc", "now"].map(|name| builder.field(cpu, register(name)));
        Self { builder, machine, cpu, pc, now, opcode, halt_bug, is_twice }
    }

    /// Makes the statements before the loop.
    fn first(&mut self) -> BlockId {
        self.builder.open_block();
        let is_twice = self.builder.load(self.halt_bug);
        self.builder.store(self.is_twice, is_twice);
        self.builder.close_block()
    }

    /// Makes the statements that begin an iteration.
    fn entry(&mut self, blocks: &BTreeMap<u16, Vec<FunctionId>>) -> BlockId {
        self.builder.open_block();
        let is_twice = self.builder.load(self.is_twice);
        let nowhere = self.builder.literal(word(0));
        let pc = self.builder.load(self.pc);
        let at = self.builder.select(is_twice, nowhere, pc);
        let cases = blocks.iter().map(|(&head, blocks)| {
            let labels = vec![i64::from(head) + 1];
            Case { labels: labels.into(), body: self.case(head, blocks) }
        });
        let cases = cases.collect();
        let default = self.builder.empty_block();
        self.builder.switch(at, cases, default);
        self.builder.close_block()
    }

    /// Makes the case of a head: its blocks, tried one after the other.
    fn case(&mut self, head: u16, blocks: &[FunctionId]) -> BlockId {
        let Self { machine, cpu, pc, now, opcode, .. } = *self;
        let b = &mut self.builder;
        b.open_block();
        let value = b.literal(word(head));
        b.store(pc, value);
        let fetched = b.load(now);
        let one = b.literal(Literal::from_bits(Scalar::U32, 1));
        let before = b.sub(fetched, one);
        b.store(now, before);
        for (at, &block) in blocks.iter().enumerate() {
            let call = |b: &mut Builder<'_>| {
                let [rom, cart_ram] = [b.arg(1), b.arg(2)].map(Arg::Value);
                b.call(block, &[Arg::Place(machine), rom, cart_ram, Arg::Place(cpu)]);
            };
            if at == 0 {
                call(b);
            } else {
                let moment = b.load(now);
                let is_still = b.eq(moment, before);
                b.if_then(is_still, call);
            }
        }
        let moment = b.load(now);
        let is_still = b.eq(moment, before);
        b.if_else(
            is_still,
            |b| {
                let value = b.literal(word(head + 1));
                b.store(pc, value);
                b.store(now, fetched);
            },
            |b| {
                let nop = b.literal(Literal::from_bits(Scalar::U8, 0));
                b.store(opcode, nop);
            },
        );
        b.close_block()
    }
}

fn word(bits: u16) -> Literal {
    Literal::from_bits(Scalar::U16, u64::from(bits))
}
