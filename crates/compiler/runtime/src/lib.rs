//! Runs kernels: arrays, devices, launches.
//!
//! [`compile`] turns a checked module into machine code for a [`Device`]. A [`Kernel`] of it is
//! launched over a grid with [`Argument`]s, such as arrays that a [`Stream`] of the device made.
//! Every mistake that a caller can make (types, lengths, missing arrays) is an [`Error`] that names
//! the argument, and a kernel that faults ends with an error as well, so the whole interface is
//! safe.
//!
//! Kernels leave the same memory as threads that run one after the other in the order of the grid
//! in two cases: on one thread (`GBXCULE_THREADS=1`), and if a launch is so small that the
//! caller's thread does all of it. There threads run in groups only if that makes no difference.
//! On several threads results don't depend on the number of threads if no thread writes an
//! element that another thread reads or writes. Integer atomics whose old values are unused may
//! target one element; floating point atomics add in the order in which threads reach them.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod argument;
mod argument_block;
mod array;
mod buffer;
mod build_id;
mod code;
mod compile_cache;
pub mod cuda;
mod data_type;
mod device;
mod disk_cache;
mod error;
mod exclusive;
mod external_memory;
mod function_code;
mod generate;
pub mod geometry;
mod host_function;
mod kernel;
pub mod nvrtc;
mod object;
mod output;
mod overlap;
mod process;
mod program_file;
pub mod ptxas;
mod recipe;
mod reflection;
mod stream;
mod worker_threads;

pub use argument::Argument;
pub use array::Array;
pub use build_id::build_id;
pub use code::External;
pub use compile_cache::{Build, Compiled, compile, compile_recipe};
pub use data_type::{DataType, Element, StructType};
pub use device::Device;
pub use disk_cache::CodeFolder;
pub use error::{Error, Fault};
pub use function_code::FunctionCode;
pub use kernel::{DirectKernel, Kernel, SliceArgument};
pub use output::Output;
pub use process::{PerProcess, Process, get_or_make};
pub use program_file::{ProgramFiles, ReadError, is_in_package};
pub use recipe::record::{Stored, read_whole};
pub use recipe::{MadeModule, Recipe};
pub use reflection::{Parameter, Reflection, read_parameters, reflect};
pub use stream::{Mark, Stream, Traffic};
pub use worker_threads::{check_threads, in_pool, worker_count};
