//! The scratch of an env (floats, integers and bytes), and the ranges of its cells that belong to
//! each text, to the hooks and to the caller.

use std::ops::Range;

use super::optional_param::{BYTES, INTS};
use super::{Programs, TextRole};
use crate::SwarmError;

/// Number of cells for a hook's counts: one for the episode, one for the step.
const CELLS_OF_HOOK: usize = 2;

/// Sizes of a scratch: floats, integers and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ScratchSize {
    pub(crate) numbers: usize,
    pub(crate) ints: usize,
    pub(crate) bytes: usize,
}

impl ScratchSize {
    /// Returns the number of cells of four bytes that hold the integers and the bytes.
    pub(crate) fn words(self) -> usize {
        self.ints + self.bytes.div_ceil(4)
    }
}

impl Programs {
    /// Number of floats of an env: the programs' scratch, the hooks' counts, the mask of actions,
    /// weights.
    pub fn scratch_len(&self) -> usize {
        self.weight_cells().end
    }

    /// Integers and bytes of both texts, and the floats of [`Programs::scratch_len`].
    pub(crate) fn scratch_size(&self) -> ScratchSize {
        ScratchSize {
            numbers: self.scratch_len(),
            ints: self.int_scratch_of(TextRole::Observation).end,
            bytes: self.byte_scratch_of(TextRole::Observation).end,
        }
    }

    /// The cells of the hooks' counts, two for each hook, after the programs' cells.
    pub(crate) fn hook_cells(&self) -> Range<usize> {
        let first = self.obs_scratch().end;
        first..first + CELLS_OF_HOOK * self.hooks().len()
    }

    /// The cells that `action_mask` fills: not 0 where an action is allowed.
    pub(crate) fn mask_cells(&self) -> Range<usize> {
        let first = self.hook_cells().end;
        first..first + self.mask_len()
    }

    /// The cells that hold the weights, alike in all envs.
    pub(crate) fn weight_cells(&self) -> Range<usize> {
        let first = self.mask_cells().end;
        first..first + self.0.sizes.weights
    }

    /// The cells of a text.
    pub(crate) fn scratch_of(&self, text: TextRole) -> Range<usize> {
        match text {
            TextRole::Reward => self.reward_scratch(),
            TextRole::Observation => self.obs_scratch(),
        }
    }

    /// Returns the scratch cells of `reward` and `done`.
    pub fn reward_scratch(&self) -> Range<usize> {
        self.part_of(TextRole::Reward, |size| size.numbers)
    }

    /// Returns the scratch cells of `observe`: those of the reward if both are one text.
    pub fn obs_scratch(&self) -> Range<usize> {
        self.part_of(TextRole::Observation, |size| size.numbers)
    }

    /// Returns the cells of a text's array, among those of all texts.
    fn array_of(&self, text: TextRole, array: ScratchArray) -> Range<usize> {
        match array {
            ScratchArray::Numbers => self.scratch_of(text),
            ScratchArray::Ints => self.int_scratch_of(text),
            ScratchArray::Bytes => self.byte_scratch_of(text),
        }
    }

    /// Returns the integer cells of a text.
    pub(crate) fn int_scratch_of(&self, text: TextRole) -> Range<usize> {
        self.part_of(text, |size| size.ints)
    }

    /// Returns the bytes of a text.
    pub(crate) fn byte_scratch_of(&self, text: TextRole) -> Range<usize> {
        self.part_of(text, |size| size.bytes)
    }

    /// Returns the range of a text's part; the reward's part comes first.
    fn part_of(&self, text: TextRole, size: impl Fn(ScratchSize) -> usize) -> Range<usize> {
        let [reward, own] = [self.0.sizes.scratch[0], self.0.sizes.scratch[text.index()]].map(size);
        let first = if text == TextRole::Reward || self.is_one_text() { 0 } else { reward };
        first..first + own
    }
}

/// One of the scratch arrays of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScratchArray {
    /// `scratch`: `float32`.
    Numbers,
    /// `int_scratch`: `int32`.
    Ints,
    /// `byte_scratch`: `uint8`.
    Bytes,
}

impl ScratchArray {
    /// Returns the array's name in a program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Numbers => "scratch",
            Self::Ints => INTS.name,
            Self::Bytes => BYTES.name,
        }
    }
}

/// A cell of a scratch array, by the program's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScratchCell {
    /// The program.
    pub text: TextRole,
    /// Array of the program.
    pub array: ScratchArray,
    /// The cell's index.
    pub cell: usize,
}

impl ScratchCell {
    /// Returns the cell's position among an env's cells of this kind.
    pub(crate) fn place(self, programs: &Programs) -> Result<Range<usize>, SwarmError> {
        let Self { text, array, cell } = self;
        let cells = programs.array_of(text, array);
        if cell < cells.len() {
            return Ok(cells.start + cell..cells.start + cell + 1);
        }
        let text = match text {
            TextRole::Reward => programs.reward_text(),
            TextRole::Observation => programs.observation_text(),
        };
        let (name, array, len) = (text.name().to_owned(), array.name(), cells.len());
        Err(SwarmError::NoSuchCell { name, array, cell, len })
    }
}

/// Converts cells of any array to `f64`, which holds their values exactly.
pub(crate) fn widened<T: Copy + Into<f64>>(cells: &[T]) -> Vec<f64> {
    cells.iter().map(|&cell| cell.into()).collect()
}
