//! Machine code of a module: compiled by NVRTC or found on disk, and loaded once for each stream.
#![allow(unsafe_code, reason = "calling the driver")]

use super::context::Context;
use super::driver::Status;
use super::launch::WARP;
use crate::compile_cache::Build;
use crate::disk_cache::CodeFolder;
use crate::error::Error;
use crate::nvrtc::{self, CodeFormat, Nvrtc};
use cudarc::driver::result::DriverError;
use cudarc::driver::sys;
use gbxcule_back_cxx::{self as cxx, Dialect, Entry, HEADER, Options, Site};
use gbxcule_ir::Module;
use gbxcule_ir::abi::FaultRecord;
use gbxcule_ir::check::Valid;
use std::ffi::CString;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Ending of the names of files with machine code.
const CODE: &str = ".cubin";

/// Machine code of a module for a device.
pub(crate) struct Image {
    /// Number that no other image has.
    pub(super) number: u64,
    /// Digest of the text from which the code was compiled.
    pub(crate) source: String,
    pub(crate) table: LaunchTable,
    context: Arc<Context>,
    cubin: Vec<u8>,
    /// Code that was loaded to check that the driver accepts it, for the first stream that asks.
    spare: Mutex<Option<Loaded>>,
}

/// Facts about a text that launches of its code need.
#[derive(Clone, Debug)]
pub(crate) struct LaunchTable {
    /// Kernels, in the module's order.
    pub(crate) kernels: Vec<Entry>,
    /// Lines that may fault, ascending.
    pub(crate) sites: Vec<Site>,
}

impl Image {
    /// Makes machine code for a device, or finds it on disk.
    pub(crate) fn new(module: &Valid<Module>, ordinal: u32, build: Build) -> Result<Self, Error> {
        let context = Context::of(ordinal)?;
        let options = Options { checks: build.checks(), ..Options::new(Dialect::Cuda) };
        let cxx::Text { source: text, kernels, sites, .. } = cxx::write(module, &options);
        let (source, table) = (digest(&text), LaunchTable { kernels, sites });
        let request = CodeRequest { source: &source, table: &table, context: &context };
        let code = match request.kept_code()? {
            Some(code) => code,
            None => request.new_code(&text, &module.name)?,
        };
        Ok(Self::of_code(source, table, context, code))
    }

    /// Finds machine code of a text on disk.
    pub(crate) fn find(
        source: &str,
        table: &LaunchTable,
        ordinal: u32,
    ) -> Result<Option<Self>, Error> {
        let context = Context::of(ordinal)?;
        let code = CodeRequest { source, table, context: &context }.kept_code()?;
        Ok(code.map(|code| Self::of_code(source.into(), table.clone(), context, code)))
    }

    fn of_code(
        source: String,
        table: LaunchTable,
        context: Arc<Context>,
        (cubin, loaded): (Vec<u8>, Loaded),
    ) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self { number, source, table, context, cubin, spare: Mutex::new(Some(loaded)) }
    }

    /// Loads the code again, or takes the spare copy. Each loaded copy has its own record of
    /// faults.
    pub(super) fn load(&self) -> Result<Loaded, Error> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        spare.map_or_else(|| Loaded::new(&self.context, &self.cubin, &self.table), Ok)
    }

    /// Returns true if a launch may end with a fault.
    pub(super) fn can_fault(&self) -> bool {
        !self.table.sites.is_empty()
    }
}

/// Request for code on a device.
struct CodeRequest<'w> {
    /// Digest of the text.
    source: &'w str,
    table: &'w LaunchTable,
    context: &'w Arc<Context>,
}

/// Returns the digest of a text.
fn digest(text: &str) -> String {
    CodeFolder::key(&[text.as_bytes()])
}

impl CodeRequest<'_> {
    /// Finds the newest code on disk that the driver accepts. Code of any NVRTC whose version the
    /// driver supports is right, so no NVRTC must be installed. If the user names a library, it
    /// must exist.
    fn kept_code(&self) -> Result<Option<(Vec<u8>, Loaded)>, Error> {
        let named = Nvrtc::by_variable()?;
        named.as_ref().map_or(Ok(()), |nvrtc| self.check(nvrtc))?;
        let wanted = |version: (u32, u32)| match &named {
            Some(nvrtc) => version == nvrtc.version(),
            None => version.0 <= self.context.cuda.0,
        };
        let Some(folder) = CodeFolder::find(CODE) else { return Ok(None) };
        for cubin in folder.codes(&self.key(), wanted) {
            match Loaded::new(self.context, &cubin, self.table) {
                // The code was made for a newer driver.
                Err(Error::CodeRefused { .. }) => {}
                loaded => return Ok(Some((cubin, loaded?))),
            }
        }
        Ok(None)
    }

    /// Compiles the text, and stores the code on disk.
    fn new_code(&self, text: &str, name: &str) -> Result<(Vec<u8>, Loaded), Error> {
        let nvrtc = Nvrtc::shared()?;
        self.check(&nvrtc)?;
        let (arch, name) = (nvrtc.arch_for(self.context.arch)?, format!("{name}.cu"));
        let cubin = nvrtc.compile(text, &name, arch, CodeFormat::Cubin)?;
        let loaded = Loaded::new(self.context, &cubin, self.table)?;
        let folder = CodeFolder::find(CODE);
        folder.map_or(Ok(()), |folder| folder.keep(&self.key(), nvrtc.version(), &cubin))?;
        Ok((cubin, loaded))
    }

    /// Returns the key of the code, a digest of everything that decides it.
    fn key(&self) -> String {
        let arch = self.context.arch.to_string();
        let mut parts = vec![self.source, HEADER, arch.as_str()];
        parts.extend(nvrtc::OPTIONS);
        parts.push(nvrtc::JUMP_TABLES);
        let parts: Vec<&[u8]> = parts.into_iter().map(str::as_bytes).collect();
        CodeFolder::key(&parts)
    }

    fn check(&self, nvrtc: &Nvrtc) -> Result<(), Error> {
        let (driver, nvrtc) = (self.context.cuda, nvrtc.version());
        if nvrtc.0 > driver.0 { Err(Error::DriverTooOld { driver, nvrtc }) } else { Ok(()) }
    }
}

