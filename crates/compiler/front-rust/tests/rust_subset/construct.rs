//! Every construct of the subset, in functions of numbers; branches and loops are in `control.rs`.
//! rustc compiles these files, the front end translates them, and `main.rs` compares the two.
//!
//! Arithmetic can't overflow, divisors aren't zero, and indices are masked, because the subset
//! promises nothing for operations on which debug builds panic.

use self::inner::deeper::{Depth, twice as doubled};

pub mod inner {
    pub const BIAS: u32 = super::BASE + 1;

    pub fn biased(x: u32) -> u32 {
        x.wrapping_add(BIAS)
    }

    pub mod deeper {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Depth {
            pub of: u16,
        }

        pub fn twice(x: u32) -> u32 {
            super::biased(x) ^ super::super::BASE
        }
    }
}

pub const BASE: u32 = 1 << 4 | 0x0f;
pub const SHIFTED: u64 = (BASE as u64) << 33;
pub const TABLE: [u16; 8] = [1, 0x200, BASE as u16, 0xffff, squared(9), 5, !0, 7];
pub const GRID: [[u8; 4]; 2] = [[1, 2, 3, 4], [250, 251, 252, LIMIT]];
pub const LIMIT: u8 = 0b1010_0101;
pub const FAR: i16 = -300;
pub const ORIGIN: Point = Point::at(3, -4);
pub const TRIANGLE: u16 = summed(20);
pub const SIZE: usize = 4 * 2;

const fn squared(x: u16) -> u16 {
    x * x
}

