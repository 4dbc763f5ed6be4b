//! Compares gradients with central differences in f64 on the interpreter.

mod builtin;
mod call;
mod cost;
mod hook;
mod oracle;
mod pattern;
mod place;
mod random;
mod refusal;
mod shrink;
mod table;
mod valid;
mod write;
