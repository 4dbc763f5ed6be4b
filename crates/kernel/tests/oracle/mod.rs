//! NVIDIA Warp in a child process: `python -m gbxcule.oracle warp`, with the Python that
//! `GBXCULE_PYTHON` names.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const MAGIC: &[u8; 4] = b"GBX1";

pub(crate) struct Warp {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

/// A kernel of the text with the memory of its arguments.
pub(crate) struct Launch {
    pub(crate) kernel: String,
    pub(crate) dims: Vec<u32>,
    /// The bytes of each argument's array, its shape, and where it begins.
    pub(crate) arrays: Vec<(Vec<u8>, Vec<u32>)>,
}

impl Warp {
    pub(crate) fn start() -> Self {
        let python = std::env::var("GBXCULE_PYTHON").unwrap_or_else(|_| "python3".into());
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
        let mut child = Command::new(python)
            .args(["-m", "gbxcule.oracle", "warp"])
            .env("PYTHONPATH", sources)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a Python with `warp-lang`, named by GBXCULE_PYTHON");
        let input = child.stdin.take().expect("a pipe");
        let output = child.stdout.take().expect("a pipe");
        Self { child, input, output }
    }

    pub(crate) fn ask(
        &mut self,
        header: &Value,
        payload: &[u8],
    ) -> Result<(Value, Vec<u8>), String> {
        let text = header.to_string();
        let mut frame = MAGIC.to_vec();
        frame.extend((text.len() as u32).to_le_bytes());
        frame.extend((payload.len() as u32).to_le_bytes());
        frame.extend(text.as_bytes());
        frame.extend(payload);
        self.input
            .write_all(&frame)
            .and_then(|()| self.input.flush())
            .map_err(|e| e.to_string())?;
        let mut prefix = [0; 12];
        self.output.read_exact(&mut prefix).map_err(|e| format!("the child is gone: {e}"))?;
        assert_eq!(&prefix[..4], MAGIC);
        let size =
            |at: usize| u32::from_le_bytes(prefix[at..at + 4].try_into().expect("4")) as usize;
        let mut read = |count: usize| {
            let mut bytes = vec![0; count];
            self.output.read_exact(&mut bytes).map_err(|e| e.to_string()).map(|()| bytes)
        };
        let (header, payload) = (read(size(4))?, read(size(8))?);
        let header: Value = serde_json::from_slice(&header).map_err(|e| e.to_string())?;
        match header["ok"].as_bool() {
            Some(true) => Ok((header, payload)),
            _ => Err(header["error"].as_str().unwrap_or("no answer").to_string()),
        }
    }

    /// Memory of all arrays of each launch after it.
    pub(crate) fn run(
        &mut self,
        source: &str,
        launches: &[Launch],
    ) -> Result<Vec<Vec<Vec<u8>>>, String> {
        let mut payload = Vec::new();
        let described: Vec<Value> = launches
            .iter()
            .map(|launch| {
                let arguments: Vec<Value> = launch
                    .arrays
                    .iter()
                    .map(|(bytes, shape)| {
                        payload.extend(bytes);
                        json!({"bytes": bytes.len(), "shape": shape})
                    })
                    .collect();
                json!({"kernel": launch.kernel, "dims": launch.dims, "arguments": arguments})
            })
            .collect();
        let header = json!({"command": "run", "source": source, "launches": described});
        let (_, mut after) = self.ask(&header, &payload)?;
        let memory = launches.iter().map(|launch| {
            let arrays = launch.arrays.iter().map(|(bytes, _)| {
                let rest = after.split_off(bytes.len());
                std::mem::replace(&mut after, rest)
            });
            arrays.collect()
        });
        Ok(memory.collect())
    }
}

impl Drop for Warp {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
