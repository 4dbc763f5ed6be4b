//! Texts of rows, C++ and CUDA, compiled by the host's compiler and run: many rows to one
//! executable, because a compiler takes longer to start than to compile a small kernel.
//!
//! CUDA text is compiled behind the header that makes it host C++. If a text doesn't compile, the
//! rows are halved until it is known which one. Compiler and program run in the sandbox, in a
//! folder of this process alone.

use crate::error::SynthError;
use crate::execute::{Grid, Memory};
use crate::program::element;
use gbxcule_codegen_cxx::{HEADER, HEADER_NAME, HOST_CUDA, HOST_CUDA_NAME};
use gbxcule_files::TemporaryFolder;
use gbxcule_ir::{FunctionId, Module};
use gbxcule_sandbox::{Ended, Limits, Outcome, Policy};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

/// Messages of a compiler that was killed or ran out of memory or disk: they say nothing about the
/// text.
const MACHINES_FAULT: [&str; 6] = [
    "signal terminated program",
    "CPU time limit",
    "virtual memory exhausted",
    "out of memory",
    "No space left on device",
    "unable to execute command",
];

/// A text with what a launch of it needs.
pub(crate) struct Job<'a> {
    pub(crate) text: &'a str,
    pub(crate) is_cuda: bool,
    pub(crate) module: &'a Module,
    pub(crate) kernel: FunctionId,
    /// Name of the kernel in the text.
    pub(crate) symbol: String,
    pub(crate) grid: Grid<'a>,
    pub(crate) memory: Memory,
}

/// Reason why a job left no memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum JobFailure {
    /// The text is wrong.
    Text(String),
    /// The cause is unknown: a limit, or the machine.
    Unknown(String),
}

