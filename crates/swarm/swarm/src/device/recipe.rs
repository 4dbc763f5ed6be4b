//! Recipes: a kernel's recipe holds everything that determines its module. If machine code for a
//! recipe is on disk, no module is made.

use std::sync::Arc;

use gbxcule_ir::Module;
use gbxcule_ir::check::Valid;
use gbxcule_recompiler::Recompile;
use gbxcule_runtime::{CodeFolder, Compiled, Error, MadeModule, compile_recipe};

use super::swarm::DeviceConfig;
use crate::{MachineSources, Programs, Stage};

/// Digest of the sources from which kernels are made (`build.rs`).
const SOURCES: &str = env!("GBXCULE_SOURCES");

/// Everything that determines a kernel's module.
pub(super) struct Recipe {
    parts: Vec<Vec<u8>>,
}

impl Recipe {
    /// Begins the recipe of a kernel that depends on the machine alone.
    pub(super) fn new(kernel: &str, machine: impl Into<MachineSources>) -> Self {
        let parts = [SOURCES.into(), kernel.into(), format!("{:?}", machine.into())];
        Self { parts: parts.map(String::into_bytes).into() }
    }

    /// Adds the programs that a stage calls.
    pub(super) fn with_programs(mut self, programs: &Programs, stage: Stage) -> Self {
        for program in [programs.reward_text(), programs.observation_text()] {
            let files = format!("{:?} {:?}", program.files(), program.labels());
            self.parts.extend([program.text().into(), files.into_bytes()]);
        }
        self.parts.push(format!("{:?} {stage:?}", programs.hooks()).into_bytes());
        self
    }

    /// Adds the blocks that are made for a ROM.
    pub(super) fn with_blocks(mut self, rom: &[u8], recompile: Recompile) -> Self {
        self.parts.extend([format!("{recompile:?}").into_bytes(), rom.to_vec()]);
        self
    }

    /// Finds the compiled module on disk, or compiles the module that `make` returns.
    pub(super) fn compile(
        &self,
        device: DeviceConfig,
        make: impl FnOnce() -> Valid<Module>,
    ) -> Result<Arc<Compiled>, Error> {
        self.compile_with_notes(device, || MadeModule { module: make(), notes: String::new() })
    }

    /// Does the work of `compile` for a module with notes.
    pub(super) fn compile_with_notes(
        &self,
        device: DeviceConfig,
        make: impl FnOnce() -> MadeModule,
    ) -> Result<Arc<Compiled>, Error> {
        let parts: Vec<&[u8]> = self.parts.iter().map(Vec::as_slice).collect();
        compile_recipe(&CodeFolder::key(&parts), device.device, device.build(), make)
    }
}
