//! Rows from real code: each kernel below a folder that the compiler accepts is cut out of its
//! file, with the definitions that it needs, and made a row (`gbxcule_rows::harvested`).
//!
//! The cut text must compile to the IR of the kernel in its file, so a row's source computes what
//! its author wrote. No Python is executed.

mod commit;
mod cut;
mod licence;
mod outline;
mod recording;
mod text;
mod unmarked;

use cut::{Sources, allowed};
use gbxcule_files::python_files;
use gbxcule_front_warp::{
    ImportOptions, KernelName, Program as Parsed, Reader, Texts as ParsedTexts,
};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Module, print};
use gbxcule_rows::error::SynthError;
pub use gbxcule_rows::harvested::{FAMILY, Harvest, UNMARKED, is_licence, manifest_of};
use gbxcule_rows::harvested::{Origin, RecordedFrom, Refusal, row_of, row_of_recorded};
use gbxcule_rows::row::{Plan, Row};
use gbxcule_rows::row_program::{code, within_limits};
use gbxcule_rows::worker_threads::in_order_with;
pub use licence::licence_of;
use licence::other_licence;
pub use recording::Recordings;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use text::{OwnText, own_text, parameter_types};
use unmarked::likely_kernels;

/// Code of the refusal of a generic kernel for which nothing says the types.
const GENERIC: &str = "generic-kernel";

/// A kernel that gave no row.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RefusedKernel {
    /// Path of the file below the folder.
    pub file: String,
    /// Line of the kernel's name, from 1 on.
    pub line: usize,
    /// Name of the kernel.
    pub kernel: String,
    /// Reason of the refusal: one that [`Harvest::refused`] counts, or [`UNMARKED`].
    pub reason: String,
    /// The compiler's message, if it refused the kernel, or the refused part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Result of a harvest.
#[derive(Clone, PartialEq, Debug)]
pub struct Harvested {
    /// Rows, in the order of the files.
    pub rows: Vec<Row>,
    /// Origin of the files, and counts of kernels.
    pub harvest: Harvest,
    /// Kernels that gave no row, in the order of the files.
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
    /// Printed IR of the kernel in its file, or the code and the message of its refusal.
    ir: Result<String, (String, String)>,
}

/// Kernels and functions in the files of a folder.
struct FolderKernels {
    kernels: Vec<KernelInFile>,
    /// Number of functions other than kernels.
    functions: usize,
    /// Functions that may be kernels: file, line and name of each.
    unmarked: Vec<(PathBuf, usize, String)>,
    /// Files that could not be read, each with the reason.
    unread: Vec<String>,
}

/// The row of a kernel, or the reason why the kernel gives no row.
pub type KernelOutcome = Result<KernelRow, RefusedRow>;

/// The row of a kernel, without its number and origin.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KernelRow {
    row: Row,
    /// The launch that the inputs were recorded from, if they were not drawn.
    recorded: Option<RecordedFrom>,
    /// Names for which the text has the user's values.
    given: Vec<String>,
}

/// Reason why a kernel gives no row, and a message about the refused part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RefusedRow {
    reason: String,
    message: Option<String>,
}

/// Kernels below a folder. A kernel's row depends only on the kernel, its imports and the plan, so
/// several processes can divide the kernels among them.
pub struct FoundKernels<'a> {
    folder: &'a Path,
    license: &'a str,
    options: &'a ImportOptions,
    recordings: Recordings,
    files: usize,
    found: FolderKernels,
}

/// Harvests a folder: returns the rows, and the reason for each kernel that gave no row. Calls
/// `looked` after each kernel.
pub fn harvest(
    folder: &Path,
    license: &str,
    plan: Plan,
    workers: usize,
    looked: &(dyn Fn() + Sync),
) -> Result<Harvested, SynthError> {
    let options = ImportOptions::default();
    let kernels = FoundKernels::below(folder, license, &options, Recordings::default())?;
    let outcomes = kernels.outcomes(0..kernels.count(), plan, workers, looked)?;
    kernels.harvested(outcomes)
}

impl<'a> FoundKernels<'a> {
    /// Reads the files below a folder, and those that they import, with the values and types that
    /// the user gives.
    ///
    /// # Errors
    /// A folder can't be read, or a further one that `options` names has another licence: rows have
    /// definitions from it.
    pub fn below(
        folder: &'a Path,
        license: &'a str,
        options: &'a ImportOptions,
        recordings: Recordings,
    ) -> Result<Self, SynthError> {
        for further in &options.folders {
            let licence = licence_of(further, None)?;
            if licence != license {
                let reason = format!("its licence is {licence}, and rows are under {license}");
                return Err(SynthError::data(further, reason));
            }
        }
        let files = python_files(folder)?;
        let found = find(folder, license, options, &files);
        Ok(Self { folder, license, options, recordings, files: files.len(), found })
    }

    /// Returns the number of kernels.
    pub fn count(&self) -> usize {
        self.found.kernels.len()
    }

    /// Makes rows of some kernels on several threads, in the kernels' order.
    ///
    /// # Errors
    /// A file of recorded launches can't be read.
    pub fn outcomes(
        &self,
        kernels: Range<usize>,
        plan: Plan,
        workers: usize,
        looked: &(dyn Fn() + Sync),
    ) -> Result<Vec<KernelOutcome>, SynthError> {
        let kernels = &self.found.kernels[kernels];
        let sources = || Sources::below(self.folder, self.options);
        in_order_with(workers, kernels.len(), sources, |sources, number| {
            self.outcome(&kernels[number], plan, sources).inspect(|_| looked())
        })
    }

