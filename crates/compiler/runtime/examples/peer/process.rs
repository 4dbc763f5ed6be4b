//! Runs NVIDIA Warp in a child process with a script of this folder: takes a kernel's name, returns
//! seconds.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

pub(crate) struct Peer {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    child: Child,
}

impl Peer {
    /// Starts the script, if `GBXCULE_PYTHON` names a Python.
    pub(crate) fn find(script: &str, elements: usize) -> Option<Self> {
        let python = std::env::var_os("GBXCULE_PYTHON")?;
        let path = format!("{}/examples/{script}", env!("CARGO_MANIFEST_DIR"));
        let mut child = Command::new(python)
            .args([path, elements.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("GBXCULE_PYTHON is a Python");
        let to = child.stdin.take().expect("piped");
        let from = BufReader::new(child.stdout.take().expect("piped"));
        Some(Self { to, from, child })
    }

    /// Returns the times that the script takes for a request.
    pub(crate) fn run(&mut self, request: &str) -> Vec<Duration> {
        writeln!(self.to, "{request}").expect("the child reads");
        let mut line = String::new();
        while self.from.read_line(&mut line).expect("the child writes") > 0 {
            if let Some(seconds) = line.trim().strip_prefix("seconds ") {
                let seconds = seconds.split(' ').map(|text| text.parse().expect("a number"));
                return seconds.map(Duration::from_secs_f64).collect();
            }
            line.clear();
        }
        panic!("NVIDIA Warp's process ended; does this Python have warp-lang?");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The child may have ended already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
