//! Finds machine code by the recipe of its module, so that the module need not be made: a record on
//! disk has all facts that a launch needs. For the CPU a record has the code, too ([`native`]). For
//! CUDA it names the text by which the code is found ([`signature`]).

mod interface;
mod native;
pub(crate) mod record;
mod signature;

pub(crate) use interface::Interface;
pub(crate) use native::KeptNative;
pub use native::Recipe;
pub(crate) use signature::{Signature, name as signature_name, store as store_signature};

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
