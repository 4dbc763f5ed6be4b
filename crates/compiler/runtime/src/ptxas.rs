//! `ptxas`, NVIDIA's assembler, whose option `-v` reports the resources of a GPU that a kernel
//! takes.
//!
//! NVRTC contains the assembler, so [`crate::nvrtc::Nvrtc::measure`] needs no program; [`Ptxas`]
//! runs the program of the wheel `nvidia-cuda-nvcc` or of a toolkit on PTX.

use crate::error::Error;
use crate::nvrtc::{Arch, Nvrtc};
use gbxcule_sandbox::{ChildEnd, Limits, Policy};
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Resources that a kernel, or a function that kernels call, takes for each thread.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Usage {
    /// The kernel's symbol.
    pub function: String,
    /// Architecture of the code.
    pub arch: String,
    /// Registers; `None` for a function that is not a kernel, because it uses its callers'
    /// registers.
    pub registers: Option<u32>,
    /// Bytes of local memory for variables.
    pub stack_bytes: u32,
    /// Bytes of local memory, including the functions that this function calls, if the report has
    /// the number.
    pub total_stack_bytes: Option<u32>,
    /// Bytes of registers written to local memory.
    pub spill_store_bytes: u32,
    /// Bytes of registers read back.
    pub spill_load_bytes: u32,
}

impl Usage {
    /// Returns all functions of a report, kernels and others, in the report's order.
    pub fn parse(report: &str) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut arch = String::new();
        for line in report.lines() {
            let line = line
                .strip_prefix("ptxas info")
                .map_or(line, |it| it.trim_start_matches([' ', ':']));
            if let Some(rest) = line.strip_prefix("Compiling entry function ") {
                arch = rest.split('\'').nth(3).unwrap_or_default().into();
            } else if let Some(function) = line.strip_prefix("Function properties for ") {
                let function = function.trim().trim_matches('\'').to_string();
                all.push(Self { function, arch: arch.clone(), ..Self::default() });
            } else if let Some(last) = all.last_mut() {
                last.read(line);
            }
        }
        all
    }

    fn read(&mut self, line: &str) {
        for part in line.split(',').map(str::trim) {
            let number = || {
                let digits = part.trim_start_matches(|c: char| !c.is_ascii_digit());
                digits.split(' ').next()?.parse::<u32>().ok()
            };
            if part.ends_with("bytes stack frame") {
                self.stack_bytes = number().unwrap_or(0);
            } else if part.ends_with("bytes spill stores") {
                self.spill_store_bytes = number().unwrap_or(0);
            } else if part.ends_with("bytes spill loads") {
                self.spill_load_bytes = number().unwrap_or(0);
            } else if part.ends_with("bytes cumulative stack size") {
                self.total_stack_bytes = number();
            } else if part.starts_with("Used ") && part.ends_with("registers") {
                self.registers = number();
            }
        }
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, arch, stack_bytes, spill_store_bytes, spill_load_bytes, .. } = self;
        write!(f, "{function} {arch}: ")?;
        if let Some(registers) = self.registers {
            write!(f, "{registers} registers, ")?;
        }
        let stack = self.total_stack_bytes.unwrap_or(*stack_bytes);
        write!(f, "{stack} bytes of stack, spills {spill_store_bytes} out {spill_load_bytes} in")
    }
}

/// Limits of a run: the swarm's kernels take minutes, and modules of thousands of kernels have long
/// reports.
const LIMITS: Limits = Limits {
    wall: Duration::from_secs(900),
    cpu: Duration::from_secs(900),
    memory_bytes: 16 << 30,
    output_bytes: 64 << 20,
    error_bytes: 64 << 20,
    ..Limits::COMPILER
};

/// The program.
#[derive(Clone, Debug)]
pub struct Ptxas {
    program: PathBuf,
}

impl Ptxas {
    /// Returns the `ptxas` installed beside NVRTC, else the `ptxas` on `PATH`.
    pub fn find(nvrtc: &Nvrtc) -> Result<Self, Error> {
        let name = if cfg!(windows) { "ptxas.exe" } else { "ptxas" };
        let beside = nvrtc.path().ancestors().skip(1).take(3);
        let beside = beside.filter(|folder| !folder.as_os_str().is_empty());
        let variable = std::env::var_os("PATH").unwrap_or_default();
        let on_path: Vec<PathBuf> = std::env::split_paths(&variable).collect();
        let beside = beside.map(|folder| folder.join("bin").join(name));
        // No variable names the program, so its owner must be trusted: three folders above a
        // library may belong to any user.
        let mut beside =
            beside.filter(|path| path.is_file() && gbxcule_python_env::is_trusted(path));
        let mut on_path = on_path.into_iter().map(|folder| folder.join(name));
        let program = beside.next().or_else(|| on_path.find(|path| path.is_file()));
        program.map(|program| Self { program }).ok_or(Error::NoPtxas)
    }

    /// Returns the program's path.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Assembles PTX for an architecture, discards the machine code and returns the report.
    pub fn measure(&self, ptx: &Path, arch: Arch) -> Result<Vec<Usage>, Error> {
        let failed = |log: String| Error::Ptxas { path: ptx.into(), arch: arch.to_string(), log };
        let nowhere = if cfg!(windows) { "NUL" } else { "/dev/null" };
        // PTX may come from any source, and assemblers are not made to withstand hostile input.
        let ptx = ptx.canonicalize().map_err(|error| failed(error.to_string()))?;
        let folder = ptx.parent().unwrap_or(Path::new("/"));
        let policy = Policy::compiler(&self.program, folder).within(LIMITS);
        let arch = arch.to_string();
        let options = ["-v", "--gpu-name", &arch, "--output-file", nowhere].map(OsStr::new);
        let arguments = [&options[..], &[ptx.as_os_str()]].concat();
        let run = gbxcule_sandbox::run(&self.program, &arguments, &policy)
            .map_err(|error| failed(error.to_string()))?;
        let output = String::from_utf8_lossy(&run.stdout).into_owned() + &run.stderr;
        match run.ended {
            ChildEnd::Exited(0) => Ok(Usage::parse(&output)),
            ChildEnd::Exited(_) => Err(failed(output)),
            ended => Err(failed(format!("`ptxas` {ended}\n{output}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
ptxas info    : 24 bytes gmem
ptxas info    : Compiling entry function 'step' for 'sm_90'
ptxas info    : Function properties for step
    64 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 96 bytes cumulative stack size, 456 bytes cmem[0]
ptxas info    : Function properties for _ZN3gbx5faultEiNS_4LineExx
    32 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'reset' for 'sm_90'
ptxas info    : Function properties for reset
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 14 registers, 352 bytes cmem[0]
ptxas info    : Compile time = 3.254 ms
";

    #[test]
    fn a_report_names_registers_stack_and_spills_of_each_function() {
        let all = Usage::parse(REPORT);
        let shown: Vec<String> = all.iter().map(Usage::to_string).collect();
        assert_eq!(
            shown,
            [
                "step sm_90: 168 registers, 96 bytes of stack, spills 12 out 8 in",
                "_ZN3gbx5faultEiNS_4LineExx sm_90: 32 bytes of stack, spills 0 out 0 in",
                "reset sm_90: 14 registers, 0 bytes of stack, spills 0 out 0 in",
            ]
        );
        assert_eq!((all[0].stack_bytes, all[1].registers), (64, None));
    }

    #[test]
    fn a_text_that_is_no_report_has_no_functions() {
        assert_eq!(Usage::parse("warning: nothing\n 12 registers"), []);
    }
}
