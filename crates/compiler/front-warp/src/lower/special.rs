//! Functions of the dialect that are no rows of the table: what they do depends on more than the
//! types of their arguments.

use super::{FunctionLowering, LoweringResult, Operand, atomic, fault, usage};
use crate::annotation::Annotation;
use crate::arithmetic::{as_int, compared, python_number};
use crate::constant::KnownValue;
use crate::syntax::{Expr, ExprCall};
use gbxcule_ir::builtin;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape};

/// Types of Warp's arrays, which Python makes from pointers.
const ARRAY_TYPES: [&str; 5] = ["array", "array1d", "array2d", "array3d", "array4d"];

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// Returns true if a call is `wp.tid()`.
    pub(super) fn is_tid(&mut self, call: &'a ExprCall) -> bool {
        if matches!(&*call.func, Expr::Name(name) if self.names.contains_key(name.id.as_str())) {
            return false;
        }
        matches!(self.unit.known(&call.func, self.scope), Ok(KnownValue::Member(path)) if &*path == "warp.tid")
    }

    /// The first coordinates of this thread.
    pub(super) fn launch_indices(
        &mut self,
        count: usize,
        span: Span,
    ) -> LoweringResult<Vec<Operand<'a>>> {
        if !self.is_kernel {
            let message = "`wp.tid()` is asked in kernels only: pass the index to the function";
            return fault(Code::TidInFunction, span, message);
        }
        if !(1..=4).contains(&count) {
            return fault(Code::WrongArguments, span, "a launch has one to four dimensions");
        }
        Ok((0..count).map(|dim| Operand::Value(self.b.launch_index(dim as u8))).collect())
    }

    /// A call of a function that is special; `None` if it isn't.
    pub(super) fn special(
        &mut self,
        name: &str,
        path: &str,
        call: &'a ExprCall,
        span: Span,
    ) -> Option<LoweringResult<Operand<'a>>> {
        if path.starts_with("warp.") && !usage::results_of(call).is_empty() {
            return Some(self.decomposed(name, call, span));
        }
        if let Some((op, operands)) = atomic::named(name) {
            return Some(self.atomic(op, operands, call, span));
        }
        if path.starts_with("warp.")
            && let Some(result) = self.tile_call(name, call, span)
        {
            return Some(result);
        }
        Some(match name {
            "block_dim" if path == "warp.block_dim" => Ok(Operand::KnownValue(KnownValue::Int(1))),
            "tid" => self.launch_indices(1, span).map(|mut all| all.remove(0)),
            "static" => self.static_value(call, span),
            "print" => self.print(call, span),
            "printf" => self.printf(call, span),
            "len" => self.length(call, span),
            "type" if path == "builtins.type" => self.type_of(call, span),
            "zeros" if path == "warp.zeros" => self.zeros(call, span),
            "table_of" => self.table_of(call, span),
            "identity" => self.identity(call, span),
            "quat_identity" | "transform_identity" => self.neutral(name, call, span),
            "matrix_from_rows" => self.matrix_from(true, call, span),
            "matrix_from_cols" => self.matrix_from(false, call, span),
            "cast" => self.cast(call, span),
            "select" => self.select(call, span),
            "vector" | "vec" if path.starts_with("warp.") => {
                let any = Annotation::Any.into();
                self.construct_type(&Annotation::Vector(None, any), call, span)
            }
            "matrix" | "mat" if path.starts_with("warp.") => {
                let any = Annotation::Any.into();
                self.construct_type(&Annotation::Matrix(None, None, any), call, span)
            }
            name if path.starts_with("warp.") && ARRAY_TYPES.contains(&name) => {
                let message = "arrays can't be made from pointers in a kernel";
                fault(Code::UnsupportedPointer, span, message)
            }
            "constant" if path == "warp.constant" => match &call.arguments.args[..] {
                [value] => self.expr(value),
                _ => fault(Code::WrongArguments, span, "`wp.constant` needs one value"),
            },
            "neg" | "pos" | "invert" | "unot" => return self.unary_function(name, call, span),
            "range" | "reversed" if path.starts_with("builtins") || path.starts_with("warp") => {
                let message = format!("`{name}` is allowed in loops only");
                fault(Code::UnsupportedIteration, span, message)
            }
            _ => return self.binary_function(name, call, span),
        })
    }

    /// A call of an operator by its name; `None` if it isn't one.
    fn binary_function(
        &mut self,
        name: &str,
        call: &'a ExprCall,
        span: Span,
    ) -> Option<LoweringResult<Operand<'a>>> {
        let arguments = &call.arguments;
        if !arguments.keywords.is_empty() || arguments.args.len() != 2 || !is_operator(name) {
            return None;
        }
        let given = match self.call_arguments(arguments) {
            Ok(given) => given,
            Err(stop) => return Some(Err(stop)),
        };
        let operands: Vec<Operand<'a>> = given.into_iter().map(|(_, operand, _)| operand).collect();
        self.named_operator(name, &operands, span)
    }

    fn one_argument(&mut self, call: &'a ExprCall, span: Span) -> LoweringResult<Operand<'a>> {
        match (&call.arguments.args[..], call.arguments.keywords.is_empty()) {
            ([arg], true) => self.expr(arg),
            _ => fault(Code::WrongArguments, span, "one argument is needed here"),
        }
    }

    /// `wp.static(expr)`: what the text says `expr` is.
    fn static_value(&mut self, call: &'a ExprCall, span: Span) -> LoweringResult<Operand<'a>> {
        let [arg] = &call.arguments.args[..] else {
            return fault(Code::WrongArguments, span, "`wp.static` needs one expression");
        };
        match self.static_expr(arg) {
            Err(super::LoweringError::Fault(fault)) => Ok(self.unit.tried(Err(fault))?),
            known => known.map(|known| self.unit.settled(known)),
        }
        .map(Operand::KnownValue)
    }

    /// An expression with names of this function that are known from the text.
    fn static_expr(&mut self, expr: &'a Expr) -> LoweringResult<KnownValue<'a>> {
        match expr {
            Expr::Name(name) if self.names.contains_key(name.id.as_str()) => {
                match self.name_operand(name.id.as_str(), expr)? {
                    Operand::KnownValue(known) => Ok(known),
                    _ => fault(
                        Code::NeedsConstant,
                        self.span(expr),
                        format!("`{}` isn't known when compiled", name.id),
                    ),
                }
            }
            Expr::BinOp(binary) => {
                let left = self.static_expr(&binary.left)?;
                let right = self.static_expr(&binary.right)?;
                Ok(self.unit.operation(binary.op, &left, &right, expr)?)
            }
            Expr::Subscript(subscript) => {
                let base = self.static_expr(&subscript.value)?;
                let indices = match &*subscript.slice {
                    Expr::Slice(_) => None,
                    Expr::Tuple(tuple) => Some(&tuple.elts[..]),
                    index => Some(std::slice::from_ref(index)),
                };
                let at: Option<Vec<KnownValue<'a>>> = indices
                    .and_then(|all| all.iter().map(|it| self.static_expr(it).ok()).collect());
                match at.and_then(|at| element_at(&base, &at)) {
                    Some(element) => Ok(element),
                    None => Ok(self.unit.known(expr, self.scope)?),
                }
            }
            Expr::Compare(compare) if compare.ops.len() == 1 => {
                let left = self.static_expr(&compare.left)?;
                let right = self.static_expr(&compare.comparators[0])?;
                compared(compare.ops[0], &left, &right).map(KnownValue::Bool).ok_or_else(|| {
                    let what = "this comparison is only known when Python runs";
                    self.unit.needs_python(expr, what).into()
                })
            }
            Expr::Call(call) => self.static_call(expr, call),
            _ => Ok(self.unit.known(expr, self.scope)?),
        }
    }

    fn static_call(
        &mut self,
        expr: &'a Expr,
        call: &'a ExprCall,
    ) -> LoweringResult<KnownValue<'a>> {
        let name = match &*call.func {
            Expr::Name(name) => Some(name.id.as_str()),
            _ => None,
        };
        if let (Some("len"), [of]) = (name, &*call.arguments.args)
            && let Ok(of) = self.static_expr(of)
            && let Some(len) = crate::sequence::len(&of)
        {
            return Ok(KnownValue::Int(len as i128));
        }
        match (name, &*call.arguments.args) {
            (Some("len"), _) => match self.expr(expr)? {
                Operand::KnownValue(known) => Ok(known),
                _ => fault(
                    Code::NeedsConstant,
                    self.span(expr),
                    "this length isn't known when compiled",
                ),
            },
            (Some("int" | "float"), [of]) => {
                let scalar = if name == Some("float") { Scalar::F32 } else { Scalar::I32 };
                match python_number(scalar, &self.static_expr(of)?) {
                    Some(number) => Ok(number),
                    None => fault(Code::NeedsConstant, self.span(expr), "a number is needed here"),
                }
            }
            (_, [of]) if matches!(self.unit.known(&call.func, self.scope), Ok(KnownValue::Member(path)) if &*path == "warp.static") => {
                self.static_expr(of)
            }
            _ => Ok(self.unit.known(expr, self.scope)?),
        }
    }

    fn print(&mut self, call: &'a ExprCall, span: Span) -> LoweringResult<Operand<'a>> {
        for (_, operand, expr) in self.call_arguments(&call.arguments)? {
            match operand {
                Operand::KnownValue(KnownValue::Text(text)) => {
                    let format = format!("{}\n", text.replace('%', "%%"));
                    self.b.print(Some(&format), &[]);
                }
                operand => {
                    let value = self.value(operand, expr.map_or(span, |expr| self.span(expr)))?;
                    self.b.print(None, &[value]);
                }
            }
        }
        Ok(self.no_value())
    }

    /// `wp.svd3(a, u, s, v)`: the results are bound to the names that are passed for them.
    fn decomposed(
        &mut self,
        name: &str,
        call: &'a ExprCall,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let (Some(row), Some(of)) = (builtin::find(name), call.arguments.args.first()) else {
            return fault(Code::WrongArguments, span, format!("`wp.{name}` takes a value first"));
        };
        let of_value = self.expr(of)?;
        let results = self.call_row(row, vec![(None, of_value, Some(of))], span)?;
        let parts = self.spread(results, span)?;
        for (part, target) in parts.into_iter().zip(usage::results_of(call)) {
            let Expr::Name(variable) = target else {
                let message = format!("`wp.{name}` puts its results into variables");
                return fault(Code::NotWritable, self.span(target), message);
            };
            self.bind(variable.id.as_str(), part, span)?;
        }
        Ok(self.no_value())
    }

    fn printf(&mut self, call: &'a ExprCall, span: Span) -> LoweringResult<Operand<'a>> {
        let given = self.call_arguments(&call.arguments)?;
        let Some(((_, Operand::KnownValue(KnownValue::Text(format)), _), rest)) =
            given.split_first()
        else {
            return fault(
                Code::WrongArguments,
                span,
                "`wp.printf` begins with a format written in the text",
            );
        };
        let mut values = Vec::with_capacity(rest.len());
        let mut format = format.to_string();
        for (_, operand, expr) in rest {
            if let Operand::KnownValue(KnownValue::Text(text)) = operand
                && let Some(place) = conversion(&format, values.len())
                && format[place..].starts_with("%s")
            {
                format.replace_range(place..place + 2, &text.replace('%', "%%"));
                continue;
            }
            let here = expr.map_or(span, |expr| self.span(expr));
            let value = self.value(operand.clone(), here)?;
            if self.ty(value).as_scalar().is_none() {
                let found = self.shown(self.ty(value));
                return fault(
                    Code::TypeMismatch,
                    here,
                    format!("`wp.printf` prints numbers, found `{found}`"),
                );
            }
            values.push(value);
        }
        self.b.print(Some(&format), &values);
        Ok(self.no_value())
    }

    /// Result of a call that is used as a statement: no value.
    pub(super) fn no_value(&self) -> Operand<'a> {
        Operand::Tuple(std::rc::Rc::new([]))
    }

    fn length(&mut self, call: &'a ExprCall, span: Span) -> LoweringResult<Operand<'a>> {
        let operand = self.one_argument(call, span)?;
        let known = |len: usize| Ok(Operand::KnownValue(KnownValue::Int(len as i128)));
        match operand {
            Operand::Tuple(parts) => known(parts.len()),
            Operand::KnownValue(KnownValue::Sequence(parts)) => known(parts.len()),
            Operand::Extents(array) => known(self.extents(array).len()),
            Operand::Tile(tile) => known(tile.dims[0].extent as usize),
            operand => {
                let value = self.value(operand, span)?;
                if let Some((_, dims)) = self.indexed_element(self.ty(value)) {
                    return Ok(Operand::Value(self.indexed_extents(value, dims)[0]));
                }
                match self.shape(self.ty(value)).clone() {
                    Shape::Vector { len, .. } => known(usize::from(len)),
                    Shape::Quaternion(_) => known(4),
                    Shape::Transform(_) => known(7),
                    Shape::Matrix { rows, .. } => known(usize::from(rows)),
                    Shape::Tuple(of) => known(of.len()),
                    Shape::Fixed { len, .. } => known(len as usize),
                    Shape::Array { .. } => Ok(Operand::Value(self.b.extent(value, 0))),
                    _ => {
                        let found = self.shown(self.ty(value));
                        fault(Code::TypeMismatch, span, format!("a `{found}` has no length"))
                    }
                }
            }
        }
    }

    /// `type(x)`
    fn type_of(&mut self, call: &'a ExprCall, span: Span) -> LoweringResult<Operand<'a>> {
        let operand = self.one_argument(call, span)?;
        let Some(ty) = self.operand_type(&operand) else {
            return fault(Code::TypeMismatch, span, "this has no type in a kernel");
        };
        let class = self
            .session
            .structs
            .iter()
            .find(|(_, found)| found.known() == Some(ty))
            .map(|(&key, _)| key);
        let annotation = match class {
            Some(class) => Some(Annotation::Struct(class)),
            None => Annotation::of_type(ty, &self.b.module.types),
        };
        match annotation {
            Some(annotation) => Ok(Operand::KnownValue(KnownValue::Type(annotation))),
            None => fault(Code::TypeMismatch, span, "the type of this can't be named"),
        }
    }

    /// `wp.cast(x, dtype)`: the same bits.
    fn cast(&mut self, call: &'a ExprCall, span: Span) -> LoweringResult<Operand<'a>> {
        let given = self.call_arguments(&call.arguments)?;
        let [
            (_, operand, _),
            (_, Operand::KnownValue(KnownValue::Type(Annotation::Scalar(to))), _),
        ] = &given[..]
        else {
            return fault(Code::WrongArguments, span, "`wp.cast` needs a number and a scalar type");
        };
        let value = self.value(operand.clone(), span)?;
        match self.ty(value).as_scalar() {
            Some(from)
                if from.bytes() == to.bytes() && from != Scalar::Bool && *to != Scalar::Bool =>
            {
                if from == *to {
                    Ok(Operand::Value(value))
                } else {
                    Ok(Operand::Value(self.b.bitcast(value, *to)))
                }
            }
            _ => {
                let found = self.shown(self.ty(value));
                fault(
                    Code::TypeMismatch,
                    span,
                    format!("`wp.cast` needs types of one size, found `{found}`"),
                )
            }
        }
    }

    /// `wp.select(condition, if_false, if_true)`
    fn select(&mut self, call: &'a ExprCall, span: Span) -> LoweringResult<Operand<'a>> {
        let given = self.call_arguments(&call.arguments)?;
        let [(_, condition, _), (_, reject, _), (_, accept, _)] = &given[..] else {
            return fault(
                Code::WrongArguments,
                span,
                "`wp.select` needs a condition and two values",
            );
        };
        let condition = self.truth(condition.clone(), span)?;
        let (accept, reject) =
            (self.value(accept.clone(), span)?, self.value(reject.clone(), span)?);
        if self.ty(accept) != self.ty(reject) {
            let (one, other) = (self.shown(self.ty(accept)), self.shown(self.ty(reject)));
            return fault(
                Code::TypeMismatch,
                span,
                format!("both values are of one type, found `{one}` and `{other}`"),
            );
        }
        Ok(Operand::Value(self.b.select(condition, accept, reject)))
    }

    fn unary_function(
        &mut self,
        name: &str,
        call: &'a ExprCall,
        span: Span,
    ) -> Option<LoweringResult<Operand<'a>>> {
        let operand = match self.one_argument(call, span) {
            Ok(operand) => operand,
            Err(stop) => return Some(Err(stop)),
        };
        let value: Value = match self.value(operand.clone(), span) {
            Ok(value) => value,
            Err(stop) => return Some(Err(stop)),
        };
        let scalar = self.b.module.types.components(self.ty(value)).map(|(scalar, _)| scalar);
        Some(match (name, scalar) {
            ("neg", Some(of)) if of != Scalar::Bool => Ok(Operand::Value(self.b.neg(value))),
            ("pos", Some(of)) if of != Scalar::Bool => Ok(Operand::Value(value)),
            ("invert", Some(of)) if of.is_int() => Ok(Operand::Value(self.b.not(value))),
            ("unot", _) => self
                .truth(Operand::Value(value), span)
                .map(|truth| Operand::Value(self.b.not(truth))),
            _ => {
                let found = self.shown(self.ty(value));
                fault(Code::TypeMismatch, span, format!("`wp.{name}` isn't defined for `{found}`"))
            }
        })
    }
}

fn is_operator(name: &str) -> bool {
    matches!(
        name,
        "add"
            | "sub"
            | "mul"
            | "div"
            | "mod"
            | "floordiv"
            | "bit_and"
            | "bit_or"
            | "bit_xor"
            | "lshift"
            | "rshift"
    )
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

/// Element of a list, table or dictionary at indices that are known.
fn element_at<'a>(base: &KnownValue<'a>, at: &[KnownValue<'a>]) -> Option<KnownValue<'a>> {
    match (base, at) {
        (KnownValue::Dict(items), at) => {
            let is_key = |key: &KnownValue<'a>| match (key, at) {
                (KnownValue::Sequence(parts), [_, _, ..]) => **parts == *at,
                (key, [one]) => key == one,
                _ => false,
            };
            items.iter().rev().find(|(key, _)| is_key(key)).map(|(_, value)| value.clone())
        }
        (base, [at]) => {
            let parts = crate::sequence::iterated(base)?;
            let at = as_int(at)?;
            let at = if at < 0 { at + parts.len() as i128 } else { at };
            parts.get(usize::try_from(at).ok()?).cloned()
        }
        _ => None,
    }
}
