//! The intermediate representation and its meaning.
//!
//! This page is the reference for all code that runs, prints or differentiates IR. The interpreter
//! is this page as code; where the two differ, one of them has a bug.
//!
//! # Shape
//! A [`Module`] holds types, constant tables, functions and kernels. A [`Function`] has parameters,
//! one result and a [`Body`]: a tree of [`Block`]s of [`Stmt`]s. There is no jump, no φ, no pointer
//! value. An [`Op`] makes a [`Value`], which never changes; variable data lies in [`Place`]s.
//!
//! # Order
//! Statements run in order. A `Let` evaluates its operation when it is reached, and only then. In a
//! loop each iteration computes the value again. Operations without effect may be evaluated at
//! another point, twice or never, as long as the program's results stay the same; a `Load` may not
//! move across a write to the same memory. A trap need not happen at its place among the effects
//! before it, but no effect after it may happen.
//!
//! # Numbers
//! - **Integers** wrap around in two's complement: `add`, `sub`, `mul`, `neg`, `abs` and the
//!   smallest integer divided by -1 (its remainder is 0). There is no promotion: `u8` arithmetic is
//!   modulo 256.
//! - **`div`** truncates, **`floordiv`** rounds towards minus infinity, **`rem`** has the sign of
//!   the left operand. An integer divided by 0 *faults*.
//! - **Shifts** take their amount as unsigned. An amount of the width or more gives 0, or -1 for
//!   the right shift of a negative number. A front end whose language masks the amount writes the
//!   mask.
//! - **Floats** are IEEE 754 to nearest, ties to even, one rounding for each operation: no
//!   contraction (the native `fma` alone is fused), no reassociation, subnormals kept. All ways
//!   of running agree on which results are NaN, but not on the bits of a NaN. `f16` and `bf16`:
//!   every operation is done in `f32` and its result rounded. `rem` is C's `fmod`; `floordiv` is
//!   `floor` of the quotient rounded to the type.
//! - **`neg`** of a float flips the sign, of zero and NaN too.
//! - **Comparisons** with NaN are false, except `NotEqual`.
//! - **`min(a, b)`** is `a` if `a <= b` or `b` is NaN, else `b`: so a NaN loses against a number,
//!   and of two zeros the first wins. `max` does the same with `>=`. `CompareExchange` compares
//!   bits.
//! - **`Convert`**: integer to integer keeps the low bits, extended by the *source's* signedness.
//!   A conversion to `bool` gives false for 0 and true for every other value, NaN included; a
//!   `bool` converts to 0 or 1. Integer to float rounds to nearest; float to integer truncates,
//!   saturates, and makes NaN 0. Every conversion to `f16` and `bf16` goes through `f32`, as in
//!   NVIDIA Warp, so `f64` is rounded twice. `Bitcast` keeps the bits.
//! - **Natives** ([`Native`]) may differ between ways of running by the units in the last place
//!   that their rows allow; those with 0 are exact.
//!
//! # Composites
//! Vectors, matrices, quaternions, transforms, structs and fixed arrays are values: copying copies
//! all of them. `Unary`, `Binary`, `Convert` go by component. Components are counted row-major in a
//! matrix; x, y, z, w in a quaternion; translation then rotation in a transform. Equality of
//! composites and products of matrices are builtins. A tuple is the result of a call or of
//! `Construct`, is taken apart by `Extract`, and is never stored.
//!
//! # Variables
//! A local holds zero when its function begins and lives until the function ends, whatever block
//! mentions it: a loop does not clear it. A `scratch` local holds anything when its function
//! begins: the author of the IR vouches that no part of it is read before it is written.
//!
//! # Places
//! The values on a path are evaluated before the place is used. The place itself is determined when
//! the load, store, atomic or call that uses it is reached: handles on the path (`Element`) are
//! read then.
//! Indices may be of any integer type. If the type is signed, an index from `-extent` to `-1`
//! counts from the end, as in Python. Any other index outside `0..extent` *faults*; so does
//! `Element` through an absent array. Positions of `Component` and `Field` are constants, and
//! always inside.
//!
//! # Arrays
//! An array value is a handle: data, gradient, extents, strides in bytes (they may be 0 or
//! negative), as [`layout::descriptor`] lays it out. Handles are copied freely and may alias: two
//! arrays may share memory, and a store through one is seen through the other. The address of
//! element `i, j, ..` is data + `i * strides[0] + j * strides[1] + ..`, computed in 64 bits.
//! Elements lie at their natural alignment. `View` makes a handle to part: `At(i)` moves data by
//! `i` strides and drops the dimension (negative indices count from the end); `Range` moves data by
//! `start` strides, multiplies the stride by `step` and sets the extent to `len`; a negative `len`
//! is taken as 0; unless `len` is 0, first and last index must lie in `0..extent`, without counting
//! from the end, or the view *faults*. The gradient moves along. `Gradient` of an array without one
//! is absent, and so are its views. `Extent` of an absent array is the number in its handle. Tables
//! are read-only arrays in place.
//!
//! # Atomics
//! Atomics act on memory behind `Element` only. Each component is changed in one step, with relaxed
//! ordering, and the old value is returned. A plain `a[i] += x` of the dialect is an `Atomic Add`
//! whose value is not used. `Subtract` adds the negative.
//!
//! # Calls
//! By-value arguments are copies; a by-value parameter can't be written. `Shared` and `Mutable`
//! parameters *are* the caller's places, determined once, before the call. A `Mutable` place
//! overlaps no other place of the same call ([`crate::check`] holds it for locals and parameters; a
//! caller that passes elements of arrays vouches for them). Calls never recurse. Functions with
//! several results return a tuple. The state of random numbers is a `u32` in the caller's variable,
//! passed as `Mutable`.
//!
//! # Control
//! `Switch` runs the case whose labels contain the selector, else the default. `For` runs with
//! `start + k * step` for `k` = 0, 1, .. as long as that number, computed without wrapping, is
//! below `end` (above `end` for a negative step); with step 0 it never runs. The bounds are of one
//! integer type and are read once; the index can't be changed. `While` evaluates its header before
//! each test.
//!
//! # Faults
//! `Trap`, a failed `Assert`, and every operation that *faults* above end the launch with an error
//! that names the place. In *unchecked* builds `Trap` and `Assert` still do so, but an operation
//! that would fault is undefined behaviour. Builds may also leave out the checks of
//! [`Function::trusted`] functions alone, and assume that no array there has a negative stride. How
//! far other threads got is unspecified.
//!
//! # Launches
//! A kernel runs once for each point of a grid of up to four dimensions, each of at most `i32::MAX`
//! points, in any order or at once; `LaunchIndex(d)` is the coordinate, 0 beyond the grid's
//! dimensions; functions may ask for it as well. Plain stores of two threads to one place race:
//! memory keeps one of the values. The interpreter runs threads in row-major order, last dimension
//! fastest.
//!
//! `Lowest` is the least of a `u32` over the threads that run together: this thread, and possibly
//! others of the same launch that evaluate the same `Lowest` at the same time. The set of these
//! threads is unspecified and may differ from one evaluation to the next, so results must not
//! depend on it. Everywhere but in CUDA on a device the set is this thread alone.
//!
//! `Opaque` returns its operand. A compiler of printed text must compute it at its place and can
//! assume nothing about the value, so it can't compute before a switch a value that only some cases
//! need.
//!
//! # Printing
//! `Print` without format writes each value on a line as NVIDIA Warp does; with format, as C's
//! `printf`.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod abi;
pub mod arena;
pub mod build;
pub mod builtin;
pub mod check;
pub mod constant;
pub mod diagnostic;
pub mod dialect_name;
pub mod eval;
pub mod function;
pub mod half;
pub mod layout;
pub mod module;
mod named;
pub mod op;
pub mod parse;
pub mod place;
pub mod print;
pub mod source;
pub mod splitmix;
pub mod stmt;
pub mod ty;
pub mod walk;

pub use arena::{Arena, Handle, List, Pool};
pub use build::Builder;
pub use builtin::{BuiltinId, Native};
pub use constant::{Literal, Table, TableId};
pub use function::{
    Body, Function, FunctionId, FunctionKind, Inline, Local, LocalId, Name, Param, PassMode,
    Residency,
};
pub use module::Module;
pub use op::{Arg, AtomicOp, BinaryOp, CompareOp, Op, Selector, UnaryOp, Value, ValueData};
pub use place::{Place, PlaceId, Projection, Root};
pub use stmt::{Block, BlockId, Case, Stmt, StmtKind};
pub use ty::{Field, Scalar, Shape, Struct, StructId, Type, Types};
