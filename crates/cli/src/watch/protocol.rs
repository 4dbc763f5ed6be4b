//! What browser and swarm send each other over the WebSocket `/socket`.
//!
//! The server speaks first, with `hello`:
//! ```json
//! {"type":"hello", "mode":"watch", "rom":"PEARL_DRIFT", "num_envs":64, "device":"cpu", "frames_per_step":24,
//!  "release_after_frames":8, "codec":"full_v1", "actions":"random", "seed":0, "version":"0.1.0"}
//! ```
//! The browser sends texts, each one JSON object:
//!
//! | `type` | fields | what happens |
//! |---|---|---|
//! | `look` | `first`, `count`, `shrink` 1 2 4 8, `chosen` or null | one view is sent, as soon as there is one that differs from the last |
//! | `run`, `pause` | | |
//! | `step` | | to the end of the step, then pause |
//! | `speed` | `times` | so many times the speed of a real machine; 0 as fast as it goes |
//! | `reset` | | all machines to their start |
//! | `hold` | `env`, `buttons` | these joypad bits are pressed from now on, instead of the actions |
//! | `let_go` | | the env that this browser holds is driven by actions again |
//!
//! A view is a binary message: the length of a JSON text as u32, little endian; the text; then the pictures of `count`
//! machines from `first` on, each (160 / shrink) x (144 / shrink) pixels of 2 bits, leftmost in the top bits; then, if
//! one is chosen, its whole picture.
//! ```json
//! {"step":12, "frame":0, "running":true, "speed":0, "frames_per_s":412000.0, "first":0, "count":64, "shrink":1,
//!  "done": [3, 17],
//!  "chosen": {"env":5, "frames":288, "reward":0.25, "episode_return":4.5, "done":false, "observation":[0.5, 0.25],
//!             "obs_dim":2, "action":"LEFT", "buttons":2, "held":false,
//!             "registers":{"a":1,"f":176,"b":0,"c":19,"d":0,"e":216,"h":1,"l":77,"sp":65534,"pc":256},
//!             "memory":[0]}}
//! ```
//! `done` names those of the `count` machines whose episode is over. `memory` is C000 to C01F, `observation` the first 32
//! numbers of `obs_dim`; what the stage or the programs do not have is null. `look` is also the browser's credit: it is owed
//! at most one view, so that a slow one falls behind nobody but itself. Whatever is malformed is answered with
//! `{"type":"refused", "message":"..."}` and changes nothing.

use gbxcule_swarm::FRAME_BYTES;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::driver::{Closely, Driver};
use crate::watch::tile::Shrink;

/// No view is larger than this many bytes of pictures; a browser that asks for more gets fewer machines.
const MOST_PICTURE_BYTES: usize = 8 << 20;

/// Faster than this is asked for with 0.
const FASTEST_TIMES: f64 = 1000.0;

/// Which face the page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A swarm.
    Watch,
    /// One machine with its buttons.
    Play,
}

/// What a browser may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Request {
    Look(Look),
    Run,
    Pause,
    Step,
    Speed { times: f64 },
    Reset,
    Hold { env: usize, buttons: u8 },
    LetGo,
}

/// Which machines a browser shows, and how small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Look {
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) shrink: Shrink,
    #[serde(default)]
    pub(crate) chosen: Option<usize>,
}

impl Look {
    /// As much of it as there is.
    pub(crate) fn clipped(self, num_envs: usize) -> Self {
        let first = self.first.min(num_envs);
        let most = MOST_PICTURE_BYTES / self.shrink.tile_bytes();
        let count = self.count.min(num_envs - first).min(most);
        Self { first, count, chosen: self.chosen.filter(|env| *env < num_envs), ..self }
    }
}

/// Understand a text from the browser, or say what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Request, String> {
    let request = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if let Request::Speed { times } = request {
        check_speed(times)?;
    }
    Ok(request)
}

pub(crate) fn check_speed(times: f64) -> Result<(), String> {
    if (0.0..=FASTEST_TIMES).contains(&times) {
        Ok(())
    } else {
        Err(format!("speed {times} is not between 0 (as fast as it goes) and {FASTEST_TIMES}"))
    }
}

/// The first message on a connection.
pub(crate) fn hello(rom: &str, driver: &Driver, mode: Mode) -> String {
    let drive = driver.drive();
    let hello = json!({
        "type": "hello",
        "mode": if mode == Mode::Play { "play" } else { "watch" },
        "rom": rom,
        "num_envs": driver.num_envs(),
        "device": driver.device().to_string(),
        "frames_per_step": drive.schedule.frames_per_step(),
        "release_after_frames": drive.schedule.release_after_frames(),
        "codec": drive.codec.name,
        "actions": drive.action_gen.to_string(),
        "seed": drive.seed,
        "version": env!("CARGO_PKG_VERSION"),
    });
    hello.to_string()
}

