//! The text form of codecs, which users write and artifacts record.
//!
//! ```text
//! codec  = NAME | table { "/" table }    full_v1    A,B,A+RIGHT:4,NOOP    NOOP,LEFT,RIGHT/NOOP,A
//! table  = action { "," action }         an action's number is its place
//! action = press [ ":" FRAMES ]          held for so many frames, else as the schedule says
//! press  = "NOOP" | BUTTON { "+" BUTTON }
//! ```
//! Tables may be separated by `/`: an agent then chooses one action from each table. The codec has
//! an action for every combination, and the first table's choice changes fastest. The direction pad
//! can't be pressed on opposite sides: an action of a table must not do so, and a combination that
//! would do so presses neither side.

use std::num::NonZeroU32;

use super::{Action, Codec, MAX_ACTIONS, NOOP, button};
use crate::SwarmError;

/// The buttons in the order in which names list them.
const BUTTONS: [(&str, u8); 8] = [
    ("A", button::A),
    ("B", button::B),
    ("SELECT", button::SELECT),
    ("START", button::START),
    ("UP", button::UP),
    ("DOWN", button::DOWN),
    ("LEFT", button::LEFT),
    ("RIGHT", button::RIGHT),
];

/// Every codec with a name, and its spelling.
const NAMED: [(&str, &str); 4] = [
    ("full_v1", "A,B,START,UP,DOWN,LEFT,RIGHT,SELECT,NOOP"),
    ("pokemonred_puffer_v1", "A,B,START,UP,DOWN,LEFT,RIGHT"),
    ("pad_v1", "NOOP,UP,DOWN,LEFT,RIGHT,UP+LEFT,UP+RIGHT,DOWN+LEFT,DOWN+RIGHT/NOOP,A,B,A+B"),
    ("buttons_v1", "NOOP,A/NOOP,B/NOOP,SELECT/NOOP,START/NOOP,UP/NOOP,DOWN/NOOP,LEFT/NOOP,RIGHT"),
];

/// Errors in the spelling of a codec.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum CodecError {
    #[error(
        "no action codec `{found}`; there are {}, and tables of your own, such as `A,B,A+RIGHT,NOOP`",
        names().join(", ")
    )]
    NoSuchCodec { found: String },
    #[error("no button `{found}` in the action `{action}`; there are {}, and NOOP for none", buttons().join(", "))]
    NoSuchButton { found: String, action: String },
    #[error(
        "the action `{action}` is held for `{found}` frames; expected a whole number from 1 to 4294967295"
    )]
    BadFrames { found: String, action: String },
    #[error(
        "the action `{action}` presses LEFT and RIGHT, or UP and DOWN, at once; the direction pad is one rocker"
    )]
    BothSides { action: String },
    #[error("the action `{action}` stands twice in one table")]
    Twice { action: String },
    #[error("`{}` and `{}` are pressed together, but held for a different number of frames", actions[0], actions[1])]
    TwoLengths { actions: [String; 2] },
    #[error("{found} combinations of actions; a codec has up to {MAX_ACTIONS}")]
    TooMany { found: usize },
}

fn names() -> Vec<&'static str> {
    NAMED.iter().map(|(name, _)| *name).collect()
}

fn buttons() -> Vec<&'static str> {
    BUTTONS.iter().map(|(name, _)| *name).collect()
}

impl Default for Codec {
    /// Returns the codec `full_v1`: each button alone, and pressing nothing.
    fn default() -> Self {
        Self::by_name(NAMED[0].0).unwrap_or_else(|error| unreachable!("built-in spelling: {error}"))
    }
}

impl Codec {
    /// Returns the names of the built-in codecs.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.into_iter().map(|(name, _)| name)
    }

    /// The codec of a name, or of a spelled table.
    ///
    /// # Errors
    /// [`SwarmError::Codec`] says what is wrong and what is allowed.
    pub fn by_name(name: &str) -> Result<Self, SwarmError> {
        let named = NAMED.iter().find(|(named, _)| *named == name);
        let tables = read_tables(named.map_or(name, |(_, spelling)| spelling))?;
        let name = match named {
            Some((named, _)) => (*named).to_owned(),
            None => spelled(&tables),
        };
        Ok(Self { name, actions: combined(&tables)? })
    }

    /// Returns the names of the actions in each table. The number of an action is that of its
    /// choice in the first table, plus that in the second times the length of the first, and so on.
    pub fn choices(&self) -> Vec<Vec<String>> {
        let named = NAMED.iter().find(|(named, _)| *named == self.name);
        let spelling = named.map_or(&self.name[..], |(_, spelling)| spelling);
        let table = |table: &str| table.split(',').map(str::to_owned).collect();
        spelling.split('/').map(table).collect()
    }
}

