//! Writer of small GIF files: pixels that don't change from one picture to the next are not written
//! again.

use anyhow::Context;
use gif::{DisposalMethod, Encoder, Frame, Repeat};

use crate::picture::{GAP_INDEX, IS_COLOR, Mosaic, Screen};

/// Index of the transparent colour, with which a pixel stays unchanged.
const UNCHANGED: u8 = GAP_INDEX as u8 + 1;
/// Greatest number of colours of a GIF's picture, without the transparent one.
const MAX_COLORS: usize = 255;
/// Shortest delay of a picture: browsers replace a shorter delay by a tenth of a second.
const MIN_CENTISECONDS: u64 = 2;

/// GIF that is being written. Each picture comes with the time at which it appears, so that
/// rounding errors do not add up.
pub(crate) struct Animation {
    encoder: Encoder<Vec<u8>>,
    screen: Screen,
    /// Picture that is visible now; `None` before the first one.
    shown: Option<Mosaic>,
    /// Picture whose end time is not known yet, and the time at which it appears.
    open: Option<(Frame<'static>, u64)>,
}

impl Animation {
    /// Begins a GIF of this width and height, which repeats for ever.
    pub(crate) fn new((width, height): (usize, usize), screen: Screen) -> anyhow::Result<Self> {
        // `picture` limits the sides.
        let (width, height) = (width as u16, height as u16);
        let mut encoder =
            Encoder::new(Vec::new(), width, height, &screen.rgb()).context("a GIF's header")?;
        encoder.set_repeat(Repeat::Infinite).context("a GIF's header")?;
        Ok(Self { encoder, screen, shown: None, open: None })
    }

    /// Adds the next picture. A picture that changes nothing, or comes too early, is left out.
    pub(crate) fn push(&mut self, picture: &Mosaic, at_s: f64) -> anyhow::Result<()> {
        let time = centiseconds(at_s);
        let too_early =
            self.open.as_ref().is_some_and(|(_, since)| time < since + MIN_CENTISECONDS);
        let frame = match &self.shown {
            None => Some(first_frame(picture, self.screen)),
            Some(_) if too_early => None,
            Some(shown) => change(shown, picture, self.screen),
        };
        let Some(frame) = frame else { return Ok(()) };
        self.close(time)?;
        self.shown = Some(picture.clone());
        self.open = Some((frame, time));
        Ok(())
    }

    /// Ends the GIF at this time and returns the file.
    pub(crate) fn finish(mut self, end_s: f64) -> anyhow::Result<Vec<u8>> {
        self.close(centiseconds(end_s))?;
        self.encoder.into_inner().context("a GIF's end")
    }

    fn close(&mut self, end: u64) -> anyhow::Result<()> {
        if let Some((mut frame, since)) = self.open.take() {
            let delay = end.saturating_sub(since).max(MIN_CENTISECONDS);
            frame.delay = u16::try_from(delay).unwrap_or(u16::MAX);
            self.encoder.write_lzw_pre_encoded_frame(&frame).context("a GIF's picture")?;
        }
        Ok(())
    }
}

fn centiseconds(seconds: f64) -> u64 {
    (seconds * 100.0).round() as u64
}

fn first_frame(picture: &Mosaic, screen: Screen) -> Frame<'static> {
    let colors = Colors::of(&picture.pixels, screen);
    let pixels: Vec<u8> = picture.pixels.iter().map(|&pixel| colors.index(pixel)).collect();
    let (width, height) = (picture.width as u16, picture.height as u16);
    let mut frame = Frame::from_indexed_pixels(width, height, pixels, None);
    frame.palette = colors.palette();
    frame.make_lzw_pre_encoded();
    frame
}

/// Returns the smallest rectangle that changes, in the shorter of two forms: with all its pixels,
/// or with the unchanged ones transparent.
fn change(before: &Mosaic, after: &Mosaic, screen: Screen) -> Option<Frame<'static>> {
    let width = after.width;
    let differs = |at: &usize| before.pixels[*at] != after.pixels[*at];
    let top = (0..after.pixels.len()).find(differs)? / width;
    let bottom = (0..after.pixels.len()).rfind(differs)? / width;
    let is_column_changed = |x: usize| (top..=bottom).any(|y| differs(&(y * width + x)));
    let left = (0..width).find(|x| is_column_changed(*x))?;
    let right = (0..width).rfind(|x| is_column_changed(*x))?;
    let rectangle = (top..=bottom).flat_map(|y| (left..=right).map(move |x| y * width + x));
    let seen: Vec<u16> = rectangle.clone().map(|at| after.pixels[at]).collect();
    let colors = Colors::of(&seen, screen);
    let plain: Vec<u8> = seen.iter().map(|&pixel| colors.index(pixel)).collect();
    let unchanged = colors.unchanged();
    let sparse: Vec<u8> = rectangle
        .zip(&plain)
        .map(|(at, index)| if differs(&at) { *index } else { unchanged })
        .collect();
    let frame = |buffer: Vec<u8>| {
        let mut frame = Frame {
            left: left as u16,
            top: top as u16,
            width: (right - left + 1) as u16,
            height: (bottom - top + 1) as u16,
            buffer: buffer.into(),
            transparent: Some(unchanged),
            palette: colors.palette(),
            dispose: DisposalMethod::Keep,
            ..Frame::default()
        };
        frame.make_lzw_pre_encoded();
        frame
    };
    let (plain, sparse) = (frame(plain), frame(sparse));
    Some(if plain.buffer.len() < sparse.buffer.len() { plain } else { sparse })
}

