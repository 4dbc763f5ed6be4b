//! Inputs on which answers are compared with a row.

use gbxcule_grammar::input::ArgumentInput;
use gbxcule_rows::execute::LaunchInputs;
use gbxcule_rows::row::Results;
use std::sync::OnceLock;

/// Inputs, and the row's results on them.
pub(crate) struct FreshInputs {
    /// Name in messages.
    pub(crate) name: String,
    pub(crate) seed: u64,
    /// Extents of the launch.
    pub(crate) dims: Vec<u32>,
    pub(crate) inputs: Vec<ArgumentInput>,
    /// Arguments before the launch.
    pub(crate) data: Vec<Vec<u8>>,
    /// Arguments after the launch.
    pub(crate) after: Vec<Vec<u8>>,
    /// Number of statements that the row's program executes.
    pub(crate) statements: u64,
    /// Gradients before the reverse runs.
    pub(crate) cotangents: Vec<Vec<u8>>,
    pub(crate) results: Results,
    pub(crate) tolerances: OnceLock<Tolerances>,
    pub(crate) kind: DrawKind,
    /// True if an argument holds an infinity or a NaN that the row may multiply: with a zero of
    /// padding the product is NaN.
    pub(crate) pads_to_nan: bool,
    /// True if other thread orders give the same results, up to rounding.
    pub(crate) is_order_independent: OnceLock<bool>,
    /// True if the row's own threads race.
    pub(crate) has_race: OnceLock<bool>,
}

/// Kinds of draws; only plain draws have gradients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DrawKind {
    /// Random numbers.
    Plain,
    /// Random numbers that include special values of floats.
    SpecialValues,
    /// A launch of 100,000 points.
    ManyPoints,
    /// A launch of several blocks, of a row whose other draws have few points, because each point
    /// takes many statements.
    ManyBlocks,
}

impl FreshInputs {
    pub(crate) fn grid(&self) -> LaunchInputs<'_> {
        LaunchInputs { dims: &self.dims, inputs: &self.inputs }
    }

    /// Returns the initial gradient of an array that the row only reads: a power of two of about a
    /// quarter of the largest gradient, so that adding to it loses no significant digit.
    pub(crate) fn gradient_start(&self, at: usize) -> Option<f64> {
        let given = &self.inputs[at];
        let slope = self.results.slopes().iter().find(|it| it.name == given.name)?;
        let sizes = slope.numbers.iter().map(|it| it.as_f64().abs()).filter(|it| it.is_finite());
        let largest = sizes.fold(0.0, f64::max);
        (!given.written && largest > 0.0).then(|| (largest / 4.0).log2().floor().exp2())
    }

    /// Returns the name with all extents, for messages: `fresh inputs 7 (2 points, x[2, 257],
    /// out[2])`.
    pub(crate) fn described(&self) -> String {
        let extents: Vec<String> = self.dims.iter().map(u32::to_string).collect();
        let arrays = self.inputs.iter().filter(|it| !it.shape.is_empty());
        let arrays: String = arrays.map(|it| format!(", {}{:?}", it.name, it.shape)).collect();
        format!("{} ({} points{arrays})", self.name, extents.join(" x "))
    }
}

/// Allowed error of each number, forward and backward.
pub(crate) struct Tolerances {
    pub(crate) outputs: Vec<Vec<f64>>,
    pub(crate) gradients: Vec<Vec<f64>>,
}
