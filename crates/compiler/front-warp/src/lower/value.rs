//! Values of the IR for expressions.

use super::operand::{LoweringResult, Operand, fault};
use super::writer::Writer;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use gbxcule_warp_types::value::{KnownValue, WarpValue};

impl<'a> Writer<'_, 'a> {
    /// An operand as a value of the IR.
    pub(super) fn value(&mut self, operand: Operand<'a>, span: Span) -> LoweringResult<Value> {
        match operand {
            Operand::Value(value) => Ok(value),
            Operand::KnownValue(known) => self.materialize(&known, span),
            Operand::Tuple(parts) => {
                let parts: LoweringResult<Vec<Value>> =
                    parts.iter().map(|part| self.value(part.clone(), span)).collect();
                self.stored_tuple(&parts?, span)
            }
            Operand::Extents(array) => {
                let parts = self.extents(array);
                Ok(self.tuple(&parts))
            }
            Operand::Tile(_) => {
                let message = "a tile isn't a value: `wp.tile_extract` or `[..]` gives an element";
                fault(Code::TypeMismatch, span, message)
            }
        }
    }

    /// Makes one value of a tuple, whose parts must be storable.
    fn stored_tuple(&mut self, parts: &[Value], span: Span) -> LoweringResult<Value> {
        let is_stored = |part: &&Value| self.module.types.layout(self.ty(**part)).is_some();
        if let Some(part) = parts.iter().find(|part| !is_stored(part)) {
            let found = self.shown(self.ty(*part));
            let message = format!("a tuple used as a value can't hold a `{found}`");
            let help = "a result of several parts is one flat tuple, or a struct";
            let fault = Diagnostic::error(Code::UnsupportedValue, span, message).help(help);
            return Err(fault.into());
        }
        Ok(self.tuple(parts))
    }

    pub(super) fn too_large<T>(&self, value: i128, span: Span) -> LoweringResult<T> {
        let message = format!("an integer is an `int32`, and {value} is too large for it");
        let fault = Diagnostic::error(Code::IntegerTooLarge, span, message);
        Err(fault.help(format!("write `wp.int64({value})`")).into())
    }

    /// Makes a value that is known from the text: integers are `int32`, floats `float32`.
    pub(super) fn materialize(
        &mut self,
        known: &KnownValue<'a>,
        span: Span,
    ) -> LoweringResult<Value> {
        Ok(match known {
            KnownValue::Bool(value) => self.bool(*value),
            // A number of up to 32 bits stands for its bits, as in `x ^ 0x9E3779B9`.
            KnownValue::Int(value) if *value < i32::MIN.into() || *value > u32::MAX.into() => {
                return self.too_large(*value, span);
            }
            KnownValue::Int(value) => self.literal(Literal::int(Scalar::I32, *value)),
            KnownValue::Float(value) => self.literal(Literal::float(Scalar::F32, *value)),
            KnownValue::Typed(literal) => self.literal(*literal),
            KnownValue::Dialect(WarpValue::Composite(annotation, parts)) => {
                let ty = self.concrete(annotation, span)?;
                let parts: Vec<Value> = parts.iter().map(|&part| self.literal(part)).collect();
                self.construct(ty, &parts)
            }
            KnownValue::Sequence(parts) => {
                let parts: LoweringResult<Vec<Value>> =
                    parts.iter().map(|part| self.materialize(part, span)).collect();
                return self.stored_tuple(&parts?, span);
            }
            KnownValue::Member(path)
                if path.matches('.').count() > 1
                    || !path.starts_with("warp.") && !path.starts_with("builtins.") =>
            {
                let settled = self.unit().settled(known.clone());
                if settled != *known {
                    return self.materialize(&settled, span);
                }
                return Err(self.unit().files.unknown_module(path, span).into());
            }
            KnownValue::None
            | KnownValue::Text(_)
            | KnownValue::Dialect(WarpValue::Handle(_))
            | KnownValue::Dialect(WarpValue::Type(_))
            | KnownValue::Module(_)
            | KnownValue::ImportedModule(_)
            | KnownValue::Member(_)
            | KnownValue::Dict(_)
            | KnownValue::Dialect(WarpValue::Function(..) | WarpValue::Gradient(_))
            | KnownValue::Python(..)
            | KnownValue::Class(_) => return self.never_a_value(known, span),
        })
    }

    /// Refuses a name that has no value in a kernel.
    fn never_a_value<T>(&self, known: &KnownValue<'a>, span: Span) -> LoweringResult<T> {
        let message = match known {
            KnownValue::None => "`None` isn't a value in a kernel".to_owned(),
            KnownValue::Text(_) => "a string can only be printed".to_owned(),
            KnownValue::Dialect(WarpValue::Handle(_)) => {
                let handle = self.unit().dialect.library.map_or("", |library| &library.handle);
                format!("a `{handle}` can only be passed to functions")
            }
            _ => "a value is needed here, not the name of a type, function or module".to_owned(),
        };
        fault(Code::UnsupportedValue, span, message)
    }

    /// The type an operand has as a value.
    pub(super) fn operand_type(&mut self, operand: &Operand<'a>) -> Option<Type> {
        Some(match operand {
            Operand::Value(value) => self.ty(*value),
            Operand::KnownValue(known) => self.static_type(known)?,
            Operand::Tuple(_) | Operand::Extents(_) | Operand::Tile(_) => return None,
        })
    }

    pub(super) fn static_type(&mut self, known: &KnownValue<'a>) -> Option<Type> {
        Some(match known {
            KnownValue::Bool(_) => Type::BOOL,
            KnownValue::Int(_) => Type::I32,
            KnownValue::Float(_) => Type::F32,
            KnownValue::Typed(literal) => Type::scalar(literal.scalar()),
            KnownValue::Dialect(WarpValue::Composite(annotation, _)) => {
                self.concrete(annotation, Span::NONE).ok()?
            }
            KnownValue::Member(_) => match self.unit().settled(known.clone()) {
                KnownValue::Int(_) => Type::I32,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Converts an operand to a condition, as C++ does.
    pub(super) fn truth(&mut self, operand: Operand<'a>, span: Span) -> LoweringResult<Value> {
        let value = self.value(operand, span)?;
        let ty = self.ty(value);
        match *self.shape(ty) {
            Shape::Scalar(Scalar::Bool) => Ok(value),
            Shape::Scalar(_) => Ok(self.convert(value, Scalar::Bool)),
            Shape::Array { .. } => Ok(self.present(value)),
            _ => {
                let found = self.shown(ty);
                let message =
                    format!("a condition is a number, a `bool` or an array, found `{found}`");
                fault(Code::TypeMismatch, span, message)
            }
        }
    }

    /// Returns the parts of an operand that is unpacked.
    pub(super) fn spread(
        &mut self,
        operand: Operand<'a>,
        span: Span,
    ) -> LoweringResult<Vec<Operand<'a>>> {
        Ok(match operand {
            Operand::Tuple(parts) => parts.to_vec(),
            Operand::KnownValue(KnownValue::Sequence(parts)) => {
                parts.iter().cloned().map(Operand::KnownValue).collect()
            }
            Operand::Extents(array) => {
                self.extents(array).into_iter().map(Operand::Value).collect()
            }
            operand => {
                let value = self.value(operand, span)?;
                let ty = self.ty(value);
                let count = match *self.shape(ty) {
                    Shape::Tuple(ref of) => of.len() as u32,
                    Shape::Matrix { rows, cols, .. } => {
                        return Ok(self.rows(value, u32::from(rows), u32::from(cols)));
                    }
                    Shape::Vector { .. } | Shape::Quaternion(_) | Shape::Transform(_) => {
                        self.module.types.components(ty).map_or(0, |(_, count)| count)
                    }
                    _ => {
                        let found = self.shown(ty);
                        let message = format!("a `{found}` can't be unpacked");
                        return fault(Code::TypeMismatch, span, message);
                    }
                };
                (0..count).map(|position| Operand::Value(self.extract(value, position))).collect()
            }
        })
    }

    fn rows(&mut self, matrix: Value, rows: u32, cols: u32) -> Vec<Operand<'a>> {
        let scalar = self.scalar_in(self.ty(matrix)).unwrap_or(Scalar::F32);
        let ty = self.module.types.vector(cols as u16, scalar);
        let row = |row: u32| {
            let parts = row * cols..(row + 1) * cols;
            let parts: Vec<Value> = parts.map(|at| self.extract(matrix, at)).collect();
            Operand::Value(self.construct(ty, &parts))
        };
        (0..rows).map(row).collect()
    }

    /// Returns the parts of an operand that is unpacked into `wanted` names.
    pub(super) fn unpacked(
        &mut self,
        operand: Operand<'a>,
        wanted: usize,
        span: Span,
    ) -> LoweringResult<Vec<Operand<'a>>> {
        let found = match operand {
            Operand::Tuple(_)
            | Operand::Extents(_)
            | Operand::KnownValue(KnownValue::Sequence(_)) => {
                return self.spread(operand, span);
            }
            Operand::Value(value) => match self.shape(self.ty(value)) {
                Shape::Tuple(_) | Shape::Vector { .. } | Shape::Quaternion(_) => {
                    return self.spread(operand, span);
                }
                _ => format!("a `{}`", self.shown(self.ty(value))),
            },
            Operand::KnownValue(_) => "this".to_owned(),
            Operand::Tile(tile) => format!("a `{}`", tile.shape().shown(self)),
        };
        fault(Code::TypeMismatch, span, format!("{found} isn't {wanted} values"))
    }

    /// The parts of a tuple.
    pub(super) fn tuple_parts(&mut self, operand: &Operand<'a>) -> Option<Vec<Operand<'a>>> {
        match operand {
            Operand::Tuple(parts) => Some(parts.to_vec()),
            Operand::KnownValue(KnownValue::Sequence(parts)) => {
                Some(parts.iter().cloned().map(Operand::KnownValue).collect())
            }
            Operand::Extents(array) => {
                Some(self.extents(*array).into_iter().map(Operand::Value).collect())
            }
            Operand::Value(value) => match self.shape(self.ty(*value)) {
                Shape::Tuple(of) => {
                    let count = of.len() as u32;
                    let part = |at| Operand::Value(self.extract(*value, at));
                    Some((0..count).map(part).collect())
                }
                _ => None,
            },
            Operand::KnownValue(_) | Operand::Tile(_) => None,
        }
    }

    /// Returns an operand's value, which must be an integer.
    pub(super) fn integer(
        &mut self,
        operand: Operand<'a>,
        span: Span,
        what: &str,
    ) -> LoweringResult<Value> {
        let value = self.value(operand, span)?;
        let ty = self.ty(value);
        if ty.as_scalar().is_some_and(Scalar::is_int) {
            return Ok(value);
        }
        let found = self.shown(ty);
        fault(Code::TypeMismatch, span, format!("{what}, found `{found}`"))
    }
}
