//! Compiles the C++ and CUDA texts of rows by the host's compiler and runs them. Many rows share
//! one executable, because a compiler takes longer to start than to compile a small kernel.
//!
//! CUDA text is compiled after a header that makes it host C++. If an executable doesn't compile,
//! its rows are halved until the faulty one is found. Compiler and program run in the sandbox, in a
//! private folder of this process.

mod machine;

use crate::error::SynthError;
use crate::execute::{ArgumentBytes, Data, LaunchInputs};
use crate::host::{Launch, LaunchArgument};
use crate::part::{Composite, parts};
use crate::row_program::element;
use gbxcule_back_cxx::{HEADER, HEADER_NAME, HOST_CUDA, HOST_CUDA_NAME};
use gbxcule_files::TemporaryFolder;
use gbxcule_ir::layout::descriptor;
use gbxcule_ir::{FunctionId, Module};
use gbxcule_sandbox::{ChildEnd, Limits, Outcome, Policy, Room, SandboxError, host_compiler};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

/// Messages of a compiler that reached a limit of the sandbox.
const LIMIT_MET: [&str; 4] =
    ["signal terminated program", "CPU time limit", "virtual memory exhausted", "out of memory"];
/// Beginning of the program. It writes results to its original standard output and drops the output
/// of kernels, which would corrupt them.
const MAIN_HEAD: &str = "#include <unistd.h>
int main()
{
    FILE* out = fdopen(dup(1), \"wb\");
    if (!out || !freopen(\"/dev/null\", \"w\", stdout))
        return 1;
";
/// Greatest number of characters of a compiler's message.
const MAX_ERROR_CHARACTERS: usize = 200;

/// A text with the data for its launches.
pub struct Job<'a> {
    /// The text.
    pub text: &'a str,
    /// True for CUDA C++.
    pub is_cuda: bool,
    /// The module of the kernel.
    pub module: &'a Module,
    /// The kernel.
    pub kernel: FunctionId,
    /// Name of the kernel in the text.
    pub symbol: String,
    /// Size and inputs of each launch, and the memory before it.
    pub launches: Vec<(LaunchInputs<'a>, ArgumentBytes)>,
    /// Launches of host code, in order, on the memory of each launch above; empty for a row of one
    /// kernel, which is launched once.
    pub host: Vec<HostLaunch>,
}

/// A launch of host code.
#[derive(Clone, Debug)]
pub struct HostLaunch {
    /// The launch.
    pub launch: Launch,
    /// Name of its kernel in the text.
    pub symbol: String,
    /// Data of all arguments; for reverses these replace the memory that the preceding launch left.
    pub data: Option<Data>,
}

impl Job<'_> {
    /// Returns the kernel launches of one of the job's launches.
    fn host_launches(&self, grid: LaunchInputs<'_>) -> Cow<'_, [HostLaunch]> {
        if !self.host.is_empty() {
            return Cow::Borrowed(&self.host);
        }
        let launch = Launch::whole(self.kernel, grid);
        Cow::Owned(vec![HostLaunch { launch, symbol: self.symbol.clone(), data: None }])
    }

    /// Returns the names of the job's kernels in the text.
    fn symbols(&self) -> BTreeSet<&str> {
        self.host.iter().map(|it| &*it.symbol).chain([&*self.symbol]).collect()
    }
}

/// Memory after each launch of a job; `None` for a launch that faulted.
pub type Launched = Vec<Option<ArgumentBytes>>;

/// Reason why a job has no results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JobFailure {
    /// The compiler refuses the text, with its first error.
    Refused(String),
    /// The compiler reached a limit.
    CompilerLimit(String),
    /// The program crashed, or wrote unexpected output.
    Crashed(String),
    /// The program reached a limit.
    ProgramLimit(String),
    /// SIGKILL ended the compiler or the program, and neither a limit nor a lack of memory or disk
    /// explains it.
    Killed(String),
    /// This machine lacked memory or disk, by its own measurement.
    Machine(String),
}

/// Limits of the host's compiler and of the programs that it makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostLimits {
    /// Limits of the compiler.
    pub compiler: Limits,
    /// Limits of the program, except for its output, whose length follows from the jobs.
    pub program: Limits,
}

impl HostLimits {
    /// Limits for many rows in one program.
    pub const ROWS: Self = Self { compiler: Limits::COMPILER, program: Limits::PROGRAM };
}

/// Runs all jobs in a temporary folder below `parent`, and returns for each the memory after it, or
/// its failure.
pub fn run(
    jobs: &[Job<'_>],
    parent: &Path,
    limits: HostLimits,
) -> Result<Vec<Result<Launched, JobFailure>>, SynthError> {
    let folder = TemporaryFolder::inside(parent).map_err(SynthError::file(parent))?;
    let folder = folder.path();
    for (name, text) in [(HEADER_NAME, HEADER), (HOST_CUDA_NAME, HOST_CUDA)] {
        write(&folder.join(name), text)?;
    }
    let mut outcomes = Vec::new();
    // The two headers exclude each other.
    for is_cuda in [false, true] {
        let indices: Vec<usize> =
            (0..jobs.len()).filter(|&at| jobs[at].is_cuda == is_cuda).collect();
        outcomes.extend(indices.iter().copied().zip(run_part(jobs, &indices, folder, limits)?));
    }
    outcomes.sort_by_key(|(at, _)| *at);
    Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
}

/// Checks, before any foreign text is compiled, that the folder can be written to and the compiler
/// makes a program that runs.
pub fn check(parent: &Path, limits: HostLimits) -> Result<(), SynthError> {
    let folder = TemporaryFolder::inside(parent).map_err(SynthError::file(parent))?;
    write(&folder.path().join("main.cpp"), "int main()\n{\n    return 0;\n}\n")?;
    let compiler = host_compiler();
    let compiler = compiler.to_string_lossy();
    let compiled = compile(folder.path(), limits.compiler)
        .map_err(|error| SynthError::compiler(&compiler, &error))?;
    if !compiled.ended.is_success() {
        if let Some(lack) = Room::now(folder.path()).disk_lack(&limits.compiler) {
            return Err(SynthError::data(parent, lack));
        }
        return Err(SynthError::compiler(&compiler, &first_error(&compiled.stderr)));
    }
    // If the sandbox can't start this program, it can't start answers either, and answers must not
    // fail for this reason.
    let ran = gbxcule_sandbox::run(
        &folder.path().join("main"),
        &[] as &[&str],
        &Policy::program(folder.path()).within(limits.program),
    )?;
    if ran.ended.is_success() {
        return Ok(());
    }
    Err(SynthError::compiler(&compiler, &format!("a program that it made {}", ran.ended)))
}

fn run_part(
    jobs: &[Job<'_>],
    chosen: &[usize],
    folder: &Path,
    limits: HostLimits,
) -> Result<Vec<Result<Launched, JobFailure>>, SynthError> {
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    write(&folder.join("main.cpp"), &main_text(jobs, chosen, folder)?)?;
    let attempt = || try_once(jobs, chosen, folder, limits);
    let trouble = match machine::judged(folder, limits, chosen.len() == 1, &attempt)? {
        Ok(outcomes) => return Ok(outcomes),
        Err(trouble) => trouble,
    };
    if chosen.len() == 1 {
        return Ok(vec![Err(trouble)]);
    }
    let (left, right) = chosen.split_at(chosen.len() / 2);
    let mut outcomes = run_part(jobs, left, folder, limits)?;
    outcomes.extend(run_part(jobs, right, folder, limits)?);
    Ok(outcomes)
}

/// Outcomes of all jobs of a program, or their common failure.
type Attempt = Result<Vec<Result<Launched, JobFailure>>, JobFailure>;

fn try_once(
    jobs: &[Job<'_>],
    chosen: &[usize],
    folder: &Path,
    limits: HostLimits,
) -> Result<Attempt, SynthError> {
    match compile(folder, limits.compiler) {
        Ok(compiled) if compiled.ended.is_success() => {}
        Ok(compiled) => return Ok(Err(uncompiled(&compiled))),
        Err(error) => return of_machine(error).map(Err),
    }
    match execute(jobs, chosen, folder, limits.program) {
        Ok(ran) => Ok(shares(jobs, chosen, &ran)),
        // A text may compile to a file that the system can't start.
        Err(SandboxError::Unstartable { source, .. }) => {
            Ok(Err(JobFailure::Crashed(format!("it can't be started: {source}"))))
        }
        Err(error) => of_machine(error).map(Err),
    }
}

/// Classifies failures of this machine: a temporary failure, such as a lack of processes, fails one
/// job; a failure that every job would have ends the run.
fn of_machine(error: SandboxError) -> Result<JobFailure, SynthError> {
    match error {
        SandboxError::Start { .. } | SandboxError::Read { .. } => {
            Ok(JobFailure::Machine(error.to_string()))
        }
        SandboxError::Unstartable { .. } | SandboxError::Confine { .. } => Err(error.into()),
    }
}

fn compile(folder: &Path, limits: Limits) -> Result<Outcome, SandboxError> {
    let compiler = host_compiler();
    let arguments =
        ["-std=c++17", "-O0", "-ffp-contract=off", "-w", "main.cpp", "-o", "main"].map(OsStr::new);
    let policy = Policy::compiler(Path::new(&compiler), folder).within(limits);
    let mut compiled = gbxcule_sandbox::run(Path::new(&compiler), &arguments, &policy)?;
    if compiled.ended.is_success()
        && let Err(error) = gbxcule_files::allow_execution(&folder.join("main"))
    {
        // The text may have made the linker write to another path.
        compiled.ended = ChildEnd::Exited(1);
        compiled.stderr = format!("error: the program that was to be made: {error}");
    }
    Ok(compiled)
}

fn uncompiled(compiled: &Outcome) -> JobFailure {
    let says = |words: &[&str]| words.iter().any(|it| compiled.stderr.contains(it));
    match compiled.ended {
        ChildEnd::Exited(_) if says(&LIMIT_MET) => JobFailure::CompilerLimit(
            "the compiler needs more time or memory than it may have".into(),
        ),
        ChildEnd::Exited(_) => JobFailure::Refused(first_error(&compiled.stderr)),
        ChildEnd::Signal(9) => JobFailure::Killed(format!("the compiler {}", compiled.ended)),
        ended => JobFailure::CompilerLimit(format!("the compiler {ended}")),
    }
}

/// Words in linkers' errors, which come before the compiler's own line about their failure.
const LINKER: [&str; 5] = [
    "undefined reference to ",
    "undefined symbol: ",
    "multiple definition of ",
    "cannot find ",
    "relocation truncated to fit",
];
/// Words in front of an assembler's error, after the name of a temporary file.
const ASSEMBLER: [&str; 2] = [": Error: ", ": Fatal error: "];

/// Returns the first error of a compiler, an assembler or a linker, without the name of the file.
fn first_error(stderr: &str) -> String {
    let of_tool = |line: &str| {
        if let Some((_, error)) = ASSEMBLER.iter().find_map(|words| line.split_once(words)) {
            return Some(format!("the assembler says: {error}"));
        }
        let start = LINKER.iter().find_map(|words| line.find(words))?;
        Some(format!("the linker says: {}", &line[start..]))
    };
    let is_error = |line: &&str| line.contains("error: ") && !line.contains("ld returned");
    let line = match (stderr.lines().find_map(of_tool), stderr.lines().find(is_error)) {
        (_, Some(line)) if line.contains("text_") => line[line.find("text_").unwrap_or(0)..].into(),
        (Some(line), _) => line,
        (None, Some(line)) => line.into(),
        (None, None) => stderr.lines().next().unwrap_or("it says nothing").to_owned(),
    };
    // Names of scratch files differ each time.
    let words = line.split(' ').map(|word| match word.contains(".gbxcule-") {
        true => "(a scratch file)",
        false => word,
    });
    words.collect::<Vec<_>>().join(" ").chars().take(MAX_ERROR_CHARACTERS).collect()
}

fn execute(
    jobs: &[Job<'_>],
    chosen: &[usize],
    folder: &Path,
    limits: Limits,
) -> Result<Outcome, SandboxError> {
    let output_bytes = chosen.iter().map(|&at| bytes_left(&jobs[at])).sum();
    let policy = Policy::program(folder).within(Limits { output_bytes, ..limits });
    let program = folder.join("main");
    gbxcule_sandbox::run(&program, &[] as &[&str], &policy)
}

/// Splits the output of a program that ran some jobs into the memory of each job, if the program
/// ran to its end.
fn shares(
    jobs: &[Job<'_>],
    chosen: &[usize],
    ran: &Outcome,
) -> Result<Vec<Result<Launched, JobFailure>>, JobFailure> {
    let wanted: usize = chosen.iter().map(|&at| bytes_left(&jobs[at])).sum();
    let written = ran.stdout.len();
    match ran.ended {
        ChildEnd::Exited(0) if written == wanted => {
            let mut unread = ran.stdout.as_slice();
            Ok(chosen.iter().map(|&at| Ok(launched(&jobs[at], &mut unread))).collect())
        }
        ChildEnd::Exited(0) => {
            Err(JobFailure::Crashed(format!("it wrote {written} of {wanted} bytes")))
        }
        ChildEnd::Signal(9) => Err(JobFailure::Killed(format!("it {}", ran.ended))),
        ended @ (ChildEnd::Exited(_)
        | ChildEnd::Signal(_)
        | ChildEnd::Output(_)
        | ChildEnd::File(_)) => Err(JobFailure::Crashed(format!("it {ended}"))),
        ended => Err(JobFailure::ProgramLimit(format!("it {ended}"))),
    }
}

/// Writes a file in the temporary folder.
fn write(path: &Path, text: &str) -> Result<(), SynthError> {
    gbxcule_files::write_scratch(path, text.as_bytes()).map_err(SynthError::file(path))
}

/// Returns the number of bytes that a program writes: for each launch a word for a fault, and all
/// arrays.
fn bytes_left(job: &Job<'_>) -> usize {
    let arrays = |memory: &ArgumentBytes| -> usize {
        memory.data.iter().chain(&memory.gradients).map(Vec::len).sum()
    };
    job.launches.iter().map(|(_, memory)| 8 + arrays(memory)).sum()
}

fn launched(job: &Job<'_>, rest: &mut &[u8]) -> Launched {
    job.launches.iter().map(|(_, memory)| outcome(memory, rest)).collect()
}

fn outcome(before: &ArgumentBytes, rest: &mut &[u8]) -> Option<ArgumentBytes> {
    let mut take = |len: usize| {
        let (taken, left) = rest.split_at(len.min(rest.len()));
        *rest = left;
        taken.to_vec()
    };
    let fault = take(8);
    let data = before.data.iter().map(|bytes| take(bytes.len())).collect();
    let gradients = before.gradients.iter().map(|bytes| take(bytes.len())).collect();
    fault.iter().all(|&byte| byte == 0).then_some(ArgumentBytes { data, gradients })
}

fn main_text(jobs: &[Job<'_>], chosen: &[usize], folder: &Path) -> Result<String, SynthError> {
    let is_cuda = jobs[chosen[0]].is_cuda;
    let mut main = format!("#include \"{}\"\n", if is_cuda { HOST_CUDA_NAME } else { HEADER_NAME });
    let mut calls = String::new();
    for &at in chosen {
        let (job, file) = (&jobs[at], format!("text_{at}.h"));
        write(&folder.join(&file), job.text)?;
        _ = writeln!(main, "#define program program_{at}");
        for symbol in job.symbols() {
            _ = writeln!(main, "#define {symbol} {symbol}_{at}");
        }
        _ = writeln!(main, "#include \"{file}\"\n#undef program");
        for symbol in job.symbols() {
            _ = writeln!(main, "#undef {symbol}");
        }
        for number in 0..job.launches.len() {
            main += &function(job, at, number);
            _ = writeln!(calls, "    job_{at}_{number}(out);");
        }
    }
    Ok(main + MAIN_HEAD + &calls + "    return fclose(out);\n}\n")
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns the declaration of an array with these bytes.
fn declaration(name: &str, bytes: &[u8]) -> String {
    let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
    format!(
        "    alignas(16) static unsigned char {name}[{}] = {{{}}};\n",
        bytes.len() + 1,
        list.join(",")
    )
}

/// Declares the arguments of a launch and returns the text of each argument's address.
fn arguments(job: &Job<'_>, each: &HostLaunch, number: usize, body: &mut String) -> Vec<String> {
    let (grid, memory) = &job.launches[number];
    let (types, params) = (&job.module.types, &job.module.functions[each.launch.kernel].params);
    let composites: Vec<_> = params.iter().map(|it| Composite::of(types, it)).collect();
    let mut args: Vec<String> = (0..params.len()).map(|at| format!("object_{at}")).collect();
    for (at, composite) in composites.iter().enumerate() {
        if let Some(it) = composite {
            let size = types.layout(it.ty).map_or(0, |layout| layout.size as usize);
            *body += &declaration(&format!("object_{at}"), &vec![0; size]);
        }
    }
    for (place, (part, argument)) in
        parts(types, params).into_iter().zip(&each.launch.arguments).enumerate()
    {
        let (name, size) = match argument {
            LaunchArgument::Own(at) => match element(job.module, part.of.ty) {
                Some(of) => {
                    let stride = types.layout(of).map_or(0, |layout| layout.size as u32);
                    let gradient = match memory.gradients.get(*at) {
                        Some(bytes) if !bytes.is_empty() => format!("(char*)grad_{at}"),
                        _ => "nullptr".into(),
                    };
                    *body += &array((*at, &gradient), &grid.inputs[*at].shape, stride);
                    (format!("&array_{at}"), descriptor::LAYOUT.size as usize)
                }
                None => (format!("data_{at}"), memory.data[*at].len()),
            },
            LaunchArgument::Number(bytes) => {
                *body += &declaration(&format!("number_{place}"), bytes);
                (format!("number_{place}"), bytes.len())
            }
        };
        match composites[part.param] {
            Some(_) => {
                let (object, offset) = (part.param, part.offset);
                _ = writeln!(
                    body,
                    "    __builtin_memcpy(object_{object} + {offset}, {name}, {size});"
                );
            }
            None => args[part.param] = name,
        }
    }
    for (at, composite) in composites.iter().enumerate() {
        if let Some(Composite { ty, in_table: true }) = composite {
            // A table has no object with the id 0.
            let size = types.layout(*ty).map_or(0, |layout| layout.size as u32);
            *body += &declaration(&format!("table_{at}"), &vec![0; 2 * size as usize]);
            _ = writeln!(
                body,
                "    __builtin_memcpy(table_{at} + {size}, object_{at}, {size});\n    \
                 Array<char, 1> handle_{at} = {{(char*)table_{at}, nullptr, {{2}}, {{{size}}}, 1, 0}};"
            );
            args[at] = format!("&handle_{at}");
        }
    }
    args
}

/// Declares the handle of a row-major array.
fn array((at, gradient): (usize, &str), shape: &[u32], mut stride: u32) -> String {
    let mut strides = vec![0; shape.len()];
    for (dim, extent) in shape.iter().enumerate().rev() {
        strides[dim] = stride;
        stride *= extent;
    }
    format!(
        "    Array<char, 1> array_{at} = {{(char*)data_{at}, {gradient}, {{{}}}, {{{}}}, {}, 0}};\n",
        list(shape),
        list(&strides),
        shape.len()
    )
}

/// Returns the text that makes a launch on a job's memory.
fn call(job: &Job<'_>, number: usize, each: &HostLaunch, launch: usize) -> String {
    let mut body = String::new();
    for (at, bytes) in each.data.iter().flatten().enumerate().filter(|it| !it.1.is_empty()) {
        body += &declaration(&format!("state_{at}"), bytes);
        _ = writeln!(body, "    __builtin_memcpy(data_{at}, state_{at}, {});", bytes.len());
    }
    let args = arguments(job, each, launch, &mut body);
    let (dims, mut extents) = (&each.launch.dims, [1; 4]);
    extents.iter_mut().zip(dims).for_each(|(extent, &dim)| *extent = dim);
    let count: u32 = dims.iter().product();
    _ = writeln!(
        body,
        "    void* args[] = {{{}}};\n    gbx::Grid grid = {{0, {count}, {{{}}}, {}, 0}};",
        args.join(", "),
        list(&extents),
        dims.len()
    );
    let symbol = format!("program_{number}::{}_{number}", each.symbol);
    body += &if job.is_cuda {
        format!("    gbx_launch({symbol}, 1, {count}, &grid, args, &fault);\n")
    } else {
        format!("    {symbol}(&grid, args, &fault);\n")
    };
    format!("    {{\n{body}    }}\n")
}

/// Returns a function that launches a job and writes the memory after it.
fn function(job: &Job<'_>, number: usize, launch: usize) -> String {
    let (grid, memory) = &job.launches[launch];
    let mut body = String::new();
    for (at, data) in memory.data.iter().enumerate() {
        body += &declaration(&format!("data_{at}"), data);
    }
    for (at, gradient) in memory.gradients.iter().enumerate() {
        body += &declaration(&format!("grad_{at}"), gradient);
    }
    body += "    gbx::Fault fault = {};\n";
    for each in &*job.host_launches(*grid) {
        body += &call(job, number, each, launch);
    }
    body += "    const int64_t kind = fault.kind;\n    fwrite(&kind, 1, sizeof kind, out);\n";
    for (name, parts) in [("data", &memory.data), ("grad", &memory.gradients)] {
        for (at, part) in parts.iter().enumerate() {
            _ = writeln!(body, "    fwrite({name}_{at}, 1, {}, out);", part.len());
        }
    }
    format!("static void job_{number}_{launch}(FILE* out)\n{{\n{body}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_a_message_and_no_mere_end_of_a_linker() {
        let missing = "/usr/bin/ld: /tmp/ccX.o: in function `program_0::k(float)':\n\
            main.cpp:(.text+0x1c): undefined reference to `helper(float)'\n\
            collect2: error: ld returned 1 exit status\n";
        assert_eq!(first_error(missing), "the linker says: undefined reference to `helper(float)'");
        let twice = "ld: b.o: multiple definition of `main'; a.o: first defined here\n\
            collect2: error: ld returned 1 exit status\n";
        assert!(first_error(twice).contains("multiple definition of `main'"));
        let assembled = "/tmp/ccX.s: Assembler messages:\n/tmp/ccX.s:7: Error: file not found: a\n";
        assert_eq!(first_error(assembled), "the assembler says: file not found: a");
        let full =
            "/w/.gbxcule-1.part/ccX.s: Fatal error: can't write 113 bytes to section .text\n";
        assert_eq!(first_error(full), "the assembler says: can't write 113 bytes to section .text");
        let scratch = "cc1plus: fatal error: /w/.gbxcule-1.part/ccX.s is gone\n";
        assert_eq!(first_error(scratch), "cc1plus: fatal error: (a scratch file) is gone");
        let refused = "In file included from main.cpp:5:\ntext_0.h: In function 'int error_of(int)':\n\
            text_0.h:3:9: error: 'y' was not declared in this scope\n";
        assert_eq!(first_error(refused), "text_0.h:3:9: error: 'y' was not declared in this scope");
        assert_eq!(first_error(""), "it says nothing");
    }
}
