//! Rows from real code: every kernel below a folder that the compiler takes, cut out of its file
//! with what it needs, given inputs on which it runs and means something, and checked as sampled
//! rows are.
//!
//! A text that was cut out must compile to the IR of the kernel in its file, so a row's source
//! computes what its author wrote. No Python is executed. What sampled rows must hold and people's
//! code need not (each input matters, each comparison comes out both ways, each operator shows,
//! rounding decides nothing) is measured and marked.

mod cut;
mod input;
mod order;
mod origin;
mod outline;
mod text;

use crate::error::SynthError;
use crate::execute::LaunchInputs;
use crate::feature_count::python_files;
use crate::input::ArgumentInput;
use crate::row::{
    self, COMPILER_VERSION, GENERATOR_VERSION, IN_WARP, Plan, RejectReason, Results, Row,
    machine_code, results, signature, slope,
};
use crate::row_program::{RowProgram, code, within_limits};
use crate::verdict::{Check, Verdict};
use crate::worker_threads::on_threads;
use crate::{mutation_check, rounding, structure, tensor, widen};
use cut::Sources;
use gbxcule_dialect::{ImportOptions, Program as Parsed, Texts as ParsedTexts};
use gbxcule_ir::check;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Module, print};
use gbxcule_runtime::ProgramFiles;
use input::Threads;
use origin::Origin;
pub use origin::{is_licence, manifest_of};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use text::{own_text, parameter_types};

/// Family of rows that were not sampled.
pub const FAMILY: &str = "harvested";

/// Reason why a kernel is not a row.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Refusal {
    /// The compiler refuses it, with the code.
    Compiler(String),
    /// The text that was cut out isn't the kernel.
    NotCut,
    /// A parameter that inputs can't be drawn for, such as a struct with an array.
    Parameters,
    /// No inputs were found on which it runs without a fault.
    Faults,
    /// No result: the kernel writes nothing.
    NoResult,
    /// The results don't depend on the inputs.
    Constant,
    /// The results, or gradients, aren't finite, or are huge.
    NotFinite,
    /// The results depend on which thread comes first.
    Race,
    /// The gradient is not that of differences.
    Gradient,
    /// Machine code gives other results.
    MachineCode,
}

impl Refusal {
    fn text(&self) -> String {
        match self {
            Self::Compiler(code) => format!("refused by the compiler: `{code}`"),
            Self::NotCut => "not to be had without its file".into(),
            Self::Parameters => "parameters that no inputs are drawn for".into(),
            Self::Faults => "faults on all inputs that were tried".into(),
            Self::NoResult => "writes nothing".into(),
            Self::Constant => "results that don't depend on inputs".into(),
            Self::NotFinite => "results or gradients that aren't finite".into(),
            Self::Race => "results that depend on the order of threads".into(),
            Self::Gradient => "a gradient that differs from differences".into(),
            Self::MachineCode => "machine code that gives something else".into(),
        }
    }
}

/// Origin and counts of a harvest, stored in the manifest.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Harvest {
    /// Name of the folder.
    pub folder: String,
    /// SPDX expression of the licence of its files.
    pub license: String,
    /// Commit of the folder, if it is a checkout.
    pub commit: Option<String>,
    /// Files that were read.
    pub files: usize,
    /// Files that were not, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// Kernels that were found.
    pub kernels: usize,
    /// Functions that are no kernels (`@wp.func`): rows have those that a kernel calls.
    #[serde(default)]
    pub functions: usize,
    /// Rows with a structure that an earlier row has.
    pub repeated: usize,
    /// Kernels that are no rows, by the reason.
    pub refused: BTreeMap<String, usize>,
}

/// A kernel that is not a row.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RefusedKernel {
    /// File, below the folder.
    pub file: String,
    /// Line of its name.
    pub line: usize,
    /// Name of the kernel.
    pub kernel: String,
    /// Reason, one of those that [`Harvest::refused`] counts.
    pub reason: String,
}

/// Result of a harvest.
#[derive(Clone, PartialEq, Debug)]
pub struct Harvested {
    /// Rows, in the order of the files.
    pub rows: Vec<Row>,
    /// Origin and counts.
    pub harvest: Harvest,
    /// Kernels that are no rows, in the order of the files.
    pub refused: Vec<RefusedKernel>,
}

/// A kernel of a file.
struct KernelInFile {
    file: PathBuf,
    line: usize,
    at: usize,
    name: String,
    /// Types of its parameters, as Python writes them.
    types: Option<Vec<String>>,
    /// Printed IR of the kernel in its file, or the code of its refusal.
    ir: Result<String, String>,
}

/// Kernels and functions in the files of a folder.
struct Found {
    kernels: Vec<KernelInFile>,
    /// Number of functions that are no kernels.
    functions: usize,
    /// Files that were not read, each with the reason.
    unread: Vec<String>,
}

