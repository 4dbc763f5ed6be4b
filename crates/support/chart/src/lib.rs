//! Charts as PNG, for the reports of `lab` and the cards of `rows`.
//!
//! `plotters` draws into memory, `png` encodes it. The font is compiled in, so that the same
//! numbers give the same pixels on every machine.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::iter::repeat_n;
use std::sync::Once;

/// The font of every chart.
pub const FONT: &str = "sans-serif";
/// The colour of titles and names.
pub const INK: RGBColor = RGBColor(0x22, 0x26, 0x2C);
/// The colour of axes and numbers.
pub const FAINT: RGBColor = RGBColor(0x6B, 0x73, 0x80);
/// Colour of the grid lines.
pub const GRID: RGBColor = RGBColor(0xE3, 0xE6, 0xEA);

/// Drawing area of a chart.
pub type Canvas<'a> = DrawingArea<BitMapBackend<'a>, Shift>;
/// Chart whose lines have names; the coordinates are the value and the height.
pub type NamedLines<'a, 'b> =
    ChartContext<'a, BitMapBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
/// Result of drawing, with the reason of a failure.
pub type DrawResult = Result<(), Box<dyn Error>>;

/// Draws on white and returns the picture as the bytes of a PNG file.
pub fn png(
    (width, height): (u32, u32),
    draw: impl FnOnce(&Canvas<'_>) -> DrawResult,
) -> Result<Vec<u8>, Box<dyn Error>> {
    load_font();
    let mut pixels = vec![0; 3 * width as usize * height as usize];
    let canvas = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
    canvas.fill(&WHITE)?;
    draw(&canvas)?;
    canvas.present()?;
    drop(canvas);
    encode(&pixels, width, height).map_err(Into::into)
}

/// Draws a title, an axis from 0 to `max`, and a name at the left of each line. The first line is
/// at the top. Each line has height 1, so the middle of the last line is at 0.5.
pub fn named_lines<'a, 'b>(
    area: &'a Canvas<'b>,
    title: &str,
    max: f64,
    names: &[&str],
) -> Result<NamedLines<'a, 'b>, Box<dyn Error>> {
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 24).into_font().color(&INK))
        .margin(16)
        .margin_right(90)
        .x_label_area_size(36)
        .y_label_area_size(220)
        .build_cartesian_2d(0.0..max, 0.0..names.len().max(1) as f64)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT)
        .label_style((FONT, 18).into_font().color(&FAINT))
        .x_label_formatter(&|value| format!("{value:.0}"))
        .draw()?;
    let style = (FONT, 18).into_font().color(&INK).pos(Pos::new(HPos::Right, VPos::Center));
    for (position, name) in names.iter().rev().enumerate() {
        let name = Text::new((*name).to_owned(), (-8, 0), style.clone());
        chart.draw_series([EmptyElement::at((0.0, position as f64 + 0.5)) + name])?;
    }
    Ok(chart)
}

/// Writes a number to the right of a point of a chart.
pub fn note(chart: &mut NamedLines<'_, '_>, place: (f64, f64), text: String) -> DrawResult {
    let style = (FONT, 14).into_font().color(&FAINT).pos(Pos::new(HPos::Left, VPos::Center));
    chart.draw_series([EmptyElement::at(place) + Text::new(text, (8, 0), style)])?;
    Ok(())
}

fn load_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // The font is a constant of this binary, so loading can't fail.
        let _ = register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
    });
}

/// Encodes pixels: as places in a palette, which takes a third of the work, or by their colours if
/// a palette doesn't hold them.
fn encode(rgb: &[u8], width: u32, height: u32) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    let palette = Palette::of(rgb);
    match &palette {
        Some(palette) => {
            encoder.set_color(png::ColorType::Indexed);
            encoder.set_palette(palette.colors.concat());
            encoder.set_filter(png::Filter::NoFilter);
        }
        None => encoder.set_color(png::ColorType::Rgb),
    }
    let mut writer = encoder.write_header()?;
    match palette {
        Some(palette) => writer.write_image_data(&palette.places)?,
        None => writer.write_image_data(rgb)?,
    }
    writer.finish()?;
    Ok(bytes)
}

