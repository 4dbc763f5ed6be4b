//! NVIDIA Warp in a child process: `python -m gbxcule.oracle warp`, with the Python that
//! `GBXCULE_PYTHON` names.

use crate::arbitrary::{Actual, RandomProgram};
use gbxcule_oracle::{Answer, OracleError, Python, RestartingOracle};
use serde_json::{Value, json};
use std::time::Duration;

/// The time limit of one question. The child ends its own commands after 300 s.
const LIMIT: Duration = Duration::from_secs(330);

/// An oracle that is started again after a question ended it.
pub struct Warp(RestartingOracle);

/// A kernel with its arguments; each array has its own buffer.
pub struct Launch<'a> {
    /// Key by which the child finds the kernel: its `kernel` or its `line`.
    pub kernel: (&'static str, Value),
    /// The kernel and its arguments.
    pub program: &'a RandomProgram,
}

/// The bytes of each buffer.
pub type Memory = Vec<Vec<u8>>;

impl Warp {
    /// Returns an oracle that starts its child at the first question.
    pub fn find() -> Self {
        Self(RestartingOracle::new("warp", Python::find()))
    }

    /// Sends one command to the child and waits for its answer.
    pub fn ask(&mut self, header: &Value, payload: &[u8]) -> Result<Answer, String> {
        let said = |error: OracleError| match error {
            OracleError::Refused { message, .. } => message,
            other => other.to_string(),
        };
        self.0.call(header, payload, LIMIT).map_err(said)
    }

    /// Returns the answer to a command about launches, and the memory after each launch: a buffer
    /// for each array, or no buffer if the launch failed.
    pub fn run(
        &mut self,
        mut command: Value,
        launches: &[Launch<'_>],
    ) -> Result<(Value, Vec<Memory>), String> {
        let mut payload = Vec::new();
        let described: Vec<Value> = launches
            .iter()
            .map(|launch| {
                let Launch { kernel: (key, name), program } = launch;
                let arguments = program.args.iter().map(|actual| {
                    let (bytes, shape) = match actual {
                        Actual::Bytes(bytes) => (bytes, &[][..]),
                        Actual::Array { buffer, shape, .. } => {
                            (&program.buffers[*buffer], shape.as_slice())
                        }
                    };
                    payload.extend(bytes);
                    json!({"bytes": bytes.len(), "shape": shape})
                });
                let arguments: Vec<Value> = arguments.collect();
                json!({*key: name, "dims": program.dims, "arguments": arguments})
            })
            .collect();
        command["launches"] = described.into();
        let Answer { header: answer, payload: after } = self.ask(&command, &payload)?;
        let mut remaining = after.as_slice();
        let sizes: Vec<usize> =
            serde_json::from_value(answer["sizes"].clone()).map_err(|e| e.to_string())?;
        let memory = launches.iter().zip(sizes).map(|(launch, size)| {
            let (mut mine, others) = remaining.split_at(size);
            remaining = others;
            let buffers = launch.program.buffers.iter().take_while(|_| size > 0).map(|buffer| {
                let (bytes, more) = mine.split_at(buffer.len());
                mine = more;
                bytes.to_vec()
            });
            buffers.collect()
        });
        let memory = memory.collect();
        Ok((answer, memory))
    }
}