/// Colours of one picture of a GIF.
enum Colors {
    /// Palette of the file.
    Shades,
    /// Palette of the picture: its colours, rounded so that there are at most 255.
    Own { colors: Vec<u16>, mask: u16, screen: Screen },
}

impl Colors {
    fn of(pixels: &[u16], screen: Screen) -> Self {
        if pixels.iter().all(|pixel| pixel & IS_COLOR == 0) {
            return Self::Shades;
        }
        // The masks keep five bits of each part, then four, then three, then two.
        for mask in [0xFFFF, 0xFBDE, 0xF39C, 0xE318] {
            let masked = |&pixel: &u16| if pixel & IS_COLOR == 0 { pixel } else { pixel & mask };
            let mut colors: Vec<u16> = pixels.iter().map(masked).collect();
            colors.sort_unstable();
            colors.dedup();
            if colors.len() <= MAX_COLORS {
                return Self::Own { colors, mask, screen };
            }
        }
        unreachable!("two bits a part are 64 colours, beside five of the palette")
    }

    fn index(&self, pixel: u16) -> u8 {
        match self {
            Self::Shades => pixel as u8,
            Self::Own { colors, mask, .. } => {
                let masked = if pixel & IS_COLOR == 0 { pixel } else { pixel & mask };
                let index = colors.binary_search(&masked);
                // There are at most 255 colours.
                index.unwrap_or_else(|_| unreachable!("a colour of this picture")) as u8
            }
        }
    }

    fn unchanged(&self) -> u8 {
        match self {
            Self::Shades => UNCHANGED,
            Self::Own { colors, .. } => colors.len() as u8,
        }
    }

    fn palette(&self) -> Option<Vec<u8>> {
        match self {
            Self::Shades => None,
            Self::Own { colors, screen, .. } => {
                let color = |&pixel: &u16| screen.color(pixel);
                Some(colors.iter().chain([&GAP_INDEX]).flat_map(color).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Palette;

    #[test]
    fn a_gif_holds_its_pictures_at_their_times() {
        let mut picture = Mosaic::new(2, None, 1).expect("a small picture");
        let mut pictures = Vec::new();
        for frame in 0..6_u8 {
            let packed: Vec<u8> =
                (0..5760_u16).map(|at| if at / 40 > 60 { frame / 2 } else { at as u8 }).collect();
            let packed = packed.as_array().expect("a frame");
            picture.place(usize::from(frame % 2), gbxcule_swarm::Frame::Shades(packed));
            pictures.push(picture.clone());
        }
        let moments: Vec<f64> = (0..6).map(|frame| f64::from(frame) * 4.0 / 59.7275).collect();
        let size = (picture.width, picture.height);
        let mut animation = Animation::new(size, Palette::Green.into()).expect("a GIF");
        for (picture, at_s) in pictures.iter().zip(&moments) {
            animation.push(picture, *at_s).expect("a picture");
        }
        let bytes = animation.finish(0.5).expect("a file");

        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::Indexed);
        let mut decoder = options.read_info(bytes.as_slice()).expect("a GIF");
        assert_eq!(
            decoder.global_palette().map(|rgb| rgb[..15].to_vec()),
            Some(Palette::Green.rgb().to_vec())
        );
        let width = usize::from(decoder.width());
        let mut canvas = vec![0; width * usize::from(decoder.height())];
        let mut shown = Vec::new();
        let mut time = 0;
        while let Some(frame) = decoder.read_next_frame().expect("a picture") {
            for (index, pixel) in frame.buffer.iter().enumerate() {
                let (x, y) = (index % usize::from(frame.width), index / usize::from(frame.width));
                if frame.transparent != Some(*pixel) {
                    canvas[(y + usize::from(frame.top)) * width + x + usize::from(frame.left)] =
                        *pixel;
                }
            }
            shown.push((time, canvas.clone()));
            time += u64::from(frame.delay);
        }
        assert_eq!(time, 50, "the delays add up to the time it took");
        let mut distinct = pictures.clone();
        distinct.dedup_by(|one, other| one.pixels == other.pixels);
        assert_eq!(shown.len(), distinct.len());
        for ((time, canvas), (picture, at_s)) in shown.iter().zip(pictures.iter().zip(moments)) {
            let pixels: Vec<u16> = canvas.iter().map(|&pixel| u16::from(pixel)).collect();
            assert_eq!(pixels, picture.pixels);
            assert_eq!(*time, (at_s * 100.0_f64).round() as u64);
        }
    }
}
