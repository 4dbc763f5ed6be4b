//! Stacks of an env's last pictures for learners, the newest last. A picture is a cropped and
//! resized frame, or the pixel-wise maximum of a step's last two frames.
//!
//! A native swarm keeps a stack for each env and pushes a picture after each step. On a device a
//! kernel does so, and the results are equal byte by byte.

mod area;
mod shades;

use area::Area;
use shades::ShadePictures;
pub use shades::Shown;

use crate::record::{Reader, Writer};
use crate::{ConsoleError, Frame, Grays, HEIGHT, Picture, WIDTH};

/// Maximum of pictures in a stack.
const MAX_DEPTH: u16 = 64;

/// A rectangle of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crop {
    /// The first line.
    pub top: u16,
    /// The first column.
    pub left: u16,
    /// Number of lines.
    pub lines: u16,
    /// Number of columns.
    pub columns: u16,
}

/// A form of the pictures that a swarm keeps for its learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureStack {
    /// The form of a frame.
    pub picture: Picture,
    /// The grays of the four shades.
    pub grays: Grays,
    /// The part of the picture that is kept; the whole picture if absent.
    pub crop: Option<Crop>,
    /// Lines and columns to which the part is reduced. Each pixel is the mean of the area that it
    /// covers, rounded to the nearest number.
    pub size: Option<[u16; 2]>,
    /// Number of pictures in the stack.
    pub depth: u16,
    /// True if each byte is the maximum of that byte in the step's last two frames.
    pub max_pool: bool,
}

impl PictureStack {
    /// Lines, columns, and bytes of a pixel, of the whole picture.
    pub fn whole(&self) -> [usize; 3] {
        let (lines, columns) = self.picture.shape();
        let channels = self.picture.pixel_bytes();
        [lines, columns / channels, channels]
    }

    /// The part that is kept.
    pub fn part(&self) -> Crop {
        let [lines, columns, _] = self.whole().map(|it| it as u16);
        self.crop.unwrap_or(Crop { top: 0, left: 0, lines, columns })
    }

    /// Lines, columns, and bytes of a pixel, of a picture in the stack.
    pub fn shape(&self) -> [usize; 3] {
        let Crop { lines, columns, .. } = self.part();
        let [lines, columns] = self.size.unwrap_or([lines, columns]).map(usize::from);
        [lines, columns, self.whole()[2]]
    }

    /// Bytes of one picture.
    pub fn picture_bytes(&self) -> usize {
        self.shape().iter().product()
    }

    /// Bytes of the stack.
    pub fn bytes(&self) -> usize {
        usize::from(self.depth) * self.picture_bytes()
    }

    /// Checks that the picture has such a part and can be reduced to the size.
    ///
    /// # Errors
    /// A message that says which option of the picture is to change.
    pub fn check(&self) -> Result<(), String> {
        let [lines, columns, _] = self.whole();
        let packed = self.picture == Picture::Packed;
        let colors = self.picture == Picture::Rgb555;
        if packed && self.crop.is_some()
            || (packed || colors) && (self.size.is_some() || self.max_pool)
        {
            return Err(format!(
                "bytes of the picture `{}` are no brightness, so `crop`, `resize` and `max_pool` take no such picture: use gray, mean, stride, rgb or rgb_corrected",
                self.picture.name()
            ));
        }
        if !(1..=MAX_DEPTH).contains(&self.depth) {
            return Err(format!(
                "`frame_stack` is 1 to {MAX_DEPTH} pictures, found {}",
                self.depth
            ));
        }
        let larger = match self.picture {
            Picture::Mean | Picture::Stride => format!(
                ": the picture is `{}`, and `gray` has {HEIGHT} lines and {WIDTH} columns",
                self.picture.name()
            ),
            _ => String::new(),
        };
        let Crop { top, left, lines: part_lines, columns: part_columns } = self.part();
        let fits = |first: u16, count: u16, all: usize| {
            count > 0 && usize::from(first) + usize::from(count) <= all
        };
        if !fits(top, part_lines, lines) || !fits(left, part_columns, columns) {
            return Err(format!(
                "`crop` is (top, left, lines, columns) inside of the picture's {lines} lines and {columns} columns, found ({top}, {left}, {part_lines}, {part_columns}){larger}"
            ));
        }
        let Some([to_lines, to_columns]) = self.size else { return Ok(()) };
        if !(1..=part_lines).contains(&to_lines) || !(1..=part_columns).contains(&to_columns) {
            return Err(format!(
                "`resize` reduces to 1 to {part_lines} lines and 1 to {part_columns} columns, the size of the picture or of its crop, found ({to_lines}, {to_columns}){larger}"
            ));
        }
        Ok(())
    }

