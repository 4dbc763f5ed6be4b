//! Products of matrices by a whole warp: each lane holds parts of the tiles A, B and C, as the PTX
//! ISA document defines for `mma` and `ldmatrix`. Products are exact and their sum is rounded once;
//! the last bits of a GPU's result may differ.

use super::super::decoded::{DecodedInstruction, Source};
use super::super::fault::FaultKind;
use super::super::shadow::Manner;
use super::super::warp::{LANES, Mask, Warp, ZERO};
use super::half::Format;
use super::memory::Named;
use super::round::{Rounding, bits, long_bits};

/// Columns of a product.
const COLUMNS: usize = 8;

/// Number format of a tile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Half(Format),
    /// The upper 19 bits of a float.
    Tf32,
    Double,
    Byte {
        is_signed: bool,
    },
}

/// Rows and depth of a product.
type Extents = (usize, usize);

impl Numbers {
    /// Returns how many numbers a register holds.
    fn per_register(self) -> usize {
        match self {
            Self::Half(_) => 2,
            Self::Tf32 | Self::Double => 1,
            Self::Byte { .. } => 4,
        }
    }

    fn value(self, long: u64, at: usize) -> f64 {
        let word = long as u32;
        match self {
            Self::Half(format) => format.value((word >> (16 * at)) as u16),
            Self::Tf32 => f64::from(f32::from_bits(word & 0xFFFF_E000)),
            Self::Double => f64::from_bits(long),
            Self::Byte { is_signed: true } => f64::from((word >> (8 * at)) as u8 as i8),
            Self::Byte { is_signed: false } => f64::from((word >> (8 * at)) as u8),
        }
    }
}

/// Returns the register at a distance after a source; every register after `RZ` is `RZ`.
fn behind(source: &Source, by: usize) -> usize {
    usize::from(if source.low == ZERO { ZERO } else { source.low + by as u16 })
}

impl Warp<'_> {
    /// Returns the 64 bits that begin with the register at a distance after a source.
    fn pair(&self, source: &Source, by: usize, lane: usize) -> u64 {
        let [low, high] = [by, by + 1].map(|by| u64::from(self.file[behind(source, by)][lane]));
        low | high << 32
    }

    /// Reads a tile. Each of its eight lines lies in a group of four lanes: `A` by rows, `B` by
    /// columns.
    fn tile(&self, source: &Source, numbers: Numbers, (lines, depth): Extents) -> Vec<Vec<f64>> {
        let (per, halves) = (numbers.per_register(), lines / 8);
        let words = if numbers == Numbers::Double { 2 } else { 1 };
        let mut tile = vec![vec![0.0; depth]; lines];
        for lane in 0..LANES {
            let (group, thread) = (lane / 4, lane % 4);
            for register in 0..halves * depth / (4 * per) {
                let long = self.pair(source, register * words, lane);
                let first = register / halves * 4 * per + thread * per;
                for at in 0..per {
                    tile[group + 8 * (register % halves)][first + at] = numbers.value(long, at);
                }
            }
        }
        tile
    }

    /// Ends the launch unless all 32 lanes run, because each lane holds parts of a tile.
    fn check_whole(&self, inst: &DecodedInstruction, lanes: Mask) {
        if lanes != !0 {
            let reason = "an instruction on matrices lacks lanes of its warp";
            self.fault(FaultKind::DivergentBarrier, inst, lanes, reason);
        }
    }

    /// Multiplies two tiles; returns the sums by rows.
    fn products(
        &self,
        inst: &DecodedInstruction,
        [a, b]: [Numbers; 2],
        extents: Extents,
    ) -> Vec<f64> {
        let (rows, depth) = extents;
        let rows = self.tile(&inst.from[0], a, (rows, depth));
        let columns = self.tile(&inst.from[1], b, (COLUMNS, depth));
        let dot =
            |row: &Vec<f64>, column: &Vec<f64>| row.iter().zip(column).map(|(a, b)| a * b).sum();
        rows.iter().flat_map(|row| columns.iter().map(move |column| dot(row, column))).collect()
    }
}

/// Returns the place in the product of one of a lane's numbers.
fn place(lane: usize, number: usize) -> usize {
    (lane / 4 + 8 * (number / 2)) * COLUMNS + lane % 4 * 2 + number % 2
}

/// Adds products to the lanes' numbers of 32 bits.
fn add(
    warp: &mut Warp<'_>,
    inst: &DecodedInstruction,
    products: &[f64],
    sum: impl Fn(f64, u32) -> u32,
) {
    for number in 0..products.len() / LANES {
        let was = warp.file[behind(&inst.from[2], number)];
        let to = &mut warp.file[usize::from(inst.to) + number];
        for lane in 0..LANES {
            to[lane] = sum(products[place(lane, number)], was[lane]);
        }
    }
}

fn add_floats(warp: &mut Warp<'_>, inst: &DecodedInstruction, products: &[f64]) {
    add(warp, inst, products, |product, was| {
        bits((product + f64::from(f32::from_bits(was))) as f32)
    });
}

