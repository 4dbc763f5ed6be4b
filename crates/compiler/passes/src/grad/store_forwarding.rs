//! Replaces the load of an element by the value that the same thread stored there before, if the
//! indices are equal and nothing wrote to that array in between. So the reverse of `o[i] = x; y =
//! o[i]` needs no number from memory, and the element may be overwritten later.

use super::origin::{self, Origin};
use super::scan::Scan;
use gbxcule_ir::arena::List;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{Body, LocalId};
use gbxcule_ir::op::{BinaryOp, Op, UnaryOp, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::stmt::{BlockId, StmtKind};
use gbxcule_ir::ty::Types;
use gbxcule_ir::walk::{stmt_blocks, walk_stmts};
use rustc_hash::FxHashMap;

/// Rewrites such loads to conversions of the stored value to its own type.
pub(super) fn rewrite(body: &mut Body, types: &Types) {
    let scan = Scan::new(body);
    let mut pass = Pass::new(&scan, types);
    pass.block(body.root);
    let replacements = pass.replacements;
    for (load, stored) in replacements {
        body.values[load].op = Op::Convert(stored);
    }
}

/// Operation by which equal values are recognised.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Literal(Literal),
    Launch(u8),
    Index(Value),
    /// Variable between two writes to it, with the number of writes so far.
    Variable(LocalId, u32),
    Param(u32),
    Unary(UnaryOp, u32),
    Binary(BinaryOp, u32, u32),
    Convert(u32, gbxcule_ir::ty::Type),
    /// Operation that equals no other operation.
    Own(Value),
}

/// Element whose value is known.
#[derive(Clone)]
struct KnownElement {
    origin: Origin,
    /// Steps to the handle and indices of the element, as numbers of equal values.
    handle: Vec<u32>,
    indices: Vec<u32>,
    value: Value,
}

struct Pass<'a> {
    scan: &'a Scan<'a>,
    types: &'a Types,
    numbers: FxHashMap<Key, u32>,
    of_value: FxHashMap<Value, u32>,
    versions: FxHashMap<LocalId, u32>,
    clock: u32,
    elements: Vec<KnownElement>,
    replacements: Vec<(Value, Value)>,
}

impl<'a> Pass<'a> {
    fn new(scan: &'a Scan<'a>, types: &'a Types) -> Self {
        Self {
            scan,
            types,
            numbers: FxHashMap::default(),
            of_value: FxHashMap::default(),
            versions: FxHashMap::default(),
            clock: 0,
            elements: Vec::new(),
            replacements: Vec::new(),
        }
    }

    fn block(&mut self, block: BlockId) {
        let scan = self.scan;
        for stmt in &scan.body.blocks[block].stmts {
            match stmt.kind {
                StmtKind::Let(value) => self.operation(value),
                StmtKind::Store { place, value } => self.store(place, value),
                ref kind => {
                    let mut inner = Vec::new();
                    stmt_blocks(kind, |block| inner.push(block));
                    let repeats = matches!(kind, StmtKind::For { .. } | StmtKind::While { .. });
                    if repeats {
                        inner.iter().for_each(|&block| self.forget_written(block));
                    }
                    for &block in &inner {
                        let before = self.elements.clone();
                        self.block(block);
                        self.elements = before;
                    }
                    inner.iter().for_each(|&block| self.forget_written(block));
                }
            }
        }
    }

    /// Forgets the elements that a block may change.
    fn forget_written(&mut self, block: BlockId) {
        let scan = self.scan;
        let mut written = Vec::new();
        walk_stmts(scan.body, block, |stmt| match stmt.kind {
            StmtKind::Store { place, .. } => written.push(place),
            StmtKind::Let(value) => written.extend(changed(scan.body, value)),
            _ => {}
        });
        written.into_iter().for_each(|place| self.forget(place));
    }

