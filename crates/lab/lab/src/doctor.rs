//! Inventory of this machine: the tools that are present, the tools that are missing, and the
//! commands that install them.

use std::process::Command;

use gbxcule_oracle::Python;
use gbxcule_python_env::PythonInterpreter;
use gbxcule_runtime::Error;
use gbxcule_runtime::cuda::{Driver, Gpu};
use gbxcule_runtime::nvrtc::{Arch, Nvrtc};
use gbxcule_sandbox::{Protection, host_compiler};
use serde_json::Value;

use crate::system;

/// A tool that `doctor` looked for: one line of its output.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Name of the tool.
    pub subject: &'static str,
    /// True if the tool was found.
    pub found: bool,
    /// Version that was found, or the purpose of a missing tool.
    pub what: String,
    /// Command that installs it; `None` if it is present or can't be installed.
    pub remedy: Option<&'static str>,
}

/// Looks for all tools that some part of gbxcule can use.
pub fn inventory() -> Vec<Finding> {
    let system = system::describe();
    let python = &system["python"];
    vec![
        host(&system),
        sandbox(),
        interpreter(python),
        package(
            python,
            "pyboy",
            "the reference `pyboy_single` and the baseline `pyboy_vec_mp`",
            "make .venv/oracle.txt, or pip install pyboy==2.8.1",
        ),
        libmgba(),
        cxx(),
        gpu(&system),
        nvrtc(),
        package(
            python,
            "warp-lang",
            "NVIDIA Warp as the compiler's oracle",
            "pip install warp-lang==1.19.0",
        ),
    ]
}

fn host(system: &Value) -> Finding {
    let cpu = system["cpu"].as_str().unwrap_or("unknown CPU");
    let os = system["os"].as_str().unwrap_or("unknown system");
    let gibibytes = system["memory_bytes"].as_f64().unwrap_or(0.0) / f64::from(1 << 30);
    let what = format!("{cpu}, {} cores, {gibibytes:.0} GiB, {os}", system["cpus"]);
    Finding { subject: "cpu", found: true, what, remedy: None }
}

/// Describes the sandbox in which texts of unknown origin are compiled and run.
fn sandbox() -> Finding {
    let here = Protection::here();
    let what = here.to_string();
    let what = what.trim_start_matches("sandbox: ").to_owned();
    let remedy =
        "a Linux of 2023 or newer, or a container that allows Landlock and seccomp (SECURITY.md)";
    let remedy = (!here.is_whole()).then_some(remedy);
    Finding { subject: "sandbox", found: here.is_whole(), what, remedy }
}

fn interpreter(python: &Value) -> Finding {
    let PythonInterpreter { program, passed_over } = Python::interpreter();
    let has_python = python.is_object();
    let mut what = if has_python {
        format!(
            "{} {}",
            python["program"].as_str().unwrap_or("?"),
            python["version"].as_str().unwrap_or("?")
        )
    } else {
        format!("`{}` does not run; the references are Python programs", program.display())
    };
    if let Some(why) = passed_over {
        what += &format!("; {why}; name it in GBXCULE_PYTHON if it is to be run");
    }
    Finding {
        subject: "python",
        found: has_python,
        what,
        remedy: (!has_python).then_some("make .venv/oracle.txt"),
    }
}

fn package(python: &Value, name: &'static str, needed_for: &str, remedy: &'static str) -> Finding {
    let package = &python["packages"][name];
    let is_installed = package.is_object();
    let what = if is_installed {
        let part = |field: &str| package[field].as_str().unwrap_or("?").to_owned();
        format!("{} ({})", part("version"), part("wheel"))
    } else {
        format!("needed for {needed_for}")
    };
    Finding { subject: name, found: is_installed, what, remedy: (!is_installed).then_some(remedy) }
}

fn libmgba() -> Finding {
    let found = cfg!(feature = "mgba");
    let what =
        if found { "in this build" } else { "not in this build; the second reference `libmgba`" };
    let remedy = "apt-get install libmgba-dev, then cargo build --release --features mgba";
    Finding { subject: "libmgba", found, what: what.to_owned(), remedy: (!found).then_some(remedy) }
}

/// Describes the GPUs and their driver.
fn gpu(system: &Value) -> Finding {
    let (found, what) = match Driver::find() {
        Ok(Driver { gpus, cuda: (major, minor), .. }) => {
            let gpus = gpus.iter().map(Gpu::to_string).collect::<Vec<_>>().join("; ");
            let version = system["gpus"][0]["driver"].as_str();
            let version = version.or_else(|| system["cuda"]["driver"].as_str()).unwrap_or("?");
            (true, format!("{gpus}; driver {version} (CUDA {major}.{minor})"))
        }
        Err(error) => (false, error.to_string()),
    };
    Finding { subject: "gpu", found, what, remedy: None }
}

/// Describes the host's C++ compiler.
fn cxx() -> Finding {
    let name = host_compiler();
    let version = system::first_line_of(Command::new(&name).arg("--version"));
    let found = version.is_some();
    let what = version.unwrap_or_else(|| {
        let name = name.display();
        format!("`{name}` does not run; needed for `build`, `check`, `synth validate` and `grade`")
    });
    let remedy = (!found).then_some("apt-get install g++, or set CXX to a C++17 compiler");
    Finding { subject: "c++", found, what, remedy }
}

fn nvrtc() -> Finding {
    let nvrtc = Nvrtc::find();
    let what = match &nvrtc {
        Ok(nvrtc) => {
            let (major, minor) = nvrtc.version();
            let archs = nvrtc.archs();
            let span = |arch: Option<&Arch>| arch.map_or("?".to_owned(), Arch::to_string);
            format!(
                "{major}.{minor} for {} to {}, from {}: {}",
                span(archs.first()),
                span(archs.last()),
                nvrtc.origin(),
                nvrtc.path().display()
            )
        }
        Err(Error::NoNvrtc) => "needed to compile CUDA text; no GPU is".to_owned(),
        Err(error) => error.to_string(),
    };
    let missing = matches!(nvrtc, Err(Error::NoNvrtc));
    let remedy = missing.then_some("pip install nvidia-cuda-nvrtc");
    Finding { subject: "nvrtc", found: nvrtc.is_ok(), what, remedy }
}
