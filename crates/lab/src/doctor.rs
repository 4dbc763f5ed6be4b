//! What this machine has, what it lacks, and the command that brings it.

use serde_json::Value;

use crate::python::Python;
use crate::system;

/// One line of the examination.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What was looked for.
    pub subject: &'static str,
    /// Is it there?
    pub found: bool,
    /// What was found, or what it is needed for.
    pub what: String,
    /// The command that brings it; nothing if it is there or can't be brought.
    pub remedy: Option<&'static str>,
}

/// Look at everything that some part of gbxcule can use.
#[must_use]
pub fn examine() -> Vec<Finding> {
    let system = system::describe();
    let python = &system["python"];
    vec![
        host(&system),
        interpreter(python),
        package(
            python,
            "pyboy",
            "the reference `pyboy_single` and the baseline `pyboy_vec_mp`",
            "make .venv",
        ),
        libmgba(),
        gpu(&system),
        driver(&system),
        package(
            python,
            "nvidia-cuda-nvrtc",
            "compiling CUDA text",
            "pip install nvidia-cuda-nvrtc",
        ),
        cuda_backend(),
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

fn interpreter(python: &Value) -> Finding {
    let program = Python::find().program;
    let found = python.is_object();
    let what = if found {
        format!(
            "{} {}",
            python["program"].as_str().unwrap_or("?"),
            python["version"].as_str().unwrap_or("?")
        )
    } else {
        format!("`{}` does not run; the references are Python programs", program.display())
    };
    Finding { subject: "python", found, what, remedy: (!found).then_some("make .venv") }
}

fn package(python: &Value, name: &'static str, needed_for: &str, remedy: &'static str) -> Finding {
    let package = &python["packages"][name];
    let found = package.is_object();
    let what = if found {
        let part = |field: &str| package[field].as_str().unwrap_or("?").to_owned();
        format!("{} ({})", part("version"), part("wheel"))
    } else {
        format!("needed for {needed_for}")
    };
    Finding { subject: name, found, what, remedy: (!found).then_some(remedy) }
}

fn libmgba() -> Finding {
    let found = cfg!(feature = "mgba");
    let what =
        if found { "in this build" } else { "not in this build; the second reference `libmgba`" };
    let remedy = "apt-get install libmgba-dev, then cargo build --release --features mgba";
    Finding { subject: "libmgba", found, what: what.to_owned(), remedy: (!found).then_some(remedy) }
}

fn gpu(system: &Value) -> Finding {
    let names: Vec<_> = system["gpus"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|gpu| Some(format!("{}, {}", gpu["name"].as_str()?, gpu["memory"].as_str()?)))
        .collect();
    let found = !names.is_empty();
    let what = if found {
        names.join("; ")
    } else {
        "no NVIDIA GPU seen by nvidia-smi; only `warp_vec_cuda` needs one".to_owned()
    };
    Finding { subject: "gpu", found, what, remedy: None }
}

fn driver(system: &Value) -> Finding {
    let driver = system["gpus"][0]["driver"].as_str().or_else(|| system["cuda"]["driver"].as_str());
    let what = driver.map_or_else(|| "no NVIDIA driver".to_owned(), str::to_owned);
    Finding { subject: "driver", found: driver.is_some(), what, remedy: None }
}

fn cuda_backend() -> Finding {
    let what = "not in this build; `--device cpu` runs the same machines on CPU threads";
    Finding { subject: "warp_vec_cuda", found: false, what: what.to_owned(), remedy: None }
}
