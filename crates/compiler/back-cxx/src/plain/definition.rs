//! Types as plain structs, and the operators and functions that a text needs of them.

use super::super::expr::Expr;
use super::super::items::Items;
use super::super::ty::scalar as spell;
use gbxcule_ir::op::BinaryOp;
use gbxcule_ir::ty::{Scalar, Shape, Type};

/// Functions that definitions use: no name of the user may equal one of them.
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
pub(in super::super) fn component(shape: &Shape, index: u32) -> String {
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

/// Splits a composite such as `vec2f{a, b}` into its beginning, with the brace, and its parts;
/// returns `None` for another expression.
pub(in super::super) fn parts(text: &str) -> Option<(&str, Vec<&str>)> {
    let open = text
        .find('{')
        .filter(|&at| text[..at].bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_'))?;
    let (opening, inner) = (&text[..=open], text[open + 1..].strip_suffix('}')?);
    let (mut depth, mut begin, mut parts) = (0, 0, Vec::new());
    for (at, letter) in inner.bytes().enumerate() {
        match letter {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(inner[begin..at].trim_start());
                begin = at + 1;
            }
            _ => {}
        }
        // The first brace ends before the text does.
        if depth < 0 {
            return None;
        }
    }
    parts.push(inner[begin..].trim_start());
    Some((opening, parts))
}

/// Operators and functions that a text needs.
#[derive(Debug, Default)]
pub(in super::super) struct Definitions {
    /// Names and texts, in order.
    list: Vec<(String, String)>,
}

impl Definitions {
    /// Adds a function once.
    fn add(&mut self, name: &str, function: &str) {
        let text = format!("static __device__ {function}\n\n");
        if !self.list.iter().any(|it| it.1 == text) {
            self.list.push((name.into(), text));
        }
    }

    /// Adds a function whose result is a composite of these parts, one for each component.
    fn add_parts(
        &mut self,
        items: &Items<'_>,
        ty: Type,
        [name, params]: [&str; 2],
        part: impl Fn(&str) -> String,
    ) {
        let (result, types) = (items.ty(ty), &items.module.types);
        let count = types.components(ty).map_or(0, |(_, count)| count);
        let parts: Vec<_> =
            (0..count).map(|position| part(&component(&types[ty], position))).collect();
        let mut list = parts.join(", ");
        if list.len() > 90 {
            list = format!("\n        {}", parts.join(",\n        "));
        }
        let head = format!("{result} {name}({params})");
        self.add(name, &format!("{head}\n{{\n    return {result}{{{list}}};\n}}"));
    }

    /// Returns the definitions that a text uses.
    pub(in super::super) fn used_in(&self, text: &str) -> String {
        // A splat that became a factor is called nowhere.
        let is_used =
            |name: &str| name.starts_with("operator") || text.contains(&format!("{name}("));
        self.list.iter().filter(|it| is_used(&it.0)).map(|it| &*it.1).collect()
    }

    /// Defines the operator that stands between two composites, or a composite and a scalar.
    pub(in super::super) fn composite(
        &mut self,
        items: &Items<'_>,
        op: BinaryOp,
        ty: Type,
        [left, right]: [&Expr; 2],
    ) {
        let of = Type::scalar(scalar_of(items, ty));
        let (name, sign, operands) = match op {
            BinaryOp::Add => ("operator+", "+", [ty, ty]),
            BinaryOp::Subtract => ("operator-", "-", [ty, ty]),
            BinaryOp::Multiply if right.splat.is_some() => ("operator*", "*", [ty, of]),
            BinaryOp::Multiply if left.splat.is_some() => ("operator*", "*", [of, ty]),
            BinaryOp::Multiply => ("cw_mul", "*", [ty, ty]),
            BinaryOp::Divide if right.splat.is_some() => ("operator/", "/", [ty, of]),
            BinaryOp::Divide => ("cw_div", "/", [ty, ty]),
            _ => return items.refuse(),
        };
        let [one, other] = operands.map(|operand| items.ty(operand));
        self.add_parts(items, ty, [name, &format!("{one} a, {other} b")], |field| {
            let [a, b] = operands.map(|operand| if operand == ty { field } else { "" });
            format!("a{a} {sign} b{b}")
        });
    }

    /// Defines the negation of a composite.
    pub(in super::super) fn negation(&mut self, items: &Items<'_>, ty: Type) {
        let params = format!("{} a", items.ty(ty));
        self.add_parts(items, ty, ["operator-", &params], |field| format!("-a{field}"));
    }

    /// Defines the composite of equal parts; returns the function's name.
    pub(super) fn splat(&mut self, items: &Items<'_>, ty: Type) -> String {
        let name = format!("splat_{}", items.ty(ty));
        let params = format!("{} value", spell(scalar_of(items, ty)));
        self.add_parts(items, ty, [&name, &params], |_| "value".into());
        name
    }

    /// Defines a sum of composites, component by component.
    pub(super) fn atomic_sum(&mut self, items: &Items<'_>, ty: Type) {
        let params = format!("{0}* place, {0} value", items.ty(ty));
        let part = |field: &str| format!("atomicAdd(&place->{0}, value.{0})", &field[1..]);
        self.add_parts(items, ty, ["atomic_add", &params], part);
    }

    /// Defines the atomic minimum or maximum of floats, which CUDA has for integers only.
    pub(super) fn atomic_extremum(&mut self, name: &str, of: Scalar) {
        let (ty, word, to, from, least) = match of {
            Scalar::F32 => ("float", "int", "__float_as_int", "__int_as_float", "f"),
            _ => {
                let (to, from) = ("__double_as_longlong", "__longlong_as_double");
                ("double", "unsigned long long", to, from, "")
            }
        };
        let choose = format!("f{}{least}", &name["atomic_".len()..]);
        self.add(name, &format!(
            "{ty} {name}({ty}* place, {ty} value)\n{{\n    {word} old = {to}(*place), seen;\n    \
             do {{\n        seen = old;\n        \
             old = atomicCAS(({word}*)place, seen, {to}({choose}({from}(seen), value)));\n    \
             }} while (old != seen);\n    return {from}(old);\n}}"
        ));
    }

    /// Defines the quotient of integers that is rounded down.
    pub(in super::super) fn floor_div(&mut self, of: Scalar) {
        let ty = spell(of);
        self.add(
            "floor_div",
            &format!(
                "{ty} floor_div({ty} a, {ty} b)\n{{\n    const {ty} quotient = a / b;\n    \
             return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;\n}}"
            ),
        );
    }
}

fn scalar_of(items: &Items<'_>, ty: Type) -> Scalar {
    items.module.types.components(ty).map_or(Scalar::Bool, |(of, _)| of)
}
