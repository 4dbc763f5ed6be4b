//! The Python environment: which interpreter runs, and which programs of a project are trusted.
//!
//! An interpreter in a folder may have been put there by another user. So an interpreter runs only
//! if the user named it, activated its environment, or owns the project in which it lies.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod interpreter;
mod project;

pub use interpreter::{PythonInterpreter, VARIABLE};
pub use project::{find_in_project, is_trusted, search_starts};
