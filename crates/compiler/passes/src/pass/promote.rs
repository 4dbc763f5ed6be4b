//! Promotion: if a function gets a struct by reference, fields of the struct are kept in
//! variables while the function loops.
//!
//! A variable whose address is never taken is a register. A field behind a reference is memory,
//! which is read again after each store that might have changed it. Before a call that takes the
//! struct the variables are written back, and after the call they are read again. A small array
//! becomes one variable for each element if every index is known to be inside.

use super::writer::whole;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{Body, FunctionId, Local, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, CompareOp, Op, Value, ValueData};
use gbxcule_ir::place::{Place, PlaceId, Projection, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::{Scalar, Shape, Type};
use gbxcule_ir::walk::{Step, Use, stmt_uses, walk, walk_stmts};

mod bound;

/// Greatest number of elements of an array that becomes variables.
const MAX_ELEMENTS: u32 = 4;

/// Fields to promote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldSelection {
    /// Fields that loops use: promotion gains nothing for others.
    InLoops,
    /// Every field that can be kept in variables.
    All,
}

/// Last elements of a small array, which always hold one number by the caller's guarantee.
#[derive(Clone, Copy, Debug)]
pub struct KnownElements {
    /// Field of the struct that is the array.
    pub field: u32,
    /// Position of the first of these elements.
    pub from: usize,
    /// Number that these elements hold.
    pub value: Literal,
}

/// Promotes fields of the struct that a function takes as a parameter. Callees whose accesses
/// should use the variables must have been inlined before.
pub fn run(
    module: &mut Module,
    function: FunctionId,
    param: usize,
    which: FieldSelection,
    known_elements: &[KnownElements],
) {
    let structure = module.functions[function].params[param].ty;
    let written = written_fields(module, structure);
    let mut body = std::mem::take(&mut module.functions[function].body);
    let mut fields = candidates(module, &body, structure, param, &written);
    fields.retain(|field| which == FieldSelection::All || field.repeats);
    for field in &mut fields {
        field.known = known_elements.iter().find(|known| field.path == [known.field]).copied();
    }
    let mut promoter = Promoter { module, body: &mut body, param: param as u32, fields };
    promoter.split_references();
    promoter.redirect();
    promoter.block(promoter.body.root);
    let root = promoter.body.root;
    let mut first = Vec::new();
    promoter.reload(|_| true, Span::NONE, &mut first);
    let stmts = std::mem::take(&mut body.blocks[root].stmts);
    first.extend(stmts);
    body.blocks[root].stmts = first;
    module.functions[function].body = body;
}

/// A field that is kept in variables.
struct PromotedField {
    /// Path to the field: fields of structs.
    path: Vec<u32>,
    ty: Type,
    /// One variable for the field, or one for each element.
    locals: Vec<PlaceId>,
    /// Place of the field in the struct.
    home: Option<PlaceId>,
    /// True if this function writes the field.
    changes: bool,
    /// True if some function of the module writes the field.
    varies: bool,
    /// True if a loop uses the field.
    repeats: bool,
    /// Known last elements.
    known: Option<KnownElements>,
}

/// Returns the fields at the beginning of a path.
fn fields(path: &[Projection]) -> Vec<u32> {
    let fields = path.iter().map_while(|step| match *step {
        Projection::Field(field) => Some(field),
        _ => None,
    });
    fields.collect()
}

fn overlap(one: &[u32], other: &[u32]) -> bool {
    one.iter().zip(other).all(|(a, b)| a == b)
}

/// Collects the paths in a struct that some function of the module writes. If a function takes the
/// whole struct, its own stores count; stores to a local of that type do not.
fn written_fields(module: &Module, structure: Type) -> Vec<Vec<u32>> {
    let mut paths = Vec::new();
    for (_, function) in module.functions.iter() {
        let body = &function.body;
        walk_stmts(body, body.root, |stmt| {
            let callee = match stmt.kind {
                StmtKind::Let(value) => match body.values[value].op {
                    Op::Call { function, .. } => Some(&module.functions[function]),
                    _ => None,
                },
                _ => None,
            };
            let writes = |position: usize| {
                callee.is_some_and(|callee| {
                    let param = &callee.params[position];
                    param.mode == PassMode::Mutable && param.ty != structure
                })
            };
            stmt_uses(body, &stmt.kind, writes, |used| {
                let (Use::Write(place) | Use::Change(place)) = used else { return };
                let Place { root, .. } = body.places[place];
                let mut ty = match root {
                    Root::Param(position) => function.params[position as usize].ty,
                    Root::Local(local) => body.locals[local].ty,
                    Root::Table(table) => module.tables[table].ty,
                    Root::Array(value) => body.type_of(value),
                };
                let path = body.path(place);
                if matches!(root, Root::Local(_)) && path.is_empty() {
                    return;
                }
                let mut inside = (ty == structure).then_some(0);
                for (position, step) in path.iter().enumerate() {
                    ty = match (*step, &module.types[ty]) {
                        (Projection::Field(field), &Shape::Struct(id)) => {
                            module.types.structure(id).fields[field as usize].ty
                        }
                        (Projection::At(_), &Shape::Fixed { of, .. }) => of,
                        (Projection::Element(_), &Shape::Array { of, .. }) => {
                            inside = None;
                            of
                        }
                        _ => break,
                    };
                    if ty == structure {
                        inside = Some(position + 1);
                    }
                }
                if let Some(begin) = inside {
                    paths.push(fields(&path[begin..]));
                }
            });
        });
    }
    paths
}

