//! Values of the IR for expressions.

use super::{FunctionLowering, LoweringError, LoweringResult, Operand, fault};
use crate::constant::KnownValue;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::{Op, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// An operand as a value of the IR.
    pub(super) fn value(&mut self, operand: Operand<'a>, span: Span) -> LoweringResult<Value> {
        match operand {
            Operand::Value(value) => Ok(value),
            Operand::KnownValue(known) => self.materialize(&known, span),
            Operand::Tuple(parts) => {
                let parts: LoweringResult<Vec<Value>> =
                    parts.iter().map(|part| self.value(part.clone(), span)).collect();
                self.tuple(&parts?, span)
            }
            Operand::Extents(array) => {
                let parts = self.extents(array);
                Ok(self.b.tuple(&parts))
            }
            Operand::Tile(_) => {
                let message = "a tile is no value: `wp.tile_extract` or `[..]` gives an element";
                fault(Code::TypeMismatch, span, message)
            }
        }
    }

    /// A tuple as one value: of values that can be stored.
    fn tuple(&mut self, parts: &[Value], span: Span) -> LoweringResult<Value> {
        let is_stored = |part: &&Value| self.b.module.types.layout(self.ty(**part)).is_some();
        if let Some(part) = parts.iter().find(|part| !is_stored(part)) {
            let found = self.shown(self.ty(*part));
            let message = format!("a tuple that is a value has no `{found}` in it");
            let help = "a result of several parts is one flat tuple, or a struct";
            let fault = Diagnostic::error(Code::UnsupportedValue, span, message).help(help);
            return Err(LoweringError::Fault(Box::new(fault)));
        }
        Ok(self.b.tuple(parts))
    }

    /// The lengths of an array in all its dimensions.
    pub(super) fn extents(&mut self, array: Value) -> Vec<Value> {
        let dims = match *self.shape(self.ty(array)) {
            Shape::Array { dims, .. } => dims,
            _ => 0,
        };
        (0..dims).map(|dim| self.b.extent(array, dim)).collect()
    }

    pub(super) fn too_large<T>(&self, value: i128, span: Span) -> LoweringResult<T> {
        let message = format!("an integer is an `int32`, and {value} is too large for it");
        let fault = Diagnostic::error(Code::IntegerTooLarge, span, message);
        Err(LoweringError::Fault(Box::new(fault.help(format!("write `wp.int64({value})`")))))
    }

    /// Makes a value of one that is known from the text: integers are `int32`, floats `float32`.
    pub(super) fn materialize(
        &mut self,
        known: &KnownValue<'a>,
        span: Span,
    ) -> LoweringResult<Value> {
        Ok(match known {
            KnownValue::Bool(value) => self.b.bool(*value),
            // Up to 32 bits the bits are meant, as in `x ^ 0x9E3779B9`.
            KnownValue::Int(value) if *value < i32::MIN.into() || *value > u32::MAX.into() => {
                return self.too_large(*value, span);
            }
            KnownValue::Int(value) => self.b.literal(Literal::int(Scalar::I32, *value)),
            KnownValue::Float(value) => self.b.literal(Literal::float(Scalar::F32, *value)),
            KnownValue::Typed(literal) => self.b.literal(*literal),
            KnownValue::Composite(annotation, parts) => {
                let ty = self.session.concrete(self.b.module, annotation, span)?;
                let parts: Vec<Value> = parts.iter().map(|&part| self.b.literal(part)).collect();
                self.b.construct(ty, &parts)
            }
            KnownValue::Sequence(parts) => {
                let parts: LoweringResult<Vec<Value>> =
                    parts.iter().map(|part| self.materialize(part, span)).collect();
                return self.tuple(&parts?, span);
            }
            KnownValue::Member(path)
                if path.matches('.').count() > 1
                    || !path.starts_with("warp.") && !path.starts_with("builtins.") =>
            {
                let settled = self.unit.settled(known.clone());
                if settled != *known {
                    return self.materialize(&settled, span);
                }
                return Err(self.unit.unknown_module(path, span).into());
            }
            KnownValue::None
            | KnownValue::Text(_)
            | KnownValue::Handle(_)
            | KnownValue::Type(_)
            | KnownValue::Module(_)
            | KnownValue::ImportedModule(_)
            | KnownValue::Member(_)
            | KnownValue::Dict(_)
            | KnownValue::Function(..)
            | KnownValue::Python(..)
            | KnownValue::Class(_) => return self.never_a_value(known, span),
        })
    }

    /// The error for something that a kernel can name but not compute with.
    fn never_a_value<T>(&self, known: &KnownValue<'a>, span: Span) -> LoweringResult<T> {
        let message = match known {
            KnownValue::None => "`None` is no value in a kernel".to_owned(),
            KnownValue::Text(_) => "a string can only be printed".to_owned(),
            KnownValue::Handle(_) => {
                let handle = self.unit.library.map_or("", |library| &library.handle);
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
            KnownValue::Composite(annotation, _) => {
                self.session.concrete(self.b.module, annotation, Span::NONE).ok()?
            }
            KnownValue::Member(_) => match self.unit.settled(known.clone()) {
                KnownValue::Int(_) => Type::I32,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The number a value surely is, if it is a literal.
    pub(super) fn literal_of(&self, value: Value) -> Option<Literal> {
        match self.b.body().values[value].op {
            Op::Literal(literal) => Some(literal),
            _ => None,
        }
    }
}
