//! NVRTC and its assembler take all CUDA text, for each architecture, without a GPU or a driver.
//!
//! These tests check what only a compiler for CUDA sees; `back-cxx/tests/cxx` checks what the text
//! computes. `make nvrtc` installs NVRTC and runs all of them.

#[path = "../machine/kernel.rs"]
mod machine;

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_front_warp::Program;
use gbxcule_ir::Module;
use gbxcule_ir::abi::Checks;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::source::SourceMap;
use gbxcule_passes::grad::reverses;
use gbxcule_runtime::Error;
use gbxcule_runtime::nvrtc::{Arch, CodeFormat, Nvrtc};
use gbxcule_runtime::ptxas::{Ptxas, Usage};
use gbxcule_testkit::arbitrary;
use gbxcule_testkit::sample;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

const ARCHS: [Arch; 3] = Arch::DATA_CENTER;
/// Option for texts that are never run, and so need no optimiser, which takes most of the time.
const QUICK: [&str; 1] = ["--Ofast-compile=max"];

fn nvrtc() -> Nvrtc {
    Nvrtc::find().unwrap_or_else(|error| panic!("{error}"))
}

/// Makes machine code of all texts for all architectures.
fn all_compile(texts: &[(String, String)], options: &[&str]) {
    let of_all = texts.iter().flat_map(|text| ARCHS.map(|arch| (text, arch)));
    compile_each(&of_all.collect::<Vec<_>>(), options);
}

/// Makes machine code of each text for the oldest architecture, which has the fewest instructions,
/// and of every fourth for one of the others: no text depends on which of the three it is for.
fn each_compiles(texts: &[(String, String)]) {
    let jobs = texts.iter().enumerate().flat_map(|(number, text)| {
        let newer = ARCHS[1 + number / 4 % 2];
        std::iter::once((text, ARCHS[0])).chain((number % 4 == 0).then_some((text, newer)))
    });
    compile_each(&jobs.collect::<Vec<_>>(), &QUICK);
}

/// Makes machine code of each text for its architecture, on all cores.
fn compile_each(jobs: &[(&(String, String), Arch)], options: &[&str]) {
    let nvrtc = nvrtc();
    let next = AtomicUsize::new(0);
    let refused = Mutex::new(Vec::new());
    let work = || {
        while let Some(job) = Some(next.fetch_add(1, Ordering::Relaxed))
            && let Some(&((name, text), arch)) = jobs.get(job)
        {
            if let Err(error) = nvrtc.compile_with(text, name, arch, CodeFormat::Cubin, options) {
                refused.lock().unwrap_or_else(PoisonError::into_inner).push(error.to_string());
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    let refused = refused.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(refused.is_empty(), "{} refused:\n{}", refused.len(), refused.join("\n"));
}

fn text(module: &Valid<Module>) -> String {
    cxx::write(module, &Options::new(Dialect::Cuda)).source
}

/// Joins modules, each of which has one kernel called `kernel`, into texts of `count` modules, so
/// that NVRTC reads the header once for each text.
fn joined(name: &str, modules: &[Valid<Module>], count: usize) -> Vec<(String, String)> {
    let join = |(part, modules): (usize, &[Valid<Module>])| {
        let texts = modules.iter().enumerate().map(|(number, module)| {
            format!(
                "#define program program_{number}\n#define kernel kernel_{number}\n{}#undef kernel\n#undef program\n",
                text(module)
            )
        });
        (format!("{name}_{part}.cu"), texts.collect())
    };
    modules.chunks(count).enumerate().map(join).collect()
}

/// Returns the documented samples from the repository.
fn documented() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/samples");
    let files = std::fs::read_dir(folder).expect("docs/samples").flatten();
    let paths = files.map(|file| file.path());
    let mut texts: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "cu"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a sample");
            (path.file_name().expect("a name").to_string_lossy().into_owned(), text)
        })
        .collect();
    texts.sort();
    assert!(texts.len() >= 5);
    texts
}