/// A colour: red, green, blue.
type Rgb = [u8; 3];

/// Greatest number of colours of a palette.
const MAX_COLORS: usize = 256;

struct Palette {
    colors: Vec<Rgb>,
    /// Place of each pixel's colour.
    places: Vec<u8>,
}

impl Palette {
    /// Returns the palette of some pixels. If they have more colours than a palette, those that are
    /// alike become the most frequent one of them: the edges of letters have hundreds.
    fn of(rgb: &[u8]) -> Option<Self> {
        // Most pixels have the colour of the one before.
        let (mut runs, mut counts): (Vec<(Rgb, usize)>, _) = (Vec::new(), BTreeMap::new());
        for &color in rgb.as_chunks::<3>().0 {
            match runs.last_mut() {
                Some((last, length)) if *last == color => *length += 1,
                _ => runs.push((color, 1)),
            }
        }
        for (color, length) in &runs {
            *counts.entry(*color).or_insert(0) += length;
        }
        let is_whole = counts.len() <= MAX_COLORS;
        let like = |color: Rgb| if is_whole { color } else { color.map(|part| part >> 3) };
        let mut most: BTreeMap<Rgb, (usize, Rgb)> = BTreeMap::new();
        for (color, count) in counts {
            let best = most.entry(like(color)).or_default();
            *best = (*best).max((count, color));
        }
        if most.len() > MAX_COLORS {
            return None;
        }
        let known: HashMap<Rgb, u8> = most.keys().copied().zip(0..=u8::MAX).collect();
        let place = |(color, length): (Rgb, usize)| repeat_n(known[&like(color)], length);
        let places = runs.into_iter().flat_map(place).collect();
        Some(Self { colors: most.into_values().map(|(_, color)| color).collect(), places })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pixels of a PNG as RGB.
    fn decoded(bytes: Vec<u8>) -> Vec<u8> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().expect("a header");
        let mut rgb = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut rgb).expect("an image");
        rgb
    }

    #[test]
    fn a_png_has_the_pixels_that_were_drawn_and_letters_leave_some() {
        let bytes = png((40, 30), |canvas| {
            canvas.draw(&Rectangle::new([(1, 1), (3, 3)], RGBColor(1, 2, 3).filled()))?;
            let style = (FONT, 20).into_font().color(&INK);
            canvas.draw(&Text::new("W", (10, 5), style))?;
            Ok(())
        });
        let rgb = decoded(bytes.expect("a picture"));
        let at = |x: usize, y: usize| &rgb[3 * (40 * y + x)..][..3];
        assert_eq!((rgb.len(), at(0, 0), at(2, 2)), (3600, &[255; 3][..], &[1, 2, 3][..]));
        assert!((10..40).any(|x| (5..30).any(|y| at(x, y)[0] < 0x60)), "no letter was drawn");
    }

    #[test]
    fn up_to_256_colours_stay_and_of_more_the_frequent_ones() {
        for colors in [1_u32, 2, 255, 256, 257, 1000, 65_536] {
            let rgb: Vec<u8> = (0..65_536_u32)
                .flat_map(|at| {
                    let [low, high, ..] = (at % colors).to_le_bytes();
                    if at % 3 == 0 { [9, 9, 9] } else { [low, high, 7] }
                })
                .collect();
            let read = decoded(encode(&rgb, 256, 256).expect("a picture"));
            let is_exact = colors < 256 || colors == 65_536;
            for (read, drawn) in read.chunks(3).zip(rgb.chunks(3)) {
                let furthest = read.iter().zip(drawn).map(|(one, two)| one.abs_diff(*two)).max();
                let allowed = if is_exact || drawn == [9, 9, 9] { 0 } else { 7 };
                assert!(furthest <= Some(allowed), "{colors}: {drawn:?} became {read:?}");
            }
        }
    }
}