    /// Makes the first stack of an episode, which holds one frame several times.
    pub fn first(&self, frame: Frame<'_>) -> Vec<u8> {
        let mut stack = vec![0; self.bytes()];
        PictureMaker::new(*self).fill(frame, &mut stack, &mut Shown::default());
        stack
    }

    /// Writes the form of the pictures.
    pub fn write(&self, writer: &mut Writer) {
        writer.text(self.picture.name());
        writer.text(self.grays.name());
        let Crop { top, left, lines, columns } = self.part();
        let [to_lines, to_columns, _] = self.shape().map(|it| it as u16);
        for number in [top, left, lines, columns, to_lines, to_columns, self.depth] {
            writer.u16(number);
        }
        writer.u8(u8::from(self.max_pool));
    }

    /// Reads the form that [`Self::write`] wrote.
    ///
    /// # Errors
    /// The record is damaged.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, ConsoleError> {
        let picture = Picture::by_name(reader.text()?);
        let picture = picture.ok_or_else(|| reader.damaged("its form of pictures is unknown"))?;
        let grays = Grays::by_name(reader.text()?);
        let grays = grays.ok_or_else(|| reader.damaged("its grays are unknown"))?;
        let mut number = || reader.u16();
        let (top, left, lines, columns) = (number()?, number()?, number()?, number()?);
        let (size, depth) = ([number()?, number()?], number()?);
        let max_pool = reader.flag()?;
        let read = Self { picture, grays, crop: None, size: None, depth, max_pool };
        let crop = Crop { top, left, lines, columns };
        Ok(Self {
            crop: (crop != read.part()).then_some(crop),
            size: (size != [lines, columns]).then_some(size),
            ..read
        })
    }
}

/// Converter of frames to pictures.
#[derive(Debug)]
pub struct PictureMaker {
    stack: PictureStack,
    /// Unreduced pictures of the frame and of the frame before it.
    wholes: [Vec<u8>; 2],
    /// The reduction; `None` if the picture keeps its size.
    area: Option<Area>,
    /// The faster converter for frames of shades; `None` if it can't make this form.
    shades: Option<ShadePictures>,
}

impl PictureMaker {
    /// Makes a converter to pictures of a form.
    pub fn new(stack: PictureStack) -> Self {
        let Crop { lines, columns, .. } = stack.part();
        let area = stack.size.filter(|size| *size != [lines, columns]).map(|size| {
            Area::new([lines, columns].map(usize::from), size.map(usize::from), stack.whole()[2])
        });
        Self { stack, wholes: [Vec::new(), Vec::new()], area, shades: ShadePictures::new(&stack) }
    }

    /// Fills a stack with the picture of a frame. `shown` becomes the newest picture, from which
    /// the next picture is made.
    pub fn fill(&mut self, frame: Frame<'_>, stack: &mut [u8], shown: &mut Shown) {
        shown.forget();
        let bytes = self.stack.picture_bytes();
        self.draw(frame, None, &mut stack[..bytes], shown);
        for place in 1..usize::from(self.stack.depth) {
            stack.copy_within(..bytes, place * bytes);
        }
    }

    /// Makes the picture of a frame, or of the lighter pixels of this frame and the one before.
    /// `shown` is the picture that lies in `out`.
    pub fn draw(
        &mut self,
        frame: Frame<'_>,
        before: Option<Frame<'_>>,
        out: &mut [u8],
        shown: &mut Shown,
    ) {
        if let (Some(maker), Frame::Shades(frame)) = (&mut self.shades, frame) {
            let before = match before {
                Some(Frame::Shades(before)) => Some(before),
                _ => None,
            };
            maker.draw(frame, before, shown, out);
            return;
        }
        let PictureStack { picture, grays, .. } = self.stack;
        let [whole, other] = &mut self.wholes;
        whole.resize(picture.bytes(), 0);
        picture.fill(grays, frame, whole);
        if let Some(before) = before {
            other.resize(picture.bytes(), 0);
            picture.fill(grays, before, other);
            for (byte, other) in whole.iter_mut().zip(other) {
                *byte = (*byte).max(*other);
            }
        }
        let Crop { top, left, lines, columns } = self.stack.part();
        let [_, line_columns, channels] = self.stack.whole();
        let line = line_columns * channels;
        let first = usize::from(left) * channels;
        let columns = first..first + usize::from(columns) * channels;
        let part = whole.chunks_exact(line).skip(top.into()).take(lines.into());
        let part = part.map(|line| &line[columns.clone()]);
        match &mut self.area {
            Some(area) => area.reduce(part, out),
            None => out.chunks_exact_mut(columns.len()).zip(part).for_each(|(out, line)| {
                out.copy_from_slice(line);
            }),
        }
    }
}