/// Harvests a folder: the rows, and what became of the kernels that are none; `looked` hears of the
/// number of kernels, then of each.
pub fn harvest(
    folder: &Path,
    license: &str,
    plan: Plan,
    workers: usize,
    looked: &(dyn Fn(Option<usize>) + Sync),
) -> Result<Harvested, SynthError> {
    let mut files = python_files(folder)?;
    files.sort();
    let Found { kernels: found, functions, unread } = find(folder, &files);
    looked(Some(found.len()));
    let commit = origin::commit(folder);
    let made = take_all(folder, &found, plan, workers, looked);
    let name = folder.canonicalize().map_err(SynthError::file(folder))?;
    let name = name.file_name().map_or(String::new(), |it| it.to_string_lossy().into_owned());
    let mut harvest = Harvest {
        folder: name,
        license: license.into(),
        commit: commit.clone(),
        files: files.len() - unread.len(),
        unread,
        kernels: found.len(),
        functions,
        ..Harvest::default()
    };
    let (mut rows, mut refused) = (Vec::<Row>::new(), Vec::new());
    let mut known: HashMap<String, u64> = HashMap::new();
    for (at, outcome) in made {
        let KernelInFile { file, line, name, .. } = &found[at];
        let file = file.strip_prefix(folder).unwrap_or(file).display().to_string();
        let mut row = match outcome {
            Ok(row) => row,
            Err(refusal) => {
                let (kernel, reason) = (name.clone(), refusal.text());
                *harvest.refused.entry(reason.clone()).or_default() += 1;
                refused.push(RefusedKernel { file, line: *line, kernel, reason });
                continue;
            }
        };
        row.id = rows.len() as u64;
        let same_structure_as = known.get(&row.structure).copied();
        harvest.repeated += usize::from(same_structure_as.is_some());
        known.entry(row.structure.clone()).or_insert(row.id);
        let origin = Origin {
            folder: harvest.folder.clone(),
            file,
            line: *line,
            commit: commit.clone(),
            license: license.into(),
            same_structure_as,
        };
        row.origin_json = Some(json!(origin).to_string());
        rows.push(row);
    }
    Ok(Harvested { rows, harvest, refused })
}

/// Makes rows of kernels on several threads; the rows are in the kernels' order.
fn take_all(
    folder: &Path,
    found: &[KernelInFile],
    plan: Plan,
    workers: usize,
    looked: &(dyn Fn(Option<usize>) + Sync),
) -> Vec<(usize, Result<Row, Refusal>)> {
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut made, mut sources) = (Vec::new(), Sources::below(folder));
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(kernel) = found.get(at) else { return made };
            made.push((at, take(kernel, plan, &mut sources)));
            looked(None);
        }
    };
    let mut made: Vec<(usize, Result<Row, Refusal>)> =
        on_threads(workers, work).into_iter().flatten().collect();
    made.sort_by_key(|(at, _)| *at);
    made
}

/// Reads files for their kernels.
fn find(folder: &Path, files: &[PathBuf]) -> Found {
    let allowed = ProgramFiles::below(folder);
    let (mut sources, mut texts) = (SourceMap::new(), ParsedTexts::new(ImportOptions::default()));
    let (mut all, mut functions, mut unread) = (Vec::new(), 0, Vec::new());
    for path in files {
        let text = match allowed.text(path) {
            Ok(text) => text,
            Err(error) => {
                let below = path.strip_prefix(folder).unwrap_or(path);
                unread.push(format!("{}: {error}", below.display()));
                continue;
            }
        };
        let is_function = |line: &&str| line.trim_start().starts_with("@wp.func");
        functions += text.lines().filter(is_function).count();
        let id = sources.add(path.display().to_string(), text);
        let parsed =
            Parsed::parse_with_cache(&mut texts, &mut sources, id, &|path| allowed.find(path));
        // A text that is not Python holds no kernels.
        let Ok(program) = parsed else { continue };
        let reader = program.reader();
        for kernel in reader.kernels() {
            let mut module = Module::new("kernel");
            let lowered = reader.lower(kernel.position, &mut module);
            let ir = lowered.and_then(|()| check::module(module)).and_then(within_limits);
            let types = ir
                .as_ref()
                .ok()
                .and_then(|module| parameter_types(module, module.kernels().next()?.0));
            let at = kernel.span.start as usize;
            all.push(KernelInFile {
                file: path.clone(),
                line: sources.get(id).line_column(kernel.span.start).0,
                at,
                name: kernel.name,
                types,
                ir: ir.map(|module| print::module(&module)).map_err(|faults| code(&faults)),
            });
        }
    }
    Found { kernels: all, functions, unread }
}

