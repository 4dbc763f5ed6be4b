//! Constants of every kind, which rustc evaluates here and the front end evaluates as well;
//! `main.rs` compares them.

const fn bit(holds: bool) -> u64 {
    holds as u64
}

const OPERATORS: [i64; 16] = [
    WIDE + 5,
    WIDE - 5,
    WIDE * -3,
    WIDE / 7,
    WIDE % 7,
    WIDE & 0x0ff0,
    WIDE | 0x0ff0,
    WIDE ^ 0x0ff0,
    WIDE << 3u8,
    WIDE >> 4u64,
    WIDE >> 63,
    !WIDE,
    -WIDE,
    -(5 - 8),
    -9_223_372_036_854_775_808,
    9_223_372_036_854_775_807,
];
const WIDE: i64 = -0x1234_5678_9abc;
const NARROW: [i8; 5] = [-128, 127, -1, NEAR / 2 - 60 + 100, (NEAR - 120) * 16];
const NEAR: i8 = 127;
const PRODUCT: u64 = 0xffff_ffff * 0x1_0000_0001;
const DROPPED: u8 = 0x83 << 1 | 0x83 >> 7;

const COMPARED: [bool; 10] = [
    NEAR < -1,
    NEAR > -1,
    NEAR <= 126,
    NEAR >= 126,
    NEAR == 127,
    NEAR != 127,
    0xffu8 > 1,
    true == (NEAR < 0),
    !true,
    Side::Left as u8 == 3,
];

/// The right side of `&&` and `||` is evaluated only if it decides.
const SHORT: [bool; 4] =
    [AT < 4 && FEW[AT] == 1, AT >= 4 || FEW[AT] == 1, AT > 4 && FEW[0] == 4, AT < 4 || FEW[1] == 3];
const AT: usize = 5;
const FEW: [u8; 4] = [4, 3, 2, 1];

const CAST: [u64; 8] = [
    -1i8 as u8 as u64,
    -1i8 as u64,
    0x1ffu16 as u8 as u64,
    0x8000u16 as i16 as u64,
    true as u64,
    Side::Right as u64,
    NEAR as u64,
    0x1_0000_0001u64 as u32 as u64,
];

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Side {
    Left = 3,
    Right,
}

#[derive(Clone, Copy)]
struct Pair {
    low: u16,
    high: [u8; 3],
}

const PAIR: Pair = Pair { high: [7, 8, 9], low: 0x1234 };
const PAIRS: [Pair; 2] = [PAIR, Pair { low: PAIR.low + 1, high: [PAIR.high[2]; 3] }];
const TUPLE: (u8, (bool, u16)) = (5, (true, PAIRS[1].low));

const fn pair(low: u16) -> Pair {
    Pair { low, high: [low as u8; 3] }
}

const fn halves(x: u16) -> (u8, u8) {
    ((x >> 8) as u8, x as u8)
}

const fn matched(x: i16) -> u64 {
    match x {
        -5 | 7 => 1,
        -4..=3 => 2,
        8..20 => 3,
        ..=-100 => 4,
        1000.. => 5,
        _ => 6,
    }
}

const fn turned(side: Side) -> Side {
    match side {
        Side::Left => Side::Right,
        Side::Right => Side::Left,
    }
}

/// `return` leaves all loops, and only this function.
const fn first_above(limit: u64) -> u64 {
    let mut x = 0;
    loop {
        let mut y = 0;
        while y < 5 {
            if x * y > limit {
                return x * 100 + y;
            }
            y += 1;
        }
        x += 1;
    }
}

const fn looped() -> u64 {
    let mut turns = 0;
    let found = loop {
        turns += 1;
        if turns == 3 {
            continue;
        }
        if turns > 6 {
            break turns * 10;
        }
    };
    while turns > 0 {
        turns += 1;
        if turns > 100 {
            break;
        }
    }
    let last = first_above(50);
    found + turns * 1000 + last * 100_000
}

