//! Our gradients, NVIDIA Warp's, and central differences of the forward kernel in f64, side by
//! side, over every kernel of Warp's own tests and examples that compiles.
//!
//! `GBXCULE_PYTHON=.. cargo test -p gbxcule-runtime --test warp_gradient -- --ignored` compares the
//! document with the results; with `GBXCULE_BLESS=1` it writes the document anew.
//! `GBXCULE_ONLY=text` takes the kernels whose file and name have the text, and leaves the document
//! alone.

#[path = "../warp/input.rs"]
#[allow(dead_code, reason = "why a kernel has no inputs is not said here")]
mod input;
#[path = "../warp/subject.rs"]
#[allow(dead_code, reason = "not all that is known of a kernel is asked here")]
mod subject;

mod corpus;
mod document;
mod numbers;
mod promote;
mod slope;
mod warp_oracle;