/// Returns the fields to promote.
fn candidates(
    module: &Module,
    body: &Body,
    structure: Type,
    param: usize,
    written: &[Vec<u32>],
) -> Vec<PromotedField> {
    let mut candidates =
        Candidates { module, body, structure, written, fields: Vec::new(), refused: Vec::new() };
    let mut loops: Vec<BlockId> = Vec::new();
    let mut depth = 0;
    walk(body, body.root, |step| match step {
        Step::Enter(block) => depth += usize::from(loops.contains(&block)),
        Step::Leave(block) => depth -= usize::from(loops.contains(&block)),
        Step::Stmt(stmt) => {
            match stmt.kind {
                StmtKind::For { body, .. } => loops.push(body),
                StmtKind::While { header, body, .. } => loops.extend([header, body]),
                _ => {}
            }
            let is_call = matches!(stmt.kind, StmtKind::Let(value)
                if matches!(body.values[value].op, Op::Call { .. }));
            stmt_uses(
                body,
                &stmt.kind,
                |_| false,
                |used| {
                    let (Use::Read(place) | Use::Write(place) | Use::Expose(place)) = used else {
                        return;
                    };
                    if body.places[place].root == Root::Param(param as u32) && !is_call {
                        candidates.note(used, place, depth > 0);
                    }
                },
            );
        }
    });
    let Candidates { mut fields, refused, .. } = candidates;
    fields.retain(|field| !refused.iter().any(|path| overlap(path, &field.path)));
    fields
}

/// Fields of a parameter that a body uses, collected in the order of their first use.
struct Candidates<'a> {
    module: &'a Module,
    body: &'a Body,
    /// Type of the parameter.
    structure: Type,
    /// Paths that functions of the module write.
    written: &'a [Vec<u32>],
    fields: Vec<PromotedField>,
    /// Paths with a use that variables can't replace.
    refused: Vec<Vec<u32>>,
}

impl Candidates<'_> {
    /// Records one use of a place; `repeats` is true in a loop.
    fn note(&mut self, used: Use, place: PlaceId, repeats: bool) {
        let full_path = self.body.path(place);
        let path = fields(full_path);
        let Some(ty) = field_type(self.module, self.structure, &path) else { return };
        let changes = matches!(used, Use::Write(_)) && full_path.len() == path.len();
        let fits = match self.module.types[ty] {
            Shape::Scalar(_) | Shape::Array { .. } => !matches!(used, Use::Expose(_)),
            Shape::Fixed { of, len } => {
                of.as_scalar().is_some()
                    && len <= MAX_ELEMENTS
                    && matches!(used, Use::Read(_))
                    && matches!(&full_path[path.len()..], [Projection::At(index)]
                        if bound::upper_bound(self.body, *index).is_some_and(|most| most < u128::from(len)))
            }
            _ => return,
        };
        if !fits {
            self.refused.push(path);
        } else if let Some(field) = self.fields.iter_mut().find(|field| field.path == path) {
            field.changes |= changes;
            field.repeats |= repeats;
        } else {
            let varies = self.written.iter().any(|other| overlap(other, &path));
            let (locals, home) = (Vec::new(), None);
            self.fields.push(PromotedField {
                path,
                ty,
                locals,
                home,
                changes,
                varies,
                repeats,
                known: None,
            });
        }
    }
}

fn field_type(module: &Module, structure: Type, path: &[u32]) -> Option<Type> {
    path.iter().try_fold(structure, |ty, &field| match module.types[ty] {
        Shape::Struct(id) => {
            module.types.structure(id).fields.get(field as usize).map(|field| field.ty)
        }
        _ => None,
    })
}

struct Promoter<'a> {
    module: &'a mut Module,
    body: &'a mut Body,
    param: u32,
    fields: Vec<PromotedField>,
}

