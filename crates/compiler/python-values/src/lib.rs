//! Values of Python's expressions, as far as the text alone says them: numbers, strings, lists,
//! dictionaries, functions, classes, modules. Nothing runs.
//!
//! [`Evaluator`] evaluates an expression in a scope of `gbxcule-python-names`. Types and
//! functions of a dialect are values that this crate passes on without looking into them; a
//! [`Dialect`] answers questions about them. Temporary values of names, such as the arguments of
//! one call, lie in [`Frames`].

mod arithmetic;
mod attribute;
mod body;
mod call;
mod call_frames;
mod dialect;
mod evaluator;
mod frame;
mod loops;
mod memo;
mod module;
mod name;
mod sequence;
mod value;

pub use arithmetic::{compared, python_number};
pub use attribute::of_self;
pub use call_frames::CallFrames;
pub use dialect::{Call, Dialect, Evaluation, Known};
pub use evaluator::{Evaluator, with_stack};
pub use frame::{FrameId, Frames, Values};
pub use sequence::{iterated, len, part};
pub use value::{DialectValue, KnownValue};
