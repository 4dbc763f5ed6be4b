//! TARN_MASON as its page in the documentation promises it: rain, tarns, landslides, and a player.

use crate::console::{A, Console, LEFT, RIGHT, START, UP};

const LIVES: u16 = 0xC002;
const GAME_OVER: u16 = 0xC003;
const LEVEL: u16 = 0xC004;
const STATE: u16 = 0xC005;
const COLUMN: u16 = 0xC006;
const RAIN_IN: u16 = 0xC00E;
const GAMES: u16 = 0xC00F;
const SHAPE: u16 = 0xC010;
const TURN: u16 = 0xC011;
const WORTH: u16 = 0xC013;
const RAINS: u16 = 0xC015;
const HEIGHTS: u16 = 0xC020;
const WATER: u16 = 0xC030;
const STONES: u16 = 0xC100;

const PLAY: u8 = 1;
const OVER: u8 = 2;
const RAIN: u8 = 4;
const SLIDE: u8 = 6;
const GRANITE: u8 = 4;
const COLUMNS: usize = 12;

/// Water on each column, and the points it brings: the rule as the page states it.
fn forecast(heights: &[u8]) -> (Vec<u8>, u32) {
    let highest = |side: &[u8]| side.iter().copied().max().unwrap_or(0);
    let surface = |at: usize| highest(&heights[..=at]).min(highest(&heights[at..]));
    let mut water: Vec<u8> = (0..heights.len()).map(|at| surface(at) - heights[at]).collect();
    let mut at = 0;
    for tarn in water.split_mut(|depth| *depth == 0) {
        if heights[at..at + tarn.len()].contains(&0) {
            tarn.fill(0);
        }
        at += tarn.len() + 1;
    }
    let tarns = water.split(|depth| *depth == 0);
    let volume = |tarn: &[u8]| tarn.iter().map(|depth| u32::from(*depth)).sum::<u32>();
    let worth = tarns.map(|tarn| volume(tarn) * u32::from(highest(tarn))).sum();
    (water, worth)
}

/// A mason who lays each load where rain would bring most, and builds no towers.
struct Mason {
    shapes: u16,
    /// Turn and column for the load at hand, whose number is kept with them.
    plan: Option<(u16, u8, u8)>,
    is_pressed: bool,
}

impl Mason {
    /// `shapes`: address of the game's table.
    fn new(shapes: u16) -> Mason {
        Mason { shapes, plan: None, is_pressed: false }
    }

    /// Stones that a shape brings to each of its columns.
    fn stones(&self, console: &Console, turn: u8) -> Vec<u8> {
        let at = self.shapes + u16::from(console.peek(SHAPE)) * 16 + u16::from(turn) * 4;
        let rows = console.range(at, at + 3);
        let count = |column: u8| rows.iter().map(|row| row >> (2 - column) & 1).sum();
        (0..console.peek(at + 3)).map(count).collect()
    }

    fn choose(&self, console: &Console) -> (u8, u8) {
        let heights = console.range(HEIGHTS, HEIGHTS + COLUMNS as u16);
        let mut best = (i32::MIN, 0, 0);
        for turn in 0..4 {
            let stones = self.stones(console, turn);
            for column in 0..=COLUMNS - stones.len() {
                let mut after = heights.clone();
                for (height, more) in after[column..].iter_mut().zip(&stones) {
                    *height += more;
                }
                let towers: i32 =
                    after.iter().map(|height| (i32::from(*height) - 9).max(0).pow(2)).sum();
                let bare = after.iter().filter(|height| **height == 0).count() as i32;
                let value = forecast(&after).1 as i32 - 2 * bare - 30 * towers;
                best = best.max((value, turn, column as u8));
            }
        }
        (best.1, best.2)
    }

    /// The buttons for the next frame.
    fn buttons(&mut self, console: &Console) -> u8 {
        self.is_pressed = !self.is_pressed && console.peek(STATE) == PLAY;
        if !self.is_pressed {
            return 0;
        }
        let load = console.word(0xC008);
        if self.plan.is_none_or(|plan| plan.0 != load) {
            let (turn, column) = self.choose(console);
            self.plan = Some((load, turn, column));
        }
        let (_, turn, column) = self.plan.unwrap_or_default();
        match console.peek(COLUMN) {
            _ if console.peek(TURN) != turn => A,
            at if at < column => RIGHT,
            at if at > column => LEFT,
            _ => UP,
        }
    }
}

