//! Detaching: fixed arrays inside a struct move out, and the struct keeps handles to them.
//!
//! The code that launches the program then chooses the addresses and strides of the arrays, and a
//! variable of the struct is small. References to a detached array become handles passed by
//! value. Copies of the struct share the detached arrays: use this only for programs that never
//! write an array through a copy and expect the original to stay unchanged.

use super::retype;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::{Body, FunctionId, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, Op, Value, ValueData};
use gbxcule_ir::place::{Place, PlaceId, Projection, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::{Shape, Type};
use std::collections::HashSet;

/// Detaches fields of a struct in a module that keeps to the rules of `check`; returns the struct's
/// new type.
pub fn fields(module: &mut Module, structure: Type, fields: &[u32]) -> Result<Type, Diagnostic> {
    let types = retype::map(&mut module.types, structure, |types, definition| {
        fields.iter().try_for_each(|&field| {
            let field = &mut definition.fields[field as usize];
            let Shape::Fixed { of, .. } = types[field.ty] else {
                return Err(refused(
                    field.span,
                    &format!("`{}` is not an array in place", field.name),
                ));
            };
            field.ty = types.array(of, 1);
            Ok(())
        })
    })?;
    let mut detacher = Detacher { structure, fields, types: &types, handles: HashSet::new() };
    detacher.find_handles(module);
    for id in module.functions.handles() {
        let old: Vec<Type> = module.functions[id].params.iter().map(|param| param.ty).collect();
        detacher.signature(module, id);
        let mut body = std::mem::take(&mut module.functions[id].body);
        let done = detacher.body(module, id, &mut body, &old);
        module.functions[id].body = body;
        done?;
    }
    Ok(types[structure.index()])
}

fn refused(span: Span, why: &str) -> Diagnostic {
    Diagnostic::error(Code::Detach, span, format!("can't be detached: {why}"))
}

struct Detacher<'a> {
    structure: Type,
    fields: &'a [u32],
    types: &'a [Type],
    /// Parameters that were references to detached arrays, by function and position.
    handles: HashSet<(FunctionId, usize)>,
}

/// Position on a place's path at which a detached array begins, if one does.
#[derive(Clone, Copy, PartialEq)]
enum ArrayStart {
    Nothing,
    /// The array begins after this many projections, and more projections follow.
    Element(usize),
    /// The array begins at the end of the path.
    Whole,
}

