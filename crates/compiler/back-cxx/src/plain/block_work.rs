//! Work that the threads of a block share: tiles lie in shared memory and their elements are
//! divided among the threads; sums are reduced in shared memory before one thread adds them.

use super::super::function::Writer;
use super::super::hoist::Declaration;
use super::super::live::has_effect;
use super::array::{root_of_place, root_of_value};
use gbxcule_ir::arena::Handle;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{Body, LocalId};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{AtomicOp, Op, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::{Scalar, Shape};
use gbxcule_ir::walk::{Use, op_uses, place_values, stmt_uses, walk_stmts, walk_uses};
use rustc_hash::{FxHashMap, FxHashSet};

/// Sums of a block, at most.
const MAX_SUMS: usize = 4;

/// Role of a statement in the work of a block's threads. All threads run a statement without a
/// role, with the same values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Role {
    /// A loop over the elements of a tile, divided among the threads.
    Divided,
    /// A statement for the first thread alone.
    First,
    /// All threads read a tile.
    Read,
}

/// The work of a block whose threads make tiles together; empty for threads that work alone.
#[derive(Debug, Default)]
pub(in super::super) struct BlockWork {
    /// Variables in shared memory.
    tiles: Vec<bool>,
    roles: FxHashMap<(BlockId, usize), Role>,
    /// Bodies of loops in which all threads read a tile.
    reading_loops: FxHashSet<BlockId>,
    /// True if threads may be reading tiles.
    is_read: bool,
}

/// A sum that each thread adds to, at one element of an array.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    pub(super) of: Scalar,
    /// Position of the array among the parameters.
    pub(super) param: u32,
    /// One place of the element.
    pub(super) place: PlaceId,
    /// All places of it.
    pub(super) places: Vec<PlaceId>,
}

impl BlockWork {
    /// Divides the work of a kernel with tiles, if that can be done.
    pub(super) fn of(
        module: &Valid<Module>,
        body: &Body,
        declarations: &[Declaration],
        uses: &[u32],
    ) -> Option<Self> {
        let is_tile = |ty| match module.types[ty] {
            Shape::Fixed { of, .. } => of.as_scalar().is_some(),
            _ => false,
        };
        let tiles: Vec<bool> =
            body.locals.iter().map(|(_, local)| local.scratch && is_tile(local.ty)).collect();
        let work = Self { tiles, ..Self::default() };
        let mut planner = Planner { module, body, declarations, uses, work };
        let is_divided = planner.block(body.root, false).is_some()
            && planner.work.roles.values().any(|role| *role == Role::Divided)
            && !writes_what_it_reads(body);
        is_divided.then_some(planner.work)
    }

    /// Returns true if threads divide some work.
    pub(in super::super) fn is_shared(&self) -> bool {
        !self.roles.is_empty()
    }

    pub(in super::super) fn role(&self, block: BlockId, position: usize) -> Option<Role> {
        self.roles.get(&(block, position)).copied()
    }

    /// Returns true for a loop that the threads of a block divide.
    pub(in super::super) fn is_divided(&self, block: BlockId, position: usize) -> bool {
        self.role(block, position) == Some(Role::Divided)
    }

    /// Returns true for a tile in shared memory.
    pub(in super::super) fn is_tile(&self, local: LocalId) -> bool {
        self.tiles.get(Handle::index(local)).copied().unwrap_or_default()
    }

    /// Begins a statement of a block's threads. A statement that writes waits for threads that
    /// read.
    pub(in super::super) fn begin(&mut self, writer: &mut Writer<'_, '_>, role: Option<Role>) {
        if matches!(role, Some(Role::Divided | Role::First)) {
            writer.name_all_waiting();
            if self.is_read {
                self.synchronise(writer);
            }
        }
        if role == Some(Role::First) {
            writer.lines.line("if (threadIdx.x == 0) {");
            writer.lines.depth += 1;
        }
    }

    /// Ends a statement of a block's threads, so that later statements see its writes.
    pub(in super::super) fn end(
        &mut self,
        writer: &mut Writer<'_, '_>,
        role: Option<Role>,
        is_last: bool,
    ) {
        if role == Some(Role::First) {
            writer.lines.depth -= 1;
            writer.lines.line("}");
        }
        match role {
            Some(Role::Divided | Role::First) if !is_last => self.synchronise(writer),
            Some(Role::Read) => self.is_read = true,
            _ => {}
        }
    }

    /// Records before a loop that threads may still read tiles that the loop's next round writes.
    pub(in super::super) fn begin_rounds(&mut self, body: BlockId) {
        self.is_read |= self.reading_loops.contains(&body);
    }

    fn synchronise(&mut self, writer: &mut Writer<'_, '_>) {
        writer.lines.line("__syncthreads();");
        self.is_read = false;
    }
}

