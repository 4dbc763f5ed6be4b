//! Reference pictures, PNG files with four shades of gray, and digits read off a frame.

use std::path::Path;

/// The shades of a picture, 0 white to 3 black, if the file `<path>.png` is there.
pub(crate) fn read_png(path: &Path) -> Option<Vec<u8>> {
    let file = std::fs::File::open(format!("{}.png", path.display())).ok()?;
    let mut decoder = png::Decoder::new(std::io::BufReader::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().expect("a PNG header");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a picture that fits into memory")];
    let info = reader.next_frame(&mut bytes).expect("a PNG picture");
    assert_eq!((info.width, info.height), (160, 144), "{}", path.display());
    let samples = info.color_type.samples();
    Some(bytes.chunks(samples).map(|pixel| 3 - ((u16::from(pixel[0]) + 42) / 85) as u8).collect())
}

fn pixels(frame: &[u8]) -> impl Iterator<Item = u8> {
    frame.iter().flat_map(|byte| [byte >> 6, byte >> 4 & 3, byte >> 2 & 3, byte & 3])
}

/// Where pixels of a frame differ from a picture's shades, if any do.
pub(crate) fn difference(frame: &[u8], shades: &[u8]) -> Option<String> {
    let ours: Vec<u8> = pixels(frame).collect();
    let differing: Vec<usize> = (0..ours.len()).filter(|at| ours[*at] != shades[*at]).collect();
    let first = *differing.first()?;
    let columns = differing.iter().map(|at| at % 160);
    let [left, right] = [columns.clone().min()?, columns.max()?];
    let [top, bottom] = [first / 160, differing.last()? / 160];
    let count = differing.len();
    Some(format!(
        "{count} pixels differ, in columns {left} to {right} of lines {top} to {bottom}; the first is {} instead of {}",
        ours[first], shades[first]
    ))
}

/// The tiles of the hexadecimal digits that gambatte's ROMs bring along, 16 bytes each.
pub(crate) fn font_in(rom: &[u8]) -> Option<&[u8]> {
    // Both planes of a zero: an empty row, a full one, five with two sides, a full one.
    let zero = [0x00, 0x7f, 0x41, 0x41, 0x41, 0x41, 0x41, 0x7f].map(|row| [row, row]);
    let at = rom.windows(16).position(|bytes| bytes == zero.as_flattened())?;
    rom.get(at..at + 256)
}

/// The digits at the beginning of a frame's first row of tiles, `?` where there is none.
pub(crate) fn digits(frame: &[u8], font: &[u8], count: usize) -> String {
    let shades: Vec<u8> = pixels(frame).collect();
    let tile = |column: usize| -> Vec<u8> {
        (0..8)
            .flat_map(|y| {
                let row = shades[y * 160 + column * 8..][..8].iter();
                let black = row.fold(0, |bits, &shade| bits << 1 | u8::from(shade == 3));
                [black, black]
            })
            .collect()
    };
    (0..count)
        .map(|column| font.chunks(16).position(|digit| digit == tile(column)))
        .map(|digit| digit.map_or('?', |digit| char::from(b"0123456789ABCDEF"[digit])))
        .collect()
}
