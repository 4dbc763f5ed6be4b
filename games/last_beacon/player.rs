//! A scripted player for LAST_BEACON: it knows the rooms from the ROM, finds its way, fights and
//! shops.

use std::collections::{BTreeMap, VecDeque};

use gbxcule_assembler::Rom;

use crate::console::{A, B, Begin, Console, DOWN, LEFT, RIGHT, START, UP};

pub(crate) const HIT_POINTS: u16 = 0xC002;
pub(crate) const GAME_OVER: u16 = 0xC003;
pub(crate) const ROOM: u16 = 0xC004;
pub(crate) const STATE: u16 = 0xC005;
pub(crate) const THINGS: u16 = 0xC008;
pub(crate) const COINS: u16 = 0xC010;
pub(crate) const MAX_HITS: u16 = 0xC014;
pub(crate) const LEVEL: u16 = 0xC015;
pub(crate) const FLASKS: u16 = 0xC016;
pub(crate) const SPARKS: u16 = 0xC017;
pub(crate) const CURSOR: u16 = 0xC01C;
pub(crate) const FOE: u16 = 0xC01D;
pub(crate) const OPENED: u16 = 0xC023;

pub(crate) const WALKING: u8 = 1;
pub(crate) const OVER: u8 = 2;
pub(crate) const TEXT: u8 = 3;
pub(crate) const BATTLE: u8 = 5;

/// Rows of the trader's menu.
pub(crate) const FLASK: u8 = 0;
pub(crate) const LANTERN: u8 = 1;
pub(crate) const SWORD: u8 = 2;
pub(crate) const CHARM: u8 = 3;

const WAYS: [(u8, i32, i32); 4] = [(UP, 0, -1), (DOWN, 0, 1), (LEFT, -1, 0), (RIGHT, 1, 0)];
const FIRST_BODY: u8 = 2;
const CHEST: u8 = 7;
/// The cells of the room, and the one in which foes hide.
const CELLS: u16 = 0xC100;
const TALL_GRASS: u8 = b'U' & 0x1F;

/// Room, column and row.
pub(crate) type Place = (u8, i32, i32);

#[derive(Clone, Copy)]
struct Event {
    kind: u8,
    flag: u8,
    value: [u8; 2],
}

/// Rooms, events and walls, read from the ROM. The player plans with the rooms of the ROM; on a
/// mirrored island it exchanges left and right.
#[derive(Clone)]
struct Island {
    is_mirrored: bool,
    letters: Vec<u8>,
    events: BTreeMap<Place, Event>,
    blocks: Vec<u8>,
}

impl Island {
    fn of(rom: &Rom, console: &Console) -> Island {
        let label = |name: &str| rom.address(name).unwrap_or_else(|| panic!("no label {name}"));
        let bank = |address: u16| &rom.bytes[3 * 0x4000 + usize::from(address) - 0x4000..];
        let mut events = BTreeMap::new();
        for room in 0..22u8 {
            let list = &bank(label("RoomEvents"))[usize::from(room) * 2..];
            let bytes = bank(u16::from_le_bytes([list[0], list[1]]));
            for event in bytes.chunks(5).take_while(|event| event[0] != 0xFF) {
                let place = (room, i32::from(event[0] & 15), i32::from(event[0] >> 4));
                let value = [event[3], event[4]];
                events.insert(place, Event { kind: event[1], flag: event[2], value });
            }
        }
        Island {
            is_mirrored: console.peek(label("Mirrored")) == 1,
            letters: bank(label("Rooms"))[..22 * 80].to_vec(),
            events,
            blocks: bank(label("CellKinds"))[..32].to_vec(),
        }
    }

    /// Returns the button for a way through the rooms.
    fn button(&self, way: u8) -> u8 {
        match way {
            LEFT if self.is_mirrored => RIGHT,
            RIGHT if self.is_mirrored => LEFT,
            way => way,
        }
    }

    /// Returns the column of the ROM's room for a column of the island, or the reverse.
    fn column(&self, x: i32) -> i32 {
        if self.is_mirrored { 9 - x } else { x }
    }

    fn letter(&self, (room, x, y): Place) -> u8 {
        self.letters[usize::from(room) * 80 + (y * 10 + x) as usize]
    }

    fn is_open(&self, place: Place, console: &Console) -> bool {
        let cell = self.letter(place);
        let is_wall = self.blocks[usize::from(cell & 0x1F)] & 1 != 0;
        match self.events.get(&place) {
            Some(event) if event.kind < FIRST_BODY => true,
            Some(event) => event.kind != CHEST && is_set(console, event.flag),
            None => !is_wall,
        }
    }

