//! Finds the built-in ROM that a wrong name probably means, for messages of commands and of Python.

use crate::layout::distance;
use crate::suite::{BuiltIn, all, for_color};

/// Returns the built-in ROM that a name probably means: the ROM with these letters, else the only
/// ROM with this word, else the most similar name; `None` if no name is similar. Of a path only the
/// file name counts.
///
/// ```
/// let meant = gbxcule_assembler::meant_by("games/pearl-drfit.gb").expect("a ROM");
/// assert_eq!(meant.name, "PEARL_DRIFT");
/// ```
#[must_use]
pub fn meant_by(name: &str) -> Option<&'static BuiltIn> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.strip_suffix(".gb").or_else(|| file.strip_suffix(".gbc")).unwrap_or(file);
    let letter = |letter: char| match letter.is_ascii_alphanumeric() {
        true => letter.to_ascii_uppercase(),
        false => '_',
    };
    let spoken: String = stem.chars().map(letter).collect();
    let roms = || all().iter().chain(for_color());
    let mut with_word = roms().filter(|rom| rom.name.split('_').any(|word| word == spoken));
    if let (Some(only), None) = (with_word.next(), with_word.next()) {
        return Some(only);
    }
    let near = roms().map(|rom| (distance(&spoken, rom.name), rom));
    let (distance, rom) = near.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + spoken.len() / 4).then_some(rom)
}

#[cfg(test)]
mod tests {
    use super::meant_by;

    #[test]
    fn a_name_means_the_rom_that_it_is_like() {
        for (name, expected) in [
            ("pearl_drift", Some("PEARL_DRIFT")),
            ("PearlDrift", Some("PEARL_DRIFT")),
            ("gbxcule/PearlDrift-v1", Some("PEARL_DRIFT")),
            ("gbxcule/PearlHeist-v1", Some("PEARL_HEIST")),
            ("roms/Ember Leap.gbc", Some("EMBER_LEAP")),
            ("heist", Some("PEARL_HEIST")),
            ("keys", Some("KEEP_OF_KEYS")),
            ("amber-raod", Some("AMBER_ROAD")),
            // Two ROMs have this word.
            ("pearl", None),
            ("tetris", None),
            ("", None),
        ] {
            assert_eq!(meant_by(name).map(|rom| rom.name), expected, "{name}");
        }
    }
}
