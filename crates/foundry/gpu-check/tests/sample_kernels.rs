//! Kernels in the shapes of public CUDA samples (`tests/sample_kernels`), run on the simulator:
//! each gives what a plain loop gives, without a fault.
//!
//! A file holds a kernel of its own name, a kernel `plain` that one thread runs, and a line for
//! each parameter: `//| n = 7`, or `//| x: float[100]` with `< 10` for the greatest integer and
//! one more, `= 3` for multiples of a number, `out` for zeros.
//!
//! A line `//$ T = float | double` makes one kernel for each type: the type replaces `$T` in the
//! text.

use gbxcule_gpu_check::compiler::{CudaCompiler, Refusal};
use gbxcule_gpu_check::launch::{self, LaunchArray, LaunchLimits, Parameter};
use gbxcule_gpu_check::launch_line::LaunchLine;
use gbxcule_gpu_sim::sass::fault::{Fault, FaultKind};
use gbxcule_gpu_sim::sass::module::LoadedCubin;
use gbxcule_gpu_sim::sass::schedule::{Extents, Shape};
use gbxcule_gpu_sim::sass::warp::mixed;
use gbxcule_testkit::switch::{Share, is_chosen};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Number of orders of blocks, warps and lanes in which each kernel runs.
const ORDERS: u64 = 3;
/// Largest difference of a sum in another order, divided by the array's largest number.
const TOLERANCE: f64 = 2e-4;
/// Largest such difference of sums in 16 bits.
const HALF_TOLERANCE: f64 = 4e-3;

/// Type of an array's elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    Integer(usize),
    Float(usize),
    Half,
    Brain,
}

struct Array {
    name: String,
    element: Element,
    bytes: Vec<u8>,
}

/// Parameters of a file.
#[derive(Default)]
struct Inputs {
    arrays: Vec<Array>,
    parameters: Vec<Parameter>,
    names: BTreeMap<String, i64>,
}

impl Inputs {
    fn of(text: &str) -> Self {
        let mut inputs = Self::default();
        for line in text.lines().filter_map(|line| line.strip_prefix("//| ")) {
            if let Some((name, rest)) = line.split_once(": ") {
                inputs.arrays.push(array(name, rest));
                inputs.parameters.push(Parameter::pointer(Some(inputs.arrays.len() - 1)));
            } else {
                let (name, value) = line.split_once(" = ").expect("a number");
                let value: i32 = value.parse().expect("a number");
                inputs.names.insert(name.into(), value.into());
                inputs.parameters.push(Parameter::value(&value.to_le_bytes()));
            }
        }
        inputs
    }

    /// Arrays after a launch.
    fn launch(
        &self,
        cubin: &mut LoadedCubin,
        kernel: &str,
        shape: Shape,
    ) -> Result<Vec<Vec<u8>>, Fault> {
        let kernel = launch::kernel(cubin, kernel).expect("a kernel of the file's name").to_owned();
        let of = |it: &'_ Array| -> (String, Vec<u8>) { (it.name.clone(), it.bytes.clone()) };
        let contents: Vec<(String, Vec<u8>)> = self.arrays.iter().map(of).collect();
        let arrays: Vec<LaunchArray<'_>> = contents
            .iter()
            .map(|(name, bytes)| LaunchArray { name: name.clone(), element_bytes: 4, bytes })
            .collect();
        let limits = LaunchLimits { instructions: 100_000_000, finds_races: true };
        let launched = launch::launch(cubin, &kernel, shape, &arrays, &self.parameters, limits)?;
        cubin.keep_variables(&launched.memory);
        Ok(launched.arrays)
    }

    /// The first place in which arrays differ.
    fn difference(&self, wanted: &[Vec<u8>], found: &[Vec<u8>]) -> Option<String> {
        self.arrays.iter().zip(wanted.iter().zip(found)).find_map(|(array, (wanted, found))| {
            let [wanted, found] = [wanted, found].map(|bytes| array.element.numbers(bytes));
            let largest = wanted.iter().fold(0.0, |most: f64, it| most.max(it.abs()));
            let tolerance = largest * array.element.tolerance();
            let mut pairs = wanted.iter().zip(&found).enumerate();
            let wrong = pairs.find(|(_, (one, other))| {
                let is_near = (*one - *other).abs() <= tolerance;
                !is_near
            });
            let (at, (wanted, found)) = wrong?;
            Some(format!("`{}[{at}]` is {found}, the loop gives {wanted}", array.name))
        })
    }
}

