//! Tables in which ids are looked up, and loops over queries: see
//! [`gbxcule_warp_types::geometry`].

use super::Expressions;
use super::operand::{Binding, LoweringResult, Operand, fault};
use super::user_function::{PassedArguments, instance};
use super::writer::Writer;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::function::{FunctionId, Param, PassMode};
use gbxcule_ir::op::{Arg, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Shape, Type};
use gbxcule_python_names::syntax::ExprCall;
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::geometry;
use gbxcule_warp_types::signature;
use gbxcule_warp_types::value::{KnownValue, OverloadSet, WarpValue};

impl<'a> Expressions<'_, 'a> {
    /// `wp.table_of(HashGrid)`, in the library: all grids, by id.
    pub(super) fn table_of(
        &mut self,
        call: &'a ExprCall,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let argument = match &call.arguments.args[..] {
            [of] if self.unit.files.library == Some(self.unit.scopes.text(self.scope)) => {
                self.unit.known(of, self.scope)?
            }
            _ => return fault(Code::UnknownBuiltin, span, "`wp.table_of` isn't a builtin"),
        };
        let KnownValue::Dialect(WarpValue::Type(Annotation::Struct(key))) = argument else {
            return fault(Code::WrongArguments, span, "a table is of structs");
        };
        let of = self.b.structure(key)?;
        let (name, _, _) = signature::fields(self.unit, key)?;
        let ty = self.b.module.types.array(of, 1);
        let table = Param::value(geometry::table_of(name).unwrap_or(name), ty);
        Ok(Operand::Value(add_table(&mut self.b, &table)))
    }

    pub(super) fn call_next(
        &mut self,
        next: OverloadSet<'a>,
        query: PlaceId,
        index: PlaceId,
        span: Span,
    ) -> LoweringResult<Value> {
        let defs = signature::overloads(self.unit, next);
        let Some(&(def, _)) = defs.first() else {
            unreachable!("the library has the functions that its table names")
        };
        let Ok(formals) = signature::formals(self.unit, def, next.home) else {
            unreachable!("the library's signatures are right")
        };
        let mut passing = PassedArguments::default();
        let (mut places, mut args) = ([query, index].into_iter(), Vec::new());
        for formal in &formals {
            let (param, arg) = match (places.next(), formal.default) {
                (Some(place), _) => {
                    let param = Param::value(formal.name, self.b.place_type(place));
                    (Param { mode: PassMode::Mutable, ..param }, Arg::Place(place))
                }
                (None, Some(default)) => {
                    let value = self.unit.known(default, next.home)?;
                    let value = self.b.materialize(&value, span)?;
                    (Param::value(formal.name, self.b.ty(value)), Arg::Value(value))
                }
                (None, None) => unreachable!("what follows the index has a default"),
            };
            passing.bindings.push(Binding::Param(passing.params.len() as u32));
            passing.params.push(param);
            args.push(arg);
        }
        let function = instance(&mut self.b, (def, next.home), &formals, passing, span)?;
        let args = with_tables(&mut self.b, function, args);
        self.b.set_span(span);
        Ok(self.b.call(function, &args))
    }
}

/// Adds a table, as a parameter after those of the text.
fn add_table<'a>(b: &mut Writer<'_, 'a>, table: &Param) -> Value {
    let function = b.function_id();
    let params = &mut b.module.functions[function].params;
    let position = params.iter().position(|param| param == table).unwrap_or_else(|| {
        params.push(table.clone());
        params.len() - 1
    });
    b.arg(position as u32)
}

/// Returns the arguments of a call, followed by the tables that the function takes.
pub(super) fn with_tables<'a>(
    b: &mut Writer<'_, 'a>,
    function: FunctionId,
    mut args: Vec<Arg>,
) -> Vec<Arg> {
    let tables = b.module.functions[function].params[args.len()..].to_vec();
    args.extend(tables.iter().map(|table| Arg::Value(add_table(b, table))));
    args
}

/// The function that finds the next index of a query of this type.
pub(super) fn next_of<'a>(b: &Writer<'_, 'a>, query: Type) -> Option<OverloadSet<'a>> {
    let Shape::Struct(id) = *b.shape(query) else { return None };
    let name = geometry::next_of(&b.module.types.structure(id).name)?;
    let root = b.unit().scopes.root(b.unit().files.library?);
    Some(OverloadSet::all(root, name, b.unit().frame_of(root)))
}
