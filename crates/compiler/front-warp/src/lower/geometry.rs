//! Tables of what ids stand for, and loops over queries: see [`crate::geometry`].

use super::user_function::PassedArguments;
use super::{Binding, FunctionLowering, LoweringResult, Operand, fault};
use crate::annotation::Annotation;
use crate::constant::KnownValue;
use crate::geometry;
use crate::scope::OverloadSet;
use crate::syntax::{ExprCall, StmtFor};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::function::{FunctionId, Param, PassMode};
use gbxcule_ir::op::{Arg, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// `wp.table_of(HashGrid)`, in the library: all grids, by id.
    pub(super) fn table_of(
        &mut self,
        call: &'a ExprCall,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let known = match &call.arguments.args[..] {
            [of] if self.unit.files.geometry == Some(self.unit.scopes.text(self.scope)) => {
                self.unit.known(of, self.scope)?
            }
            _ => return fault(Code::UnknownBuiltin, span, "`wp.table_of` is no builtin"),
        };
        let KnownValue::Type(Annotation::Struct(key)) = known else {
            return fault(Code::WrongArguments, span, "a table is of structs");
        };
        let of = self.session.structure(self.b.module, key)?;
        let (name, _, _) = self.unit.fields(key)?;
        let ty = self.b.module.types.array(of, 1);
        let table = Param::value(geometry::table_of(name).unwrap_or(name), ty);
        Ok(Operand::Value(self.table(&table)))
    }

    /// Adds a table, as a parameter after those that the text has.
    fn table(&mut self, table: &Param) -> Value {
        let function = self.b.function_id();
        let params = &mut self.b.module.functions[function].params;
        let at = params.iter().position(|param| param == table).unwrap_or_else(|| {
            params.push(table.clone());
            params.len() - 1
        });
        self.b.arg(at as u32)
    }

    /// The arguments of a call with the tables that the function asks for after them.
    pub(super) fn with_tables(&mut self, function: FunctionId, mut args: Vec<Arg>) -> Vec<Arg> {
        let tables = self.b.module.functions[function].params[args.len()..].to_vec();
        args.extend(tables.iter().map(|table| Arg::Value(self.table(table))));
        args
    }

    /// Returns true if a query may take a variable of this type by reference.
    pub(super) fn is_query_result(&self, ty: Type) -> bool {
        let Some(geometry) = self.unit.files.geometry else { return false };
        match *self.shape(ty) {
            Shape::Struct(id) => {
                geometry::next_of(&self.b.module.types.structure(id).name).is_some()
            }
            // In the library queries alone are.
            Shape::Scalar(Scalar::I32 | Scalar::F32)
            | Shape::Vector { len: 3, of: Scalar::F32 } => {
                self.unit.scopes.text(self.scope) != geometry
            }
            _ => false,
        }
    }

    /// The function that finds the next index of a query of this type.
    pub(super) fn next_of(&mut self, query: Type) -> Option<OverloadSet<'a>> {
        let Shape::Struct(id) = *self.shape(query) else { return None };
        let name = geometry::next_of(&self.b.module.types.structure(id).name)?;
        let root = self.unit.scopes.root(self.unit.files.geometry?);
        Some(OverloadSet::all(root, name, self.unit.frame_of(root)))
    }

    /// `for index in query`
    pub(super) fn for_query(
        &mut self,
        each: &'a StmtFor,
        target: &'a str,
        query: Value,
        next: OverloadSet<'a>,
    ) -> LoweringResult<()> {
        let span = self.unit.span(each);
        self.check_nesting(span)?;
        let before = self.enter_loop(&each.body, span)?;
        let state = self.temporary("query", self.ty(query));
        self.b.store(state, query);
        let index = self.local(target, Type::I32);
        let place = self.b.local_place(index);
        let zero = self.b.i32(0);
        self.b.store(place, zero);
        self.b.open_block();
        let found = self.call_next(next, state, place, span);
        let header = self.b.close_block();
        self.names.insert(target, Binding::Local(index));
        self.b.open_block();
        self.in_loop += 1;
        self.suite(&each.body);
        self.in_loop -= 1;
        let body = self.b.close_block();
        self.b.while_blocks(header, found?, body);
        self.leave_loop(&before, Some(target), &each.body);
        self.leave_block(body);
        Ok(())
    }

    fn call_next(
        &mut self,
        next: OverloadSet<'a>,
        query: PlaceId,
        index: PlaceId,
        span: Span,
    ) -> LoweringResult<Value> {
        let defs = self.unit.overloads(next);
        let Some(&(def, _)) = defs.first() else {
            unreachable!("the library has the functions that its table names")
        };
        let Ok(formals) = self.unit.formals(def, next.home) else {
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
                    let value = self.materialize(&value, span)?;
                    (Param::value(formal.name, self.ty(value)), Arg::Value(value))
                }
                (None, None) => unreachable!("what follows the index has a default"),
            };
            passing.bindings.push(Binding::Param(passing.params.len() as u32));
            passing.params.push(param);
            args.push(arg);
        }
        let function = self.instance(def, next.home, &formals, passing, span)?;
        let args = self.with_tables(function, args);
        self.b.set_span(span);
        Ok(self.b.call(function, &args))
    }
}
