//! Widening: a function's variables of a struct of scalars become one variable for each field, and
//! those of 8 and 16 bits are kept in 32. A GPU's registers have 32 bits: what is narrower is
//! merged into one at every move, and moves of loops that choose among many ways are most of what
//! they do (`docs/gpu-results.md`).

use gbxcule_ir::arena::Handle;
use gbxcule_ir::function::{Body, FunctionId, Local, LocalId};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Op, Value, ValueData};
use gbxcule_ir::place::{Place, PlaceId, Projection, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::{Scalar, Shape, Type, Types};
use gbxcule_ir::walk::{Step, Use, stmt_uses, walk};

/// Splits and widens a function's variables of structs. One that a call or an atomic takes by
/// reference stays whole.
pub fn run(module: &mut Module, function: FunctionId) {
    let mut body = std::mem::take(&mut module.functions[function].body);
    let split: Vec<SplitStruct> = candidates(&module.types, &body)
        .into_iter()
        .map(|(local, fields)| SplitStruct::new(&mut body, local, &fields))
        .collect();
    let mut blocks = Vec::new();
    walk(&body, body.root, |step| {
        if let Step::Enter(block) = step {
            blocks.push(block);
        }
    });
    let mut widener = Widener { body: &mut body, split };
    blocks.into_iter().for_each(|block| widener.block(block));
    module.functions[function].body = body;
}

/// A variable that was one struct.
struct SplitStruct {
    local: LocalId,
    /// Of each field its type, and the place that is its own now.
    fields: Vec<(Scalar, PlaceId)>,
}

/// Type of the variable that holds a scalar.
fn wide(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::U8 | Scalar::U16 => Scalar::U32,
        other => other,
    }
}

impl SplitStruct {
    fn new(body: &mut Body, local: LocalId, fields: &[(String, Scalar)]) -> Self {
        let owner = body.locals[local].clone();
        let mut place = |(name, scalar): &(String, Scalar)| {
            let (name, ty) = (format!("{}_{name}", owner.name), Type::scalar(wide(*scalar)));
            let local = body.locals.push(Local { name, ty, ..owner.clone() });
            let path = body.paths.add([]);
            (*scalar, body.places.push(Place { root: Root::Local(local), path, ty }))
        };
        let fields = fields.iter().map(&mut place).collect();
        Self { local, fields }
    }
}

/// Variables of structs of scalars which are only loaded and stored, whole or by field; with their
/// fields.
fn candidates(types: &Types, body: &Body) -> Vec<(LocalId, Vec<(String, Scalar)>)> {
    let mut kept_whole = vec![false; body.locals.len()];
    let mut keep = |place: PlaceId| {
        if let Root::Local(local) = body.places[place].root {
            kept_whole[Handle::index(local)] = true;
        }
    };
    walk(body, body.root, |step| {
        let Step::Stmt(stmt) = step else { return };
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
    let whole = body.locals.iter().filter(|(local, _)| !kept_whole[Handle::index(*local)]);
    whole.filter_map(|(local, data)| Some((local, scalars(types, data.ty)?))).collect()
}

/// The fields of a struct that has only scalars.
fn scalars(types: &Types, ty: Type) -> Option<Vec<(String, Scalar)>> {
    let Shape::Struct(id) = types[ty] else { return None };
    let fields = types.structure(id).fields.iter();
    fields.map(|field| Some((field.name.clone(), field.ty.as_scalar()?))).collect()
}

struct Widener<'a> {
    body: &'a mut Body,
    split: Vec<SplitStruct>,
}

impl Widener<'_> {
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
                    Some(fields) => self.store(place, value, &fields, stmt.span, &mut out),
                    None => out.push(stmt),
                },
                _ => out.push(stmt),
            }
        }
        self.body.blocks[block].stmts = out;
    }

    /// The fields that a place covers, if its variable was split.
    fn fields(&self, place: PlaceId) -> Option<Vec<(Scalar, PlaceId)>> {
        let Root::Local(local) = self.body.places[place].root else { return None };
        let split = self.split.iter().find(|split| split.local == local)?;
        Some(match self.body.path(place) {
            [Projection::Field(field)] => vec![split.fields[*field as usize]],
            _ => split.fields.clone(),
        })
    }

    /// Makes a load that of the variables; its `Let` follows.
    fn load(&mut self, value: Value, place: PlaceId, span: Span, out: &mut Vec<Stmt>) {
        let Some(fields) = self.fields(place) else { return };
        let is_whole = self.body.path(place).is_empty();
        let mut parts = Vec::new();
        for (scalar, place) in fields {
            let held = wide(scalar);
            if !is_whole && held == scalar {
                self.body.values[value].op = Op::Load(place);
                return;
            }
            let part = self.define(Op::Load(place), held, span, out);
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
        place: PlaceId,
        value: Value,
        fields: &[(Scalar, PlaceId)],
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        let is_whole = self.body.path(place).is_empty();
        for (index, &(scalar, place)) in (0..).zip(fields) {
            let mut part = value;
            if is_whole {
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
