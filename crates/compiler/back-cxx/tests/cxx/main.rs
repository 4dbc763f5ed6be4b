//! C++ and CUDA text: its form, that compilers accept it, and that it computes what the interpreter
//! computes.

mod document;
mod layout;
mod run;
mod speed;
mod text;