    /// Makes the row of a kernel.
    fn outcome(
        &self,
        kernel: &KernelInFile,
        plan: Plan,
        sources: &mut Sources,
    ) -> Result<KernelOutcome, SynthError> {
        let refuse =
            |refusal: Refusal| RefusedRow { reason: refusal.text(), message: refusal.message() };
        if let Err((code, _)) = &kernel.ir {
            return Ok(Err(refuse(Refusal::Compiler(code.clone()))));
        }
        let Some(OwnText { source, program, given }) = own_text(kernel, sources) else {
            return Ok(Err(refuse(Refusal::NotCut)));
        };
        let drawn = || -> Result<KernelRow, Refusal> {
            let row = row_of(&source, &program, plan)?;
            Ok(KernelRow { row, recorded: None, given: given.clone() })
        };
        if !self.recordings.is_first
            && let Ok(made) = drawn()
        {
            return Ok(Ok(made));
        }
        let place = (&*kernel.file, kernel.line, &*kernel.name);
        let mut nearest = None;
        for (from, launch) in self.recordings.of(self.folder, place)? {
            let launch = launch.map_err(Refusal::Recording);
            match launch.and_then(|it| row_of_recorded(&source, &program, plan, &it)) {
                Ok(row) => return Ok(Ok(KernelRow { row, recorded: Some(from), given })),
                Err(refusal) => nearest = nearest.max(Some(refusal)),
            }
        }
        Ok(drawn().map_err(|refusal| refuse(nearest.unwrap_or(refusal))))
    }

    /// Numbers the rows and names their origins, given an outcome for each kernel.
    pub fn harvested(self, outcomes: Vec<KernelOutcome>) -> Result<Harvested, SynthError> {
        let Self { folder, license, files, found, .. } = self;
        let FolderKernels { kernels, functions, unmarked, unread } = found;
        let name = folder.canonicalize().map_err(SynthError::file(folder))?;
        let name = name.file_name().map_or(String::new(), |it| it.to_string_lossy().into_owned());
        let mut harvest = Harvest {
            // The dataset card shows the folder's name on a single line.
            folder: name.replace(char::is_control, "\u{fffd}"),
            license: license.into(),
            commit: commit::commit(folder),
            files: files - unread.len(),
            unread,
            kernels: kernels.len(),
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
            message: None,
        };
        let mut refused: Vec<RefusedKernel> = unmarked.into_iter().map(may_be).collect();
        let (mut rows, mut known) = (Vec::new(), HashMap::new());
        for (KernelInFile { file, line, name, ir, .. }, outcome) in kernels.iter().zip(outcomes) {
            let (file, line, kernel) = (below(file), *line, name.clone());
            match outcome {
                Ok(made) => {
                    harvest.recorded += usize::from(made.recorded.is_some());
                    rows.push(numbered(rows.len(), made, (file, line), &mut harvest, &mut known));
                }
                Err(RefusedRow { reason, message }) => {
                    *harvest.refused.entry(reason.clone()).or_default() += 1;
                    let told = ir.as_ref().err().map(|(_, message)| message.clone());
                    let message = told.or(message);
                    refused.push(RefusedKernel { file, line, kernel, reason, message });
                }
            }
        }
        refused.sort_by(|one, other| (&one.file, one.line).cmp(&(&other.file, other.line)));
        Ok(Harvested { rows, harvest, refused })
    }
}

/// Adds a row's number and origin: its place in the files and, if there is one, the first earlier
/// row of the same structure.
fn numbered(
    number: usize,
    KernelRow { row, recorded, given }: KernelRow,
    (file, line): (String, usize),
    harvest: &mut Harvest,
    known: &mut HashMap<String, u64>,
) -> Row {
    let row = Row { id: number as u64, ..row };
    let same_structure_as = known.get(&row.structure).copied();
    harvest.repeated += usize::from(same_structure_as.is_some());
    known.entry(row.structure.clone()).or_insert(row.id);
    let (folder, commit) = (harvest.folder.clone(), harvest.commit.clone());
    let license = harvest.license.clone();
    let origin = Origin { folder, file, line, commit, license, same_structure_as, recorded, given };
    Row { origin_json: Some(json!(origin).to_string()), ..row }
}

/// Reads files for their kernels.
fn find(folder: &Path, license: &str, options: &ImportOptions, files: &[PathBuf]) -> FolderKernels {
    let allowed = allowed(folder, options);
    let (mut sources, mut texts) = (SourceMap::new(), ParsedTexts::new(options.clone()));
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
        let parsed = Parsed::load(&mut texts, &mut sources, id, Some(&|path| allowed.find(path)));
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
            let ir = lowered(&program, &reader, &kernel);
            let module = ir.as_ref().ok();
            let types = module.and_then(|it| parameter_types(it, it.kernels().next()?.0));
            all.push(KernelInFile {
                file: path.clone(),
                line: line(kernel.span.start as usize),
                at: kernel.span.start as usize,
                name: kernel.name,
                types,
                ir: ir.map(|module| print::module(&module)).map_err(|faults| {
                    let message = faults.first().map(|fault| fault.message.clone());
                    (code(&faults), message.unwrap_or_default())
                }),
            });
        }
    }
    FolderKernels { kernels: all, functions, unmarked, unread }
}

/// Lowers a kernel of a file. A generic kernel for which nothing says the types is lowered for the
/// first types that fit: its row's text states them.
fn lowered(
    program: &Parsed,
    reader: &Reader<'_>,
    kernel: &KernelName,
) -> Result<Valid<Module>, Vec<Diagnostic>> {
    let lower = |reader: &Reader<'_>| {
        within_limits(check::module(reader.lower(kernel.position, "kernel")?)?)
    };
    match lower(reader) {
        Err(faults) if code(&faults) == GENERIC => lower(&program.reader().with_trial_types()),
        ir => ir,
    }
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
