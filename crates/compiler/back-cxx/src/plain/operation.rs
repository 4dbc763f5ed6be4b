//! Operations in CUDA's own words.

use super::super::expr::{Expr, Level};
use super::super::op::Expressions;
use super::super::ty::scalar as spell;
use gbxcule_ir::arena::List;
use gbxcule_ir::builtin::Native;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::op::{AtomicOp, Op, Value, ValueData};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use rustc_hash::FxHashMap;

/// Names that a kernel's launch gives its operations.
#[derive(Debug, Default)]
pub(in super::super) struct Launch {
    /// Names of the indices, of a kernel.
    pub(super) indices: Option<Vec<String>>,
    /// Variables to which threads add in the place of an array's element.
    pub(super) sums: FxHashMap<PlaceId, String>,
}

impl Expressions<'_, '_> {
    /// Writes an operation whose text differs without the header; `None` if the text is the same.
    pub(in super::super) fn plain_op(&mut self, data: &ValueData) -> Option<Expr> {
        Some(match data.op {
            Op::Literal(constant) => return special(constant),
            Op::Bitcast(operand) => self.plain_bitcast(operand, data.ty),
            Op::Convert(operand) => return self.plain_conversion(operand, data.ty),
            Op::Splat(part) => self.plain_splat(part, data.ty),
            Op::Native { native, args } => self.plain_native(native, args),
            Op::Atomic { op, place, value, expected } => {
                self.plain_atomic(op, place, value, expected)
            }
            Op::LaunchIndex(dim) => match &self.launch.indices {
                // In a dimension that the grid lacks the only index is 0.
                Some(names) => Expr::atom(names.get(usize::from(dim)).map_or("0", String::as_str)),
                None => self.refused(),
            },
            Op::Extent { array, dim } => self.raw_extent(array, dim),
            Op::Present(array) => self.raw_presence(array),
            Op::Lowest(_) | Op::Opaque(_) => self.refused(),
            _ => return None,
        })
    }

    fn plain_bitcast(&mut self, operand: Value, to: Type) -> Expr {
        let from = self.body.type_of(operand).as_scalar();
        let operand = self.take_exact(operand);
        let name = match (from, to.as_scalar()) {
            (Some(Scalar::F32), Some(Scalar::I32)) => "__float_as_int",
            (Some(Scalar::F32), Some(Scalar::U32)) => "__float_as_uint",
            (Some(Scalar::I32), Some(Scalar::F32)) => "__int_as_float",
            (Some(Scalar::U32), Some(Scalar::F32)) => "__uint_as_float",
            (Some(Scalar::F64), Some(Scalar::I64)) => "__double_as_longlong",
            (Some(Scalar::I64), Some(Scalar::F64)) => "__longlong_as_double",
            (Some(from), Some(to)) if !from.is_float() && !to.is_float() => spell(to),
            _ => return self.refused(),
        };
        Expr::call(name, &[&operand])
    }

    /// Writes the conversion of a float to an integer, which a GPU saturates.
    fn plain_conversion(&mut self, operand: Value, to: Type) -> Option<Expr> {
        let from = self.body.type_of(operand).as_scalar();
        let (Some(from), Some(to)) = (from, to.as_scalar()) else {
            self.values.take(operand);
            return Some(self.refused());
        };
        let truncates = from.is_float() && !to.is_float() && to != Scalar::Bool;
        truncates.then(|| self.take_exact(operand).cast(spell(to)))
    }

    fn plain_splat(&mut self, part: Value, ty: Type) -> Expr {
        let part = self.take_exact(part);
        if matches!(self.shape(ty), Shape::Fixed { .. }) {
            // A store writes the value into each element.
            return Expr { splat: Some(Box::new(part.clone())), ..part };
        }
        // The function is defined only if it is called: a factor stands by itself.
        let name = self.definitions.splat(self.items, ty);
        let mut expr = Expr::call(&name, &[&part]);
        expr.splat = Some(Box::new(part));
        expr
    }

    fn plain_native(&mut self, native: Native, args: List<Value>) -> Expr {
        let of = self.body.value_lists[args].first().map(|&it| self.body.type_of(it));
        let of = of.and_then(Type::as_scalar).unwrap_or(Scalar::Bool);
        let args: Vec<Expr> = self.exact_list(args);
        let args: Vec<&Expr> = args.iter().collect();
        if let (Native::Asin | Native::Acos, Scalar::F32 | Scalar::F64) = (native, of) {
            let (f, one) = if of == Scalar::F32 { ("f", "1.0f") } else { ("", "1.0") };
            let low = Expr::call_ending(&format!("fmax{f}"), &args, &format!(", -{one}"));
            let inside = Expr::call_ending(&format!("fmin{f}"), &[&low], &format!(", {one}"));
            return Expr::call(&format!("{}{f}", native.row().cuda), &[&inside]);
        }
        match native_name(native, of) {
            Some(name) if native == Native::TrailingZeros => {
                let reversed = if of.bits() == 32 { "__brev" } else { "__brevll" };
                Expr::call(&name, &[&Expr::call(reversed, &args)])
            }
            Some(name) => Expr::call(&name, &args),
            None => self.refused(),
        }
    }

