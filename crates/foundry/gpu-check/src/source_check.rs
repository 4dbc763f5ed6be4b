//! Checks a CUDA file of unknown purpose: runs its kernels on generated inputs and reports every
//! fault.
//!
//! A parameter's type is read from the kernel's declaration. Pointers get arrays, integers the
//! number of elements of the arrays, floats 0.5, unless the caller gives other values.

use crate::compiler::{CudaCompiler, Refusal};
use crate::launch::{LaunchArray, LaunchLimits, Parameter, launch, parameter_sizes};
use crate::launch_line::LaunchLine;
use gbxcule_gpu_sim::sass::fault::{Fault, FaultKind};
use gbxcule_gpu_sim::sass::module::LoadedCubin;
use gbxcule_gpu_sim::sass::schedule::{Extents, Shape};
use gbxcule_gpu_sim::sass::warp::mixed;
use std::collections::BTreeMap;

/// Options of a check.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Elements of each array, and the value of each integer.
    pub count: u32,
    /// Values of integers and numbers of elements, by the parameter's name; they replace `count`.
    pub values: BTreeMap<String, i64>,
    /// Seed of inputs and of thread orders.
    pub seed: u64,
    /// Number of launches of each kernel. Each launch has another thread order and block size.
    pub launches: u32,
}

/// Result of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelReport {
    /// Name of the kernel.
    pub kernel: String,
    /// Blocks and threads of the reported launch.
    pub shape: (Extents, Extents),
    /// The first fault, if there is one.
    pub fault: Option<Fault>,
}

/// Limits of a launch.
const LIMITS: LaunchLimits = LaunchLimits { instructions: 50_000_000, finds_races: true };
/// Block sizes of the launches, from the first on and over again.
const THREADS: [u32; 4] = [128, 32, 1024, 64];

/// Parameter of a kernel, read from its declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Declared {
    name: String,
    kind: DeclaredKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DeclaredKind {
    Pointer { is_float: bool, bytes: usize },
    Integer,
    Float,
}

/// Checks all kernels of a text; the error says why the text can't be run.
pub fn check(
    text: &str,
    compiler: &CudaCompiler,
    options: &SourceOptions,
) -> Result<Vec<KernelReport>, String> {
    let line = LaunchLine::find(text).transpose()?;
    let mut cubin = compiler.compile(text).map_err(|refusal| match refusal {
        Refusal::Text(reason)
        | Refusal::Limit(reason)
        | Refusal::Unknown(reason)
        | Refusal::Machine(reason) => reason,
    })?;
    let names: Vec<String> = cubin.kernels.keys().cloned().collect();
    if names.is_empty() {
        return Err("there is no kernel in it".into());
    }
    names.iter().map(|name| check_kernel(text, &mut cubin, name, line.as_ref(), options)).collect()
}

fn check_kernel(
    text: &str,
    cubin: &mut LoadedCubin,
    name: &str,
    line: Option<&LaunchLine>,
    options: &SourceOptions,
) -> Result<KernelReport, String> {
    let sizes = parameter_sizes(cubin, name);
    let declared = declaration(text, name)
        .filter(|it| it.len() == sizes.len())
        .ok_or_else(|| format!("the parameters of `{name}` can't be told from its declaration"))?;
    let most = cubin.kernels[name].kernel.max_threads.unwrap_or(1024);
    let kernel = plain_name(name).to_owned();
    let nothing = Extents::line(0);
    let mut report = KernelReport { kernel, shape: (nothing, nothing), fault: None };
    for number in 0..options.launches {
        let seed = mixed(options.seed ^ u64::from(number) ^ 0x6368_6563);
        let inputs = Inputs::new(&declared, &sizes, options, seed);
        let threads = THREADS[number as usize % THREADS.len()].min(most);
        let shape = match line {
            Some(line) => {
                let stated = line.with(&inputs.names)?;
                let (blocks, threads) = (stated.blocks, stated.threads);
                Shape { blocks, threads, shared_bytes: stated.shared_bytes, seed }
            }
            None => Shape {
                blocks: Extents::line(options.count.div_ceil(threads).max(1)),
                threads: Extents::line(threads),
                shared_bytes: 0,
                seed,
            },
        };
        report.shape = (shape.blocks, shape.threads);
        let arrays = inputs.arrays();
        match launch(cubin, name, shape, &arrays, &inputs.parameters, LIMITS) {
            Ok(_) => {}
            Err(fault) if fault.kind == FaultKind::Unknown => return Err(fault.message),
            Err(fault) => {
                report.fault = Some(fault);
                break;
            }
        }
    }
    Ok(report)
}

