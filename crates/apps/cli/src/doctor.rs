//! `gbxcule doctor`.

use clap::Args;
use gbxcule_gpu_check::compiler::nvdisasm as find_nvdisasm;
use gbxcule_lab::doctor::{Finding, inventory};

use crate::print::say;

/// List the tools that this computer has, and for each missing tool the command that installs it
///
/// `doctor` itself installs and changes nothing. Everything but the section `CPU` is optional.
#[derive(Args)]
pub(crate) struct Doctor {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let mut findings = inventory();
        findings.push(nvdisasm());
        if self.json {
            let rows: Vec<_> = findings
                .iter()
                .map(|finding| {
                    serde_json::json!({
                        "subject": finding.subject,
                        "found": finding.found,
                        "what": finding.what,
                        "remedy": finding.remedy,
                    })
                })
                .collect();
            say!("{:#}", serde_json::Value::from(rows));
            return Ok(true);
        }
        for finding in findings {
            let mark = if finding.found { "ok" } else { "--" };
            say!("{mark}  {:18} {}", finding.subject, finding.what);
            if let Some(remedy) = finding.remedy {
                say!("    {:18} to install it: {remedy}", "");
            }
        }
        Ok(true)
    }
}

/// Describes NVIDIA's disassembler.
fn nvdisasm() -> Finding {
    let path = find_nvdisasm();
    let what = match &path {
        Ok(path) => path.display().to_string(),
        Err(_) => {
            "needed beside NVRTC for `check`, and for answers in CUDA of `synth grade`".into()
        }
    };
    let remedy = "pip install nvidia-cuda-nvrtc nvidia-cuda-nvdisasm nvidia-cuda-runtime";
    let remedy = path.is_err().then_some(remedy);
    Finding { subject: "nvdisasm", found: path.is_ok(), what, remedy }
}
