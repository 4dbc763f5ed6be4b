//! Types as plain structs, and the operators and functions that a text needs of them.

use super::super::expr::Expr;
use super::super::function::Writer;
use super::super::ty::scalar as spell;
use gbxcule_ir::module::Module;
use gbxcule_ir::op::BinaryOp;
use gbxcule_ir::ty::{Scalar, Shape, Type};

/// Functions that definitions have: no name of a user's may be one of them.
pub(in super::super) const HELPERS: [&str; 7] =
    ["atomic_add", "atomic_max", "atomic_min", "cw_div", "cw_mul", "floor_div", "splat"];

/// Names of a vector's components, by its length.
const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// Returns the name of a composite type, or nothing for a type that has none here.
pub(in super::super) fn composite(shape: &Shape) -> Option<String> {
    let (name, of) = match *shape {
        Shape::Vector { len, of } => (format!("vec{len}"), of),
        Shape::Matrix { rows, cols, of } => (format!("mat{rows}{cols}"), of),
        Shape::Quaternion(of) => ("quat".into(), of),
        Shape::Transform(of) => ("transform".into(), of),
        _ => return None,
    };
    Some(name + letter(of)?)
}

/// Returns the letter by which composites of a scalar are called.
fn letter(of: Scalar) -> Option<&'static str> {
    Some(match of {
        Scalar::F32 => "f",
        Scalar::F64 => "d",
        Scalar::I32 => "i",
        Scalar::U32 => "u",
        Scalar::I64 => "l",
        Scalar::U64 => "ul",
        Scalar::I16 => "s",
        Scalar::U16 => "us",
        Scalar::I8 => "c",
        Scalar::U8 => "ub",
        Scalar::Bool => "b",
        Scalar::F16 | Scalar::Bf16 => return None,
    })
}

/// Returns the fields of a composite; `named` names a composite that is defined already.
pub(in super::super) fn fields(shape: &Shape, named: &dyn Fn(&Shape) -> Option<String>) -> String {
    let inner = |shape: Shape| {
        named(&shape).unwrap_or_else(|| format!("struct {{ {} }}", fields(&shape, named)))
    };
    match *shape {
        Shape::Vector { len: len @ 2..=4, of } => {
            format!("{} {};", spell(of), COMPONENTS[..usize::from(len)].join(", "))
        }
        Shape::Vector { len, of } => format!("{} c[{len}];", spell(of)),
        Shape::Matrix { rows, cols, of } => {
            format!("{} r[{rows}];", inner(Shape::Vector { len: cols, of }))
        }
        Shape::Quaternion(of) => format!("{} x, y, z, w;", spell(of)),
        Shape::Transform(of) => {
            let [p, q] = [Shape::Vector { len: 3, of }, Shape::Quaternion(of)].map(inner);
            format!("{p} p;\n    {q} q;")
        }
        _ => String::new(),
    }
}

/// Returns the selection of a component by its position, such as `.x`.
pub(super) fn component(shape: &Shape, index: u32) -> String {
    let letter = |index: u32| COMPONENTS[index as usize & 3];
    match *shape {
        Shape::Vector { len: 2..=4, .. } | Shape::Quaternion(_) => format!(".{}", letter(index)),
        Shape::Matrix { cols, of, .. } => {
            let (cols, row) = (u32::from(cols), Shape::Vector { len: cols, of });
            format!(".r[{}]{}", index / cols, component(&row, index % cols))
        }
        Shape::Transform(_) if index < 3 => format!(".p.{}", letter(index)),
        Shape::Transform(_) => format!(".q.{}", letter(index - 3)),
        _ => format!(".c[{index}]"),
    }
}

/// Text of a function that works on each component.
fn by_component(module: &Module, ty: Type, part: impl Fn(&str) -> String) -> String {
    let count = module.types.components(ty).map_or(0, |(_, count)| count);
    let parts: Vec<String> =
        (0..count).map(|index| part(&component(&module.types[ty], index))).collect();
    let line = parts.join(", ");
    if line.len() > 90 { format!("\n        {}", parts.join(",\n        ")) } else { line }
}

impl Writer<'_, '_> {
    fn define_plain(&mut self, name: &str, text: String) {
        if let Some(plain) = &mut self.unit.plain {
            plain.define(name, text);
        }
    }

