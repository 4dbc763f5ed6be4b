//! The tree of paths through ROM, built instruction by instruction. `body` makes a function from
//! the finished tree.

use super::body::all_hold;
use super::{Block, HIGH_RAM, Limits, MemoryMap, ROM_END};
use crate::machine_ir::MachineIr;
use gbxcule_gameboy::COLOR;
use gbxcule_ir::op::{BinaryOp, CompareOp, Op};
use gbxcule_ir::stmt::{BlockId, StmtKind};
use gbxcule_ir::{FunctionId, Inline, Literal, Scalar, Value};
use gbxcule_passes::specialise::{
    ArrayInput, Changes, Input, PartialValue, PassedValue, Policy, Progress, Specialiser, State,
    Treatment, Unsupported,
};
use std::cell::Cell;
use std::collections::VecDeque;

/// Opcode of HALT.
const HALT: Literal = Literal::from_bits(Scalar::U8, 0x76);

/// Address of P1, the register of the buttons.
const P1: u16 = 0xff00;

/// LY on the Color: blocks read it in place while an HBlank that was found lasts.
const LY: u16 = if COLOR { 0xff44 } else { P1 };

/// Returns true if blocks inline a write to an address: to SCX, SCY and the palettes of the Color,
/// which programs write most often, once in each line.
fn is_written_in_place(address: u16) -> bool {
    COLOR && matches!(address, 0xff42 | 0xff43 | 0xff68..0xff6c)
}

/// Returns true if blocks may contain code at this address.
fn is_code(pc: u16) -> bool {
    pc < ROM_END || HIGH_RAM.contains(&pc)
}

/// Makes a block.
pub(super) fn build(
    limits: Limits,
    machine_ir: &MachineIr,
    rom: &[u8],
    map: MemoryMap,
    pc: u16,
) -> Result<Block, Unsupported> {
    if !is_code(pc) {
        return Err(Unsupported("a head outside of ROM and high RAM"));
    }
    let facts = &map.facts(machine_ir)[..];
    let handle = |param, bytes| ArrayInput { param, ty: machine_ir.array, bytes };
    let mut specialiser = Specialiser::new(
        &machine_ir.module,
        (0, machine_ir.machine),
        vec![handle(1, Some(rom)), handle(2, None)],
        facts.to_vec(),
        vec![machine_ir.path(&["deadline"])],
    );
    let root = specialiser.residual.body.root;
    let main = specialiser.residual.open(root);
    let heads: Vec<Value> = machine_ir
        .registers
        .iter()
        .map(|&(_, ty)| specialiser.residual.define(Op::Zero, ty))
        .collect();
    let mut registers: Vec<PartialValue> =
        heads.iter().map(|&head| PartialValue::Value(head)).collect();
    let pc_at = machine_ir.register("pc");
    registers[pc_at] = PartialValue::Literal(Literal::from_bits(Scalar::U16, u64::from(pc)));
    let mut state = State::new(facts, registers.clone(), main);
    let mut tree = Tree {
        machine_ir,
        pc: pc_at,
        now: machine_ir.register("now"),
        sp: machine_ir.register("sp"),
        deadline: machine_ir.path(&["deadline"]),
        start: registers,
        instructions: Vec::new(),
        current: 0,
        fetches: Cell::new(0),
        checks: Vec::new(),
        exits: Vec::new(),
        returns_to_head: Vec::new(),
        map,
        limits,
        halts: false,
        before: Vec::new(),
    };
    tree.guard(&mut specialiser, &mut state)?;
    tree.follow_all_paths(&mut specialiser, state)?;
    Ok(tree.finish(specialiser, main, &heads))
}

/// An instruction on a path.
pub(super) struct Instruction {
    /// The preceding instruction on the path.
    pub(super) parent: Option<usize>,
    /// M-cycles from the head to the start of this instruction.
    pub(super) begin: u32,
    /// M-cycles from the head to the start of the last instruction before the next check of the
    /// deadline, this instruction included.
    pub(super) latest: u32,
    /// True if all paths check the deadline after this instruction.
    pub(super) is_checked: bool,
}

