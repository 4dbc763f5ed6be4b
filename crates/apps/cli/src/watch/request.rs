//! Requests of a browser, as `server_message` defines them: parses them and checks their limits.
//!
//! Texts may come from any computer that can connect. A malformed request, or one beyond the limits
//! of a session, is refused here.

use gbxcule_swarm::Model;
use serde::Deserialize;

use crate::watch::tile::Shrink;

/// Greatest size of a view's pictures in bytes; a browser that asks for more gets fewer machines.
const MAX_PICTURE_BYTES: usize = 8 << 20;

/// Greatest size of colour pictures in bytes, enough for the largest screens.
const MAX_COLOR_BYTES: usize = 32 << 20;

/// Greatest size of all viewers' pictures together, because each may have one view on its way.
const MAX_BYTES_OF_ALL: usize = 64 << 20;

/// Limits of the speed: 0 requests full speed, and the slowest is a frame a minute.
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
    Speed { times: f64 },
    Reset,
    Hold { env: usize, buttons: u8 },
    LetGo,
    Save { env: usize },
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
    /// True to send the map of where machines were.
    #[serde(default)]
    pub(crate) map: bool,
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

/// Parses a text from the browser, or returns what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Request, String> {
    let request = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if let Request::Speed { times } = request {
        check_speed(times)?;
    }
    Ok(request)
}

impl Request {
    /// Returns true if the request leaves the swarm unchanged.
    pub(crate) fn only_looks(self) -> bool {
        matches!(self, Self::Look(_) | Self::Save { .. } | Self::LetGo)
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
    use gbxcule_swarm::FRAME_BYTES;

    #[test]
    fn every_request_is_understood() {
        let look = r#"{"type":"look","first":2,"count":3,"shrink":4,"chosen":null}"#;
        let shrink = Shrink::try_from(4).expect("4 is one");
        let expected = [
            (
                look,
                Request::Look(Look {
                    first: 2,
                    count: 3,
                    shrink,
                    chosen: None,
                    sound: false,
                    map: false,
                }),
            ),
            (r#"{"type":"run"}"#, Request::Run),
            (r#"{"type":"pause"}"#, Request::Pause),
            (r#"{"type":"step"}"#, Request::Step),
            (r#"{"type":"speed","times":0.5}"#, Request::Speed { times: 0.5 }),
            (r#"{"type":"reset"}"#, Request::Reset),
            (r#"{"type":"hold","env":1,"buttons":255}"#, Request::Hold { env: 1, buttons: 255 }),
            (r#"{"type":"let_go"}"#, Request::LetGo),
            (r#"{"type":"save","env":3}"#, Request::Save { env: 3 }),
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
        let shrink = Shrink::try_from(1).expect("1 is one");
        let look = Look {
            first: 60,
            count: usize::MAX,
            shrink,
            chosen: Some(64),
            sound: false,
            map: false,
        };
        assert_eq!(
            look.clipped(64, 1, Model::Original),
            Look { first: 60, count: 4, shrink, chosen: None, sound: false, map: false }
        );
        let look = Look {
            first: usize::MAX,
            count: 1,
            shrink,
            chosen: Some(63),
            sound: false,
            map: false,
        };
        assert_eq!(
            look.clipped(64, 1, Model::Original),
            Look { first: 64, count: 0, shrink, chosen: Some(63), sound: false, map: false }
        );
        let look =
            Look { first: 0, count: 1 << 20, shrink, chosen: None, sound: false, map: false };
        let most = |viewers, model| look.clipped(1 << 20, viewers, model).count;
        assert_eq!(most(1, Model::Original), MAX_PICTURE_BYTES / FRAME_BYTES);
        assert_eq!(most(64, Model::Original), (1 << 20) / FRAME_BYTES);
        assert_eq!(most(1, Model::Color), MAX_COLOR_BYTES / (8 * FRAME_BYTES));
        assert_eq!(most(64, Model::Color), (1 << 20) / (8 * FRAME_BYTES));
    }
}
