//! `gbxcule doctor`.

use clap::Args;
use gbxcule_lab::doctor::inventory;

use crate::print::say;

/// List the tools of this machine, the missing ones, and the command that installs each
///
/// The command installs and changes nothing. Only the CPU part is needed.
#[derive(Args)]
pub(crate) struct Doctor {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let findings = inventory();
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
