//! Compiles each module once: equal modules share their code as long as a kernel holds it.

use crate::code::MachineCode;
use crate::cuda::Image;
use crate::device::Device;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::object::Object;
use crate::process::PerProcess;
use crate::recipe::{self, Interface, KeptNative, MadeModule, Signature};
use crate::reflection::{Reflection, reflect};
use crate::worker_threads::{MAX_STACK, pool};
use gbxcule_back_clif::{Boundary, LaunchFacts, Sharing};
use gbxcule_ir::abi::Checks;
use gbxcule_ir::check::Valid;
use gbxcule_ir::{Arena, Function, FunctionId, Module, Shape, Struct, Table};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// Checks that compiled code contains.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Build {
    checks: Checks,
}

impl Default for Build {
    /// Returns a build in which indices, divisors and views are checked: a wrong index, divisor
    /// or view ends the launch with an error.
    fn default() -> Self {
        Self { checks: Checks::All }
    }
}

impl Build {
    /// Returns a build without checks.
    ///
    /// # Safety
    /// In every launch of code from this build, each index, divisor and view is right. A fault, as
    /// [`gbxcule_ir`] defines it, is undefined behaviour in such code.
    #[allow(unsafe_code, reason = "the caller vouches for the program")]
    pub unsafe fn unchecked() -> Self {
        Self { checks: Checks::None }
    }

    /// Returns a build that checks all functions except trusted ones.
    ///
    /// # Safety
    /// In every launch of code from this build, each index, divisor and view in [trusted] functions
    /// is right, whatever arguments other functions give them.
    ///
    /// [trusted]: gbxcule_ir::Function::trusted
    #[allow(unsafe_code, reason = "the caller vouches for the program")]
    pub unsafe fn trusting() -> Self {
        Self { checks: Checks::Untrusted }
    }

    pub(crate) fn checks(self) -> Checks {
        self.checks
    }
}

/// A module compiled for a device.
pub struct Compiled {
    /// Module; for code that a recipe found, only the parts that launches need.
    pub(crate) module: Valid<Module>,
    pub(crate) notes: String,
    pub(crate) device: Device,
    pub(crate) code: DeviceCode,
    pub(crate) reflections: Vec<Option<Reflection>>,
}

/// Compiled code of a module for a device.
pub(crate) enum DeviceCode {
    Cpu(Arc<Native>),
    Cuda(Arc<Image>),
}

/// Machine code in this process, with the facts about it.
pub(crate) struct Native {
    pub(crate) build: Build,
    /// Code for launches of one thread at a time, and for launches whose arrays fulfil
    /// [`gbxcule_back_clif::Entry::exclusive`].
    pub(crate) code: MachineCode,
    /// Code for threads that may access the same elements, made when a launch first needs it.
    pub(crate) shared: OnceLock<MachineCode>,
    pub(crate) facts: LaunchFacts,
    /// Recipe under which the code is stored on disk.
    pub(crate) kept: Option<KeptNative>,
}

/// Name of compiled code: its origin, its device and its build.
pub(crate) type Key = (CodeOrigin, Device, Build);

/// Origin of compiled code.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum CodeOrigin {
    /// Hash of a module. Different modules may have equal hashes, so the modules themselves are
    /// compared as well.
    Module(u64),
    Recipe(String),
}

/// Compiles a module, or returns its compiled code: equal modules are compiled once as long as a
/// kernel holds the code. Machine code for a CUDA device is also stored on disk, in the folder
/// `GBXCULE_CACHE` or the user's cache; a module found there needs no NVRTC.
pub fn compile(
    module: &Valid<Module>,
    device: Device,
    build: Build,
) -> Result<Arc<Compiled>, Error> {
    compile_hashed(module, fingerprint(module), device, build)
}

fn compile_hashed(
    module: &Valid<Module>,
    hash: u64,
    device: Device,
    build: Build,
) -> Result<Arc<Compiled>, Error> {
    let is_same = |compiled: &Compiled| parts(&compiled.module) == parts(module);
    find_or_make((CodeOrigin::Module(hash), device, build), is_same, || {
        let made = MadeModule { module: module.clone(), notes: String::new() };
        Compiled::new(made, device, build)
    })
}

