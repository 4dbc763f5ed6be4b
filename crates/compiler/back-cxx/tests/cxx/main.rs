//! C++ and CUDA text: what it looks like, that compilers take it, and that it does what the
//! interpreter does.

mod document;
mod layout;
mod run;
mod snapshot;
mod speed;
