//! Machine code in this process: compiled, stored and called.
#![allow(unsafe_code, reason = "running code that was just made")]

use crate::error::Error;
use crate::generate::{Generated, HostCompiler};
use crate::host_function;
use crate::output::Output;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{DataDescription, FuncId, Linkage, Module as _};
use gbxcule_back_clif::{Boundary, Import, LoweredModule, Options, Sharing, lower};
use gbxcule_ir::abi::{Checks, GRID_DIMS, RangeRecord};
use gbxcule_ir::check::Valid;
use gbxcule_ir::{FunctionId, Module};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Record that compiled code gets by pointer while a range runs: the part that it knows, then this
/// library's.
#[repr(C)]
pub(crate) struct Record {
    pub(crate) range: RangeRecord,
    /// Launch; the pointer is valid as long as the range runs.
    pub(crate) launch: *const RunningLaunch<'static>,
}

const _: () = assert!(std::mem::offset_of!(Record, range) == 0);

impl Record {
    /// Makes a record for ranges of a grid of these extents, in a launch that `stop` ends. With
    /// `in_order` threads must not run side by side.
    pub(crate) fn new(
        extents: [i64; GRID_DIMS],
        running: &RunningLaunch<'_>,
        stop: &AtomicBool,
        in_order: bool,
    ) -> Self {
        let launch = std::ptr::from_ref(running).cast();
        Self { range: RangeRecord::new(extents, stop, in_order), launch }
    }
}

/// Launch that is running, for functions that compiled code calls.
pub(crate) struct RunningLaunch<'a> {
    pub(crate) module: &'a Module,
    pub(crate) program: &'a LoweredModule,
    pub(crate) output: Output,
}

type Entry = unsafe extern "C" fn(*mut Record, *const u8, i64, i64) -> i32;

/// Function of a module that is defined elsewhere in this process, with the signature that
/// [`Boundary`] describes.
#[derive(Clone, Copy, Debug)]
pub struct External {
    /// The function.
    pub function: FunctionId,
    /// Address of the function.
    pub address: *const u8,
}

/// The machine code of a module.
pub(crate) struct Code {
    memory: Option<JITModule>,
    functions: Vec<*const u8>,
    /// Number of bytes of each function.
    sizes: Vec<usize>,
}

// SAFETY: the memory is not changed after `Code::new`, and may be run and freed from any thread.
unsafe impl Send for Code {}
// SAFETY: likewise.
unsafe impl Sync for Code {}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            // SAFETY: only `run` gives out pointers into the memory, and `run` borrows `self`.
            unsafe { memory.free_memory() };
        }
    }
}

impl Code {
    /// Lowers a module and compiles it to machine code.
    pub(crate) fn new(
        module: &Valid<Module>,
        externals: &[External],
        exports: &[FunctionId],
        checks: Checks,
        sharing: Sharing,
    ) -> Result<(Self, LoweredModule), Error> {
        let host = HostCompiler::new()?;
        let isa = Arc::clone(&host.optimising);
        let outside: Vec<FunctionId> = externals.iter().map(|external| external.function).collect();
        let boundary = Boundary { exports, externals: &outside };
        let options = Options { checks, sharing, target: isa.frontend_config() };
        let program = lower(module, boundary, options);
        let names = cranelift_module::default_libcall_names();
        let mut builder = JITBuilder::with_isa(isa, names);
        for (position, &import) in program.imports.iter().enumerate() {
            let outside = externals.iter().find(|it| import == Import::External(it.function));
            let address = outside.map_or_else(|| host_function::address(import), |it| it.address);
            builder.symbol(format!("import{position}"), address);
        }
        let memory = Some(JITModule::new(builder));
        let mut code = Self { memory, functions: Vec::new(), sizes: Vec::new() };
        let refuse =
            |function: &str, reason: String| Error::Code { function: function.into(), reason };
        let Some(memory) = &mut code.memory else { unreachable!("set above") };
        let mut ids: Vec<FuncId> = Vec::with_capacity(program.functions.len());
        let whole =
            |error: cranelift_module::ModuleError| refuse(&module.name, format!("{error:?}"));
        for emitted in &program.functions {
            ids.push(memory.declare_anonymous_function(&emitted.ir.signature).map_err(whole)?);
        }
        for position in 0..program.imports.len() {
            let (name, signature) = (format!("import{position}"), memory.make_signature());
            memory.declare_function(&name, Linkage::Import, &signature).map_err(whole)?;
        }
        for &table in &program.tables {
            let id = memory.declare_anonymous_data(false, false).map_err(whole)?;
            let (table, mut data) = (&module.tables[table], DataDescription::new());
            data.define(table.bytes.clone());
            data.set_align(16);
            memory.define_data(id, &data).map_err(whole)?;
        }
        let generated = host.generate(&program.functions, &ids);
        for ((generated, emitted), &id) in generated.into_iter().zip(&program.functions).zip(&ids) {
            let name = &module.functions[emitted.function].name;
            let generated = generated.map_err(|reason| refuse(name, reason))?;
            let Generated { bytes, alignment, relocations } = generated;
            code.sizes.push(bytes.len());
            memory.define_function_bytes(id, alignment, &bytes, &relocations).map_err(whole)?;
        }
        memory.finalize_definitions().map_err(whole)?;
        code.functions = ids.iter().map(|&id| memory.get_finalized_function(id)).collect();
        Ok((code, program))
    }

    /// Returns the address of a function of the program.
    pub(crate) fn address(&self, position: usize) -> *const u8 {
        self.functions[position]
    }

    /// Returns the number of bytes of a function of the program.
    pub(crate) fn bytes(&self, position: usize) -> usize {
        self.sizes[position]
    }

    /// Runs threads `begin..end` of the kernel at a position of the program; returns 0 or the
    /// number of the fault's site, counted from 1.
    ///
    /// # Safety The arguments must lie as the kernel's `Arguments` describe. Their handles must
    /// point to memory that is not used in other ways meanwhile. The record must name a living
    /// launch and a living stop flag.
    pub(crate) unsafe fn run(
        &self,
        position: usize,
        record: &mut Record,
        arguments: &[u64],
        begin: i64,
        end: i64,
    ) -> i32 {
        // SAFETY: kernels were lowered to this signature.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(self.functions[position]) };
        // SAFETY: the caller's word; checked code stays inside what the handles say.
        unsafe { entry(record, arguments.as_ptr().cast(), begin, end) }
    }
}
