//! Messages between the browser and the swarm over the WebSocket `/socket`.
//!
//! The server sends the first message, `hello`. If other computers can connect, the address is
//! `/socket?token=...` with the page's token:
//! ```json
//! {"type":"hello", "mode":"watch", "rom":"PEARL_DRIFT", "num_envs":64, "device":"cpu",
//!  "frames_per_step":24, "release_after_frames":8, "codec":"full_v1", "actions":"random",
//!  "seed":0, "sound":false, "map":false, "hands":true, "labels":[[49158,"SubX"]],
//!  "version":"0.1.0"}
//! ```
//! The browser sends texts, each one JSON object:
//!
//! | `type` | fields | what happens |
//! |---|---|---|
//! | `look` | `first`, `count`, `shrink` 1 2 4 8, `chosen` or null, `sound`, `map` | sends a view |
//! | | `memory`, `search`, `watched`, `form` | with memory of all or one machine |
//! | `run`, `pause` | | |
//! | `step` | | to the end of the step, then pause |
//! | `speed` | `times` | multiple of the speed of a real machine; 0 as fast as it goes |
//! | `reset` | | all machines to their start |
//! | `hold` | `env`, `buttons` | these joypad bits are pressed instead of the actions |
//! | | `controller` 1 to 3 | on a further controller of a Super Game Boy |
//! | `let_go` | | the env that this browser holds is driven by actions again |
//! | `save` | `env` | the next view brings the env's state along |
//! | `search` | `keep`, `number`, `form`, `scope`, `env` | begins a search of memory, or goes on |
//! | `poke` | `env`, `place`, `byte` | changes a byte as a debugger does |
//!
//! If other code steps the swarm (`mode` is `train`), viewers may look, search and save states.
//! `hold` and `poke` need `hello`'s `hands`; other requests are refused.
//!
//! `place` is an address, or above its 16 bits a bank plus one. `keep` is `all` (a new search),
//! `changed`, `unchanged`, `greater` or `less` (than at the last filter), or `equal` to `number`;
//! `form` is `byte`, `word`, `word_high`, `bcd`, `bcd_word` or `bcd_word_high`; `scope` is `every`
//! machine, `some` machine, or the `chosen` one, which is `env`.
//!
//! A view is a binary message: the length of a JSON text as u32, little endian; the text; the
//! pictures of `count` machines from `first` on, each (160 / shrink) x (144 / shrink) pixels of 2
//! bits, leftmost in the top bits; the whole picture of the chosen machine, if there is one; the
//! map of the machines' positions, if the look asks for it, a byte for each of `columns` x `rows`
//! cells; `sound` samples of machine 0 since the viewer's last view, left and right as i16, little
//! endian; and a requested state, of `state_bytes` bytes.
//! ```json
//! {"step":12, "frame":0, "running":true, "speed":0, "frames_per_s":412000.0, "first":0,
//!  "count":64, "shrink":1, "sound":0, "done": [3, 17], "state_bytes": 0,
//!  "episodes": {"count":12, "mean_return":3.5, "mean_steps":210.0, "best_return":9.0,
//!               "leader":5, "leader_return":4.5},
//!  "map": {"left":2, "top":3, "columns":20, "rows":18, "cell":1, "most":812, "place":[5, 4]},
//!  "search": {"count":812, "machines":64, "filters":3, "refused":null,
//!             "found": [{"place":49158, "before":6, "value":7, "low":0, "high":15}]},
//!  "watched": {"place":49158, "value":7, "low":0, "high":15},
//!  "chosen": {"env":5, "frames":288, "reward":0.25, "episode_return":4.5, "done":false,
//!             "observation":[0.5, 0.25], "obs_dim":2, "action":"LEFT", "buttons":2, "held":false,
//!             "registers":{"a":1,"f":176,"b":0,"c":19,"d":0,"e":216,"h":1,"l":77,"sp":65534,
//!                          "pc":256},
//!             "memory_from":49152, "memory":[0]}}
//! ```
//! Machines of the Color have pictures of 16 bits a pixel, RGB555 with red in the lowest bits, the
//! lower byte first. Their views have `"colors": "raw"` or `"corrected"`, the curve by which they
//! are shown.
//!
//! `episodes` has means of the last 100. In the map, `left` and `top` count the empty cells before
//! it, `cell` is the number of coordinates that a cell covers, `most` the number of visits for
//! which its byte is 255, and `place` the cell of the chosen machine. In `search` and `watched`,
//! `value` is the chosen machine's number, `low` and `high` are the least and the greatest of all
//! machines. `done` lists the shown machines whose episode is over. `memory` has 128 bytes from the
//! look's `memory` on, or C000 to C01F; `observation` the first 32 numbers of `obs_dim`; a field
//! that the stage or the programs lack is null. Each `look` is answered by one view. A browser
//! waits for the view before it sends the next `look`, so a slow browser falls behind without
//! delaying others. Viewers take turns, one request each. A malformed request is answered with
//! `{"type":"refused", "message":"..."}` and changes nothing.

use gbxcule_runtime::Device;
use gbxcule_swarm::{Codec, Model, Schedule};
use serde_json::{Value, json};

use crate::env_details::EnvDetails;
use crate::picture::Curve;
use crate::watch::heatmap::HeatPicture;
use crate::watch::request::Look;
use crate::watch::statistics::Summary;
use crate::watch::tile::Shrink;

/// Layout of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A swarm.
    Watch,
    /// One machine with its buttons.
    Play,
    /// A swarm that Python steps.
    Train,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Watch => "watch",
            Self::Play => "play",
            Self::Train => "train",
        }
    }
}

