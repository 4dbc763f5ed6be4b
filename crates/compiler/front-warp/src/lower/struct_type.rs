//! Types of annotations, and the structs that are defined for classes of the text.

use super::operand::{LoweringError, fault};
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::module::Module;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Field, Shape, Type};
use gbxcule_warp_types::annotation::{Annotation, StructKey};
use gbxcule_warp_types::signature;
use gbxcule_warp_types::unit::Unit;
use rustc_hash::FxHashMap;

/// Greatest depth of structs in structs: lowering and printing recurse over types.
const MAX_STRUCT_NESTING: usize = 64;

/// Structs of the module, by class.
#[derive(Clone, Default)]
pub(crate) struct StructTypes {
    classes: FxHashMap<StructKey, Definition>,
    /// Number of structs that are being defined, each inside the one before.
    open: usize,
}

/// State of a struct's definition.
#[derive(Clone, Copy)]
enum Definition {
    Open,
    Known(Type),
    Refused,
}

impl StructTypes {
    /// The type of a class, if it is defined.
    pub(super) fn known(&self, class: StructKey) -> Option<Type> {
        match self.classes.get(&class) {
            Some(Definition::Known(ty)) => Some(*ty),
            _ => None,
        }
    }

    /// The class that a type was defined for.
    pub(super) fn class(&self, ty: Type) -> Option<StructKey> {
        self.classes.keys().copied().find(|&class| self.known(class) == Some(ty))
    }

    /// The type of a struct, defined in the module when it is first asked for.
    pub(crate) fn structure(
        &mut self,
        unit: &Unit<'_>,
        module: &mut Module,
        key: StructKey,
    ) -> Result<Type, LoweringError> {
        match self.classes.get(&key) {
            Some(Definition::Known(ty)) => return Ok(*ty),
            Some(Definition::Refused) => return Err(LoweringError::Reported),
            Some(Definition::Open) => {
                let (name, span, _) = signature::fields(unit, key)?;
                return fault(Code::Recursion, span, format!("`{name}` contains itself"));
            }
            None => {}
        }
        if self.open == MAX_STRUCT_NESTING {
            let (_, span, _) = signature::fields(unit, key)?;
            let message = format!("structs nest at most {MAX_STRUCT_NESTING} deep");
            self.classes.insert(key, Definition::Refused);
            return fault(Code::TooComplex, span, message);
        }
        self.classes.insert(key, Definition::Open);
        self.open += 1;
        let defined = self.define(unit, module, key);
        self.open -= 1;
        let outcome = defined.as_ref().map_or(Definition::Refused, |&ty| Definition::Known(ty));
        self.classes.insert(key, outcome);
        defined
    }

    fn define(
        &mut self,
        unit: &Unit<'_>,
        module: &mut Module,
        key: StructKey,
    ) -> Result<Type, LoweringError> {
        let (name, span, specs) = signature::fields(unit, key)?;
        let mut fields = Vec::with_capacity(specs.len());
        for spec in specs {
            let ty = self.concrete(unit, module, &spec.annotation, spec.span)?;
            fields.push(Field { name: spec.name.to_owned(), ty, span: spec.span });
        }
        let ty = module
            .types
            .define_struct(gbxcule_warp_types::annotation::structure(name, fields, span));
        fits_in_memory(module, ty, span)
    }

    /// The type of an annotation that isn't generic.
    pub(crate) fn concrete(
        &mut self,
        unit: &Unit<'_>,
        module: &mut Module,
        annotation: &Annotation,
        span: Span,
    ) -> Result<Type, LoweringError> {
        if let Some((code, what)) = annotation.unsupported() {
            return fault(code, span, format!("{what} aren't supported"));
        }
        if *annotation == Annotation::Handle {
            let handle = unit.dialect.library.map_or("", |library| &library.handle);
            return fault(Code::UnknownType, span, format!("only functions take a `{handle}`"));
        }
        self.define_structs(unit, module, annotation)?;
        let ty = annotation.intern(&mut module.types, &mut |class, _| self.known(class));
        match ty {
            Some(ty)
                if module.types.layout(ty).is_some()
                    || matches!(module.types[ty], Shape::Tuple(_)) =>
            {
                fits_in_memory(module, ty, span)
            }
            _ => fault(
                Code::UnknownType,
                span,
                "a type that is known is needed here, not a generic one",
            ),
        }
    }

    /// Defines the structs an annotation names.
    pub(crate) fn define_structs(
        &mut self,
        unit: &Unit<'_>,
        module: &mut Module,
        annotation: &Annotation,
    ) -> Result<(), LoweringError> {
        match annotation {
            Annotation::Struct(key) => self.structure(unit, module, *key).map(|_| ()),
            Annotation::Array(of, _)
            | Annotation::Indexed(of, _)
            | Annotation::Reference(of)
            | Annotation::Fixed(of, _) => self.define_structs(unit, module, of),
            Annotation::Tuple(Some(of)) => {
                of.iter().try_for_each(|of| self.define_structs(unit, module, of))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses a type that no back end can hold.
pub(super) fn fits_in_memory(module: &Module, ty: Type, span: Span) -> Result<Type, LoweringError> {
    match module.types.layout(ty) {
        Some(layout) if layout.size > check::MAX_TYPE_BYTES => {
            let message = format!("a type has less than 2 GiB, this one {} bytes", layout.size);
            fault(Code::TooComplex, span, message)
        }
        _ => Ok(ty),
    }
}
