//! PEARL_DRIFT's scripted player, which knows the game's memory.

use crate::console::{Begin, Console, DOWN, LEFT, RIGHT, UP};

pub(super) const GAME_OVER: u16 = 0xC003;
pub(super) const SUB_X: u16 = 0xC006;
pub(super) const SUB_Y: u16 = 0xC007;
const THINGS: u16 = 0xC020;

/// Objects in the sea: kind, x and y of each.
fn things(console: &Console) -> Vec<(u8, i32, i32)> {
    let bytes = console.range(THINGS, THINGS + 80);
    let thing = |row: &[u8]| (row[0], i32::from(row[2]), i32::from(row[5]));
    bytes.chunks(8).map(thing).filter(|thing| thing.0 != 0).collect()
}

/// Returns the buttons of a simple player: away from a close object that stings, else towards the
/// nearest pearl.
pub(super) fn careful(console: &Console) -> u8 {
    let (x, y) = (i32::from(console.peek(SUB_X)), i32::from(console.peek(SUB_Y)));
    let things = things(console);
    let near = |&&(kind, tx, ty): &&(u8, i32, i32)| {
        (3..=5).contains(&kind) && (tx - x).abs() < 44 && (ty - y).abs() < 24
    };
    if let Some((_, _, sting_y)) = things.iter().filter(near).min_by_key(|t| (t.1 - x).abs()) {
        return if (*sting_y > y || y > 120) && y > 28 { UP } else { DOWN };
    }
    let wanted = things.iter().filter(|thing| thing.0 <= 2 && thing.1 > x - 30);
    match wanted.min_by_key(|thing| (thing.1 - x).abs() + (thing.2 - y).abs()) {
        Some((_, _, ty)) if *ty < y - 5 => UP,
        Some((_, _, ty)) if *ty > y + 5 => DOWN,
        Some((_, tx, _)) if *tx < x - 6 => LEFT,
        Some((_, tx, _)) if *tx > x + 6 => RIGHT,
        _ => 0,
    }
}

/// Plays to the end or for at most `frames` frames, with a decision every four frames.
pub(super) fn play(
    console: &mut Console,
    frames: u32,
    mut decide: impl FnMut(&Console) -> u8,
) -> u32 {
    for frame in (0..frames).step_by(4) {
        if console.peek(GAME_OVER) == 1 {
            return frame;
        }
        let buttons = decide(console);
        console.hold(buttons);
        console.run(4);
    }
    frames
}

pub(super) fn started() -> Console {
    let mut console = Console::with("PEARL_DRIFT");
    console.run(8);
    console
}

/// Returns the careful player's game of at most `frames` frames. A game without a level begins in a
/// stirred sea.
pub(crate) fn played(frames: u32, begin: Begin) -> Console {
    let mut console = match begin {
        Begin::Later(_) => started(),
        _ => Console::begun("PEARL_DRIFT", begin, 0),
    };
    if let Begin::Later(later) = begin {
        console.hold(UP);
        console.run(later);
    }
    play(&mut console, frames, careful);
    console
}

/// Returns true if the game went well.
pub(crate) fn is_won(console: &Console) -> bool {
    console.word(0xC000) >= 50
}
