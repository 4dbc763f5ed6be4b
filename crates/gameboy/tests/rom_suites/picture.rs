//! Reference pictures: PNG files with four shades of gray.

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

/// How many pixels of a frame differ from a picture's shades.
pub(crate) fn differing_pixels(frame: &[u8], shades: &[u8]) -> u32 {
    let pixels = frame.iter().flat_map(|byte| [byte >> 6, byte >> 4 & 3, byte >> 2 & 3, byte & 3]);
    pixels.zip(shades).filter(|(ours, theirs)| ours != *theirs).count() as u32
}