/// Generated arguments.
struct Inputs {
    contents: Vec<(String, usize, Vec<u8>)>,
    parameters: Vec<Parameter>,
    names: BTreeMap<String, i64>,
}

impl Inputs {
    fn new(declared: &[Declared], sizes: &[usize], options: &SourceOptions, seed: u64) -> Self {
        let mut inputs =
            Self { contents: Vec::new(), parameters: Vec::new(), names: BTreeMap::new() };
        for (at, (it, size)) in declared.iter().zip(sizes).enumerate() {
            let value = options.values.get(&it.name).copied();
            let number = value.unwrap_or(i64::from(options.count));
            let parameter = match it.kind {
                DeclaredKind::Pointer { is_float, bytes } => {
                    let count = usize::try_from(number).unwrap_or(0);
                    let most = u64::from(options.count.max(1));
                    let seed = mixed(seed ^ at as u64);
                    let contents = contents(count, bytes, is_float, most, seed);
                    inputs.contents.push((it.name.clone(), bytes, contents));
                    Parameter::pointer(Some(inputs.contents.len() - 1))
                }
                DeclaredKind::Integer => {
                    inputs.names.insert(it.name.clone(), number);
                    Parameter::value(&number.to_le_bytes()[..(*size).min(8)])
                }
                DeclaredKind::Float if *size == 8 => Parameter::value(&0.5_f64.to_le_bytes()),
                DeclaredKind::Float => Parameter::value(&0.5_f32.to_le_bytes()[..(*size).min(4)]),
            };
            inputs.parameters.push(parameter);
        }
        inputs
    }

    fn arrays(&self) -> Vec<LaunchArray<'_>> {
        let mut arrays = Vec::new();
        for (name, element_bytes, bytes) in &self.contents {
            arrays.push(LaunchArray { name: name.clone(), element_bytes: *element_bytes, bytes });
        }
        arrays
    }
}

