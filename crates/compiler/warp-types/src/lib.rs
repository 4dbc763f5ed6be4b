//! Types, roles of functions and signatures of a text in NVIDIA Warp's dialect, and the types for
//! which generic kernels are compiled: all facts that are read before anything is lowered.
//!
//! [`unit::Unit`] is the evaluator of `gbxcule-python-values` with Warp's answers to its questions.
//! The front end `gbxcule-front-warp` lowers the functions whose signatures are read here.

pub mod annotation;
pub mod decorator;
pub mod dialect;
pub mod geometry;
pub mod indexed_array;
pub mod kernel_option;
pub mod known_call;
pub mod library;
pub mod module;
pub mod overload;
pub mod reference;
pub mod signature;
pub mod substitute;
pub mod trial;
pub mod type_expr;
pub mod undecided;
pub mod unit;
pub mod unknown_name;
pub mod value;
pub mod warp;
