//! Draws of numbers beside which answers change their behaviour: integers beside powers of two and
//! beside squares, which a float rounds up, floats of all magnitudes, and integers of which most
//! are equal.

use crate::fresh_inputs::{DrawKind, FreshInputs};
use crate::graded_row::GradedRow;
use crate::magnitude::{is_telling, leave_out_largest};
use crate::shape::{Reshaping, Shaped};
use crate::unusual::{Decision, decides_exactly};
use gbxcule_grammar::input::ArgumentInput;
use gbxcule_grammar::random::{self, Random};
use gbxcule_ir::layout::{Leaf, leaves};
use gbxcule_ir::{Literal, Op};
use gbxcule_rows::execute;
use gbxcule_rows::row_program::{RowProgram, element};

/// Greatest integers, in the order in which they are tried.
const GREATEST: [i128; 4] = [(1 << 32) - 1, (1 << 31) - 1, 1 << 27, 1 << 16];
/// Least root of a square, and greatest: the square of the last fills 32 bits.
const ROOTS: (i128, i128) = (16, 65_535);
/// Decimal exponents of the largest and smallest floats, in the order in which they are tried.
const EXPONENTS: [f64; 4] = [12.0, 9.0, 6.0, 3.0];
/// Length of an array in a draw of which most integers are equal.
const LENGTH: u32 = 65;
/// One integer in this number differs from the greatest in a launch of many points.
const OTHERS: usize = 4;
/// Constant that separates this file's seeds from others.
const STREAM: u64 = 0x6564_6765_206e_756d;

impl GradedRow {
    /// Makes the draws on which the row's program runs; `shaped` is the row's shape `own`, grown.
    pub(crate) fn edge_draws(&self, own: &Shaped, shaped: &Shaped, seed: u64) -> Vec<FreshInputs> {
        let seed = random::seed(seed, STREAM);
        let places = 0..shaped.inputs.len();
        let mut draws: Vec<FreshInputs> =
            places.filter_map(|at| self.edge_draw(shaped, at, seed)).collect();
        let spread = |exponent| {
            let change = |given: &ArgumentInput, it: &mut [f64]| spread(given, exponent, it);
            let mut draw = self.changed_draw(shaped, seed, change)?;
            leave_out_largest(&mut draw);
            is_telling(&draw).then_some(draw)
        };
        // Beside a large number small ones vanish, so rounding alone would decide.
        let decides = [Decision::Comparison, Decision::WholeNumber]
            .into_iter()
            .any(|it| decides_exactly(&self.program.forward, it).is_some());
        if !decides {
            draws.extend(EXPONENTS.into_iter().find_map(spread));
        }
        let ways = own.inner_extents().into_iter().map(|it| Reshaping::Broad(it, LENGTH));
        let mut shapes = ways.filter_map(|way| own.reshaped(way, &mut Random::new(seed)));
        let even = shapes.find_map(|shaped| self.even_draw(&shaped, seed));
        draws.extend(even.or_else(|| self.even_draw(shaped, seed)));
        draws
    }

    /// Makes a draw in which the first two thirds of each array of integers are one number, so that
    /// two arrays, or two parts of one, first differ far behind their beginnings.
    fn even_draw(&self, shaped: &Shaped, seed: u64) -> Option<FreshInputs> {
        if !self.program.takes(&shaped.inputs) {
            return None;
        }
        let mut data = execute::arguments(&self.program, &shaped.inputs, seed);
        let before = data.clone();
        for (at, given) in shaped.inputs.iter().enumerate() {
            let Some(leaves) = self.integers(shaped, at) else { continue };
            let cells = cells(&self.program, at, &mut data);
            let count = 2 * cells.len() / 3;
            for cell in cells.take(count) {
                let number = |it: &Leaf| Literal::int(it.scalar, given.least.into());
                leaves.iter().for_each(|it| it.write(cell, number(it)));
            }
        }
        (data != before).then_some(())?;
        let draw = self.probe(DrawKind::SpecialValues, shaped, &data, seed)?;
        self.is_order_independent(&draw).then_some(draw)
    }

