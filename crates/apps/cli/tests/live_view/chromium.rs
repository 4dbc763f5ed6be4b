//! Headless Chromium, driven over its DevTools protocol, with a fresh profile, which ends with the
//! test.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::serving::wait_until;

/// Flags without a sandbox, because CI runs as root; the others stop requests to other computers.
const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
];

const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

pub(crate) struct Chromium {
    child: Child,
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    last_id: u64,
    /// Errors that scripts of the page threw.
    pub(crate) thrown: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Chromium {
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        let mut child = spawn(profile.path());
        let stderr = BufReader::new(child.stderr.take().expect("it was piped"));
        let mut lines = Vec::new();
        let url = stderr.lines().map_while(Result::ok).find_map(|line| {
            let url = line.strip_prefix("DevTools listening on ").map(str::to_owned);
            lines.push(line);
            url
        });
        let url = url.unwrap_or_else(|| panic!("Chromium did not start:\n{}", lines.join("\n")));
        let address = url.trim_start_matches("ws://").split('/').next().unwrap_or_default();
        let stream = TcpStream::connect(address).expect("it listens");
        let (socket, _) = tungstenite::client(&url, stream).expect("a handshake");
        let mut browser = Self {
            child,
            socket,
            session: None,
            last_id: 0,
            thrown: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        browser.call("Runtime.enable", &json!({}));
        browser.call("Page.enable", &json!({}));
        browser
    }

    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last_id += 1;
        let mut request = json!({ "id": self.last_id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(request.to_string())).expect("it listens");
        loop {
            let Message::Text(text) = self.socket.read().expect("an answer") else { continue };
            let mut message: Value = serde_json::from_str(&text).expect("JSON");
            if message["method"] == "Runtime.exceptionThrown" {
                self.thrown.push(message["params"]["exceptionDetails"].to_string());
            }
            if message["id"] == self.last_id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
        }
    }

    /// Shows a page in a window of a size, with a colour scheme.
    pub(crate) fn open(&mut self, url: &str, window: Window) {
        self.set_window(window);
        self.call("Page.navigate", &json!({ "url": url }));
        let is_loaded = format!("location.href === '{url}' && document.readyState === 'complete'");
        wait_until("the page is loaded", || self.holds(&is_loaded));
    }

    pub(crate) fn set_window(&mut self, window: Window) {
        let Window { width, height, ratio, dark } = window;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": ratio, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Returns the value of an expression, after a wait if it is a promise.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let result = self.call("Runtime.evaluate", &parameters);
        assert!(
            result["exceptionDetails"].is_null(),
            "{expression}: {}",
            result["exceptionDetails"]
        );
        result["result"]["value"].clone()
    }

    pub(crate) fn holds(&mut self, expression: &str) -> bool {
        self.evaluate(&format!("!!({expression})")) == true
    }

    pub(crate) fn click(&mut self, x: f64, y: f64) {
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Clicks into the middle of an element.
    pub(crate) fn click_on(&mut self, id: &str) {
        let middle = format!(
            "(() => {{ const box = document.getElementById('{id}').getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        let middle = self.evaluate(&middle);
        let at = |index: usize| middle[index].as_f64().expect("a number");
        self.click(at(0), at(1));
    }

    pub(crate) fn key(&mut self, key: &str, down: bool) {
        let kind = if down { "keyDown" } else { "keyUp" };
        self.call("Input.dispatchKeyEvent", &json!({ "type": kind, "key": key, "code": key }));
    }

    pub(crate) fn press(&mut self, key: &str) {
        self.key(key, true);
        self.key(key, false);
    }

    pub(crate) fn screenshot(&mut self, path: &Path) {
        let shot = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        let bytes = from_base64(shot["data"].as_str().expect("a text"));
        assert!(bytes.starts_with(b"\x89PNG"));
        std::fs::write(path, bytes).expect("a folder");
    }
}

/// A window of the browser that shows the page.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) ratio: f64,
    pub(crate) dark: bool,
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // The browser must not outlive its test.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(profile: &Path) -> Child {
    let given = std::env::var("GBXCULE_CHROMIUM").ok();
    let programs: Vec<_> = given.iter().map(String::as_str).chain(PROGRAMS).collect();
    for program in &programs {
        let mut command = Command::new(program);
        command.args(FLAGS).arg(format!("--user-data-dir={}", profile.display()));
        if let Ok(child) = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn() {
            return child;
        }
    }
    panic!("no Chromium found as {}; install it or set GBXCULE_CHROMIUM", programs.join(", "));
}

fn from_base64(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for four in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = four.iter().fold(0_u32, |bits, letter| bits << 6 | u32::from(value(*letter)));
        let bits = bits << (6 * (4 - four.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    bytes
}
