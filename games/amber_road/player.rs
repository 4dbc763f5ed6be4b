//! AMBER_ROAD's scripted player, which knows the game's memory.

use crate::console::{A, B, Begin, ColorConsole, LEFT, RIGHT, START};

pub(super) const GAME_OVER: u16 = 0xC003;
pub(super) const STATE: u16 = 0xC005;
const PLACE: u16 = 0xC006;
const SPEED: u16 = 0xC007;
pub(super) const BEND: u16 = 0xC010;
pub(super) const THINGS: u16 = 0xC100;

pub(super) const PLAY: u8 = 1;
const PLANT: u8 = 1;
pub(super) const AMBER: u8 = 4;
const GATE: u8 = 5;

/// An object on the road: its kind, its distance ahead, its place across the road and its speed.
struct Thing {
    kind: u8,
    ahead: f32,
    place: f32,
    speed: f32,
}

fn things(console: &ColorConsole) -> Vec<Thing> {
    let bytes = console.range(THINGS, THINGS + 80);
    let rows = bytes.chunks(8).filter(|row| row[0] != 0 && row[5] == 0);
    let thing = |row: &[u8]| Thing {
        kind: row[0],
        ahead: f32::from(row[3]),
        place: f32::from(row[4] as i8),
        speed: f32::from(row[1]),
    };
    rows.map(thing).collect()
}

/// Carefulness of a driver.
#[derive(Clone, Copy)]
pub(super) struct Care {
    /// Distance across the road at which an object is passed.
    passing: f32,
    /// Cost of the way from which the driver brakes.
    brakes_at: f32,
}

impl Care {
    pub(super) const FIRST: Care = Care { passing: 42.0, brakes_at: 250.0 };

    /// Returns the care of a try: tries brake late and early by turns, and pass at greater and
    /// greater distances.
    fn of_try(number: u32) -> Care {
        let passing = Care::FIRST.passing + 3.0 * (number / 2) as f32;
        Care { passing, brakes_at: if number.is_multiple_of(2) { 250.0 } else { 150.0 } }
    }
}

/// Returns the buttons of a driver who looks a second ahead: towards amber, away from all other
/// objects.
pub(super) fn driver(console: &ColorConsole, care: Care) -> u8 {
    let place = f32::from(console.peek(PLACE)) - 128.0;
    let speed = f32::from(console.peek(SPEED));
    let things = things(console);
    let cost = |wanted: f32| {
        let mut cost = (wanted - place).abs() * 0.2 + wanted.abs() * 0.3;
        for thing in &things {
            let frames = (thing.ahead - 18.0) / ((speed - thing.speed).max(8.0) / 64.0);
            if frames > 110.0 {
                continue;
            }
            // `there` is the sled's place across the road when it meets the object, if it steers to
            // the wanted place.
            let there = place + (wanted - place).clamp(-1.6 * frames, 1.6 * frames);
            let far = (thing.place - there).abs();
            cost += match thing.kind {
                GATE => 0.0,
                AMBER if far < 24.0 => -30.0,
                AMBER => 0.0,
                PLANT if far < 28.0 => 9000.0 / (frames + 10.0),
                PLANT => 0.0,
                _ if far < care.passing => (care.passing + 18.0 - far) * 900.0 / (frames + 10.0),
                _ => 0.0,
            };
        }
        cost
    };
    let wanted = (-7..=7).map(|step| step as f32 * 8.0);
    let wanted = wanted.min_by(|one, two| cost(*one).total_cmp(&cost(*two))).unwrap_or(0.0);
    let is_blocked = cost(wanted) > care.brakes_at;
    let bend = f32::from(console.peek(BEND) as i8);
    let drift = bend * speed / 2048.0 * 6.0;
    let steer = match wanted - place + drift {
        turn if turn > 2.0 => RIGHT,
        turn if turn < -2.0 => LEFT,
        _ => 0,
    };
    if is_blocked && speed > 100.0 { steer | B } else { steer | A }
}

/// Returns a console with the game in its first leg.
pub(super) fn started(mut console: ColorConsole) -> ColorConsole {
    console.run(40);
    press_start(console)
}

fn press_start(mut console: ColorConsole) -> ColorConsole {
    console.hold(START);
    console.run(4);
    console.hold(0);
    for _ in 0..20 {
        if console.peek(STATE) == PLAY {
            return console;
        }
        console.run(1);
    }
    panic!("no game in twenty frames");
}

pub(super) fn console() -> ColorConsole {
    started(ColorConsole::with("AMBER_ROAD"))
}

/// Returns the driver's first good game of at most `frames` frames, or the last try.
pub(crate) fn played(frames: u32, begin: Begin) -> ColorConsole {
    let game = |number: u32| {
        let mut console = press_start(ColorConsole::begun("AMBER_ROAD", begin, 40));
        while console.frames < frames && console.peek(GAME_OVER) == 0 {
            console.hold(driver(&console, Care::of_try(number)));
            console.run(2);
        }
        console
    };
    begin.first_good(game, is_won)
}

/// Returns true if the game went well.
pub(crate) fn is_won(console: &ColorConsole) -> bool {
    console.word(0xC000) >= 1000
}
