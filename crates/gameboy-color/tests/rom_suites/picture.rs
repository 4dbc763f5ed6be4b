//! Reference pictures in colour, and digits read off a frame.

use std::path::Path;

/// Colours of a picture as RGB555 with red lowest, if the file is there. Suites spread five bits to
/// eight by `c << 3 | c >> 2` or by `c * 8`; the upper five are what counts.
pub(crate) fn read_png(path: &Path) -> Option<Vec<u16>> {
    let file = std::fs::File::open(path).ok()?;
    let mut decoder = png::Decoder::new(std::io::BufReader::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().expect("a PNG header");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a picture that fits into memory")];
    let info = reader.next_frame(&mut bytes).expect("a PNG picture");
    assert_eq!((info.width, info.height), (160, 144), "{}", path.display());
    let samples = info.color_type.samples();
    let five = |pixel: &[u8], at: usize| u16::from(pixel[if samples < 3 { 0 } else { at }] >> 3);
    let pixels = bytes.chunks(samples);
    Some(pixels.map(|it| five(it, 0) | five(it, 1) << 5 | five(it, 2) << 10).collect())
}

pub(crate) fn pixels(frame: &[u8]) -> impl Iterator<Item = u16> {
    frame.as_chunks().0.iter().map(|&pixel| u16::from_le_bytes(pixel) & 0x7fff)
}

/// How many pixels of a frame differ from a picture.
pub(crate) fn differing_pixels(frame: &[u8], expected: &[u16]) -> usize {
    pixels(frame).zip(expected).filter(|(ours, theirs)| ours != *theirs).count()
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
    let colors: Vec<u16> = pixels(frame).collect();
    let tile = |column: usize| -> Vec<u8> {
        (0..8)
            .flat_map(|y| {
                let row = colors[y * 160 + column * 8..][..8].iter();
                let ink = row.fold(0, |bits, &color| bits << 1 | u8::from(color == 0));
                [ink, ink]
            })
            .collect()
    };
    (0..count)
        .map(|column| font.chunks(16).position(|digit| digit == tile(column)))
        .map(|digit| digit.map_or('?', |digit| char::from(b"0123456789ABCDEF"[digit])))
        .collect()
}