const fn summed(until: u16) -> u16 {
    let mut sum = 0;
    let mut next = 1;
    while next <= until {
        if next == 7 {
            next += 1;
            continue;
        }
        sum += next;
        next += 1;
    }
    sum
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub x: i16,
    pub y: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Colour {
    Red = 1,
    Green,
    Blue = 7,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Box3 {
    pub low: Point,
    pub flags: [u8; 3],
    pub colour: Colour,
    pub open: bool,
    pub cells: [Point; 2],
}

impl Point {
    pub const fn at(x: i16, y: i32) -> Point {
        Point { y, x }
    }

    pub fn sum(self) -> i32 {
        (self.x as i32).wrapping_add(self.y)
    }

    pub fn move_by(&mut self, x: i16, other: &Point) {
        self.x = self.x.wrapping_add(x);
        self.y ^= other.y;
    }

    fn swapped(mut self) -> Point {
        let x = self.x;
        self.x = self.y as i16;
        self.y = x as i32;
        self
    }
}

impl Colour {
    pub fn next(self) -> Colour {
        match self {
            Colour::Red => Colour::Green,
            Colour::Green => Colour::Blue,
            Colour::Blue => Colour::Red,
        }
    }
}

impl Box3 {
    fn new(x: i16, y: i32) -> Box3 {
        let low = Point { x, y };
        Box3 { flags: [1, x as u8, 3], low, colour: Colour::Green, open: y < 0, cells: [low; 2] }
    }

    fn nudge(&mut self, amount: i16) -> i32 {
        let low = &mut self.low;
        low.move_by(amount, &self.cells[1]);
        let cells = &mut self.cells;
        cells[(amount & 1) as usize].x = low.x;
        self.cells[0].move_by(amount, &Point::at(1, 2));
        self.low.move_by(3, &self.cells[0]);
        self.low.sum()
    }
}

fn bump(value: &mut u32, by: u32) -> u32 {
    let before = *value;
    *value = before.wrapping_add(by);
    *value ^= 1;
    before
}

fn pair(a: u8, b: bool) -> (u8, bool) {
    if b { (a, !b) } else { (a >> 1, a & 1 != 0) }
}

fn last(cells: &[u16; 8], at: usize) -> u16 {
    cells[at & 7]
}

fn clear(cells: &mut [u16; 8], from: usize) {
    for index in from & 7..cells.len() {
        cells[index] = 0;
    }
}

pub fn arithmetic(a: u8, b: u8, c: i32) -> i32 {
    let sum = a as i32 * 3 - b as i32 + (c >> 2);
    sum / (b as i32 + 1) + sum % 7 - -5
}

pub fn unsigned_division(a: u64, b: u32) -> u64 {
    let divisor = (b | 1) as u64;
    a / divisor ^ a % divisor
}

pub fn bits(a: u16, b: u16) -> u16 {
    (a & b | !a ^ 0x0ff0) & !(b << 3) ^ a >> 5
}

pub fn signed_shift(a: i16, by: u8) -> i64 {
    (a >> (by & 15)) as i64 - (((a as i64) << 20) >> 3)
}

pub fn casts(a: i16, b: bool, c: u64) -> u64 {
    a as i8 as u16 as u64 + b as u64 + (c as u32 as i32 as i64 as u64 >> 3) + (-1i16 as u16) as u64
}

pub fn literal_types(a: u8, b: u64, by: u32) -> u64 {
    let mut adjust = 0;
    if a & 1 != 0 {
        adjust |= 0x06;
    }
    let half = 1 << (by & 15);
    let ones = !0 >> (a & 63);
    let low = 0;
    let mut wide = low;
    wide = wide << 8 | b;
    (a.wrapping_add(adjust) as u64) ^ (b & ones) ^ wide ^ (by & half) as u64
}

pub fn untyped_count(a: u8) -> u64 {
    let tiles = if a > 100 { 5 } else { 8 };
    let mut low = 0;
    for _ in 0..tiles {
        low = low << 8 | a as u64;
    }
    low << (64 - tiles * 8)
}

pub fn cast_of_shift(by: u8) -> u64 {
    (1 << (by & 31)) as u64
}

pub fn cast_of_literal(a: u8) -> u64 {
    !0 as u64
        ^ !0x1_0000_0000 as u64
        ^ (-0x1_0000_0000) as i64 as u64
        ^ (!1) as u64
        ^ -(2) as i64 as u64
        ^ (a as u64)
        ^ 0xffff_ffff_ffff_ffff as u64
}

pub fn methods(a: u8, b: u8, n: u32) -> u32 {
    let mut mix = a.wrapping_add(b) as u32;
    mix = mix * 3 + a.wrapping_sub(b) as u32 + a.wrapping_mul(b) as u32 + a.wrapping_neg() as u32;
    mix = mix * 3 + a.wrapping_shl(n) as u32 + b.wrapping_shr(n) as u32;
    mix = mix * 3 + a.rotate_left(n) as u32 + a.rotate_right(n) as u32 * 5;
    mix = mix * 3 + a.reverse_bits() as u32 + a.swap_bytes() as u32;
    mix = mix * 3 + a.count_ones() + a.leading_zeros() + a.trailing_zeros();
    mix * 3
        + a.min(b) as u32
        + a.max(3) as u32
        + a.saturating_add(b) as u32
        + a.saturating_sub(b) as u32
}

pub fn wide_methods(a: u64, b: u64, n: u32) -> u64 {
    let mix = a.rotate_left(n) ^ b.rotate_right(n) ^ a.reverse_bits() ^ b.swap_bytes();
    mix ^ a.saturating_add(b) ^ a.saturating_sub(b) ^ (a.count_ones() + b.leading_zeros()) as u64
}

pub fn signed_methods(a: i16, b: i16, n: u32) -> i32 {
    let mut mix = a.wrapping_add(b) as i32 ^ a.wrapping_mul(b) as i32;
    mix ^= a.saturating_add(b) as i32 ^ (a.saturating_sub(b) as i32) << 3;
    mix ^= (a.rotate_left(n) as i32) << 1 ^ a.rotate_right(n) as i32;
    mix ^= a.min(b) as i32 ^ a.max(b) as i32 ^ a.wrapping_neg() as i32;
    mix ^= a.wrapping_shl(n) as i32 ^ a.wrapping_shr(n) as i32 ^ a.reverse_bits() as i32;
    mix ^= a.swap_bytes() as i32 ^ (a | 1).trailing_zeros() as i32 ^ a.count_ones() as i32;
    mix ^ (a >> 1).abs() as i32 ^ a.leading_zeros() as i32
}

pub fn word_methods(a: u32, n: u32) -> u32 {
    let turned = a.rotate_left(n).wrapping_add(a.rotate_right(n & 7));
    turned ^ a.reverse_bits() ^ a.swap_bytes() ^ a.trailing_zeros() ^ a.leading_zeros()
}

pub fn comparisons(a: i8, b: i8, c: u8, d: bool) -> u8 {
    let signed = (a < b) as u8 | ((a >= b) as u8) << 1 | ((a == b) as u8) << 2;
    signed | ((c <= a as u8) as u8) << 3 | ((c > 9) as u8) << 4 | ((d != (a != b)) as u8) << 5
}

pub fn short_circuit(a: u32, b: u32) -> u32 {
    let mut calls = 0;
    let cells = [3, 1, 4, 1];
    let inside = a < 4 && cells[a as usize] == b & 3 || b > 7 && bump(&mut calls, a) == 0;
    if a != 3 && inside {
        calls = calls.wrapping_add(10);
    }
    let never = a > b && b > a && bump(&mut calls, 1) == 1;
    let both = never | inside ^ true;
    calls.wrapping_add(both as u32)
}

pub fn tuples(a: u8, b: bool) -> u32 {
    let (x, y) = pair(a, b);
    let whole = pair(x, y);
    let (upper, lower) = if whole.1 { (x as u32 * 2, 1) } else { (7, whole.0) };
    let ((p, q), mut r) = ((upper, lower), pair(a, true).0);
    r = r & 0x0f;
    p * 1000 + q as u32 + r as u32
}

pub fn structs(x: i16, y: i32) -> i64 {
    let mut thing = Box3::new(x, y);
    let copy = thing;
    let first = thing.nudge(x) as i64;
    thing.cells[0] = thing.low.swapped();
    thing.low = copy.low;
    thing.flags[1] = thing.flags[2] + (thing.open as u8);
    thing.colour = copy.colour.next();
    let mixed = thing.cells[0].sum() as i64 * 3 + first + copy.cells[1].x as i64;
    mixed
        + thing.flags[1] as i64
        + thing.colour as i64
        + Point::at(x, 5).sum() as i64
        + Box3::new(1, 2).low.x as i64
        + ORIGIN.sum() as i64
}

fn through(outer: &&u32, inner: &mut &mut u32) -> u32 {
    **inner ^= 1;
    **outer
}

pub fn by_reference(a: u32, b: u32) -> u32 {
    let mut counter = a;
    let first = bump(&mut counter, b);
    let second = counter.wrapping_add(bump(&mut counter, 5));
    let mut point = Point { x: 1, y: 2 };
    let other = point;
    let alias = &mut point;
    alias.move_by(a as i16, &other);
    alias.x |= 1;
    let (one, mut two) = (b, a);
    let shared = &one;
    let mut changed = &mut two;
    let third = through(&shared, &mut changed);
    first ^ second ^ counter ^ point.sum() as u32 ^ third ^ two
}

pub fn arrays(a: u16, at: u8) -> u32 {
    let mut cells = [a; SIZE];
    cells[1] = 7;
    cells[(at & 7) as usize] ^= 0x55;
    let mut nested = [[0u16; 4]; 2];
    nested[(at >> 3 & 1) as usize][(at & 3) as usize] = a;
    nested[1] = [1, 2, a, nested[0][0]];
    clear(&mut cells, at as usize);
    let mut copy = cells;
    copy[0] = 9;
    let total = last(&cells, 0) as u32 + last(&copy, at as usize) as u32;
    total + nested[1][3] as u32 + nested[at as usize & 1][2] as u32 + cells.len() as u32
}

pub fn constants(at: u8) -> u64 {
    let table = TABLE;
    let row = GRID[(at & 1) as usize];
    TABLE[(at & 7) as usize] as u64
        + table[7] as u64
        + row[(at >> 1 & 3) as usize] as u64
        + GRID[1][3] as u64
        + SHIFTED
        + TRIANGLE as u64
        + TABLE.len() as u64
        + inner::BIAS as u64
        + (FAR as i64 + 1000) as u64
}

pub fn constants_of_every_kind(at: u8) -> u64 {
    crate::constants::constant(at)
}

pub fn modules(a: u32) -> u32 {
    let depth = Depth { of: a as u16 };
    doubled(inner::biased(a)) ^ self::inner::deeper::twice(depth.of as u32)
}

pub fn evaluation_order(a: u8) -> u32 {
    let mut at = a as u32 & 3;
    let mut cells = [10, 20, 30, 40, 50, 60, 70, 80];
    cells[(at & 7) as usize] = bump(&mut at, 2);
    cells[(at & 7) as usize] += bump(&mut at, 1);
    let sum = at * 100 + bump(&mut at, 1) + at;
    let point = Point { y: bump(&mut at, 1) as i32, x: bump(&mut at, 3) as i16 };
    sum.wrapping_add(cells[0] * 3 + cells[1] * 5 + cells[2] * 7 + cells[3] * 11 + cells[4])
        .wrapping_add(point.sum() as u32 + at)
}

pub fn branches_that_move_their_target(a: u8, b: u8) -> u32 {
    let mut at = a as u32 & 3;
    let mut cells = [1u32; 8];
    cells[(at & 7) as usize] = if b > 99 { bump(&mut at, 1) + 10 } else { 20 };
    cells[(at & 7) as usize] = match b & 3 {
        0 => bump(&mut at, 3),
        1 => cells[0] + 7,
        _ => cells[(bump(&mut at, 2) & 7) as usize],
    };
    cells[0] + cells[1] * 3 + cells[2] * 5 + cells[3] * 7 + cells[4] * 11 + at
}

pub fn guarded_division(a: u8, b: u8, c: u8) -> u8 {
    let quotient = if b & 3 != 0 { a / (b & 3) } else { 77 };
    let divides = c != 0 && a % c == 0;
    quotient ^ divides as u8
}

pub fn untyped_signed(a: u8) -> i64 {
    let start = 3;
    let below = start - 5;
    let shifted = below >> 1;
    let less = if below < 1 { a as i64 } else { 1000 };
    less + below as i64 + shifted as u16 as i64
}

pub fn bool_logic(a: bool, b: bool, c: u8) -> u8 {
    let mut flag = a;
    flag &= b;
    flag |= c > 7;
    flag ^= a && !b;
    (flag & a | !b) as u8 | (if flag == a { 2 } else { 0 })
}

pub fn compound(a: u32, b: u8) -> u32 {
    let mut x = a | 1;
    x ^= b as u32;
    x <<= b & 7;
    x >>= 2u64;
    x &= 0x0fff_ffff;
    x += b as u32;
    x -= 1.min(x);
    x *= 3;
    x %= 1009;
    x |= 0x100;
    x /= 3;
    x
}

pub fn branches_with_effects(a: u8, b: u8) -> u32 {
    let mut turns = 0u32;
    let x = if a > b {
        turns += 1;
        1
    } else {
        turns += 10;
        2
    };
    let both = a > 7 && {
        turns += 100;
        b > 7
    } || {
        turns += 1000;
        a == b
    };
    let y = match a & 3 {
        0 => {
            turns += 10_000;
            b
        }
        1 => 1,
        _ => a,
    };
    turns * 7 + x * 3 + both as u32 + y as u32
}

pub fn references_from_blocks(a: u32) -> u32 {
    let mut counter = a;
    let alias = {
        let by = a & 7;
        counter = counter.wrapping_add(by);
        &mut counter
    };
    *alias ^= 5;
    let before = bump(
        {
            counter = counter.wrapping_mul(3);
            &mut counter
        },
        2,
    );
    before ^ counter
}

pub fn never(a: u8) -> u8 {
    let x: u8 = match a & 7 {
        0 => {
            return 1;
        }
        1 => {
            let y: u8 = return 2;
            y
        }
        2 => loop {
            return 3;
        },
        3 => return { a >> 1 },
        5 => {
            return 8;
            a
        }
        6 => {
            let w: u8 = loop {
                return 9;
            };
            let v: u8 = {
                loop {
                    return w;
                }
            };
            v + w
        }
        4 => {
            if a > 100 {
                return 4;
            } else {
                return 5;
            }
        }
        _ => a,
    };
    let z = if x > 200 {
        return 6;
    } else {
        x
    };
    let holds = z > 100 && (z > 150 || return 7);
    z ^ holds as u8
}

fn raise(to: &mut u32, _: u8, by: u32) {
    if by > 1000 {
        return lower(to);
    }
    for _ in (0..3) {
        if *to & 0xff == 7 {
            return;
        }
        *to = to.wrapping_add(by);
    }
    return ();
}

fn lower(to: &mut u32) -> () {
    *to >>= 1;
}

pub fn nothing_returned(a: u32, b: u8) -> u32 {
    let mut x = a;
    raise(&mut x, b, b as u32 + 1);
    let nothing = raise(&mut x, b, a);
    nothing;
    b.count_ones();
    x ^ 1;
    x
}

pub fn sum_of(cells: &[u8]) -> u32 {
    let mut sum = 0;
    for index in 0..cells.len() {
        sum += cells[index] as u32;
    }
    sum
}

pub fn scramble(from: &[u8], to: &mut [u8], key: u8) -> u32 {
    let mut at = 0;
    while at < to.len() && at < from.len() {
        to[at] = from[from.len() - 1 - at] ^ key;
        to[at] += (at & 1) as u8 & !to[at];
        at += 1;
    }
    if from.len() > 2 {
        let same = to;
        fill(same, key);
        return sum_of(from) * 2 + sum_of(same);
    }
    sum_of(from) * 2 + sum_of(to)
}

fn fill(to: &mut [u8], value: u8) {
    let length = to.len();
    if length != 0 {
        to[value as usize % length] = value;
    }
}
