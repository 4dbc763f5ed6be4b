//! NVRTC and its assembler take the CUDA text of the same kernels and of their reverses, without a
//! GPU or a driver.
//!
//! `GBXCULE_ARCHS=sm_90` chooses fewer architectures than all. The kernels of a file share a text
//! while it is short. Each kernel of a refused text is compiled again alone, so that the report
//! names the right kernel.

use crate::subject::Subject;
use crate::{Warp, chosen, sources};
use gbxcule_back_cxx::{self as cxx, Dialect, HEADER_NAME, Options};
use gbxcule_ir::{FunctionKind, check};
use gbxcule_passes::grad::reverses;
use gbxcule_runtime::nvrtc::{Arch, Nvrtc};
use gbxcule_testkit::stand_in;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Number of bytes at which a text is long enough: NVRTC compiles the kernels of a text one after
/// another.
const LONG_TEXT_BYTES: usize = 60_000;
/// Time above which the report has a line for the kernel.
const SLOW_COMPILATION: Duration = Duration::from_secs(20);

/// A kernel as text, in a namespace of its own.
struct Part {
    title: String,
    text: String,
    /// Number of kernels: two with a reverse, else one.
    kernels: usize,
}

#[test]
#[ignore = "needs NVIDIA Warp's sources and NVRTC"]
fn every_kernel_of_warps_own_sources_compiles_for_gpus() {
    let archs: Vec<Arch> = stand_in::archs().into_iter().map(Arch::new).collect();
    let nvrtc = Nvrtc::find().unwrap_or_else(|error| panic!("{error}"));
    let (package, tree) = sources(&mut Warp::find());
    let subjects: Vec<&Subject> = chosen(&tree.compiled, &package);

    let mut batches: Vec<Vec<Part>> = Vec::new();
    for of_file in subjects.chunk_by(|one, other| one.file == other.file) {
        let mut symbols = HashSet::new();
        let mut batch: Vec<Part> = Vec::new();
        for subject in of_file {
            let part = part(subject, subject.title(&package), &mut symbols);
            let length: usize = batch.iter().map(|part| part.text.len()).sum();
            if !batch.is_empty() && length + part.text.len() > LONG_TEXT_BYTES {
                batches.push(std::mem::take(&mut batch));
            }
            batch.push(part);
        }
        batches.push(batch);
    }
    let row = |name: &str, count: usize| println!("{name:<40} {count:>6}");
    row("kernels", subjects.len());
    row("  with a reverse", batches.iter().flatten().filter(|part| part.kernels > 1).count());
    row("texts", batches.len());

    let taken: Vec<AtomicUsize> = archs.iter().map(|_| AtomicUsize::new(0)).collect();
    let refused = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(job) = Some(next.fetch_add(1, Ordering::Relaxed))
            && let Some(batch) = batches.get(job / archs.len())
        {
            let number = job % archs.len();
            let (entries, faults) = compile(&nvrtc, batch, archs[number]);
            taken[number].fetch_add(entries, Ordering::Relaxed);
            faults.iter().for_each(|fault| println!("{fault}"));
            refused.lock().unwrap_or_else(PoisonError::into_inner).extend(faults);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    for (arch, taken) in archs.iter().zip(taken) {
        row(&format!("entries in {arch}'s machine code"), taken.into_inner());
    }
    let refused = refused.into_inner().unwrap_or_else(PoisonError::into_inner);
    row("refused by NVRTC", refused.len());
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// Returns a kernel with its reverse, if it has one. Kernels keep their names if the file's other
/// kernels have different ones.
fn part(subject: &Subject, title: String, symbols: &mut HashSet<String>) -> Part {
    let mut module = subject.module.clone().into_inner();
    for function in module.functions.handles().collect::<Vec<_>>() {
        let function = &mut module.functions[function];
        if function.kind == FunctionKind::Kernel && !symbols.insert(function.name.to_string()) {
            let symbol = format!("{}_{}", function.name, symbols.len());
            function.name = symbol.as_str().into();
            symbols.insert(symbol);
        }
    }
    let forward = check::module(module).expect("a name changes nothing");
    let both = reverses(&forward, &[subject.kernel]).ok();
    let both = both.map(|(module, _)| check::module(module).expect("reverses are valid"));
    let text = cxx::write(&both.unwrap_or(forward), &Options::new(Dialect::Cuda));
    Part { title, kernels: text.kernels.len(), text: text.source }
}

/// Makes machine code of a batch. Returns the number of kernels in it and the refusals.
fn compile(nvrtc: &Nvrtc, batch: &[Part], arch: Arch) -> (usize, Vec<String>) {
    let mut text = format!("#include \"{HEADER_NAME}\"\n");
    for (number, part) in batch.iter().enumerate() {
        let namespace = format!("program_{number}");
        _ = writeln!(text, "#define program {namespace}\n{}\n#undef program", part.text);
    }
    let title = &batch[0].title;
    let start = Instant::now();
    let compiled = nvrtc.measure(&text, title, arch);
    if start.elapsed() > SLOW_COMPILATION {
        let seconds = start.elapsed().as_secs();
        let (kernels, bytes) = (batch.len(), text.len());
        println!("{seconds} s for {arch}, {kernels} kernels, {bytes} bytes: {title}");
    }
    let error = match compiled {
        Ok((_, usages)) => {
            let entries = usages.iter().filter(|usage| usage.registers.is_some()).count();
            let expected: usize = batch.iter().map(|part| part.kernels).sum();
            let lost = format!("{entries} kernels instead of {expected} for {arch}: {title}");
            return (entries, if entries == expected { Vec::new() } else { vec![lost] });
        }
        Err(error) => error.to_string(),
    };
    if batch.len() == 1 {
        return (0, vec![error]);
    }
    let alone = batch.iter().map(|part| compile(nvrtc, std::slice::from_ref(part), arch));
    let (entries, faults): (Vec<_>, Vec<_>) = alone.unzip();
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    let together = vec![format!("only together: {error}")];
    (entries.iter().sum(), if faults.is_empty() { together } else { faults })
}
