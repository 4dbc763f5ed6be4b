//! Calls of functions of tiles: their parameters, and what each of them does.

use super::super::call::CallArgument;
use super::super::{FunctionLowering, LoweringResult, Operand, fault};
use super::{MAX_ELEMENTS, Tile};
use crate::constant::KnownValue;
use crate::syntax::{Expr, ExprCall};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Type;
use std::rc::Rc;

/// Names of the parameters of each function; `*` takes any number before keywords.
const PARAMETERS: &[(&str, &[&str])] = &[
    ("tile", &["x", "preserve_type"]),
    ("untile", &["a"]),
    ("tile_arange", &["*", "dtype", "storage"]),
    ("tile_argmax", &["a"]),
    ("tile_argmin", &["a"]),
    ("tile_assign", &["dst", "src", "offset"]),
    ("tile_astype", &["t", "dtype"]),
    ("tile_atomic_add", &["a", "t", "offset", "bounds_check"]),
    ("tile_atomic_add_indexed", &["a", "indices", "t", "offset", "axis"]),
    ("tile_axpy", &["alpha", "src", "dest"]),
    ("tile_broadcast", &["a", "shape"]),
    ("tile_cholesky", &["A", "fill_mode"]),
    ("tile_cholesky_inplace", &["A", "fill_mode"]),
    ("tile_cholesky_solve", &["L", "y", "fill_mode"]),
    ("tile_cholesky_solve_inplace", &["L", "y", "fill_mode"]),
    ("tile_diag_add", &["a", "d"]),
    ("tile_dot", &["a", "b"]),
    ("tile_empty", &["shape", "dtype", "storage"]),
    ("tile_extract", &["a", "*"]),
    ("tile_from_thread", &["shape", "value", "thread_idx", "storage"]),
    ("tile_full", &["shape", "value", "dtype", "storage"]),
    ("tile_load", &["a", "shape", "offset", "storage", "bounds_check", "aligned"]),
    ("tile_load_indexed", &["a", "indices", "shape", "offset", "axis", "storage"]),
    ("tile_lower_solve", &["L", "y"]),
    ("tile_lower_solve_inplace", &["L", "y"]),
    ("tile_map", &["op", "*"]),
    ("tile_matmul", &["a", "b", "out", "alpha", "beta", "precision"]),
    ("tile_max", &["a"]),
    ("tile_min", &["a"]),
    ("tile_ones", &["shape", "dtype", "storage"]),
    ("tile_reduce", &["op", "a", "axis"]),
    ("tile_reshape", &["t", "shape"]),
    ("tile_scan_exclusive", &["a"]),
    ("tile_scan_inclusive", &["a"]),
    ("tile_scan_max_inclusive", &["a"]),
    ("tile_scan_min_inclusive", &["a"]),
    ("tile_scatter_add", &["a", "*", "atomic"]),
    ("tile_scatter_masked", &["a", "*"]),
    ("tile_sort", &["keys", "values"]),
    ("tile_squeeze", &["t", "axis"]),
    ("tile_store", &["a", "t", "offset", "bounds_check", "aligned"]),
    ("tile_store_indexed", &["a", "indices", "t", "offset", "axis"]),
    ("tile_sum", &["a", "axis"]),
    ("tile_transpose", &["a"]),
    ("tile_upper_solve", &["U", "z"]),
    ("tile_upper_solve_inplace", &["U", "z"]),
    ("tile_view", &["t", "offset", "shape"]),
    ("tile_zeros", &["shape", "dtype", "storage"]),
];

/// The arguments of a call by the parameters' names.
pub(super) struct TileCall<'a> {
    pub(super) name: &'static str,
    pub(super) span: Span,
    given: Vec<(&'static str, CallArgument<'a>)>,
    /// Arguments for `*`.
    pub(super) rest: Vec<CallArgument<'a>>,
}