/// Compiles the module of a recipe, or returns its compiled code. A recipe names everything that
/// decides the module, with the version of the code that makes the module: equal recipes make
/// equal modules. If machine code for the CUDA device is on disk, the module is not made.
pub fn compile_recipe(
    recipe: &str,
    device: Device,
    build: Build,
    make: impl FnOnce() -> MadeModule,
) -> Result<Arc<Compiled>, Error> {
    let key = (CodeOrigin::Recipe(recipe.into()), device, build);
    find_or_make(
        key,
        |_| true,
        || match device {
            Device::Cpu => Compiled::new(make(), device, build),
            Device::Cuda(ordinal) => {
                let name = recipe::signature_name(recipe, build);
                if let Some(signature) = Signature::find(&name)
                    && let Some(image) = Image::find(&signature.source, &signature.table, ordinal)?
                {
                    let Signature { interface, notes, .. } = signature;
                    let Interface { module, reflections } = interface;
                    let code = DeviceCode::Cuda(Arc::new(image));
                    return Ok(Compiled { module, notes, device, code, reflections });
                }
                let compiled = Compiled::new(make(), device, build)?;
                if let DeviceCode::Cuda(image) = &compiled.code {
                    recipe::store_signature(&name, &compiled, image)?;
                }
                Ok(compiled)
            }
        },
    )
}

/// Returns the code of a key with the same origin, or makes the code. If the key has code of
/// another origin, the new code replaces it.
fn find_or_make(
    key: Key,
    is_same: impl Fn(&Compiled) -> bool,
    make: impl FnOnce() -> Result<Compiled, Error>,
) -> Result<Arc<Compiled>, Error> {
    if let Some(compiled) = find_known(&key).filter(|compiled| is_same(compiled)) {
        return Ok(compiled);
    }
    Ok(make_known(key, make()?))
}

/// Code that kernels of this process hold.
static KNOWN: PerProcess<Mutex<HashMap<Key, Weak<Compiled>>>> = PerProcess::new();

/// Returns code that a kernel of this process holds.
pub(crate) fn find_known(key: &Key) -> Option<Arc<Compiled>> {
    KNOWN.get().lock().unwrap_or_else(PoisonError::into_inner).get(key)?.upgrade()
}

/// Remembers code: [`find_known`] returns it as long as a kernel holds it.
pub(crate) fn make_known(key: Key, compiled: Compiled) -> Arc<Compiled> {
    let compiled = Arc::new(compiled);
    let mut registry = KNOWN.get().lock().unwrap_or_else(PoisonError::into_inner);
    registry.retain(|_, compiled| compiled.strong_count() > 0);
    registry.insert(key, Arc::downgrade(&compiled));
    compiled
}

impl Native {
    fn new(module: &Valid<Module>, build: Build) -> Result<Self, Error> {
        Self::of_object(native_object(module, build)?, build, None, &module.name)
    }

    /// Puts machine code into memory; `kept` is the recipe under which the code is stored on
    /// disk.
    pub(crate) fn of_object(
        (object, facts): (Object, LaunchFacts),
        build: Build,
        kept: Option<KeptNative>,
        name: &str,
    ) -> Result<Self, Error> {
        let code = MachineCode::placed(&object, &[], name)?;
        Ok(Self { build, code, shared: OnceLock::new(), facts, kept })
    }

    /// Returns the code for any launch of the compiled module.
    pub(crate) fn shared_code(&self, compiled: &Compiled) -> Result<&MachineCode, Error> {
        if sharing() == Sharing::Alone {
            return Ok(&self.code);
        }
        if let Some(code) = self.shared.get() {
            return Ok(code);
        }
        let module = &compiled.module;
        let object = match &self.kept {
            Some(kept) => kept.shared_object(compiled, self)?,
            None => shared_object(module, self.build)?.0,
        };
        let code = MachineCode::placed(&object, &[], &module.name)?;
        Ok(self.shared.get_or_init(|| code))
    }
}

/// Compiles a module for launches of this process.
pub(crate) fn native_object(
    module: &Valid<Module>,
    build: Build,
) -> Result<(Object, LaunchFacts), Error> {
    let (object, program) = Object::new(module, Boundary::default(), build.checks, sharing())?;
    let facts = program.facts;
    if let Some(entry) = facts.entries.iter().find(|entry| entry.stack_bytes > MAX_STACK) {
        return Err(Error::Stack {
            kernel: module.functions[entry.kernel].name.clone(),
            bytes: entry.stack_bytes,
            limit: MAX_STACK,
        });
    }
    Ok((object, facts))
}

