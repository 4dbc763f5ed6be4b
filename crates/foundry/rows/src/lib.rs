//! Rows of datasets: made from sampled and harvested kernels, run, checked, stored, read and
//! checked again.
//!
//! [`row::make`] draws a kernel as Python (`gbxcule_grammar`), compiles this text like any file
//! (`row_program`), runs it (`execute`, `semantic_check`, `finite_difference`) and stores texts and
//! results as a [`row::Row`]. [`batch`] makes and writes many rows, [`validate`] checks stored
//! rows, [`mutate`] tests the checks.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod allowed_error;
pub mod batch;
mod block;
pub mod card;
pub mod construct_table;
pub mod data_file;
pub mod distance;
pub mod error;
pub mod execute;
pub mod external_column;
pub mod feature_count;
mod finite_difference;
pub mod folder_fault;
mod geometry;
pub mod harvested;
pub mod host;
pub mod jsonl;
mod labels;
pub mod launched;
pub mod leak;
pub mod mutate;
mod mutation_check;
pub mod part;
mod picture;
pub mod rounding;
pub mod row;
pub mod row_array;
pub mod row_program;
pub mod sandboxed_program;
mod seed_text;
mod semantic_check;
pub mod shard;
pub mod skeleton;
pub mod split;
pub mod structure;
pub mod table;
pub mod template_row;
pub mod tensor;
pub mod validate;
pub mod verdict;
mod warp;
mod warp_text;
pub mod widen;
pub mod worker_threads;
