//! Variants of the games: a measured sum shows that each variant changes the game as its name says.

use gbxcule_games::GAMES;

use crate::console::{A, Begin, ColorConsole, Console, RIGHT, START};

/// A claim about a variant: what is measured in each frame, and in which direction the sum differs
/// from that of the game itself.
struct Claim {
    variant: (&'static str, &'static str),
    /// Buttons held after the title.
    buttons: u8,
    frames: u32,
    /// Bytes that are written when the game has begun.
    pokes: &'static [(u16, u8)],
    measure: fn(&dyn Fn(u16) -> u8) -> u32,
    is_more: bool,
}

/// Returns how many rows of bytes begin with a byte from a range.
fn count(peek: &dyn Fn(u16) -> u8, rows: std::ops::Range<u16>, size: usize, from: u8) -> u32 {
    rows.step_by(size).filter(|row| peek(*row) >= from).count() as u32
}

/// The level, and the register of the background's colors.
const LEVEL: u16 = 0xC004;
const COLORS: u16 = 0xFF47;

/// All claims but that of LAST_BEACON's `wild`, which its own tests hold.
const CLAIMS: &[Claim] = &[
    claim("AMBER_ROAD", "easy", A, 2400, |peek| u32::from(peek(0xC002)), true),
    claim("AMBER_ROAD", "straight", A, 1200, |peek| u32::from(peek(0xC010) | peek(0xC011)), false),
    claim("EMBER_LEAP", "easy", RIGHT, 600, |peek| count(peek, 0xC020..0xC060, 8, 1), false),
    claim("EMBER_LEAP", "night", 0, 60, |peek| u32::from(peek(COLORS)), false),
    claim("EMBER_LEAP", "moon", A, 40, |peek| u32::from(peek(0xC007)), false),
    claim("KEEP_OF_KEYS", "easy", 0, 60, |peek| count(peek, 0xC100..0xC4C0, 1, 16), false),
    // A guard in the middle of the first room.
    Claim {
        pokes: &[(0xC020, 16), (0xC021, 64), (0xC022, 64), (0xC025, 16)],
        ..claim("KEEP_OF_KEYS", "fast", 0, 60, |peek| u32::from(peek(0xC025)), true)
    },
    claim("LANTERN_WING", "easy", A, 3000, |peek| count(peek, 0xC200..0xC260, 8, 1), false),
    claim("LANTERN_WING", "day", 0, 60, |peek| u32::from(peek(COLORS)), false),
    claim("LANTERN_WING", "fast", A, 1200, |peek| u32::from(peek(0xC008)), true),
    claim("LAST_BEACON", "easy", 0, 60, |peek| u32::from(peek(0xC002)), true),
    claim("LAST_BEACON", "night", 0, 60, |peek| u32::from(peek(COLORS)), true),
    claim("PEARL_DRIFT", "easy", 0, 2000, |peek| count(peek, 0xC020..0xC070, 8, 3), false),
    claim("PEARL_DRIFT", "fast", 0, 60, |peek| u32::from(peek(0xC01E)), true),
    Claim {
        pokes: &[(LEVEL, 9)],
        ..claim("TARN_MASON", "easy", 0, 40, |peek| u32::from(peek(0xC007)), false)
    },
    claim("TARN_MASON", "fast", 0, 40, |peek| u32::from(peek(0xC007)), true),
];

const fn claim(
    game: &'static str,
    variant: &'static str,
    buttons: u8,
    frames: u32,
    measure: fn(&dyn Fn(u16) -> u8) -> u32,
    is_more: bool,
) -> Claim {
    Claim { variant: (game, variant), buttons, frames, pokes: &[], measure, is_more }
}

/// Defines a function that sums what a claim measures, with the bits of a variant.
macro_rules! measured {
    ($name:ident, $console:ident) => {
        fn $name(claim: &Claim, bits: u8) -> u32 {
            let mut console = $console::begun(claim.variant.0, Begin::Variant(1, bits), 0);
            console.hold(START);
            console.run(4);
            console.hold(0);
            console.run(100);
            for &(address, value) in claim.pokes {
                console.poke(address, value);
            }
            console.hold(claim.buttons);
            let mut sum = 0;
            for _ in 0..claim.frames {
                console.run(1);
                sum += (claim.measure)(&|address| console.peek(address));
            }
            sum
        }
    };
}

measured!(measured, Console);
measured!(measured_in_color, ColorConsole);

#[test]
fn every_variant_changes_what_it_says() {
    let mut wrong = Vec::new();
    for claim in CLAIMS {
        let (name, variant) = claim.variant;
        let game = GAMES.iter().find(|game| game.name == name).expect("a game");
        let bit = game.variants.iter().position(|row| row.0 == variant).expect("a variant");
        let measure = if game.is_for_color { measured_in_color } else { measured };
        let (usual, varied) = (measure(claim, 0), measure(claim, 1 << bit));
        if usual == varied || (varied > usual) != claim.is_more {
            wrong.push(format!("{name} {variant}: {varied}, in the game itself {usual}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let all: usize = GAMES.iter().map(|game| game.variants.len()).sum();
    assert_eq!(CLAIMS.len() + 1, all, "a claim for each variant");
}