impl<'a> TileCall<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&Operand<'a>> {
        self.given.iter().find(|(found, _)| *found == name).map(|(_, (_, operand, _))| operand)
    }

    pub(super) fn needed(&self, name: &str) -> LoweringResult<Operand<'a>> {
        match self.get(name) {
            Some(operand) => Ok(operand.clone()),
            None => {
                fault(Code::WrongArguments, self.span, format!("`wp.{}` needs `{name}`", self.name))
            }
        }
    }

    pub(super) fn expr(&self, name: &str) -> Option<&'a Expr> {
        self.given.iter().find(|(found, _)| *found == name).and_then(|(_, (.., expr))| *expr)
    }

    pub(super) fn tile(&self, name: &str) -> LoweringResult<Rc<Tile>> {
        match self.needed(name)? {
            Operand::Tile(tile) => Ok(tile),
            _ => fault(Code::TypeMismatch, self.span, format!("`{name}` is a tile")),
        }
    }

    /// A truth value that is known when compiling.
    pub(super) fn flag(&self, name: &str, default: bool) -> LoweringResult<bool> {
        match self.get(name) {
            None => Ok(default),
            Some(Operand::KnownValue(known)) if known.truth().is_some() => {
                Ok(known.truth().unwrap_or(default))
            }
            Some(_) => {
                let message = format!("`{name}` is `True` or `False`, known when compiled");
                fault(Code::NeedsConstant, self.span, message)
            }
        }
    }

    /// Whole numbers that are known when compiling: one, or a tuple of them.
    pub(super) fn numbers(&self, name: &str) -> LoweringResult<Option<Vec<i128>>> {
        let Some(operand) = self.get(name) else { return Ok(None) };
        match numbers(operand) {
            Some(numbers) => Ok(Some(numbers)),
            None if matches!(operand, Operand::KnownValue(KnownValue::None)) => Ok(None),
            None => {
                let message = format!("`{name}` is one to four numbers, known when compiled");
                fault(Code::NeedsConstant, self.span, message)
            }
        }
    }

    /// A shape.
    pub(super) fn extents(&self, name: &str) -> LoweringResult<Vec<u32>> {
        let numbers = self.numbers(name)?;
        let extents: Option<Vec<u32>> = numbers.and_then(|numbers| {
            let fits = |&number: &i128| u32::try_from(number).ok().filter(|&extent| extent > 0);
            numbers.iter().map(fits).collect()
        });
        match extents {
            Some(extents) if (1..=4).contains(&extents.len()) => {
                let count = extents.iter().fold(1u64, |all, &it| all.saturating_mul(it.into()));
                if count > MAX_ELEMENTS {
                    let message = format!("a tile has at most {MAX_ELEMENTS} elements");
                    return fault(Code::TooComplex, self.span, message);
                }
                Ok(extents)
            }
            _ => {
                let message = "a shape is one to four numbers above 0, known when compiled";
                fault(Code::NeedsConstant, self.span, message)
            }
        }
    }
}

