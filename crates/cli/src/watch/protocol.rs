//! Messages between the browser and the swarm over the WebSocket `/socket`.
//!
//! The server speaks first, with `hello`; where others than this computer can connect, the address
//! is `/socket?token=...` with the page's token:
//! ```json
//! {"type":"hello", "mode":"watch", "rom":"PEARL_DRIFT", "num_envs":64, "device":"cpu",
//!  "frames_per_step":24, "release_after_frames":8, "codec":"full_v1", "actions":"random",
//!  "seed":0, "sound":false, "version":"0.1.0"}
//! ```
//! The browser sends texts, each one JSON object:
//!
//! | `type` | fields | what happens |
//! |---|---|---|
//! | `look` | `first`, `count`, `shrink` 1 2 4 8, `chosen` or null, `sound` | sends the next view |
//! | `run`, `pause` | | |
//! | `step` | | to the end of the step, then pause |
//! | `speed` | `times` | so many times the speed of a real machine; 0 as fast as it goes |
//! | `reset` | | all machines to their start |
//! | `hold` | `env`, `buttons` | these joypad bits are pressed instead of the actions |
//! | `let_go` | | the env that this browser holds is driven by actions again |
//! | `save` | `env` | the next view brings the env's state along |
//!
//! A view is a binary message: the length of a JSON text as u32, little endian; the text; then the
//! pictures of `count` machines from `first` on, each (160 / shrink) x (144 / shrink) pixels of 2
//! bits, leftmost in the top bits; then, if one is chosen, its whole picture; then `sound` samples
//! of machine 0 since the viewer's last view, left and right as i16, little endian; then a state
//! that was asked for, `state_bytes` of it.
//! ```json
//! {"step":12, "frame":0, "running":true, "speed":0, "frames_per_s":412000.0, "first":0,
//!  "count":64, "shrink":1, "sound":0, "done": [3, 17], "state_bytes": 0,
//!  "chosen": {"env":5, "frames":288, "reward":0.25, "episode_return":4.5, "done":false,
//!             "observation":[0.5, 0.25], "obs_dim":2, "action":"LEFT", "buttons":2, "held":false,
//!             "registers":{"a":1,"f":176,"b":0,"c":19,"d":0,"e":216,"h":1,"l":77,"sp":65534,
//!                          "pc":256},
//!             "memory":[0]}}
//! ```
//! `done` names those of the `count` machines whose episode is over. `memory` is C000 to C01F,
//! `observation` the first 32 numbers of `obs_dim`; what the stage or the programs do not have is
//! null. `look` is also the browser's credit: it is owed at most one view, so that a slow one falls
//! behind without delaying others. Requests are taken in turns, one of each viewer. A malformed
//! request is answered with `{"type":"refused", "message":"..."}` and changes nothing.

use gbxcule_swarm::FRAME_BYTES;
use serde_json::{Value, json};

use crate::driver::{Driver, EnvDetails};
use crate::watch::request::Look;

/// Layout of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A swarm.
    Watch,
    /// One machine with its buttons.
    Play,
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
        "sound": drive.sound,
        "version": env!("CARGO_PKG_VERSION"),
    });
    hello.to_string()
}

/// The answer to something malformed.
pub(crate) fn refusal(message: &str) -> String {
    json!({ "type": "refused", "message": message }).to_string()
}

/// State of the swarm, as every view reports it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Status {
    pub(crate) step: u64,
    pub(crate) frame: u32,
    pub(crate) running: bool,
    pub(crate) speed: f64,
    pub(crate) frames_per_s: f64,
}

/// A view up to its pictures, with room for them and for so many samples.
pub(crate) fn view_head(
    status: Status,
    look: Look,
    samples: usize,
    done: &[usize],
    chosen: Option<&EnvDetails>,
    state_bytes: usize,
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
        "sound": samples,
        "done": done,
        "state_bytes": state_bytes,
        "chosen": look.chosen.zip(chosen).map(|(env, details)| chosen_head(env, details)),
    })
    .to_string();
    let pictures = look.count * look.shrink.tile_bytes() + FRAME_BYTES;
    let more = 4 * samples + state_bytes;
    let mut bytes = Vec::with_capacity(4 + head.len() + pictures + more);
    // The text has a few hundred bytes.
    bytes.extend((head.len() as u32).to_le_bytes());
    bytes.extend(head.as_bytes());
    bytes
}

fn chosen_head(env: usize, details: &EnvDetails) -> Value {
    let cpu = details.cpu;
    json!({
        "env": env,
        "frames": details.frames,
        "reward": details.reward,
        "episode_return": details.episode_return,
        "done": details.is_done,
        "observation": details.observation.as_ref().map(|(numbers, _)| numbers),
        "obs_dim": details.observation.as_ref().map(|(_, of)| of),
        "action": details.action,
        "buttons": details.buttons,
        "held": details.held,
        "registers": {
            "a": cpu.a, "f": cpu.f, "b": cpu.b, "c": cpu.c, "d": cpu.d, "e": cpu.e, "h": cpu.h, "l": cpu.l,
            "sp": cpu.sp, "pc": cpu.pc,
        },
        "memory": details.memory,
    })
}
