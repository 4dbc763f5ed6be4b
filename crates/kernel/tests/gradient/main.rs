//! Gradients are held against central differences in f64 on the interpreter.

mod builtin;
mod oracle;
mod pattern;
mod random;
mod write;
