//! The dataset foundry: kernels sampled from typed grammars, run, checked and written.
//!
//! [`row::make`] draws a kernel (`grammar`), prints it as Python (`spell`), lets the compiler read
//! that text as any other (`row_program`), runs it (`execute`, `semantic_check`,
//! `finite_difference`) and keeps all of it as a [`row::Row`]. [`batch`] makes many and writes
//! them, [`validate`] checks stored ones, [`mutate`] checks the checks.

mod allowed_error;
mod ast;
pub mod batch;
mod block;
pub mod card;
mod distance;
pub mod error;
mod execute;
pub mod external_column;
pub mod feature_count;
mod finite_difference;
pub mod folder_fault;
pub mod grade;
mod grammar;
pub mod harvest;
mod identifiers;
mod input;
pub mod jsonl;
mod labels;
pub mod launched;
pub mod leak;
pub mod mutate;
mod mutation_check;
mod picture;
mod random;
mod rounding;
pub mod row;
mod row_program;
pub mod sandboxed_program;
mod semantic_check;
pub mod skeleton;
mod spell;
mod split;
mod structure;
pub mod table;
mod tensor;
pub mod validate;
pub mod verdict;
mod warp;
mod warp_text;
mod widen;
mod worker_threads;

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
