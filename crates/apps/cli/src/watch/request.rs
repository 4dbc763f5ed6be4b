//! Requests of a browser, as `server_message` defines them: parses them and checks their limits.
//!
//! Texts may come from any computer that can connect. A malformed request, or one beyond the limits
//! of a session, is refused here.

use gbxcule_swarm::{Model, button};
use serde::Deserialize;

use crate::pad::Pad;
use crate::watch::memory_filter::{Filter, Form};
use crate::watch::tile::Shrink;

/// Greatest size of a view's pictures in bytes; a browser that asks for more gets fewer machines.
const MAX_PICTURE_BYTES: usize = 8 << 20;

/// Greatest size of colour pictures in bytes, enough for the largest screens.
const MAX_COLOR_BYTES: usize = 32 << 20;

/// Greatest size of all viewers' pictures together, because one view for each may be in transit.
const MAX_BYTES_OF_ALL: usize = 64 << 20;

/// Limits of the speed: 0 means full speed, and the slowest is a frame a minute.
const MAX_TIMES: f64 = 1000.0;
const MIN_TIMES: f64 = 0.001;

/// Request of a browser.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Request {
    Look(Look),
    Run,
    Pause,
    Step,
    Speed {
        times: f64,
    },
    Reset,
    Hold {
        #[serde(flatten)]
        pad: Pad,
        buttons: u8,
    },
    LetGo,
    Save {
        env: usize,
    },
    Search(Filter),
    Poke {
        env: usize,
        place: u32,
        byte: u8,
    },
}

/// Range of machines that a browser shows, with the scale of their pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Look {
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) shrink: Shrink,
    #[serde(default)]
    pub(crate) chosen: Option<usize>,
    /// True to send the machine's sound since the last view.
    #[serde(default)]
    pub(crate) sound: bool,
    /// True to send the map of the machines' positions.
    #[serde(default)]
    pub(crate) map: bool,
    /// First place of the enlarged machine's memory that is shown.
    #[serde(default)]
    pub(crate) memory: Option<u32>,
    /// True to send the search of memory.
    #[serde(default)]
    pub(crate) search: bool,
    /// Place of the number that is watched.
    #[serde(default)]
    pub(crate) watched: Option<u32>,
    /// Form of the numbers in the search, and of the watched number.
    #[serde(default)]
    pub(crate) form: Form,
}

impl Look {
    /// Limits the request to machines that exist and pictures that fit.
    pub(crate) fn clipped(self, num_envs: usize, viewers: usize, model: Model) -> Self {
        let first = self.first.min(num_envs);
        let share = MAX_BYTES_OF_ALL / viewers.max(1);
        let limit = match model {
            Model::Original => MAX_PICTURE_BYTES,
            Model::Color => MAX_COLOR_BYTES,
        };
        let most = share.min(limit) / self.shrink.tile_bytes(model);
        let count = self.count.min(num_envs - first).min(most);
        Self { first, count, chosen: self.chosen.filter(|env| *env < num_envs), ..self }
    }
}

/// Rights of viewers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rights {
    /// Viewers leave the swarm unchanged.
    Look,
    /// Viewers may also drive machines and change their memory.
    Control,
    /// Viewers may also decide when the swarm runs.
    All,
}

/// Parses a text from the browser, or describes its fault. Of opposite sides of the direction pad
/// neither is pressed, as in actions.
pub(crate) fn parse(text: &str) -> Result<Request, String> {
    let mut request = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if let Request::Hold { buttons, .. } = &mut request {
        *buttons = button::without_opposites(*buttons);
    }
    if let Request::Speed { times } = request {
        check_speed(times)?;
    }
    Ok(request)
}

impl Request {
    /// Returns true if a viewer with these rights may send the request.
    pub(crate) fn is_allowed(self, rights: Rights) -> bool {
        match self {
            Self::Look(_) | Self::Save { .. } | Self::LetGo | Self::Search(_) => true,
            Self::Hold { .. } | Self::Poke { .. } => rights != Rights::Look,
            _ => rights == Rights::All,
        }
    }
}