    /// Returns the place to which a step leads, if there is one.
    fn step(&self, (room, x, y): Place, way: (u8, i32, i32), console: &Console) -> Option<Place> {
        let next = match (x + way.1, y + way.2) {
            (-1, y) => (room.checked_sub(1)?, 9, y),
            (10, y) => (room + 1, 0, y),
            (x, -1) => (room.checked_sub(4)?, x, 7),
            (x, 8) => (room + 4, x, 0),
            (x, y) => (room, x, y),
        };
        if next.0 > 21 || !self.is_open(next, console) {
            return None;
        }
        match self.events.get(&next) {
            Some(Event { kind, value: [room, cell], .. }) if *kind < FIRST_BODY => {
                Some((*room, i32::from(cell & 15), i32::from(cell >> 4)))
            }
            _ => Some(next),
        }
    }
}

fn is_set(console: &Console, flag: u8) -> bool {
    match flag {
        0xFF => false,
        0..=7 => console.peek(THINGS) >> flag & 1 != 0,
        _ => console.peek(OPENED + u16::from(flag - 8) / 8) >> (flag % 8) & 1 != 0,
    }
}

/// Returns the player's whole game.
pub(crate) fn played(frames: u32, begin: Begin) -> Console {
    let game = |number: u32| {
        let mut player = Player::beginning(Console::begun("LAST_BEACON", begin, 60));
        player.console.run(number * Begin::TRY_FRAMES);
        player.win();
        player.console
    };
    begin.first_good(game, |console| is_won(console) && console.frames <= frames)
}

#[derive(Clone)]
pub(crate) struct Player {
    pub(crate) console: Console,
    island: Island,
    /// Number of buttons pressed so far, each for some frames.
    pub(crate) presses: u32,
}

impl Player {
    /// Begins a game; the title is left after `frame` frames.
    pub(crate) fn starting_at(frame: u32) -> Player {
        Player::beginning(Console::begun("LAST_BEACON", Begin::Later(frame), 0))
    }

    /// Presses START on the title.
    pub(crate) fn beginning(console: Console) -> Player {
        let mut console = console;
        console.hold(START);
        console.run(8);
        console.hold(0);
        console.run(60);
        let rom = gbxcule_assembler::by_name("LAST_BEACON").map(|built_in| built_in.rom());
        let island = Island::of(rom.unwrap_or_else(|| panic!("no LAST_BEACON")), &console);
        Player { console, island, presses: 1 }
    }

    pub(crate) fn peek(&self, address: u16) -> u8 {
        self.console.peek(address)
    }

    pub(crate) fn place(&self) -> Place {
        let [room, x, y] = self.console.peek_all([ROOM, 0xC006, 0xC007]);
        (room, self.island.column(i32::from(x)), i32::from(y))
    }

    pub(crate) fn press(&mut self, buttons: u8, held: u32, after: u32) {
        self.presses += 1;
        assert!(self.presses < 20_000, "the player is lost at {:?}", self.place());
        self.console.hold(buttons);
        self.console.run(held);
        self.console.hold(0);
        self.console.run(after);
    }

    /// Reads texts, leaves menus and fights until the hero can walk again or the game is over.
    pub(crate) fn settle(&mut self) {
        loop {
            match self.peek(STATE) {
                WALKING | OVER => return,
                TEXT => self.press(A, 4, 12),
                BATTLE => self.battle(),
                _ => self.press(B, 4, 12),
            }
        }
    }

    /// Walks until one of the places is reached.
    pub(crate) fn walk_to(&mut self, goals: &[Place]) {
        loop {
            self.settle();
            if self.peek(STATE) == OVER || goals.contains(&self.place()) {
                return;
            }
            let way = self.way_to(goals);
            self.press(self.island.button(way), 8, 16);
        }
    }

    fn way_to(&self, goals: &[Place]) -> u8 {
        let from = self.place();
        let mut first: BTreeMap<Place, u8> = BTreeMap::from([(from, 0)]);
        let mut queue = VecDeque::from([from]);
        while let Some(place) = queue.pop_front() {
            if goals.contains(&place) {
                return first[&place];
            }
            for way in WAYS {
                let Some(next) = self.island.step(place, way, &self.console) else { continue };
                if !first.contains_key(&next) {
                    first.insert(next, if place == from { way.0 } else { first[&place] });
                    queue.push_back(next);
                }
            }
        }
        panic!("no way from {from:?} to {goals:?}");
    }

    /// Walks beside a body, looks at it and presses A.
    pub(crate) fn touch(&mut self, (room, x, y): Place) {
        let beside = |way: &(u8, i32, i32)| (room, x - way.1, y - way.2);
        let is_inside = |place: &Place| (0..10).contains(&place.1) && (0..8).contains(&place.2);
        let goals: Vec<Place> = WAYS
            .iter()
            .map(beside)
            .filter(|place| is_inside(place) && self.island.is_open(*place, &self.console))
            .collect();
        self.walk_to(&goals);
        let place = self.place();
        let look = WAYS.iter().find(|way| beside(way) == place).map_or(0, |way| way.0);
        self.press(self.island.button(look), 2, 12);
        self.settle();
        self.press(A, 4, 12);
    }

