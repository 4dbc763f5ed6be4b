//! KEEP_OF_KEYS's scripted player, which knows the game's memory.

use crate::console::{A, Begin, Console, DOWN, LEFT, RIGHT, START, UP};
use std::collections::VecDeque;

const SCORE: u16 = 0xC000;
pub(super) const LIVES: u16 = 0xC002;
pub(super) const GAME_OVER: u16 = 0xC003;
pub(super) const FLOOR: u16 = 0xC004;
pub(super) const STATE: u16 = 0xC005;
pub(super) const KEYS: u16 = 0xC010;
pub(super) const OIL: u16 = 0xC012;
pub(super) const ROOM: u16 = 0xC013;
const WIDTH: u16 = 0xC014;
pub(super) const MERCY: u16 = 0xC00E;
const DIRECTION: u16 = 0xC015;
const PIXELS_LEFT: u16 = 0xC016;
const DAZZLED: u16 = 0xC017;
const BEAT: u16 = 0xC019;
pub(super) const CREATURES: u16 = 0xC020;
pub(super) const MAP: u16 = 0xC100;

/// Kinds of places on the floor.
const SPIKES: u8 = 1;
const KEY: u8 = 2;
const FLASK: u8 = 6;
pub(super) const DOOR: u8 = 13;
const GATE: u8 = 14;

/// Buttons of the directions, in the order in which the game numbers them.
const BUTTONS: [u8; 4] = [RIGHT, LEFT, UP, DOWN];
const STEPS: [(i32, i32); 5] = [(1, 0), (-1, 0), (0, -1), (0, 1), (0, 0)];

/// A place of the floor, counted over all its rooms.
type Place = (i32, i32);

/// The whole floor, read from memory.
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
        let place = |index: i32| {
            let (x, y) = (index % width, index / width);
            let room = y / 8 * rooms_wide + x / 10;
            kinds[(room * 80 + y % 8 * 10 + x % 10) as usize]
        };
        Floor { places: (0..width * height).map(place).collect(), width, height }
    }

    fn kind(&self, (x, y): Place) -> u8 {
        let is_inside = (0..self.width).contains(&x) && (0..self.height).contains(&y);
        if is_inside { self.places[(y * self.width + x) as usize] } else { 8 }
    }

    /// Returns the first direction of the shortest way to a place with a wanted kind.
    fn way(&self, from: Place, is_wanted: impl Fn(u8) -> bool) -> Option<usize> {
        let mut first = vec![None; self.places.len()];
        let index = |(x, y): Place| (y * self.width + x) as usize;
        let mut queue = VecDeque::from([(from, None)]);
        first[index(from)] = Some(STAND);
        while let Some((place, way)) = queue.pop_front() {
            for (direction, step) in STEPS[..4].iter().enumerate() {
                let next = (place.0 + step.0, place.1 + step.1);
                let kind = self.kind(next);
                let way = way.or(Some(direction));
                if is_wanted(kind) {
                    return way;
                }
                if is_open(kind) && first[index(next)].is_none() {
                    first[index(next)] = way;
                    queue.push_back((next, way));
                }
            }
        }
        None
    }
}

struct Creature {
    /// Place in the room, in pixels.
    place: (i32, i32),
    /// Speed in sixteenths of a pixel per frame.
    speed: (i32, i32),
    is_hound: bool,
    /// True for creatures that change their direction at random: all except bats and blades.
    is_wild: bool,
}

impl Creature {
    fn distance(&self, to: (i32, i32)) -> i32 {
        (self.place.0 - to.0).abs() + (self.place.1 - to.1).abs()
    }
}

fn creatures(console: &Console) -> Vec<Creature> {
    let creature = |bytes: &[u8]| {
        let speed = i32::from(bytes[5]);
        let (x, y) = match (bytes[0], bytes[3]) {
            (18, way) => (1 - i32::from(way & 1) * 2, 1 - i32::from(way & 2)),
            (_, way) => STEPS[usize::from(way)],
        };
        Creature {
            place: (i32::from(bytes[1]), i32::from(bytes[2])),
            speed: (x * speed, y * speed),
            is_wild: bytes[0] <= 17,
            is_hound: bytes[0] == 17,
        }
    };
    let bytes = console.range(CREATURES, CREATURES + 64);
    bytes.chunks(8).filter(|bytes| bytes[0] != 0).map(creature).collect()
}

