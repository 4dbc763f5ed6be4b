//! Copies the body of one function into another, handle by handle. (`grad::copy` copies single
//! operations by the builder.)

use super::writer::whole;
use gbxcule_ir::arena::{Handle, List};
use gbxcule_ir::function::{Body, LocalId};
use gbxcule_ir::op::{Arg, Op, Selector, Value};
use gbxcule_ir::place::{Place, PlaceId, Projection, Root};
use gbxcule_ir::stmt::{BlockId, Case, Stmt, StmtKind};
use gbxcule_ir::ty::Type;
use gbxcule_ir::walk::{map_operands, map_stmt, stmt_blocks, walk_stmts};

/// Values and places that stand for the parameters of the copied function.
pub(super) struct Parameters {
    /// Place of each parameter.
    pub(super) places: Vec<PlaceId>,
}

/// Copies blocks from one body to another; values, places and variables get new handles.
pub(super) struct Copier<'a> {
    from: &'a Body,
    to: &'a mut Body,
    parameters: Parameters,
    values: Vec<Value>,
    locals: Vec<LocalId>,
}

impl<'a> Copier<'a> {
    /// Makes room for everything in `from`.
    pub(super) fn new(from: &'a Body, to: &'a mut Body, parameters: Parameters) -> Self {
        let values = from.values.iter().map(|(_, data)| to.values.push(*data)).collect();
        let locals = from.locals.iter().map(|(_, local)| to.locals.push(local.clone())).collect();
        let mut copier = Self { from, to, parameters, values, locals };
        for value in from.values.handles() {
            let op = copier.op(from.values[value].op);
            let copy = copier.value(value);
            copier.to.values[copy].op = op;
        }
        copier
    }

    /// Copies statements within one body: the values that they define are copied, all others stay
    /// the same.
    pub(super) fn inside(
        from: &'a Body,
        to: &'a mut Body,
        parameters: &[Type],
        stmts: &[Stmt],
    ) -> Self {
        let mut places = Vec::new();
        for (position, &ty) in (0..).zip(parameters) {
            places.push(whole(to, Root::Param(position), ty));
        }
        let mut defined = Vec::new();
        for stmt in stmts {
            if let StmtKind::Let(value) = stmt.kind {
                defined.push(value);
            }
            stmt_blocks(&stmt.kind, |block| {
                walk_stmts(from, block, |stmt| match stmt.kind {
                    StmtKind::Let(value) | StmtKind::For { index: value, .. } => {
                        defined.push(value);
                    }
                    _ => {}
                });
            });
        }
        let mut values: Vec<Value> = from.values.handles().collect();
        for &value in &defined {
            values[value.index()] = to.values.push(from.values[value]);
        }
        let locals = from.locals.handles().collect();
        let mut copier = Self { from, to, parameters: Parameters { places }, values, locals };
        for value in defined {
            let op = copier.op(from.values[value].op);
            let copy = copier.value(value);
            copier.to.values[copy].op = op;
        }
        copier
    }

    /// Returns the copy of a value.
    pub(super) fn value(&self, value: Value) -> Value {
        self.values[value.index()]
    }

    /// Returns the variables that were added. A caller must set them to zero, because the copy may
    /// run more than once.
    pub(super) fn locals(&self) -> Vec<LocalId> {
        self.locals.clone()
    }

    /// Copies the statements of a block.
    pub(super) fn stmts(&mut self, block: BlockId) -> Vec<Stmt> {
        let from = self.from;
        from.blocks[block].stmts.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn block(&mut self, block: BlockId) -> BlockId {
        let stmts = self.stmts(block);
        self.to.blocks.push(gbxcule_ir::stmt::Block { stmts })
    }

    /// Copies a statement.
    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        let mut kind = stmt.kind.clone();
        map_stmt(&mut kind, |value| *value = self.values[value.index()]);
        match &mut kind {
            StmtKind::Let(value) => *value = self.value(*value),
            StmtKind::Store { place, .. } => *place = self.place(*place),
            StmtKind::If { accept, reject, .. } => {
                (*accept, *reject) = (self.block(*accept), self.block(*reject));
            }
            StmtKind::Switch { cases, default, .. } => {
                let copies = cases
                    .iter()
                    .map(|case| Case { labels: case.labels.clone(), body: self.block(case.body) });
                *cases = copies.collect();
                *default = self.block(*default);
            }
            StmtKind::For { index, body, .. } => {
                (*index, *body) = (self.value(*index), self.block(*body));
            }
            StmtKind::While { header, body, .. } => {
                (*header, *body) = (self.block(*header), self.block(*body));
            }
            StmtKind::Print { args, .. } => *args = self.list(*args),
            StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_)
            | StmtKind::Assert { .. }
            | StmtKind::Trap { .. } => {}
        }
        Stmt { kind, span: stmt.span }
    }

    fn list(&mut self, list: List<Value>) -> List<Value> {
        let copies: Vec<Value> =
            self.from.value_lists[list].iter().map(|&value| self.value(value)).collect();
        self.to.value_lists.add(copies)
    }

    fn op(&mut self, mut op: Op) -> Op {
        map_operands(&mut op, |value| *value = self.values[value.index()]);
        match &mut op {
            Op::Construct(args) | Op::Native { args, .. } => *args = self.list(*args),
            Op::Load(place) | Op::AsArray(place) | Op::Atomic { place, .. } => {
                *place = self.place(*place);
            }
            Op::Call { args, .. } => {
                let from = self.from;
                let copies: Vec<Arg> = from.arg_lists[*args]
                    .iter()
                    .map(|&arg| match arg {
                        Arg::Value(value) => Arg::Value(self.value(value)),
                        Arg::Place(place) => Arg::Place(self.place(place)),
                    })
                    .collect();
                *args = self.to.arg_lists.add(copies);
            }
            Op::View { selectors, .. } => {
                let copies: Vec<Selector> = self.from.selector_lists[*selectors]
                    .iter()
                    .map(|selector| selector.map(|value| self.value(value)))
                    .collect();
                *selectors = self.to.selector_lists.add(copies);
            }
            _ => {}
        }
        op
    }

    /// Returns the copy of a place. In a parameter, the copy begins at the place that stands for
    /// the parameter.
    fn place(&mut self, place: PlaceId) -> PlaceId {
        let Place { root, path, ty } = self.from.places[place];
        let (root, mut steps) = match root {
            Root::Local(local) => (Root::Local(self.locals[Handle::index(local)]), Vec::new()),
            Root::Table(_) => (root, Vec::new()),
            Root::Array(value) => (Root::Array(self.value(value)), Vec::new()),
            Root::Param(position) => {
                let arg_place = self.parameters.places[position as usize];
                (self.to.places[arg_place].root, self.to.path(arg_place).to_vec())
            }
        };
        let from = self.from;
        for &step in &from.paths[path] {
            steps.push(match step {
                Projection::At(index) => Projection::At(self.value(index)),
                Projection::Element(indices) => Projection::Element(self.list(indices)),
                step => step,
            });
        }
        let path = self.to.paths.add(steps);
        self.to.places.push(Place { root, path, ty })
    }
}
