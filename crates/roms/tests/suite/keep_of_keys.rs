//! KEEP_OF_KEYS as its page promises it, and a scripted player that wins it.

use std::collections::VecDeque;

use crate::console::{A, Console, DOWN, LEFT, RIGHT, START, UP};

const LIVES: u16 = 0xC002;
const GAME_OVER: u16 = 0xC003;
const FLOOR: u16 = 0xC004;
const STATE: u16 = 0xC005;
const SEEN: u16 = 0xC008;
const GAMES: u16 = 0xC00F;
const KEYS: u16 = 0xC010;
const OIL: u16 = 0xC012;
const ROOM: u16 = 0xC013;
const WIDTH: u16 = 0xC014;
const WON: u16 = 0xC01A;
const MAP: u16 = 0xC100;

/// Kinds of places.
const SPIKES: u8 = 1;
const KEY: u8 = 2;
const FLASK: u8 = 6;
const DOOR: u8 = 13;
const GATE: u8 = 14;

/// Directions as the game numbers them.
const BUTTONS: [u8; 4] = [RIGHT, LEFT, UP, DOWN];
const STEPS: [(i32, i32); 4] = [(1, 0), (-1, 0), (0, -1), (0, 1)];

fn score(console: &Console) -> u16 {
    console.word(0xC000)
}

/// A place of the floor, counted over all its rooms.
type Place = (i32, i32);

/// The floor as the player sees it: all of it, from memory.
struct Floor {
    places: Vec<u8>,
    width: i32,
    height: i32,
}

impl Floor {
    fn of(console: &Console) -> Floor {
        let (rooms_wide, rooms) = match console.peek(FLOOR) {
            1 => (3, 6),
            2 => (3, 9),
            _ => (4, 12),
        };
        assert_eq!(i32::from(console.peek(WIDTH)), rooms_wide);
        let kinds = console.range(MAP, MAP + 80 * rooms);
        let (width, height) = (10 * rooms_wide, 8 * i32::from(rooms) / rooms_wide);
        let place = |at: i32| {
            let (x, y) = (at % width, at / width);
            let room = y / 8 * rooms_wide + x / 10;
            kinds[(room * 80 + y % 8 * 10 + x % 10) as usize]
        };
        Floor { places: (0..width * height).map(place).collect(), width, height }
    }

    fn kind(&self, (x, y): Place) -> u8 {
        let is_inside = (0..self.width).contains(&x) && (0..self.height).contains(&y);
        if is_inside { self.places[(y * self.width + x) as usize] } else { 8 }
    }

    /// First direction of the shortest way to a place that is wanted, and what lies there.
    fn way(&self, from: Place, is_wanted: impl Fn(u8) -> bool) -> Option<usize> {
        let mut first = vec![None; self.places.len()];
        let at = |(x, y): Place| (y * self.width + x) as usize;
        let mut queue = VecDeque::from([(from, None)]);
        first[at(from)] = Some(4);
        while let Some((place, way)) = queue.pop_front() {
            for (direction, step) in STEPS.iter().enumerate() {
                let next = (place.0 + step.0, place.1 + step.1);
                let kind = self.kind(next);
                let way = way.or(Some(direction));
                if is_wanted(kind) {
                    return way;
                }
                if !(8..16).contains(&kind) && first[at(next)].is_none() {
                    first[at(next)] = way;
                    queue.push_back((next, way));
                }
            }
        }
        None
    }
}

/// A creature's square and how it moves in a frame, in sixteenths of a pixel.
struct Creature {
    at: (i32, i32),
    speed: (i32, i32),
    is_wild: bool,
}

fn creatures(console: &Console) -> Vec<Creature> {
    let creature = |bytes: &[u8]| {
        let speed = i32::from(bytes[5]);
        let (x, y) = match (bytes[0], bytes[3]) {
            (18, way) => (1 - i32::from(way & 1) * 2, 1 - i32::from(way & 2)),
            (_, way) => STEPS[usize::from(way)],
        };
        Creature {
            at: (i32::from(bytes[1]) * 16, i32::from(bytes[2]) * 16),
            speed: (x * speed, y * speed),
            is_wild: bytes[0] <= 17,
        }
    };
    let bytes = console.range(0xC020, 0xC060);
    bytes.chunks(8).filter(|bytes| bytes[0] != 0).map(creature).collect()
}