/// A console with the game, past its title.
fn started(mut console: Console) -> Console {
    console.run(40);
    console.hold(START);
    console.run(2);
    console.hold(0);
    console.run(4);
    console
}

fn console() -> Console {
    started(Console::with("TARN_MASON"))
}

/// The mason's game of at most so many frames, begun a little later than others.
pub(crate) fn played(frames: u32, later: u32) -> Console {
    let mut console = Console::with("TARN_MASON");
    console.run(later);
    let (mut console, mut mason) = (started(console), mason());
    while console.frames < frames && console.peek(GAME_OVER) == 0 {
        let buttons = mason.buttons(&console);
        console.hold(buttons);
        console.run(1);
    }
    console
}

fn mason() -> Mason {
    let rom = gbxcule_assembler::by_name("TARN_MASON").expect("the game").rom();
    Mason::new(rom.address("Shapes").expect("a label of the game"))
}

fn heights(console: &Console) -> Vec<u8> {
    console.range(HEIGHTS, HEIGHTS + COLUMNS as u16)
}

/// Stones of each column, the lowest first.
fn stones(console: &Console) -> Vec<Vec<u8>> {
    let stone = |column: usize, row: u16| console.peek(STONES + row * 16 + column as u16);
    let column = |column| (0..16).rev().map(move |row| stone(column, row));
    (0..COLUMNS).map(|at| column(at).take_while(|stone| *stone != 0).collect()).collect()
}

/// The stones that rain leaves: the rule as the page states it.
fn dissolved(stones: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let heights: Vec<u8> = stones.iter().map(|column| column.len() as u8).collect();
    let (water, _) = forecast(&heights);
    let is_touched = |column: usize, at: usize| {
        let depth = usize::from(water[column]);
        let is_under = depth > 0 && at + depth >= stones[column].len();
        let beside = [column.wrapping_sub(1), column + 1].into_iter().any(|side| {
            let floor = stones.get(side).map_or(0, Vec::len);
            let depth = water.get(side).map_or(0, |depth| usize::from(*depth));
            (floor..floor + depth).contains(&at)
        });
        is_under || beside
    };
    let column = |column: usize| {
        let stones = stones[column].iter().enumerate();
        stones
            .filter_map(|(at, stone)| match (is_touched(column, at), *stone) {
                (false, stone) => Some(stone),
                (true, GRANITE) => Some(1),
                (true, _) => None,
            })
            .collect()
    };
    (0..stones.len()).map(column).collect()
}

/// Runs until the state is one of these, under the buttons that the player presses.
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
    assert_eq!([STATE, GAMES].map(|address| console.peek(address)), [0, 0]);
    let console = started(console);
    let found = [STATE, GAMES, LIVES, LEVEL, GAME_OVER, RAIN_IN].map(|at| console.peek(at));
    assert_eq!(found, [PLAY, 1, 3, 1, 0, 6]);
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
    assert_eq!([GAME_OVER, STATE].map(|address| console.peek(address)), [1, OVER]);
    console.hold(UP);
    console.run(100);
    assert_eq!(console.peek(GAMES), 1, "the end waits for START");
    let console = started(console);
    let found = [STATE, GAMES, LIVES, LEVEL, GAME_OVER].map(|at| console.peek(at));
    assert_eq!(found, [PLAY, 2, 3, 1, 0]);
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
    let mut seed: u32 = 5;
    for _ in 0..1500 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random.hold([0, LEFT, RIGHT, A, UP][(seed >> 24) as usize % 5]);
        random.run(4);
    }
    let [planned_score, random_score] = [&planned, &random].map(|console| console.word(0xC000));
    assert!(planned.peek(LEVEL) >= 5, "level {}", planned.peek(LEVEL));
    assert!(planned_score > 4 * random_score.max(100), "{planned_score} against {random_score}");
}

#[test]
fn seed_and_buttons_decide_the_game() {
    let game = |seed: Option<[u8; 2]>, buttons: u8| {
        let rom = gbxcule_assembler::by_name("TARN_MASON").expect("the game").rom();
        let mut bytes = rom.bytes.clone();
        if let Some(seed) = seed {
            let at = usize::from(rom.address("Seed").expect("a label of the game"));
            bytes[at..at + 2].copy_from_slice(&seed);
        }
        let mut console = started(Console::of(&bytes));
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