fn numbers(operand: &Operand<'_>) -> Option<Vec<i128>> {
    let number = |known: &KnownValue<'_>| match known {
        KnownValue::Int(number) => Some(*number),
        KnownValue::Typed(literal) => literal.as_int(),
        _ => None,
    };
    match operand {
        Operand::KnownValue(KnownValue::Sequence(parts)) => parts.iter().map(number).collect(),
        Operand::KnownValue(known) => number(known).map(|number| vec![number]),
        Operand::Tuple(parts) => {
            let parts = parts.iter().map(|part| match part {
                Operand::KnownValue(known) => number(known),
                _ => None,
            });
            parts.collect()
        }
        _ => None,
    }
}

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// A call of a function of tiles; `None` if it isn't one.
    pub(in super::super) fn tile_call(
        &mut self,
        name: &str,
        call: &'a ExprCall,
        span: Span,
    ) -> Option<LoweringResult<Operand<'a>>> {
        let &(name, params) = PARAMETERS.iter().find(|(found, _)| *found == name)?;
        Some(self.tile_arguments(name, params, call, span).and_then(|call| self.tile_result(&call)))
    }

    fn tile_arguments(
        &mut self,
        name: &'static str,
        params: &'static [&'static str],
        call: &'a ExprCall,
        span: Span,
    ) -> LoweringResult<TileCall<'a>> {
        let (mut given, mut rest) = (Vec::new(), Vec::new());
        let mut places = params.iter().copied().peekable();
        for argument in self.call_arguments(&call.arguments)? {
            let param = match argument.0 {
                Some(keyword) => params.iter().copied().find(|&param| param == keyword),
                None if places.peek() == Some(&"*") => {
                    rest.push(argument);
                    continue;
                }
                None => places.next(),
            };
            match param {
                Some(param) => given.push((param, argument)),
                // `tile_scatter_add(a, i=.., value=..)` and the like.
                None if params.contains(&"*") => rest.push(argument),
                None => {
                    let params = params.join("`, `");
                    let message = format!("`wp.{name}` doesn't take these arguments");
                    let fault = Diagnostic::error(Code::WrongArguments, span, message);
                    let fault = fault.help(format!("it takes `{params}`"));
                    return Err(super::super::LoweringError::Fault(Box::new(fault)));
                }
            }
        }
        Ok(TileCall { name, span, given, rest })
    }

    /// Lowers a call that gives no value; returns true if it is one.
    fn tile_statement(&mut self, call: &TileCall<'a>) -> LoweringResult<bool> {
        match call.name {
            "tile_assign" => self.tile_assign(call)?,
            "tile_axpy" => self.tile_axpy(call)?,
            "tile_cholesky_inplace" => self.tile_cholesky(call, true).map(drop)?,
            "tile_scatter_add" | "tile_scatter_masked" => self.tile_scatter(call)?,
            "tile_sort" => self.tile_sort(call)?,
            "tile_store" | "tile_store_indexed" => self.tile_store(call)?,
            name if name.ends_with("_solve_inplace") => self.tile_solve(call).map(drop)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn tile_result(&mut self, call: &TileCall<'a>) -> LoweringResult<Operand<'a>> {
        let span = call.span;
        if self.tile_statement(call)? {
            return Ok(self.no_value());
        }
        let tile = match call.name {
            "tile" => self.tile_of_thread(call)?,
            "untile" => return self.untile(call),
            "tile_arange" => self.tile_arange(call)?,
            "tile_argmax" => self.tile_extremum(call, true)?,
            "tile_argmin" => self.tile_extremum(call, false)?,
            "tile_astype" => self.tile_astype(call)?,
            "tile_cholesky" => return Ok(Operand::Tile(self.tile_cholesky(call, false)?)),
            "tile_diag_add" => self.tile_diag_add(call)?,
            name if name.ends_with("_solve") => return Ok(Operand::Tile(self.tile_solve(call)?)),
            name if name.starts_with("tile_scan_") => self.tile_scan(call)?,
            "tile_atomic_add" | "tile_atomic_add_indexed" => self.tile_atomic_add(call)?,
            "tile_broadcast" => {
                self.tile_broadcast(&*call.tile("a")?, &call.extents("shape")?, span)?
            }
            "tile_dot" => self.tile_dot(call)?,
            "tile_empty" | "tile_zeros" => {
                let of = self.tile_dtype(call, Some(Type::F32))?;
                let zero = self.zero(of);
                self.tile_filled(call, zero)?
            }
            "tile_ones" => {
                let of = self.tile_dtype(call, Some(Type::F32))?;
                let one = self.tile_number(of, 1.0, span)?;
                self.tile_filled(call, one)?
            }
            "tile_full" => self.tile_full(call)?,
            "tile_from_thread" => {
                let value = self.value(call.needed("value")?, span)?;
                self.tile_filled(call, value)?
            }
            "tile_extract" => return self.tile_extract(call),
            "tile_load" | "tile_load_indexed" => self.tile_load(call)?,
            "tile_map" => self.tile_map(call)?,
            "tile_matmul" => return self.tile_matmul(call),
            "tile_max" | "tile_min" | "tile_reduce" | "tile_sum" => self.tile_reduce(call)?,
            "tile_reshape" => {
                let shape = call.numbers("shape")?.unwrap_or_default();
                self.tile_reshape(&*call.tile("t")?, &shape, span)?
            }
            "tile_squeeze" => {
                let axes = call.numbers("axis")?;
                self.tile_squeeze(&*call.tile("t")?, axes.as_deref(), span)?
            }
            "tile_transpose" => self.tile_transpose(&*call.tile("a")?, span)?,
            "tile_view" => self.tile_view_call(call)?,
            name => unreachable!("`{name}` has parameters and no meaning"),
        };
        Ok(Operand::Tile(Rc::new(tile)))
    }

    fn tile_view_call(&mut self, call: &TileCall<'a>) -> LoweringResult<Tile> {
        let shape = match call.get("shape") {
            None | Some(Operand::KnownValue(KnownValue::None)) => None,
            Some(_) => Some(call.extents("shape")?),
        };
        let offset = self.tile_offset_parts(call)?;
        self.tile_view(&*call.tile("t")?, offset, shape, call.span)
    }

    /// The operands of `offset`.
    pub(super) fn tile_offset_parts(
        &mut self,
        call: &TileCall<'a>,
    ) -> LoweringResult<Vec<Operand<'a>>> {
        Ok(match call.get("offset").cloned() {
            None | Some(Operand::KnownValue(KnownValue::None)) => Vec::new(),
            Some(one @ Operand::KnownValue(KnownValue::Int(_) | KnownValue::Typed(_))) => vec![one],
            Some(Operand::Value(value)) if self.ty(value).as_scalar().is_some() => {
                vec![Operand::Value(value)]
            }
            Some(operand) => self.spread(operand, call.span)?,
        })
    }
}
