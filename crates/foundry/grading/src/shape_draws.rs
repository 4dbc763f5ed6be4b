//! The draws of a row's fresh inputs: which shapes and ranges are tried, in which order.

use crate::FRESH_INPUTS;
use crate::fresh_inputs::FreshInputs;
use crate::graded_row::GradedRow;
use crate::shape::{Reshaping, Shaped};
use gbxcule_grammar::random::{self, Random};
use gbxcule_rows::execute::BUDGET;

/// Number of draws that are tried for fresh inputs.
const TRIES: u64 = 40;
/// Maximum of shapes with many points that are tried until the row's program is cheap enough on
/// one.
const TRIES_OF_MANY: u64 = 3;
/// Greatest extent of a short launch: one block may hold its points.
const SHORT: u32 = 256;
/// Factors on floats. Each draw begins with another factor, because a mistake may show only among
/// large numbers, or only among moderate numbers.
const FACTORS: [f64; 3] = [16.0, 4.0, 2.0];
/// Factors by which ranges of integers grow, the largest first.
const GROWTHS: [i64; 3] = [20, 1, 0];

impl GradedRow {
    /// Adds draws of other shapes and ranges on which the row's program runs and on which results
    /// depend neither on rounding nor on the order of threads. If there are too few such draws,
    /// adds others on which the program runs.
    pub(crate) fn add_fresh_draws(&mut self, own: &Shaped, seed: u64) {
        let mut random = Random::new(random::seed(seed, TRIES));
        for number in 0..FRESH_INPUTS as usize {
            let ways = Reshaping::of_draw(number).iter();
            let found = ways.flat_map(|way| own.reshaped(*way, &mut random)).find_map(|shaped| {
                // Some programs run only with the signs and indices of the stored inputs.
                let seed = random::seed(seed, 8 * number as u64);
                let drawn = |it: &Shaped| {
                    wider(it, number).iter().find_map(|wider| self.sound_draw(wider, seed))
                };
                drawn(&shaped).or_else(|| drawn(&self.with_room(&shaped, BUDGET, seed)?))
            });
            self.draws.extend(found);
        }
        self.add_rough_draws(own, seed);
        self.add_first_sound(own.reshaped(Reshaping::Zero, &mut random), seed);
        // In a short row all numbers may be far from zero, or all negative.
        let narrow = own.reshaped(Reshaping::Narrow, &mut random);
        self.add_first_sound(narrow.iter().flat_map(|it| wider(it, 0)), seed);
        self.add_first_sound(own.reshaped(Reshaping::Wide, &mut random), seed);
        // The launches of a row whose points take many statements may be short until now.
        let is_short = |it: &FreshInputs| it.dims.iter().all(|it| *it <= SHORT);
        let launch = match own.dims[..] {
            [extent] if extent > 1 && self.draws.iter().all(is_short) => Some(extent),
            _ => None,
        };
        for extent in own.broad_extents().into_iter().chain(launch) {
            let ways = Reshaping::BROAD.map(|new| Reshaping::Broad(extent, new));
            let broad = ways.into_iter().filter_map(|way| own.reshaped(way, &mut random));
            self.add_first_sound(broad, seed);
        }
        let broad = own.broad_extents();
        for extent in own.inner_extents().into_iter().filter(|it| !broad.contains(it)) {
            let ways = Reshaping::INNER.map(|new| Reshaping::Broad(extent, new)).into_iter();
            self.add_first_sound(ways.filter_map(|way| own.reshaped(way, &mut random)), seed);
        }
        let times = own.long_factors().into_iter().map(Reshaping::Times);
        self.add_first_sound(times.filter_map(|way| own.reshaped(way, &mut random)), seed);
        let even = Reshaping::EVEN.map(Reshaping::Even).into_iter();
        self.add_first_sound(even.filter_map(|way| own.reshaped(way, &mut random)), seed);
        // Only two of the preceding draws are far from the stored numbers, and both may be short.
        let far = own.widened(Some(FACTORS[0]), 0).reshaped(Reshaping::Growing, &mut random);
        self.add_first_sound(far, seed);
        // Of many integers one may be large enough to overflow an answer's type.
        let large = own.widened(Some(FACTORS[0]), GROWTHS[0]);
        let many = (0..TRIES_OF_MANY).filter_map(|_| large.reshaped(Reshaping::Long, &mut random));
        self.add_first_sound(many, seed);
        let oblong = own.oblong(&mut random);
        let pairs = oblong.into_iter().find_map(|[wide, tall]| {
            Some([self.sound_draw(&wide, seed)?, self.sound_draw(&tall, seed)?])
        });
        self.draws.extend(pairs.into_iter().flatten());
        let special = self.special_draws(own, seed);
        self.draws.extend(special);
        let unusual = self.unusual_draws(own, seed);
        self.draws.extend(unusual);
        let peaks = self.peak_draws(own, seed);
        self.draws.extend(peaks);
        let magnitudes = self.magnitude_draws(own, seed);
        self.draws.extend(magnitudes);
        let slopes = self.magnitude_draws_of_gradients(own, seed);
        self.draws.extend(slopes);
    }

    /// Adds a draw of the first shape for which [`Self::sound_draw`] finds one.
    fn add_first_sound(&mut self, shapes: impl IntoIterator<Item = Shaped>, seed: u64) {
        let draw = shapes.into_iter().find_map(|shaped| {
            let roomy = || self.sound_draw(&self.with_room(&shaped, BUDGET, seed)?, seed);
            self.sound_draw(&shaped, seed).or_else(roomy)
        });
        self.draws.extend(draw);
    }

    /// Adds draws of the stored shape, on which the row's results may depend on rounding.
    fn add_rough_draws(&mut self, own: &Shaped, seed: u64) {
        let mut rough = Vec::new();
        for number in 0..TRIES {
            if self.draws.len() as u64 > FRESH_INPUTS {
                return;
            }
            let name = format!("fresh inputs {}", self.draws.len());
            let Ok(draw) = self.draw(name, own, random::seed(seed, number)) else { continue };
            match self.is_harmless(&draw) {
                true => self.draws.push(draw),
                false => rough.push(draw),
            }
        }
        let missing = (1 + FRESH_INPUTS as usize).saturating_sub(self.draws.len());
        for mut draw in rough.into_iter().take(missing) {
            draw.name = format!("fresh inputs {}", self.draws.len());
            self.draws.push(draw);
        }
    }
}

/// Returns the distinct ranges that the draw of this number tries.
fn wider(shaped: &Shaped, number: usize) -> Vec<Shaped> {
    let factors = (0..FACTORS.len()).map(|at| FACTORS[(number + at) % FACTORS.len()]);
    let both = factors.flat_map(|factor| GROWTHS.map(|growth| (Some(factor), growth)));
    let mut all: Vec<Shaped> = Vec::new();
    for (factor, growth) in both.chain([(None, 0)]) {
        let next = shaped.widened(factor, growth);
        if !all.contains(&next) {
            all.push(next);
        }
    }
    all
}
