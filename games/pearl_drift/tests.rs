//! Tests of what PEARL_DRIFT's page in the documentation promises to players and to learners.

mod every_line;
pub(crate) mod player;

use crate::chance::random_buttons;
use crate::console::{Console, DOWN, LEFT, RIGHT, START, UP};
use player::{GAME_OVER, SUB_X, SUB_Y, careful, play, started};
use std::collections::BTreeSet;

const HULLS: u16 = 0xC002;
const LEVEL: u16 = 0xC004;
const SAFE: u16 = 0xC00E;
const GAMES: u16 = 0xC00F;
const DIGITS: u16 = 0xC010;

fn score(console: &Console) -> u16 {
    console.word(0xC000)
}

/// Returns a player that presses random buttons of the direction pad.
fn random(seed: u32) -> impl FnMut(&Console) -> u8 {
    let mut buttons = random_buttons(seed, &[0, UP, DOWN, LEFT, RIGHT]);
    move |_| buttons()
}

#[test]
fn it_is_playable_a_few_frames_after_power_on() {
    let mut console = started();
    assert_eq!(score(&console), 0);
    assert_eq!(console.peek_all([HULLS, GAME_OVER, LEVEL, GAMES]), [3, 0, 1, 1]);
    let x = console.peek(SUB_X);
    console.hold(RIGHT);
    console.run(4);
    assert_eq!(console.peek(SUB_X), x + 8);
}

#[test]
fn its_picture_has_all_four_shades() {
    let console = started();
    let shades: BTreeSet<u8> = console.shades().into_iter().collect();
    assert_eq!(shades.len(), 4);
}

#[test]
fn the_submarine_stays_in_the_sea() {
    for (button, address, end) in
        [(RIGHT, SUB_X, 160), (LEFT, SUB_X, 16), (UP, SUB_Y, 24), (DOWN, SUB_Y, 128)]
    {
        let mut console = started();
        console.hold(button);
        console.run(90);
        assert_eq!(console.peek(address), end);
    }
}

#[test]
fn a_player_who_does_nothing_loses_within_a_minute() {
    let mut console = started();
    let frames = play(&mut console, 3600, |_| 0);
    assert_eq!((console.peek(GAME_OVER), console.peek(HULLS)), (1, 0), "after {frames} frames");
}

#[test]
fn careful_play_earns_far_more_than_random_play() {
    let mut careful_console = started();
    let frames = play(&mut careful_console, 12_000, careful);
    assert!(frames > 1800, "a few minutes of play, not {frames} frames");
    let mut best_random = 0;
    for seed in 0..8 {
        let mut console = started();
        play(&mut console, 12_000, random(seed));
        best_random = best_random.max(score(&console));
    }
    let careful_score = score(&careful_console);
    assert!(careful_score > 2 * best_random, "{careful_score} against {best_random}");
}

#[test]
fn the_digits_on_the_screen_are_the_score() {
    let mut console = started();
    for _ in 0..40 {
        play(&mut console, 60, careful);
        let digits = console.range(DIGITS, DIGITS + 5);
        let shown = digits.iter().fold(0, |sum, digit| sum * 10 + u16::from(*digit));
        assert_eq!(shown, score(&console));
    }
    assert!(score(&console) > 100);
}

#[test]
fn the_score_stays_at_its_highest() {
    let mut console = started();
    console.poke_word(0xC000, 65_534);
    for (address, digit) in (DIGITS..).zip([6, 5, 5, 3, 4]) {
        console.poke(address, digit);
    }
    play(&mut console, 2000, careful);
    assert_eq!(score(&console), u16::MAX);
    assert_eq!(console.range(DIGITS, DIGITS + 5), [6, 5, 5, 3, 5]);
}

#[test]
fn a_hit_costs_one_hull_and_gives_time_to_flee() {
    let mut console = started();
    while console.peek(HULLS) == 3 {
        console.run(1);
    }
    // The frame of the hit counted one down already.
    assert_eq!((console.peek(HULLS), console.peek(SAFE)), (2, 95));
    console.run(94);
    assert_eq!(console.peek(HULLS), 2);
}

#[test]
fn start_begins_anew_after_the_end_and_not_before() {
    let mut console = started();
    console.hold(START);
    console.run(10);
    assert_eq!(console.peek(GAMES), 1);
    play(&mut console, 3600, |_| 0);
    let best = console.range(DIGITS, DIGITS + 5);
    console.run(100);
    assert_eq!(console.peek(GAMES), 1);
    console.hold(START);
    console.run(2);
    assert_eq!(console.peek_all([HULLS, GAME_OVER, LEVEL, GAMES]), [3, 0, 1, 2]);
    assert_eq!(score(&console), 0);
    assert_eq!(console.range(0xC015, 0xC01A), best, "the best score is kept");
}

#[test]
fn the_level_rises_every_1024_frames() {
    let mut console = started();
    play(&mut console, 2000, careful);
    let frames = console.word(0xC008);
    assert_eq!(u16::from(console.peek(LEVEL)), 1 + frames / 1024, "{frames}");
}

#[test]
fn games_played_otherwise_diverge_and_games_played_alike_do_not() {
    let after = |seed| {
        let mut console = started();
        play(&mut console, 400, random(seed));
        console.range(0xC000, 0xC070)
    };
    assert_eq!(after(1), after(1));
    assert_ne!(after(1), after(2));
}
