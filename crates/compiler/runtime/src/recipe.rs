//! Modules by their recipes: if the machine code of a module is on disk, the facts beside it are
//! enough to launch the kernels without making the module again.
//! For CUDA a record has the facts, and names the text by which the code is found
//! ([`signature`]). For the CPU a record has the facts and the code ([`native`]).

mod interface;
mod native;
pub(crate) mod record;
mod signature;

pub(crate) use interface::Interface;
pub(crate) use native::KeptNative;
pub use native::Recipe;
pub(crate) use signature::{Signature, keep as keep_signature, name as signature_name};

use gbxcule_ir::Module;
use gbxcule_ir::check::Valid;

/// A module that was made by a recipe.
#[derive(Debug)]
pub struct MadeModule {
    /// Module.
    pub module: Valid<Module>,
    /// Facts that the maker needs when the module is not made: [`crate::Compiled::notes`].
    pub notes: String,
}