    /// Touches a body, and plays until the event that it starts is over.
    pub(crate) fn finish(&mut self, place: Place) {
        self.touch(place);
        self.settle();
    }

    /// Returns true if the battle's menu waits for a choice.
    fn is_asked(&self) -> bool {
        self.peek(0x9C23) == b'F' && self.peek(0x9C83) == b'R'
    }

    fn battle(&mut self) {
        while self.peek(STATE) == BATTLE {
            if self.peek(FOE) == 0 || !self.is_asked() {
                self.press(A, 4, 8);
                continue;
            }
            let is_boss = self.peek(FOE) > 6;
            let is_hurt = u32::from(self.peek(HIT_POINTS)) * 5 < u32::from(self.peek(MAX_HITS)) * 2;
            let choice = match () {
                () if is_hurt && self.peek(FLASKS) > 0 => 2,
                () if is_boss && self.peek(SPARKS) > 0 => 1,
                () => 0,
            };
            while self.peek(CURSOR) != choice {
                self.press(DOWN, 2, 3);
            }
            self.press(A, 4, 8);
        }
    }

    /// Goes to the innkeeper if more than half of the hit points are gone.
    pub(crate) fn rest(&mut self) {
        if self.peek(HIT_POINTS) <= self.peek(MAX_HITS) / 2 {
            self.finish((9, 2, 3));
        }
    }

    pub(crate) fn buy(&mut self, row: u8) {
        self.touch((9, 8, 3));
        while self.peek(STATE) == TEXT {
            self.press(A, 4, 12);
        }
        self.console.run(20);
        for _ in 0..row {
            self.press(DOWN, 4, 4);
        }
        self.press(A, 4, 8);
        self.press(B, 4, 8);
        self.settle();
    }

    /// Walks to tall grass in the meadow that has more of it on its left.
    pub(crate) fn walk_to_grass(&mut self) {
        let meadow = |y: i32| (1..9).map(move |x| (5, x, y));
        self.walk_to(&(0..8).flat_map(meadow).collect::<Vec<_>>());
        let is_grass = |x: i32, y: i32| {
            let cell = CELLS + (y * 16 + self.island.column(x)) as u16;
            self.peek(cell) == TALL_GRASS
        };
        let is_wide = |(_, x, y): &Place| is_grass(*x, *y) && is_grass(x - 1, *y);
        let grass: Vec<Place> = (0..8).flat_map(meadow).filter(is_wide).collect();
        self.walk_to(&grass);
    }

    /// Goes to and fro in the grass once.
    pub(crate) fn roam(&mut self) {
        for way in [LEFT, RIGHT] {
            self.settle();
            self.press(self.island.button(way), 8, 8);
        }
    }

    /// Fights in the meadow until the hero has reached a level.
    pub(crate) fn train(&mut self, level: u8) {
        while self.peek(LEVEL) < level && self.peek(STATE) != OVER {
            self.rest();
            self.walk_to_grass();
            self.roam();
        }
    }

    /// Plays the whole game, until it is over.
    pub(crate) fn win(&mut self) {
        self.train(3);
        self.finish((14, 1, 2));
        self.finish((4, 3, 5));
        self.finish((12, 7, 5));
        for (ware, price) in [(SWORD, 40), (LANTERN, 30)] {
            while self.console.word(COINS) < price && self.peek(STATE) != OVER {
                let level = self.peek(LEVEL) + 1;
                self.train(level);
            }
            self.buy(ware);
        }
        self.train(4);
        self.guardian((17, 8, 6), 0);
        self.train(6);
        for chest in [(0, 5, 2), (7, 8, 1), (15, 8, 6), (2, 7, 1), (1, 8, 1)] {
            self.finish(chest);
            self.rest();
        }
        self.finish((11, 4, 4));
        self.guardian((19, 8, 4), 3);
        self.guardian((21, 8, 6), 3);
        self.train(8);
        self.rest();
        self.finish((3, 5, 3));
        self.finish((3, 5, 2));
        self.touch((3, 5, 1));
        for _ in 0..40 {
            self.press(A, 4, 20);
        }
    }

    /// Goes to a guardian, rested and with some flasks, and then home.
    fn guardian(&mut self, place: Place, flasks: u32) {
        self.rest();
        for _ in 0..flasks {
            self.buy(FLASK);
        }
        self.finish(place);
        self.rest();
    }
}

/// Returns true if the game went well.
pub(crate) fn is_won(console: &Console) -> bool {
    console.peek(0xC008) & 0x80 != 0
}