impl Detacher<'_> {
    /// Parameters to which some call passes a detached array.
    fn find_handles(&mut self, module: &Module) {
        loop {
            let before = self.handles.len();
            for (id, function) in module.functions.iter() {
                let params: Vec<Type> = function.params.iter().map(|param| param.ty).collect();
                let body = &function.body;
                for (_, data) in body.values.iter() {
                    let Op::Call { function: callee, args } = data.op else { continue };
                    for (position, arg) in body.arg_lists[args].iter().enumerate() {
                        if let Arg::Place(place) = *arg
                            && self.array_start(module, id, body, &params, place)
                                == ArrayStart::Whole
                        {
                            self.handles.insert((callee, position));
                        }
                    }
                }
            }
            if self.handles.len() == before {
                return;
            }
        }
    }

    /// Looks for a detached array on a path, by the types before the pass.
    fn array_start(
        &self,
        module: &Module,
        id: FunctionId,
        body: &Body,
        params: &[Type],
        place: PlaceId,
    ) -> ArrayStart {
        let Place { root, .. } = body.places[place];
        let path = body.path(place);
        let start = |steps: usize| {
            if steps == path.len() { ArrayStart::Whole } else { ArrayStart::Element(steps) }
        };
        let mut ty = match root {
            Root::Param(position) if self.handles.contains(&(id, position as usize)) => {
                return start(0);
            }
            Root::Param(position) => params[position as usize],
            Root::Local(local) => body.locals[local].ty,
            Root::Table(table) => module.tables[table].ty,
            Root::Array(value) => body.type_of(value),
        };
        for (step, projection) in path.iter().enumerate() {
            ty = match (*projection, &module.types[ty]) {
                (Projection::Field(field), &Shape::Struct(structure)) => {
                    if ty == self.structure && self.fields.contains(&field) {
                        return start(step + 1);
                    }
                    module.types.structure(structure).fields[field as usize].ty
                }
                (Projection::At(_), &Shape::Fixed { of, .. })
                | (Projection::Element(_), &Shape::Array { of, .. }) => of,
                // Vectors and the like hold no structs.
                _ => return ArrayStart::Nothing,
            };
        }
        ArrayStart::Nothing
    }

    fn signature(&self, module: &mut Module, id: FunctionId) {
        let Module { functions, types, .. } = module;
        let function = &mut functions[id];
        retype::signature(function, self.types);
        for (position, param) in function.params.iter_mut().enumerate() {
            if self.handles.contains(&(id, position))
                && let Shape::Fixed { of, .. } = types[param.ty]
            {
                param.ty = types.array(of, 1);
                param.mode = PassMode::Value;
            }
        }
    }

    fn body(
        &self,
        module: &mut Module,
        id: FunctionId,
        body: &mut Body,
        params: &[Type],
    ) -> Result<(), Diagnostic> {
        let places: Vec<PlaceId> = body.places.handles().collect();
        let starts: Vec<ArrayStart> =
            places.iter().map(|&place| self.array_start(module, id, body, params, place)).collect();
        retype::body(body, self.types);
        for (&place, &start) in places.iter().zip(&starts) {
            match start {
                ArrayStart::Nothing => {}
                ArrayStart::Element(steps) => element(body, place, steps),
                ArrayStart::Whole => {
                    if let Shape::Fixed { of, .. } = module.types[body.places[place].ty] {
                        body.places[place].ty = module.types.array(of, 1);
                    }
                }
            }
        }
        let blocks: Vec<BlockId> = body.blocks.handles().collect();
        for block in blocks {
            let stmts = std::mem::take(&mut body.blocks[block].stmts);
            let mut out = Vec::with_capacity(stmts.len());
            for stmt in stmts {
                self.stmt(module, body, &starts, &stmt, &mut out)?;
                out.push(stmt);
            }
            body.blocks[block].stmts = out;
        }
        Ok(())
    }

    /// Changes the operation of a statement, and adds the statements that must come before it.
    fn stmt(
        &self,
        module: &mut Module,
        body: &mut Body,
        starts: &[ArrayStart],
        stmt: &Stmt,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        let is_whole = |place: PlaceId| {
            starts.get(place.index()).is_some_and(|&start| start == ArrayStart::Whole)
        };
        let refuse = |why: &str| Err(refused(stmt.span, why));
        match stmt.kind {
            StmtKind::Store { place, .. } if is_whole(place) => {
                return refuse("the array is assigned as a whole");
            }
            StmtKind::Let(value) => match body.values[value].op {
                Op::Load(place) if is_whole(place) => {
                    return refuse("the array is copied as a whole");
                }
                Op::AsArray(place) if is_whole(place) => {
                    if body.type_of(value) != body.places[place].ty {
                        return refuse("the array is used with more than one dimension");
                    }
                    body.values[value].op = Op::Load(place);
                }
                Op::Call { function, args } => {
                    let mut args: Vec<Arg> = body.arg_lists[args].to_vec();
                    for (position, arg) in args.iter_mut().enumerate() {
                        if let Arg::Place(place) = *arg
                            && self.handles.contains(&(function, position))
                        {
                            let handle =
                                array_handle(module, body, place, is_whole(place), stmt.span);
                            out.push(Stmt { kind: StmtKind::Let(handle), span: stmt.span });
                            *arg = Arg::Value(handle);
                        }
                    }
                    let args = body.arg_lists.add(args);
                    body.values[value].op = Op::Call { function, args };
                }
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }
}

/// Makes the index after `steps` projections go through a handle.
fn element(body: &mut Body, place: PlaceId, steps: usize) {
    let mut path = body.path(place).to_vec();
    if let Projection::At(index) = path[steps] {
        path[steps] = Projection::Element(body.value_lists.add([index]));
    }
    body.places[place].path = body.paths.add(path);
}

/// Defines the handle that replaces a reference to an array.
fn array_handle(
    module: &mut Module,
    body: &mut Body,
    place: PlaceId,
    is_whole: bool,
    span: Span,
) -> Value {
    let ty = body.places[place].ty;
    let (op, ty) = match module.types[ty] {
        Shape::Fixed { of, .. } if !is_whole => (Op::AsArray(place), module.types.array(of, 1)),
        _ => (Op::Load(place), ty),
    };
    body.values.push(ValueData { op, ty, name: None, span })
}
