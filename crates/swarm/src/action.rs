//! Action codecs: what the number in an action means, by name and version.
//!
//! A codec never changes once it has a name; a new meaning is a new row with a new version.

use crate::{SwarmConfig, SwarmError};

/// Joypad bits as [`gbxcule_gameboy::Machine::set_buttons`] takes them; set means pressed.
pub mod button {
    /// Right on the cross.
    pub const RIGHT: u8 = 1 << 0;
    /// Left on the cross.
    pub const LEFT: u8 = 1 << 1;
    /// Up on the cross.
    pub const UP: u8 = 1 << 2;
    /// Down on the cross.
    pub const DOWN: u8 = 1 << 3;
    /// The A button.
    pub const A: u8 = 1 << 4;
    /// The B button.
    pub const B: u8 = 1 << 5;
    /// The SELECT button.
    pub const SELECT: u8 = 1 << 6;
    /// The START button.
    pub const START: u8 = 1 << 7;
}

/// A named, versioned mapping from action numbers to joypad bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codec {
    /// The name that artifacts record.
    pub name: &'static str,
    /// Each action's name and the buttons it presses; the action's number is its place here.
    pub actions: &'static [(&'static str, u8)],
}

impl Codec {
    /// The seven actions of the Pokemon Red setups that PufferLib users train with.
    pub const POKEMONRED_PUFFER_V1: Self = Self {
        name: "pokemonred_puffer_v1",
        actions: &[
            ("A", button::A),
            ("B", button::B),
            ("START", button::START),
            ("UP", button::UP),
            ("DOWN", button::DOWN),
            ("LEFT", button::LEFT),
            ("RIGHT", button::RIGHT),
        ],
    };

    /// Those seven, SELECT, and pressing nothing.
    pub const FULL_V1: Self = Self {
        name: "full_v1",
        actions: &[
            ("A", button::A),
            ("B", button::B),
            ("START", button::START),
            ("UP", button::UP),
            ("DOWN", button::DOWN),
            ("LEFT", button::LEFT),
            ("RIGHT", button::RIGHT),
            ("SELECT", button::SELECT),
            ("NOOP", 0),
        ],
    };

    /// Every codec there is.
    pub const ALL: [Self; 2] = [Self::POKEMONRED_PUFFER_V1, Self::FULL_V1];

    /// The codec of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.name == name)
    }

    /// The number of the action of that name.
    #[must_use]
    pub fn action(self, name: &str) -> Option<u8> {
        let position = self.actions.iter().position(|(known, _)| *known == name)?;
        u8::try_from(position).ok()
    }

    /// The buttons that an action presses.
    #[must_use]
    pub fn buttons(self, action: u8) -> Option<u8> {
        self.actions.get(usize::from(action)).map(|(_, buttons)| *buttons)
    }
}

/// Whether there is one action for each env, and the codec has it.
pub(crate) fn check(config: &SwarmConfig, actions: &[u8]) -> Result<(), SwarmError> {
    let (num_envs, found, codec) = (config.num_envs, actions.len(), config.codec);
    if found != num_envs {
        return Err(SwarmError::WrongLength { what: "action", num_envs, found });
    }
    let last = codec.actions.len() - 1;
    match actions.iter().enumerate().find(|(_, action)| usize::from(**action) > last) {
        Some((env, &action)) => {
            Err(SwarmError::UnknownAction { env, action, codec: codec.name, last })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pokemonred_puffer_v1_keeps_its_order() {
        let names: Vec<_> = Codec::POKEMONRED_PUFFER_V1.actions.iter().map(|row| row.0).collect();
        assert_eq!(names, ["A", "B", "START", "UP", "DOWN", "LEFT", "RIGHT"]);
    }

    #[test]
    fn full_v1_starts_as_pokemonred_puffer_v1_and_can_press_nothing() {
        assert_eq!(&Codec::FULL_V1.actions[..7], Codec::POKEMONRED_PUFFER_V1.actions);
        assert_eq!(Codec::FULL_V1.buttons(7), Some(button::SELECT));
        assert_eq!(Codec::FULL_V1.buttons(8), Some(0));
        assert_eq!(Codec::FULL_V1.buttons(9), None);
    }

    #[test]
    fn codecs_are_found_by_the_name_they_record() {
        for codec in Codec::ALL {
            assert_eq!(Codec::by_name(codec.name), Some(codec));
        }
        assert_eq!(Codec::by_name("full_v2"), None);
        assert_eq!(Codec::FULL_V1.action("NOOP"), Some(8));
    }
}
