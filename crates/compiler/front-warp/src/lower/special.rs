//! Functions of the dialect that have no row in the table, because their meaning depends on more
//! than the types of their arguments.

mod construct;
mod matrix;
mod pointer;

pub(super) use construct::construct_struct;

use super::operand::{LoweringResult, Operand, fault};
use super::operator::{function_operator, named_operator, operate_one};
use super::tile::{operator as tile_operator, tile_call};
use super::{Expressions, atomic, indexed_array, usage};
use gbxcule_ir::builtin;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape};
use gbxcule_python_names::syntax::{Expr, ExprCall, UnaryOp};
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::value::{KnownValue, WarpValue};

/// Types of Warp's arrays, which Python makes from pointers.
const ARRAY_TYPES: [&str; 5] = ["array", "array1d", "array2d", "array3d", "array4d"];

/// A call of a function of the dialect.
pub(super) struct BuiltinCall<'c, 's, 'a> {
    e: &'c mut Expressions<'s, 'a>,
    call: &'a ExprCall,
    span: Span,
}

impl<'c, 's, 'a> BuiltinCall<'c, 's, 'a> {
    pub(super) fn new(e: &'c mut Expressions<'s, 'a>, call: &'a ExprCall, span: Span) -> Self {
        Self { e, call, span }
    }

