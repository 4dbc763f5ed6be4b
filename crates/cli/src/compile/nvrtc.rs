//! CUDA text through NVRTC: `--emit ptx` and `--emit cubin`.

use gbxcule_runtime::nvrtc::{Arch, CodeFormat, Nvrtc};

/// Compiles a text with NVRTC.
pub(super) fn compile(
    text: &str,
    name: &str,
    arch: Arch,
    output: CodeFormat,
) -> anyhow::Result<Vec<u8>> {
    let nvrtc = Nvrtc::find()?;
    Ok(nvrtc.compile(text, &format!("{name}.cu"), arch, output)?)
}