/// Compiles a module for threads that may access the same elements.
pub(crate) fn shared_object(
    module: &Valid<Module>,
    build: Build,
) -> Result<(Object, LaunchFacts), Error> {
    let (object, program) = Object::new(module, Boundary::default(), build.checks, Sharing::Any)?;
    Ok((object, program.facts))
}

/// Returns the assumption of compiled code about simultaneous threads of this process.
pub(crate) fn sharing() -> Sharing {
    match pool() {
        Some(pool) if pool.current_num_threads() > 1 => Sharing::Exclusive,
        _ => Sharing::Alone,
    }
}

impl Compiled {
    fn new(made: MadeModule, device: Device, build: Build) -> Result<Self, Error> {
        let MadeModule { module, notes } = made;
        let code = match device {
            Device::Cpu => DeviceCode::Cpu(Arc::new(Native::new(&module, build)?)),
            Device::Cuda(ordinal) => {
                DeviceCode::Cuda(Arc::new(Image::new(&module, ordinal, build)?))
            }
        };
        let reflections = reflect(&module);
        Ok(Self { module, notes, device, code, reflections })
    }

    /// Returns a kernel by its name.
    pub fn kernel(self: &Arc<Self>, name: &str) -> Result<Kernel, Error> {
        let named = |id: FunctionId| self.module.functions[id].name == name;
        let kernel = match &self.code {
            DeviceCode::Cpu(native) => {
                let entry = native.facts.entries.iter().find(|entry| named(entry.kernel));
                let kernel = |entry| Kernel::on_cpu(Arc::clone(self), Arc::clone(native), entry);
                entry.cloned().map(kernel)
            }
            DeviceCode::Cuda(image) => {
                let position = image.table.kernels.iter().position(|entry| named(entry.kernel));
                position.map(|at| Kernel::on_cuda(Arc::clone(self), Arc::clone(image), at))
            }
        };
        kernel.ok_or_else(|| {
            let known = self.reflections.iter().flatten();
            let known: Vec<String> = known.map(|it| format!("`{}`", it.name)).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            Error::NoKernel { name: name.into(), known }
        })
    }

    /// Returns the device for which the module was compiled.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns the notes that the maker of a recipe's module left; they are stored with the code.
    pub fn notes(&self) -> &str {
        &self.notes
    }

    /// Returns the module from which the code was compiled. For code that a recipe found, the
    /// module has only the kernels' parameters.
    pub fn module(&self) -> &Valid<Module> {
        &self.module
    }

    /// Returns true if the module is complete, and false if it has only the parts that launches
    /// need.
    pub(crate) fn is_whole(&self) -> bool {
        match &self.code {
            DeviceCode::Cpu(native) => native.kept.as_ref().is_none_or(|kept| kept.has_module),
            DeviceCode::Cuda(_) => false,
        }
    }

    pub(crate) fn reflection(&self, kernel: FunctionId) -> &Reflection {
        match &self.reflections[kernel.index()] {
            Some(reflection) => reflection,
            None => unreachable!("kernels are reflected"),
        }
    }
}

/// All parts of a module that decide its code, its spans included, because faults name them.
type Parts<'m> = (
    &'m str,
    &'m Arena<Shape>,
    &'m Arena<Struct>,
    &'m Arena<Table>,
    &'m Arena<Function>,
    &'m Arena<Box<str>>,
);

fn parts(module: &Module) -> Parts<'_> {
    let Module { name, types, tables, functions, .. } = module;
    (name, types.shapes(), types.structs(), tables, functions, module.names())
}

fn fingerprint(module: &Module) -> u64 {
    // The text is assembled first, because it comes in tens of thousands of pieces.
    let text = format!("{:?}", parts(module));
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_ir::build::Builder;
    use gbxcule_ir::check;

    fn named(kernel: &str) -> Valid<Module> {
        let mut module = Module::new("m");
        let id = module.declare_kernel(kernel, vec![]);
        Builder::new(&mut module, id).finish();
        check::module(module).expect("valid")
    }

    #[test]
    fn modules_of_one_hash_share_no_code() {
        let compiled = |module: &Valid<Module>| {
            compile_hashed(module, 7, Device::Cpu, Build::default()).expect("compiles")
        };
        let (one, other) = (compiled(&named("one")), compiled(&named("other")));
        assert!(one.kernel("one").is_ok() && other.kernel("other").is_ok());
        assert!(Arc::ptr_eq(&other, &compiled(&named("other"))));
    }
}