impl Instruction {
    /// M-cycles from the head to the start of the last instruction that runs after this one before
    /// another check of the deadline.
    pub(super) fn needed_before(&self) -> u32 {
        if self.is_checked { self.begin } else { self.latest }
    }
}

/// A check of the deadline, whose number of M-cycles is filled in when the tree is finished.
pub(super) struct DeadlineCheck {
    /// The instruction before the check; `None` at the head.
    pub(super) behind: Option<usize>,
    /// M-cycles from the head to the check.
    pub(super) mcycles: u32,
    pub(super) placeholder: Value,
}

/// The end of a path that was followed so far.
struct PathEnd {
    state: State,
    /// The path's last instruction.
    behind: Option<usize>,
    /// PCs of the path's instructions.
    passed: Vec<u16>,
    /// Probable return addresses of the calls on the path.
    returns: Vec<u64>,
    /// M-cycles from the head to the last check of the deadline.
    checked_at: u32,
    depth: usize,
}

pub(super) struct Tree<'t> {
    pub(super) machine_ir: &'t MachineIr,
    pub(super) pc: usize,
    pub(super) now: usize,
    pub(super) sp: usize,
    pub(super) deadline: Vec<u64>,
    /// The registers at the head.
    pub(super) start: Vec<PartialValue>,
    pub(super) instructions: Vec<Instruction>,
    /// Index of the instruction that is being specialised.
    pub(super) current: usize,
    /// Bytes that this instruction has fetched after its opcode.
    pub(super) fetches: Cell<u64>,
    pub(super) checks: Vec<DeadlineCheck>,
    pub(super) exits: Vec<(BlockId, Vec<PartialValue>)>,
    pub(super) returns_to_head: Vec<(BlockId, Vec<PartialValue>)>,
    pub(super) map: MemoryMap,
    limits: Limits,
    /// True if the instruction that is being specialised is HALT, which ends a path: its deadline
    /// has come.
    halts: bool,
    /// The registers before the instruction that is being specialised.
    before: Vec<PartialValue>,
}

impl Policy for Tree<'_> {
    fn treatment(
        &self,
        function: FunctionId,
        args: &[Option<Literal>],
        progress: Progress,
    ) -> Treatment {
        if function == self.machine_ir.fetch {
            self.fetches.set(self.fetches.get() + 1);
        }
        let callee = &self.machine_ir.module.functions[function];
        if callee.inline == Inline::Always {
            return Treatment::Unfold;
        }
        if !progress.is_touched && is_worth_unfolding(&callee.name, callee.inline, args) {
            return Treatment::Unfold;
        }
        let may_leave = self.limits.leaves && progress.may_repeat();
        let name = &callee.name[..];
        if name == "Machine::read_elsewhere" && !self.limits.leaves && address(args).is_none() {
            // Programs read data in ROM and in high RAM as often as in work RAM.
            return Treatment::Unfold;
        }
        match crate::host_call::exists(name) {
            _ if self.limits.leaves && self.halts => Treatment::Refuse,
            _ if may_leave && name == "Machine::read_elsewhere" => Treatment::Unfold,
            _ if may_leave && name == "Machine::read_slow" => Treatment::Leave,
            true if may_leave => Treatment::Leave,
            // The end of OAM DMA changes the memory map.
            true if self.map.has_dma => Treatment::Call(Changes::Any),
            true if is_rare(name, address(args)) => Treatment::LastCall,
            true => Treatment::Call(crate::host_call::changes(name, address(args))),
            false => Treatment::Refuse,
        }
    }

    fn leave(&mut self, _specialiser: &mut Specialiser<'_>, state: &State) {
        self.exits.push((state.block, self.before.clone()));
    }

    fn recheck_facts(
        &mut self,
        specialiser: &mut Specialiser<'_>,
        mut state: State,
    ) -> Result<Option<State>, Unsupported> {
        if state.is_last() {
            self.exits.push((state.block, state.registers));
            return Ok(None);
        }
        if !state.is_touched() || self.halts {
            return Ok(Some(state));
        }
        let in_time = self.is_in_time(specialiser, &mut state, Some(self.current))?;
        let lost = specialiser.lost_facts(&state);
        let condition = all_hold(specialiser, state.block, in_time, &lost);
        self.leave_unless(specialiser, &state, condition);
        specialiser.restore(&mut state);
        Ok(Some(state))
    }

    fn may_meet(&self, left: &State, right: &State) -> bool {
        let pc = |state: &State| state.registers[self.pc].literal();
        pc(left) == pc(right) && left.registers[self.now] == right.registers[self.now]
    }
}

