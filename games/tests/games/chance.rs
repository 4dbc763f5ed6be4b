//! Chance for the tests of the games: random buttons, and ROMs with another seed.

use crate::console::label;

/// Returns a source of random buttons out of some; the same seed gives the same buttons.
pub(crate) fn random_buttons(mut seed: u32, buttons: &'static [u8]) -> impl FnMut() -> u8 {
    move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        buttons[(seed >> 24) as usize % buttons.len()]
    }
}

/// Returns a game's ROM, with another seed of its random state if one is given.
pub(crate) fn rom_with_seed(game: &str, seed: Option<[u8; 2]>) -> Vec<u8> {
    let rom = gbxcule_assembler::by_name(game).unwrap_or_else(|| panic!("no ROM {game}"));
    let mut bytes = rom.bytes().to_vec();
    if let Some(seed) = seed {
        bytes[usize::from(label(game, "Seed"))..][..2].copy_from_slice(&seed);
    }
    bytes
}
