//! TARN_MASON's scripted player, which knows the game's memory.

use crate::console::{A, Begin, Console, LEFT, RIGHT, START, UP};

pub(super) const GAME_OVER: u16 = 0xC003;
pub(super) const STATE: u16 = 0xC005;
pub(super) const COLUMN: u16 = 0xC006;
const SHAPE: u16 = 0xC010;
const TURN: u16 = 0xC011;
pub(super) const HEIGHTS: u16 = 0xC020;

pub(super) const PLAY: u8 = 1;
pub(super) const COLUMNS: usize = 12;

/// Returns the water on each column, and the points that it brings, by the rule of the game's page.
pub(super) fn forecast(heights: &[u8]) -> (Vec<u8>, u32) {
    let highest = |side: &[u8]| side.iter().copied().max().unwrap_or(0);
    let surface = |column: usize| highest(&heights[..=column]).min(highest(&heights[column..]));
    let depth = |column: usize| surface(column) - heights[column];
    let mut water: Vec<u8> = (0..heights.len()).map(depth).collect();
    let mut first = 0;
    for tarn in water.split_mut(|depth| *depth == 0) {
        if heights[first..first + tarn.len()].contains(&0) {
            tarn.fill(0);
        }
        first += tarn.len() + 1;
    }
    let tarns = water.split(|depth| *depth == 0);
    let volume = |tarn: &[u8]| tarn.iter().map(|depth| u32::from(*depth)).sum::<u32>();
    let worth = tarns.map(|tarn| volume(tarn) * u32::from(highest(tarn))).sum();
    (water, worth)
}

/// A mason that lays each load where rain would bring the most points, and builds no towers.
pub(super) struct Mason {
    shapes: u16,
    /// Number of the current load, with the turn and the column planned for it.
    plan: Option<(u16, u8, u8)>,
    is_pressed: bool,
}

impl Mason {
    /// Makes a mason; `shapes` is the address of the game's table of shapes.
    pub(super) fn new(shapes: u16) -> Mason {
        Mason { shapes, plan: None, is_pressed: false }
    }

    /// Returns the number of stones that a shape brings to each of its columns.
    fn stones(&self, console: &Console, turn: u8) -> Vec<u8> {
        let shape = self.shapes + u16::from(console.peek(SHAPE)) * 16 + u16::from(turn) * 4;
        let rows = console.range(shape, shape + 3);
        let count = |column: u8| rows.iter().map(|row| row >> (2 - column) & 1).sum();
        (0..console.peek(shape + 3)).map(count).collect()
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

    /// Returns the buttons for the next frame.
    pub(super) fn buttons(&mut self, console: &Console) -> u8 {
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
            place if place < column => RIGHT,
            place if place > column => LEFT,
            _ => UP,
        }
    }
}

/// Returns a console with the game, past its title.
pub(super) fn started(mut console: Console) -> Console {
    console.run(40);
    press_start(console)
}

fn press_start(mut console: Console) -> Console {
    console.hold(START);
    console.run(2);
    console.hold(0);
    console.run(4);
    console
}

pub(super) fn console() -> Console {
    started(Console::with("TARN_MASON"))
}

/// Returns the mason's game of at most `frames` frames.
pub(crate) fn played(frames: u32, begin: Begin) -> Console {
    let console = Console::begun("TARN_MASON", begin, 40);
    let (mut console, mut mason) = (press_start(console), mason());
    while console.frames < frames && console.peek(GAME_OVER) == 0 {
        let buttons = mason.buttons(&console);
        console.hold(buttons);
        console.run(1);
    }
    console
}

pub(super) fn mason() -> Mason {
    let rom = gbxcule_assembler::by_name("TARN_MASON").expect("the game").rom();
    Mason::new(rom.address("Shapes").expect("a label of the game"))
}

/// Returns true if the game went well.
pub(crate) fn is_won(console: &Console) -> bool {
    console.word(0xC000) >= 4000
}
