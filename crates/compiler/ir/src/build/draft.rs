//! A body that is being written: its variables and its places. Each step into a place makes a new
//! place; the old one stays usable.

use crate::constant::TableId;
use crate::function::{Body, Function, FunctionId, Local, LocalId};
use crate::module::Module;
use crate::op::{Arg, Op, Value, ValueData};
use crate::place::{Place, PlaceId, Projection, Root};
use crate::source::Span;
use crate::ty::{Shape, Type, Types};

/// The body of one declared function.
pub struct Draft<'m> {
    /// The module, with this function's signature but without its body until [`Draft::finish`].
    pub module: &'m mut Module,
    function: FunctionId,
    pub(super) body: Body,
    span: Span,
}

impl<'m> Draft<'m> {
    pub(super) fn new(module: &'m mut Module, function: FunctionId) -> Self {
        let body = std::mem::take(&mut module.functions[function].body);
        Self { module, function, body, span: Span::NONE }
    }

    /// Puts the body into the module.
    pub(super) fn finish(self) -> FunctionId {
        self.module.functions[self.function].body = self.body;
        self.function
    }

    /// The function that is built; its `body` is empty meanwhile.
    pub fn function(&self) -> &Function {
        &self.module.functions[self.function]
    }

    /// Returns the handle of the function.
    pub fn function_id(&self) -> FunctionId {
        self.function
    }

    /// The body so far.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Sets the span of all operations and statements from here on.
    pub fn set_span(&mut self, span: Span) {
        self.span = span;
    }

    /// The span of operations and statements that are added now.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Defines the value of an operation.
    pub(super) fn define(&mut self, op: Op, ty: Type) -> Value {
        self.body.values.push(ValueData { op, ty, name: None, span: self.span })
    }

    /// Names a value as the text does, unless the value has a name.
    pub fn rename(&mut self, value: Value, name: &str) {
        if self.body.values[value].name.is_none() {
            self.body.values[value].name = Some(self.module.intern(name));
        }
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.body.type_of(value)
    }

    /// The shape of a type.
    pub fn shape(&self, ty: Type) -> &Shape {
        &self.module.types[ty]
    }

    /// A type as messages show it.
    pub fn shown(&self, ty: Type) -> String {
        self.module.types.spelled(ty)
    }

    /// The type of an argument.
    pub fn arg_type(&self, arg: Arg) -> Type {
        match arg {
            Arg::Value(value) => self.body.type_of(value),
            Arg::Place(place) => self.place_type(place),
        }
    }

    /// Adds a variable.
    pub fn local(&mut self, name: impl Into<String>, ty: Type) -> LocalId {
        let (name, span) = (name.into(), self.span);
        self.body.locals.push(Local { name, ty, scratch: false, span })
    }

    /// Adds a variable of which every part is written before it is read.
    pub fn scratch(&mut self, name: impl Into<String>, ty: Type) -> LocalId {
        let local = self.local(name, ty);
        self.body.locals[local].scratch = true;
        local
    }

    /// Adds a variable that the source text doesn't name.
    pub fn temporary(&mut self, name: &str, ty: Type) -> PlaceId {
        let local = self.local(name, ty);
        self.local_place(local)
    }

    /// A variable.
    pub fn local_place(&mut self, local: LocalId) -> PlaceId {
        let ty = self.body.locals[local].ty;
        self.root(Root::Local(local), ty)
    }

    /// A parameter by its position.
    pub fn param_place(&mut self, position: u32) -> PlaceId {
        let param = self.function().params.get(position as usize);
        let ty = param.map_or(Type::INVALID, |param| param.ty);
        self.root(Root::Param(position), ty)
    }

    /// A constant table.
    pub fn table_place(&mut self, table: TableId) -> PlaceId {
        let ty = self.module.tables[table].ty;
        self.root(Root::Table(table), ty)
    }

    /// An array handle that is a value; go on with [`Draft::element`].
    pub fn array_place(&mut self, array: Value) -> PlaceId {
        let ty = self.body.type_of(array);
        self.root(Root::Array(array), ty)
    }

    /// A field of a struct; of a transform 0 is the translation, 1 the rotation.
    pub fn field(&mut self, place: PlaceId, field: u32) -> PlaceId {
        self.project(place, Projection::Field(field))
    }

    /// A component by its row-major position.
    pub fn component(&mut self, place: PlaceId, component: u32) -> PlaceId {
        self.project(place, Projection::Component(component))
    }

    /// A component, row or fixed array's element, by an index that is known only at run time.
    pub fn at(&mut self, place: PlaceId, index: Value) -> PlaceId {
        self.project(place, Projection::At(index))
    }

    /// An element of an array: one index for each dimension.
    pub fn element(&mut self, place: PlaceId, indices: &[Value]) -> PlaceId {
        let indices = self.body.value_lists.add(indices.iter().copied());
        self.project(place, Projection::Element(indices))
    }

    /// The type of the value that a place holds.
    pub fn place_type(&self, place: PlaceId) -> Type {
        self.body.places[place].ty
    }

    fn root(&mut self, root: Root, ty: Type) -> PlaceId {
        let path = self.body.paths.add([]);
        self.body.places.push(Place { root, path, ty })
    }

    fn project(&mut self, place: PlaceId, projection: Projection) -> PlaceId {
        let Place { root, path, ty } = self.body.places[place];
        let ty = projected(&mut self.module.types, ty, projection).unwrap_or(Type::INVALID);
        let steps: Vec<Projection> = self.body.paths[path].to_vec();
        let path = self.body.paths.add(steps.into_iter().chain([projection]));
        self.body.places.push(Place { root, path, ty })
    }
}

/// The type of a part, interned if it is new.
fn projected(types: &mut Types, ty: Type, projection: Projection) -> Option<Type> {
    let shape = types[ty].clone();
    Some(match (projection, shape) {
        (Projection::Field(field), Shape::Struct(id)) => {
            types.structure(id).fields.get(field as usize)?.ty
        }
        (Projection::Field(0), Shape::Transform(of)) => types.vector(3, of),
        (Projection::Field(1), Shape::Transform(of)) => types.quaternion(of),
        (Projection::Component(_), Shape::Scalar(_)) => return None,
        (Projection::Component(_), _) => Type::scalar(types.components(ty)?.0),
        (Projection::At(_), Shape::Matrix { cols, of, .. }) => types.vector(cols, of),
        (Projection::At(_), Shape::Fixed { of, .. }) => of,
        (Projection::At(_), Shape::Vector { of, .. })
        | (Projection::At(_), Shape::Quaternion(of) | Shape::Transform(of)) => Type::scalar(of),
        (Projection::Element(_), Shape::Array { of, .. }) => of,
        _ => return None,
    })
}