pub(crate) fn check_speed(times: f64) -> Result<(), String> {
    if times == 0.0 || (MIN_TIMES..=MAX_TIMES).contains(&times) {
        Ok(())
    } else {
        Err(format!(
            "speed {times:e} is not 0 (as fast as it goes) or between {MIN_TIMES} and {MAX_TIMES}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::memory_filter::{Keep, Scope};
    use gbxcule_swarm::FRAME_BYTES;

    /// A look that asks only for whole pictures.
    fn look_of(first: usize, count: usize, chosen: Option<usize>) -> Look {
        let shrink = Shrink::try_from(1).expect("1 is one");
        let (memory, watched, form) = (None, None, Form::Byte);
        Look {
            first,
            count,
            shrink,
            chosen,
            sound: false,
            map: false,
            memory,
            search: false,
            watched,
            form,
        }
    }

    fn hold(env: usize, controller: u8, buttons: u8) -> Request {
        Request::Hold { pad: Pad { env, controller }, buttons }
    }

    #[test]
    fn every_request_is_understood() {
        let look = r#"{"type":"look","first":2,"count":3,"shrink":1,"chosen":null}"#;
        let search = r#"{"type":"search","keep":"equal","number":7,"form":"word_high","scope":"chosen","env":2}"#;
        let filter = Filter {
            keep: Keep::Equal,
            number: 7,
            form: Form::WordHigh,
            scope: Scope::Chosen,
            env: Some(2),
        };
        let expected = [
            (look, Request::Look(look_of(2, 3, None))),
            (r#"{"type":"run"}"#, Request::Run),
            (r#"{"type":"pause"}"#, Request::Pause),
            (r#"{"type":"step"}"#, Request::Step),
            (r#"{"type":"speed","times":0.5}"#, Request::Speed { times: 0.5 }),
            (r#"{"type":"reset"}"#, Request::Reset),
            (r#"{"type":"hold","env":1,"buttons":255}"#, hold(1, 0, 0xf0)),
            (r#"{"type":"hold","env":0,"controller":1,"buttons":2}"#, hold(0, 1, 2)),
            (r#"{"type":"let_go"}"#, Request::LetGo),
            (r#"{"type":"save","env":3}"#, Request::Save { env: 3 }),
            (search, Request::Search(filter)),
            (
                r#"{"type":"poke","env":1,"place":49152,"byte":255}"#,
                Request::Poke { env: 1, place: 0xC000, byte: 255 },
            ),
        ];
        for (text, request) in expected {
            assert_eq!(parse(text), Ok(request), "{text}");
        }
    }

    #[test]
    fn malformed_messages_are_refused_with_a_reason() {
        let cases = [
            ("", "EOF"),
            ("{}", "type"),
            ("[1,2]", "expected"),
            (r#"{"type":"fly"}"#, "fly"),
            (r#"{"type":"look","first":-1,"count":1,"shrink":1}"#, "-1"),
            (r#"{"type":"look","first":0,"count":1,"shrink":3}"#, "shrink"),
            (r#"{"type":"hold","env":0,"buttons":256}"#, "256"),
            (r#"{"type":"speed","times":-1}"#, "between 0.001"),
            (r#"{"type":"speed","times":1e-320}"#, "between 0.001"),
            (r#"{"type":"speed","times":1e300}"#, "between 0.001"),
            (r#"{"type":"speed"}"#, "times"),
        ];
        for (text, reason) in cases {
            let refused = parse(text).expect_err(text);
            assert!(refused.contains(reason), "{text}: {refused}");
        }
    }

    #[test]
    fn a_look_is_clipped_to_the_machines_there_are_and_to_a_size() {
        assert_eq!(
            look_of(60, usize::MAX, Some(64)).clipped(64, 1, Model::Original),
            look_of(60, 4, None)
        );
        assert_eq!(
            look_of(usize::MAX, 1, Some(63)).clipped(64, 1, Model::Original),
            look_of(64, 0, Some(63))
        );
        let look = look_of(0, 1 << 20, None);
        let most = |viewers, model| look.clipped(1 << 20, viewers, model).count;
        assert_eq!(most(1, Model::Original), MAX_PICTURE_BYTES / FRAME_BYTES);
        assert_eq!(most(64, Model::Original), (1 << 20) / FRAME_BYTES);
        assert_eq!(most(1, Model::Color), MAX_COLOR_BYTES / (8 * FRAME_BYTES));
        assert_eq!(most(64, Model::Color), (1 << 20) / (8 * FRAME_BYTES));
    }

    #[test]
    fn viewers_of_a_learners_swarm_look_or_drive_machines_but_never_stop_it() {
        let (hold, poke) = (hold(0, 0, 1), Request::Poke { env: 0, place: 0xC000, byte: 1 });
        for (request, least) in [
            (Request::Save { env: 0 }, Rights::Look),
            (Request::LetGo, Rights::Look),
            (hold, Rights::Control),
            (poke, Rights::Control),
            (Request::Reset, Rights::All),
            (Request::Pause, Rights::All),
        ] {
            let allowed = [Rights::Look, Rights::Control, Rights::All]
                .into_iter()
                .find(|rights| request.is_allowed(*rights));
            assert_eq!(allowed, Some(least), "{request:?}");
        }
    }
}
