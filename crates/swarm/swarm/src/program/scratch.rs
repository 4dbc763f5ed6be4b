//! Memory that programs keep for each env, numbers, whole numbers and bytes, and the places in an
//! env's row that belong to each text, to the hooks and to the caller.

use std::ops::Range;

use super::{Programs, TextRole};
use crate::SwarmError;

/// Cells of the scratch in which a hook is counted: in the episode, and in the step.
const CELLS_OF_HOOK: usize = 2;

/// Scratch of a text for each env: numbers, whole numbers and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ScratchSize {
    pub(crate) numbers: usize,
    pub(crate) ints: usize,
    pub(crate) bytes: usize,
}

impl ScratchSize {
    /// Returns how many cells of four bytes hold the whole numbers and the bytes.
    pub(crate) fn words(self) -> usize {
        self.ints + self.bytes.div_ceil(4)
    }
}

impl Programs {
    /// Numbers that an env keeps: the programs' scratch, the hooks' counts, the mask of actions,
    /// weights.
    #[must_use]
    pub fn scratch_len(&self) -> usize {
        self.weight_cells().end
    }

    /// Whole numbers and bytes of both texts, and numbers as [`Programs::scratch_len`] counts them.
    pub(crate) fn scratch_size(&self) -> ScratchSize {
        ScratchSize {
            numbers: self.scratch_len(),
            ints: self.int_scratch_of(TextRole::Observation).end,
            bytes: self.byte_scratch_of(TextRole::Observation).end,
        }
    }

    /// The cells in which hooks are counted, two for each, after the programs' own.
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
    #[must_use]
    pub fn reward_scratch(&self) -> Range<usize> {
        self.part_of(TextRole::Reward, |size| size.numbers)
    }

    /// Returns the scratch cells of `observe`: those of the reward if both are one text.
    #[must_use]
    pub fn obs_scratch(&self) -> Range<usize> {
        self.part_of(TextRole::Observation, |size| size.numbers)
    }

    /// Returns the whole numbers of a text.
    pub(crate) fn int_scratch_of(&self, text: TextRole) -> Range<usize> {
        self.part_of(text, |size| size.ints)
    }

    /// Returns the bytes of a text.
    pub(crate) fn byte_scratch_of(&self, text: TextRole) -> Range<usize> {
        self.part_of(text, |size| size.bytes)
    }

    /// Returns the place of a text's part: the reward's is the first.
    fn part_of(&self, text: TextRole, size: impl Fn(ScratchSize) -> usize) -> Range<usize> {
        let [reward, own] = [self.0.sizes.scratch[0], self.0.sizes.scratch[text.index()]].map(size);
        let first = if text == TextRole::Reward || self.is_one_text() { 0 } else { reward };
        first..first + own
    }
}

/// A cell of a program's scratch, as its text numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScratchCell {
    /// A cell of the reward's text.
    Reward(usize),
    /// A cell of the observation's text.
    Observation(usize),
}

impl ScratchCell {
    /// Returns its position among an env's cells.
    pub(crate) fn place(self, programs: &Programs) -> Result<Range<usize>, SwarmError> {
        let (cell, cells, text) = match self {
            Self::Reward(cell) => (cell, programs.reward_scratch(), programs.reward_text()),
            Self::Observation(cell) => (cell, programs.obs_scratch(), programs.observation_text()),
        };
        if cell < cells.len() {
            return Ok(cells.start + cell..cells.start + cell + 1);
        }
        let (name, len) = (text.name().to_owned(), cells.len());
        Err(SwarmError::NoSuchCell { name, cell, len })
    }
}