    /// Makes a draw in which the integers of one array are beside powers of two and squares.
    fn edge_draw(&self, shaped: &Shaped, at: usize, seed: u64) -> Option<FreshInputs> {
        let leaves = self.integers(shaped, at)?;
        let before = execute::arguments(&self.program, &shaped.inputs, seed);
        let draw = |greatest: &i128| {
            let (mut data, mut random) = (before.clone(), Random::new(seed));
            let is_signed = shaped.inputs[at].least < 0;
            for cell in cells(&self.program, at, &mut data) {
                for leaf in &leaves {
                    let bits = 8 * leaf.scalar.bytes() - u32::from(leaf.scalar.is_signed_int());
                    let most = (*greatest).min((1_i128 << bits.min(52)) - 1);
                    let number = edge(most, is_signed, &mut random);
                    leaf.write(cell, Literal::int(leaf.scalar, number));
                }
            }
            let draw = self.probe(DrawKind::SpecialValues, shaped, &data, seed)?;
            self.is_order_independent(&draw).then_some(draw)
        };
        GREATEST.iter().find_map(draw)
    }

    /// Gives most elements of the arrays of integers that a row reads their greatest number, if the
    /// row has atomic operations: more threads change one element than 16 bits can count.
    pub(crate) fn crowded(&self, mut data: Vec<Vec<u8>>, shaped: &Shaped) -> Vec<Vec<u8>> {
        let mut values =
            self.program.forward.functions.iter().flat_map(|(_, it)| it.body.values.iter());
        if !values.any(|(_, value)| matches!(value.op, Op::Atomic { .. })) {
            return data;
        }
        for (at, given) in shaped.inputs.iter().enumerate().filter(|(_, it)| !it.written) {
            let Some(leaves) = self.integers(shaped, at) else { continue };
            for (number, cell) in cells(&self.program, at, &mut data).enumerate() {
                let changed = leaves.iter().filter(|_| number % OTHERS != 0);
                changed.for_each(|it| it.write(cell, Literal::int(it.scalar, given.most.into())));
            }
        }
        data
    }

    /// Returns the integers in an element of an array that is drawn freely, if it has any.
    fn integers(&self, shaped: &Shaped, at: usize) -> Option<Vec<Leaf>> {
        let (given, module) = (&shaped.inputs[at], &self.program.forward);
        let of = element(module, self.program.params()[at].ty)?;
        let is_drawn = !given.zero && given.arrangement.is_free() && given.most > given.least;
        let mut all = leaves(&module.types, of);
        all.retain(|it| it.scalar.is_int());
        (is_drawn && !all.is_empty()).then_some(all)
    }
}

/// Returns the elements of a program's array.
fn cells<'d>(
    program: &RowProgram,
    at: usize,
    data: &'d mut [Vec<u8>],
) -> std::slice::ChunksExactMut<'d, u8> {
    let module = &program.forward;
    let size = element(module, program.params()[at].ty)
        .and_then(|of| module.types.layout(of))
        .map_or(1, |it| it.size as usize);
    data[at].chunks_exact_mut(size.max(1))
}

/// Draws an integer: beside a power of two, or a square or one less.
fn edge(most: i128, is_signed: bool, random: &mut Random) -> i128 {
    let number = match random.below(2) {
        0 => (1 << random.below(53)) + random.below(3) as i128 - 1,
        _ => {
            let root = ROOTS.0 + random.below((ROOTS.1 - ROOTS.0) as usize + 1) as i128;
            root * root - random.below(2) as i128
        }
    };
    // A number that is too large is replaced by one of the largest.
    let number = if number > most { most - random.below(3) as i128 } else { number };
    if is_signed && random.below(4) == 0 { -number } else { number }
}

/// Draws floats of all magnitudes, of the signs that the argument has.
fn spread(given: &ArgumentInput, exponent: f64, numbers: &mut [f64]) {
    if given.shape.is_empty() {
        return;
    }
    let mut random = Random::new(random::seed(numbers.len() as u64, STREAM));
    for number in numbers {
        let power = exponent * (random.below(2001) as f64 / 1000.0 - 1.0);
        *number = 10.0_f64.powf(power).copysign(*number);
    }
}