fn read_tables(spelling: &str) -> Result<Vec<Vec<Action>>, CodecError> {
    let is_word = |text: &str| !text.contains([',', '/', '+', ':']);
    let is_button = |text: &str| bits(text).is_some() || text.trim().eq_ignore_ascii_case(NOOP);
    if is_word(spelling) && !is_button(spelling) {
        return Err(CodecError::NoSuchCodec { found: spelling.to_owned() });
    }
    let table = |table: &str| {
        let mut actions: Vec<Action> = Vec::new();
        for written in table.split(',') {
            let action = read_action(written)?;
            if actions.contains(&action) {
                return Err(CodecError::Twice { action: action.name });
            }
            actions.push(action);
        }
        Ok(actions)
    };
    spelling.split('/').map(table).collect()
}

fn bits(button: &str) -> Option<u8> {
    let row = BUTTONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(button.trim()));
    row.map(|(_, bits)| *bits)
}

fn read_action(written: &str) -> Result<Action, CodecError> {
    let (press, frames) = match written.split_once(':') {
        Some((press, frames)) => {
            let frames = frames.trim().parse().map_err(|_| CodecError::BadFrames {
                found: frames.to_owned(),
                action: written.to_owned(),
            })?;
            (press, Some(frames))
        }
        None => (written, None),
    };
    let mut buttons = 0;
    if !press.trim().eq_ignore_ascii_case(NOOP) {
        for found in press.split('+') {
            buttons |= bits(found).ok_or_else(|| CodecError::NoSuchButton {
                found: found.trim().to_owned(),
                action: written.to_owned(),
            })?;
        }
    }
    if button::without_opposites(buttons) != buttons {
        return Err(CodecError::BothSides { action: written.to_owned() });
    }
    Ok(Action { name: name_of(buttons, frames), buttons, frames })
}

fn name_of(buttons: u8, frames: Option<NonZeroU32>) -> String {
    let pressed = BUTTONS.iter().filter(|(_, bits)| buttons & bits != 0);
    let pressed: Vec<&str> = pressed.map(|(name, _)| *name).collect();
    let press = if pressed.is_empty() { NOOP.to_owned() } else { pressed.join("+") };
    frames.map_or(press.clone(), |frames| format!("{press}:{frames}"))
}

fn spelled(tables: &[Vec<Action>]) -> String {
    let table = |table: &Vec<Action>| {
        table.iter().map(|action| action.name.clone()).collect::<Vec<_>>().join(",")
    };
    tables.iter().map(table).collect::<Vec<_>>().join("/")
}

/// Makes every combination of one action from each table; the first table's action changes fastest.
fn combined(tables: &[Vec<Action>]) -> Result<Vec<Action>, CodecError> {
    let found = tables.iter().fold(1_usize, |count, table| count.saturating_mul(table.len()));
    if found > MAX_ACTIONS {
        return Err(CodecError::TooMany { found });
    }
    let Some((first, others)) = tables.split_first() else { return Ok(Vec::new()) };
    let mut all = first.clone();
    for table in others {
        let pairs =
            table.iter().flat_map(|later| all.iter().map(|action| combined_pair(action, later)));
        all = pairs.collect::<Result<_, _>>()?;
    }
    Ok(all)
}

fn combined_pair(one: &Action, other: &Action) -> Result<Action, CodecError> {
    let frames = match [one.frames, other.frames] {
        // Buttons that aren't pressed are not held.
        _ if one.buttons == 0 => other.frames,
        _ if other.buttons == 0 => one.frames,
        [one_frames, other_frames] if one_frames == other_frames => one_frames,
        _ => {
            let actions = [one, other].map(|action| action.name.clone());
            return Err(CodecError::TwoLengths { actions });
        }
    };
    let buttons = button::without_opposites(one.buttons | other.buttons);
    Ok(Action { name: name_of(buttons, frames), buttons, frames })
}

