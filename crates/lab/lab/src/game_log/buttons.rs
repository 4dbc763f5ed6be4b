//! The buttons of each step of a game, as runs of equal steps: `00*12 81*3 10`, each number the
//! byte of [`gbxcule_swarm::button`] in hexadecimal.

use std::fmt;
use std::str::FromStr;

use gbxcule_swarm::button;
use serde::{Deserialize, Serialize};

/// Greatest number of steps of a game: a day of single frames.
const MAX_STEPS: usize = 24 * 3600 * 60;

/// Runs of equal steps.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Buttons {
    runs: Vec<(u8, usize)>,
    steps: usize,
}

impl Buttons {
    /// Appends steps with these buttons.
    pub fn push(&mut self, buttons: u8, steps: usize) {
        match self.runs.last_mut() {
            Some((last, count)) if *last == buttons => *count += steps,
            _ if steps > 0 => self.runs.push((buttons, steps)),
            _ => {}
        }
        self.steps += steps;
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Keeps the first `steps` steps.
    pub fn truncate(&mut self, steps: usize) {
        let mut left = steps;
        for (_, count) in &mut self.runs {
            *count = left.min(*count);
            left -= *count;
        }
        self.runs.retain(|(_, count)| *count > 0);
        self.steps = self.steps.min(steps);
    }

    /// Returns the buttons of each step.
    pub fn iter(&self) -> impl Iterator<Item = u8> {
        self.runs.iter().flat_map(|&(buttons, count)| std::iter::repeat_n(buttons, count))
    }
}

impl fmt::Display for Buttons {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (buttons, count)) in self.runs.iter().enumerate() {
            let gap = if place == 0 { "" } else { " " };
            match count {
                1 => write!(formatter, "{gap}{buttons:02x}")?,
                _ => write!(formatter, "{gap}{buttons:02x}*{count}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Buttons {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut buttons_of_steps = Self::default();
        for word in text.split_ascii_whitespace() {
            let (byte, count) = word.split_once('*').unwrap_or((word, "1"));
            let buttons = (byte.len() == 2).then(|| u8::from_str_radix(byte, 16).ok()).flatten();
            let count = count.parse().ok().filter(|count| (1..=MAX_STEPS).contains(count));
            let (Some(buttons), Some(count)) = (buttons, count) else {
                return Err(format!(
                    "buttons are two hexadecimal digits a step, or `81*12` for twelve steps, found `{word}`"
                ));
            };
            if button::without_opposites(buttons) != buttons {
                return Err(format!(
                    "`{word}` presses LEFT and RIGHT, or UP and DOWN, at once: press one of the two, or neither"
                ));
            }
            buttons_of_steps.push(buttons, count);
            if buttons_of_steps.steps > MAX_STEPS {
                return Err(format!(
                    "a game has {MAX_STEPS} steps at most, found {}",
                    buttons_of_steps.steps
                ));
            }
        }
        Ok(buttons_of_steps)
    }
}

impl TryFrom<String> for Buttons {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Buttons> for String {
    fn from(buttons: Buttons) -> Self {
        buttons.to_string()
    }
}
