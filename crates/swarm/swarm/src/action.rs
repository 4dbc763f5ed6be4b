//! Action codecs: what the number in an action means.
//!
//! A built-in codec has a name with a version. The name of a user's table is the text that spells
//! it (`action/table_text.rs`). So artifacts record names alone. A codec with a name never changes;
//! a new meaning is a new row with a new version.

mod table_text;

use std::num::NonZeroU32;

pub use table_text::CodecError;

use crate::{Schedule, SwarmConfig, SwarmError};

/// Joypad bits as [`gbxcule_gameboy::Machine::set_buttons`] takes them; set means pressed.
pub mod button {
    /// Right on the direction pad.
    pub const RIGHT: u8 = 1 << 0;
    /// Left on the direction pad.
    pub const LEFT: u8 = 1 << 1;
    /// Up on the direction pad.
    pub const UP: u8 = 1 << 2;
    /// Down on the direction pad.
    pub const DOWN: u8 = 1 << 3;
    /// The A button.
    pub const A: u8 = 1 << 4;
    /// The B button.
    pub const B: u8 = 1 << 5;
    /// The SELECT button.
    pub const SELECT: u8 = 1 << 6;
    /// The START button.
    pub const START: u8 = 1 << 7;

    /// Buttons on opposite sides of the direction pad, which can't be pressed at once.
    pub(super) const OPPOSITES: [u8; 2] = [LEFT | RIGHT, UP | DOWN];

    /// Returns the buttons without those of both opposite sides.
    pub fn without_opposites(buttons: u8) -> u8 {
        let sides = OPPOSITES.iter().filter(|both| buttons & *both == **both);
        sides.fold(buttons, |buttons, both| buttons & !both)
    }
}

/// Actions are bytes, on every device and in every artifact.
pub(crate) const MAX_ACTIONS: usize = 256;

/// The action that presses nothing.
const NOOP: &str = "NOOP";

/// The meaning of one action number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The names of the buttons, or NOOP, and the frames for which they are held if the action
    /// overrides the schedule.
    pub name: String,
    /// The buttons that the action presses.
    pub buttons: u8,
    /// Number of frames for which the buttons are held, if the action overrides the schedule.
    pub frames: Option<NonZeroU32>,
}

impl Action {
    /// Frames for which the action is held.
    pub fn frames_held(&self, schedule: Schedule) -> u32 {
        self.frames.map_or(schedule.release_after_frames(), NonZeroU32::get)
    }
}

/// A mapping from action numbers to buttons, with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Codec {
    /// The name that artifacts record.
    pub name: String,
    /// The actions; an action's number is its index in this list.
    pub actions: Vec<Action>,
}

impl Codec {
    /// The number of the action of that name.
    pub fn action(&self, name: &str) -> Option<u8> {
        let position = self.actions.iter().position(|action| action.name == name)?;
        u8::try_from(position).ok()
    }

    /// The buttons that an action presses.
    pub fn buttons(&self, action: u8) -> Option<u8> {
        self.actions.get(usize::from(action)).map(|action| action.buttons)
    }

    /// Returns the buttons of an action that the codec has, and for how many frames they are held.
    pub(crate) fn pressed(&self, action: u8, schedule: Schedule) -> (u8, u32) {
        let action = &self.actions[usize::from(action)];
        (action.buttons, action.frames_held(schedule))
    }

    /// Returns the results of `pressed` for all action numbers, as tables for step kernels.
    pub(crate) fn tables(&self, schedule: Schedule) -> ([u8; 256], [u32; 256]) {
        let (mut buttons, mut frames_held) = ([0; 256], [0; 256]);
        for (action, _) in (0_u8..=255).zip(self.actions.iter()) {
            let number = usize::from(action);
            (buttons[number], frames_held[number]) = self.pressed(action, schedule);
        }
        (buttons, frames_held)
    }

    /// The number of an action that presses nothing; 0 if every action presses a button.
    pub(crate) fn idle(&self) -> u8 {
        self.action(NOOP).unwrap_or(0)
    }

    /// Returns the action that an env presses in a step.
    ///
    /// # Errors
    /// The codec has no such action.
    pub fn get(&self, env: usize, action: u8) -> Result<&Action, SwarmError> {
        self.actions.get(usize::from(action)).ok_or_else(|| SwarmError::UnknownAction {
            env,
            action,
            codec: self.name.to_string(),
            last: self.actions.len() - 1,
        })
    }
}

/// Checks that there is one action for each env and that the codec has each of them.
pub(crate) fn check(config: &SwarmConfig, actions: &[u8]) -> Result<(), SwarmError> {
    config.check_length("action", actions.len())?;
    let last = config.codec.actions.len() - 1;
    match actions.iter().enumerate().find(|(_, action)| usize::from(**action) > last) {
        Some((env, &action)) => config.codec.get(env, action).map(drop),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_v1_starts_as_pokemonred_puffer_v1_and_can_press_nothing() {
        let [full, puffer] = ["full_v1", "pokemonred_puffer_v1"]
            .map(|name| Codec::by_name(name).expect("a built-in codec"));
        let names: Vec<_> = puffer.actions.iter().map(|action| &action.name[..]).collect();
        assert_eq!(names, ["A", "B", "START", "UP", "DOWN", "LEFT", "RIGHT"]);
        assert_eq!(full.actions[..7], puffer.actions);
        assert_eq!(full.buttons(7), Some(button::SELECT));
        assert_eq!(full.buttons(8), Some(0));
        assert_eq!(full.buttons(9), None);
        assert_eq!(full.action("NOOP"), Some(8));
        assert_eq!(full, Codec::default());
    }
}