/// Returns the address of an access, if the address is a constant.
fn address(args: &[Option<Literal>]) -> Option<u16> {
    args.get(4).copied().flatten().map(|at| at.bits() as u16)
}

/// Returns true if blocks end behind a host call: behind an access at an unknown address that is
/// neither in work RAM nor in ROM, and behind a write that blocks would make in place in HBlank.
fn is_rare(host_call: &str, address: Option<u16>) -> bool {
    match host_call {
        "Machine::read_slow" | "Machine::write_slow" => address.is_none(),
        name => matches!(name, "write_ppu" | "write_color_cell"),
    }
}

/// Returns true if blocks inline a function that other code calls, because at a constant address
/// the function folds to a few instructions: a read of ROM, an access to the buttons or to high
/// RAM.
fn is_worth_unfolding(name: &str, inline: Inline, args: &[Option<Literal>]) -> bool {
    if name == "Machine::write_register" {
        // Only an inlined `write_slow` calls this function.
        return true;
    }
    let Some(at) = address(args) else {
        return inline == Inline::Auto;
    };
    match name {
        "Machine::write_slow" if is_written_in_place(at) => true,
        "Machine::read_elsewhere" => at < ROM_END || at == P1 || at == LY || HIGH_RAM.contains(&at),
        "Machine::read_slow" => at == P1 || at == LY,
        "Machine::write_slow" => at == P1 || HIGH_RAM.contains(&at),
        _ => inline == Inline::Auto,
    }
}

