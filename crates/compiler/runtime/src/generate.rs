//! Compiles cranelift IR to bytes, with the code generator for this machine.

use crate::error::Error;
use crate::process::get_or_make;
use crate::worker_threads::pool;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_module::{FuncId, ModuleReloc};
use gbxcule_back_clif::Emitted;
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// Number of instructions in all functions above which several threads compile them.
const MIN_PARALLEL: usize = 4_000;
/// Greatest product of a function's instructions and its switch cases up to which the function is
/// optimised: in each case the optimiser repeats the computations that only cases use.
const MAX_OPTIMISED_PRODUCT: usize = 300_000;
/// Greatest number of instructions of a function that is optimised. Beyond it, the time of the
/// better register allocator grows with the square of the number.
const MAX_OPTIMISED: usize = 200_000;

/// Machine code of a function.
pub(crate) struct Generated {
    pub(crate) bytes: Box<[u8]>,
    pub(crate) alignment: u64,
    pub(crate) relocations: Vec<ModuleReloc>,
}

/// Code generators for this machine, from the one with the best code to the one that needs the
/// least time.
#[derive(Clone)]
pub(crate) struct HostCompiler {
    pub(crate) optimising: OwnedTargetIsa,
    plain: OwnedTargetIsa,
    quick: OwnedTargetIsa,
    /// Everything that decides the generated code: the processor with its features, and the
    /// settings.
    pub(crate) settings: Arc<str>,
}

impl HostCompiler {
    pub(crate) fn new() -> Result<Self, Error> {
        static HOST: OnceLock<Result<HostCompiler, Error>> = OnceLock::new();
        let make = || {
            let optimising = generator("speed", "backtracking")?;
            let plain = generator("none", "backtracking")?;
            let quick = generator("none", "single_pass")?;
            let all = [&optimising, &plain, &quick].map(|isa| settings_of(&**isa));
            Ok(Self { optimising, plain, quick, settings: all.concat().into() })
        };
        get_or_make(&HOST, make).clone()
    }

    /// Compiles functions. A function's id, by which the others refer to it, is its position.
    pub(crate) fn generate(&self, functions: &[Emitted]) -> Vec<Result<Generated, String>> {
        let instructions: usize = functions.iter().map(|f| f.ir.dfg.num_insts()).sum();
        let one = |(position, emitted): (usize, &Emitted)| {
            self.function(emitted, FuncId::from_u32(position as u32))
        };
        match pool() {
            Some(pool) if instructions > MIN_PARALLEL && functions.len() > 1 => {
                pool.install(|| functions.par_iter().enumerate().map(one).collect())
            }
            _ => functions.iter().enumerate().map(one).collect(),
        }
    }

    fn function(&self, emitted: &Emitted, id: FuncId) -> Result<Generated, String> {
        let mut context = Context::for_function(emitted.ir.clone());
        let dfg = &context.func.dfg;
        let size = dfg.num_insts();
        let cases: usize = dfg.jump_tables.values().map(|table| table.all_branches().len()).sum();
        let isa = if size > MAX_OPTIMISED {
            &self.quick
        } else if size.saturating_mul(cases) > MAX_OPTIMISED_PRODUCT {
            &self.plain
        } else {
            &self.optimising
        };
        let compiled = context.compile(&**isa, &mut ControlPlane::default());
        let compiled = compiled.map_err(|error| format!("{:?}", error.inner))?;
        let (bytes, alignment) =
            (compiled.code_buffer().into(), u64::from(compiled.buffer.alignment));
        let code = context.compiled_code().ok_or("no code")?;
        let relocations = code.buffer.relocs().iter();
        let relocations = relocations
            .map(|relocation| ModuleReloc::from_mach_reloc(relocation, &context.func, id));
        Ok(Generated { bytes, alignment, relocations: relocations.collect() })
    }
}

fn settings_of(isa: &dyn TargetIsa) -> String {
    let features: Vec<String> = isa.isa_flags().iter().map(ToString::to_string).collect();
    format!("{}\n{}\n{}\n", isa.triple(), isa.flags(), features.join("\n"))
}

fn generator(level: &str, allocator: &str) -> Result<OwnedTargetIsa, Error> {
    let mut flags = settings::builder();
    let all = [
        ("opt_level", level),
        ("regalloc_algorithm", allocator),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        // Variables may take many pages: the code touches each, so that it meets the guard page.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
    ];
    for (name, value) in all {
        flags.set(name, value).map_err(|error| Error::Host(error.to_string()))?;
    }
    let builder = cranelift_native::builder().map_err(|reason| Error::Host(reason.into()))?;
    let isa = builder.finish(settings::Flags::new(flags));
    isa.map_err(|error| Error::Host(error.to_string()))
}