impl From<CodecError> for SwarmError {
    fn from(error: CodecError) -> Self {
        Self::Codec(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(name: &str) -> Vec<(String, u8, u32)> {
        let codec = Codec::by_name(name).expect(name);
        let rows = codec.actions.iter().map(|action| {
            (action.name.clone(), action.buttons, action.frames.map_or(0, NonZeroU32::get))
        });
        rows.collect()
    }

    fn row(name: &str, buttons: u8, frames: u32) -> (String, u8, u32) {
        (name.to_owned(), buttons, frames)
    }

    #[test]
    fn codecs_are_found_by_the_name_they_record() {
        for name in Codec::names() {
            assert_eq!(Codec::by_name(name).expect(name).name, name);
        }
        for spelling in ["A", "NOOP", "A,B,A+RIGHT:4,NOOP", "NOOP,RIGHT:3/NOOP,A:3"] {
            let codec = Codec::by_name(spelling).expect(spelling);
            assert_eq!(codec.name, spelling);
            assert_eq!(Codec::by_name(&codec.name).expect("a codec"), codec);
        }
    }

    #[test]
    fn a_table_of_ones_own_presses_and_holds_what_it_says() {
        let expected = [
            row("A+RIGHT:4", button::A | button::RIGHT, 4),
            row("NOOP", 0, 0),
            row("B", button::B, 0),
        ];
        assert_eq!(rows("A+RIGHT:4,NOOP,B"), expected);
        assert_eq!(rows(" right + a : 4, noop ,b"), expected);
    }

    #[test]
    fn tables_are_combined_with_the_first_running_fastest() {
        let expected = [
            row("NOOP", 0, 0),
            row("LEFT", button::LEFT, 0),
            row("A:2", button::A, 2),
            row("B", button::B, 0),
            row("B+LEFT", button::B | button::LEFT, 0),
        ];
        let found = rows("NOOP,LEFT/NOOP,B");
        assert_eq!(found, [&expected[..2], &expected[3..]].concat());
        assert_eq!(rows("NOOP,A:2/NOOP")[1], expected[2]);
        let codec = Codec::by_name("NOOP,LEFT,RIGHT/NOOP,B").expect("a codec");
        assert_eq!(codec.choices(), [vec!["NOOP", "LEFT", "RIGHT"], vec!["NOOP", "B"]]);
        assert_eq!(codec.actions[2 + 3].buttons, button::RIGHT | button::B);
    }

    #[test]
    fn buttons_v1_has_a_bit_for_each_button_and_no_two_sides_of_the_cross() {
        let codec = Codec::by_name("buttons_v1").expect("a codec");
        assert_eq!(codec.actions.len(), 256);
        for (bit, (name, pressed)) in BUTTONS.iter().enumerate() {
            assert_eq!(codec.actions[1 << bit].buttons, *pressed);
            assert_eq!(codec.choices()[bit], ["NOOP", name]);
        }
        assert_eq!(codec.buttons(0b1111_0001), Some(button::A));
        let both = |action: &Action| button::without_opposites(action.buttons) != action.buttons;
        assert!(!codec.actions.iter().any(both));
    }

    #[test]
    fn refusals_of_codecs_say_what_is_allowed() {
        for (text, message) in [
            ("dance", "no action codec `dance`; there are full_v1, pokemonred_puffer_v1"),
            ("", "no action codec ``"),
            ("A,JUMP", "no button `JUMP` in the action `JUMP`; there are A, B, SELECT"),
            ("A+,B", "no button `` in the action `A+`"),
            ("A,,B", "no button `` in the action ``"),
            ("A+NOOP", "no button `NOOP` in the action `A+NOOP`"),
            ("A:0", "the action `A:0` is held for `0` frames; expected a whole number from 1"),
            ("A:two", "held for `two` frames"),
            (
                "A,LEFT+RIGHT",
                "the action `LEFT+RIGHT` presses LEFT and RIGHT, or UP and DOWN, at once",
            ),
            ("A,B,A", "the action `A` stands twice"),
            ("A:2,A:3/LEFT,NOOP", "`A:2` and `LEFT` are pressed together, but held for"),
            ("A,B,SELECT,START/A,B,UP/A,B,UP/A,B,UP/UP,A,B", "324 combinations of actions"),
        ] {
            let error = Codec::by_name(text).expect_err(text).to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
