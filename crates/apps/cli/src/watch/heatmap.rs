//! Map of the positions that machines have visited, given by two numbers in memory such as a hero's
//! coordinates.
//!
//! Cells get coarser as the numbers grow: the map has at most 256 x 256 cells.

use std::ops::Range;
use std::str::FromStr;

use gbxcule_swarm::{Swarm, SwarmError, View};

/// Number of cells in a row, and of rows.
const SIDE: usize = 256;

/// Greatest number of bytes of both coordinates of an env.
const MAX_BYTES: u32 = 4;

/// Addresses of a coordinate: one byte, or two, the lower one first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coordinate(Range<u32>);

impl Coordinate {
    /// Makes a coordinate of the bytes at these addresses.
    ///
    /// # Errors
    /// The range is not of one or two addresses.
    pub fn new(addresses: Range<u32>) -> Result<Self, String> {
        let is_short = addresses.start < addresses.end && addresses.end - addresses.start <= 2;
        // The bank, if there is one, is above the 16 bits of the address.
        if is_short && addresses.start >> 16 == (addresses.end - 1) >> 16 {
            return Ok(Self(addresses));
        }
        Err("a coordinate has 1 or 2 bytes inside of 0000 to FFFF, or of a bank".to_owned())
    }
}

/// Addresses of both coordinates, as in `D361,D362`, `C010:C012,C012:C014` or, in a bank of two or
/// three digits, `02:D361,02:D362:D364`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coordinates {
    /// Coordinate from left to right.
    pub x: Coordinate,
    /// Coordinate from top to bottom.
    pub y: Coordinate,
}

impl FromStr for Coordinates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not a pair of places; write D361,D362 or C010:C012,02:D014");
        let coordinate = |place: &str| {
            let address = |digits: &str| u32::from_str_radix(digits, 16).map_err(|_| wrong());
            let (bank, rest) = match place.split_once(':') {
                Some((bank, rest)) if (2..=3).contains(&bank.len()) => (address(bank)? + 1, rest),
                _ => (0, place),
            };
            let (low, high) = match rest.split_once(':') {
                Some((low, high)) => (address(low)?, address(high)?),
                None => (address(rest)?, address(rest)?.saturating_add(1)),
            };
            if low.max(high) > 0x1_0000 {
                return Err(wrong());
            }
            Coordinate::new(bank << 16 | low..(bank << 16) + high)
        };
        let (x, y) = text.split_once(',').ok_or_else(wrong)?;
        Ok(Self { x: coordinate(x)?, y: coordinate(y)? })
    }
}

/// Number of visits of machines to each cell.
#[derive(Debug)]
pub(crate) struct Heatmap {
    view: View,
    bytes: Vec<u8>,
    x_bytes: usize,
    /// Number of coordinates that one cell covers in each direction.
    cell: u32,
    visits: Vec<u32>,
    /// Columns and rows with visits, empty at first.
    columns: Range<usize>,
    rows: Range<usize>,
}

/// Picture of the map.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HeatPicture {
    /// Number of empty columns left of the picture; the number of empty rows above it follows.
    pub(crate) left: usize,
    pub(crate) top: usize,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    pub(crate) cell: u32,
    pub(crate) most: u32,
    /// A byte for each cell, row by row: the logarithm of its visits, from 0 for none to 255 for
    /// the greatest number.
    pub(crate) heat: Vec<u8>,
}

impl Heatmap {
    pub(crate) fn new(Coordinates { x, y }: &Coordinates) -> Self {
        Self {
            view: View::Memory(vec![x.0.clone(), y.0.clone()]),
            bytes: Vec::new(),
            x_bytes: x.0.len(),
            cell: 1,
            visits: vec![0; SIDE * SIDE],
            columns: 0..0,
            rows: 0..0,
        }
    }