    /// Lowers a call of such a function; `None` for another function.
    pub(super) fn lower(&mut self, name: &str, path: &str) -> Option<LoweringResult<Operand<'a>>> {
        let (call, span) = (self.call, self.span);
        if path.starts_with("warp.") && !usage::results_of(call).is_empty() {
            return Some(self.decomposed(name));
        }
        if let Some((op, operands)) = atomic::operation_of(name) {
            return Some(self.e.atomic(op, operands, call, span));
        }
        if path.starts_with("warp.")
            && let Some(result) = tile_call(self.e, name, call, span)
        {
            return Some(result);
        }
        Some(match name {
            "block_dim" if path == "warp.block_dim" => Ok(Operand::KnownValue(KnownValue::Int(1))),
            "tid" => self.e.launch_indices(1, span).map(|mut all| all.remove(0)),
            "static" => self.e.static_value(call, span),
            "grad" if path == "warp.grad" => self.e.gradient_of(call, span),
            "print" => self.print(),
            "printf" => self.printf(),
            "len" => self.length(),
            "type" if path == "builtins.type" => self.type_of(),
            "zeros" if path == "warp.zeros" => self.zeros(),
            "table_of" => self.e.table_of(call, span),
            "identity" => self.identity(),
            "quat_identity" | "transform_identity" => self.neutral(name),
            "matrix_from_rows" => self.matrix_from(true),
            "matrix_from_cols" => self.matrix_from(false),
            "cast" => self.cast(),
            "select" => self.select(),
            "vector" | "vec" if path.starts_with("warp.") => {
                let any = Annotation::Any.into();
                self.construct_type(&Annotation::Vector(None, any))
            }
            "matrix" | "mat" if path.starts_with("warp.") => {
                let any = Annotation::Any.into();
                self.construct_type(&Annotation::Matrix(None, None, any))
            }
            name if path.starts_with("warp.") && ARRAY_TYPES.contains(&name) => {
                self.array_at_pointer()
            }
            "constant" if path == "warp.constant" => match &call.arguments.args[..] {
                [value] => self.e.expr(value),
                _ => fault(Code::WrongArguments, span, "`wp.constant` needs one value"),
            },
            "neg" => self.unary(UnaryOp::USub, name),
            "pos" => self.unary(UnaryOp::UAdd, name),
            "invert" => self.unary(UnaryOp::Invert, name),
            "unot" => self.unary(UnaryOp::Not, name),
            "range" | "reversed" if path.starts_with("builtins") || path.starts_with("warp") => {
                let message = format!("`{name}` is allowed in loops only");
                fault(Code::UnsupportedIteration, span, message)
            }
            _ => return self.binary_function(name),
        })
    }

    /// Lowers a call of an operator by its name; `None` for another function.
    fn binary_function(&mut self, name: &str) -> Option<LoweringResult<Operand<'a>>> {
        let (call, span) = (self.call, self.span);
        let arguments = &call.arguments;
        let op = function_operator(name)?;
        if !arguments.keywords.is_empty() || arguments.args.len() != 2 {
            return None;
        }
        let given = match self.e.call_arguments(arguments) {
            Ok(given) => given,
            Err(stop) => return Some(Err(stop)),
        };
        let operands: Vec<Operand<'a>> = given.into_iter().map(|(_, operand, _)| operand).collect();
        if let [left, right] = &operands[..]
            && operands.iter().any(|operand| matches!(operand, Operand::Tile(_)))
        {
            return Some(tile_operator(self.e, op, left, right, span));
        }
        named_operator(&mut self.e.b, name, &operands, span)
    }

    fn unary(&mut self, op: UnaryOp, name: &str) -> LoweringResult<Operand<'a>> {
        let operand = self.one_argument()?;
        operate_one(&mut self.e.b, op, operand, self.span, &format!("wp.{name}"))
    }

    fn one_argument(&mut self) -> LoweringResult<Operand<'a>> {
        let (call, span) = (self.call, self.span);
        match (&call.arguments.args[..], call.arguments.keywords.is_empty()) {
            ([arg], true) => self.e.expr(arg),
            _ => fault(Code::WrongArguments, span, "one argument is needed here"),
        }
    }

    fn print(&mut self) -> LoweringResult<Operand<'a>> {
        let (call, span) = (self.call, self.span);
        for (_, operand, expr) in self.e.call_arguments(&call.arguments)? {
            match operand {
                Operand::KnownValue(KnownValue::Text(text)) => {
                    let format = format!("{}\n", text.replace('%', "%%"));
                    self.e.b.print(Some(&format), &[]);
                }
                operand => {
                    let value =
                        self.e.b.value(operand, expr.map_or(span, |expr| self.e.span(expr)))?;
                    self.e.b.print(None, &[value]);
                }
            }
        }
        Ok(Operand::nothing())
    }

    /// `wp.svd3(a, u, s, v)`: binds the results to the names that are passed for them.
    fn decomposed(&mut self, name: &str) -> LoweringResult<Operand<'a>> {
        let (call, span) = (self.call, self.span);
        let (Some(row), Some(of)) = (builtin::find(name), call.arguments.args.first()) else {
            return fault(Code::WrongArguments, span, format!("`wp.{name}` takes a value first"));
        };
        let of_value = self.e.expr(of)?;
        let results = self.e.call_row(row, vec![(None, of_value, Some(of))], span)?;
        let parts = self.e.b.spread(results, span)?;
        for (part, target) in parts.into_iter().zip(usage::results_of(call)) {
            let Expr::Name(variable) = target else {
                let message = format!("`wp.{name}` puts its results into variables");
                return fault(Code::NotWritable, self.e.span(target), message);
            };
            self.e.names.bind(&mut self.e.b, variable.id.as_str(), part, span)?;
        }
        Ok(Operand::nothing())
    }

    fn printf(&mut self) -> LoweringResult<Operand<'a>> {
        let (call, span) = (self.call, self.span);
        let given = self.e.call_arguments(&call.arguments)?;
        let Some(((_, Operand::KnownValue(KnownValue::Text(format)), _), arguments)) =
            given.split_first()
        else {
            let message = "`wp.printf` begins with a format written in the text";
            return fault(Code::WrongArguments, span, message);
        };
        let mut values = Vec::with_capacity(arguments.len());
        let mut format = format.to_string();
        for (_, operand, expr) in arguments {
            if let Operand::KnownValue(KnownValue::Text(text)) = operand
                && let Some(place) = conversion(&format, values.len())
                && format[place..].starts_with("%s")
            {
                format.replace_range(place..place + 2, &text.replace('%', "%%"));
                continue;
            }
            let here = expr.map_or(span, |expr| self.e.span(expr));
            let value = self.e.b.value(operand.clone(), here)?;
            if self.e.b.ty(value).as_scalar().is_none() {
                let found = self.e.b.shown(self.e.b.ty(value));
                let message = format!("`wp.printf` prints numbers, found `{found}`");
                return fault(Code::TypeMismatch, here, message);
            }
            values.push(value);
        }
        self.e.b.print(Some(&format), &values);
        Ok(Operand::nothing())
    }

    fn length(&mut self) -> LoweringResult<Operand<'a>> {
        let span = self.span;
        let operand = self.one_argument()?;
        let constant = |len: usize| Ok(Operand::KnownValue(KnownValue::Int(len as i128)));
        match operand {
            Operand::Tuple(parts) => constant(parts.len()),
            Operand::KnownValue(KnownValue::Sequence(parts)) => constant(parts.len()),
            Operand::Extents(array) => constant(self.e.b.extents(array).len()),
            Operand::Tile(tile) => constant(tile.len() as usize),
            operand => {
                let value = self.e.b.value(operand, span)?;
                if let Some((_, dims)) = self.e.b.indexed_element(self.e.b.ty(value)) {
                    return Ok(Operand::Value(
                        indexed_array::extents(&mut self.e.b, value, dims)[0],
                    ));
                }
                match self.e.b.shape(self.e.b.ty(value)).clone() {
                    Shape::Vector { len, .. } => constant(usize::from(len)),
                    Shape::Quaternion(_) => constant(4),
                    Shape::Transform(_) => constant(7),
                    Shape::Matrix { rows, .. } => constant(usize::from(rows)),
                    Shape::Tuple(of) => constant(of.len()),
                    Shape::Fixed { len, .. } => constant(len as usize),
                    Shape::Array { .. } => Ok(Operand::Value(self.e.b.extent(value, 0))),
                    _ => {
                        let found = self.e.b.shown(self.e.b.ty(value));
                        fault(Code::TypeMismatch, span, format!("a `{found}` has no length"))
                    }
                }
            }
        }
    }

    /// `type(x)`
    fn type_of(&mut self) -> LoweringResult<Operand<'a>> {
        let span = self.span;
        let operand = self.one_argument()?;
        let Some(ty) = self.e.b.operand_type(&operand) else {
            return fault(Code::TypeMismatch, span, "this has no type in a kernel");
        };
        let annotation = match self.e.b.structs().class(ty) {
            Some(class) => Some(Annotation::Struct(class)),
            None => Annotation::of_type(ty, &self.e.b.module.types),
        };
        match annotation {
            Some(annotation) => {
                Ok(Operand::KnownValue(KnownValue::Dialect(WarpValue::Type(annotation))))
            }
            None => fault(Code::TypeMismatch, span, "the type of this can't be named"),
        }
    }

    /// `wp.cast(x, dtype)`: reads the same bits as another type.
    fn cast(&mut self) -> LoweringResult<Operand<'a>> {
        let (call, span) = (self.call, self.span);
        let given = self.e.call_arguments(&call.arguments)?;
        let [
            (_, operand, _),
            (
                _,
                Operand::KnownValue(KnownValue::Dialect(WarpValue::Type(Annotation::Scalar(to)))),
                _,
            ),
        ] = &given[..]
        else {
            return fault(Code::WrongArguments, span, "`wp.cast` needs a number and a scalar type");
        };
        let value = self.e.b.value(operand.clone(), span)?;
        match self.e.b.ty(value).as_scalar() {
            Some(from)
                if from.bytes() == to.bytes() && from != Scalar::Bool && *to != Scalar::Bool =>
            {
                if from == *to {
                    Ok(Operand::Value(value))
                } else {
                    Ok(Operand::Value(self.e.b.bitcast(value, *to)))
                }
            }
            _ => {
                let found = self.e.b.shown(self.e.b.ty(value));
                let message = format!("`wp.cast` needs types of one size, found `{found}`");
                fault(Code::TypeMismatch, span, message)
            }
        }
    }

    /// `wp.select(condition, if_false, if_true)`
    fn select(&mut self) -> LoweringResult<Operand<'a>> {
        let (call, span) = (self.call, self.span);
        let given = self.e.call_arguments(&call.arguments)?;
        let [(_, condition, _), (_, reject, _), (_, accept, _)] = &given[..] else {
            let message = "`wp.select` needs a condition and two values";
            return fault(Code::WrongArguments, span, message);
        };
        let condition = self.e.b.truth(condition.clone(), span)?;
        let (accept, reject) =
            (self.e.b.value(accept.clone(), span)?, self.e.b.value(reject.clone(), span)?);
        if self.e.b.ty(accept) != self.e.b.ty(reject) {
            let (one, other) =
                (self.e.b.shown(self.e.b.ty(accept)), self.e.b.shown(self.e.b.ty(reject)));
            let message = format!("both values are of one type, found `{one}` and `{other}`");
            return fault(Code::TypeMismatch, span, message);
        }
        Ok(Operand::Value(self.e.b.select(condition, accept, reject)))
    }
}

