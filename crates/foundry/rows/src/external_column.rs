//! Columns that other programs make on request: PTX by NVRTC, text by NVIDIA Warp.
//!
//! Such rows depend on the tools as well as on the seed, so the manifest and the card name the
//! tools' versions, and a run continues only with the same versions.

use crate::batch::Manifest;
use crate::error::SynthError;
use crate::row::Row;
use crate::verdict::Check;
use crate::warp_text::WarpText;
use gbxcule_oracle::Python;
use gbxcule_runtime::Error;
use gbxcule_runtime::nvrtc::{Arch, CodeFormat, Nvrtc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write as _;

/// The tools of a run.
#[derive(Default)]
pub struct Tools {
    nvrtc: Option<(Nvrtc, Arch)>,
    warp: Option<WarpText>,
}

/// Architecture and compiler of PTX.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ptx {
    /// Oldest architecture that the PTX supports.
    pub arch: String,
    /// Version of NVRTC.
    pub nvrtc: String,
}

impl Tools {
    /// Finds the tools that the options ask for.
    pub fn find(ptx: Option<Arch>, warp: Option<&Python>) -> Result<Self, SynthError> {
        let for_arch = |arch| Ok((Nvrtc::find()?, arch));
        let nvrtc = ptx.map(for_arch).transpose().map_err(SynthError::nvrtc)?;
        Ok(Self { nvrtc, warp: warp.map(WarpText::find).transpose()? })
    }

    /// Returns the version of NVRTC, as the manifest records it.
    pub(crate) fn ptx(&self) -> Option<Ptx> {
        let (nvrtc, arch) = self.nvrtc.as_ref()?;
        let (major, minor) = nvrtc.version();
        Some(Ptx { arch: arch.to_string(), nvrtc: format!("{major}.{minor}") })
    }

    /// Returns the version of NVIDIA Warp, as the manifest records it.
    pub(crate) fn warp(&self) -> Option<Value> {
        self.warp.as_ref().map(|warp| warp.origin().clone())
    }

    /// Adds the columns that a tool makes for many rows in one call.
    pub(crate) fn finish_block(&self, rows: &mut [Row]) -> Result<(), SynthError> {
        self.warp.as_ref().map_or(Ok(()), |warp| warp.finish(rows))
    }

    /// Adds the columns that a tool makes for a single row.
    pub(crate) fn finish(&self, row: &mut Row) -> Result<(), SynthError> {
        let Some((nvrtc, arch)) = &self.nvrtc else { return Ok(()) };
        let make = |text: &Option<String>| -> Result<Option<String>, Error> {
            text.as_deref().map(|text| ptx(nvrtc, *arch, text)).transpose()
        };
        match make(&row.cuda).and_then(|forward| Ok((forward, make(&row.cuda_backward)?))) {
            Ok((forward, backward)) => {
                (row.ptx, row.ptx_backward) = (forward, backward);
                row.add_check(Check::passed("nvrtc"));
                Ok(())
            }
            Err(Error::CudaText { .. }) => {
                row.add_check(Check::failed("nvrtc"));
                Ok(())
            }
            Err(other) => Err(SynthError::nvrtc(other)),
        }
    }
}

impl Manifest {
    /// Returns the options that ask for the dataset's tools.
    pub(crate) fn tool_options(&self) -> String {
        let ptx = self.ptx.as_ref().map(|ptx| format!(" --ptx --arch {}", ptx.arch));
        ptx.unwrap_or_default() + if self.warp.is_some() { " --warp-text" } else { "" }
    }

    /// Returns the licences of the rows, as front matter names them: ours, and the licence of
    /// NVIDIA Warp's text.
    pub(crate) fn licences(&self) -> &'static str {
        if self.warp.is_some() { "\n- mit\n- apache-2.0" } else { " mit" }
    }

    /// Returns a paragraph of the card for each tool.
    pub(crate) fn credits(&self) -> String {
        let mut text = String::new();
        if let Some(ptx) = &self.ptx {
            _ = writeln!(
                text,
                "`ptx` and `ptx_backward` are for `{}`, made by NVRTC {}.\n",
                ptx.arch, ptx.nvrtc
            );
        }
        if let Some(warp) = &self.warp {
            let fact = |name: &str| warp[name].as_str().unwrap_or("unknown").to_owned();
            _ = writeln!(
                text,
                "`warp_cpp` and `warp_cuda` are what NVIDIA Warp {} writes for the same source, forward and backward ({}; \
                 SHA-256 of its files' record `{}`, installed by {}). Those two columns \
                 are under Warp's own licence, Apache-2.0; all others are under the MIT licence.\n",
                fact("version"),
                fact("wheel"),
                fact("record_sha256"),
                fact("installer")
            );
        }
        text
    }
}

/// Compiles a CUDA text to PTX.
pub(crate) fn ptx(nvrtc: &Nvrtc, arch: Arch, text: &str) -> Result<String, Error> {
    let bytes = nvrtc.compile(text, "row.cu", arch, CodeFormat::Ptx)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned())
}
