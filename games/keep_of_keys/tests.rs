//! Tests of what KEEP_OF_KEYS's page promises, and a scripted player that wins the game.

pub(crate) mod player;

use crate::chance::{random_buttons, rom_with_seed};
use crate::console::{A, Begin, Console, DOWN, LEFT, RIGHT, SELECT, START, UP};
use player::{
    CREATURES, DOOR, FLOOR, GAME_OVER, KEYS, LIVES, MAP, MERCY, OIL, Player, ROOM, STATE, begun,
    play, start, started_after,
};

const SEEN: u16 = 0xC008;
const GAMES: u16 = 0xC00F;
const WON: u16 = 0xC01A;
const GATE: u8 = 14;

fn score(console: &Console) -> u16 {
    console.word(0xC000)
}

/// Returns the first level whose first floor is not mirrored: its gate is where the source has it.
fn unmirrored() -> Console {
    let mut levels = (0..).map(|level| begun(Begin::Level(level)));
    levels.find(|console| console.peek(MAP + 84) == GATE).expect("a quarter of all levels")
}

/// Holds random buttons, each for some frames.
fn play_blindly(console: &mut Console, frames: u32, seed: u32) {
    let mut buttons = random_buttons(seed, &[RIGHT, LEFT, UP, DOWN, A]);
    for _ in (0..frames).step_by(12) {
        console.hold(buttons());
        console.run(12);
    }
}

#[test]
fn the_scripted_player_comes_far_and_often_wins() {
    let everything = 20 * 10 + 6 * 5 + 11 * 25 + 9 * 50 + 3 * (100 + 200) + 500;
    let mut won = 0;
    for frames in 1..4 {
        let mut console = started_after(frames);
        play(&mut console, 15_000);
        let [is_won, is_over, floor] = console.peek_all([WON, GAME_OVER, FLOOR]);
        assert_eq!(is_over, 1, "after {frames} frames");
        assert!(floor >= 2, "after {frames} frames: floor {floor}");
        if is_won == 1 {
            won += 1;
            assert_eq!(score(&console), everything);
        }
    }
    assert!(won > 0);
}

#[test]
fn the_title_waits_for_start() {
    let mut console = Console::with("KEEP_OF_KEYS");
    console.hold(RIGHT | A);
    console.run(100);
    assert_eq!(console.peek_all([STATE, GAMES]), [0, 0]);
    let console = start(console, 0);
    assert_eq!(console.peek_all([STATE, GAMES, LIVES, FLOOR]), [1, 1, 3, 1]);
}

#[test]
fn an_easy_game_has_gems_where_creatures_would_begin_and_no_spikes() {
    let kinds = |buttons: u8| {
        let mut console = Console::with("KEEP_OF_KEYS");
        console.run(40);
        console.hold(buttons);
        console.run(12);
        console.range(MAP, MAP + 480)
    };
    let (hard, easy) = (kinds(START), kinds(START | SELECT));
    let count = |map: &[u8], is_counted: fn(u8) -> bool| {
        map.iter().filter(|kind| is_counted(**kind)).count()
    };
    let is_dangerous = |kind: u8| kind == 1 || kind >= 16;
    assert_eq!(count(&easy, is_dangerous), 0);
    let creatures = count(&hard, |kind| kind >= 16);
    assert!(creatures > 3 && count(&hard, |kind| kind == 1) > 5);
    let gems = |map: &[u8]| count(map, |kind| kind == 4);
    assert_eq!(gems(&easy), gems(&hard) + creatures);
}

/// The counts of a floor's things, such as gems and keys, and its gate's place.
fn floor(level: u32) -> (Vec<u8>, [usize; 15]) {
    let map = begun(Begin::Level(level)).range(MAP, MAP + 480);
    let counts =
        std::array::from_fn(|kind| map.iter().filter(|it| usize::from(**it) == kind).count());
    (map, counts)
}

#[test]
fn the_level_seed_draws_the_floors() {
    let floors: Vec<_> = (0..40).map(floor).collect();
    let maps: std::collections::BTreeSet<_> = floors.iter().map(|floor| &floor.0).collect();
    assert_eq!(maps.len(), 40);
    assert!(floors.iter().all(|floor| floor.1 == floors[0].1), "the same things on each");
    let gates = maps.iter().map(|map| map.iter().position(|kind| *kind == GATE));
    assert_eq!(gates.collect::<std::collections::BTreeSet<_>>().len(), 4, "each mirror");
    let others = (0..40).filter(|level| floor(*level).0 != floors[*level as usize].0);
    assert_eq!(others.count(), 0);
}