/// `HMMA` of halves, with sums of 32 or 16 bits.
pub(crate) fn multiply_halves(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.check_whole(inst, lanes);
    let extents = [(16, 16), (16, 8)][usize::from(inst.modifiers[0])];
    let format = Format::of(u8::from(inst.modifiers[1] == 2));
    let products = warp.products(inst, [Numbers::Half(format); 2], extents);
    if inst.modifiers[1] != 1 {
        return add_floats(warp, inst, &products);
    }
    for register in 0..2 {
        let was = warp.file[behind(&inst.from[2], register)];
        let to = &mut warp.file[usize::from(inst.to) + register];
        for lane in 0..LANES {
            let half = |at: usize| {
                let was = format.value((was[lane] >> (16 * at)) as u16);
                let sum = products[place(lane, 2 * register + at)] + was;
                u32::from(format.round(sum, Rounding::Nearest)) << (16 * at)
            };
            to[lane] = half(0) | half(1);
        }
    }
}

/// `HMMA` of floats of 19 bits.
pub(crate) fn multiply_tf32(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.check_whole(inst, lanes);
    let extents = [(16, 8), (16, 4)][usize::from(inst.modifiers[0])];
    let products = warp.products(inst, [Numbers::Tf32; 2], extents);
    add_floats(warp, inst, &products);
}

/// `IMMA` of bytes.
pub(crate) fn multiply_bytes(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.check_whole(inst, lanes);
    let [extents, a, b, saturates, ..] = inst.modifiers;
    let extents = [(16, 16), (16, 32), (8, 16)][usize::from(extents)];
    let numbers = [a, b].map(|it| Numbers::Byte { is_signed: it == 1 });
    let products = warp.products(inst, numbers, extents);
    // The sums are below a million, so a float of 64 bits holds them exactly.
    add(warp, inst, &products, |product, was| {
        let sum = product as i64 + i64::from(was as i32);
        let most = i64::from(i32::MAX);
        (if saturates == 1 { sum.clamp(-most - 1, most) } else { sum }) as u32
    });
}

/// `DMMA`: doubles, added one after the other.
pub(crate) fn multiply_doubles(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.check_whole(inst, lanes);
    let rows = warp.tile(&inst.from[0], Numbers::Double, (8, 4));
    let columns = warp.tile(&inst.from[1], Numbers::Double, (COLUMNS, 4));
    for number in 0..2 {
        for lane in 0..LANES {
            let was = f64::from_bits(warp.pair(&inst.from[2], 2 * number, lane));
            let (row, column) = (&rows[lane / 4], &columns[lane % 4 * 2 + number]);
            let sum = row.iter().zip(column).fold(was, |sum, (a, b)| a.mul_add(*b, sum));
            let long = long_bits(sum);
            let to = usize::from(inst.to) + 2 * number;
            (warp.file[to][lane], warp.file[to + 1][lane]) = (long as u32, (long >> 32) as u32);
        }
    }
}

/// `LDSM`: loads tiles of eight rows of 16 bytes from shared memory; each row lies at a lane's
/// address. A lane gets two halves from a row of each tile, or with `MT88` from a column.
pub(crate) fn load_tiles(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.check_whole(inst, lanes);
    let (is_transposed, count) = (inst.modifiers[0] == 1, 1 << inst.modifiers[1]);
    warp.tick();
    let rows: Vec<[u8; 16]> = (0..8 * count).map(|lane| warp.shared_row(inst, lane)).collect();
    let half = |row: usize, column: usize| {
        let bytes = &rows[row][2 * column..];
        u32::from(u16::from_le_bytes([bytes[0], bytes[1]]))
    };
    for tile in 0..count {
        for lane in 0..LANES {
            let (line, first) = (lane / 4, lane % 4 * 2);
            let [low, high] = [first, first + 1].map(|at| match is_transposed {
                false => half(8 * tile + line, at),
                true => half(8 * tile + at, line),
            });
            warp.file[usize::from(inst.to) + tile][lane] = low | high << 16;
        }
    }
}

/// `MOVM`: transposes a tile of halves in the lanes' registers.
pub(crate) fn transpose(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.check_whole(inst, lanes);
    let words = warp.file[usize::from(inst.from[0].low)];
    let half =
        |row: usize, column: usize| words[row * 4 + column / 2] >> (16 * (column % 2)) & 0xFFFF;
    for lane in 0..LANES {
        let (line, first) = (lane / 4, lane % 4 * 2);
        let word = half(first, line) | half(first + 1, line) << 16;
        warp.file[usize::from(inst.to)][lane] = word;
    }
}

impl Warp<'_> {
    /// Returns the 16 bytes of shared memory at a lane's address.
    fn shared_row(&self, inst: &DecodedInstruction, lane: usize) -> [u8; 16] {
        let address = self.address_of(inst, &inst.place, lane, Named::Shared);
        let spot = self.spot(inst, address, lane, 16, Named::Shared);
        self.touch(inst, (spot, 16), lane, Manner::Read, &[]);
        let mut bytes = [0; 16];
        self.read(spot, &mut bytes);
        bytes
    }
}
