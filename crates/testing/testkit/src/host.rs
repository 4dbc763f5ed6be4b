//! Programs compiled by a host compiler and run in a child process.
//!
//! Many programs share one executable: compilers take longer to start than to compile a small
//! kernel.

use crate::arbitrary::{Actual, RandomProgram};
use gbxcule_back_cxx::{
    self as cxx, Dialect, HEADER, HEADER_NAME, HOST_CUDA, HOST_CUDA_NAME, Options,
};
use gbxcule_ir::abi::FaultKind;
use gbxcule_ir::check;
use gbxcule_ir::print;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Result of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchOutcome {
    /// Kind, line, index and extent of the fault; kind 0 without a fault.
    pub fault: [i64; 4],
    /// Memory after the launch.
    pub buffers: Vec<Vec<u8>>,
}

impl LaunchOutcome {
    /// Returns the kind of the fault, if there is one.
    pub fn kind(&self) -> Option<FaultKind> {
        let number = i32::try_from(self.fault[0]).expect("a number of 32 bits");
        (number != 0).then(|| FaultKind::from_number(number).expect("a kind of fault"))
    }
}

/// Compiles and runs all programs in the folder with a name. Returns the outcome of each program,
/// and the text that all of them printed.
pub fn run(
    name: &str,
    dialect: Dialect,
    programs: &[RandomProgram],
) -> (Vec<LaunchOutcome>, String) {
    let folder = folder(name);
    let source = folder.join("main.cpp");
    write(&source, &main_text(&folder, dialect, programs));
    let (program, output) = (folder.join("main"), folder.join("output"));
    compile(&source, &program);
    let run = Command::new(&program).arg(&output).output().expect("the program starts");
    assert!(
        run.status.success(),
        "{name}: {:?}\n{}",
        run.status,
        String::from_utf8_lossy(&run.stderr)
    );
    let bytes = std::fs::read(&output).expect("the program wrote its results");
    let mut remaining = bytes.as_slice();
    let outcomes = programs.iter().map(|program| outcome(program, &mut remaining)).collect();
    assert!(remaining.is_empty(), "{name}: {} bytes too many", remaining.len());
    (outcomes, String::from_utf8_lossy(&run.stdout).into_owned())
}

fn outcome(program: &RandomProgram, rest: &mut &[u8]) -> LaunchOutcome {
    let mut take = |len: usize| {
        let (taken, left) = rest.split_at(len);
        *rest = left;
        taken.to_vec()
    };
    let fault = [0; 4].map(|_: i64| i64::from_le_bytes(take(8).try_into().expect("8 bytes")));
    let buffers = program.buffers.iter().map(|buffer| take(buffer.len())).collect();
    LaunchOutcome { fault, buffers }
}

/// Makes an empty folder for a test's files, with this crate's headers in it:
/// `tmp/cxx/PROGRAM/NAME` in the target folder, where PROGRAM is the test program's name.
pub fn folder(name: &str) -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    let stem = program.file_stem().expect("a name").to_string_lossy();
    let stem = stem.rsplit_once('-').map_or(&*stem, |(stem, _hash)| stem);
    // The test program lies in the folder `deps` of a profile's folder.
    let target = program.ancestors().nth(3).expect("a program that Cargo built");
    let folder = target.join("tmp/cxx").join(stem).join(name);
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    write(&folder.join(HEADER_NAME), HEADER);
    write(&folder.join(HOST_CUDA_NAME), HOST_CUDA);
    folder
}

/// Writes a file.
pub fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("a file for the test");
}

/// Compiles a source with the host's C++ compiler, which is `c++` unless `CXX` names another.
/// Warnings are errors, because generated texts cause no warnings.
pub fn compile(source: &Path, program: &Path) {
    let compiler = std::env::var_os("CXX").unwrap_or("c++".into());
    let flags = "-std=c++17 -O1 -ffp-contract=off -Wall -Wextra -Werror -Wno-unused-parameter \
                 -Wno-unused-function -Wno-unused-variable -Wno-unused-but-set-variable -Wno-unused-const-variable \
                 -Wno-type-limits -Wno-tautological-compare -Wno-bool-compare";
    let run = Command::new(&compiler)
        .args(flags.split_whitespace())
        .arg(source)
        .arg("-o")
        .arg(program)
        .output();
    let run = run
        .unwrap_or_else(|error| panic!("these tests need a C++ compiler ({compiler:?}): {error}"));
    assert!(
        run.status.success(),
        "{}:\n{}",
        source.display(),
        String::from_utf8_lossy(&run.stderr)
    );
}

