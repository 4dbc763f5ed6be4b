//! Functions of kernels that are compiled once, not at each call.

use gbxcule_ir::Module;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::Inline;
use gbxcule_passes::pass::out_of_line;

use super::inspect::memory_module;
use super::machine_ir::MAX_COPIED;
use crate::Model;

/// Without this rule NVRTC took minutes for the Color's kernels.
#[test]
fn kernels_that_read_memory_keep_large_functions_out_of_line() {
    for model in [Model::Original, Model::Color] {
        let module = memory_module(model.into());
        let inlined = |module: &Valid<Module>| {
            module.functions.iter().filter(|(_, it)| it.inline != Inline::Never).count()
        };
        let before = inlined(&module);
        assert_eq!(before, inlined(&out_of_line::run(module, MAX_COPIED)), "{model:?}");
    }
}