/// Changes a part of a variable in every way.
const fn parts() -> u64 {
    let mut cells = [0u8; 4];
    let before = cells;
    cells[1] = 3;
    cells[2] += cells[1] * 2;
    let mut grid = [[1u16; 3]; 2];
    grid[1][2] = 0x700;
    grid[0][1] |= 4;
    let mut thing = PAIR;
    thing.high[1] -= 5;
    thing.low <<= 2;
    let mut things = [thing; 2];
    things[1].high[0] = 99;
    let (mut a, b) = halves(thing.low);
    let (_, (c, d)) = TUPLE;
    a ^= b;
    let sum = cells[0] as u64 + cells[1] as u64 * 3 + cells[2] as u64 * 5 + before[1] as u64 * 1000;
    let sum = sum * 7 + grid[1][2] as u64 + grid[0][1] as u64 * 11 + grid[1][1] as u64 * 13;
    let sum = sum * 7 + things[1].high[0] as u64 + things[0].high[0] as u64 * 3;
    sum * 7 + thing.high[1] as u64 + thing.low as u64 + a as u64 * 17 + bit(c) + d as u64
}

const fn updated() -> u64 {
    let mut x = 1000u64;
    x += 7;
    x -= 3;
    x *= 5;
    x /= 2;
    x %= 2003;
    x <<= 9;
    x >>= 2;
    x |= 0xf0;
    x &= 0xffef;
    x ^= 0x1111;
    x
}

const fn late(first: bool) -> u64 {
    let x;
    if first {
        x = 5;
    } else {
        x = 6;
    }
    if x == 5 {
        return 50;
    }
    let y = {
        let x = x + 1;
        x * 2
    };
    x + y
}

/// The parameter is a variable of its own.
const fn halved(mut x: u64) -> u64 {
    let mut turns = 0;
    while x > 1 {
        x /= 2;
        turns += 1;
    }
    turns
}

const fn total(cells: &[u8; 4], by: &u64) -> u64 {
    let mut sum = 0;
    let mut at = 0;
    while at < cells.len() {
        sum += cells[at] as u64 * *by;
        at += 1;
    }
    sum
}

const fn second(cells: &[u8]) -> u64 {
    cells[1] as u64
}

/// Calls may nest deeply.
const fn factorial(x: u64) -> u64 {
    if x == 0 { 1 } else { x * factorial(x - 1) }
}

const fn long() -> u64 {
    let mut x = 1;
    let mut turns = 0;
    while turns < 5000 {
        x = x * 5 % 10007;
        turns += 1;
    }
    x
}

const LENGTH: usize = halved(300) as usize;
const SIZED: [u8; LENGTH] = [1; LENGTH];

pub const ALL: [u64; 49] = [
    PRODUCT,
    DROPPED as u64,
    PAIRS[1].low as u64,
    PAIRS[1].high[0] as u64,
    PAIRS[0].high[1] as u64,
    TUPLE.0 as u64,
    bit((TUPLE.1).0),
    (TUPLE.1).1 as u64,
    pair(300).low as u64,
    pair(300).high[2] as u64,
    halves(0x1234).0 as u64,
    halves(0x1234).1 as u64,
    matched(-5),
    matched(7),
    matched(-4),
    matched(3),
    matched(4),
    matched(8),
    matched(19),
    matched(20),
    matched(-100),
    matched(-99),
    matched(1000),
    matched(999),
    turned(Side::Left) as u64,
    turned(Side::Right) as u64,
    first_above(0),
    looped(),
    parts(),
    updated(),
    late(true),
    late(false),
    halved(1000),
    halved(1),
    total(&FEW, &3),
    second(&FEW),
    factorial(20),
    long(),
    LENGTH as u64,
    SIZED[7] as u64 + SIZED.len() as u64,
    [5, 6, 7][1],
    (8, 9).1,
    if AT == 5 { 1 } else { 2 },
    {
        let mut x = 3;
        if AT == 5 {
            x = 4;
        }
        if AT == 6 {
            x = 5;
        }
        x
    },
    bit(SHORT[0]) | bit(SHORT[1]) << 1 | bit(SHORT[2]) << 2 | bit(SHORT[3]) << 3,
    Side::Left as u64,
    FEW.len() as u64,
    inner::DEEP,
    inner::deepest(),
];

mod inner {
    use super::matched as m;
    pub const DEEP: u64 = m(7) + super::LENGTH as u64;

    pub const fn deepest() -> u64 {
        self::DEEP * crate::constants::halved(64)
    }
}

pub fn constant(at: u8) -> u64 {
    match at {
        0..49 => ALL[(at % 49) as usize],
        64..80 => OPERATORS[(at & 15) as usize] as u64,
        100..105 => NARROW[((at - 100) % 5) as usize] as u64,
        110..120 => COMPARED[((at - 110) % 10) as usize] as u64,
        130..138 => CAST[((at - 130) & 7) as usize],
        _ => 0,
    }
}
