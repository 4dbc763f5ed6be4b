//! `wp.array(ptr=a.ptr + wp.uint64(40), shape=(5,), dtype=wp.vec2)`: the part of an array that
//! begins at a byte.

use super::BuiltinCall;
use crate::lower::operand::{LoweringResult, Operand, fault};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{Selector, Value};
use gbxcule_ir::ty::{Shape, Type};
use gbxcule_python_names::syntax::{Expr, Operator};
use gbxcule_warp_types::value::KnownValue;

impl<'a> BuiltinCall<'_, '_, 'a> {
    /// The elements of an array from a byte on.
    pub(super) fn array_at_pointer(&mut self) -> LoweringResult<Operand<'a>> {
        let keywords = &self.call.arguments.keywords;
        let stated = self.dtype_and_extents(keywords)?;
        let (Some(dtype), Some([len])) = (stated.0, stated.1.as_deref()) else {
            return self.refused_pointer();
        };
        let pointer = keywords.iter().find(|it| it.arg.as_ref().is_some_and(|arg| arg == "ptr"));
        let Some(pointer) = pointer else { return self.refused_pointer() };
        let (owner, offset) = match &pointer.value {
            Expr::BinOp(sum) if sum.op == Operator::Add => (&*sum.left, Some(&*sum.right)),
            owner => (owner, None),
        };
        let Expr::Attribute(of) = owner else { return self.refused_pointer() };
        if of.attr.as_str() != "ptr" || !self.call.arguments.args.is_empty() {
            return self.refused_pointer();
        }
        let array = self.e.expr_value(&of.value)?;
        let element = self.e.b.concrete(&dtype, self.span)?;
        if *self.e.b.shape(self.e.b.ty(array)) != (Shape::Array { of: element, dims: 1 }) {
            return self.refused_pointer();
        }
        let Some(start) = self.element_of_byte(offset, element) else {
            return self.refused_pointer();
        };
        let (len, step) = (self.e.b.i32(*len as i32), self.e.b.i32(1));
        let part = Selector::Range { start, len, step };
        Ok(Operand::Value(self.e.b.view(array, &[part])))
    }

    /// The number of the element that begins at a byte that the text gives.
    fn element_of_byte(&mut self, offset: Option<&'a Expr>, element: Type) -> Option<Value> {
        let bytes = match offset {
            None => Some(0),
            Some(offset) => match self.e.unit.known(offset, self.e.scope) {
                Ok(KnownValue::Typed(literal)) => literal.as_int(),
                Ok(known) => known.as_int(),
                Err(_) => None,
            },
        };
        let size = self.e.b.module.types.layout(element).map_or(0, |layout| layout.size as i128);
        let at = bytes.filter(|bytes| size > 0 && bytes % size == 0).map(|bytes| bytes / size);
        let at = at.and_then(|at| i32::try_from(at).ok());
        at.map(|at| self.e.b.i32(at))
    }

    fn refused_pointer(&self) -> LoweringResult<Operand<'a>> {
        let message = "an array over a pointer begins at a known element of an array of the same \
                       type: `wp.array(ptr=a.ptr + wp.uint64(8), shape=(3,), dtype=float)`";
        fault(Code::UnsupportedPointer, self.span, message)
    }
}
