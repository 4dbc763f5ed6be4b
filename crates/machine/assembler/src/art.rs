//! Converts pictures drawn with characters to tiles of two bits a pixel. Pan Docs "VRAM Tile Data".

use crate::error::Complaint;

/// Shades, lightest first.
const SHADES: [char; 4] = ['.', ':', 'o', '#'];

/// Order of the tiles of a picture.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Order {
    /// Left to right, then down: backgrounds.
    Rows,
    /// Pairs of tiles, one above the other, as 8x16 objects need them.
    Tall,
}

/// Returns the tiles of a picture, or a complaint and its row.
pub(crate) fn tiles(rows: &[String], order: Order) -> Result<Vec<u8>, (usize, Complaint)> {
    let whole = if order == Order::Tall { 16 } else { 8 };
    if rows.is_empty() || !rows.len().is_multiple_of(whole) {
        let message = format!("{} rows of art; a multiple of {whole} is needed", rows.len());
        return Err((rows.len().saturating_sub(1), Complaint::new(1, message)));
    }
    let mut pixels = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        pixels.push(shades(row).map_err(|complaint| (index, complaint))?);
        let (width, first) = (pixels[index].len(), pixels[0].len());
        if width % 8 != 0 || width != first {
            let message = format!(
                "a row of {width} pixels; all rows of a picture are equal and a multiple of 8"
            );
            return Err((index, Complaint::new(1, message)));
        }
    }
    let mut bytes = Vec::new();
    for band in pixels.chunks(whole) {
        for column in 0..pixels[0].len() / 8 {
            for row in band {
                bytes.extend(planes(&row[column * 8..column * 8 + 8]));
            }
        }
    }
    Ok(bytes)
}

fn shades(row: &str) -> Result<Vec<u8>, Complaint> {
    let indent = row.len() - row.trim_start().len();
    let shade = |(at, c): (usize, char)| {
        SHADES.iter().position(|shade| *shade == c).map(|shade| shade as u8).ok_or_else(|| {
            let column = (indent + at) as u32 + 1;
            Complaint::new(column, format!("`{c}` in art; the shades are `.`, `:`, `o` and `#`"))
        })
    };
    row.trim().chars().enumerate().map(shade).collect()
}

/// Returns the low and the high bits of eight pixels.
fn planes(pixels: &[u8]) -> [u8; 2] {
    let plane = |bit: u8| pixels.iter().fold(0, |byte, shade| byte << 1 | (shade >> bit & 1));
    [plane(0), plane(1)]
}
