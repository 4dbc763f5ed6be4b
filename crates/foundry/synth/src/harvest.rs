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
mod licence;
mod order;
mod origin;
mod outline;
mod text;
mod unmarked;

use crate::error::SynthError;
use crate::execute::LaunchInputs;
use crate::feature_count::python_files;
use crate::input::ArgumentInput;
use crate::labels::Labels;
use crate::row::{
    COMPILER_VERSION, GENERATOR_VERSION, Plan, RejectReason, Results, Row, machine_code, results,
    slope,
};
use crate::row_program::{RowProgram, code, within_limits};
use crate::verdict::{Check, Verdict};
use crate::worker_threads::on_threads;
use crate::{mutation_check, rounding, structure, tensor, widen};
use cut::Sources;
use gbxcule_front_warp::{ImportOptions, Program as Parsed, Texts as ParsedTexts};
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Module, print};
use gbxcule_runtime::ProgramFiles;
use input::Threads;
pub use licence::licence_of;
use licence::other_licence;
pub(crate) use origin::Origin;
pub use origin::{is_licence, manifest_of};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use text::{own_text, parameter_types};
use unmarked::likely_kernels;

/// Family of rows that were not sampled.
pub const FAMILY: &str = "harvested";

/// Reason of a function that may be a kernel.
pub const UNMARKED: &str =
    "calls `wp.tid` or is launched, and no decorator that is read here makes it a kernel";

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
#[serde(deny_unknown_fields)]
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
    /// Functions that call `wp.tid` or are launched, and that nothing marks as kernels, so far as
    /// the files say it.
    #[serde(default)]
    pub unmarked: usize,
    /// Rows with a structure that an earlier row has.
    pub repeated: usize,
    /// Kernels that are no rows, by the reason.
    pub refused: BTreeMap<String, usize>,
}

impl Harvest {
    /// Description of what no harvest writes. The card has these texts in its lines and in the
    /// settings that hubs read, and manifests come from anybody.
    pub(crate) fn fault(&self) -> Option<String> {
        let mut reasons = self.refused.keys();
        let is_line = |text: &String| !text.contains(char::is_control);
        if !is_licence(&self.license) {
            return Some(format!("`{}` is no licence's SPDX expression", self.license));
        }
        let all = is_line(&self.folder) && self.commit.iter().all(is_line) && reasons.all(is_line);
        (!all).then(|| "a name or a reason of the harvest has several lines".to_owned())
    }
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
    /// Reason, one of those that [`Harvest::refused`] counts, or [`UNMARKED`].
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
    /// Functions that may be kernels: file, line, name.
    unmarked: Vec<(PathBuf, usize, String)>,
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
    let Found { kernels: found, functions, unmarked, unread } = find(folder, license, &files);
    looked(Some(found.len()));
    let made = take_all(folder, &found, plan, workers, looked);
    let name = folder.canonicalize().map_err(SynthError::file(folder))?;
    let name = name.file_name().map_or(String::new(), |it| it.to_string_lossy().into_owned());
    let mut harvest = Harvest {
        // The card has it in a line.
        folder: name.replace(char::is_control, "\u{fffd}"),
        license: license.into(),
        commit: origin::commit(folder),
        files: files.len() - unread.len(),
        unread,
        kernels: found.len(),
        functions,
        unmarked: unmarked.len(),
        ..Harvest::default()
    };
    let below = |file: &Path| file.strip_prefix(folder).unwrap_or(file).display().to_string();
    let may_be = |(file, line, kernel): (PathBuf, usize, String)| RefusedKernel {
        file: below(&file),
        line,
        kernel,
        reason: UNMARKED.into(),
    };
    let mut refused: Vec<RefusedKernel> = unmarked.into_iter().map(may_be).collect();
    let (mut rows, mut known) = (Vec::new(), HashMap::new());
    for (at, outcome) in made {
        let KernelInFile { file, line, name, .. } = &found[at];
        let (file, line, kernel) = (below(file), *line, name.clone());
        match outcome {
            Ok(row) => {
                let row = Row { id: rows.len() as u64, ..row };
                rows.push(with_origin(row, (file, line), &mut harvest, &mut known));
            }
            Err(refusal) => {
                let reason = refusal.text();
                *harvest.refused.entry(reason.clone()).or_default() += 1;
                refused.push(RefusedKernel { file, line, kernel, reason });
            }
        }
    }
    refused.sort_by(|one, other| (&one.file, one.line).cmp(&(&other.file, other.line)));
    Ok(Harvested { rows, harvest, refused })
}