/// Code in a device's memory.
pub(super) struct Loaded {
    context: Arc<Context>,
    raw: sys::CUmodule,
    /// Address of the record of faults; code that can't fault may have none.
    pub(super) record: Option<u64>,
    /// Functions in the order of the text's kernels.
    pub(super) functions: Vec<Function>,
}

/// A kernel in a device's memory.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) raw: sys::CUfunction,
    /// Greatest number of threads of a block, as the kernel's registers allow.
    pub(super) threads_max: u32,
    /// Number of warps that the device holds at once, for a kernel whose threads diverge. Its
    /// blocks are whole warps.
    pub(super) warps: Option<u64>,
}

// SAFETY: the driver's handles are used by any thread.
unsafe impl Send for Loaded {}

impl Loaded {
    fn new(context: &Arc<Context>, cubin: &[u8], table: &LaunchTable) -> Result<Self, Error> {
        let _bound = context.bind()?;
        let mut raw = ptr::null_mut();
        // SAFETY: a place for a module, and a complete image, which came from NVRTC, or from disk
        // with its digest.
        let status = unsafe { sys::cuModuleLoadData(&raw mut raw, cubin.as_ptr().cast()) };
        let refused = matches!(
            status,
            Status::CUDA_ERROR_NO_BINARY_FOR_GPU
                | Status::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                | Status::CUDA_ERROR_INVALID_IMAGE
                | Status::CUDA_ERROR_INVALID_PTX
                | Status::CUDA_ERROR_INVALID_SOURCE
                | Status::CUDA_ERROR_NOT_SUPPORTED
        );
        if refused {
            let reason = super::driver::reason(DriverError(status));
            return Err(Error::CodeRefused {
                device: context.device(),
                arch: context.arch.to_string(),
                reason,
            });
        }
        context.check("loading machine code", status)?;
        let mut loaded =
            Self { context: Arc::clone(context), raw, record: None, functions: Vec::new() };
        loaded.record = loaded.record()?;
        for entry in &table.kernels {
            let function = loaded.function(entry)?;
            loaded.functions.push(function);
        }
        Ok(loaded)
    }

    fn record(&self) -> Result<Option<u64>, Error> {
        let (mut address, mut size) = (0, 0);
        // SAFETY: places for an address and a size, a living module, a text that ends with NUL.
        let status = unsafe {
            sys::cuModuleGetGlobal_v2(
                &raw mut address,
                &raw mut size,
                self.raw,
                c"gbx_fault".as_ptr(),
            )
        };
        if status == Status::CUDA_ERROR_NOT_FOUND {
            return Ok(None);
        }
        let call = "looking for the record of faults";
        self.context.check(call, status)?;
        if size < FaultRecord::BYTES {
            let reason = format!("it has {size} bytes, not {}", FaultRecord::BYTES);
            return Err(Error::Cuda { call, reason });
        }
        Ok(Some(address))
    }

    fn function(&self, entry: &Entry) -> Result<Function, Error> {
        let name = CString::new(entry.symbol.as_str()).unwrap_or_default();
        let (mut raw, mut threads) = (ptr::null_mut(), 0);
        // SAFETY: a place for a function, a living module, a text that ends with NUL.
        let status = unsafe { sys::cuModuleGetFunction(&raw mut raw, self.raw, name.as_ptr()) };
        self.context.check("looking for a kernel in machine code", status)?;
        let which = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        // SAFETY: a place for a number, and a function of the module.
        let status = unsafe { sys::cuFuncGetAttribute(&raw mut threads, which, raw) };
        self.context.check("asking for a kernel's threads", status)?;
        let threads_max = threads.unsigned_abs().max(1);
        let spreads = entry.diverges && threads_max >= WARP;
        let warps = if spreads { Some(self.warps(raw)?) } else { None };
        Ok(Function { raw, threads_max, warps })
    }

    /// Returns the number of a kernel's warps that the device holds at once, in blocks of one warp.
    fn warps(&self, function: sys::CUfunction) -> Result<u64, Error> {
        let mut blocks = 0;
        // SAFETY: a place for a number, and a function of the module.
        let status = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                function,
                WARP as i32,
                0,
            )
        };
        self.context.check("asking how much of a kernel fits", status)?;
        Ok(u64::from(blocks.unsigned_abs().max(1)) * u64::from(self.context.processors))
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Ok(_bound) = self.context.bind() {
            // SAFETY: the owner drops the code when no launch of it runs any more: before a
            // launch, or after waiting for the stream. If the context is lost, so is the code.
            _ = unsafe { sys::cuModuleUnload(self.raw) };
        }
    }
}
