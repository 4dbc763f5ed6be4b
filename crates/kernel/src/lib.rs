//! The kernel compiler: text in, typed IR, text out.
//!
//! Pure: no I/O, no unsafe. A front end builds an [`ir::Module`], [`check`] turns it into a
//! `Valid<Module>`, and whatever runs, differentiates or prints a program takes that type.

#[cfg(feature = "arbitrary")]
pub mod arbitrary;
pub mod back;
pub mod check;
pub mod diagnostic;
pub mod eval;
pub mod front;
pub mod grad;
pub mod interp;
pub mod ir;
pub mod pass;
pub mod source;
pub mod survey;
