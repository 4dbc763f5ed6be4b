//! NVIDIA Warp in a child process: `python -m gbxcule.oracle warp`, with the Python that
//! `GBXCULE_PYTHON` names.

use gbxcule_kernel::arbitrary::{Actual, Program};
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

/// A kernel with its arguments: arrays each over a buffer of their own.
pub(crate) struct Launch<'a> {
    /// What the child finds it by: its `kernel`, or its `line`.
    pub(crate) kernel: (&'static str, Value),
    pub(crate) program: &'a Program,
}

/// The bytes of each buffer.
pub(crate) type Memory = Vec<Vec<u8>>;

impl Warp {
    /// A child whose other output goes where `said` says.
    pub(crate) fn start(said: Stdio) -> Self {
        let python = std::env::var("GBXCULE_PYTHON").unwrap_or_else(|_| "python3".into());
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
        let mut child = Command::new(python)
            .args(["-m", "gbxcule.oracle", "warp"])
            .env("PYTHONPATH", sources)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(said)
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
            .map_err(|e| format!("the child is gone: {e}"))?;
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

    /// The answer to a command about launches, and the memory of each after it: a buffer for each
    /// array, or nothing where the launch failed.
    pub(crate) fn run(
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
        let (answer, after) = self.ask(&command, &payload)?;
        let mut rest = after.as_slice();
        let sizes: Vec<usize> =
            serde_json::from_value(answer["sizes"].clone()).map_err(|e| e.to_string())?;
        let memory = launches.iter().zip(sizes).map(|(launch, size)| {
            let (mut mine, others) = rest.split_at(size);
            rest = others;
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

impl Drop for Warp {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