/// The row with its origin: where it stands, and the first row of its structure among those that
/// are known.
fn with_origin(
    row: Row,
    (file, line): (String, usize),
    harvest: &mut Harvest,
    known: &mut HashMap<String, u64>,
) -> Row {
    let same_structure_as = known.get(&row.structure).copied();
    harvest.repeated += usize::from(same_structure_as.is_some());
    known.entry(row.structure.clone()).or_insert(row.id);
    let (folder, commit) = (harvest.folder.clone(), harvest.commit.clone());
    let license = harvest.license.clone();
    let origin = Origin { folder, file, line, commit, license, same_structure_as };
    Row { origin_json: Some(json!(origin).to_string()), ..row }
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
fn find(folder: &Path, license: &str, files: &[PathBuf]) -> Found {
    let allowed = ProgramFiles::below(folder);
    let (mut sources, mut texts) = (SourceMap::new(), ParsedTexts::new(ImportOptions::default()));
    let (mut all, mut functions, mut unread) = (Vec::new(), 0, Vec::new());
    let mut unmarked = Vec::new();
    for path in files {
        let below = path.strip_prefix(folder).unwrap_or(path).display();
        let text = match allowed.text(path) {
            Ok(text) => text,
            Err(error) => {
                unread.push(format!("{below}: {error}"));
                continue;
            }
        };
        if let Some(other) = other_licence(&text, license) {
            let reason =
                format!("its header names the licence `{other}`, and rows are under `{license}`");
            unread.push(format!("{below}: {reason}"));
            continue;
        }
        let is_function = |line: &&str| line.trim_start().starts_with("@wp.func");
        functions += text.lines().filter(is_function).count();
        let mut likely = likely_kernels(&text);
        let id = sources.add(path.display().to_string(), text);
        let parsed =
            Parsed::parse_with_cache(&mut texts, &mut sources, id, &|path| allowed.find(path));
        let program = match parsed {
            Ok(program) => program,
            Err(faults) => {
                unread.push(format!("{below}{}", first_fault(&faults, &sources)));
                continue;
            }
        };
        let reader = program.reader();
        let kernels = reader.kernels();
        let line = |at: usize| sources.get(id).line_column(at as u32).0;
        likely.retain(|it| {
            kernels.iter().all(|kernel| line(kernel.span.start as usize) != line(it.at))
        });
        unmarked.extend(likely.into_iter().map(|it| (path.clone(), line(it.at), it.name)));
        for kernel in kernels {
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
    Found { kernels: all, functions, unmarked, unread }
}

/// Returns the place and the message of the first of some diagnostics.
fn first_fault(faults: &[Diagnostic], sources: &SourceMap) -> String {
    let Some(fault) = faults.first() else { return ": not read".into() };
    match fault.span().source() {
        Some(source) => {
            let (line, column) = sources.get(source).line_column(fault.span().start);
            format!(":{line}:{column}: {}", fault.message)
        }
        None => format!(": {}", fault.message),
    }
}

/// Makes a row of a kernel.
fn take(kernel: &KernelInFile, plan: Plan, sources: &mut Sources) -> Result<Row, Refusal> {
    if let Err(code) = &kernel.ir {
        return Err(Refusal::Compiler(code.clone()));
    }
    let (source, program) = own_text(kernel, sources).ok_or(Refusal::NotCut)?;
    row_of(&source, &program, plan)
}

/// Makes the row of a text, with the threads on which it runs.
fn row_of(source: &str, program: &RowProgram, plan: Plan) -> Result<Row, Refusal> {
    // A kernel whose threads race may still be one for a single thread.
    match tried(source, program, plan, Threads::Any) {
        Err(refusal @ (Refusal::Race | Refusal::MachineCode)) => {
            tried(source, program, plan, Threads::One).map_err(|_| refusal)
        }
        made => made,
    }
}

/// Makes the row of a stored text again: all of it but its number and origin. `None` if it gives no
/// row.
pub(crate) fn made_again(source: &str, program: &RowProgram, plan: Plan) -> Option<Row> {
    row_of(source, program, plan).ok()
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
    let emitted = program.emit(plan.device);
    let inputs: &[ArgumentInput] = grid.inputs;
    let row = Row {
        family: FAMILY.into(),
        source: source.into(),
        ir: emitted.ir,
        ir_backward: emitted.ir_backward,
        cpp: emitted.cpp,
        cpp_backward: emitted.cpp_backward,
        cuda: emitted.cuda,
        cuda_backward: emitted.cuda_backward,
        gradient_refused: program.reverse.as_ref().err().cloned(),
        launch_dims: grid.dims.into(),
        inputs_json: json!(inputs).to_string(),
        input_seed,
        outputs_json: Some(tensor::to_json(&have.outputs)),
        gradients_json: have.gradients.map(|gradients| tensor::to_json(&gradients)),
        checks_json: json!(checks).to_string(),
        seed: plan.seed,
        attempt,
        generator_version: GENERATOR_VERSION,
        compiler: COMPILER_VERSION.into(),
        ..Row::default()
    };
    Labels::of(source, program, inputs).label(row)
}
