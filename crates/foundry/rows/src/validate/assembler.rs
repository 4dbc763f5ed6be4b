//! The checks by NVIDIA's compilers, which need no GPU: NVRTC compiles CUDA text to machine code,
//! `ptxas` assembles stored PTX. NVRTC works in this process, so it gets only texts that our
//! compiler prints; `ptxas` works in the sandbox.

use super::StoredRow;
use crate::error::SynthError;
use crate::external_column::ptx;
use crate::row::Row;
use crate::verdict::{Check, CheckOutcome, NotRun, Verdict, skipped};
use gbxcule_files::TemporaryFolder;
use gbxcule_runtime::Error;
use gbxcule_runtime::nvrtc::{Arch, Nvrtc};
use gbxcule_runtime::ptxas::{Ptxas, Usage};
use std::path::Path;

/// Architecture for rows whose PTX doesn't name one.
const ARCH: Arch = Arch::new(90);

/// Returns the outcomes if the options don't ask for these checks.
pub(super) fn not_asked() -> [CheckOutcome; 2] {
    ["nvrtc", "ptx"].map(|name| skipped(name, NotRun::NotAsked))
}

/// Assembles each row's CUDA texts and PTX, forward and backward, to machine code. The measured
/// number is the registers of a thread.
pub(super) fn checks(
    rows: &[Row],
    read: &[Option<StoredRow>],
) -> Result<Vec<[CheckOutcome; 2]>, SynthError> {
    let nvrtc = Nvrtc::find().map_err(SynthError::nvrtc)?;
    let ptxas = Ptxas::find(&nvrtc).ok();
    let parent = std::env::temp_dir();
    let folder = TemporaryFolder::inside(&parent).map_err(SynthError::file(&parent))?;
    let file = folder.path().join("row.ptx");
    let both = |reason: NotRun| Ok(["nvrtc", "ptx"].map(|name| skipped(name, reason.clone())));
    rows.iter()
        .zip(read)
        .map(|(row, stored)| match stored {
            None => both(NotRun::Unreadable),
            Some(stored) if (&row.cuda, &row.cuda_backward) != stored.printed_cuda() => {
                both(NotRun::Altered)
            }
            Some(_) => Ok([texts(&nvrtc, row)?, assembled(&nvrtc, ptxas.as_ref(), row, &file)?]),
        })
        .collect()
}

/// Makes a refused text a failed check of the row; any other failure is an error.
fn judged(name: &str, usage: Result<Vec<Usage>, Error>) -> Result<CheckOutcome, SynthError> {
    match usage {
        Ok(usage) => {
            let registers = usage.iter().filter_map(|it| it.registers).max();
            Ok(Ok(Check::new(name, Verdict::Pass, registers.map(f64::from))))
        }
        Err(Error::CudaText { .. } | Error::Ptxas { .. }) => Ok(Ok(Check::failed(name))),
        Err(other) => Err(SynthError::nvrtc(other)),
    }
}

fn texts(nvrtc: &Nvrtc, row: &Row) -> Result<CheckOutcome, SynthError> {
    let both: Vec<&String> = row.cuda.iter().chain(&row.cuda_backward).collect();
    if both.is_empty() {
        return Ok(skipped("nvrtc", NotRun::NoText));
    }
    let measured = both.iter().map(|text| Ok(nvrtc.measure(text, "row.cu", ARCH)?.1));
    judged("nvrtc", measured.collect::<Result<Vec<_>, _>>().map(|all| all.concat()))
}

/// Checks PTX: if this NVRTC made it, NVRTC must make the same again; PTX of another version must
/// only assemble.
fn assembled(
    nvrtc: &Nvrtc,
    ptxas: Option<&Ptxas>,
    row: &Row,
    file: &Path,
) -> Result<CheckOutcome, SynthError> {
    let both: Vec<_> =
        [(&row.cuda, &row.ptx), (&row.cuda_backward, &row.ptx_backward)].into_iter().collect();
    if both.iter().all(|(_, ptx)| ptx.is_none()) {
        return Ok(skipped("ptx", NotRun::NothingStored));
    }
    let Some(ptxas) = ptxas else { return Ok(skipped("ptx", NotRun::NoAssembler)) };
    let mut usage = Vec::new();
    for (text, stored) in both {
        let (Some(text), Some(stored)) = (text, stored) else {
            // Either both texts have PTX, or a column was lost.
            if text.is_some() != stored.is_some() {
                return Ok(Ok(Check::failed("ptx")));
            }
            continue;
        };
        let arch = target(stored).unwrap_or(ARCH);
        match ptx(nvrtc, arch, text) {
            Ok(made) if tools(&made) != tools(stored) || made == *stored => {}
            Ok(_) => return Ok(Ok(Check::failed("ptx"))),
            Err(error) => return judged("ptx", Err(error)),
        }
        gbxcule_files::write_scratch(file, stored.as_bytes()).map_err(SynthError::file(file))?;
        match ptxas.measure(file, arch) {
            Ok(found) => usage.extend(found),
            Err(error) => return judged("ptx", Err(error)),
        }
    }
    judged("ptx", Ok(usage))
}

/// Returns the architecture that PTX names.
fn target(ptx: &str) -> Option<Arch> {
    ptx.lines()
        .find_map(|line| line.strip_prefix(".target "))?
        .split(',')
        .next()?
        .trim()
        .parse()
        .ok()
}

/// Returns the line in which NVIDIA's compilers name their version.
fn tools(ptx: &str) -> Option<&str> {
    ptx.lines().find(|line| line.starts_with("// Cuda compilation tools"))
}
