//! LANTERN_WING's scripted player, which knows the game's memory.

use crate::console::{A, Begin, Console, DOWN, LEFT, RIGHT, START, UP};

pub(super) const GAME_OVER: u16 = 0xC003;
pub(super) const STATE: u16 = 0xC005;
pub(super) const QUEEN_HP: u16 = 0xC013;
const QUEEN: u16 = 0xC014;
pub(super) const SWARM: u16 = 0xC100;
const SHOTS: u16 = 0xC200;

pub(super) const PLAY: u8 = 1;
const OIL: u8 = 5;

/// An object that flies: its middle and its speed, in pixels.
#[derive(Clone, Copy)]
pub(super) struct Flyer {
    kind: u8,
    place: (f32, f32),
    speed: (f32, f32),
    /// Half the size of the square in which it touches others.
    reach: f32,
}

fn speed(byte: u8) -> f32 {
    f32::from(byte as i8) / 16.0
}

/// Returns an object of a kind whose upper left corner is at `[x, y]`. An x above 240 lies beyond
/// the left edge.
fn flyer(kind: u8, [x, y]: [u8; 2], [dx, dy]: [u8; 2], half: f32, reach: f32) -> Flyer {
    let x = if x > 240 { f32::from(x) - 256.0 } else { f32::from(x) };
    let place = (x + half, f32::from(y) + 8.0);
    Flyer { kind, place, speed: (speed(dx), speed(dy)), reach }
}

fn swarm(console: &Console) -> Vec<Flyer> {
    let bytes = console.range(SWARM, SWARM + 160);
    let rows = bytes.chunks(16).filter(|row| (1..=OIL).contains(&row[0]));
    rows.map(|row| flyer(row[0], [row[3], row[5]], [row[9], row[10]], 8.0, 11.0)).collect()
}

pub(super) fn shots(console: &Console) -> Vec<Flyer> {
    let bytes = console.range(SHOTS, SHOTS + 96);
    let rows = bytes.chunks(8).filter(|row| row[0] != 0);
    rows.map(|row| flyer(0, [row[2], row[4]], [row[5], row[6]], 4.0, 6.0)).collect()
}

/// Returns the buttons of a pilot who looks half a second ahead: away from objects that will touch
/// the glider, else to the height of the target; A is always pressed.
pub(super) fn pilot(console: &Console) -> u8 {
    let [x, y] = console.peek_all([0xC006, 0xC007]).map(|byte| f32::from(byte) + 8.0);
    let swarm = swarm(console);
    let (oil, wild): (Vec<Flyer>, Vec<Flyer>) = swarm.into_iter().partition(|f| f.kind == OIL);
    let mut danger = wild.clone();
    danger.extend(shots(console));
    let queen = console.peek_all([QUEEN, QUEEN + 1]).map(|byte| f32::from(byte) + 24.0);
    let has_queen = console.peek(QUEEN_HP) > 0;
    if has_queen {
        let place = (queen[0], queen[1]);
        danger.push(Flyer { kind: 0, place, speed: (0.0, 0.0), reach: 30.0 });
    }
    let ahead = wild.iter().filter(|f| f.place.0 > x + 12.0 && f.place.0 < 176.0);
    let target = ahead.min_by(|one, two| one.place.0.total_cmp(&two.place.0));
    let home = (48.0, 72.0);
    let wanted = if let Some(oil) = oil.first() {
        oil.place
    } else if let Some(target) = target {
        (home.0, target.place.1 + target.speed.1 * 8.0)
    } else if has_queen {
        (home.0, queen[1])
    } else {
        home
    };
    let moves = [(0.0, 0.0, 0), (0.0, -2.0, UP), (0.0, 2.0, DOWN), (-2.0, 0.0, LEFT)];
    let moves = moves.into_iter().chain([
        (2.0, 0.0, RIGHT),
        (-2.0, -2.0, LEFT | UP),
        (-2.0, 2.0, LEFT | DOWN),
        (2.0, -2.0, RIGHT | UP),
        (2.0, 2.0, RIGHT | DOWN),
    ]);
    let cost = |(dx, dy, _): &(f32, f32, u8)| {
        let mut cost = 0.0;
        for frame in 1..30u8 {
            let time = f32::from(frame);
            let moved = time.min(10.0);
            let (x, y) = ((x + dx * moved).clamp(24.0, 128.0), (y + dy * moved).clamp(26.0, 132.0));
            for flyer in &danger {
                let far = (flyer.place.0 + flyer.speed.0 * time - x)
                    .abs()
                    .max((flyer.place.1 + flyer.speed.1 * time - y).abs());
                if far < flyer.reach + 2.0 {
                    cost += 4000.0 / time;
                }
            }
            if frame == 10 {
                cost += (y - wanted.1).abs() + 0.5 * (x - wanted.0).abs();
            }
        }
        cost
    };
    let best = moves.min_by(|one, two| cost(one).total_cmp(&cost(two)));
    best.map_or(0, |(_, _, buttons)| buttons) | A
}

/// Returns a console with the game in its first sector.
pub(super) fn started(mut console: Console) -> Console {
    console.run(40);
    press_start(console)
}

fn press_start(mut console: Console) -> Console {
    console.hold(START);
    console.run(4);
    console.hold(0);
    run_to(&mut console, PLAY);
    console
}

pub(super) fn console() -> Console {
    started(Console::with("LANTERN_WING"))
}

fn run_to(console: &mut Console, state: u8) {
    for _ in 0..200 {
        if console.peek(STATE) == state {
            return;
        }
        console.run(1);
    }
    panic!("no state {state} in two hundred frames");
}

/// Returns the pilot's game of at most `frames` frames.
pub(crate) fn played(frames: u32, begin: Begin) -> Console {
    let mut console = press_start(Console::begun("LANTERN_WING", begin, 40));
    while console.frames < frames && console.peek(GAME_OVER) == 0 {
        console.hold(pilot(&console));
        console.run(2);
    }
    console
}

/// Returns true if the game went well.
pub(crate) fn is_won(console: &Console) -> bool {
    console.word(0xC000) >= 200
}
