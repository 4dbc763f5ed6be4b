//! The body under construction: the builder of `ir`, with the types that the text names.

use super::Session;
use super::operand::{LoweringResult, fault};
use super::struct_type::StructTypes;
use gbxcule_ir::build::Builder;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::{FunctionId, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Op, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use gbxcule_warp_types::annotation::{Annotation, StructKey};
use gbxcule_warp_types::indexed_array;
use gbxcule_warp_types::unit::Unit;
use std::ops::{Deref, DerefMut};

/// Greatest depth of nested blocks: less than [`gbxcule_ir::check::MAX_NESTING`], so that passes
/// may add blocks.
const MAX_BLOCKS: usize = 160;

/// Writes the body of one function. The unit has the facts of the text; the session has the facts
/// that the kernel's functions share.
pub(super) struct Writer<'s, 'a> {
    builder: Builder<'s>,
    unit: &'s Unit<'a>,
    session: &'s mut Session<'a>,
}

impl<'s> Deref for Writer<'s, '_> {
    type Target = Builder<'s>;

    fn deref(&self) -> &Builder<'s> {
        &self.builder
    }
}

impl DerefMut for Writer<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.builder
    }
}

impl<'s, 'a> Writer<'s, 'a> {
    pub(super) fn new(
        unit: &'s Unit<'a>,
        session: &'s mut Session<'a>,
        module: &'s mut Module,
        id: FunctionId,
    ) -> Self {
        Self { builder: Builder::new(module, id), unit, session }
    }

    /// Puts the body into the module.
    pub(super) fn finish(self) {
        self.builder.finish();
    }

    pub(super) fn unit(&self) -> &'s Unit<'a> {
        self.unit
    }