    /// Counts the position of every machine.
    pub(crate) fn count_places(&mut self, swarm: &Swarm) -> Result<(), SwarmError> {
        let each = self.view.bytes_per_env();
        debug_assert!(each <= MAX_BYTES as usize);
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.resize(each * swarm.config().num_envs, 0);
        swarm.fill_view(&self.view, None, &mut bytes)?;
        for row in bytes.chunks_exact(each) {
            let (x, y) = row.split_at(self.x_bytes);
            self.visit(number(x), number(y));
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Returns the cell of an env, at the last count.
    pub(crate) fn place(&self, env: usize) -> Option<[u32; 2]> {
        let row = self.bytes.chunks_exact(self.view.bytes_per_env()).nth(env)?;
        let (x, y) = row.split_at(self.x_bytes);
        Some([number(x), number(y)].map(|number| number / self.cell))
    }

    fn visit(&mut self, x: u32, y: u32) {
        let mut cells = [x, y].map(|number| (number / self.cell) as usize);
        while cells.iter().any(|cell| *cell >= SIDE) {
            self.coarsen();
            cells = [x, y].map(|number| (number / self.cell) as usize);
        }
        let [x, y] = cells;
        let visits = &mut self.visits[y * SIDE + x];
        *visits = visits.saturating_add(1);
        widen(&mut self.columns, x);
        widen(&mut self.rows, y);
    }

    /// Merges four cells into one.
    fn coarsen(&mut self) {
        let finer = std::mem::replace(&mut self.visits, vec![0; SIDE * SIDE]);
        for (at, visits) in finer.into_iter().enumerate() {
            let coarse = &mut self.visits[at / SIDE / 2 * SIDE + at % SIDE / 2];
            *coarse = coarse.saturating_add(visits);
        }
        self.cell *= 2;
        for side in [&mut self.columns, &mut self.rows] {
            *side = side.start / 2..side.end.div_ceil(2);
        }
    }

    pub(crate) fn picture(&self) -> HeatPicture {
        let Self { columns, rows, cell, .. } = self;
        let lines = self.visits.chunks_exact(SIDE).take(rows.end).skip(rows.start);
        let shown = lines.flat_map(|line| line.get(columns.clone()).unwrap_or_default());
        let most = shown.clone().copied().max().unwrap_or(0);
        let scale = 254.0 / f64::from(most).max(1.0).ln_1p();
        let heat = |visits: &u32| match visits {
            0 => 0,
            _ => 1 + (f64::from(*visits).ln_1p() * scale).round() as u8,
        };
        HeatPicture {
            left: columns.start,
            top: rows.start,
            columns: columns.len(),
            rows: rows.len(),
            cell: *cell,
            most,
            heat: shown.map(heat).collect(),
        }
    }
}

/// Extends a range so that it contains a number.
fn widen(range: &mut Range<usize>, number: usize) {
    let (start, end) =
        if range.start == range.end { (number, number) } else { (range.start, range.end) };
    *range = start.min(number)..end.max(number + 1);
}

/// Reads a number of one or two bytes.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_from_text_and_wrong_ones_refused() {
        let coordinates: Coordinates = "D361,C010:C012".parse().expect("two places");
        assert_eq!(coordinates.x, Coordinate(0xD361..0xD362));
        assert_eq!(coordinates.y, Coordinate(0xC010..0xC012));
        let banked: Coordinates = "02:D361,02:D362:D364".parse().expect("two places in a bank");
        assert_eq!(banked.x, Coordinate(0x3D361..0x3D362));
        assert_eq!(banked.y, Coordinate(0x3D362..0x3D364));
        for text in [
            "D361",
            "D361,",
            "02:,02:D3",
            "02:D361:D364,D3",
            "0002:D361:D362,D3",
            "x,y",
            "D361,C010:C013",
            "D361,C010:C010",
            "FFFF:10001,D3",
        ] {
            assert!(text.parse::<Coordinates>().is_err(), "{text}");
        }
    }

    #[test]
    fn visits_are_counted_and_cells_get_coarser() {
        let mut map = Heatmap::new(&"C000:C002,C002:C004".parse().expect("two places"));
        assert_eq!((map.picture().columns, map.picture().rows), (0, 0));
        for (x, y) in [(7, 3), (7, 3), (7, 3), (4, 2)] {
            map.visit(x, y);
        }
        let picture = map.picture();
        assert_eq!((picture.left, picture.top, picture.columns, picture.rows), (4, 2, 4, 2));
        assert_eq!((picture.cell, picture.most), (1, 3));
        let few = 1 + (254.0 / 2.0) as u8;
        assert_eq!(picture.heat, [few, 0, 0, 0, 0, 0, 0, 255]);
        map.visit(65_535, 2);
        let picture = map.picture();
        assert_eq!((picture.columns, picture.rows, picture.cell, picture.most), (256, 1, 256, 4));
        assert_eq!(map.visits.iter().sum::<u32>(), 5);
    }
}
