//! Draws machines side by side in one picture, for stills (PNG) and for frames of an animation, in
//! four shades or the colours of a Game Boy Color, with a background between machines.

use anyhow::Context;
use clap::ValueEnum;
use gbxcule_swarm::{Frame, HEIGHT, WIDTH, corrected_rgb, rgb};

const GAP: usize = 4;
/// Index of the colour between machines, after the four shades.
pub(crate) const GAP_INDEX: u16 = 4;
/// Bit of a pixel that is an RGB555 colour instead of an index of the palette.
pub(crate) const IS_COLOR: u16 = 0x8000;
/// Longest side of a picture; a longer one is probably a mistake.
const MAX_SIDE: usize = 16_384;
const MAX_MACHINES: usize = (MAX_SIDE / WIDTH) * (MAX_SIDE / HEIGHT);

/// The colours of the screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Palette {
    /// Colours of the first Game Boys
    Green,
    /// Black and white
    Grey,
    /// Colours of old terminals
    Amber,
}

impl Palette {
    /// Returns red, green and blue of the four shades, lightest first, and of the background.
    pub(crate) fn rgb(self) -> [u8; 15] {
        let colours: [u32; 5] = match self {
            Self::Green => [0xE0F8D0, 0x88C070, 0x346856, 0x081820, 0x14161A],
            Self::Grey => [0xF6F6F2, 0xA8A8A4, 0x565654, 0x0C0C0C, 0x2C2C30],
            Self::Amber => [0xFFE9B8, 0xE8A33D, 0x8A4B16, 0x1C0F08, 0x2C2622],
        };
        let mut bytes = [0; 15];
        for (three, colour) in bytes.chunks_exact_mut(3).zip(colours) {
            three.copy_from_slice(&colour.to_be_bytes()[1..]);
        }
        bytes
    }
}

/// Curve that maps the five bits of a Color's red, green and blue to the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Curve {
    /// Spread over eight bits
    #[default]
    Raw,
    /// Colours as the Color's panel shows them: dimmer, and mixed with one another
    Corrected,
}

impl Curve {
    /// Returns the curve's name on the command line and in the page.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Corrected => "corrected",
        }
    }
}

/// Display of either model: the palette of the four shades, and the curve of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Screen {
    pub(crate) palette: Palette,
    pub(crate) curve: Curve,
}

impl From<Palette> for Screen {
    fn from(palette: Palette) -> Self {
        Self { palette, curve: Curve::default() }
    }
}

impl Screen {
    /// Returns red, green and blue of the four shades, lightest first, and of the background.
    pub(crate) fn rgb(self) -> [u8; 15] {
        self.palette.rgb()
    }

    /// Returns red, green and blue of a pixel of a [`Mosaic`].
    pub(crate) fn color(self, pixel: u16) -> [u8; 3] {
        if pixel & IS_COLOR != 0 {
            return match self.curve {
                Curve::Raw => rgb(pixel & !IS_COLOR),
                Curve::Corrected => corrected_rgb(pixel & !IS_COLOR),
            };
        }
        let first = usize::from(pixel) * 3;
        let bytes = self.rgb();
        [bytes[first], bytes[first + 1], bytes[first + 2]]
    }
}

/// Picture with a tile for each machine. A pixel is an index of the palette, or a colour.
#[derive(Debug, Clone)]
pub(crate) struct Mosaic {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<u16>,
    /// Width and height of a machine's picture.
    tile: [usize; 2],
    columns: usize,
    scale: usize,
}

impl Mosaic {
    /// Makes an empty picture. Without a given number of columns it has about the shape of a
    /// screen.
    pub(crate) fn new(
        machines: usize,
        columns: Option<usize>,
        scale: usize,
    ) -> anyhow::Result<Self> {
        Self::of_tiles([WIDTH, HEIGHT], machines, columns, scale)
    }

    /// Makes an empty picture as [`Self::new`] does, of machines whose pictures have this width and
    /// height.
    pub(crate) fn of_tiles(
        tile: [usize; 2],
        machines: usize,
        columns: Option<usize>,
        scale: usize,
    ) -> anyhow::Result<Self> {
        anyhow::ensure!(
            machines <= MAX_MACHINES,
            "a picture has room for {MAX_MACHINES} machines, not for {machines} machines; choose fewer with --envs"
        );
        let columns = columns.unwrap_or_else(|| usual_columns(machines)).clamp(1, machines);
        let rows = machines.div_ceil(columns);
        let side = |tiles: usize, pixels: usize| (tiles * (pixels + GAP) - GAP) * scale;
        let (width, height) = (side(columns, tile[0]), side(rows, tile[1]));
        anyhow::ensure!(
            width.max(height) <= MAX_SIDE,
            "{machines} machines in {columns} columns would make a picture of {width} x {height} pixels; choose fewer \
             with --envs"
        );
        Ok(Self { width, height, pixels: vec![GAP_INDEX; width * height], tile, columns, scale })
    }

    /// Draws a machine's picture into its place.
    pub(crate) fn place(&mut self, place: usize, frame: Frame<'_>) {
        match frame {
            Frame::Shades(packed) => {
                let quad = |byte: &u8| [6, 4, 2, 0].map(|shift| u16::from(byte >> shift & 3));
                self.place_pixels(place, packed.iter().flat_map(quad));
            }
            Frame::Colors(bytes) => {
                let (pixels, _) = bytes.as_chunks();
                let color = |pixel: &[u8; 2]| IS_COLOR | u16::from_le_bytes(*pixel);
                self.place_pixels(place, pixels.iter().map(color));
            }
        }
    }

