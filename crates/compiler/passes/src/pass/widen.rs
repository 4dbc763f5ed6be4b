//! Widening: a variable that is a struct of scalars becomes one variable for each field, and a
//! variable of 8 or 16 bits becomes a variable of 32. A GPU's registers have 32 bits: each move
//! of a narrower value merges the value into a register, and loops with many branches consist
//! mostly of moves (`docs/gpu-results.md`).

use super::writer::whole;
use gbxcule_ir::arena::Handle;
use gbxcule_ir::function::{Body, FunctionId, Local, LocalId};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Op, Value, ValueData};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::{Scalar, Shape, Type, Types};
use gbxcule_ir::walk::{Step, Use, stmt_uses, substitute, walk, walk_stmts};

/// Splits and widens a function's variables of structs, and widens those of scalars. A variable
/// that a call or an atomic takes by reference stays whole.
pub fn run(module: &mut Module, function: FunctionId) {
    let mut body = std::mem::take(&mut module.functions[function].body);
    let split: Vec<SplitStruct> = candidates(&module.types, &body)
        .into_iter()
        .map(|(local, fields)| SplitStruct::new(&mut body, local, fields.as_deref()))
        .collect();
    let mut blocks = Vec::new();
    walk(&body, body.root, |step| {
        if let Step::Enter(block) = step {
            blocks.push(block);
        }
    });
    let is_wide = vec![false; body.values.len()];
    let mut widener = Widener { body: &mut body, split, is_wide };
    blocks.into_iter().for_each(|block| widener.block(block));
    widener.use_wide();
    module.functions[function].body = body;
}

/// Names and types of a struct's fields.
type Fields = Vec<(String, Scalar)>;

/// Variable that was one struct, or one narrow scalar.
struct SplitStruct {
    local: LocalId,
    is_struct: bool,
    /// Type of each field, and the place of its new variable.
    fields: Vec<(Scalar, PlaceId)>,
}

/// Returns the type of the variable that holds a scalar.
fn wide(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::U8 | Scalar::U16 => Scalar::U32,
        other => other,
    }
}

impl SplitStruct {
    fn new(body: &mut Body, local: LocalId, fields: Option<&[(String, Scalar)]>) -> Self {
        let owner = body.locals[local].clone();
        let mut place = |name: String, scalar: Scalar| {
            let ty = Type::scalar(wide(scalar));
            let local = body.locals.push(Local { name, ty, ..owner.clone() });
            (scalar, whole(body, Root::Local(local), ty))
        };
        let name = &owner.name;
        let (is_struct, fields) = match fields {
            Some(fields) => {
                let fields = fields.iter().map(|(field, of)| place(format!("{name}_{field}"), *of));
                (true, fields.collect())
            }
            None => {
                let of = owner.ty.as_scalar();
                (false, of.map(|of| place(name.clone(), of)).into_iter().collect())
            }
        };
        Self { local, is_struct, fields }
    }
}

/// Returns the variables of narrow scalars, and of structs of scalars together with their fields,
/// that are only loaded and stored, as a whole or by field.
fn candidates(types: &Types, body: &Body) -> Vec<(LocalId, Option<Fields>)> {
    let mut kept_whole = vec![false; body.locals.len()];
    let mut keep = |place: PlaceId| {
        if let Root::Local(local) = body.places[place].root {
            kept_whole[Handle::index(local)] = true;
        }
    };
    walk_stmts(body, body.root, |stmt| {
        let taken = match stmt.kind {
            StmtKind::Let(value) => !matches!(body.values[value].op, Op::Load(_)),
            StmtKind::Store { .. } => false,
            _ => true,
        };
        let is_part = |place: PlaceId| matches!(body.path(place), [] | [Projection::Field(_)]);
        stmt_uses(
            body,
            &stmt.kind,
            |_| true,
            |used| {
                let (Use::Read(place)
                | Use::Write(place)
                | Use::Change(place)
                | Use::Expose(place)) = used
                else {
                    return;
                };
                if taken || !is_part(place) {
                    keep(place);
                }
            },
        );
    });
    let splittable = body.locals.iter().filter(|(local, _)| !kept_whole[Handle::index(*local)]);
    let fields = |ty: Type| match ty.as_scalar() {
        Some(scalar) => (wide(scalar) != scalar).then_some(None),
        None => scalars(types, ty).map(Some),
    };
    splittable.filter_map(|(local, data)| Some((local, fields(data.ty)?))).collect()
}