#[test]
#[ignore = "needs NVRTC"]
fn samples_compile() {
    let samples = sample::modules().into_iter();
    let samples = samples.map(|(sample, module)| (format!("{}.cu", sample.name), text(&module)));
    all_compile(&samples.chain(documented()).collect::<Vec<_>>(), &[]);
}

#[test]
#[ignore = "needs NVRTC"]
fn embedded_and_unchecked_text_compiles() {
    let options =
        Options { embed_header: true, checks: Checks::None, ..Options::new(Dialect::Cuda) };
    let texts = sample::modules().into_iter().map(|(sample, module)| {
        (format!("{}.cu", sample.name), cxx::write(&module, &options).source)
    });
    all_compile(&texts.collect::<Vec<_>>(), &[]);
}

#[test]
#[ignore = "needs NVRTC"]
fn random_programs_compile() {
    let modules: Vec<_> = (0..60).map(|seed| arbitrary::program(seed).module).collect();
    each_compiles(&joined("random", &modules, 10));
}

/// Returns kernels of random programs that can be differentiated, each with its reverse.
fn with_reverses(seeds: std::ops::Range<u64>) -> Vec<Valid<Module>> {
    let random = seeds.filter_map(|seed| {
        let arbitrary::RandomProgram { module, kernel, .. } = arbitrary::program(seed);
        let (module, _) = reverses(&module, &[kernel]).ok()?;
        Some(check::module(module).expect("reverses are valid"))
    });
    random.collect()
}

#[test]
#[ignore = "needs NVRTC"]
fn reverse_kernels_compile() {
    let modules = with_reverses(0..40);
    assert!(modules.len() >= 5, "only {} differentiate", modules.len());
    let texts = modules.iter().enumerate();
    let texts = texts.map(|(number, module)| (format!("reverse_{number}.cu"), text(module)));
    each_compiles(&texts.collect::<Vec<_>>());
}

#[test]
#[ignore = "needs NVRTC"]
fn every_builtin_compiles_for_every_type() {
    let cases = arbitrary::cases();
    let modules: Vec<_> = cases.iter().map(|case| case.program(1).module).collect();
    each_compiles(&joined("rows", &modules, 100));
}

/// Compiles the whole emulator as one text. `swarm/tests/nvrtc.rs` checks the registers that its
/// kernels need with all optimisation.
#[test]
#[ignore = "needs NVRTC"]
fn the_machine_compiles() {
    all_compile(&[("machine.cu".into(), text(&machine::module()))], &QUICK);
}