    /// Defines the operator that stands between two composites, or a composite and a scalar.
    pub(in super::super) fn define_composite(
        &mut self,
        op: BinaryOp,
        ty: Type,
        left: &Expr,
        right: &Expr,
    ) {
        let of = Type::scalar(self.module.types.components(ty).map_or(Scalar::Bool, |(of, _)| of));
        match op {
            BinaryOp::Add => self.define_operator("operator+", "+", [ty, ty]),
            BinaryOp::Subtract => self.define_operator("operator-", "-", [ty, ty]),
            BinaryOp::Multiply if right.splat.is_some() => {
                self.define_operator("operator*", "*", [ty, of]);
            }
            BinaryOp::Multiply if left.splat.is_some() => {
                self.define_operator("operator*", "*", [of, ty]);
            }
            BinaryOp::Multiply => self.define_operator("cw_mul", "*", [ty, ty]),
            BinaryOp::Divide if right.splat.is_some() => {
                self.define_operator("operator/", "/", [ty, of]);
            }
            BinaryOp::Divide => self.define_operator("cw_div", "/", [ty, ty]),
            _ => self.refuse_plain(),
        }
    }

    fn define_operator(&mut self, name: &str, sign: &str, operands: [Type; 2]) {
        let ty = if operands[0].as_scalar().is_some() { operands[1] } else { operands[0] };
        let [one, other] = operands.map(|operand| self.ty(operand).to_owned());
        let part = |field: &str| {
            let [a, b] = operands.map(|it| if it.as_scalar().is_some() { "" } else { field });
            format!("a{a} {sign} b{b}")
        };
        let (result, parts) = (self.ty(ty).to_owned(), by_component(self.module, ty, part));
        self.define_plain(name, format!(
            "static __device__ {result} {name}({one} a, {other} b)\n{{\n    return {result}{{{parts}}};\n}}\n\n"
        ));
    }

    /// Defines the negation of a composite.
    pub(in super::super) fn define_negation(&mut self, ty: Type) {
        if !self.is_plain() {
            return;
        }
        let parts = by_component(self.module, ty, |field| format!("-a{field}"));
        let name = self.ty(ty).to_owned();
        self.define_plain("operator-", format!(
            "static __device__ {name} operator-({name} a)\n{{\n    return {name}{{{parts}}};\n}}\n\n"
        ));
    }

    /// Defines the composite of equal parts; returns the function's name.
    pub(super) fn define_splat(&mut self, ty: Type) -> String {
        let parts = by_component(self.module, ty, |_| "value".into());
        let of = self.module.types.components(ty).map_or(Scalar::Bool, |(of, _)| of);
        let name = self.ty(ty).to_owned();
        self.define_plain(&format!("splat_{name}"), format!(
            "static __device__ {name} splat_{name}({} value)\n{{\n    return {name}{{{parts}}};\n}}\n\n",
            spell(of)
        ));
        format!("splat_{name}")
    }

    /// Defines a sum of composites, component by component.
    pub(super) fn define_atomic_sum(&mut self, ty: Type) {
        let name = self.ty(ty).to_owned();
        let part = |field: &str| format!("atomicAdd(&place->{0}, value.{0})", &field[1..]);
        let parts = by_component(self.module, ty, part);
        self.define_plain("atomic_add", format!(
            "static __device__ {name} atomic_add({name}* place, {name} value)\n{{\n    return {name}{{{parts}}};\n}}\n\n"
        ));
    }

    /// Defines the least or largest of floats, which CUDA has for integers alone.
    pub(super) fn define_atomic_extremum(&mut self, name: &str, of: Scalar) {
        let (ty, word, to, from, least) = match of {
            Scalar::F32 => ("float", "int", "__float_as_int", "__int_as_float", "f"),
            _ => {
                let (to, from) = ("__double_as_longlong", "__longlong_as_double");
                ("double", "unsigned long long", to, from, "")
            }
        };
        let choose = format!("f{}{least}", &name["atomic_".len()..]);
        self.define_plain(name, format!(
            "static __device__ {ty} {name}({ty}* place, {ty} value)\n{{\n    {word} old = {to}(*place), seen;\n    \
             do {{\n        seen = old;\n        \
             old = atomicCAS(({word}*)place, seen, {to}({choose}({from}(seen), value)));\n    \
             }} while (old != seen);\n    return {from}(old);\n}}\n\n"
        ));
    }

    /// Defines the quotient of integers that is rounded down.
    pub(in super::super) fn define_floor_div(&mut self, of: Scalar) {
        let ty = spell(of);
        self.define_plain("floor_div", format!(
            "static __device__ {ty} floor_div({ty} a, {ty} b)\n{{\n    const {ty} quotient = a / b;\n    \
             return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;\n}}\n\n"
        ));
    }
}