    /// Returns true if pictures are those of a Super Game Boy with its border.
    pub(crate) fn has_borders(&self) -> bool {
        self.tile != [WIDTH, HEIGHT]
    }

    /// Draws a picture in RGB555 into a machine's place.
    pub(crate) fn place_colors(&mut self, place: usize, colors: &[u16]) {
        self.place_pixels(place, colors.iter().map(|color| IS_COLOR | color));
    }

    fn place_pixels(&mut self, place: usize, pixels: impl Iterator<Item = u16>) {
        let (column, row) = (place % self.columns, place / self.columns);
        let [width, height] = self.tile;
        let corner = (row * (height + GAP) * self.width + column * (width + GAP)) * self.scale;
        for (at, pixel) in pixels.enumerate() {
            let (x, y) = (at % width, at / width);
            for below in 0..self.scale {
                let start = corner + (y * self.scale + below) * self.width + x * self.scale;
                self.pixels[start..start + self.scale].fill(pixel);
            }
        }
    }

    /// Returns true if a machine in the picture has colours of its own.
    pub(crate) fn is_colored(&self) -> bool {
        self.pixels.iter().any(|pixel| pixel & IS_COLOR != 0)
    }

    /// Returns the bytes of a PNG file.
    pub(crate) fn png(&self, screen: Screen) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // `MAX_SIDE` limits the sides.
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::NoFilter);
        let data: Vec<u8> = if self.is_colored() {
            encoder.set_color(png::ColorType::Rgb);
            self.pixels.iter().flat_map(|&pixel| screen.color(pixel)).collect()
        } else {
            encoder.set_color(png::ColorType::Indexed);
            encoder.set_depth(png::BitDepth::Four);
            encoder.set_palette(screen.rgb().to_vec());
            let lines = self.pixels.chunks_exact(self.width);
            let index = |pixel: Option<&u16>| pixel.map_or(0, |pixel| *pixel as u8);
            let two = |two: &[u16]| index(two.first()) << 4 | index(two.get(1));
            lines.flat_map(|line| line.chunks(2)).map(two).collect()
        };
        let mut writer = encoder.write_header().context("a PNG header")?;
        writer.write_image_data(&data).context("a PNG image")?;
        writer.finish().context("a PNG's end")?;
        Ok(bytes)
    }
}

/// Returns a number of columns that fills every row, if it gives a picture whose width is between
/// one and about five and a half times its height; otherwise a number for a picture about twice as
/// wide as high.
fn usual_columns(machines: usize) -> usize {
    let wished = (machines as f64 * 1.6).sqrt();
    let fits = |columns: &usize| {
        let shape = (columns * columns) as f64 / machines as f64;
        machines.is_multiple_of(*columns) && (1.0..=5.0).contains(&shape)
    };
    let distance = |columns: &usize| (*columns as f64 - wished).abs();
    (1..=machines)
        .filter(fits)
        .min_by(|one, other| distance(one).total_cmp(&distance(other)))
        .unwrap_or(wished.ceil() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_swarm::FRAME_BYTES;

    #[test]
    fn rows_are_filled_where_they_can_be() {
        let columns = [1, 2, 3, 7, 8, 12, 16, 18, 48, 512].map(usual_columns);
        assert_eq!(columns, [1, 2, 3, 4, 4, 4, 4, 6, 8, 32]);
    }

    #[test]
    fn every_machine_is_drawn_in_its_place_at_its_scale() {
        let mut mosaic = Mosaic::new(3, Some(2), 2).expect("a small picture");
        assert_eq!((mosaic.width, mosaic.height), (2 * 324, 2 * 292));
        let mut packed = [0; FRAME_BYTES];
        packed[0] = 0b0100_0000;
        packed[FRAME_BYTES - 1] = 0b0000_0011;
        mosaic.place(2, Frame::Shades(&packed));
        let at = |x: usize, y: usize| mosaic.pixels[y * mosaic.width + x];
        assert_eq!([at(0, 296), at(1, 297), at(2, 296), at(0, 298)], [1, 1, 0, 0]);
        assert_eq!([at(319, 583), at(318, 582), at(317, 583)], [3, 3, 0]);
        assert_eq!([at(320, 400), at(0, 0), at(647, 583)], [GAP_INDEX; 3]);
    }

    #[test]
    fn a_png_holds_the_pixels() {
        let mut mosaic = Mosaic::new(1, None, 1).expect("a small picture");
        mosaic.place(0, Frame::Shades(&[0b0001_1011; FRAME_BYTES]));
        let bytes = mosaic.png(Palette::Grey.into()).expect("a PNG");
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().expect("a header");
        let mut rgb = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut rgb).expect("an image");
        assert_eq!(rgb[..12], Palette::Grey.rgb()[..12]);
    }

    #[test]
    fn colours_are_shown_by_the_curve_that_was_chosen() {
        let [raw, corrected] =
            [Curve::Raw, Curve::Corrected].map(|curve| Screen { palette: Palette::Grey, curve });
        assert_eq!(raw.color(IS_COLOR | 0x7FFF), [255; 3]);
        assert_eq!(raw.color(IS_COLOR | 0x001F), [255, 0, 0]);
        assert_eq!(corrected.color(IS_COLOR | 0x7FFF), [240; 3]);
        assert_eq!(corrected.color(IS_COLOR | 0x001F), [201, 0, 46]);
        assert_eq!(corrected.color(GAP_INDEX), raw.color(GAP_INDEX));
    }
}