/// The answer to something malformed.
pub(crate) fn refusal(message: &str) -> String {
    json!({ "type": "refused", "message": message }).to_string()
}

/// How the swarm is doing, as every view says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Status {
    pub(crate) step: u64,
    pub(crate) frame: u32,
    pub(crate) running: bool,
    pub(crate) speed: f64,
    pub(crate) frames_per_s: f64,
}

/// A view up to its pictures, with room for them.
pub(crate) fn view_head(
    status: Status,
    look: Look,
    done: &[usize],
    chosen: Option<&Closely>,
) -> Vec<u8> {
    let head = json!({
        "step": status.step,
        "frame": status.frame,
        "running": status.running,
        "speed": status.speed,
        "frames_per_s": status.frames_per_s,
        "first": look.first,
        "count": look.count,
        "shrink": look.shrink.divisor(),
        "done": done,
        "chosen": look.chosen.zip(chosen).map(|(env, closely)| chosen_head(env, closely)),
    })
    .to_string();
    let pictures = look.count * look.shrink.tile_bytes() + FRAME_BYTES;
    let mut bytes = Vec::with_capacity(4 + head.len() + pictures);
    // The text has a few hundred bytes.
    bytes.extend((head.len() as u32).to_le_bytes());
    bytes.extend(head.as_bytes());
    bytes
}

fn chosen_head(env: usize, closely: &Closely) -> Value {
    let cpu = closely.cpu;
    json!({
        "env": env,
        "frames": closely.frames,
        "reward": closely.reward,
        "episode_return": closely.episode_return,
        "done": closely.is_done,
        "observation": closely.observation.as_ref().map(|(numbers, _)| numbers),
        "obs_dim": closely.observation.as_ref().map(|(_, of)| of),
        "action": closely.action,
        "buttons": closely.buttons,
        "held": closely.held,
        "registers": {
            "a": cpu.a, "f": cpu.f, "b": cpu.b, "c": cpu.c, "d": cpu.d, "e": cpu.e, "h": cpu.h, "l": cpu.l,
            "sp": cpu.sp, "pc": cpu.pc,
        },
        "memory": closely.memory,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_understood() {
        let look = r#"{"type":"look","first":2,"count":3,"shrink":4,"chosen":null}"#;
        let shrink = Shrink::try_from(4).expect("4 is one");
        let expected = [
            (look, Request::Look(Look { first: 2, count: 3, shrink, chosen: None })),
            (r#"{"type":"run"}"#, Request::Run),
            (r#"{"type":"pause"}"#, Request::Pause),
            (r#"{"type":"step"}"#, Request::Step),
            (r#"{"type":"speed","times":0.5}"#, Request::Speed { times: 0.5 }),
            (r#"{"type":"reset"}"#, Request::Reset),
            (r#"{"type":"hold","env":1,"buttons":255}"#, Request::Hold { env: 1, buttons: 255 }),
            (r#"{"type":"let_go"}"#, Request::LetGo),
        ];
        for (text, request) in expected {
            assert_eq!(parse(text), Ok(request), "{text}");
        }
    }

    #[test]
    fn what_is_malformed_is_refused_with_its_reason() {
        let cases = [
            ("", "EOF"),
            ("{}", "type"),
            ("[1,2]", "expected"),
            (r#"{"type":"fly"}"#, "fly"),
            (r#"{"type":"look","first":-1,"count":1,"shrink":1}"#, "-1"),
            (r#"{"type":"look","first":0,"count":1,"shrink":3}"#, "shrink"),
            (r#"{"type":"hold","env":0,"buttons":256}"#, "256"),
            (r#"{"type":"speed","times":-1}"#, "between 0"),
            (r#"{"type":"speed","times":1e300}"#, "between 0"),
            (r#"{"type":"speed"}"#, "times"),
        ];
        for (text, reason) in cases {
            let refused = parse(text).expect_err(text);
            assert!(refused.contains(reason), "{text}: {refused}");
        }
    }

    #[test]
    fn a_look_is_clipped_to_the_machines_there_are_and_to_a_size() {
        let shrink = Shrink::try_from(1).expect("1 is one");
        let look = Look { first: 60, count: usize::MAX, shrink, chosen: Some(64) };
        assert_eq!(look.clipped(64), Look { first: 60, count: 4, shrink, chosen: None });
        let look = Look { first: usize::MAX, count: 1, shrink, chosen: Some(63) };
        assert_eq!(look.clipped(64), Look { first: 64, count: 0, shrink, chosen: Some(63) });
        let look = Look { first: 0, count: 1 << 20, shrink, chosen: None };
        assert_eq!(look.clipped(1 << 20).count, MOST_PICTURE_BYTES / FRAME_BYTES);
    }
}
