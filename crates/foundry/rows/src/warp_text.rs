//! The C++ and CUDA text that NVIDIA Warp writes for a row's kernel, forward and backward. The
//! installed package writes it in a child process, without a GPU or a C++ compiler.

use crate::error::SynthError;
use crate::row::Row;
use crate::verdict::{Check, Verdict};
use crate::warp::ANSWER_LIMIT;
use gbxcule_oracle::{OracleError, Python, RestartingOracle};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Number of rows in one question to Warp; a row takes at most some tens of milliseconds.
const ROWS: usize = 50;

/// NVIDIA Warp, as a writer of texts.
pub(crate) struct WarpText {
    oracle: Mutex<RestartingOracle>,
    origin: Value,
}

impl WarpText {
    /// Starts Warp and reads its version.
    pub(crate) fn find(python: &Python) -> Result<Self, SynthError> {
        Self::started(RestartingOracle::new("warp", python.clone()))
    }

    /// Starts Warp in the sandbox, for foreign sources.
    pub(crate) fn confined(python: &Python, folder: &Path) -> Result<Self, SynthError> {
        Self::started(RestartingOracle::confined("warp", python.clone(), folder))
    }

    fn started(mut oracle: RestartingOracle) -> Result<Self, SynthError> {
        let (origin, _) = texts_of(&mut oracle, &[])?;
        Ok(Self { oracle: Mutex::new(oracle), origin })
    }

    /// Returns Warp's version and the wheel that it came in.
    pub(crate) fn origin(&self) -> &Value {
        &self.origin
    }

    /// Adds the texts to rows, and the check `warp_text`: it passed, or Warp refused the row for a
    /// reason.
    pub(crate) fn finish(&self, rows: &mut [Row]) -> Result<(), SynthError> {
        let mut oracle = self.oracle.lock().unwrap_or_else(PoisonError::into_inner);
        for rows in rows.chunks_mut(ROWS) {
            let sources: Vec<&str> = rows.iter().map(|row| row.source.as_str()).collect();
            let (_, texts) = texts_of(&mut oracle, &sources)?;
            for (row, text) in rows.iter_mut().zip(texts) {
                let get = |name: &str| text[name].as_str().map(str::to_owned);
                (row.warp_cpp, row.warp_cuda) = (get("cpp"), get("cuda"));
                row.warp_origin_json = Some(self.origin.to_string());
                let verdict = get("error").map_or(Verdict::Pass, Verdict::Refused);
                row.add_check(Check::new("warp_text", verdict, None));
            }
        }
        Ok(())
    }
}

/// Asks Warp for the texts of sources; returns Warp's origin, then the texts.
fn texts_of(
    oracle: &mut RestartingOracle,
    sources: &[&str],
) -> Result<(Value, Vec<Value>), SynthError> {
    let answer =
        oracle.call(&json!({"command": "texts", "sources": sources}), b"", ANSWER_LIMIT)?;
    let texts: Vec<Value> = serde_json::from_slice(&answer.payload).unwrap_or_default();
    if texts.len() != sources.len() {
        let message = format!("{} texts for {} sources", texts.len(), sources.len());
        return Err(OracleError::Refused {
            oracle: "warp".into(),
            command: "texts".into(),
            message,
        }
        .into());
    }
    Ok((answer.header["origin"].clone(), texts))
}
