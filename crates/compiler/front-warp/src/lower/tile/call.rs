//! Calls of functions of tiles: their parameters, and the code of each function.

use super::super::Expressions;
use super::super::call::CallArgument;
use super::super::operand::{LoweringResult, Operand, fault};
use super::super::writer::Writer;
use super::view::offset_parts;
use super::{MAX_ELEMENTS, Tile, arithmetic, fourier, make, matrix, order, solve, stack, transfer};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Type;
use gbxcule_python_names::syntax::{Expr, ExprCall};
use gbxcule_warp_types::value::KnownValue;
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
    ("tile_fft", &["inout"]),
    ("tile_from_thread", &["shape", "value", "thread_idx", "storage"]),
    ("tile_full", &["shape", "value", "dtype", "storage"]),
    ("tile_ifft", &["inout"]),
    ("tile_load", &["a", "shape", "offset", "storage", "bounds_check", "aligned"]),
    ("tile_load_indexed", &["a", "indices", "shape", "offset", "axis", "storage"]),
    ("tile_lower_solve", &["L", "y"]),
    ("tile_lower_solve_inplace", &["L", "y"]),
    ("tile_map", &["op", "*"]),
    ("tile_matmul", &["a", "b", "out", "alpha", "beta", "precision"]),
    ("tile_max", &["a"]),
    ("tile_min", &["a"]),
    ("tile_ones", &["shape", "dtype", "storage"]),
    ("tile_randf", &["shape", "rng", "min", "max", "storage"]),
    ("tile_randi", &["shape", "rng", "min", "max", "storage"]),
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
    ("tile_stack", &["capacity", "dtype"]),
    ("tile_stack_clear", &["s"]),
    ("tile_stack_count", &["s"]),
    ("tile_stack_pop", &["s"]),
    ("tile_stack_push", &["s", "value", "has_value"]),
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

    /// A truth value that is known at compile time.
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

    /// Whole numbers that are known at compile time: one, or a tuple of them.
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

/// Lowers a call of a function of tiles; `None` for another function.
pub(in crate::lower) fn tile_call<'a>(
    cx: &mut Expressions<'_, 'a>,
    name: &str,
    call: &'a ExprCall,
    span: Span,
) -> Option<LoweringResult<Operand<'a>>> {
    let &(name, params) = PARAMETERS.iter().find(|(listed, _)| *listed == name)?;
    Some(tile_arguments(cx, name, params, call, span).and_then(|call| tile_result(cx, &call)))
}

fn tile_arguments<'a>(
    cx: &mut Expressions<'_, 'a>,
    name: &'static str,
    params: &'static [&'static str],
    call: &'a ExprCall,
    span: Span,
) -> LoweringResult<TileCall<'a>> {
    let (mut given, mut rest) = (Vec::new(), Vec::new());
    let mut places = params.iter().copied().peekable();
    for argument in cx.call_arguments(&call.arguments)? {
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
                return Err(fault.into());
            }
        }
    }
    Ok(TileCall { name, span, given, rest })
}

/// Lowers a call that gives no value; returns false for a call that gives one.
fn tile_statement<'a>(cx: &mut Expressions<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<bool> {
    match call.name {
        "tile_assign" => transfer::assign_part(&mut cx.b, call)?,
        "tile_axpy" => arithmetic::axpy(cx, call)?,
        "tile_cholesky_inplace" => solve::cholesky(&mut cx.b, call, true).map(drop)?,
        "tile_fft" | "tile_ifft" => fourier::transform(&mut cx.b, call)?,
        "tile_scatter_add" | "tile_scatter_masked" => transfer::scatter(cx, call)?,
        "tile_sort" => order::sort(&mut cx.b, call)?,
        "tile_store" | "tile_store_indexed" => transfer::store(&mut cx.b, call)?,
        name if name.ends_with("_solve_inplace") => solve::solve(&mut cx.b, call).map(drop)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn tile_result<'a>(
    cx: &mut Expressions<'_, 'a>,
    call: &TileCall<'a>,
) -> LoweringResult<Operand<'a>> {
    let span = call.span;
    if tile_statement(cx, call)? {
        return Ok(Operand::nothing());
    }
    let tile = match call.name {
        "tile" => make::of_thread(&mut cx.b, call)?,
        "untile" => return make::untile(&mut cx.b, call),
        "tile_arange" => make::arange(&mut cx.b, call)?,
        "tile_argmax" => arithmetic::extremum(&mut cx.b, call, true)?,
        "tile_argmin" => arithmetic::extremum(&mut cx.b, call, false)?,
        "tile_astype" => make::astype(&mut cx.b, call)?,
        "tile_cholesky" => return Ok(Operand::Tile(solve::cholesky(&mut cx.b, call, false)?)),
        "tile_diag_add" => solve::diag_add(&mut cx.b, call)?,
        name if name.ends_with("_solve") => {
            return Ok(Operand::Tile(solve::solve(&mut cx.b, call)?));
        }
        name if name.starts_with("tile_scan_") => order::scan(&mut cx.b, call)?,
        "tile_atomic_add" | "tile_atomic_add_indexed" => transfer::atomic_add(&mut cx.b, call)?,
        "tile_broadcast" => call.tile("a")?.broadcast(&call.extents("shape")?, span)?,
        "tile_dot" => arithmetic::dot(cx, call)?,
        "tile_empty" | "tile_zeros" => {
            let of = make::dtype(&mut cx.b, call, Some(Type::F32))?;
            let zero = cx.b.zero_of(of);
            make::filled(&mut cx.b, call, zero)?
        }
        "tile_ones" => {
            let of = make::dtype(&mut cx.b, call, Some(Type::F32))?;
            let one = make::number(&mut cx.b, of, 1.0, span)?;
            make::filled(&mut cx.b, call, one)?
        }
        "tile_full" => make::full(&mut cx.b, call)?,
        "tile_from_thread" => {
            let value = cx.b.value(call.needed("value")?, span)?;
            make::filled(&mut cx.b, call, value)?
        }
        "tile_extract" => return make::extract(&mut cx.b, call),
        "tile_load" | "tile_load_indexed" => transfer::load(&mut cx.b, call)?,
        "tile_map" => arithmetic::map(cx, call)?,
        "tile_matmul" => return matrix::matmul(&mut cx.b, call),
        "tile_max" | "tile_min" | "tile_reduce" | "tile_sum" => arithmetic::reduce(cx, call)?,
        "tile_randf" | "tile_randi" => make::random(&mut cx.b, call)?,
        "tile_reshape" => {
            let shape = call.numbers("shape")?.unwrap_or_default();
            call.tile("t")?.reshape(&shape, span)?
        }
        "tile_stack" => return stack::new(&mut cx.b, call),
        name if name.starts_with("tile_stack_") => return stack::act(&mut cx.b, call),
        "tile_squeeze" => {
            let axes = call.numbers("axis")?;
            call.tile("t")?.squeeze(axes.as_deref(), span)?
        }
        "tile_transpose" => call.tile("a")?.transposed(span)?,
        "tile_view" => tile_view_call(&mut cx.b, call)?,
        name => unreachable!("`{name}` is in the list of parameters only"),
    };
    Ok(tile.into())
}

fn tile_view_call<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Tile> {
    let shape = match call.get("shape") {
        None | Some(Operand::KnownValue(KnownValue::None)) => None,
        Some(_) => Some(call.extents("shape")?),
    };
    let offset = offset_parts(b, call)?;
    call.tile("t")?.view(b, offset, shape, call.span)
}