/// Plays by the contents of memory: goes to the nearest thing first, then to doors, then to the
/// gate. Waits or steps aside for creatures and spikes, and lights the lantern if that does not
/// help. A player that gains nothing for long walks boldly where a copy of the console loses no
/// heart by it, and in the end everywhere.
#[derive(Default)]
pub(super) struct Player {
    waited: u32,
    score: u16,
    /// Number of frames since the score rose.
    idle: u32,
    /// Number of frames for which the player goes on boldly.
    bold: u32,
}

impl Player {
    pub(super) fn decide(&mut self, console: &Console) -> u8 {
        let score = console.word(SCORE);
        self.idle = if score == self.score { self.idle + 1 } else { 0 };
        self.score = score;
        if self.bold > 0 {
            self.bold -= 1;
            return boldly(console);
        }
        let looks = self.idle > PATIENCE && self.idle.is_multiple_of(6) && console.peek(STATE) == 1;
        if self.idle > 3 * PATIENCE || looks && is_harmless(console) {
            self.bold = BOLD_FRAMES;
            return boldly(console);
        }
        self.carefully(console)
    }

    fn carefully(&mut self, console: &Console) -> u8 {
        if console.peek(STATE) != 1 {
            return 0;
        }
        if console.peek(PIXELS_LEFT) != 0 {
            return BUTTONS[usize::from(console.peek(DIRECTION))];
        }
        let view = View::of(console);
        let Some(way) = view.way(console.peek(KEYS)) else { return 0 };
        let has_light = console.peek(OIL) > 0 && console.peek(DAZZLED) == 0;
        if view.is_hunted() && has_light && console.peek(MERCY) == 0 {
            return A;
        }
        self.waited += 1;
        if view.is_safe(way) {
            self.waited = 0;
            return BUTTONS[way];
        }
        if self.waited > 150 && has_light {
            self.waited = 0;
            return A;
        }
        // Standing still is the last way, which wins if no creature is near.
        let ways = [3, 2, 1, 0, STAND];
        let far = |way: &usize| view.distance(*way);
        match ways.into_iter().filter(|way| view.is_safe(*way)).max_by_key(far) {
            Some(STAND) => 0,
            Some(way) => BUTTONS[way],
            None if has_light => A,
            None => {
                let open = (0..4).filter(|way| is_open(view.floor.kind(view.next(*way))));
                open.max_by_key(far).map_or(0, |way| BUTTONS[way])
            }
        }
    }
}

/// Frames without a gain after which the player becomes bold, and frames for which it stays so.
const PATIENCE: u32 = 900;
const BOLD_FRAMES: u32 = 90;

/// Returns the button of the shortest way, whatever creatures do. Spikes are waited for.
fn boldly(console: &Console) -> u8 {
    if console.peek(STATE) != 1 {
        return 0;
    }
    if console.peek(PIXELS_LEFT) != 0 {
        return BUTTONS[usize::from(console.peek(DIRECTION))];
    }
    let view = View::of(console);
    match view.way(console.peek(KEYS)) {
        Some(way) if view.floor.kind(view.next(way)) != SPIKES || (2..56).contains(&view.beat) => {
            BUTTONS[way]
        }
        _ => 0,
    }
}

/// Returns true if going on boldly loses no heart.
fn is_harmless(console: &Console) -> bool {
    let mut copy = console.clone();
    let hearts = copy.peek(LIVES);
    (0..BOLD_FRAMES).all(|_| {
        copy.hold(boldly(&copy));
        copy.run(1);
        copy.peek(LIVES) >= hearts
    })
}

/// The number of standing still, after the four directions.
const STAND: usize = 4;

fn is_open(kind: u8) -> bool {
    !(8..16).contains(&kind)
}

/// State of the room by which the player decides.
struct View {
    floor: Floor,
    place: Place,
    pixels: (i32, i32),
    creatures: Vec<Creature>,
    beat: u8,
    /// Number of frames for which no creature can hurt the hero.
    mercy: u8,
}

