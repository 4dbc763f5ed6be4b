//! The game of `docs/own_game.md`, assembled and played as a reader of that page does.

use gbxcule_assembler::{Assembler, Rom};

use crate::console::{Console, LEFT, RIGHT};

const CATCH: &str = include_str!("../../../../../examples/own_game/catch.asm");

fn rom() -> Rom {
    let includes = gbxcule_assembler::includes().iter();
    let assembler = includes.fold(Assembler::new("catch.asm", CATCH), |assembler, (name, text)| {
        assembler.with_include(name, text)
    });
    assembler.rom().unwrap_or_else(|errors| panic!("{errors}"))
}

/// Returns the values at the labels after `frames` frames, or at the end of the game.
fn play(frames: u32, decide: impl Fn(u8, u8) -> u8) -> [u8; 3] {
    let rom = rom();
    let mut console = Console::of(&rom.bytes);
    let at = |label| rom.address(label).expect("a label of the game");
    let read = |console: &Console, label| console.peek(at(label));
    while console.frames < frames && read(&console, "GameOver") == 0 {
        let buttons = decide(read(&console, "BasketX"), read(&console, "StarX"));
        console.hold(buttons);
        console.run(1);
    }
    ["Score", "Missed", "GameOver"].map(|label| read(&console, label))
}

#[test]
fn a_basket_that_follows_the_star_catches_all() {
    let follow = |basket: u8, star: u8| match basket.abs_diff(star) {
        0..=2 => 0,
        _ if basket < star => RIGHT,
        _ => LEFT,
    };
    let [score, missed, is_over] = play(3000, follow);
    assert!(score > 35, "{score}");
    assert_eq!((missed, is_over), (0, 0));
}

#[test]
fn a_basket_that_stands_still_misses_three_stars_and_the_game_ends() {
    let [score, missed, is_over] = play(6000, |_, _| 0);
    assert!(score < 12, "{score}");
    assert_eq!((missed, is_over), (3, 1));
}
