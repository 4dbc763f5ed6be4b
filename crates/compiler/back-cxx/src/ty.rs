//! Types, and the structs that a text needs.

use super::name::Names;
use super::name::sound;
use super::plain;
use gbxcule_ir::module::Module;
use gbxcule_ir::ty::{Scalar, Shape, StructId, Type};
use std::fmt::Write as _;

/// Names of types in one text.
#[derive(Debug)]
pub(super) struct Spelling {
    /// Names by the type's position; empty for types that the text doesn't need.
    names: Vec<String>,
    /// Names of fields, by the struct's position.
    fields: Vec<Vec<String>>,
    /// Types that the text defines, in order: structs and tuples.
    defined: Vec<Type>,
    /// True for a text without the header, which defines all composites.
    is_plain: bool,
}

pub(super) const fn scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::I8 => "int8_t",
        Scalar::I16 => "int16_t",
        Scalar::I32 => "int",
        Scalar::I64 => "int64_t",
        Scalar::U8 => "uint8_t",
        Scalar::U16 => "uint16_t",
        Scalar::U32 => "uint32_t",
        Scalar::U64 => "uint64_t",
        Scalar::F16 => "Half",
        Scalar::Bf16 => "Bfloat16",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

impl Spelling {
    /// Names all types that `needed` marks, and the types inside them.
    pub(super) fn new(
        module: &Module,
        mut needed: Vec<bool>,
        names: &mut Names,
        is_plain: bool,
    ) -> Self {
        let shapes = module.types.shapes();
        // The types inside a type were interned before it.
        for (ty, shape) in shapes.iter().rev() {
            if needed[ty.index()] {
                inner_types(module, shape, |inner| needed[inner.index()] = true);
            }
        }
        let mut spelling = Self {
            names: Vec::with_capacity(shapes.len()),
            fields: vec![Vec::new(); module.types.structs().len()],
            defined: Vec::new(),
            is_plain,
        };
        for (ty, shape) in shapes.iter() {
            let name = if needed[ty.index()] {
                spelling.spell(module, ty, shape, names)
            } else {
                String::new()
            };
            spelling.names.push(name);
        }
        spelling
    }

    fn spell(&mut self, module: &Module, ty: Type, shape: &Shape, names: &mut Names) -> String {
        if self.is_plain
            && let Some(name) = plain::composite(shape)
        {
            self.defined.push(ty);
            return names.global(&name);
        }
        match shape {
            Shape::Scalar(Scalar::F16 | Scalar::Bf16) if self.is_plain => String::new(),
            Shape::Scalar(of) => scalar(*of).into(),
            Shape::Vector { .. }
            | Shape::Matrix { .. }
            | Shape::Quaternion(_)
            | Shape::Transform(_)
            | Shape::Array { .. }
            | Shape::Fixed { .. }
                if self.is_plain =>
            {
                String::new()
            }
            Shape::Vector { len, of } => format!("Vec<{len}, {}>", scalar(*of)),
            Shape::Matrix { rows, cols, of } => format!("Mat<{rows}, {cols}, {}>", scalar(*of)),
            Shape::Quaternion(of) => format!("Quat<{}>", scalar(*of)),
            Shape::Transform(of) => format!("Transform<{}>", scalar(*of)),
            Shape::Array { of, dims } => format!("Array<{}, {dims}>", self.of(*of)),
            Shape::Fixed { of, len } => format!("Fixed<{}, {len}>", self.of(*of)),
            Shape::Struct(id) => {
                let structure = module.types.structure(*id);
                let mut field_names = Names::default();
                self.fields[id.index()] = structure
                    .fields
                    .iter()
                    .map(|field| field_names.global(&sound(&field.name)))
                    .collect();
                let mut fields = structure.fields.iter();
                if fields.any(|field| self.field_type(module, field.ty).0.is_empty()) {
                    return String::new();
                }
                self.defined.push(ty);
                names.global(&structure.name)
            }
            Shape::Tuple(of) if of.is_empty() => "void".into(),
            Shape::Tuple(of) if of.iter().any(|&of| self.of(of).is_empty()) => String::new(),
            Shape::Tuple(of) => {
                let parts: Vec<String> =
                    of.iter().map(|&of| sound(self.of(of)).trim_end_matches('_').into()).collect();
                self.defined.push(ty);
                names.global(&format!("Tuple_{}", parts.join("_")))
            }
            Shape::Invalid => unreachable!("check rule 2: invalid types"),
        }
    }

    /// Returns the name of a type.
    pub(super) fn of(&self, ty: Type) -> &str {
        &self.names[ty.index()]
    }

    /// Returns the name of a struct's field.
    pub(super) fn field(&self, id: StructId, field: u32) -> &str {
        &self.fields[id.index()][field as usize]
    }

    /// Returns the type of a field, and the extents behind its name.
    fn field_type(&self, module: &Module, ty: Type) -> (&str, String) {
        match module.types[ty] {
            Shape::Fixed { of, len } if self.is_plain => {
                let (of, inner) = self.field_type(module, of);
                (of, format!("[{len}]{inner}"))
            }
            _ => (self.of(ty), String::new()),
        }
    }

    /// Writes the definitions of all structs and tuples.
    pub(super) fn definitions(&self, module: &Module) -> String {
        let mut text = String::new();
        for &ty in &self.defined {
            let name = self.of(ty);
            _ = writeln!(text, "struct {name} {{");
            match &module.types[ty] {
                Shape::Struct(id) => {
                    let fields = &module.types.structure(*id).fields;
                    for (field, name) in fields.iter().zip(&self.fields[id.index()]) {
                        let (of, extent) = self.field_type(module, field.ty);
                        _ = writeln!(text, "    {of} {name}{extent};");
                    }
                }
                Shape::Tuple(of) => {
                    for (position, &of) in of.iter().enumerate() {
                        _ = writeln!(text, "    {} item_{position};", self.of(of));
                    }
                }
                shape => {
                    let named = |inner: &Shape| {
                        let inner =
                            module.types.find(inner).filter(|it| it.index() < ty.index())?;
                        let name = self.of(inner);
                        (!name.is_empty()).then(|| name.to_owned())
                    };
                    _ = writeln!(text, "    {}", plain::fields(shape, &named));
                }
            }
            text.push_str("};\n");
            if !self.is_plain
                && let Some(layout) = module.types.layout(ty)
            {
                _ = writeln!(text, "static_assert(sizeof({name}) == {}, \"layout\");", layout.size);
            }
            text.push('\n');
        }
        text
    }
}

fn inner_types(module: &Module, shape: &Shape, mut visit: impl FnMut(Type)) {
    match shape {
        Shape::Array { of, .. } | Shape::Fixed { of, .. } => visit(*of),
        Shape::Struct(id) => {
            module.types.structure(*id).fields.iter().for_each(|field| visit(field.ty));
        }
        Shape::Tuple(of) => of.iter().for_each(|&of| visit(of)),
        _ => {}
    }
}