    /// Forgets the elements that a write to a place may change.
    fn forget(&mut self, place: PlaceId) {
        if let Some(local) = self.scan.local_of(place) {
            self.clock += 1;
            self.versions.insert(local, self.clock);
        } else if self.scan.is_memory(place) {
            let origin = origin::of_place(self.scan, place);
            self.elements.retain(|element| origin.as_ref().is_some_and(|o| *o != element.origin));
        }
    }

    fn store(&mut self, place: PlaceId, value: Value) {
        self.forget(place);
        if let Some((origin, handle, indices)) = self.address(place) {
            self.elements.push(KnownElement { origin, handle, indices, value });
        }
    }

    fn operation(&mut self, value: Value) {
        changed(self.scan.body, value).into_iter().for_each(|place| self.forget(place));
        let Op::Load(place) = self.scan.body.values[value].op else { return };
        self.number_load(value, place);
        if self.types.components(self.scan.body.type_of(value)).is_none() {
            return;
        }
        if let Some((origin, handle, indices)) = self.address(place) {
            let same = |element: &&KnownElement| {
                (&element.origin, &element.handle, &element.indices) == (&origin, &handle, &indices)
            };
            if let Some(element) = self.elements.iter().rev().find(same) {
                self.replacements.push((value, element.value));
            }
        }
    }

    /// Gives one number to all loads of a whole variable between two writes to the variable, and
    /// one number to all loads of a parameter.
    fn number_load(&mut self, value: Value, place: PlaceId) {
        if !self.scan.body.path(place).is_empty() {
            return;
        }
        let key = match self.scan.body.places[place].root {
            Root::Local(local) => {
                let version = self.versions.get(&local).copied().unwrap_or_default();
                Key::Variable(local, version)
            }
            Root::Param(position) => Key::Param(position),
            _ => return,
        };
        self.numbered(value, key);
    }

    /// Returns an address that tells elements of memory apart: for whole elements of parameters'
    /// arrays only.
    fn address(&mut self, place: PlaceId) -> Option<(Origin, Vec<u32>, Vec<u32>)> {
        let steps = self.scan.handle_steps(place)?;
        let path = self.scan.body.path(place);
        if steps + 1 != path.len() {
            return None;
        }
        let Projection::Element(indices) = path[steps] else { return None };
        let origin = origin::of_place(self.scan, place)?;
        let handle = match self.scan.body.places[place].root {
            Root::Array(value) => vec![self.number(value)],
            Root::Param(_) => Vec::new(),
            _ => return None,
        };
        let indices: List<Value> = indices;
        let indices = self.scan.body.value_lists[indices].to_vec();
        let indices = indices.into_iter().map(|index| self.number(index)).collect();
        Some((origin, handle, indices))
    }

    /// Returns the number of a value. Equal numbers mean equal values.
    fn number(&mut self, value: Value) -> u32 {
        if let Some(&number) = self.of_value.get(&value) {
            return number;
        }
        let body = self.scan.body;
        let key = match body.values[value].op {
            Op::Literal(literal) => Key::Literal(literal),
            Op::LaunchIndex(dim) => Key::Launch(dim),
            Op::Index => Key::Index(value),
            Op::Unary(op, of) => Key::Unary(op, self.number(of)),
            Op::Convert(of) => Key::Convert(self.number(of), body.type_of(value)),
            Op::Binary(op, left, right) => Key::Binary(op, self.number(left), self.number(right)),
            _ => Key::Own(value),
        };
        self.numbered(value, key)
    }

    fn numbered(&mut self, value: Value, key: Key) -> u32 {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        self.of_value.insert(value, number);
        number
    }
}

/// Returns the places that an operation may change.
fn changed(body: &Body, value: Value) -> Vec<PlaceId> {
    let mut places = Vec::new();
    match body.values[value].op {
        Op::Atomic { place, .. } => places.push(place),
        Op::Call { args, .. } => {
            for arg in &body.arg_lists[args] {
                if let gbxcule_ir::op::Arg::Place(place) = *arg {
                    places.push(place);
                }
            }
        }
        _ => {}
    }
    places
}
