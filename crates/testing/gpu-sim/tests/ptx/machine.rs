//! The kernels of the other modules as machine code, for each architecture and each policy of
//! divergence; all forms of machine code must be reached.

use super::host::GRID_BYTES;
use super::rule::{Arguments, Expected};
use gbxcule_gpu_sim::sass::form::patterns;
use gbxcule_gpu_sim::sass::module::{LoadedCubin, disassemble};
use gbxcule_gpu_sim::sass::run_order::{Policy, RunOrder};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// Returns the architecture whose machine code this process runs.
pub(crate) fn arch() -> String {
    std::env::var("GPU_SIM_ARCH").unwrap_or_else(|_| "sm_90".into())
}

/// A program of the wheels that `make nvrtc` brings.
fn tool(name: &str) -> PathBuf {
    let folder = std::env::var_os("GBXCULE_NVRTC").expect("GBXCULE_NVRTC: a folder with wheels");
    let root = PathBuf::from(folder);
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        let found = folder.join("cu13").join("bin").join(name);
        if found.exists() {
            return found;
        }
        let inside = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_on_the_way = |path: &PathBuf| {
            ["lib", "site-packages", "nvidia"].iter().any(|it| path.ends_with(it))
                || path.file_name().is_some_and(|it| it.to_string_lossy().starts_with("python3"))
        };
        folders.extend(inside.map(|entry| entry.path()).filter(is_on_the_way));
    }
    panic!("no {name} below {}: make nvrtc", root.display())
}

/// Assembles a text, and loads it by its listing, which may be edited: for forms that `ptxas` puts
/// only where no launch here comes.
pub(crate) fn assemble(text: &str, arch: &str, edit: impl Fn(&str) -> String) -> LoadedCubin {
    let folder = tempfile::tempdir().expect("a folder");
    let [ptx, cubin] = ["text.ptx", "text.cubin"].map(|name| folder.path().join(name));
    std::fs::write(&ptx, text).expect("a file");
    let mut command = Command::new(tool("ptxas"));
    let run = command.arg(format!("-arch={arch}")).arg(&ptx).arg("-o").arg(&cubin).output();
    let run = run.expect("ptxas starts");
    assert!(run.status.success(), "{}\n{text}", String::from_utf8_lossy(&run.stderr));
    let listing = disassemble(&tool("nvdisasm"), &cubin).expect("a listing");
    let file = std::fs::read(&cubin).expect("a cubin");
    LoadedCubin::load(&file, &edit(&listing)).unwrap_or_else(|error| panic!("{error}"))
}

/// Orders of lanes and warps: the usual one, or another with shared barriers of convergence, as
/// `HOST_GPU_POLICY` says.
pub(crate) fn order() -> RunOrder {
    let is_other = std::env::var("HOST_GPU_POLICY").is_ok_and(|it| it == "lanes");
    let other = RunOrder { policy: Policy::MostLanes, turn: 100, shares_barriers: true };
    if is_other { other } else { Policy::LowestAddress.into() }
}

/// Launches a kernel and notes the forms that it issued.
pub(crate) fn launch(
    module: &mut LoadedCubin,
    kernel: &str,
    shape: (u32, u32),
    arguments: &[u64],
    order: RunOrder,
) {
    let bytes: Vec<[u8; 8]> = arguments.iter().map(|it| it.to_le_bytes()).collect();
    let grid = [0_u8; GRID_BYTES];
    let parameters: Vec<&[u8]> =
        [&grid[..]].into_iter().chain(bytes.iter().map(|it| &it[..])).collect();
    module.launch(kernel, shape, &parameters, order);
    note_seen(module, kernel);
}

/// Notes the forms that a kernel issued.
pub(crate) fn note_seen(module: &LoadedCubin, kernel: &str) {
    let Some(path) = std::env::var_os("GPU_SIM_SEEN") else { return };
    let code = &module.kernels[kernel];
    let steps = code.program.instructions.iter().zip(&code.counts.each);
    let seen: BTreeSet<&str> =
        steps.filter(|(_, each)| each.1 != 0).map(|(step, _)| step.pattern).collect();
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("a file");
    let lines: String = seen.iter().map(|pattern| format!("{pattern}\n")).collect();
    file.write_all(lines.as_bytes()).expect("a line");
}

