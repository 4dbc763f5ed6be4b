//! Reference pictures, PNG files, and digits read from a frame. A pixel is a shade from 0, white,
//! to 3, black; on the Color it is RGB555 with red lowest.

use std::path::Path;

/// The pixel in which gambatte's ROMs print their digits.
#[cfg(not(color))]
const INK: u16 = 3;
#[cfg(color)]
const INK: u16 = 0;

/// The pixel that a picture shows as red, green and blue.
#[cfg(not(color))]
fn pixel([gray, _, _]: [u8; 3]) -> u16 {
    3 - (u16::from(gray) + 42) / 85
}

/// The pixel that a picture shows as red, green and blue. Suites spread five bits to eight by
/// `c << 3 | c >> 2` or by `c * 8`; only the upper five bits count.
#[cfg(color)]
fn pixel(rgb: [u8; 3]) -> u16 {
    let [red, green, blue] = rgb.map(|level| u16::from(level >> 3));
    red | green << 5 | blue << 10
}

/// The pixels of a frame.
#[cfg(not(color))]
fn pixels(frame: &[u8]) -> Vec<u16> {
    let four = |byte: &u8| [byte >> 6, byte >> 4 & 3, byte >> 2 & 3, byte & 3].map(u16::from);
    frame.iter().flat_map(four).collect()
}

/// The pixels of a frame.
#[cfg(color)]
fn pixels(frame: &[u8]) -> Vec<u16> {
    frame.as_chunks().0.iter().map(|&pixel| u16::from_le_bytes(pixel) & 0x7fff).collect()
}

/// The pixels of a picture, if the file is there.
pub(crate) fn read_png(path: &Path) -> Option<Vec<u16>> {
    read_png_with(path, pixel)
}

fn read_png_with(path: &Path, pixel: fn([u8; 3]) -> u16) -> Option<Vec<u16>> {
    let file = std::fs::File::open(path).ok()?;
    let mut decoder = png::Decoder::new(std::io::BufReader::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().expect("a PNG header");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a picture that fits into memory")];
    let info = reader.next_frame(&mut bytes).expect("a PNG picture");
    assert_eq!((info.width, info.height), (160, 144), "{}", path.display());
    let samples = info.color_type.samples();
    let rgb = |all: &[u8]| [0, 1, 2].map(|at| all[if samples < 3 { 0 } else { at }]);
    Some(bytes.chunks(samples).map(|all| pixel(rgb(all))).collect())
}

/// Finds the pixels in which a frame differs from a picture, if there are any.
pub(crate) fn difference(frame: &[u8], expected: &[u16]) -> Option<String> {
    let ours = pixels(frame);
    let differing: Vec<usize> = (0..ours.len()).filter(|&at| ours[at] != expected[at]).collect();
    let first = *differing.first()?;
    let columns = differing.iter().map(|at| at % 160);
    let [left, right] = [columns.clone().min()?, columns.max()?];
    let [top, bottom] = [first / 160, differing.last()? / 160];
    let count = differing.len();
    Some(format!(
        "{count} pixels differ, in columns {left} to {right} of lines {top} to {bottom}; the first is {:x} instead of {:x}",
        ours[first], expected[first]
    ))
}

/// Finds the pixels in which a frame differs from a picture with the colours that emulators give
/// the panel: mixtures of ours, in sixteenths. gambatte's pictures show 5555 as 9d669d and 2aaa as
/// 5b925b; grays stay as they are.
#[cfg(color)]
pub(crate) fn difference_in_panel_colors(frame: &[u8], expected: &[u16]) -> Option<String> {
    let shown: Vec<u8> =
        pixels(frame).into_iter().flat_map(|color| panel_color(color).to_le_bytes()).collect();
    difference(&shown, expected)
}

/// The colour that such a picture shows for one of ours.
#[cfg(color)]
fn panel_color(color: u16) -> u16 {
    let [red, green, blue] = [color & 31, color >> 5 & 31, color >> 10 & 31];
    let sixteenths = [
        [13, 2, 1], // red
        [0, 12, 4], // green
        [3, 2, 11], // blue
    ];
    let [red, green, blue] = sixteenths
        .map(|[of_red, of_green, of_blue]| (of_red * red + of_green * green + of_blue * blue) / 16);
    red | green << 5 | blue << 10
}

/// Finds the pixels in which a frame differs from a picture, if each of its colours stands for one
/// of ours.
pub(crate) fn difference_but_for_colors(frame: &[u8], expected: &[u16]) -> Option<String> {
    let mut pairs: Vec<(u16, u16)> = expected.iter().copied().zip(pixels(frame)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let ours = pairs.iter().map(|pair| pair.1).collect::<std::collections::BTreeSet<_>>();
    let theirs = pairs.iter().map(|pair| pair.0).collect::<std::collections::BTreeSet<_>>();
    let is_one_to_one = ours.len() == pairs.len() && theirs.len() == pairs.len();
    (!is_one_to_one).then(|| format!("colours of theirs and ours are {pairs:x?}"))
}

/// The tiles of the hexadecimal digits that gambatte's ROMs bring along, 16 bytes each.
pub(crate) fn font_in(rom: &[u8]) -> Option<&[u8]> {
    // Both planes of a zero: an empty row, a full one, five with two sides, a full one.
    let zero = [0x00, 0x7f, 0x41, 0x41, 0x41, 0x41, 0x41, 0x7f].map(|row| [row, row]);
    let at = rom.windows(16).position(|bytes| bytes == zero.as_flattened())?;
    rom.get(at..at + 256)
}

/// The digits at the beginning of a frame's first row of tiles, `?` for a tile without a digit.
pub(crate) fn digits(frame: &[u8], font: &[u8], count: usize) -> String {
    let pixels = pixels(frame);
    let tile = |column: usize| -> Vec<u8> {
        (0..8)
            .flat_map(|y| {
                let row = pixels[y * 160 + column * 8..][..8].iter();
                let ink = row.fold(0, |bits, &pixel| bits << 1 | u8::from(pixel == INK));
                [ink, ink]
            })
            .collect()
    };
    (0..count)
        .map(|column| font.chunks(16).position(|digit| digit == tile(column)))
        .map(|digit| digit.map_or('?', |digit| char::from(b"0123456789ABCDEF"[digit])))
        .collect()
}

/// Direction of the lines that fill a frame.
pub(crate) enum Lines {
    Horizontal,
    Vertical,
}

/// The direction of the lines of two colours that fill a frame, if it shows such lines.
pub(crate) fn lines(frame: &[u8]) -> Option<Lines> {
    let pixels = pixels(frame);
    let rows: Vec<&[u16]> = pixels.chunks(160).collect();
    let is_flat = |row: &&[u16]| row.iter().all(|&pixel| pixel == row[0]);
    let is_alike = |row: &&[u16]| *row == rows[0];
    match (rows.iter().all(is_flat), rows.iter().all(is_alike)) {
        (true, false) => Some(Lines::Horizontal),
        (false, true) => Some(Lines::Vertical),
        _ => None,
    }
}

/// The pixels of one of DocBoy's pictures, which have the greens of its panel.
pub(crate) fn read_docboy_png(path: &Path) -> Option<Vec<u16>> {
    read_png_with(path, |[red, _, _]| match red {
        131 => 0,
        74 => 1,
        41 => 2,
        _ => 3,
    })
}