/// Returns true if a kernel reads an array that it writes: another thread may have written it.
fn writes_what_it_reads(body: &Body) -> bool {
    let (mut reads, mut writes) = (FxHashSet::default(), FxHashSet::default());
    walk_uses(body, body.root, |used| match used {
        Use::Read(place) if !body.path(place).is_empty() => {
            reads.extend(root_of_place(body, place));
        }
        Use::Write(place) | Use::Change(place) => writes.extend(root_of_place(body, place)),
        _ => {}
    });
    !reads.is_disjoint(&writes)
}

struct Planner<'a> {
    module: &'a Valid<Module>,
    body: &'a Body,
    declarations: &'a [Declaration],
    uses: &'a [u32],
    work: BlockWork,
}

impl Planner<'_> {
    fn tile(&self, place: PlaceId) -> Option<LocalId> {
        match self.body.places[place].root {
            Root::Local(local) => self.work.tiles[Handle::index(local)].then_some(local),
            _ => None,
        }
    }

    fn reads_tile(&self, kind: &StmtKind) -> bool {
        let mut reads = false;
        stmt_uses(
            self.body,
            kind,
            |_| false,
            |used| {
                reads |= matches!(used, Use::Read(place) if self.tile(place).is_some());
            },
        );
        reads
    }

    /// Assigns roles to the statements of a block that all threads run; `None` if the work can't be
    /// divided.
    fn block(&mut self, block: BlockId, is_loop: bool) -> Option<()> {
        let body = self.body;
        for (position, stmt) in body.blocks[block].stmts.iter().enumerate() {
            let role = self.statement(stmt, is_loop)?;
            self.work.roles.extend(role.map(|role| ((block, position), role)));
        }
        Some(())
    }

    fn statement(&mut self, stmt: &Stmt, is_loop: bool) -> Option<Option<Role>> {
        Some(match stmt.kind {
            StmtKind::Let(value) => match self.body.values[value].op {
                Op::Atomic { place, .. } => {
                    let is_plain = self.uses[value.index()] == 0 && self.tile(place).is_none();
                    is_plain.then_some(Some(Role::First))?
                }
                Op::AsArray(_) => return None,
                op if has_effect(self.module, &op) => return None,
                _ => self.reads_tile(&stmt.kind).then_some(Role::Read),
            },
            StmtKind::Store { place, .. } => match (self.tile(place), self.body.places[place].root)
            {
                (Some(_), _) if self.body.path(place).is_empty() => Some(Role::Divided),
                (Some(_), _) if is_loop => return None,
                (None, Root::Local(_)) => None,
                _ => Some(Role::First),
            },
            StmtKind::If { accept, reject, .. } => {
                self.block(accept, is_loop)?;
                self.block(reject, is_loop)?;
                None
            }
            StmtKind::For { index, body, .. } if self.is_divisible(stmt, index, body) => {
                Some(Role::Divided)
            }
            StmtKind::For { body, .. } => {
                self.loop_body(body)?;
                None
            }
            StmtKind::While { header, body, .. } => {
                self.loop_body(header)?;
                self.loop_body(body)?;
                None
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => None,
            _ => return None,
        })
    }

    fn loop_body(&mut self, body: BlockId) -> Option<()> {
        let reads =
            |roles: &FxHashMap<_, Role>| roles.values().filter(|it| **it == Role::Read).count();
        let before = reads(&self.work.roles);
        self.block(body, true)?;
        if reads(&self.work.roles) > before {
            self.work.reading_loops.insert(body);
        }
        Some(())
    }

    /// Returns true if the rounds of a loop may run in any order: each writes its own element of
    /// tiles and arrays, and variables that are declared inside.
    fn is_divisible(&self, stmt: &Stmt, index: Value, block: BlockId) -> bool {
        let StmtKind::For { start, step, .. } = stmt.kind else { return false };
        let equals = |value, number| self.body.integer(value) == Some(number);
        let mut rounds = Rounds {
            planner: self,
            index,
            blocks: FxHashSet::default(),
            dependent: FxHashSet::from_iter([index]),
            written: FxHashSet::default(),
            read_elsewhere: FxHashSet::default(),
        };
        equals(start, 0)
            && equals(step, 1)
            && rounds.block(block, 0)
            && rounds.written.is_disjoint(&rounds.read_elsewhere)
    }
}

/// Facts about the rounds of a loop.
struct Rounds<'a> {
    planner: &'a Planner<'a>,
    index: Value,
    blocks: FxHashSet<BlockId>,
    /// Values that depend on the index.
    dependent: FxHashSet<Value>,
    written: FxHashSet<LocalId>,
    /// Tiles that are read at other elements than the round's own.
    read_elsewhere: FxHashSet<LocalId>,
}