    pub(super) fn session(&mut self) -> &mut Session<'a> {
        self.session
    }

    /// Returns the parts with which another function is lowered while this one is unfinished.
    pub(super) fn nested(&mut self) -> (&'s Unit<'a>, &mut Session<'a>, &mut Module) {
        (self.unit, self.session, self.builder.module)
    }

    pub(super) fn structs(&self) -> &StructTypes {
        &self.session.structs
    }

    /// The type of an annotation that isn't generic.
    pub(super) fn concrete(&mut self, annotation: &Annotation, span: Span) -> LoweringResult<Type> {
        self.session.structs.concrete(self.unit, self.builder.module, annotation, span)
    }

    /// The type of a struct.
    pub(super) fn structure(&mut self, key: StructKey) -> LoweringResult<Type> {
        self.session.structs.structure(self.unit, self.builder.module, key)
    }

    /// Defines the structs an annotation names.
    pub(super) fn define_structs(&mut self, annotation: &Annotation) -> LoweringResult<()> {
        self.session.structs.define_structs(self.unit, self.builder.module, annotation)
    }

    /// Returns true if a parameter of this annotation takes a value of a type.
    pub(super) fn takes(&self, annotation: &Annotation, ty: Type) -> bool {
        annotation.takes(ty, &self.module.types, &|class| self.structs().known(class))
    }

    /// The scalar of a number, vector or matrix.
    pub(super) fn scalar_in(&self, ty: Type) -> Option<Scalar> {
        self.module.types.components(ty).map(|(scalar, _)| scalar)
    }

    /// Elements and dimensions of an indexed array, if a type is one.
    pub(super) fn indexed_element(&self, ty: Type) -> Option<(Type, u8)> {
        indexed_array::element(&self.module.types, ty)
    }

    /// Returns true if writing through a name of this type leaves the name itself as it is.
    pub(super) fn is_handle(&self, ty: Type) -> bool {
        matches!(self.shape(ty), Shape::Array { .. }) || self.indexed_element(ty).is_some()
    }

    /// The lengths of an array in all its dimensions.
    pub(super) fn extents(&mut self, array: Value) -> Vec<Value> {
        let dims = match *self.shape(self.ty(array)) {
            Shape::Array { dims, .. } => dims,
            _ => 0,
        };
        (0..dims).map(|dim| self.extent(array, dim)).collect()
    }

    /// The product of some lengths.
    pub(super) fn product(&mut self, extents: Vec<Value>) -> Value {
        let product = extents.into_iter().reduce(|product, extent| self.mul(product, extent));
        product.unwrap_or_else(|| unreachable!("an array has at least one dimension"))
    }

    /// Returns true if a parameter is the caller's place, to write.
    pub(super) fn is_reference(&self, position: u32) -> bool {
        let param = self.function().params.get(position as usize);
        param.is_some_and(|param| param.mode == PassMode::Mutable)
    }

    /// Returns true if a place is memory of an array.
    pub(super) fn is_behind_element(&self, place: PlaceId) -> bool {
        self.body().path(place).iter().any(|step| matches!(step, Projection::Element(_)))
    }

    pub(super) fn is_writable(&self, place: PlaceId) -> bool {
        self.is_behind_element(place)
            || match self.body().places[place].root {
                Root::Local(_) => true,
                Root::Param(position) => self.is_reference(position),
                Root::Table(_) | Root::Array(_) => false,
            }
    }

    /// Refuses code that would nest deeper than back ends and passes can take.
    pub(super) fn check_nesting(&self, span: Span) -> LoweringResult<()> {
        if self.nesting() < MAX_BLOCKS {
            return Ok(());
        }
        let message =
            format!("blocks nest at most {MAX_BLOCKS} deep, and each `elif` counts as one");
        fault(Code::TooComplex, span, message)
    }

    /// Replaces a whole array of this function by its contents, which can be returned to the
    /// caller.
    pub(super) fn contents(&mut self, value: Value) -> Value {
        match self.body().values[value].op {
            Op::AsArray(place) => self.load(place),
            _ => value,
        }
    }

    /// Refuses to store an array of this function, which ends with its variable.
    pub(super) fn no_local_array(&self, value: Value, span: Span) -> LoweringResult<()> {
        let mut next = value;
        loop {
            next = match self.body().values[next].op {
                Op::AsArray(_) => {
                    let message = "an array made in a function can't be kept or returned";
                    return fault(Code::UnsupportedFixedArray, span, message);
                }
                Op::View { array, .. } | Op::Gradient(array) => array,
                _ => return Ok(()),
            };
        }
    }

    /// Converts a value where NVIDIA Warp does so implicitly: numbers written in the text to
    /// components, and `bool` and integers as C++ does.
    pub(super) fn adapted(&mut self, value: Value, wanted: Type, component: bool) -> Option<Value> {
        if self.ty(value) == wanted {
            return Some(value);
        }
        let (from, to) = (self.ty(value).as_scalar()?, wanted.as_scalar()?);
        let literal = self.body().literal(value).filter(|_| component)?;
        (to.is_float() || !from.is_float()).then(|| {
            let converted = match literal.as_int() {
                Some(value) => Literal::int(to, value),
                None => Literal::float(to, literal.as_f64()),
            };
            self.literal(converted)
        })
    }

    /// Stores a value in a place of its type, or of a type to which it converts implicitly.
    pub(super) fn store_typed(
        &mut self,
        place: PlaceId,
        value: Value,
        span: Span,
        what: &str,
    ) -> LoweringResult<()> {
        let wanted = self.place_type(place);
        let Some(value) = self.adapted(value, wanted, !self.is_behind_element(place)) else {
            let found = self.ty(value);
            let scalars = wanted.as_scalar().is_some() && found.as_scalar().is_some();
            let (wanted, found) = (self.shown(wanted), self.shown(found));
            let message = format!("{what} holds a `{wanted}`, found `{found}`");
            let fault = Diagnostic::error(Code::TypeMismatch, span, message);
            return Err(match scalars {
                true => fault.help(format!("convert it first: `{wanted}(..)`")),
                false => fault,
            }
            .into());
        };
        self.store(place, value);
        Ok(())
    }
}
