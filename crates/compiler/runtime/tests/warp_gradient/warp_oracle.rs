//! Backward launches in NVIDIA Warp: each runs forward on a tape, then back.

use gbxcule_testkit::arbitrary::{Actual, RandomProgram};
use gbxcule_testkit::warp::Warp;
use serde_json::{Value, json};

/// A kernel, by `kernel` or `line`, with the memory before its launch and the gradients of the
/// memory after it.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) kernel: (&'static str, Value),
    pub(crate) program: RandomProgram,
    pub(crate) gradients: Vec<Vec<u8>>,
}

/// The gradients after a launch, by buffer, or the reason of a refusal.
pub(crate) type Answer = Result<Vec<Vec<u8>>, String>;

/// A child process of Warp that answers questions about launches.
pub(crate) struct Oracle {
    warp: Warp,
}

impl Oracle {
    pub(crate) fn new() -> Self {
        Self { warp: Warp::find() }
    }

    /// Returns the facts that Warp reports about itself.
    pub(crate) fn hello(&mut self) -> Value {
        self.warp.ask(&json!({"command": "hello"}), &[]).expect("the child answers").header
    }

    /// Runs all launches of one text or file. If the child dies, runs each alone.
    pub(crate) fn ask(&mut self, command: &Value, launches: &[Launch]) -> Vec<Answer> {
        let mut payload = Vec::new();
        let described: Vec<Value> =
            launches.iter().map(|launch| describe(launch, &mut payload)).collect();
        let mut header = command.clone();
        header["launches"] = described.into();
        match self.warp.ask(&header, &payload) {
            Ok(gbxcule_oracle::Answer { header: answer, payload: mut after }) => {
                let errors = answer["errors"].as_array().cloned().unwrap_or_default();
                let answers = launches.iter().zip(errors).map(|(launch, error)| {
                    if let Some(error) = error.as_str().filter(|error| !error.is_empty()) {
                        return Err(error.to_string());
                    }
                    let gradients = launch.program.buffers.iter().map(|buffer| {
                        let rest = after.split_off(buffer.len());
                        std::mem::replace(&mut after, rest)
                    });
                    Ok(gradients.collect())
                });
                answers.collect()
            }
            Err(error) => match launches {
                [_] => vec![Err(error)],
                _ => launches.chunks(1).flat_map(|one| self.ask(command, one)).collect(),
            },
        }
    }
}

fn describe(launch: &Launch, payload: &mut Vec<u8>) -> Value {
    let Launch { kernel: (key, name), program, gradients } = launch;
    let arguments = program.args.iter().map(|actual| match actual {
        Actual::Bytes(bytes) => {
            payload.extend(bytes);
            json!({"bytes": bytes.len()})
        }
        Actual::Array { buffer, shape, .. } => {
            payload.extend(&program.buffers[*buffer]);
            payload.extend(&gradients[*buffer]);
            json!({"bytes": program.buffers[*buffer].len(), "shape": shape})
        }
    });
    let arguments: Vec<Value> = arguments.collect();
    json!({*key: name, "dims": program.dims, "arguments": arguments})
}