/// Returns the fields of a struct that has only scalars.
fn scalars(types: &Types, ty: Type) -> Option<Fields> {
    let Shape::Struct(id) = types[ty] else { return None };
    let fields = types.structure(id).fields.iter();
    fields.map(|field| Some((field.name.clone(), field.ty.as_scalar()?))).collect()
}

struct Widener<'a> {
    body: &'a mut Body,
    split: Vec<SplitStruct>,
    /// True for values loaded from variables that are wider than the value.
    is_wide: Vec<bool>,
}

impl Widener<'_> {
    /// Uses the wide variable's value where a value was narrowed only to be widened again.
    fn use_wide(&mut self) {
        let loaded = |body: &Body, value: Value| match body.values[value].op {
            Op::Convert(from) if self.is_wide.get(from.index()) == Some(&true) => Some(from),
            _ => None,
        };
        let mut same: Vec<Value> = self.body.values.handles().collect();
        for value in self.body.values.handles() {
            let Op::Convert(narrow) = self.body.values[value].op else { continue };
            let Some(from) = loaded(self.body, narrow) else { continue };
            let [to, narrow] = [value, narrow].map(|it| self.body.type_of(it).as_scalar());
            let grows = to.zip(narrow).is_some_and(|(to, of)| to.is_int() && to.bits() > of.bits());
            if grows && to == Some(Scalar::U32) {
                same[value.index()] = from;
            } else if grows {
                self.body.values[value].op = Op::Convert(from);
            }
        }
        substitute(self.body, |value| same[value.index()]);
    }

    fn block(&mut self, block: BlockId) {
        let stmts = std::mem::take(&mut self.body.blocks[block].stmts);
        let mut out = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            match stmt.kind {
                StmtKind::Let(value) => {
                    if let Op::Load(place) = self.body.values[value].op {
                        self.load(value, place, stmt.span, &mut out);
                    }
                    out.push(stmt);
                }
                StmtKind::Store { place, value } => match self.fields(place) {
                    Some(fields) => self.store(value, &fields, stmt.span, &mut out),
                    None => out.push(stmt),
                },
                _ => out.push(stmt),
            }
        }
        self.body.blocks[block].stmts = out;
    }

    /// Returns the fields that a place covers, if its variable was split, and whether the place is
    /// a whole struct.
    fn fields(&self, place: PlaceId) -> Option<(bool, Vec<(Scalar, PlaceId)>)> {
        let Root::Local(local) = self.body.places[place].root else { return None };
        let split = self.split.iter().find(|split| split.local == local)?;
        Some(match self.body.path(place) {
            [Projection::Field(field)] => (false, vec![split.fields[*field as usize]]),
            _ => (split.is_struct, split.fields.clone()),
        })
    }

    /// Turns a load into loads of the variables, and leaves its `Let` to the caller.
    fn load(&mut self, value: Value, place: PlaceId, span: Span, out: &mut Vec<Stmt>) {
        let Some((is_whole, fields)) = self.fields(place) else { return };
        let mut parts = Vec::new();
        for (scalar, place) in fields {
            let held = wide(scalar);
            if !is_whole && held == scalar {
                self.body.values[value].op = Op::Load(place);
                return;
            }
            let part = self.define(Op::Load(place), held, span, out);
            self.is_wide.resize(self.body.values.len(), false);
            self.is_wide[part.index()] = held != scalar;
            if !is_whole {
                self.body.values[value].op = Op::Convert(part);
                return;
            }
            parts.push(match held == scalar {
                true => part,
                false => self.define(Op::Convert(part), scalar, span, out),
            });
        }
        let parts = self.body.value_lists.add(parts);
        self.body.values[value].op = Op::Construct(parts);
    }

    fn store(
        &mut self,
        value: Value,
        (is_whole, fields): &(bool, Vec<(Scalar, PlaceId)>),
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        for (index, &(scalar, place)) in (0..).zip(fields) {
            let mut part = value;
            if *is_whole {
                part = self.define(Op::Extract { from: value, index }, scalar, span, out);
            }
            if wide(scalar) != scalar {
                part = self.define(Op::Convert(part), wide(scalar), span, out);
            }
            out.push(Stmt { kind: StmtKind::Store { place, value: part }, span });
        }
    }

    fn define(&mut self, op: Op, scalar: Scalar, span: Span, out: &mut Vec<Stmt>) -> Value {
        let ty = Type::scalar(scalar);
        let value = self.body.values.push(ValueData { op, ty, name: None, span });
        out.push(Stmt { kind: StmtKind::Let(value), span });
        value
    }
}