/// Runs all jobs: the memory that each left, or what went wrong. `parent` gets a folder for it,
/// removed at the end.
pub(crate) fn run(
    jobs: &[Job<'_>],
    parent: &Path,
) -> Result<Vec<Result<Memory, JobFailure>>, SynthError> {
    let folder = TemporaryFolder::inside(parent).map_err(SynthError::file(parent))?;
    let folder = folder.path();
    for (name, text) in [(HEADER_NAME, HEADER), (HOST_CUDA_NAME, HOST_CUDA)] {
        write(&folder.join(name), text)?;
    }
    let mut outcomes = Vec::new();
    // The two headers exclude each other.
    for is_cuda in [false, true] {
        let chosen: Vec<usize> =
            (0..jobs.len()).filter(|&at| jobs[at].is_cuda == is_cuda).collect();
        outcomes.extend(chosen.iter().copied().zip(part(jobs, &chosen, folder)?));
    }
    outcomes.sort_by_key(|(at, _)| *at);
    Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
}

fn part(
    jobs: &[Job<'_>],
    chosen: &[usize],
    folder: &Path,
) -> Result<Vec<Result<Memory, JobFailure>>, SynthError> {
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    write(&folder.join("main.cpp"), &main_text(jobs, chosen, folder)?)?;
    let compiled = compile(folder)?;
    let trouble = if compiled.ended.is_success() {
        let ran = execute(jobs, chosen, folder)?;
        match shares(jobs, chosen, &ran) {
            Ok(outcomes) => return Ok(outcomes),
            Err(trouble) => trouble,
        }
    } else {
        uncompiled(&compiled)
    };
    if chosen.len() == 1 {
        return Ok(vec![Err(trouble)]);
    }
    let (left, right) = chosen.split_at(chosen.len() / 2);
    let mut outcomes = part(jobs, left, folder)?;
    outcomes.extend(part(jobs, right, folder)?);
    Ok(outcomes)
}

fn compile(folder: &Path) -> Result<Outcome, SynthError> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let arguments =
        ["-std=c++17", "-O0", "-ffp-contract=off", "-w", "main.cpp", "-o", "main"].map(OsStr::new);
    let policy = Policy::compiler(Path::new(&compiler), folder);
    gbxcule_sandbox::run(Path::new(&compiler), &arguments, &policy)
        .map_err(|error| SynthError::compiler(&compiler, &error))
}

fn uncompiled(compiled: &Outcome) -> JobFailure {
    match compiled.ended {
        Ended::Exited(_) if !MACHINES_FAULT.iter().any(|it| compiled.stderr.contains(it)) => {
            JobFailure::Text("does not compile".into())
        }
        ended => JobFailure::Unknown(format!("the compiler {ended}")),
    }
}

fn execute(jobs: &[Job<'_>], chosen: &[usize], folder: &Path) -> Result<Outcome, SynthError> {
    let output_bytes = chosen.iter().map(|&at| bytes_left(&jobs[at])).sum();
    let policy = Policy::program(folder).within(Limits { output_bytes, ..Limits::PROGRAM });
    let program = folder.join("main");
    gbxcule_sandbox::run(&program, &[] as &[&str], &policy).map_err(SynthError::from)
}

/// Splits the output of the program that ran some jobs into the memory of each, if the program came
/// to its end.
fn shares(
    jobs: &[Job<'_>],
    chosen: &[usize],
    ran: &Outcome,
) -> Result<Vec<Result<Memory, JobFailure>>, JobFailure> {
    let wanted: usize = chosen.iter().map(|&at| bytes_left(&jobs[at])).sum();
    let found = ran.stdout.len();
    match ran.ended {
        Ended::Exited(0) if found == wanted => {
            let mut rest = ran.stdout.as_slice();
            Ok(chosen.iter().map(|&at| outcome(&jobs[at], &mut rest)).collect())
        }
        Ended::Exited(0) => Err(JobFailure::Unknown(format!("it wrote {found} of {wanted} bytes"))),
        // What ended from outside, for want of memory say, isn't the text's fault.
        Ended::Signal(9) => Err(JobFailure::Unknown(format!("it {}", ran.ended))),
        ended @ (Ended::Exited(_) | Ended::Signal(_) | Ended::Output(_) | Ended::File(_)) => {
            Err(JobFailure::Text(format!("it {ended}")))
        }
        ended => Err(JobFailure::Unknown(format!("it {ended}"))),
    }
}

/// Only in the folder of this process, which goes with it.
fn write(path: &Path, text: &str) -> Result<(), SynthError> {
    gbxcule_files::write_scratch(path, text.as_bytes()).map_err(SynthError::file(path))
}

/// A word for a fault, and all arrays.
fn bytes_left(job: &Job<'_>) -> usize {
    8 + job.memory.data.iter().chain(&job.memory.gradients).map(Vec::len).sum::<usize>()
}

fn outcome(job: &Job<'_>, rest: &mut &[u8]) -> Result<Memory, JobFailure> {
    let mut take = |len: usize| {
        let (taken, left) = rest.split_at(len.min(rest.len()));
        *rest = left;
        taken.to_vec()
    };
    let fault = take(8);
    let arrays = job.memory.data.iter().map(|bytes| take(bytes.len()));
    let data = arrays.collect();
    let gradients = job.memory.gradients.iter().map(|bytes| take(bytes.len())).collect();
    if fault.iter().any(|&byte| byte != 0) {
        Err(JobFailure::Text("it faults".into()))
    } else {
        Ok(Memory { data, gradients })
    }
}

fn main_text(jobs: &[Job<'_>], chosen: &[usize], folder: &Path) -> Result<String, SynthError> {
    let is_cuda = jobs[chosen[0]].is_cuda;
    let mut main = format!("#include \"{}\"\n", if is_cuda { HOST_CUDA_NAME } else { HEADER_NAME });
    let mut calls = String::new();
    for &at in chosen {
        let (job, file) = (&jobs[at], format!("text_{at}.h"));
        write(&folder.join(&file), job.text)?;
        let symbol = &job.symbol;
        _ = writeln!(main, "#define program program_{at}\n#define {symbol} {symbol}_{at}");
        _ = writeln!(main, "#include \"{file}\"\n#undef program\n#undef {symbol}");
        main += &function(job, at);
        _ = writeln!(calls, "    job_{at}(out);");
    }
    main += "int main()\n{\n    FILE* out = stdout;\n";
    Ok(main + &calls + "    return fclose(out);\n}\n")
}

/// A function that launches a job and writes what is left.
fn function(job: &Job<'_>, number: usize) -> String {
    let mut body = String::new();
    let mut bytes = |name: String, bytes: &[u8]| {
        let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
        _ = writeln!(
            body,
            "    alignas(16) static unsigned char {name}[{}] = {{{}}};",
            bytes.len() + 1,
            list.join(",")
        );
    };
    for (at, data) in job.memory.data.iter().enumerate() {
        bytes(format!("data_{at}"), data);
    }
    for (at, gradient) in job.memory.gradients.iter().enumerate() {
        bytes(format!("grad_{at}"), gradient);
    }
    let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let mut args = Vec::new();
    for (at, param) in job.module.functions[job.kernel].params.iter().enumerate() {
        let Some(of) = element(job.module, param.ty) else {
            args.push(format!("data_{at}"));
            continue;
        };
        let shape = &job.grid.inputs[at].shape;
        let mut stride = job.module.types.layout(of).map_or(0, |layout| layout.size as u32);
        let mut strides = vec![0; shape.len()];
        for (dim, extent) in shape.iter().enumerate().rev() {
            strides[dim] = stride;
            stride *= extent;
        }
        let gradient = if job.memory.gradients.is_empty() {
            "nullptr".into()
        } else {
            format!("(char*)grad_{at}")
        };
        _ = writeln!(
            body,
            "    Array<char, 1> array_{at} = {{(char*)data_{at}, {gradient}, {{{}}}, {{{}}}, {}, 0}};",
            list(shape),
            list(&strides),
            shape.len()
        );
        args.push(format!("&array_{at}"));
    }
    let mut extents = [1; 4];
    extents.iter_mut().zip(job.grid.dims).for_each(|(extent, &dim)| *extent = dim);
    let count: u32 = job.grid.dims.iter().product();
    _ = writeln!(body, "    void* args[] = {{{}}};\n    gbx::Fault fault = {{}};", args.join(", "));
    _ = writeln!(
        body,
        "    gbx::Grid grid = {{0, {count}, {{{}}}, {}, 0}};",
        list(&extents),
        job.grid.dims.len()
    );
    let symbol = format!("program_{number}::{}_{number}", job.symbol);
    body += &if job.is_cuda {
        format!("    gbx_launch({symbol}, 1, {count}, &grid, args, &fault);\n")
    } else {
        format!("    {symbol}(&grid, args, &fault);\n")
    };
    body += "    const int64_t kind = fault.kind;\n    fwrite(&kind, 1, sizeof kind, out);\n";
    for (name, parts) in [("data", &job.memory.data), ("grad", &job.memory.gradients)] {
        for (at, part) in parts.iter().enumerate() {
            _ = writeln!(body, "    fwrite({name}_{at}, 1, {}, out);", part.len());
        }
    }
    format!("static void job_{number}(FILE* out)\n{{\n{body}}}\n")
}