fn main_text(folder: &Path, dialect: Dialect, programs: &[RandomProgram]) -> String {
    let header = if dialect == Dialect::Cuda { HOST_CUDA_NAME } else { HEADER_NAME };
    let mut main = format!("#include \"{header}\"\n");
    let mut calls = String::new();
    // Programs with the same kernel that follow each other share its text.
    let (mut texts, mut last) = (0, String::new());
    for (number, program) in programs.iter().enumerate() {
        let again = texts > 0 && text(program, dialect, &format!("kernel_{}", texts - 1)) == last;
        if !again {
            last = text(program, dialect, &format!("kernel_{texts}"));
            write(&folder.join(format!("text_{texts}.h")), &last);
            _ = writeln!(
                main,
                "#define program program_{texts}\n#include \"text_{texts}.h\"\n#undef program"
            );
            texts += 1;
        }
        main += &job(program, dialect, number, texts - 1);
        _ = writeln!(calls, "    job_{number}(out);");
    }
    main + "int main(int, char** argv)\n{\n    FILE* out = fopen(argv[1], \"wb\");\n"
        + &calls
        + "    return fclose(out);\n}\n"
}

/// Returns the text of a program whose kernel has the name `symbol`.
fn text(program: &RandomProgram, dialect: Dialect, symbol: &str) -> String {
    let mut module = program.module.clone().into_inner();
    module.functions[program.kernel].name = symbol.into();
    let module = check::module(module).expect("a name changes nothing");
    let options = Options { kernel: Some(program.kernel), ..Options::new(dialect) };
    let text = cxx::write(&module, &options);
    assert_eq!(text.kernels[0].symbol, symbol, "{}", print::module(&module));
    text.source
}

/// Returns the declaration of an argument: its bytes, or a handle of an array.
fn declared_argument(arg: usize, actual: &Actual) -> String {
    match actual {
        Actual::Bytes(content) => format!(
            "    alignas(16) static unsigned char arg_{arg}[{}] = {{{}}};\n",
            content.len() + 1,
            byte_list(content)
        ),
        Actual::Array { buffer, offset, shape, strides, gradient, .. } => {
            let list = |numbers: Vec<String>| numbers.join(", ");
            let (shape_text, strides) = (
                list(shape.iter().map(ToString::to_string).collect()),
                list(strides.iter().map(ToString::to_string).collect()),
            );
            let gradient = gradient.map_or("nullptr".into(), |gradient| {
                format!("(char*)buffer_{gradient} + {offset}")
            });
            format!(
                "    Array<char, 1> arg_{arg} = {{(char*)buffer_{buffer} + {offset}, {gradient}, {{{shape_text}}}, {{{strides}}}, {}, 0}};\n",
                shape.len()
            )
        }
    }
}

fn byte_list(bytes: &[u8]) -> String {
    bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

/// Returns a C++ function that launches a program and writes the memory after it.
fn job(program: &RandomProgram, dialect: Dialect, number: usize, of_text: usize) -> String {
    let symbol = format!("program_{of_text}::kernel_{of_text}");
    let mut body = String::new();
    for (buffer, content) in program.buffers.iter().enumerate() {
        // One byte more than the buffer needs, because C++ has no arrays of 0 bytes.
        _ = writeln!(
            body,
            "    alignas(16) static unsigned char buffer_{buffer}[{}] = {{{}}};",
            content.len() + 1,
            byte_list(content)
        );
    }
    for (arg, actual) in program.args.iter().enumerate() {
        body += &declared_argument(arg, actual);
    }
    let args: Vec<String> = (0..program.args.len()).map(|arg| format!("&arg_{arg}")).collect();
    let count: u32 = program.dims.iter().product();
    let mut extents = [1; 4];
    extents[..program.dims.len()].copy_from_slice(&program.dims);
    let extents = extents.map(|extent: u32| extent.to_string()).join(", ");
    _ = writeln!(body, "    void* args[] = {{{}}};\n    gbx::Fault fault = {{}};", args.join(", "));
    let mut launch = |from: u32, to: u32, part: usize| {
        _ = writeln!(
            body,
            "    gbx::Grid part_{part} = {{{from}, {to}, {{{extents}}}, {}, 0}};",
            program.dims.len()
        );
        _ = match dialect {
            // The launch runs in two parts, as two threads would run it.
            Dialect::Host => {
                writeln!(body, "    if (fault.kind == 0) {symbol}(&part_{part}, args, &fault);")
            }
            Dialect::Cuda => {
                writeln!(body, "    gbx_launch({symbol}, 2, 2, &part_{part}, args, &fault);")
            }
        };
    };
    match dialect {
        Dialect::Host => {
            launch(0, count / 2, 0);
            launch(count / 2, count, 1);
        }
        Dialect::Cuda => launch(0, count, 0),
    }
    body += "    const int64_t words[] = {fault.kind, fault.line, fault.index, fault.extent};\n    fwrite(words, 1, sizeof words, out);\n";
    for (buffer, content) in program.buffers.iter().enumerate() {
        _ = writeln!(body, "    fwrite(buffer_{buffer}, 1, {}, out);", content.len());
    }
    format!("static void job_{number}(FILE* out)\n{{\n{body}}}\n")
}