/// Makes a row of a kernel.
fn take(kernel: &KernelInFile, plan: Plan, sources: &mut Sources) -> Result<Row, Refusal> {
    if let Err(code) = &kernel.ir {
        return Err(Refusal::Compiler(code.clone()));
    }
    let (source, program) = own_text(kernel, sources).ok_or(Refusal::NotCut)?;
    // A kernel whose threads race may still be one for a single thread.
    match tried(&source, &program, plan, Threads::Any) {
        Err(refusal @ (Refusal::Race | Refusal::MachineCode)) => {
            tried(&source, &program, plan, Threads::One).map_err(|_| refusal)
        }
        made => made,
    }
}

/// Makes a row of a text if inputs are found.
fn tried(source: &str, program: &RowProgram, plan: Plan, threads: Threads) -> Result<Row, Refusal> {
    let given = input::find(program, plan.seed ^ structure_seed(source), threads)?;
    let grid = LaunchInputs { dims: &given.dims, inputs: &given.inputs };
    let have = results(program, grid, given.seed).map_err(|_| Refusal::NotFinite)?;
    if !order::is_settled(program, grid, given.seed, &have) {
        return Err(Refusal::Race);
    }
    let mut checks =
        vec![Check::passed("parses"), Check::passed("compiles"), Check::passed("meaningful")];
    let mark = |name: &str, holds: bool| {
        Check::new(name, if holds { Verdict::Pass } else { Verdict::Waived }, None)
    };
    checks.push(mark("inputs", given.inputs_matter));
    checks.push(mark("comparisons", given.comparisons_vary));
    let pinned = mutation_check::seed(source, program, grid, given.seed);
    checks.push(mark("pinned", pinned.is_ok_and(|seed| seed == given.seed)));
    checks.extend(gradient(program, grid, given.seed, &have, &mut |it| mark("rounding", it))?);
    let machine = machine_code(program, grid, given.seed, &have);
    if machine.as_ref().is_ok_and(|check| check.verdict == Verdict::Fail) {
        return Err(Refusal::MachineCode);
    }
    checks.extend(machine);
    Ok(row(source, program, grid, plan, (given.seed, given.attempt), (have, checks)))
}

/// A number that depends on a text alone: a kernel's inputs don't change with its neighbours.
fn structure_seed(source: &str) -> u64 {
    u64::from_str_radix(&structure::digest(source, 8), 16).unwrap_or(0)
}

/// The checks of rounding and of the gradient.
fn gradient(
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    seed: u64,
    have: &Results,
    mark: &mut dyn FnMut(bool) -> Check,
) -> Result<Vec<Check>, Refusal> {
    let wide = widen::program(program).and_then(|wide| results(&wide, grid, seed).ok());
    let mut checks = Vec::new();
    if let Some(wide) = wide {
        let is_harmless = rounding::is_harmless(have, &wide);
        checks.push(mark(is_harmless));
        if !is_harmless {
            return Ok(checks);
        }
    }
    match slope(program, grid, seed, have) {
        Ok(check) => checks.extend(check),
        Err(RejectReason::WrongSlope) => return Err(Refusal::Gradient),
        Err(_) => return Err(Refusal::NotFinite),
    }
    Ok(checks)
}

fn row(
    source: &str,
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    plan: Plan,
    (input_seed, attempt): (u64, u32),
    (have, checks): (Results, Vec<Check>),
) -> Row {
    let tokens = structure::tokens(source);
    let emitted = program.emit(plan.device);
    let structure = structure::hash(&tokens);
    let inputs: &[ArgumentInput] = grid.inputs;
    Row {
        family: FAMILY.into(),
        kernel: program.name().into(),
        source: source.into(),
        ir: emitted.ir,
        ir_backward: emitted.ir_backward,
        cpp: emitted.cpp,
        cpp_backward: emitted.cpp_backward,
        cuda: emitted.cuda,
        cuda_backward: emitted.cuda_backward,
        gradient_refused: program.reverse.as_ref().err().cloned(),
        signature_json: signature(program, inputs),
        launch_dims: grid.dims.into(),
        inputs_json: json!(inputs).to_string(),
        input_seed,
        outputs_json: Some(tensor::to_json(&have.outputs)),
        gradients_json: have.gradients.map(|gradients| tensor::to_json(&gradients)),
        features: structure::features(&tokens),
        split: crate::split::split_of(&structure).into(),
        in_warp: IN_WARP.has(&tokens, &program.forward),
        structure,
        checks_json: json!(checks).to_string(),
        seed: plan.seed,
        attempt,
        generator_version: GENERATOR_VERSION,
        compiler: COMPILER_VERSION.into(),
        ..row::Row::default()
    }
}
