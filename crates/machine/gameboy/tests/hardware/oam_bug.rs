//! Effects on OAM of accesses to it, and of registers that point there, during mode 2.

use crate::console::{Console, LINE};

/// The first and the last M-cycle of mode 2, counted from three before line 2.
const FIRST: u32 = 3;
const LAST: u32 = 23;

/// OAM as the PPU reads it: rows of four words.
type Words = [[u16; 4]; 20];

fn words(oam: &[u8; 160]) -> Words {
    let mut words = [[0; 4]; 20];
    for (index, pair) in oam.chunks(2).enumerate() {
        words[index / 4][index % 4] = u16::from_le_bytes([pair[0], pair[1]]);
    }
    words
}

// Pan Docs "Write Corruption".
fn write(oam: &mut Words, row: usize) {
    let (a, b, c) = (oam[row][0], oam[row - 1][0], oam[row - 1][2]);
    oam[row] = oam[row - 1];
    oam[row][0] = ((a ^ c) & (b ^ c)) ^ c;
}

// Pan Docs "Read Corruption"; rows 2, 6, 10... and 4, 8, 12, 16 reach further back, which Pan Docs
// does not say, and which differs between units.
fn read(oam: &mut Words, row: usize) {
    let (own, last) = (oam[row][0], oam[row - 1]);
    match row {
        2 | 6 | 10 | 14 | 18 => {
            let back = oam[row - 2][0];
            oam[row - 1][0] = last[0] & (back | own | last[2]) | back & own & last[2];
            oam[row - 2] = oam[row - 1];
        }
        4 | 8 | 12 | 16 => {
            let (two, four) = (oam[row - 2], oam[row - 4][0]);
            let any = own | last[2] | two[0] | four;
            let most = last[2] & two[0] & four;
            oam[row - 1][0] = match row {
                4 => last[0] & any | own & most,
                8 => last[0] & (any | !last[1] & two[1]) | most,
                12 => last[0] & any | most,
                _ => last[0] | own & most,
            };
            oam[row - 2] = oam[row - 1];
            oam[row - 4] = oam[row - 1];
        }
        _ => oam[row - 1][0] = last[0] | own & last[2],
    }
    oam[row] = oam[row - 1];
    if row == 16 {
        oam[0] = oam[16];
    }
}

/// Three M-cycles before line 2, with OAM full of noise.
fn noisy(seed: u32) -> Console {
    let mut console = Console::lit(&[]);
    console.wait(2 * LINE - 5);
    let mut noise = seed;
    for byte in &mut console.machine.oam {
        noise = noise.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
        *byte = (noise >> 24) as u8;
    }
    console
}

/// Compares with a model the effect of each M-cycle from three before line 2 on, except the first
/// and the last one of mode 2.
fn corrupts(access: impl Fn(&mut Console), model: fn(&mut Words, usize)) {
    for seed in 1..200u32 {
        let console = noisy(seed);
        for mcycle in
            (0..if seed == 1 { LINE } else { 24 }).filter(|mcycle| ![FIRST, LAST].contains(mcycle))
        {
            let mut console = console.clone();
            console.wait(mcycle);
            let mut expected = words(&console.machine.oam);
            access(&mut console);
            if (4..23).contains(&mcycle) {
                model(&mut expected, mcycle as usize - 3);
            }
            assert_eq!(words(&console.machine.oam), expected, "M-cycle {mcycle}");
        }
    }
}

/// Compares with a model the effect of an access to each word of OAM in one M-cycle.
fn corrupts_at(
    mcycle: u32,
    access: impl Fn(&mut Console, u16),
    model: impl Fn(&mut Words, usize, usize),
) {
    for seed in 1..20 {
        for index in 0..80u16 {
            let mut console = noisy(seed);
            console.wait(mcycle);
            let mut expected = words(&console.machine.oam);
            access(&mut console, 0xfe00 + 2 * index);
            model(&mut expected, usize::from(index) / 4, usize::from(index) % 4);
            assert_eq!(words(&console.machine.oam), expected, "word {index}");
        }
    }
}

