//! Lowers the syntax tree of one kernel, and of the functions it calls, to IR.
//!
//! A variable that is bound once, and read only where that binding is visible, becomes a value;
//! any other variable becomes a local. A name bound to a number written in the text stays known
//! ("static") until control flow makes it uncertain, as in NVIDIA Warp. Static names are the
//! reason why loops can be unrolled and branches folded.
//!
//! Each type uses only the types below it, with one exception, which the language's recursion
//! needs: arguments of calls are expressions, and if a call needs a function for new types, the
//! session lowers that function from its statements on.
//!
//! | type | modules | responsibility |
//! |---|---|---|
//! | [`Session`] | `session` | begins each function; state that functions share |
//! | `Statements` | `control`, `assign`, `slice`, `loops` | statements, control flow, the result |
//! | `Snippet` | `snippet` | functions whose bodies are C++ |
//! | `Expressions` | `expr`, `operator` | the value of an expression |
//! | `Access` | `access`, `component`, `view`, `indexed_array` | the place or part that is named |
//! | `BuiltinCall` | `call`, `special`, `static_value`, `atomic`, `table` | calls of builtins |
//! | `PassedArguments` | `user_function`, `overload`, `library` | calls of functions of the text |
//! | | `geometry`, `manual_gradient` | tables of the library, gradients by hand |
//! | `Tile` | `tile` | a tile, its views, and the functions of tiles |
//! | `Names` | `names`, `usage` | bindings of names at a point |
//! | `Writer` | `writer`, `value` | the body; values of operands |
//! | `StructTypes` | `struct_type` | structs of the module, by class |
//! | `Report` | `report` | faults and limits |
//! | `Operand`, `Binding` | `operand` | plain data |

mod access;
mod assign;
mod atomic;
mod call;
mod component;
mod control;
mod expr;
mod function_gradient;
mod geometry;
mod indexed_array;
mod library;
mod loops;
mod manual_gradient;
mod names;
mod operand;
mod operator;
mod overload;
mod report;
mod session;
mod slice;
mod snippet;
mod special;
mod static_value;
mod struct_type;
mod table;
mod tile;
mod usage;
mod user_function;
mod value;
mod view;
mod writer;

use expr::Expressions;
pub(super) use operand::{Binding, LoweringError};
pub(super) use session::{Definition, Kind, Session};
