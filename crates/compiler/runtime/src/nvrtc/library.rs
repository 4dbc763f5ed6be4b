//! C functions of NVRTC's library, loaded at run time.
//!
//! Results are kept as numbers, because a newer library may return results that no list here
//! contains.
#![allow(unsafe_code, reason = "calling a C library")]

use super::CodeFormat;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;

type Handle = *mut c_void;
type Status = c_int;
type Size = unsafe extern "C" fn(Handle, *mut usize) -> Status;
type Fetch = unsafe extern "C" fn(Handle, *mut c_char) -> Status;
type Texts = *const *const c_char;

macro_rules! functions {
    ($($field:ident $symbol:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// Functions that are called; the library stays loaded as long as the process runs.
        #[derive(Clone, Copy, Debug)]
        pub(super) struct Library {
            $($field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Library {
            /// Loads a library; the system's loader searches for a bare name.
            pub(super) fn open(path: &Path) -> Result<Self, String> {
                load_builtins(path);
                // SAFETY: NVRTC's initialisers don't touch anything that belongs to Rust. The
                // user named the library, or it has NVRTC's name in a place where NVRTC is
                // installed.
                let library = unsafe { libloading::Library::new(path) };
                let library = library.map_err(|error| chain(&error))?;
                let functions = Self {
                    // SAFETY: the types are the types in `nvrtc.h`, which are the same since CUDA
                    // 11.2.
                    $($field: *unsafe { library.get($symbol) }.map_err(|error| chain(&error))?,)*
                };
                // The library is never unloaded: threads may still be in it when the process ends.
                std::mem::forget(library);
                Ok(functions)
            }
        }
    };
}

functions! {
    version b"nvrtcVersion\0": fn(*mut c_int, *mut c_int) -> Status;
    error_string b"nvrtcGetErrorString\0": fn(Status) -> *const c_char;
    arch_count b"nvrtcGetNumSupportedArchs\0": fn(*mut c_int) -> Status;
    arch_list b"nvrtcGetSupportedArchs\0": fn(*mut c_int) -> Status;
    create b"nvrtcCreateProgram\0":
        fn(*mut Handle, *const c_char, *const c_char, c_int, Texts, Texts) -> Status;
    compile b"nvrtcCompileProgram\0": fn(Handle, c_int, Texts) -> Status;
    destroy b"nvrtcDestroyProgram\0": fn(*mut Handle) -> Status;
    log_size b"nvrtcGetProgramLogSize\0": fn(Handle, *mut usize) -> Status;
    log b"nvrtcGetProgramLog\0": fn(Handle, *mut c_char) -> Status;
    ptx_size b"nvrtcGetPTXSize\0": fn(Handle, *mut usize) -> Status;
    ptx b"nvrtcGetPTX\0": fn(Handle, *mut c_char) -> Status;
    cubin_size b"nvrtcGetCUBINSize\0": fn(Handle, *mut usize) -> Status;
    cubin b"nvrtcGetCUBIN\0": fn(Handle, *mut c_char) -> Status;
}

/// Loads the library for which NVRTC asks the system's loader by its bare name when it compiles.
/// The wheel of NVRTC 13.0 doesn't tell the loader that the library lies beside NVRTC.
fn load_builtins(nvrtc: &Path) {
    let beside = nvrtc.parent().filter(|_| nvrtc.is_absolute());
    let files = beside.and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
    for file in files {
        if file.file_name().to_string_lossy().starts_with("libnvrtc-builtins.so") {
            // SAFETY: as for NVRTC itself, in whose folder this library lies. It stays loaded.
            let library = unsafe { libloading::Library::new(file.path()) };
            // If this fails, NVRTC itself reports the missing library.
            _ = library.map(std::mem::forget);
        }
    }
}

/// Reason for which a compilation failed.
pub(super) enum Failure {
    /// A refused text, with the compiler's log.
    Text(String),
    /// A function failed.
    Call {
        /// Name of the function.
        function: &'static str,
        /// Message of the library.
        reason: String,
    },
}

/// Status of `nvrtcCompileProgram` for a text that is refused.
const ERROR_COMPILATION: Status = 6;

impl Library {
    /// Returns the major and minor version of CUDA.
    pub(super) fn version(&self) -> Result<(u32, u32), String> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: two places for a number.
        let status = unsafe { (self.version)(&raw mut major, &raw mut minor) };
        self.check("nvrtcVersion", status).map_err(Failure::reason)?;
        Ok((major.unsigned_abs(), minor.unsigned_abs()))
    }

    /// Returns the numbers of the architectures, ascending.
    pub(super) fn archs(&self) -> Result<Vec<u32>, String> {
        let mut count = 0;
        // SAFETY: a place for a number.
        let status = unsafe { (self.arch_count)(&raw mut count) };
        self.check("nvrtcGetNumSupportedArchs", status).map_err(Failure::reason)?;
        let mut archs: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: as many places as the library has architectures.
        let status = unsafe { (self.arch_list)(archs.as_mut_ptr()) };
        self.check("nvrtcGetSupportedArchs", status).map_err(Failure::reason)?;
        let mut archs: Vec<u32> = archs.into_iter().map(c_int::unsigned_abs).collect();
        archs.sort_unstable();
        Ok(archs)
    }

    /// Compiles a text with one header; returns the code and the log.
    pub(super) fn compile(
        &self,
        text: &str,
        name: &str,
        header: (&str, &str),
        options: &[&str],
        output: CodeFormat,
    ) -> Result<(Vec<u8>, String), Failure> {
        let without_nul = |what: &str| Failure::Text(format!("{what} holds a NUL character"));
        let text = CString::new(text).map_err(|_| without_nul("the text"))?;
        let name = CString::new(name).map_err(|_| without_nul("the name"))?;
        let c_text = |text: &str| CString::new(text).map_err(|_| without_nul("an option"));
        let (header_name, header) = (c_text(header.0)?, c_text(header.1)?);
        let options: Vec<CString> =
            options.iter().map(|&it| c_text(it)).collect::<Result<_, _>>()?;
        let mut program = NvrtcProgram { library: self, handle: ptr::null_mut() };
        let (texts, names) = ([header.as_ptr()], [header_name.as_ptr()]);
        // SAFETY: all texts end with NUL; they and the program live to the end of this function.
        let status = unsafe {
            let (texts, names) = (texts.as_ptr(), names.as_ptr());
            (self.create)(&raw mut program.handle, text.as_ptr(), name.as_ptr(), 1, texts, names)
        };
        self.check("nvrtcCreateProgram", status)?;
        let words: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: a living program and as many options as the call says.
        let status =
            unsafe { (self.compile)(program.handle, words.len() as c_int, words.as_ptr()) };
        let log = program.fetch("nvrtcGetProgramLog", self.log_size, self.log);
        let log = log.map(|bytes| text_of(&bytes)).unwrap_or_default();
        if status == ERROR_COMPILATION {
            return Err(Failure::Text(log));
        }
        self.check("nvrtcCompileProgram", status).map_err(|failure| failure.with(&log))?;
        let bytes = match output {
            CodeFormat::Ptx => {
                let text = program.fetch("nvrtcGetPTX", self.ptx_size, self.ptx)?;
                text_of(&text).into_bytes()
            }
            CodeFormat::Cubin => program.fetch("nvrtcGetCUBIN", self.cubin_size, self.cubin)?,
        };
        Ok((bytes, log))
    }

    fn check(&self, function: &'static str, status: Status) -> Result<(), Failure> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the library gives a text that it keeps, or nothing.
        let reason = unsafe {
            let text = (self.error_string)(status);
            if text.is_null() { None } else { Some(CStr::from_ptr(text).to_string_lossy()) }
        };
        let reason = reason.map_or_else(|| format!("error {status}"), |text| text.into_owned());
        Err(Failure::Call { function, reason })
    }
}

impl Failure {
    fn reason(self) -> String {
        match self {
            Self::Text(log) => log,
            Self::Call { function, reason } => format!("`{function}` says {reason}"),
        }
    }

    fn with(self, log: &str) -> Self {
        match self {
            Self::Call { function, reason } if !log.trim().is_empty() => {
                Self::Call { function, reason: format!("{reason}\n{log}") }
            }
            other => other,
        }
    }
}

/// Program of the library, which is destroyed when this value is dropped.
struct NvrtcProgram<'a> {
    library: &'a Library,
    handle: Handle,
}

impl NvrtcProgram<'_> {
    fn fetch(&self, function: &'static str, size: Size, fetch: Fetch) -> Result<Vec<u8>, Failure> {
        let mut count = 0;
        // SAFETY: a living program and a place for a size.
        self.library.check(function, unsafe { size(self.handle, &raw mut count) })?;
        let mut bytes = vec![0u8; count];
        // SAFETY: as much memory as the library asked for.
        let status = unsafe { fetch(self.handle, bytes.as_mut_ptr().cast()) };
        self.library.check(function, status)?;
        Ok(bytes)
    }
}

impl Drop for NvrtcProgram<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: `create` made the program, and no other code has it. If the call fails,
            // nothing can be done.
            _ = unsafe { (self.library.destroy)(&raw mut self.handle) };
        }
    }
}

/// Writes an error with all of its sources.
fn chain(error: &dyn std::error::Error) -> String {
    let behind = error.source().map(|source| format!(": {}", chain(source)));
    format!("{error}{}", behind.unwrap_or_default())
}

/// Converts a text that the library ends with NUL.
fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