/// The majority of three words, bit by bit.
fn majority(a: u16, b: u16, c: u16) -> u16 {
    a & b | a & c | b & c
}

/// Writes a word's lower byte.
fn put(oam: &mut Words, row: usize, word: usize) {
    oam[row][word] = oam[row][word] & 0xff00 | 0x5a;
}

// DocBoy `oam_bug_ld_a_hl_round3` and `round23_fe40` to `_fe48`, measured on a DMG.
#[test]
fn a_read_copies_its_own_row_to_the_first_and_takes_the_last_at_the_ends_of_mode_2() {
    let access = |console: &mut Console, address| {
        console.read(address);
    };
    corrupts_at(FIRST, access, |oam, row, _| oam[0] = oam[row]);
    corrupts_at(LAST, access, |oam, row, word| {
        let (own, last) = (oam[row], oam[19]);
        match word {
            1 => oam[19][1] = majority(own[1], last[1], last[2]),
            3 => oam[19][3] = last[3] | own[0] & last[2],
            _ => oam[19][0] = majority(own[0], last[0], last[2]),
        }
        oam[row] = oam[19];
    });
}

// DocBoy `oam_bug_ld_hl_a_round3` and `round23_fe40` to `_fe48`, measured on a DMG.
#[test]
fn a_write_copies_its_own_row_to_the_first_and_takes_the_last_at_the_ends_of_mode_2() {
    let access = |console: &mut Console, address| {
        console.write(address, 0x5a);
    };
    corrupts_at(FIRST, access, |oam, row, word| {
        put(oam, row, word);
        let first = oam[0][0];
        oam[0] = oam[row];
        oam[0][0] = majority(first, oam[row][0], oam[row][word]);
    });
    corrupts_at(LAST, access, |oam, row, word| {
        let (own, last) = (oam[row], oam[19]);
        oam[row] = last;
        match word {
            0 => oam[row][0] = majority(own[0], last[0], last[2]),
            1 => oam[row][1] = last[1] & last[2],
            3 => {
                oam[row][2] = last[2] & (own[2] | last[3]);
                oam[row][3] = majority(last[2], own[3], last[3]);
            }
            _ => {}
        }
        put(oam, row, word);
    });
}

#[test]
fn a_read_in_mode_2_garbles_the_row_that_is_scanned() {
    corrupts(
        |console| {
            console.read(0xfe00);
        },
        read,
    );
    corrupts(
        |console| {
            console.read(0xfeff);
        },
        read,
    );
}

#[test]
fn a_write_in_mode_2_garbles_the_row_that_is_scanned() {
    corrupts(
        |console| {
            // A write that reaches OAM would be seen as well.
            let value = console.machine.oam[0x9f];
            console.write(0xfe9f, value);
        },
        write,
    );
}

#[test]
fn a_counted_register_that_points_to_oam_is_a_write() {
    let count = |console: &mut Console, address| {
        let mut cpu = console.machine.cpu;
        cpu.now = console.machine.now;
        cpu.idle_on_bus(&mut console.machine, address);
    };
    corrupts(|console| count(console, 0xfe00), write);
    corrupts(|console| count(console, 0xfeff), write);
    corrupts(|console| count(console, 0xfdff), |_, _| {});
    corrupts(|console| count(console, 0xff00), |_, _| {});
}

#[test]
fn nothing_is_garbled_outside_of_mode_2() {
    for (line, lit) in [(0, true), (144, true), (150, true), (2, false)] {
        let mut console = if lit { Console::lit(&[]) } else { Console::dark() };
        (0..160).for_each(|index| console.machine.oam[index] = index as u8);
        let before = console.machine.oam;
        console.wait(line * LINE);
        for _ in 0..LINE - 5 {
            console.read(0xfe20);
        }
        assert_eq!(console.machine.oam, before, "line {line}, LCD on: {lit}");
    }
}
