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
const MERCY: u16 = 0xC00E;
const DIRECTION: u16 = 0xC015;
const PIXELS_LEFT: u16 = 0xC016;
const DAZZLED: u16 = 0xC017;
const BEAT: u16 = 0xC019;
const CREATURES: u16 = 0xC020;
const MAP: u16 = 0xC100;

/// Kinds of places.
const SPIKES: u8 = 1;
const KEY: u8 = 2;
const FLASK: u8 = 6;
const DOOR: u8 = 13;
const GATE: u8 = 14;

/// Directions as the game numbers them.
const BUTTONS: [u8; 4] = [RIGHT, LEFT, UP, DOWN];
const STEPS: [(i32, i32); 5] = [(1, 0), (-1, 0), (0, -1), (0, 1), (0, 0)];

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
            for (direction, step) in STEPS[..4].iter().enumerate() {
                let next = (place.0 + step.0, place.1 + step.1);
                let kind = self.kind(next);
                let way = way.or(Some(direction));
                if is_wanted(kind) {
                    return way;
                }
                if is_open(kind) && first[at(next)].is_none() {
                    first[at(next)] = way;
                    queue.push_back((next, way));
                }
            }
        }
        None
    }
}

/// A creature's square, in pixels of the room.
struct Creature {
    at: (i32, i32),
    /// Sixteenths of a pixel a frame.
    speed: (i32, i32),
    is_hound: bool,
    /// Creatures other than bats and blades go where they like.
    is_wild: bool,
}

impl Creature {
    fn distance(&self, to: (i32, i32)) -> i32 {
        (self.at.0 - to.0).abs() + (self.at.1 - to.1).abs()
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
            at: (i32::from(bytes[1]), i32::from(bytes[2])),
            speed: (x * speed, y * speed),
            is_wild: bytes[0] <= 17,
            is_hound: bytes[0] == 17,
        }
    };
    let bytes = console.range(CREATURES, CREATURES + 64);
    bytes.chunks(8).filter(|bytes| bytes[0] != 0).map(creature).collect()
}

/// Plays by what is in memory: the nearest thing first, then doors, then the gate; waits or steps
/// aside for creatures and spikes, and lights the lantern where that does not help.
#[derive(Default)]
struct Player {
    waited: u32,
}

impl Player {
    fn decide(&mut self, console: &Console) -> u8 {
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
        // Standing still comes last, so it wins where nothing is near.
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

/// No step at all, beside the four directions.
const STAND: usize = 4;

fn is_open(kind: u8) -> bool {
    !(8..16).contains(&kind)
}

/// Knowledge with which the player decides.
struct View {
    floor: Floor,
    place: Place,
    pixels: (i32, i32),
    creatures: Vec<Creature>,
    beat: u8,
    /// Frames for which no creature can hurt.
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

    /// Says whether a hound is close.
    fn is_hunted(&self) -> bool {
        let close = |creature: &Creature| creature.is_hound && creature.distance(self.pixels) < 40;
        self.creatures.iter().any(close)
    }

    /// Pixels to the nearest creature after a step, as far as that matters.
    fn distance(&self, way: usize) -> i32 {
        let hero = (self.pixels.0 + 16 * STEPS[way].0, self.pixels.1 + 16 * STEPS[way].1);
        let wild = self.creatures.iter().filter(|creature| creature.is_wild);
        wild.map(|creature| creature.distance(hero)).min().unwrap_or(64).min(64)
    }

    /// Says whether a step meets neither spikes nor a creature, if that goes on as it does.
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
                let x = (creature.at.0 * 16 + creature.speed.0 * frame) / 16
                    - (self.pixels.0 + STEPS[way].0 * moved);
                let y = (creature.at.1 * 16 + creature.speed.1 * frame) / 16
                    - (self.pixels.1 + STEPS[way].1 * moved);
                x.abs() >= reach || y.abs() >= reach
            })
        })
    }
}

/// The game, begun from the title after so many frames.
fn started_after(frames: u32) -> Console {
    start(Console::with("KEEP_OF_KEYS"), frames)
}

fn start(mut console: Console, frames: u32) -> Console {
    console.run(20 + frames);
    console.hold(START);
    console.run(2);
    console.hold(0);
    console.run(10);
    console
}

/// Plays until the game is over, or for so many frames.
fn play(console: &mut Console, frames: u32) {
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

/// The player's game of at most so many frames, begun a little later than others.
pub(crate) fn played(frames: u32, later: u32) -> Console {
    let mut console = started_after(later);
    play(&mut console, frames);
    console
}

/// Holds buttons that have nothing to do with what is on the screen, each for some frames.
fn play_blindly(console: &mut Console, frames: u32, mut seed: u32) {
    for _ in (0..frames).step_by(12) {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        console.hold([RIGHT, LEFT, UP, DOWN, A][(seed >> 24) as usize % 5]);
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
        let [is_won, is_over, floor] = [WON, GAME_OVER, FLOOR].map(|at| console.peek(at));
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
    assert_eq!([STATE, GAMES].map(|address| console.peek(address)), [0, 0]);
    let console = start(console, 0);
    assert_eq!([STATE, GAMES, LIVES, FLOOR].map(|address| console.peek(address)), [1, 1, 3, 1]);
}

#[test]
fn a_hero_who_meets_a_guard_often_loses_and_start_begins_anew() {
    let mut console = started_after(0);
    console.hold(UP);
    console.run(80);
    assert_eq!((console.peek(ROOM), console.word(SEEN)), (0, 0b1001));
    // Up and down the way of the guard.
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
    assert_eq!([GAME_OVER, STATE, WON].map(|address| console.peek(address)), [1, 2, 0]);
    let console = start(console, 0);
    assert_eq!([GAME_OVER, STATE, LIVES, GAMES].map(|at| console.peek(at)), [0, 1, 3, 2]);
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
    let mut console = started_after(0);
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
    let hero = [0xC006, 0xC007].map(|address| console.peek(address));
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
    let rom = gbxcule_assembler::by_name("KEEP_OF_KEYS").expect("the game").rom();
    let seed = usize::from(rom.address("Seed").expect("a label of the game"));
    let mut other = rom.bytes.clone();
    other[seed] ^= 0x55;
    let after = |bytes: &[u8], buttons: u32| {
        let mut console = start(Console::of(bytes), 0);
        console.hold(UP);
        console.run(80);
        play_blindly(&mut console, 600, buttons);
        console.range(0xC000, 0xC100)
    };
    assert_eq!(after(&rom.bytes, 1), after(&rom.bytes, 1));
    assert_ne!(after(&rom.bytes, 1), after(&rom.bytes, 2));
    assert_ne!(after(&rom.bytes, 1), after(&other, 1));
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