/// Fields of 64 bits: the assembler makes shifts of them, and takes no part of a position for that.
const LONG_FIELDS: [&str; 3] = ["bfe.s64", "bfe.u64", "bfi.b64"];
/// Differences whose carry the assembler keeps inverted, as a sum with the other number's
/// complement gives it; `a_chain_of_subtractions_borrows` holds several of them together.
const DIFFERENCES: [&str; 3] = ["sub.cc.u32", "subc.cc.u32", "subc.u32"];

/// True if a form of PTX means less in machine code than its document says.
pub(crate) fn is_open(mnemonic: &str) -> bool {
    LONG_FIELDS.contains(&mnemonic) || DIFFERENCES.contains(&mnemonic)
}

/// Gives what machine code must compute where a rule of PTX asks for something.
pub(crate) fn expected(mnemonic: &str, arguments: &Arguments, rule: Expected) -> Expected {
    let is_long =
        LONG_FIELDS.contains(&mnemonic) && arguments[1..4].iter().any(|it| *it as u32 > 255);
    if is_long || DIFFERENCES.contains(&mnemonic) {
        return Expected::Open;
    }
    // A sign is taken away by a sum, of which each NaN is the same.
    match rule {
        Expected::Bits(bits)
            if mnemonic.ends_with(".f32") && f32::from_bits(bits as u32).is_nan() =>
        {
            Expected::Nan(32)
        }
        Expected::Bits(bits) if mnemonic.ends_with(".f64") && f64::from_bits(bits).is_nan() => {
            Expected::Nan(64)
        }
        rule => rule,
    }
}

/// Forms that need a device's memory, or lie in no text of PTX here. The step of a Color machine
/// reaches the first, kernels of `crates/foundry/gpu-check/tests/sample_kernels` the others. A trap
/// ends the launch before it is counted; `every_kind_of_fault_has_a_name` runs one.
const SEEN_ELSEWHERE: [&str; 16] = [
    "VIMNMX3.{U16x2,S16x2}",
    "VABSDIFF4.U8",
    "VABSDIFF4.U8.ACC",
    "LDGSTS.E{,.64,.128}{,.ZFILL}",
    "LDGDEPBAR",
    "DEPBAR.LE",
    "LDSM.16.{M88,MT88}{,.2,.4}",
    "HMMA.{16816,1688}.{F32,F16,F32.BF16}",
    "HMMA.{1688,1684}.F32.TF32",
    "IMMA.{16816,16832,8816}.{U8,S8}.{U8,S8}{,.SAT}",
    "DMMA.884",
    "MOVM.16.MT88",
    "BAR.ARV",
    "ATOMS.ARRIVE.64",
    "ARRIVES.LDGSTSBAR.64",
    "BPT.TRAP",
];

/// Runs the other modules' tests for each architecture, whose lanes part as the policy beside it
/// says, and returns the forms that they issued.
fn run_all(passes: [(&str, &str); 3]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let seen = folder.path().join("seen");
    let program = std::env::current_exe().expect("this program");
    for (arch, policy) in passes {
        let mut command = Command::new(&program);
        command.args(["value::", "memory::", "control::", "assembled::", "meeting::"]);
        command.args(["packed::", "lanes::", "numbers::", "barrier::", "device::"]);
        command.args(["--include-ignored", "--test-threads", "2"]);
        command.env("GPU_SIM_ARCH", arch).env("GPU_SIM_SEEN", &seen);
        let run = command.env("HOST_GPU_POLICY", policy).output().expect("it starts");
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{arch} {policy}\n{said}");
    }
    std::fs::read_to_string(seen).expect("a file")
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim-share`"]
fn everything_is_so_on_machine_code() {
    let seen = run_all([("sm_80", "address"), ("sm_90", "lanes"), ("sm_100", "address")]);
    let seen: BTreeSet<&str> = seen.lines().chain(SEEN_ELSEWHERE).collect();
    let unseen: Vec<&str> = patterns().into_iter().filter(|it| !seen.contains(it)).collect();
    assert_eq!(unseen, [""; 0], "forms that no kernel of these tests reaches");
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn everything_is_so_when_lanes_part_otherwise() {
    run_all([("sm_80", "lanes"), ("sm_90", "address"), ("sm_100", "lanes")]);
}
