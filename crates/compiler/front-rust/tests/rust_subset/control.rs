//! Branches, matches, loops and early returns. A part of `construct.rs`.

use crate::construct::{Colour, FAR, LIMIT};

pub fn if_values(a: u8, b: u8) -> u16 {
    let chosen = if a > b {
        let spread = a - b;
        spread as u16 * 2
    } else if a == b {
        1
    } else {
        (b - a) as u16
    };
    let small = if chosen & 1 == 0 { 3 } else { 5 };
    chosen + small
}

pub fn early(a: u32) -> u32 {
    if a & 3 == 0 {
        return a >> 2;
    }
    let rest = match a & 3 {
        1 => return 7,
        2 => a >> 1,
        _ => {
            if a > 1000 {
                return a - 1000;
            }
            a
        }
    };
    rest.wrapping_mul(3)
}

pub fn match_ranges(a: u8) -> u32 {
    match a {
        0x46 => 1,
        0x40..=0x4b => 2,
        0 | 3 | 9..=12 => 3,
        200.. => 4,
        LIMIT => 5,
        60..80 | 82 => 6,
        _ => a as u32 + 100,
    }
}

pub fn match_signed(a: i16) -> i16 {
    match a {
        FAR => 1,
        -20..=-10 => 2,
        ..=-1 => 3,
        0 => 4,
        1..=30_000 => a - 1,
        _ => 6,
    }
}

pub fn match_all_bytes(a: u8) -> u8 {
    match a {
        0..=99 => a + 1,
        100..=199 => a - 1,
        200..=255 => a & 3,
    }
}

pub fn match_flag(a: bool, b: u8) -> u8 {
    match a {
        true => match b & 1 == 0 {
            false => 1,
            true => 2,
        },
        false => b >> 1,
    }
}

pub fn match_wide(a: u64) -> u8 {
    match a {
        0..=0xffff => 1,
        0x10000..=0xffff_ffff_ffff => 2,
        0xffff_ffff_ffff_ffff => 3,
        _ => 4,
    }
}

/// The `match` is on a number whose type is known to be `u64` only later.
pub fn match_before_the_type(a: u64) -> u8 {
    let mut x = 5;
    let mut found = 0;
    for turn in 0..2 {
        found = found * 10
            + match x {
                ..4 => 1,
                4.. => 2,
                _ => 3,
            };
        x = a;
    }
    found
}

pub fn match_statements(a: u8, b: u8) -> u32 {
    let mut x = 1u32;
    let mut y = 0;
    match a & 7 {
        0 => x = 5,
        1 | 2 => {
            y = b;
            x += 1;
        }
        3 => {}
        4 => y += if b > 3 { 2 } else { 1 },
        _ => {
            x = match b {
                0..=9 => 10,
                _ => 20,
            }
        }
    }
    x * 1000 + y as u32
}

pub fn enums(a: u8) -> u32 {
    let colour = match a % 3 {
        0 => Colour::Red,
        1 => Colour::Green,
        _ => Colour::Blue,
    };
    let next = colour.next();
    let same = (next == Colour::Green || colour != Colour::Blue) as u32;
    next as u32 * 100 + colour as u8 as u32 * 10 + same
}

pub fn loops(a: u8, b: u8) -> u32 {
    let mut sum = 0u32;
    let mut left = a;
    while left > 0 {
        left -= 1;
        if left == b {
            continue;
        }
        if left & 0x3f == 0x20 {
            break;
        }
        sum = sum.wrapping_add(left as u32);
    }
    loop {
        sum = sum >> 1;
        if sum < 1000 {
            break;
        }
    }
    for outer in 0..(a & 7) {
        for inner in outer..=(b & 7) {
            if inner == 5 {
                continue;
            }
            if outer == 6 {
                break;
            }
            sum += inner as u32 * outer as u32;
        }
    }
    sum
}

pub fn inclusive_to_the_end(from: u8) -> u32 {
    let mut turns = 0;
    for x in from..=255 {
        if x == 254 {
            continue;
        }
        turns += x as u32;
    }
    let most = from | 0x80;
    for x in 0..=most {
        turns ^= x as u32;
    }
    for x in most..=0x7f {
        turns += 1000 + x as u32;
    }
    turns
}

pub fn signed_range(a: i8) -> i32 {
    let mut sum = 0;
    for x in -3..a {
        sum += x as i32;
    }
    for x in 5..2 {
        sum += x;
    }
    sum
}

pub fn loop_values(a: u32) -> u32 {
    let mut steps = 0;
    let mut x = a;
    let found = loop {
        if x < 10 {
            break x + 100;
        }
        if steps == 12 {
            break steps;
        }
        x = x / 3;
        steps += 1;
    };
    found * 2 + steps
}

pub fn return_in_loops(a: u8) -> u8 {
    for x in 0..a {
        let mut y = x;
        while y > 3 {
            y -= 3;
            if x == 77 {
                return y;
            }
        }
        if y == 0 && x > 40 {
            return x;
        }
    }
    1
}

pub fn shadowing(x: u8) -> u32 {
    let x = x as u16 + 1;
    let y = {
        let x = x * 2;
        let y = x + 1;
        y as u32
    };
    let x = x as u32 + y;
    x
}

pub fn late_values(a: bool, b: u8) -> u8 {
    let column;
    let row: u8;
    if a {
        column = b;
        row = 1;
    } else {
        row = b >> 2;
        column = row;
    }
    column ^ row
}