impl View {
    fn of(console: &Console) -> View {
        let pixels = (i32::from(console.peek(0xC006)), i32::from(console.peek(0xC007)));
        let (room, width) = (i32::from(console.peek(ROOM)), i32::from(console.peek(WIDTH)));
        View {
            floor: Floor::of(console),
            place: (room % width * 10 + pixels.0 / 16, room / width * 8 + pixels.1 / 16),
            pixels,
            creatures: creatures(console),
            beat: console.peek(BEAT) & 127,
            mercy: console.peek(MERCY).max(console.peek(DAZZLED)),
        }
    }

    fn way(&self, keys: u8) -> Option<usize> {
        let thing = self.floor.way(self.place, |kind| (KEY..=FLASK).contains(&kind));
        let door = || self.floor.way(self.place, |kind| keys > 0 && kind == DOOR);
        thing.or_else(door).or_else(|| self.floor.way(self.place, |kind| kind == GATE))
    }

    fn next(&self, way: usize) -> Place {
        let (x, y) = STEPS[way];
        (self.place.0 + x, self.place.1 + y)
    }

    /// Returns true if a hound is close.
    fn is_hunted(&self) -> bool {
        let close = |creature: &Creature| creature.is_hound && creature.distance(self.pixels) < 40;
        self.creatures.iter().any(close)
    }

    /// Returns the number of pixels to the nearest creature after a step, up to the limit beyond
    /// which creatures are no danger.
    fn distance(&self, way: usize) -> i32 {
        let hero = (self.pixels.0 + 16 * STEPS[way].0, self.pixels.1 + 16 * STEPS[way].1);
        let wild = self.creatures.iter().filter(|creature| creature.is_wild);
        wild.map(|creature| creature.distance(hero)).min().unwrap_or(64).min(64)
    }

    /// Returns true if a step meets neither spikes nor a creature, supposed that creatures keep
    /// their speed.
    fn is_safe(&self, way: usize) -> bool {
        let kind = self.floor.kind(self.next(way));
        let may_step = way != STAND || self.beat > 70;
        match kind {
            DOOR | GATE => return true,
            SPIKES if may_step && !(2..56).contains(&self.beat) => return false,
            _ if !is_open(kind) => return false,
            _ if self.mercy > 12 => return true,
            _ => {}
        }
        self.creatures.iter().all(|creature| {
            let reach = if creature.is_wild { 16 } else { 13 };
            (0..14).all(|frame| {
                let moved = (2 * frame).min(16);
                let x = (creature.place.0 * 16 + creature.speed.0 * frame) / 16
                    - (self.pixels.0 + STEPS[way].0 * moved);
                let y = (creature.place.1 * 16 + creature.speed.1 * frame) / 16
                    - (self.pixels.1 + STEPS[way].1 * moved);
                x.abs() >= reach || y.abs() >= reach
            })
        })
    }
}

/// Returns the game, begun from the title after `frames` frames.
pub(super) fn started_after(frames: u32) -> Console {
    start(Console::with("KEEP_OF_KEYS"), frames)
}

pub(super) fn start(mut console: Console, frames: u32) -> Console {
    console.run(20 + frames);
    press_start(console)
}

fn press_start(mut console: Console) -> Console {
    console.hold(START);
    console.run(2);
    console.hold(0);
    console.run(10);
    console
}

/// Plays until the game is over, or for `frames` frames.
pub(super) fn play(console: &mut Console, frames: u32) {
    let mut player = Player::default();
    for _ in 0..frames {
        if console.peek(GAME_OVER) == 1 {
            return;
        }
        let buttons = player.decide(console);
        console.hold(buttons);
        console.run(1);
    }
}

/// Returns a game that just began.
pub(super) fn begun(begin: Begin) -> Console {
    press_start(Console::begun("KEEP_OF_KEYS", begin, 20))
}

/// Returns the player's game of at most `frames` frames.
pub(crate) fn played(frames: u32, begin: Begin) -> Console {
    let game = |number: u32| {
        let wait = number * Begin::TRY_FRAMES;
        let mut console = begun(begin);
        console.run(wait);
        play(&mut console, frames - wait);
        console
    };
    begin.first_good(game, is_won)
}

/// Returns true if the game went well.
pub(crate) fn is_won(console: &Console) -> bool {
    console.peek(0xC01A) == 1
}