impl Element {
    fn of(name: &str) -> Self {
        match name {
            "float" => Self::Float(4),
            "double" => Self::Float(8),
            "half" => Self::Half,
            "__nv_bfloat16" => Self::Brain,
            "unsigned char" | "signed char" => Self::Integer(1),
            "unsigned short" => Self::Integer(2),
            "int" | "unsigned" => Self::Integer(4),
            "unsigned long long" => Self::Integer(8),
            other => panic!("no elements of type `{other}`"),
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Integer(bytes) | Self::Float(bytes) => bytes,
            Self::Half | Self::Brain => 2,
        }
    }

    fn tolerance(self) -> f64 {
        match self {
            Self::Integer(_) => 0.0,
            Self::Float(_) => TOLERANCE,
            Self::Half | Self::Brain => HALF_TOLERANCE,
        }
    }

    fn numbers(self, bytes: &[u8]) -> Vec<f64> {
        let long = |it: &[u8]| {
            let mut all = [0; 8];
            all[..it.len()].copy_from_slice(it);
            u64::from_le_bytes(all)
        };
        let number = |it: &[u8]| match self {
            Self::Integer(_) => long(it) as f64,
            Self::Float(4) => f64::from(f32::from_bits(long(it) as u32)),
            Self::Float(_) => f64::from_bits(long(it)),
            Self::Half => half(long(it) as u16),
            Self::Brain => f64::from(f32::from_bits((long(it) as u32) << 16)),
        };
        bytes.chunks_exact(self.bytes()).map(number).collect()
    }
}

