//! Style of a text: choices that differ between authors and don't affect results.

use gbxcule_grammar::random::{Random, seed};

/// Spelling of an array's type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ArrayForm {
    /// `wp.array2d(dtype=float)`
    Call,
    /// `wp.array(dtype=float, ndim=2)`
    Dimensions,
    /// `wp.array2d[float]`
    Bracket,
}

/// Order of the parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParameterOrder {
    /// As the template has them: inputs, then outputs.
    Declared,
    /// Outputs come first.
    OutputsFirst,
    /// Values come before arrays.
    ValuesFirst,
    /// Values come last, as options do.
    ValuesLast,
}

/// The test by which threads detect that they are beyond the data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Guard {
    /// No test: a launch has as many threads as there are data.
    None,
    /// A parameter holds the number of data.
    Count,
    /// An array's shape holds the number of data.
    Shape,
}

/// Style of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Style {
    /// `wp.float32` and `wp.int32` instead of `float` and `int`.
    pub(crate) is_explicit: bool,
    pub(crate) arrays: ArrayForm,
    pub(crate) order: ParameterOrder,
    pub(crate) guard: Guard,
    pub(crate) has_docstring: bool,
    pub(crate) has_comments: bool,
}

impl Style {
    /// The plain style.
    pub(crate) const PLAIN: Self = Self {
        is_explicit: false,
        arrays: ArrayForm::Call,
        order: ParameterOrder::Declared,
        guard: Guard::None,
        has_docstring: true,
        has_comments: true,
    };

    /// Draws a style by its number, or returns `None` if it differs from one with a smaller number
    /// only in comments.
    pub(crate) fn draw(stream: u64, number: u64) -> Option<Self> {
        let mut taken: Vec<Self> = Vec::new();
        let mut attempt = 0;
        while taken.len() as u64 <= number {
            let style = Self::drawn(&mut Random::new(seed(stream, attempt)));
            let is_new = taken.iter().all(|it| !it.is_structure_of(style));
            taken.extend(is_new.then_some(style));
            attempt += 1;
            if attempt > 40 * (number + 1) {
                return None;
            }
        }
        taken.pop()
    }

    fn is_structure_of(&self, other: Self) -> bool {
        Self { has_comments: other.has_comments, ..*self } == other
    }

    /// Draws a style with the frequencies of NVIDIA Warp's examples and sources.
    fn drawn(random: &mut Random) -> Self {
        Self {
            is_explicit: random.chance(30),
            arrays: [ArrayForm::Call, ArrayForm::Bracket, ArrayForm::Dimensions]
                [random.weighted([72, 16, 12])],
            order: [
                ParameterOrder::Declared,
                ParameterOrder::OutputsFirst,
                ParameterOrder::ValuesFirst,
                ParameterOrder::ValuesLast,
            ][random.weighted([55, 15, 15, 15])],
            guard: [Guard::None, Guard::Count, Guard::Shape][random.weighted([84, 10, 6])],
            has_docstring: random.chance(60),
            has_comments: random.chance(90),
        }
    }
}
