//! Machine code of functions that this process calls by their addresses.

use crate::code::{External, MachineCode};
use crate::error::Error;
use gbxcule_back_clif::Sharing;
use gbxcule_ir::abi::Checks;
use gbxcule_ir::check::Valid;
use gbxcule_ir::{FunctionId, Module};

/// Compiled functions of a module; their machine code lives as long as this value.
pub struct FunctionCode {
    code: MachineCode,
    positions: Vec<usize>,
}

impl FunctionCode {
    /// Compiles functions with the signature of [`gbxcule_back_clif::Boundary`]. They are called
    /// without a record of faults, so one that can fault is refused. Trusted functions have no
    /// checks.
    pub fn new(
        module: &Valid<Module>,
        exports: &[FunctionId],
        externals: &[External],
    ) -> Result<Self, Error> {
        let (code, program) =
            MachineCode::new(module, externals, exports, Checks::Untrusted, Sharing::Alone)?;
        if let Some(site) = program.facts.sites.first() {
            let function = module.functions[site.function].name.clone();
            let reason = "it can fault, and its callers have no record for faults".to_owned();
            return Err(Error::Code { function, reason });
        }
        let position = |&export| {
            program.position(export).unwrap_or_else(|| unreachable!("exports are lowered"))
        };
        let positions = exports.iter().map(position).collect();
        Ok(Self { code, positions })
    }

    /// Returns the address of an export, by its position among the exports.
    pub fn address(&self, export: usize) -> *const u8 {
        self.code.address(self.positions[export])
    }

    /// Returns the size in bytes of an export's machine code.
    pub fn bytes(&self, export: usize) -> usize {
        self.code.bytes(self.positions[export])
    }
}
