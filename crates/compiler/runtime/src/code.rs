//! Machine code in this process: compiled, stored and called.
#![allow(unsafe_code, reason = "running code that was just made")]

use crate::error::Error;
use crate::generate::{Generated, HostCompiler};
use crate::host_function;
use crate::object::Object;
use crate::output::Output;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{DataDescription, FuncId, Linkage, Module as _, ModuleError};
use gbxcule_back_clif::{Boundary, Import, LaunchFacts, LoweredModule, Sharing};
use gbxcule_ir::abi::{Checks, GRID_DIMS, RangeRecord};
use gbxcule_ir::check::Valid;
use gbxcule_ir::{FunctionId, Module};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Record that compiled code gets by pointer while a range runs: first the part that compiled
/// code knows, then the part of this library.
#[repr(C)]
pub(crate) struct Record {
    pub(crate) range: RangeRecord,
    /// Launch; the pointer is valid as long as the range runs.
    pub(crate) launch: *const RunningLaunch<'static>,
}

const _: () = assert!(std::mem::offset_of!(Record, range) == 0);

impl Record {
    /// Makes a record for ranges of a grid of these extents, in a launch that `stop` ends. If
    /// `in_order` is true threads must not run side by side.
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
    pub(crate) facts: &'a LaunchFacts,
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
pub(crate) struct MachineCode {
    memory: Option<JITModule>,
    functions: Vec<*const u8>,
    /// Number of bytes of each function.
    sizes: Vec<usize>,
}

// SAFETY: the memory is not changed after `MachineCode::new`, and any thread may run and free it.
unsafe impl Send for MachineCode {}
// SAFETY: nothing changes the memory after `MachineCode::new`, so threads may run it at once.
unsafe impl Sync for MachineCode {}

impl Drop for MachineCode {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            // SAFETY: only `run` gives out pointers into the memory, and `run` borrows `self`.
            unsafe { memory.free_memory() };
        }
    }
}

impl MachineCode {
    /// Lowers a module and compiles it to machine code.
    pub(crate) fn new(
        module: &Valid<Module>,
        externals: &[External],
        exports: &[FunctionId],
        checks: Checks,
        sharing: Sharing,
    ) -> Result<(Self, LoweredModule), Error> {
        let outside: Vec<FunctionId> = externals.iter().map(|external| external.function).collect();
        let boundary = Boundary { exports, externals: &outside };
        let (object, program) = Object::new(module, boundary, checks, sharing)?;
        Ok((Self::placed(&object, externals, &module.name)?, program))
    }

    /// Puts machine code into memory, with the addresses of the functions that it calls.
    pub(crate) fn placed(
        object: &Object,
        externals: &[External],
        name: &str,
    ) -> Result<Self, Error> {
        let isa = Arc::clone(&HostCompiler::new()?.optimising);
        let names = cranelift_module::default_libcall_names();
        let mut builder = JITBuilder::with_isa(isa, names);
        for (position, &import) in object.imports.iter().enumerate() {
            let outside = externals.iter().find(|it| import == Import::External(it.function));
            let address = outside.map_or_else(|| host_function::address(import), |it| it.address);
            builder.symbol(format!("import{position}"), address);
        }
        let memory = Some(JITModule::new(builder));
        let mut code = Self { memory, functions: Vec::new(), sizes: Vec::new() };
        let Some(memory) = &mut code.memory else { unreachable!("set above") };
        let refuse = |reason| Error::Code { function: name.into(), reason };
        code.functions = fill(memory, object).map_err(refuse)?;
        code.sizes = object.functions.iter().map(|function| function.bytes.len()).collect();
        Ok(code)
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
    /// # Safety
    /// The arguments must lie as the kernel's `Arguments` describe. Their handles must point to
    /// memory that nothing else uses during the call. The record must name a living launch and a
    /// living stop flag.
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
        // SAFETY: the caller promises this; checked code stays in the memory that the handles
        // describe.
        unsafe { entry(record, arguments.as_ptr().cast(), begin, end) }
    }
}

/// Puts functions and tables into memory; returns the addresses of the functions.
fn fill(memory: &mut JITModule, object: &Object) -> Result<Vec<*const u8>, String> {
    let described = |error: ModuleError| format!("{error:?}");
    let signature = memory.make_signature();
    let mut ids: Vec<FuncId> = Vec::with_capacity(object.functions.len());
    for _ in &object.functions {
        ids.push(memory.declare_anonymous_function(&signature).map_err(described)?);
    }
    for position in 0..object.imports.len() {
        memory
            .declare_function(&format!("import{position}"), Linkage::Import, &signature)
            .map_err(described)?;
    }
    for table in &object.tables {
        let (id, mut data) = (
            memory.declare_anonymous_data(false, false).map_err(described)?,
            DataDescription::new(),
        );
        data.define(table.clone());
        data.set_align(16);
        memory.define_data(id, &data).map_err(described)?;
    }
    for (Generated { bytes, alignment, relocations }, &id) in object.functions.iter().zip(&ids) {
        memory.define_function_bytes(id, *alignment, bytes, relocations).map_err(described)?;
    }
    memory.finalize_definitions().map_err(described)?;
    Ok(ids.iter().map(|&id| memory.get_finalized_function(id)).collect())
}