/// Description of the swarm for a viewer.
pub(crate) struct SwarmDescription<'a> {
    pub(crate) mode: Mode,
    pub(crate) rom: &'a str,
    pub(crate) num_envs: usize,
    pub(crate) device: Device,
    pub(crate) schedule: Schedule,
    pub(crate) codec: &'a Codec,
    /// Source of the actions, and its seed.
    pub(crate) actions: String,
    pub(crate) seed: u64,
    pub(crate) sound: bool,
    pub(crate) has_map: bool,
    /// True if viewers may drive machines and change their memory.
    pub(crate) hands: bool,
    /// Labels of searched memory, with their places.
    pub(crate) labels: &'a [(u32, String)],
}

impl SwarmDescription<'_> {
    /// Returns the first message on a connection.
    pub(crate) fn text(&self) -> String {
        let hello = json!({
            "type": "hello",
            "mode": self.mode.name(),
            "rom": self.rom,
            "num_envs": self.num_envs,
            "device": self.device.to_string(),
            "frames_per_step": self.schedule.frames_per_step(),
            "release_after_frames": self.schedule.release_after_frames(),
            "codec": self.codec.name,
            "actions": self.actions,
            "seed": self.seed,
            "sound": self.sound,
            "map": self.has_map,
            "hands": self.hands,
            "labels": self.labels,
            "version": env!("CARGO_PKG_VERSION"),
        });
        hello.to_string()
    }
}

/// Returns the answer to a malformed request.
pub(crate) fn refusal(message: &str) -> String {
    json!({ "type": "refused", "message": message }).to_string()
}

/// State of the swarm that every view reports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Status {
    pub(crate) step: u64,
    pub(crate) frame: u32,
    pub(crate) running: bool,
    pub(crate) speed: f64,
    pub(crate) frames_per_s: f64,
}

/// Contents of a view before its pictures.
pub(crate) struct ViewHead<'a> {
    pub(crate) status: Status,
    pub(crate) look: Look,
    pub(crate) model: Model,
    pub(crate) curve: Curve,
    pub(crate) samples: usize,
    pub(crate) done: &'a [usize],
    pub(crate) chosen: Option<&'a EnvDetails>,
    pub(crate) summary: Option<Summary>,
    pub(crate) map: Option<&'a HeatPicture>,
    pub(crate) place: Option<[u32; 2]>,
    pub(crate) state_bytes: usize,
    /// Bytes of the chosen machine's memory.
    pub(crate) memory: &'a Option<Vec<u8>>,
    pub(crate) search: Option<Value>,
    pub(crate) watched: Option<Value>,
}

/// Writes a view up to its pictures, with capacity for the rest.
pub(crate) fn view_head(view: &ViewHead<'_>) -> Vec<u8> {
    let ViewHead { status, look, model, .. } = view;
    let map = view.map.map(|map| {
        json!({
            "left": map.left, "top": map.top, "columns": map.columns, "rows": map.rows, "cell": map.cell,
            "most": map.most, "place": view.place,
        })
    });
    let mut head = json!({
        "step": status.step,
        "frame": status.frame,
        "running": status.running,
        "speed": status.speed,
        "frames_per_s": status.frames_per_s,
        "first": look.first,
        "count": look.count,
        "shrink": look.shrink.divisor(),
        "sound": view.samples,
        "done": view.done,
        "state_bytes": view.state_bytes,
        "episodes": view.summary.as_ref().map(episodes),
        "map": map,
        "search": view.search,
        "watched": view.watched,
        "chosen": look.chosen.zip(view.chosen).map(|(env, details)| chosen_head(env, details)),
    });
    if let Some(memory) = view.memory {
        head["chosen"]["memory"] = json!(memory);
        head["chosen"]["memory_from"] = json!(look.memory);
    }
    if *model == Model::Color {
        head["colors"] = json!(view.curve.name());
    }
    let head = head.to_string();
    let pictures = look.count * look.shrink.tile_bytes(*model) + Shrink::WHOLE.tile_bytes(*model);
    let more = 4 * view.samples + view.state_bytes + view.map.map_or(0, |map| map.heat.len());
    let mut bytes = Vec::with_capacity(4 + head.len() + pictures + more);
    // The text has a few hundred bytes.
    bytes.extend((head.len() as u32).to_le_bytes());
    bytes.extend(head.as_bytes());
    bytes
}

fn episodes(summary: &Summary) -> Value {
    json!({
        "count": summary.episodes,
        "mean_return": summary.mean_return,
        "mean_steps": summary.mean_steps,
        "best_return": summary.best_return,
        "leader": summary.leader.map(|(env, _)| env),
        "leader_return": summary.leader.map(|(_, total)| total),
    })
}

fn chosen_head(env: usize, details: &EnvDetails) -> Value {
    let EnvDetails { cpu, step, .. } = details;
    json!({
        "env": env,
        "frames": details.frames,
        "reward": step.reward,
        "episode_return": step.episode_return,
        "done": step.is_done,
        "observation": details.observation.as_ref().map(|(numbers, _)| numbers),
        "obs_dim": details.observation.as_ref().map(|(_, of)| of),
        "action": step.action,
        "buttons": step.buttons,
        "held": step.held,
        "registers": {
            "a": cpu.a, "f": cpu.f, "b": cpu.b, "c": cpu.c, "d": cpu.d, "e": cpu.e, "h": cpu.h, "l": cpu.l,
            "sp": cpu.sp, "pc": cpu.pc,
        },
    })
}