/// Plays by what is in memory: the nearest thing first, then doors, then the gate; waits or steps
/// aside for creatures and spikes, and lights the lantern where that does not help.
struct Player {
    waited: u32,
}

impl Player {
    fn decide(&mut self, console: &Console) -> u8 {
        if console.peek(STATE) != 1 {
            return 0;
        }
        let pixels = (i32::from(console.peek(0xC006)), i32::from(console.peek(0xC007)));
        if console.peek(0xC016) != 0 {
            return BUTTONS[usize::from(console.peek(0xC015))];
        }
        let (room, width) = (i32::from(console.peek(ROOM)), i32::from(console.peek(WIDTH)));
        let inside = (pixels.0 / 16, pixels.1 / 16);
        let place = (room % width * 10 + inside.0, room / width * 8 + inside.1);
        let floor = Floor::of(console);
        let keys = console.peek(KEYS);
        let way = floor
            .way(place, |kind| (KEY..=FLASK).contains(&kind))
            .or_else(|| if keys > 0 { floor.way(place, |kind| kind == DOOR) } else { None })
            .or_else(|| floor.way(place, |kind| kind == GATE));
        let is_safe = |way: usize| is_safe(console, &floor, place, pixels, way);
        let Some(way) = way else { return 0 };
        self.waited += 1;
        if is_safe(way) {
            self.waited = 0;
            return BUTTONS[way];
        }
        if self.waited > 150 && console.peek(OIL) > 0 && console.peek(0xC017) == 0 {
            self.waited = 0;
            return A;
        }
        if is_safe(4) {
            return 0;
        }
        if let Some(aside) = (0..4).find(|way| is_safe(*way)) {
            return BUTTONS[aside];
        }
        if console.peek(OIL) > 0 { A } else { 0 }
    }
}

/// Says whether a step (4: none) meets neither spikes nor a creature, if that goes on as it does.
fn is_safe(console: &Console, floor: &Floor, place: Place, pixels: (i32, i32), way: usize) -> bool {
    let step = STEPS.get(way).copied().unwrap_or((0, 0));
    let next = (place.0 + step.0, place.1 + step.1);
    let kind = floor.kind(next);
    if kind == DOOR || kind == GATE {
        return true;
    }
    if (8..16).contains(&kind) {
        return false;
    }
    let beat = console.peek(0xC019) & 127;
    if kind == SPIKES && (way != 4 || beat > 70) && !(2..56).contains(&beat) {
        return false;
    }
    let dazzled = console.peek(0xC017);
    if console.peek(0xC00E) > 12 || dazzled > 12 {
        return true;
    }
    creatures(console).iter().all(|creature| {
        (0..14).all(|frame| {
            let moved = (2 * frame).min(16);
            let hero = (pixels.0 + step.0 * moved, pixels.1 + step.1 * moved);
            let x = (creature.at.0 + creature.speed.0 * frame) / 16 - hero.0;
            let y = (creature.at.1 + creature.speed.1 * frame) / 16 - hero.1;
            let room = if creature.is_wild { 16 } else { 13 };
            x.abs() >= room || y.abs() >= room
        })
    })
}

fn started() -> Console {
    start(Console::with("KEEP_OF_KEYS"))
}

fn start(mut console: Console) -> Console {
    console.run(20);
    console.hold(START);
    console.run(2);
    console.hold(0);
    console.run(10);
    console
}

/// Plays until the game is over, or for so many frames.
fn play(console: &mut Console, frames: u32) -> u32 {
    let mut player = Player { waited: 0 };
    for frame in 0..frames {
        if console.peek(GAME_OVER) == 1 {
            return frame;
        }
        let buttons = player.decide(console);
        console.hold(buttons);
        console.run(1);
    }
    frames
}

#[test]
fn the_scripted_player_wins_all_floors() {
    let mut console = started();
    let frames = play(&mut console, 40_000);
    eprintln!("{frames} {:?} {}", console.range(0xC000, 0xC020), score(&console));
    assert_eq!(console.peek(WON), 1);
}