/// Value of a finite float of 16 bits.
fn half(bits: u16) -> f64 {
    let (exponent, part) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
    let size = match exponent {
        0 => part * 2_f64.powi(-14),
        _ => (1.0 + part) * 2_f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

fn array(name: &str, rest: &str) -> Array {
    let (ty, rest) = rest.split_once('[').expect("a length");
    let (count, rest) = rest.split_once(']').expect("a length");
    let count: usize = count.parse().expect("a length");
    let element = Element::of(ty);
    let number = |sign: &str| rest.trim().strip_prefix(sign).map(|it| it.trim().parse::<u64>());
    let below = number("<").map_or(1, |it| it.expect("a number"));
    let step = number("=").map(|it| it.expect("a number"));
    let seed = name.bytes().fold(7, |seed, byte| mixed(seed ^ u64::from(byte)));
    let value = |at: usize| {
        let chance = mixed(seed ^ (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let fraction = 2.0 * (chance >> 40) as f32 / (1 << 24) as f32 - 1.0;
        match (element, step) {
            (Element::Integer(_), Some(step)) => at as u64 * step,
            (Element::Integer(_), None) => chance % below,
            (Element::Float(4), _) => u64::from(fraction.to_bits()),
            (Element::Float(_), _) => f64::from(fraction).to_bits(),
            // A sign, an exponent of moderate numbers, and the rest at random.
            (Element::Half, _) => chance & 0x8FFF | 0x3000,
            (Element::Brain, _) => u64::from(fraction.to_bits() >> 16),
        }
    };
    let is_out = rest.trim() == "out";
    let bytes = (0..count).flat_map(|at| {
        let bits = if is_out { 0 } else { value(at) };
        bits.to_le_bytes()[..element.bytes()].to_vec()
    });
    Array { name: name.into(), element, bytes: bytes.collect() }
}

/// Returns a file's kernels: one for each combination of the values of its names.
fn variants(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned()];
    for line in text.lines().filter_map(|line| line.strip_prefix("//$ ")) {
        let (name, values) = line.split_once(" = ").expect("values of a name");
        let name = format!("${name}");
        let each = |text: &String| {
            let rest = text.split_once(line).map_or(text.as_str(), |(_, rest)| rest);
            values.split(" | ").map(|value| rest.replace(&name, value)).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(each).collect();
    }
    all
}

/// Runs a kernel of a file, and returns what is wrong with it.
fn run(name: &str, text: &str, compiler: &CudaCompiler) -> Result<(), String> {
    let mut cubin = compiler.compile(text).map_err(|refusal| format!("{refusal:?}"))?;
    let inputs = Inputs::of(text);
    let line = LaunchLine::find(text).expect("a launch").expect("a launch");
    let stated = line.with(&inputs.names).expect("a launch");
    let one = Extents::line(1);
    let alone = Shape { blocks: one, threads: one, shared_bytes: 0, seed: 1 };
    let wanted = inputs
        .launch(&mut cubin, "plain", alone)
        .map_err(|fault| format!("the plain loop: {fault}"))?;
    for seed in 0..ORDERS {
        let (blocks, threads) = (stated.blocks, stated.threads);
        let shape = Shape { blocks, threads, shared_bytes: stated.shared_bytes, seed };
        let found = inputs.launch(&mut cubin, name, shape).map_err(|fault| fault.to_string())?;
        if let Some(wrong) = inputs.difference(&wanted, &found) {
            return Err(format!("{wrong}, in order {seed}"));
        }
    }
    Ok(())
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sample_kernels");
    let entries = std::fs::read_dir(folder).expect("the kernels");
    let mut files: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    files.sort();
    files
}

fn compiler() -> CudaCompiler {
    CudaCompiler::find(Path::new(env!("CARGO_TARGET_TMPDIR"))).expect("NVRTC and nvdisasm")
}

/// The first kernel of each file that `GBXCULE_ONLY` takes; `GBXCULE_SHARE=1/1` asks for all
/// kernels.
#[test]
#[ignore = "needs NVRTC and nvdisasm: run by `make corpus-share`"]
fn ordinary_kernels_give_what_plain_loops_give() {
    let compiler = compiler();
    let most = if Share::or_one_in(40).is_whole() { usize::MAX } else { 1 };
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in files().iter().filter(|path| is_chosen(&path.to_string_lossy())) {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let text = std::fs::read_to_string(path).expect("a file");
        for (number, text) in variants(&text).iter().enumerate().take(most) {
            count += 1;
            if let Err(reason) = run(&name, text, &compiler) {
                eprintln!("{name}, {number}: {reason}");
                wrong.push(format!("{name}, {number}"));
            }
        }
    }
    eprintln!("{count} kernels");
    assert!(wrong.is_empty(), "{} of {count}: {wrong:?}", wrong.len());
}

#[test]
#[ignore = "needs NVRTC and nvdisasm: run by `make corpus-share`"]
fn instructions_that_are_not_simulated_are_named() {
    let heap = "__global__ void k(int* x) { int* p = (int*)malloc(*x); *x = p[*x / 8]; free(p); }";
    let refusal = compiler().compile(heap).expect_err("there is no heap");
    assert!(
        matches!(&refusal, Refusal::Unknown(reason) if reason.contains("`malloc`")),
        "{refusal:?}"
    );
}

/// The first fault of a kernel `k` over two arrays of 128 integers, in a block of 128 threads.
fn fault_of(compiler: &CudaCompiler, body: &str) -> Fault {
    let text = format!("__global__ void k(const int* x, int* y) {{\n{body}\n}}\n");
    let mut cubin = compiler.compile(&text).expect("a kernel");
    let inputs = Inputs::of("//| x: int[128] < 100\n//| y: int[128] out\n");
    let (blocks, threads) = (Extents::line(1), Extents::line(128));
    let shape = Shape { blocks, threads, shared_bytes: 0, seed: 1 };
    inputs.launch(&mut cubin, "k", shape).expect_err(body)
}

#[test]
#[ignore = "needs NVRTC and nvdisasm: run by `make corpus-share`"]
fn copies_and_barriers_that_nobody_waits_for_are_faults() {
    let compiler = compiler();
    let copy = "__shared__ int part[128]; int t = threadIdx.x;\n\
        unsigned to = (unsigned)__cvta_generic_to_shared(&part[t]);\n\
        auto copy = [&](const int* from) { asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" \
        :: \"r\"(to), \"l\"(from) : \"memory\"); };\n";
    let wait = "asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n";
    let other = "y[t] = part[127 - t];\n";
    let of = |lines: &[&str]| fault_of(&compiler, &lines.concat()).kind;
    assert_eq!(
        of(&[copy, "copy(x + t);\n__syncthreads();\n", other, wait]),
        FaultKind::UninitialisedShared
    );
    assert_eq!(of(&[copy, "copy(x + t);\n", wait, other]), FaultKind::UninitialisedShared);
    // The next copy begins while others still read.
    let again = "copy(x + t);\n";
    assert_eq!(of(&[copy, again, wait, "__syncthreads();\n", other, again, wait]), FaultKind::Race);
    assert_eq!(of(&[copy, "copy(x + t + 64);\n", wait]), FaultKind::OutsideArray);
    let part = "__shared__ int part[128]; int t = threadIdx.x;\npart[t] = x[t];\n";
    let named = |number: &str, count: u32| {
        format!("asm volatile(\"bar.sync %0, {count};\" :: \"r\"({number}) : \"memory\");\n")
    };
    assert_eq!(of(&[part, &named("t / 64 + 1", 64), other]), FaultKind::Race);
    assert_eq!(of(&[part, &named("t / 32 + 1", 64), other]), FaultKind::DivergentBarrier);
    assert_eq!(
        of(&[part, "if (t < 64)\n", &named("1", 96), "else __syncthreads();\n", other]),
        FaultKind::DivergentBarrier
    );
    let bar = "__shared__ alignas(8) unsigned long long bar; unsigned long long state; int done = 0;\n\
        unsigned b = (unsigned)__cvta_generic_to_shared(&bar);\n\
        if (threadIdx.x == 0) asm volatile(\"mbarrier.init.shared.b64 [%0], 128;\" :: \"r\"(b));\n\
        __syncthreads();\n";
    let arrive = "asm volatile(\"mbarrier.arrive.shared.b64 %0, [%1];\" : \"=l\"(state) : \"r\"(b) : \"memory\");\n";
    assert_eq!(of(&[bar, part, arrive, other]), FaultKind::UninitialisedShared);
    let awaited = "while (!done) asm volatile(\"{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; \
        selp.b32 %0, 1, 0, p; }\" : \"=r\"(done) : \"r\"(b), \"l\"(state) : \"memory\");\n";
    // The store comes after the arrival.
    let late = "part[t] = x[t] + 1;\n";
    assert_eq!(of(&[bar, part, arrive, late, awaited, other]), FaultKind::Race);
    let matrix = "__shared__ alignas(16) int part[128]; int t = threadIdx.x; part[t] = x[t]; unsigned r;\n\
        unsigned at = (unsigned)__cvta_generic_to_shared(&part[t % 8 * 4]);\n__syncthreads();\n\
        if (t % 32 < 16) asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" \
        : \"=r\"(r) : \"r\"(at));\ny[t] = r;\n";
    assert_eq!(of(&[matrix]), FaultKind::DivergentBarrier);
}

/// Everything of a module on which a launch depends, except the printed lines and the addresses of
/// its variables.
fn described(cubin: &LoadedCubin) -> String {
    let of = |(name, code): (&String, &gbxcule_gpu_sim::sass::module::Code)| {
        let mut program = code.program.clone();
        program.instructions.iter_mut().for_each(|inst| inst.text.clear());
        program.banks = Default::default();
        if !cubin.variables.is_empty() {
            program.pool.clear();
        }
        format!("{name} {:?} {} {program:?}\n", code.kernel, code.shared_bytes)
    };
    cubin.kernels.iter().map(of).collect()
}

/// Texts of the samples and of the grader's corpus.
fn all_texts() -> Vec<String> {
    let read = |path: &PathBuf| std::fs::read_to_string(path).expect("a file");
    let samples = files().iter().flat_map(|path| variants(&read(path))).collect::<Vec<_>>();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grading/tests/corpus");
    let corpus = std::fs::read_dir(folder).expect("the corpus").flatten();
    let mut corpus: Vec<PathBuf> = corpus.map(|it| it.path()).collect();
    corpus.sort();
    let answers = corpus.iter().flat_map(|path| {
        let text = read(path);
        let sections = text.split("=== ").filter_map(|it| it.split_once('\n'));
        let texts = sections.map(|it| it.1.to_owned());
        texts.filter(|it| it.contains("__global__")).collect::<Vec<_>>()
    });
    samples.into_iter().chain(answers).collect()
}

/// One text in 40; `GBXCULE_SHARE=1/1` asks for all of them.
#[test]
#[ignore = "needs NVRTC and nvdisasm: run by `make corpus-share`"]
fn a_held_disassembler_gives_the_code_that_a_new_one_gives() {
    let (held, anew) = (compiler(), compiler().without_held());
    assert!(held.is_held());
    let share = Share::or_one_in(40);
    let (mut count, mut refused) = (0, 0);
    for (_, text) in (0..).zip(&all_texts()).filter(|it| share.has(it.0)) {
        match (held.compile(text), anew.compile(text)) {
            (Ok(one), Ok(other)) => {
                assert_eq!(described(&one), described(&other), "{text}");
                count += 1;
            }
            (Err(one), Err(other)) => {
                assert_eq!(one, other, "{text}");
                refused += 1;
            }
            (one, other) => panic!("{:?} and {:?}:\n{text}", one.err(), other.err()),
        }
    }
    eprintln!("{count} texts, {refused} are refused");
    assert!(count > 10);
}