impl<'a> Expressions<'_, 'a> {
    /// Returns true if a call is `wp.tid()`.
    pub(super) fn is_tid(&mut self, call: &'a ExprCall) -> bool {
        if matches!(&*call.func, Expr::Name(name) if self.names.contains(name.id.as_str())) {
            return false;
        }
        matches!(self.unit.known(&call.func, self.scope), Ok(KnownValue::Member(path)) if &*path == "warp.tid")
    }

    /// Returns the first coordinates of this thread.
    pub(super) fn launch_indices(
        &mut self,
        count: usize,
        span: Span,
    ) -> LoweringResult<Vec<Operand<'a>>> {
        if !self.is_kernel() {
            let message = "`wp.tid()` is asked in kernels only: pass the index to the function";
            return fault(Code::TidInFunction, span, message);
        }
        if !(1..=4).contains(&count) {
            return fault(Code::WrongArguments, span, "a launch has one to four dimensions");
        }
        Ok((0..count).map(|dim| Operand::Value(self.b.launch_index(dim as u8))).collect())
    }
}

/// Returns the position of a format's conversion of this number.
fn conversion(format: &str, number: usize) -> Option<usize> {
    let (mut at, mut seen) = (0, 0);
    while let Some(next) = format[at..].find('%') {
        at += next;
        match format[at..].starts_with("%%") {
            true => at += 2,
            false if seen == number => return Some(at),
            false => {
                seen += 1;
                at += 1;
            }
        }
    }
    None
}