impl Tree<'_> {
    /// M-cycles from the head to a state.
    fn mcycles(&self, state: &State) -> Result<u32, Unsupported> {
        let PartialValue::Value(head) = self.start[self.now] else {
            unreachable!("`now` at the head is a value")
        };
        match state.registers[self.now] {
            PartialValue::Value(now) if now == head => Ok(0),
            PartialValue::Sum(now, more) if now == head => Ok(more.bits() as u32),
            _ => Err(Unsupported("time that is not known")),
        }
    }

    /// Evaluates to true if the deadline lies after the start of every instruction up to the next
    /// check. The M-cycles from the head to the deadline are computed once.
    fn is_in_time(
        &mut self,
        specialiser: &mut Specialiser<'_>,
        state: &mut State,
        behind: Option<usize>,
    ) -> Result<PartialValue, Unsupported> {
        let placeholder = specialiser.residual.placeholder(state.block, Scalar::I32);
        self.checks.push(DeadlineCheck { behind, mcycles: self.mcycles(state)?, placeholder });
        let deadline = specialiser.content_at(state, &self.deadline);
        let (block, head) = (state.block, self.start[self.now]);
        let left = specialiser.binary(block, BinaryOp::Subtract, deadline, head);
        let left = specialiser.convert(block, left, Scalar::I32);
        let needed = PartialValue::Value(placeholder);
        Ok(specialiser.compare(block, CompareOp::Greater, left, needed))
    }

    /// Exits from the block here unless a condition holds.
    fn leave_unless(
        &mut self,
        specialiser: &mut Specialiser<'_>,
        state: &State,
        condition: PartialValue,
    ) {
        let condition = specialiser.residual.value(state.block, condition);
        let [accept, reject] = [(); 2].map(|()| specialiser.residual.open(state.block));
        specialiser.residual.push(state.block, StmtKind::If { condition, accept, reject });
        self.exits.push((reject, state.registers.clone()));
    }

    /// Checks the deadline at the head.
    fn guard(
        &mut self,
        specialiser: &mut Specialiser<'_>,
        state: &mut State,
    ) -> Result<(), Unsupported> {
        let condition = self.is_in_time(specialiser, state, None)?;
        self.leave_unless(specialiser, state, condition);
        Ok(())
    }

    /// Follows all paths until they leave ROM, come back, or are long enough.
    fn follow_all_paths(
        &mut self,
        specialiser: &mut Specialiser<'_>,
        state: State,
    ) -> Result<(), Unsupported> {
        let tip = PathEnd {
            state,
            behind: None,
            passed: Vec::new(),
            returns: Vec::new(),
            checked_at: 0,
            depth: 0,
        };
        let mut tips = VecDeque::from([tip]);
        while let Some(tip) = tips.pop_front() {
            let is_first = tip.behind.is_none();
            match self.next(&tip)? {
                Next::Instruction(pc) => match self.instruction(specialiser, &tip, pc) {
                    Ok(more) => tips.extend(more),
                    Err(unsupported) if is_first => return Err(unsupported),
                    Err(_) => self.exits.push((tip.state.block, tip.state.registers)),
                },
                Next::Head => self.returns_to_head.push((tip.state.block, tip.state.registers)),
                Next::Exit => self.exits.push((tip.state.block, tip.state.registers)),
            }
        }
        Ok(())
    }

    fn next(&self, tip: &PathEnd) -> Result<Next, Unsupported> {
        let Some(pc) = tip.state.registers[self.pc].literal() else { return Ok(Next::Exit) };
        let head = self.start[self.pc].literal();
        if tip.behind.is_some() && Some(pc) == head {
            return Ok(Next::Head);
        }
        let pc = pc.bits() as u16;
        let goes_on = is_code(pc)
            && !tip.passed.contains(&pc)
            && self.instructions.len() < self.limits.instructions
            && tip.depth < self.limits.branches
            && self.mcycles(&tip.state)? < self.limits.mcycles;
        Ok(if goes_on { Next::Instruction(pc) } else { Next::Exit })
    }

    /// Specialises an instruction; returns the path's continuations.
    fn instruction(
        &mut self,
        specialiser: &mut Specialiser<'_>,
        tip: &PathEnd,
        pc: u16,
    ) -> Result<Vec<PathEnd>, Unsupported> {
        let before = (
            specialiser.residual.body.blocks[tip.state.block].stmts.len(),
            self.checks.len(),
            self.exits.len(),
        );
        let begin = self.mcycles(&tip.state)?;
        self.current = self.instructions.len();
        self.instructions.push(Instruction {
            parent: tip.behind,
            begin,
            latest: begin,
            is_checked: false,
        });
        self.before.clone_from(&tip.state.registers);
        let ends = self.specialised(specialiser, tip.state.clone());
        let Ok(ends) = ends else {
            // A refused instruction leaves nothing in the tree.
            let (stmts, checks, exits) = before;
            specialiser.residual.body.blocks[tip.state.block].stmts.truncate(stmts);
            self.checks.truncate(checks);
            self.exits.truncate(exits);
            self.instructions.pop();
            return ends.map(|_| Vec::new());
        };
        if self.halts {
            self.exits.extend(ends.into_iter().map(|state| (state.block, state.registers)));
            return Ok(Vec::new());
        }
        let following = (u64::from(pc) + 1 + self.fetches.get()) & 0xffff;
        let branches = usize::from(ends.len() > 1);
        let sp = tip.state.registers[self.sp];
        let more = ends.into_iter().map(|state| {
            let mut tip = PathEnd {
                behind: Some(self.current),
                passed: [&tip.passed[..], &[pc]].concat(),
                returns: tip.returns.clone(),
                checked_at: tip.checked_at,
                depth: tip.depth + branches,
                state,
            };
            self.follow_return(specialiser, &mut tip, (sp, following));
            tip
        });
        let mut more: Vec<PathEnd> = more.collect();
        self.check_deadline_if_due(specialiser, &mut more)?;
        Ok(more)
    }

    /// Checks the deadline on all paths after an instruction, if the last check on one of them is
    /// long past.
    fn check_deadline_if_due(
        &mut self,
        specialiser: &mut Specialiser<'_>,
        tips: &mut [PathEnd],
    ) -> Result<(), Unsupported> {
        let mut is_due = false;
        for tip in &*tips {
            let passed = self.mcycles(&tip.state)?.saturating_sub(tip.checked_at);
            is_due |= passed >= self.limits.mcycles_unchecked;
        }
        if !is_due {
            return Ok(());
        }
        let goes_on = |tip: &&mut PathEnd| tip.state.registers[self.pc].literal().is_some();
        let going_on: Vec<&mut PathEnd> = tips.iter_mut().filter(goes_on).collect();
        for tip in going_on {
            tip.checked_at = self.mcycles(&tip.state)?;
            let in_time = self.is_in_time(specialiser, &mut tip.state, Some(self.current))?;
            self.leave_unless(specialiser, &tip.state, in_time);
        }
        self.instructions[self.current].is_checked = true;
        Ok(())
    }

    fn specialised(
        &mut self,
        specialiser: &mut Specialiser<'_>,
        state: State,
    ) -> Result<Vec<State>, Unsupported> {
        let arrays = [0, 1].map(|array| Input::Passed(PassedValue::Array(array)));
        let mut inputs = vec![Input::Registers, Input::Memory, arrays[0], arrays[1]];
        let MachineIr { fetch, execute, .. } = *self.machine_ir;
        let fetched = specialiser.call_straight(state, self, fetch, &inputs)?;
        let Some(opcode @ PassedValue::Scalar(PartialValue::Literal(_))) = fetched.result else {
            return Err(Unsupported("an opcode that is not known"));
        };
        self.halts = opcode == PassedValue::Scalar(PartialValue::Literal(HALT));
        inputs.push(Input::Passed(opcode));
        self.fetches.set(0);
        specialiser.call(fetched, self, execute, &inputs)
    }

    /// Follows a return to the address after the path's last call, if SP fits: the block compares
    /// the address at run time and exits if another one was on the stack.
    fn follow_return(
        &mut self,
        specialiser: &mut Specialiser<'_>,
        tip: &mut PathEnd,
        (sp, following): (PartialValue, u64),
    ) {
        let state = &mut tip.state;
        let pc = state.registers[self.pc];
        match (difference(state.registers[self.sp], sp), pc.literal()) {
            (Some(-2), Some(target)) if target.bits() != following => tip.returns.push(following),
            (Some(2), None) => {
                let Some(expected) = tip.returns.pop() else { return };
                let expected = PartialValue::Literal(Literal::from_bits(Scalar::U16, expected));
                let same = specialiser.compare(state.block, CompareOp::Equal, pc, expected);
                self.leave_unless(specialiser, state, same);
                state.registers[self.pc] = expected;
            }
            _ => {}
        }
    }
}

enum Next {
    Instruction(u16),
    Head,
    Exit,
}

/// Returns the difference of two values of 16 bits, if it is a constant.
fn difference(of: PartialValue, than: PartialValue) -> Option<i16> {
    let parts = |value| match value {
        PartialValue::Literal(literal) => (None, literal.bits() as i16),
        PartialValue::Value(value) => (Some(value), 0),
        PartialValue::Sum(value, more) => (Some(value), more.bits() as i16),
    };
    let (of, than) = (parts(of), parts(than));
    (of.0 == than.0).then(|| of.1.wrapping_sub(than.1))
}