#[test]
#[ignore = "needs NVRTC"]
fn ptxas_takes_the_ptx_and_agrees_with_nvrtc_on_what_it_needs() {
    let nvrtc = nvrtc();
    let ptxas = Ptxas::find(&nvrtc).unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in documented() {
        for arch in ARCHS {
            let ptx = nvrtc.compile(&text, &name, arch, CodeFormat::Ptx).expect("PTX");
            let path = folder.path().join(format!("{name}.{arch}.ptx"));
            std::fs::write(&path, ptx).expect("a file");
            let alone = ptxas.measure(&path, arch).unwrap_or_else(|error| panic!("{error}"));
            let (_, within) = nvrtc.measure(&text, &name, arch).expect("machine code");
            let kernels = |all: &[Usage]| -> Vec<String> {
                let kernels = all.iter().filter(|usage| usage.registers.is_some());
                kernels.map(Usage::to_string).collect()
            };
            assert!(!kernels(&alone).is_empty(), "{name} has kernels");
            assert_eq!(kernels(&alone), kernels(&within), "{name}");
            println!("{}", kernels(&within).join("\n"));
        }
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn kernels_keep_to_the_room_they_ask_for() {
    let registers = |options: &str| {
        // The text has forty sines that are all needed at its end.
        let sums: String = (0..40).map(|at| format!("    s{at} = wp.sin(x[i + {at}])\n")).collect();
        let last: Vec<String> =
            (0..40).map(|at| format!("s{at} * s{}", (at * 7 + 3) % 40)).collect();
        let source = format!(
            "import warp as wp\n@wp.kernel({options})\ndef k(x: wp.array(dtype=float)):\n    i = wp.tid()\n{sums}    \
             x[i] = {}\n",
            last.join(" + ")
        );
        let mut sources = SourceMap::new();
        let id = sources.add("room.py", source);
        let module = Program::parse(&sources, id).and_then(|program| program.compile("room"));
        let module = module.and_then(check::module).expect("a kernel");
        let (_, usages) = nvrtc().measure(&text(&module), "room.cu", ARCHS[1]).expect("code");
        usages.iter().find_map(|usage| usage.registers).expect("a kernel in the report")
    };
    assert!(registers("") > 40);
    assert!(registers("launch_bounds=(1024, 2)") <= 32);
    assert!(registers("cuda_max_registers=40") <= 40);
}

#[test]
#[ignore = "needs NVRTC"]
fn a_text_that_is_refused_comes_back_with_its_lines() {
    let text = "#include \"gbxcule.h\"\nextern \"C\" __global__ void k(int* a) { a[0] = b; }\n";
    let error = nvrtc().compile(text, "wrong.cu", ARCHS[1], CodeFormat::Ptx).expect_err("no `b`");
    let Error::CudaText { log, .. } = &error else { panic!("{error}") };
    assert!(log.contains("wrong.cu(2)") && log.contains("\"b\" is undefined"), "{log}");
}

#[test]
#[ignore = "needs NVRTC"]
fn an_architecture_that_nvrtc_lacks_is_refused_by_name() {
    let nvrtc = nvrtc();
    let error = nvrtc.compile("", "empty.cu", Arch::new(20), CodeFormat::Ptx).expect_err("too old");
    let known = nvrtc.archs().iter().map(Arch::to_string).collect::<Vec<_>>().join(", ");
    let wanted = format!("doesn't compile for `sm_20`, only for {known}");
    assert!(error.to_string().contains(&wanted), "{error}");
}

/// A launch looks for these symbols: each kernel, and the record of faults with the size that the
/// runtime reads.
#[test]
#[ignore = "needs NVRTC: run by `make nvrtc`"]
fn machine_code_has_its_kernels_and_the_record_of_faults_by_name() {
    let text = documented().into_iter().find(|(name, _)| name == "heat.cu").expect("a sample").1;
    let kernel = text.split("__global__ void ").nth(1).and_then(|head| head.split('(').next());
    for arch in ARCHS {
        let cubin = nvrtc().compile(&text, "heat.cu", arch, CodeFormat::Cubin).expect("compiles");
        let symbols = symbols(&cubin);
        let size =
            |name: &str| symbols.iter().find(|(known, _)| known == name).map(|(_, size)| *size);
        assert_eq!(size("gbx_fault"), Some(32), "{symbols:?}");
        assert!(size(kernel.expect("a kernel")).is_some_and(|size| size > 0), "{symbols:?}");
    }
}

/// Returns the names and sizes of an ELF file's symbols.
fn symbols(elf: &[u8]) -> Vec<(String, u64)> {
    let number = |at: u64, bytes: usize| {
        let bytes = elf[at as usize..][..bytes].iter().rev();
        bytes.fold(0u64, |number, &byte| number << 8 | u64::from(byte))
    };
    let (sections, size, count) = (number(0x28, 8), number(0x3A, 2), number(0x3C, 2));
    let section = |index: u64, field: u64| number(sections + index * size + field, 8);
    let is_table = |&index: &u64| number(sections + index * size + 4, 4) == 2;
    let table = (0..count).find(is_table).expect("a table of symbols");
    let names = section(number(sections + table * size + 0x28, 4), 0x18);
    let symbols = (section(table, 0x18)..).step_by(24).take((section(table, 0x20) / 24) as usize);
    let symbol = |at: u64| {
        let name = &elf[(names + number(at, 4)) as usize..];
        let name = &name[..name.iter().position(|&byte| byte == 0).expect("an end")];
        (String::from_utf8_lossy(name).into_owned(), number(at + 16, 8))
    };
    symbols.map(symbol).collect()
}
