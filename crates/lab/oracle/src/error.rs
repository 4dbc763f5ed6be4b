//! Errors of a call of an oracle.

use std::time::Duration;

/// Error of an oracle, with advice on how to fix it.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum OracleError {
    #[error(transparent)]
    Sandbox(#[from] gbxcule_sandbox::SandboxError),
    #[error(
        "cannot start `{program}`: {source}; `make .venv/oracle.txt` sets up the Python that the references need"
    )]
    Start { program: String, source: std::io::Error },
    #[error("the {oracle} process ended during `{command}` ({status}){}", stderr_suffix(stderr))]
    Died { oracle: String, command: String, status: String, stderr: String },
    #[error("the {oracle} process gave no answer to `{command}` within {} s and was ended{}", limit.as_secs_f32(),
            stderr_suffix(stderr))]
    Hung { oracle: String, command: String, limit: Duration, stderr: String },
    #[error(
        "the {oracle} process answered `{command}` with something else than a frame: {found}{}",
        stderr_suffix(stderr)
    )]
    Rubbish { oracle: String, command: String, found: String, stderr: String },
    #[error(
        "the {oracle} process speaks protocol {found}, this program protocol {expected}: the Python package `gbxcule` \
         and this program are of different versions; install both from one checkout"
    )]
    OtherProtocol { oracle: String, found: String, expected: u64 },
    #[error("the {oracle} process refused `{command}`: {message}")]
    Refused { oracle: String, command: String, message: String },
}

fn stderr_suffix(stderr: &str) -> String {
    let stderr = stderr.trim();
    if stderr.is_empty() { String::new() } else { format!("; its stderr:\n{stderr}") }
}