impl Promoter<'_> {
    /// Gives each reference that a call takes its own place, which stays in the struct.
    fn split_references(&mut self) {
        for value in self.body.values.handles().collect::<Vec<_>>() {
            let Op::Call { function, args } = self.body.values[value].op else { continue };
            let mut args: Vec<Arg> = self.body.arg_lists[args].to_vec();
            for arg in &mut args {
                if let Arg::Place(place) = arg {
                    let copy = self.body.places[*place];
                    *place = self.body.places.push(copy);
                }
            }
            let args = self.body.arg_lists.add(args);
            self.body.values[value].op = Op::Call { function, args };
        }
    }

    /// Makes the variables, and redirects loads and stores to them.
    fn redirect(&mut self) {
        let referred = self.referred();
        for field in &mut self.fields {
            let (of, count) = match self.module.types[field.ty] {
                Shape::Fixed { of, len } => (of, Some(len)),
                _ => (field.ty, None),
            };
            let count = count.unwrap_or(1) as usize;
            for _ in 0..field.known.map_or(count, |known| known.from.min(count)) {
                let local = Local { name: "kept".into(), ty: of, scratch: false, span: Span::NONE };
                let local = self.body.locals.push(local);
                field.locals.push(whole(self.body, Root::Local(local), of));
            }
            let steps = field.path.iter().map(|&field| Projection::Field(field));
            let path = self.body.paths.add(steps);
            let home = Place { root: Root::Param(self.param), path, ty: field.ty };
            field.home = Some(self.body.places.push(home));
        }
        let homes: Vec<PlaceId> = self.fields.iter().filter_map(|field| field.home).collect();
        for place in self.body.places.handles().collect::<Vec<_>>() {
            let data = self.body.places[place];
            if data.root != Root::Param(self.param)
                || referred.contains(&place)
                || homes.contains(&place)
            {
                continue;
            }
            let path = self.body.path(place).to_vec();
            let way = fields(&path);
            let field =
                self.fields.iter().find(|field| field.path == way && field.locals.len() == 1);
            if let Some(field) = field
                && !matches!(self.module.types[field.ty], Shape::Fixed { .. })
            {
                self.body.places[place].root = self.body.places[field.locals[0]].root;
                self.body.places[place].path =
                    self.body.paths.add(path[way.len()..].iter().copied());
            }
        }
    }

    /// Returns the places that calls take by reference.
    fn referred(&self) -> Vec<PlaceId> {
        let mut places = Vec::new();
        for (_, data) in self.body.values.iter() {
            if let Op::Call { args, .. } = data.op {
                places.extend(self.body.arg_lists[args].iter().filter_map(|arg| match *arg {
                    Arg::Place(place) => Some(place),
                    Arg::Value(_) => None,
                }));
            }
        }
        places
    }

    /// Rewrites the statements of a block and those inside it. Blocks nest at most
    /// `check::MAX_NESTING` deep.
    fn block(&mut self, root: BlockId) {
        let mut blocks = Vec::new();
        walk(self.body, root, |step| {
            if let Step::Enter(block) = step {
                blocks.push(block);
            }
        });
        for block in blocks {
            let stmts = std::mem::take(&mut self.body.blocks[block].stmts);
            let mut out = Vec::with_capacity(stmts.len());
            let mut ended = false;
            for stmt in stmts {
                ended = stmt.kind.is_terminator();
                self.stmt(stmt, &mut out);
            }
            if block == root && !ended {
                self.write_back(|_| true, Span::NONE, &mut out);
            }
            self.body.blocks[block].stmts = out;
        }
    }

    fn stmt(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        match stmt.kind {
            StmtKind::Return(_) => self.write_back(|_| true, span, out),
            StmtKind::Store { place, .. } => {
                if let Some(way) = self.way(place) {
                    self.write_back(|kept| overlap(&kept.path, &way), span, out);
                    out.push(stmt);
                    self.reload(|kept| overlap(&kept.path, &way), span, out);
                    return;
                }
            }
            StmtKind::Let(value) => match self.body.values[value].op {
                Op::Call { function, args } => {
                    let args = self.body.arg_lists[args].to_vec();
                    let (mut reads, mut writes) = (Vec::new(), Vec::new());
                    for (arg, param) in args.iter().zip(&self.module.functions[function].params) {
                        if let Arg::Place(place) = *arg
                            && let Some(way) = self.way(place)
                        {
                            if param.mode == PassMode::Mutable {
                                writes.push(way.clone());
                            }
                            reads.push(way);
                        }
                    }
                    let any = |ways: &[Vec<u32>], field: &PromotedField| {
                        ways.iter().any(|way| overlap(way, &field.path))
                    };
                    self.write_back(|field| any(&reads, field), span, out);
                    out.push(stmt);
                    self.reload(|field| field.varies && any(&writes, field), span, out);
                    return;
                }
                Op::Load(place) => {
                    if let Some(way) = self.way(place) {
                        if self.select(value, place, &way, span, out) {
                            out.push(stmt);
                            return;
                        }
                        self.write_back(|field| overlap(&field.path, &way), span, out);
                    }
                }
                Op::AsArray(place) => {
                    if let Some(way) = self.way(place) {
                        self.write_back(|field| overlap(&field.path, &way), span, out);
                    }
                }
                _ => {}
            },
            _ => {}
        }
        out.push(stmt);
    }

    /// Returns the fields on the path of a place that is still in the struct.
    fn way(&self, place: PlaceId) -> Option<Vec<u32>> {
        let root = self.body.places[place].root;
        (root == Root::Param(self.param)).then(|| fields(self.body.path(place)))
    }

    /// Selects an element of a small array among the variables.
    fn select(
        &mut self,
        value: Value,
        place: PlaceId,
        way: &[u32],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> bool {
        let Some(promoted) = self.fields.iter().find(|promoted| promoted.path == way) else {
            return false;
        };
        let [.., Projection::At(index)] = *self.body.path(place) else { return false };
        let (locals, known) = (promoted.locals.clone(), promoted.known);
        let of = self.body.type_of(index);
        let Some(scalar) = of.as_scalar() else { return false };
        let ty = self.body.type_of(value);
        let mut loads: Vec<Value> =
            locals.iter().map(|&local| self.define(Op::Load(local), ty, span, out)).collect();
        loads.extend(known.map(|known| self.define(Op::Literal(known.value), ty, span, out)));
        let (last, rest) = match loads.split_last() {
            Some((last, rest)) => (*last, rest),
            None => return false,
        };
        let mut selected = last;
        for (position, &load) in rest.iter().enumerate().rev() {
            let literal = Op::Literal(Literal::int(scalar, position as i128));
            let position = self.define(literal, of, span, out);
            let condition =
                self.define(Op::Compare(CompareOp::Equal, index, position), Type::BOOL, span, out);
            let op = Op::Select { condition, accept: load, reject: selected };
            selected = self.define(op, ty, span, out);
        }
        // The load itself becomes the outermost choice.
        self.body.values[value].op = match self.body.values[selected].op {
            op @ Op::Select { .. } => {
                out.pop();
                op
            }
            op => op,
        };
        true
    }

    fn define(&mut self, op: Op, ty: Type, span: Span, out: &mut Vec<Stmt>) -> Value {
        let value = self.body.values.push(ValueData { op, ty, name: None, span });
        out.push(Stmt { kind: StmtKind::Let(value), span });
        value
    }

    /// Writes changed variables back into the struct.
    fn write_back(
        &mut self,
        which: impl Fn(&PromotedField) -> bool,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        self.move_all(|kept| kept.changes && which(kept), true, span, out);
    }

    /// Reads variables from the struct.
    fn reload(&mut self, which: impl Fn(&PromotedField) -> bool, span: Span, out: &mut Vec<Stmt>) {
        self.move_all(which, false, span, out);
    }

    fn move_all(
        &mut self,
        which: impl Fn(&PromotedField) -> bool,
        home: bool,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let mut moves = Vec::new();
        for promoted in self.fields.iter().filter(|promoted| which(promoted)) {
            let Some(field) = promoted.home else { continue };
            let is_array = matches!(self.module.types[promoted.ty], Shape::Fixed { .. });
            for (element, &local) in promoted.locals.iter().enumerate() {
                moves.push((local, field, is_array.then_some(element)));
            }
        }
        for (local, field, element) in moves {
            let place = match element {
                Some(element) => {
                    self.element(field, element, self.body.places[local].ty, span, out)
                }
                None => field,
            };
            let (from, to) = if home { (local, place) } else { (place, local) };
            let ty = self.body.places[from].ty;
            let value = self.define(Op::Load(from), ty, span, out);
            out.push(Stmt { kind: StmtKind::Store { place: to, value }, span });
        }
    }

    fn element(
        &mut self,
        field: PlaceId,
        element: usize,
        ty: Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> PlaceId {
        let index = Op::Literal(Literal::int(Scalar::I32, element as i128));
        let index = self.define(index, Type::I32, span, out);
        let steps = self.body.path(field).to_vec().into_iter().chain([Projection::At(index)]);
        let path = self.body.paths.add(steps);
        self.body.places.push(Place { root: Root::Param(self.param), path, ty })
    }
}