    fn plain_atomic(
        &mut self,
        op: AtomicOp,
        id: PlaceId,
        value: Value,
        expected: Option<Value>,
    ) -> Expr {
        let ty = self.body.places[id].ty;
        let place = self.place(id);
        let expected = expected.map(|expected| self.take_exact(expected));
        let value = self.take_exact(value);
        if let Some(sum) = self.launch.sums.get(&id) {
            return Expr::new(format!("{sum} += {}", value.text), Level::Choice).of(&[&value]);
        }
        let pointer = Expr::new(format!("&{}", place.text), Level::Unary).of(&[&place]);
        let Some(of) = ty.as_scalar() else {
            let (of, _) = self.module.types.components(ty).unwrap_or((Scalar::Bool, 0));
            if op != AtomicOp::Add || !is_summed(of) {
                return self.refused();
            }
            self.definitions.atomic_sum(self.items, ty);
            return Expr::call("atomic_add", &[&pointer, &value]);
        };
        let is_word = matches!(of, Scalar::I32 | Scalar::U32);
        let name = match op {
            AtomicOp::Add | AtomicOp::Subtract if matches!(of, Scalar::I64 | Scalar::U64) => {
                let sign = if op == AtomicOp::Add { "" } else { "-" };
                let text = format!(
                    "atomicAdd((unsigned long long*){}, (unsigned long long){sign}({}))",
                    pointer.text, value.text
                );
                return Expr::new(text, Level::Primary).of(&[&place, &value]).inexact();
            }
            AtomicOp::Add if is_summed(of) => "atomicAdd",
            AtomicOp::Subtract if is_word => "atomicSub",
            AtomicOp::Subtract if is_summed(of) => {
                let negated = Expr::new(format!("-{}", value.at(Level::Primary)), Level::Unary);
                return Expr::call("atomicAdd", &[&pointer, &negated.of(&[&value])]);
            }
            AtomicOp::Min | AtomicOp::Max => {
                let is_least = op == AtomicOp::Min;
                if is_word {
                    if is_least { "atomicMin" } else { "atomicMax" }
                } else if is_summed(of) {
                    let name = if is_least { "atomic_min" } else { "atomic_max" };
                    self.definitions.atomic_extremum(name, of);
                    name
                } else {
                    return self.refused();
                }
            }
            AtomicOp::And if is_word => "atomicAnd",
            AtomicOp::Or if is_word => "atomicOr",
            AtomicOp::Xor if is_word => "atomicXor",
            AtomicOp::Exchange if is_word || of == Scalar::F32 => "atomicExch",
            AtomicOp::CompareExchange if is_word => "atomicCAS",
            _ => return self.refused(),
        };
        let args = [Some(&pointer), expected.as_ref(), Some(&value)];
        Expr::call(name, &args.into_iter().flatten().collect::<Vec<_>>())
    }

    /// Selects a part that an index chooses.
    pub(in super::super) fn plain_part(&mut self, expr: &mut Expr, shape: &Shape, index: Value) {
        let count = match *shape {
            Shape::Fixed { len, .. } => len,
            Shape::Vector { len, .. } => len.into(),
            Shape::Matrix { rows, .. } => rows.into(),
            _ => 4,
        };
        let index = self.raw_index(index, &count.to_string());
        expr.needs.join(&index.needs);
        expr.atom &= index.atom;
        let (before, after) = match shape {
            Shape::Fixed { .. } => ("", ""),
            Shape::Matrix { .. } => ("", ".r"),
            Shape::Vector { len: 2..=4, .. } | Shape::Quaternion(_) => ("(&", ".x)"),
            Shape::Vector { .. } => ("", ".c"),
            _ => {
                self.items.refuse();
                ("", "")
            }
        };
        expr.text = format!("{before}{}{after}[{}]", expr.text, index.text);
    }
}

/// Returns true for scalars that CUDA adds atomically.
fn is_summed(of: Scalar) -> bool {
    matches!(of, Scalar::I32 | Scalar::U32 | Scalar::F32 | Scalar::F64)
}

/// Writes an infinity or NaN, for which the language has no literal.
fn special(constant: Literal) -> Option<Expr> {
    let is_special = constant.scalar().is_float() && !constant.as_f64().is_finite();
    let bits = constant.bits();
    is_special.then(|| match constant.scalar() {
        Scalar::F32 => Expr::atom(format!("__int_as_float({bits:#x})")),
        _ => Expr::atom(format!("__longlong_as_double({bits:#x})")),
    })
}

/// Returns CUDA's name of a native function, if it has one for the operands' type.
fn native_name(native: Native, of: Scalar) -> Option<String> {
    let is_word = matches!(of, Scalar::I32 | Scalar::U32);
    let is_long = matches!(of, Scalar::I64 | Scalar::U64);
    let long = if is_long { "ll" } else { "" };
    let name = native.row().cuda;
    Some(match (native, of) {
        (Native::Min | Native::Max, Scalar::F32) => format!("f{name}f"),
        (Native::Min | Native::Max, Scalar::F64) => format!("f{name}"),
        (Native::Min | Native::Max, _) if is_word || is_long => name.into(),
        (Native::Abs, Scalar::F32) => "fabsf".into(),
        (Native::Abs, Scalar::F64) => "fabs".into(),
        (Native::Abs, Scalar::I32 | Scalar::I64) => "abs".into(),
        (Native::BitCount, _) if is_word || is_long => format!("__popc{long}"),
        (Native::LeadingZeros | Native::TrailingZeros, _) if is_word || is_long => {
            format!("__clz{long}")
        }
        (Native::IsNan | Native::IsInf | Native::IsFinite, Scalar::F32 | Scalar::F64) => {
            name.into()
        }
        (_, Scalar::F32) => format!("{name}f"),
        (_, Scalar::F64) => name.into(),
        _ => return None,
    })
}
