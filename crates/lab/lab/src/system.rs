//! Description of the machine, as every artifact records it. An unknown value is null, never a
//! guess.

use std::fs;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use gbxcule_oracle::Python;
use gbxcule_runtime::cuda::{Driver, Gpu};
use serde_json::{Value, json};

/// The commit this binary was built from.
pub const COMMIT: &str = env!("GBXCULE_COMMIT");
/// The compiler that built it.
pub const RUSTC: &str = env!("GBXCULE_RUSTC");

/// Time limit for `nvidia-smi`, which asks every GPU and hangs if a GPU does not answer.
const TOOL_LIMIT: Duration = Duration::from_secs(5);

/// Describes the host, the GPU if there is one, and their software.
pub fn describe() -> Value {
    json!({
        "gbxcule": { "version": env!("CARGO_PKG_VERSION"), "commit": COMMIT, "rustc": RUSTC },
        "os": field("/etc/os-release", "PRETTY_NAME", '='),
        "kernel": first_line("/proc/sys/kernel/osrelease"),
        "arch": std::env::consts::ARCH,
        "cpu": field("/proc/cpuinfo", "model name", ':'),
        "cpus": gbxcule_runtime::worker_count(None),
        "memory_bytes": memory_bytes(),
        "gpus": gpus(),
        "cuda": cuda(),
        "python": python_packages(),
    })
}

fn first_line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()?.lines().next().map(str::to_owned)
}

fn field(path: &str, name: &str, separator: char) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(separator)?.1.trim().trim_matches('"').to_owned())
}

fn memory_bytes() -> Option<u64> {
    let kibibytes = field("/proc/meminfo", "MemTotal", ':')?;
    Some(kibibytes.trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

/// Returns each GPU's name, driver and memory: from `nvidia-smi` if it answers in time, else from
/// the driver, which may be a simulated one. The list is empty on a machine without a GPU.
pub fn gpus() -> Vec<Value> {
    let gpus = gpus_by_nvidia_smi();
    if !gpus.is_empty() {
        return gpus;
    }
    let gpus = Driver::find().map_or_else(|_| Vec::new(), |driver| driver.gpus);
    gpus.iter().map(gpu_by_driver).collect()
}

/// Describes a GPU with the fields of [`gpus_by_nvidia_smi`].
fn gpu_by_driver(gpu: &Gpu) -> Value {
    let memory = format!("{} MiB", gpu.memory_bytes >> 20);
    let number = gpu.arch.number();
    let capability = format!("{}.{}", number / 10, number % 10);
    json!({ "name": gpu.name, "driver": null, "memory": memory, "compute_capability": capability })
}

/// Returns the output of a command that succeeds within the time limit; a slower command is killed.
fn output_within(command: &mut Command, limit: Duration) -> Option<String> {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = quiet.spawn().ok()?;
    let mut pipe = child.stdout.take()?;
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = pipe.read_to_end(&mut text);
        // After the limit the receiver is gone.
        _ = sender.send(read.map(|_| text));
    });
    let output = receiver.recv_timeout(limit);
    if output.is_err() {
        _ = child.kill();
    }
    let succeeded = child.wait().is_ok_and(|status| status.success());
    let text = output.ok()?.ok().filter(|_| succeeded)?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Returns the first line that a command writes, if it succeeds.
pub(crate) fn first_line_of(command: &mut Command) -> Option<String> {
    let text = output_within(command, TOOL_LIMIT)?;
    text.lines().next().map(str::to_owned)
}

fn gpus_by_nvidia_smi() -> Vec<Value> {
    let query =
        ["--query-gpu=name,driver_version,memory.total,compute_cap", "--format=csv,noheader"];
    let mut tool = Command::new("nvidia-smi");
    let Some(text) = output_within(tool.args(query), TOOL_LIMIT) else { return Vec::new() };
    let gpu = |line: &str| {
        let parts: Vec<_> = line.split(',').map(str::trim).collect();
        let part = |index: usize| parts.get(index).copied();
        json!({ "name": part(0), "driver": part(1), "memory": part(2), "compute_capability": part(3) })
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(gpu).collect()
}

/// Returns the versions of the driver and of the NVRTC wheel; the latter is also the CUDA
/// runtime's.
fn cuda() -> Value {
    let driver = first_line("/proc/driver/nvidia/version");
    json!({ "driver": driver, "runtime": nvrtc_wheel() })
}

/// Returns the NVRTC wheel of the Python environment, whose version is the CUDA runtime's.
fn nvrtc_wheel() -> Option<String> {
    package_version("nvidia-cuda-nvrtc").map(|version| format!("nvidia-cuda-nvrtc {version}"))
}

fn package_version(name: &str) -> Option<String> {
    let version = python_json(&format!(
        "import importlib.metadata as m, json\ntry: print(json.dumps(m.version('{name}')))\nexcept m.PackageNotFoundError: \
         print('null')"
    ))?;
    version.as_str().map(str::to_owned)
}

/// Returns the interpreter and the packages that affect results, each with the origin of its wheel
/// (PEP 610).
pub fn python_packages() -> Value {
    python_json(PACKAGES_SCRIPT).unwrap_or(Value::Null)
}

const PACKAGES_SCRIPT: &str = r#"
import importlib.metadata as m, json, platform, sys
found = {}
for name in ("pyboy", "numpy", "warp-lang", "nvidia-cuda-nvrtc", "gbxcule"):
    try:
        d = m.distribution(name)
    except m.PackageNotFoundError:
        continue
    text = d.read_text("direct_url.json")
    source = json.loads(text).get("url") if text else None
    found[name] = {"version": d.version, "wheel": source or "wheel source unknown"}
print(json.dumps({"program": sys.executable, "version": platform.python_version(), "packages": found}))
"#;

fn python_json(script: &str) -> Option<Value> {
    let output = Python::find().script(script).output().ok()?;
    serde_json::from_slice(&output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_tool_that_hangs_or_fails_says_nothing() {
        let shell = |text: &str, limit_s| {
            output_within(Command::new("sh").args(["-c", text]), Duration::from_secs(limit_s))
        };
        assert_eq!(shell("echo H100", 60).as_deref(), Some("H100\n"));
        assert_eq!(shell("echo H100; exit 3", 60), None);
        assert_eq!(shell("exec sleep 1000", 0), None);
        assert_eq!(output_within(&mut Command::new("/no/such/tool"), Duration::ZERO), None);
    }

    #[test]
    fn a_gpu_has_the_same_fields_without_the_tool() {
        let gpu = Gpu {
            name: "H100".into(),
            arch: "sm_90a".parse().expect("one"),
            memory_bytes: 1 << 30,
        };
        let expected = json!({
            "name": "H100", "driver": null, "memory": "1024 MiB", "compute_capability": "9.0"
        });
        assert_eq!(gpu_by_driver(&gpu), expected);
    }
}
