//! Reads a Python file with kernels, for several verbs.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;
use gbxcule_front_warp::{ImportOptions, Program, Texts};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::{Diagnostic, render};
use gbxcule_ir::module::Module;
use gbxcule_ir::source::SourceMap;
use gbxcule_runtime::ProgramFiles;

use crate::print;

/// Options with facts that a file's text doesn't state.
#[derive(Args)]
pub(crate) struct Imports {
    /// Also look for imported modules in this folder; may be given several times
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Vec<PathBuf>,

    /// The value of a name that only a run of Python would give: a constant of a module in machine
    /// code (`mujoco.mjtGeom.mjGEOM_BOX=6`), or an argument of a function around a kernel
    /// (`make.dtype=wp.float64`, `make.helper=package.module.function`); may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = definition)]
    pub(crate) define: Vec<(String, String)>,

    /// The types of a generic kernel's parameters, in order, or by name as a dictionary
    /// (`fill=[wp.array(dtype=wp.vec3), wp.vec3]`); may be given several times
    #[arg(long, value_name = "KERNEL=TYPES", value_parser = definition)]
    pub(crate) types: Vec<(String, String)>,
}

/// Kernels to read from a file.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// Names of kernels; empty for all kernels of the file.
    pub(crate) kernels: &'a [String],
    /// True if the kernels' reverses are made too.
    pub(crate) gradients: bool,
}

/// Kernels of a file, and the texts that they came from.
pub(crate) struct Lowered {
    pub(crate) module: Valid<Module>,
    pub(crate) sources: SourceMap,
}

impl Imports {
    /// Returns true if the command line has one of these options.
    pub(crate) fn is_given(&self) -> bool {
        !(self.path.is_empty() && self.define.is_empty() && self.types.is_empty())
    }

    pub(crate) fn options(&self) -> ImportOptions {
        ImportOptions {
            folders: self.path.clone(),
            defines: self.define.clone(),
            types: self.types.clone(),
            tree: None,
            without_command_line: false,
        }
    }

    pub(crate) fn allowed(&self, files: ProgramFiles) -> ProgramFiles {
        self.path.iter().fold(files, |files, folder| files.and_below(folder))
    }

    /// Reads and lowers kernels of a file; if the file is refused, prints why and returns `None`.
    pub(crate) fn lower(&self, file: &Path, wanted: Wanted<'_>) -> anyhow::Result<Option<Lowered>> {
        let files = self.allowed(ProgramFiles::of(file));
        let text = files.text(file).with_context(|| format!("reading {}", file.display()))?;
        let (mut sources, mut texts) = (SourceMap::new(), Texts::new(self.options()));
        let id = sources.add(file.display().to_string(), text);
        let refuse = |faults: &[Diagnostic], sources: &SourceMap| {
            print::error(&render(faults, sources));
            Ok(None)
        };
        let program =
            match Program::load(&mut texts, &mut sources, id, Some(&|path| files.find(path))) {
                Ok(program) => program,
                Err(faults) => return refuse(&faults, &sources),
            };
        let undecided = program.reader().undecided(wanted.kernels);
        if !undecided.is_empty() {
            print::error(&(render(&undecided, &sources) + "\n"));
        }
        self.check_kernels(&program, file, wanted.kernels)?;
        match module(&program, file, wanted).and_then(check::module) {
            Ok(module) => Ok(Some(Lowered { module, sources })),
            Err(faults) => refuse(&faults, &sources),
        }
    }

    fn check_kernels(
        &self,
        program: &Program,
        file: &Path,
        wanted: &[String],
    ) -> anyhow::Result<()> {
        let kernels = program.reader().kernels();
        let names: Vec<&str> = kernels.iter().map(|it| it.name.as_str()).collect();
        let file = file.display();
        ensure!(
            !names.is_empty(),
            "{file} has no kernel, which is a function decorated with `@wp.kernel`"
        );
        if let Some(missing) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
            bail!("{file} has no kernel `{missing}`; it has {}", names.join(", "));
        }
        match self.types.iter().find(|(kernel, _)| !names.contains(&kernel.as_str())) {
            Some((kernel, _)) => {
                bail!("--types: {file} has no kernel `{kernel}`; it has {}", names.join(", "))
            }
            None => Ok(()),
        }
    }
}

fn module(program: &Program, file: &Path, wanted: Wanted<'_>) -> Result<Module, Vec<Diagnostic>> {
    let name = file.file_stem().map_or("kernels".into(), |stem| stem.to_string_lossy());
    let reader = program.reader();
    let reader = if wanted.gradients { reader.with_gradients() } else { reader };
    let all = wanted.kernels.is_empty();
    reader.compile_kernels(&name, |kernel| all || wanted.kernels.contains(&kernel.name))
}

/// Parses `NAME=VALUE`.
fn definition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "._".contains(c));
    if !is_name || value.trim().is_empty() || value.contains(['\n', '\r']) {
        return Err("write NAME=VALUE on one line, with the name as in the file".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}
