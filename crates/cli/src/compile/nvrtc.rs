//! CUDA text through NVRTC: `--emit ptx` and `--emit cubin`.

use gbxcule_runtime::nvrtc::{Arch, Nvrtc, Output};

/// What NVRTC makes of a text.
pub(super) fn compile(
    text: &str,
    name: &str,
    arch: Arch,
    output: Output,
) -> anyhow::Result<Vec<u8>> {
    let nvrtc = Nvrtc::find()?;
    Ok(nvrtc.compile(text, &format!("{name}.cu"), arch, output)?)
}
