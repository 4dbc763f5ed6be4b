//! The function made from a tree of paths. It loads the registers, carries them in variables
//! through the loop, and stores them where a path ends.

use super::tree::Tree;
use super::{Block, ReliedOn};
use gbxcule_ir::op::{BinaryOp, CompareOp, Op};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::{Body, Literal, PlaceId, Projection, Root, Scalar, Type, Value};
use gbxcule_passes::specialise::{KnownPlace, PartialValue, Residual, Specialiser};

/// The home of a register in the function.
struct RegisterSlot {
    /// The register's field in the machine.
    field: PlaceId,
    /// The variable that carries the register from one round of a loop to the next, if the loop
    /// changes it.
    variable: Option<PlaceId>,
    ty: Type,
}

impl Tree<'_> {
    /// Makes the function. `main` holds the code from the head on, and `heads` are the registers at
    /// the head, which `main` does not load yet.
    pub(super) fn finish(
        mut self,
        mut specialiser: Specialiser<'_>,
        main: BlockId,
        heads: &[Value],
    ) -> Block {
        let longest_mcycles = self.fill_checks(&mut specialiser.residual);
        let homes = self.homes(&mut specialiser.residual);
        self.close_paths(&mut specialiser.residual, &homes);
        specialiser.rely_on(&self.machine_ir.path(&["dma", "active"]));
        let used: Vec<KnownPlace> = specialiser.used_facts().cloned().collect();
        check_facts(&mut specialiser, &used);
        let is_loop = !self.returns_to_head.is_empty();
        let pc = self.start[self.pc].literal().map_or(0, |pc| pc.bits() as u16);
        Block {
            pc,
            relied_on: ReliedOn::new(self.map, self.machine_ir, &used),
            longest_mcycles,
            body: assembled(specialiser.residual, main, heads, &homes, is_loop),
        }
    }

    /// Fills in, at each check of the deadline, how many M-cycles the block may have run;
    /// returns the M-cycles of the longest path.
    fn fill_checks(&mut self, residual: &mut Residual) -> u32 {
        for at in (0..self.instructions.len()).rev() {
            let needed = self.instructions[at].needed_before();
            if let Some(parent) = self.instructions[at].parent {
                let parent = &mut self.instructions[parent];
                parent.latest = parent.latest.max(needed);
            }
        }
        let longest = self.instructions[0].needed_before();
        for check in &self.checks {
            let latest = check.behind.map_or(longest, |at| self.instructions[at].latest);
            let needed = latest.max(check.mcycles);
            let literal = Literal::from_bits(Scalar::I32, u64::from(needed));
            residual.fill(check.placeholder, literal);
        }
        longest
    }

    fn homes(&self, residual: &mut Residual) -> Vec<RegisterSlot> {
        let cpu = self.machine_ir.path(&["cpu"])[0] as u32;
        let registers = self.machine_ir.registers.iter().enumerate();
        let home = |(at, (name, ty)): (usize, &(String, Type))| {
            let path = vec![Projection::Field(cpu), Projection::Field(at as u32)];
            let field = residual.place(Root::Param(0), path, *ty);
            let mut rounds = self.returns_to_head.iter();
            let changes = rounds.any(|(_, registers)| registers[at] != self.start[at]);
            RegisterSlot { field, variable: changes.then(|| residual.variable(name, *ty)), ty: *ty }
        };
        registers.map(home).collect()
    }

    /// Writes the registers where paths end.
    fn close_paths(&self, residual: &mut Residual, homes: &[RegisterSlot]) {
        for (block, registers) in &self.exits {
            for ((home, &register), &start) in homes.iter().zip(registers).zip(&self.start) {
                if register != start || home.variable.is_some() {
                    let value = residual.value(*block, register);
                    residual.push(*block, StmtKind::Store { place: home.field, value });
                }
            }
            residual.push(*block, StmtKind::Return(None));
        }
        for (block, registers) in &self.returns_to_head {
            let carried = homes.iter().zip(registers);
            let carried = carried.filter_map(|(home, register)| Some((home.variable?, *register)));
            let stores: Vec<(PlaceId, Value)> = carried
                .map(|(place, register)| (place, residual.value(*block, register)))
                .collect();
            for (place, value) in stores {
                residual.push(*block, StmtKind::Store { place, value });
            }
            residual.push(*block, StmtKind::Continue);
        }
    }
}

/// Exits at the block's beginning unless all facts that the block relies on hold.
fn check_facts(specialiser: &mut Specialiser<'_>, used: &[KnownPlace]) {
    let root = specialiser.residual.body.root;
    let condition = PartialValue::Literal(Literal::bool(true));
    let condition = all_hold(specialiser, root, condition, used);
    let residual = &mut specialiser.residual;
    let condition = residual.value(root, condition);
    let [accept, reject] = [(); 2].map(|()| residual.open(root));
    residual.push(reject, StmtKind::Return(None));
    residual.push(root, StmtKind::If { condition, accept, reject });
}

/// Evaluates to true if a condition and some facts hold.
pub(super) fn all_hold(
    specialiser: &mut Specialiser<'_>,
    block: BlockId,
    mut condition: PartialValue,
    facts: &[KnownPlace],
) -> PartialValue {
    for fact in facts {
        let present = specialiser.load_memory(block, &fact.path);
        let expected = PartialValue::Literal(fact.literal);
        let holds = specialiser.compare(block, CompareOp::Equal, present, expected);
        condition = specialiser.binary(block, BinaryOp::And, holds, condition);
    }
    condition
}

/// Joins the body: loads of the registers, then the code, in a loop if a path comes back to the
/// head.
fn assembled(
    mut residual: Residual,
    main: BlockId,
    heads: &[Value],
    homes: &[RegisterSlot],
    is_loop: bool,
) -> Body {
    let root = residual.body.root;
    let mut code = Vec::new();
    for (&head, home) in heads.iter().zip(homes) {
        let kind = StmtKind::Let(head);
        residual.body.values[head].op = Op::Load(home.variable.unwrap_or(home.field));
        if let Some(place) = home.variable {
            let value = residual.emit(root, Op::Load(home.field), home.ty);
            residual.push(root, StmtKind::Store { place, value });
            code.push(Stmt { kind, span: Span::NONE });
        } else {
            residual.push(root, kind);
        }
    }
    code.append(&mut residual.body.blocks[main].stmts);
    if is_loop {
        residual.body.blocks[main].stmts = code;
        let header = residual.open(root);
        let always = Op::Literal(Literal::bool(true));
        let condition = residual.emit(header, always, Type::BOOL);
        residual.push(root, StmtKind::While { header, condition, body: main });
    } else {
        residual.body.blocks[root].stmts.append(&mut code);
    }
    residual.body
}
