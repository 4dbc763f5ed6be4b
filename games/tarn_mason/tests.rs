//! Tests of what TARN_MASON's page in the documentation promises: rain, tarns, landslides, and a
//! player.

pub(crate) mod player;

use crate::chance::{random_buttons, rom_with_seed};
use crate::console::{A, Console, LEFT, RIGHT, START, UP};
use player::{
    COLUMN, COLUMNS, GAME_OVER, HEIGHTS, Mason, PLAY, STATE, console, forecast, mason, started,
};

const LIVES: u16 = 0xC002;
const LEVEL: u16 = 0xC004;
const RAIN_IN: u16 = 0xC00E;
const GAMES: u16 = 0xC00F;
const WORTH: u16 = 0xC013;
const RAINS: u16 = 0xC015;
const WATER: u16 = 0xC030;
const STONES: u16 = 0xC100;
const OVER: u8 = 2;
const RAIN: u8 = 4;
const SLIDE: u8 = 6;
const GRANITE: u8 = 4;

fn heights(console: &Console) -> Vec<u8> {
    console.range(HEIGHTS, HEIGHTS + COLUMNS as u16)
}

/// Returns the stones of each column, the lowest first.
fn stones(console: &Console) -> Vec<Vec<u8>> {
    let stone = |column: usize, row: u16| console.peek(STONES + row * 16 + column as u16);
    let column = |column| (0..16).rev().map(move |row| stone(column, row));
    (0..COLUMNS).map(|number| column(number).take_while(|stone| *stone != 0).collect()).collect()
}

/// Returns the stones that rain leaves, by the rule of the game's page.
fn dissolved(stones: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let heights: Vec<u8> = stones.iter().map(|column| column.len() as u8).collect();
    let (water, _) = forecast(&heights);
    let is_touched = |column: usize, row: usize| {
        let depth = usize::from(water[column]);
        let is_under = depth > 0 && row + depth >= stones[column].len();
        let beside = [column.wrapping_sub(1), column + 1].into_iter().any(|side| {
            let floor = stones.get(side).map_or(0, Vec::len);
            let depth = water.get(side).map_or(0, |depth| usize::from(*depth));
            (floor..floor + depth).contains(&row)
        });
        is_under || beside
    };
    let column = |column: usize| {
        let stones = stones[column].iter().enumerate();
        stones
            .filter_map(|(row, stone)| match (is_touched(column, row), *stone) {
                (false, stone) => Some(stone),
                (true, GRANITE) => Some(1),
                (true, _) => None,
            })
            .collect()
    };
    (0..stones.len()).map(column).collect()
}

/// Runs until the state is one of these, with the buttons that the player presses.
fn run_to(console: &mut Console, mason: &mut Mason, states: &[u8]) {
    for _ in 0..2000 {
        if states.contains(&console.peek(STATE)) {
            return;
        }
        let buttons = mason.buttons(console);
        console.hold(buttons);
        console.run(1);
    }
    panic!("no state of {states:?} in two thousand frames");
}

#[test]
fn start_begins_a_game_from_the_title() {
    let mut console = Console::with("TARN_MASON");
    console.run(100);
    assert_eq!(console.peek_all([STATE, GAMES]), [0, 0]);
    let console = started(console);
    assert_eq!(
        console.peek_all([STATE, GAMES, LIVES, LEVEL, GAME_OVER, RAIN_IN]),
        [PLAY, 1, 3, 1, 0, 6]
    );
    assert_eq!(console.word(0xC000), 0);
}

#[test]
fn a_direction_held_since_the_title_moves_the_first_load() {
    let mut console = Console::with("TARN_MASON");
    console.run(40);
    console.hold(RIGHT | START);
    console.run(2);
    console.hold(RIGHT);
    console.run(4);
    assert_eq!((console.peek(STATE), console.peek(COLUMN)), (PLAY, 5));
    console.run(12);
    assert!(console.peek(COLUMN) > 5);
}

#[test]
fn rain_fills_pays_and_dissolves_by_the_rule() {
    let (mut console, mut mason) = (console(), mason());
    let mut earned = 0;
    while console.peek(LEVEL) < 4 {
        run_to(&mut console, &mut mason, &[RAIN, SLIDE]);
        assert_eq!(console.peek(STATE), RAIN, "this player builds no towers");
        let (water, worth) = forecast(&heights(&console));
        assert_eq!(console.range(WATER, WATER + COLUMNS as u16), water);
        assert_eq!(u32::from(console.word(WORTH)), worth);
        let left = dissolved(&stones(&console));
        earned += worth;
        run_to(&mut console, &mut mason, &[PLAY]);
        assert_eq!(u32::from(console.word(0xC000)), earned);
        assert_eq!(stones(&console), left);
        let lengths: Vec<u8> = left.iter().map(|column| column.len() as u8).collect();
        assert_eq!(heights(&console), lengths);
        assert_eq!(console.peek(LEVEL), 1 + console.peek(RAINS) / 3);
    }
    assert!(earned > 300, "{earned} points in nine rains");
}

#[test]
fn a_player_who_stacks_brings_landslides_and_then_the_end() {
    let mut console = console();
    let mut lives = Vec::new();
    for frame in 0..8000 {
        console.hold(if frame % 2 == 0 { UP } else { 0 });
        console.run(1);
        if lives.last() != Some(&console.peek(LIVES)) {
            lives.push(console.peek(LIVES));
            assert!(heights(&console).iter().all(|height| *height <= 4) || lives.len() == 4);
        }
        if console.peek(GAME_OVER) == 1 {
            break;
        }
    }
    assert_eq!(lives, [3, 2, 1, 0]);
    assert_eq!(console.peek_all([GAME_OVER, STATE]), [1, OVER]);
    console.hold(UP);
    console.run(100);
    assert_eq!(console.peek(GAMES), 1, "the end waits for START");
    let console = started(console);
    assert_eq!(console.peek_all([STATE, GAMES, LIVES, LEVEL, GAME_OVER]), [PLAY, 2, 3, 1, 0]);
}

#[test]
fn planning_earns_far_more_than_chance() {
    let (mut planned, mut mason) = (console(), mason());
    for _ in 0..6000 {
        let buttons = mason.buttons(&planned);
        planned.hold(buttons);
        planned.run(1);
    }
    let mut random = console();
    let mut buttons = random_buttons(5, &[0, LEFT, RIGHT, A, UP]);
    for _ in 0..1500 {
        random.hold(buttons());
        random.run(4);
    }
    let [planned_score, random_score] = [&planned, &random].map(|console| console.word(0xC000));
    assert!(planned.peek(LEVEL) >= 5, "level {}", planned.peek(LEVEL));
    assert!(planned_score > 4 * random_score.max(100), "{planned_score} against {random_score}");
}

#[test]
fn seed_and_buttons_decide_the_game() {
    let game = |seed: Option<[u8; 2]>, buttons: u8| {
        let mut console = started(Console::of(&rom_with_seed("TARN_MASON", seed)));
        for frame in 0..600 {
            console.hold(if frame % 40 < 2 { buttons } else { 0 });
            console.run(1);
        }
        (console.range(0xC000, 0xC070), console.range(STONES, STONES + 256), console.shades())
    };
    assert!(game(None, UP) == game(None, UP));
    assert!(game(None, UP).1 != game(Some([0x34, 0x12]), UP).1);
    assert!(game(None, UP).1 != game(None, UP | LEFT).1);
}