/// Draws elements: floats from -1 to 1, integers from 0 to below `most`.
fn contents(count: usize, bytes: usize, is_float: bool, most: u64, seed: u64) -> Vec<u8> {
    let element = |at: usize| {
        let chance = mixed(seed ^ (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let fraction = (chance >> 11) as f64 / (1_u64 << 53) as f64;
        match (is_float, bytes) {
            (true, 8) => (2.0 * fraction - 1.0).to_le_bytes().to_vec(),
            (true, 4) => (2.0 * fraction as f32 - 1.0).to_le_bytes().to_vec(),
            // Two bytes may be a float16 or a bfloat16: these bits are a moderate number in both
            // types.
            (true, 2) => 0x3800_u16.to_le_bytes().to_vec(),
            (true, _) => (0..bytes / 4).flat_map(|_| (fraction as f32).to_le_bytes()).collect(),
            (false, _) => {
                (chance % most).to_le_bytes().iter().copied().cycle().take(bytes).collect()
            }
        }
    };
    (0..count).flat_map(element).collect()
}

/// Finds a kernel's declaration in a text and returns its parameters.
fn declaration(text: &str, mangled: &str) -> Option<Vec<Declared>> {
    let name = plain_name(mangled);
    let code = without_comments(text);
    let begins = code.match_indices("__global__").map(|(at, _)| at);
    begins.filter_map(|at| parameters(&code[at..], name)).next()
}

fn parameters(code: &str, name: &str) -> Option<Vec<Declared>> {
    let end = code.find(['{', ';'])?;
    let head = &code[..end];
    let open = head.find(&format!("{name}("))? + name.len();
    let is_whole =
        head[..open - name.len()].ends_with(|it: char| !it.is_alphanumeric() && it != '_');
    let inside = head[open..].strip_prefix('(')?.trim_end().strip_suffix(')')?;
    if !is_whole {
        return None;
    }
    let all = inside.split(',').map(str::trim).filter(|it| !it.is_empty());
    Some(all.enumerate().map(|(at, text)| declared(at, text)).collect())
}

fn declared(at: usize, text: &str) -> Declared {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words: Vec<&str> = text.split(|it| !is_part(it)).filter(|it| !it.is_empty()).collect();
    let is_word = |word: &&str| words.contains(word);
    let bytes = match () {
        () if ["double", "int64_t", "uint64_t", "double1", "float2", "int2", "size_t"]
            .iter()
            .any(is_word) =>
        {
            8
        }
        () if words.iter().filter(|it| **it == "long").count() > 0 => 8,
        () if ["float4", "int4", "double2"].iter().any(is_word) => 16,
        () if ["float3", "int3"].iter().any(is_word) => 12,
        () if ["short", "__half", "half", "__nv_bfloat16", "int16_t", "uint16_t"]
            .iter()
            .any(is_word) =>
        {
            2
        }
        () if ["char", "bool", "int8_t", "uint8_t"].iter().any(is_word) => 1,
        () => 4,
    };
    let floats = [
        "float",
        "double",
        "__half",
        "half",
        "float2",
        "float3",
        "float4",
        "double2",
        "__nv_bfloat16",
        "__half2",
    ];
    let is_float = floats.iter().any(is_word);
    let keywords =
        ["const", "__restrict__", "unsigned", "int", "float", "double", "long", "short", "char"];
    let name = words.last().filter(|it| !keywords.contains(it));
    let name = name.map_or_else(|| format!("argument {at}"), |it| (*it).to_owned());
    let kind = match (text.contains('*') || text.contains('['), is_float) {
        (true, is_float) => DeclaredKind::Pointer { is_float, bytes },
        (false, true) => DeclaredKind::Float,
        (false, false) => DeclaredKind::Integer,
    };
    Declared { name, kind }
}

/// Returns `scale` for `_Z5scalePff`, and an unmangled name unchanged.
fn plain_name(mangled: &str) -> &str {
    let Some(rest) = mangled.strip_prefix("_Z") else { return mangled };
    let digits = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(0);
    let length: usize = rest[..digits].parse().unwrap_or(0);
    rest.get(digits..digits + length).unwrap_or(mangled)
}

fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut unread = text;
    while let Some(at) = unread.find("//").into_iter().chain(unread.find("/*")).min() {
        code.push_str(&unread[..at]);
        let is_line = unread[at..].starts_with("//");
        let end = if is_line { "\n" } else { "*/" };
        let length = unread[at + 2..].find(end).map_or(unread.len() - at - 2, |it| it + end.len());
        unread = &unread[at + 2 + length..];
        code.push('\n');
    }
    code + unread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_from_a_declaration() {
        let text = "// __global__ void k(int no);\n__global__ void other(int);\n\
            extern \"C\" __global__ void __launch_bounds__(64) k(const float* __restrict__ x, /* , */ int n,\n\
            float a, unsigned long long* z, double b, __half *h) { }";
        let all = declaration(text, "k").expect("a declaration");
        let shown: Vec<String> =
            all.iter().map(|it| format!("{} {:?}", it.name, it.kind)).collect();
        assert_eq!(
            shown,
            [
                "x Pointer { is_float: true, bytes: 4 }",
                "n Integer",
                "a Float",
                "z Pointer { is_float: false, bytes: 8 }",
                "b Float",
                "h Pointer { is_float: true, bytes: 2 }",
            ]
        );
        assert!(declaration(text, "missing").is_none());
        assert_eq!(declaration(text, "_Z5otheri").expect("a declaration").len(), 1);
    }
}