#[test]
fn a_hero_who_meets_a_guard_often_loses_and_start_begins_anew() {
    let mut console = unmirrored();
    console.hold(UP);
    console.run(80);
    assert_eq!((console.peek(ROOM), console.word(SEEN)), (0, 0b1001));
    // The hero walks up and down the guard's way.
    let mut lives = vec![console.peek(LIVES)];
    for frame in 0..12_000 {
        console.hold(if frame / 40 % 2 == 0 { UP } else { LEFT });
        console.run(1);
        let left = console.peek(LIVES);
        if lives.last() != Some(&left) {
            lives.push(left);
        }
        if left == 0 {
            break;
        }
    }
    assert_eq!(lives, [3, 2, 1, 0]);
    console.run(200);
    assert_eq!(console.peek_all([GAME_OVER, STATE, WON]), [1, 2, 0]);
    let console = start(console, 0);
    assert_eq!(console.peek_all([GAME_OVER, STATE, LIVES, GAMES]), [0, 1, 3, 2]);
    assert_eq!(score(&console), 0);
}

#[test]
fn a_key_opens_one_door() {
    let mut console = started_after(0);
    let doors = |console: &Console| {
        console.range(MAP, MAP + 480).iter().filter(|kind| **kind == DOOR).count()
    };
    let mut before = (0, 2);
    let mut opened = 0;
    let mut player = Player::default();
    while console.peek(FLOOR) == 1 && console.peek(GAME_OVER) == 0 {
        let now = (console.peek(KEYS), doors(&console));
        if now.1 < before.1 {
            assert_eq!(now, (before.0 - 1, before.1 - 1));
            opened += 1;
        }
        before = now;
        let buttons = player.decide(&console);
        console.hold(buttons);
        console.run(1);
    }
    assert_eq!(opened, 2);
}

#[test]
fn the_lantern_burns_oil_and_stops_all_creatures() {
    let mut console = unmirrored();
    console.hold(UP);
    console.run(80);
    console.hold(0);
    console.run(20);
    assert_eq!(console.peek(OIL), 2);
    console.hold(A);
    console.run(2);
    console.hold(0);
    assert_eq!(console.peek(OIL), 1);
    let before = console.range(CREATURES, CREATURES + 64);
    console.run(170);
    assert_eq!(console.range(CREATURES, CREATURES + 64), before);
    console.run(40);
    assert_ne!(console.range(CREATURES, CREATURES + 64), before);
}

#[test]
fn the_lanterns_light_ends_with_the_game() {
    const PALETTE: u16 = 0xFF47;
    let mut console = started_after(0);
    console.run(40);
    for (address, byte) in [(LIVES, 1), (MERCY, 0), (CREATURES, 16)] {
        console.poke(address, byte);
    }
    let hero = console.peek_all([0xC006, 0xC007]);
    console.poke(CREATURES + 1, hero[0]);
    console.poke(CREATURES + 2, hero[1]);
    console.hold(A);
    while console.peek(GAME_OVER) == 0 && console.frames < 400 {
        console.run(1);
    }
    assert_eq!((console.peek(GAME_OVER), console.peek(OIL)), (1, 1));
    console.run(20);
    assert_eq!(console.peek(PALETTE), 0b1110_0100);
}

#[test]
fn buttons_and_the_seed_decide_the_game_and_nothing_else() {
    let after = |seed: Option<[u8; 2]>, buttons: u32| {
        let mut console = start(Console::of(&rom_with_seed("KEEP_OF_KEYS", seed)), 0);
        console.hold(UP);
        console.run(80);
        play_blindly(&mut console, 600, buttons);
        console.range(0xC000, 0xC100)
    };
    assert_eq!(after(None, 1), after(None, 1));
    assert_ne!(after(None, 1), after(None, 2));
    assert_ne!(after(None, 1), after(Some([0x34, 0x12]), 1));
}

#[test]
fn blind_play_finds_next_to_nothing() {
    let scores: Vec<u16> = (0..6)
        .map(|seed| {
            let mut console = started_after(0);
            play_blindly(&mut console, 3_600, seed);
            assert_eq!(console.peek(FLOOR), 1);
            score(&console)
        })
        .collect();
    assert!(scores.iter().all(|score| *score < 150), "{scores:?}");
}
