//! Compiling, once for each content.

use crate::code::Code;
use crate::device::Device;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::pool::{STACK_MAX, pool};
use crate::reflection::{Reflection, reflect};
use gbxcule_kernel::back::clif::{Arguments, Entry, Program, Sharing};
use gbxcule_kernel::check::Valid;
use gbxcule_kernel::ir::{FunctionId, Module};
use std::collections::HashMap;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// How a module is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Build {
    checked: bool,
}

impl Default for Build {
    /// Indices, divisors and views are checked: what is wrong ends the launch with an error.
    fn default() -> Self {
        Self { checked: true }
    }
}

impl Build {
    /// Nothing is checked while a kernel runs.
    ///
    /// # Safety
    /// In every launch of what is built so, each index, divisor and view is right: what *faults* in
    /// [`gbxcule_kernel::ir`]'s words is undefined behaviour here.
    #[allow(unsafe_code, reason = "the caller vouches for the program")]
    pub unsafe fn unchecked() -> Self {
        Self { checked: false }
    }
}

/// A module compiled for a device.
pub struct Compiled {
    module: Valid<Module>,
    build: Build,
    code: Code,
    /// Made when a launch first needs it: the code for threads that may meet anywhere.
    shared: OnceLock<Code>,
    program: Program,
    reflections: Vec<Option<Reflection>>,
    arguments: Vec<Arguments>,
}

type Key = (u128, Build);

/// Compiles a module, or finds it compiled: equal modules are compiled once while anybody keeps them.
pub fn compile(
    module: &Valid<Module>,
    device: Device,
    build: Build,
) -> Result<Arc<Compiled>, Error> {
    static KNOWN: OnceLock<Mutex<HashMap<Key, Weak<Compiled>>>> = OnceLock::new();
    if device != Device::Cpu {
        return Err(Error::NoCuda(device));
    }
    let key = (fingerprint(module), build);
    let known = KNOWN.get_or_init(Mutex::default);
    let find = || known.lock().unwrap_or_else(PoisonError::into_inner).get(&key)?.upgrade();
    if let Some(compiled) = find() {
        return Ok(compiled);
    }
    let compiled = Arc::new(Compiled::new(module, build)?);
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|_, compiled| compiled.strong_count() > 0);
    known.insert(key, Arc::downgrade(&compiled));
    Ok(compiled)
}

impl Compiled {
    fn new(module: &Valid<Module>, build: Build) -> Result<Self, Error> {
        let (code, program) = Code::new(module, build.checked, sharing())?;
        if let Some(entry) = program.entries.iter().find(|entry| entry.stack_bytes > STACK_MAX) {
            return Err(Error::Stack {
                kernel: module.functions[entry.kernel].name.clone(),
                bytes: entry.stack_bytes,
                limit: STACK_MAX,
            });
        }
        let emitted = program.functions.iter();
        let arguments = emitted.map(|emitted| Arguments::new(module, emitted.function)).collect();
        let reflections = reflect(module);
        let (module, shared) = (module.clone(), OnceLock::new());
        Ok(Self { module, build, code, shared, program, reflections, arguments })
    }

    /// A kernel by its name.
    pub fn kernel(self: &Arc<Self>, name: &str) -> Result<Kernel, Error> {
        let named = |entry: &&_| self.name(entry) == name;
        let Some(entry) = self.program.entries.iter().find(named) else {
            let entries = self.program.entries.iter();
            let known: Vec<String> =
                entries.map(|entry| format!("`{}`", self.name(entry))).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(Error::NoKernel { name: name.into(), known });
        };
        Ok(Kernel { compiled: Arc::clone(self), entry: entry.clone() })
    }

    fn name(&self, entry: &Entry) -> &str {
        &self.module.functions[entry.kernel].name
    }

    /// The module it was compiled from.
    pub fn module(&self) -> &Valid<Module> {
        &self.module
    }

    /// The code for a launch of one thread at a time, or of arrays as [`Entry::owned`] wants them.
    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    /// The code for any launch.
    pub(crate) fn shared_code(&self) -> Result<&Code, Error> {
        if sharing() == Sharing::Alone {
            return Ok(&self.code);
        }
        if let Some(code) = self.shared.get() {
            return Ok(code);
        }
        let (code, _) = Code::new(&self.module, self.build.checked, Sharing::Any)?;
        Ok(self.shared.get_or_init(|| code))
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn arguments(&self, position: usize) -> &Arguments {
        &self.arguments[position]
    }

    pub(crate) fn reflection(&self, kernel: FunctionId) -> &Reflection {
        match &self.reflections[kernel.index()] {
            Some(reflection) => reflection,
            None => unreachable!("kernels are reflected"),
        }
    }
}

/// What code is made for first.
fn sharing() -> Sharing {
    match pool() {
        Some(pool) if pool.current_num_threads() > 1 => Sharing::Own,
        _ => Sharing::Alone,
    }
}

/// A hash of everything that a module is, its spans included: faults name them.
fn fingerprint(module: &Module) -> u128 {
    struct Both(DefaultHasher, DefaultHasher);
    impl Write for Both {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.write(text.as_bytes());
            self.1.write(text.as_bytes());
            Ok(())
        }
    }
    let mut hashers = Both(DefaultHasher::new(), DefaultHasher::new());
    hashers.1.write_u8(1);
    // Hashing can't fail.
    _ = write!(
        hashers,
        "{:?}{:?}{:?}{:?}{:?}",
        module.name,
        module.types.shapes(),
        module.types.structs(),
        module.tables,
        module.functions
    );
    _ = write!(hashers, "{:?}", module.names());
    u128::from(hashers.0.finish()) << 64 | u128::from(hashers.1.finish())
}