impl Rounds<'_> {
    fn is_own(&self, place: PlaceId) -> bool {
        matches!(*self.planner.body.path(place), [Projection::At(index)] if index == self.index)
    }

    fn block(&mut self, block: BlockId, depth: u32) -> bool {
        self.blocks.insert(block);
        let stmts = &self.planner.body.blocks[block].stmts;
        stmts.iter().all(|stmt| self.statement(stmt, depth))
    }

    fn statement(&mut self, stmt: &Stmt, depth: u32) -> bool {
        match stmt.kind {
            StmtKind::Let(value) => self.operation(value),
            StmtKind::Store { place, .. } => self.store(place),
            StmtKind::If { accept, reject, .. } => {
                self.block(accept, depth) && self.block(reject, depth)
            }
            StmtKind::For { body, .. } => self.block(body, depth + 1),
            StmtKind::While { header, body, .. } => {
                self.block(header, depth + 1) && self.block(body, depth + 1)
            }
            StmtKind::Break => depth > 0,
            StmtKind::Continue => true,
            _ => false,
        }
    }

    fn operation(&mut self, value: Value) -> bool {
        let (planner, body) = (self.planner, self.planner.body);
        let op = body.values[value].op;
        let is_atomic = matches!(op, Op::Atomic { .. });
        if !is_atomic && has_effect(planner.module, &op) {
            return false;
        }
        let (mut is_dependent, mut is_allowed) = (false, true);
        op_uses(
            body,
            &op,
            |_| false,
            |used| match used {
                Use::Value(operand) => is_dependent |= self.dependent.contains(&operand),
                Use::Read(place) => {
                    place_values(body, place, &mut |it| {
                        is_dependent |= self.dependent.contains(&it);
                    });
                    if let Some(tile) = planner.tile(place)
                        && !self.is_own(place)
                    {
                        self.read_elsewhere.insert(tile);
                    }
                }
                Use::Change(place) => is_allowed &= planner.tile(place).is_none(),
                Use::Write(_) | Use::Expose(_) => is_allowed = false,
            },
        );
        if is_dependent {
            self.dependent.insert(value);
        }
        is_allowed
    }

    fn store(&mut self, place: PlaceId) -> bool {
        let (planner, body) = (self.planner, self.planner.body);
        if let Some(tile) = planner.tile(place) {
            self.written.insert(tile);
            return self.is_own(place);
        }
        match body.places[place].root {
            Root::Local(local) => match planner.declarations[Handle::index(local)] {
                Declaration::Store(block, _) => self.blocks.contains(&block),
                Declaration::Top | Declaration::Nowhere => false,
            },
            _ => {
                let mut is_dependent = false;
                place_values(body, place, &mut |it| is_dependent |= self.dependent.contains(&it));
                is_dependent
            }
        }
    }
}

/// Finds the sums of a kernel: elements at literal indices to which threads add, of arrays without
/// another use. A kernel with a `return` has none, because all threads must take part in the
/// reduction.
pub(super) fn sums(body: &Body, uses: &[u32]) -> Vec<Sum> {
    let mut sums: Vec<Sum> = Vec::new();
    let mut returns = false;
    walk_stmts(body, body.root, |stmt| {
        returns |= matches!(stmt.kind, StmtKind::Return(_));
        let StmtKind::Let(value) = stmt.kind else { return };
        let Op::Atomic { op: AtomicOp::Add, place, .. } = body.values[value].op else { return };
        let (Some(of), Some(param)) =
            (body.places[place].ty.as_scalar(), root_of_place(body, place))
        else {
            return;
        };
        let is_number = matches!(of, Scalar::I32 | Scalar::U32 | Scalar::F32 | Scalar::F64);
        if !is_number || uses[value.index()] > 0 || literals(body, place).is_none() {
            return;
        }
        let same = |sum: &&mut Sum| {
            sum.param == param && literals(body, sum.place) == literals(body, place)
        };
        match sums.iter_mut().find(same) {
            Some(sum) => sum.places.push(place),
            None => sums.push(Sum { of, param, place, places: vec![place] }),
        }
    });
    let all: FxHashSet<PlaceId> = sums.iter().flat_map(|sum| sum.places.clone()).collect();
    let others = used_otherwise(body, &all);
    sums.retain(|sum| !others.contains(&sum.param));
    if returns || sums.len() > MAX_SUMS { Vec::new() } else { sums }
}

/// Returns the parameters that a kernel uses apart from these places.
fn used_otherwise(body: &Body, places: &FxHashSet<PlaceId>) -> FxHashSet<u32> {
    let mut others = FxHashSet::default();
    walk_uses(body, body.root, |used| match used {
        Use::Value(value) => others.extend(root_of_value(body, value)),
        Use::Change(place) if places.contains(&place) => {}
        Use::Read(place) | Use::Write(place) | Use::Change(place) | Use::Expose(place) => {
            let is_handle = body.path(place).is_empty();
            others.extend(root_of_place(body, place).filter(|_| !is_handle));
        }
    });
    others
}

/// Returns the indices of an element of a parameter, if all are literals.
pub(super) fn literals(body: &Body, place: PlaceId) -> Option<Vec<i128>> {
    let &[Projection::Element(indices)] = body.path(place) else { return None };
    if let Root::Array(array) = body.places[place].root
        && !matches!(body.values[array].op, Op::Load(_))
    {
        return None;
    }
    body.value_lists[indices].iter().map(|&index| body.integer(index)).collect()
}
