//! Room for flat arrays whose length follows from the launch by a formula, such as a packed
//! triangle. No reshaping knows the formula. On a larger launch such an array gets more elements
//! than it needs, and one that the row writes then ends behind the last written element.

use crate::graded_row::GradedRow;
use crate::shape::{MAX_ELEMENTS, Shaped};
use gbxcule_rows::execute::{self, LaunchInputs};

/// Byte that fills outputs before the run that finds their lengths.
const FILL: u8 = 1;

impl GradedRow {
    /// Returns a shape with longer flat arrays, if the row's program runs on it and not on the
    /// given shape, within a number of statements.
    pub(crate) fn with_room(&self, shaped: &Shaped, budget: u64, seed: u64) -> Option<Shaped> {
        let places = shaped.unrelated();
        if places.is_empty() || self.filled(shaped, &[], budget, seed).is_some() {
            return None;
        }
        let points = shaped.dims.iter().map(|it| u64::from(*it)).product::<u64>();
        let length = u32::try_from(points.max(MAX_ELEMENTS)).ok()?;
        let mut roomy = shaped.clone();
        places.iter().for_each(|at| roomy.inputs[*at].shape[0] = length);
        let [before, after] = self.filled(&roomy, &places, budget, seed)?;
        let mut fitting = roomy.clone();
        for at in places {
            let size = before[at].len() / length as usize;
            let changed = before[at].iter().zip(&after[at]).rposition(|(one, other)| one != other);
            if let (true, Some(last)) = (is_output(&roomy, at), changed) {
                fitting.inputs[at].shape[0] = (last / size.max(1)) as u32 + 1;
            }
        }
        let is_fit = self.filled(&fitting, &[], budget, seed).is_some();
        Some(if is_fit { fitting } else { roomy })
    }

    /// Runs the row's program with filled outputs, and returns the arguments before and after it.
    fn filled(
        &self,
        shaped: &Shaped,
        places: &[usize],
        budget: u64,
        seed: u64,
    ) -> Option<[Vec<Vec<u8>>; 2]> {
        if !self.program.takes(&shaped.inputs) {
            return None;
        }
        let mut before = execute::arguments(&self.program, &shaped.inputs, seed);
        let outputs = places.iter().copied().filter(|at| is_output(shaped, *at));
        outputs.for_each(|at| before[at].fill(FILL));
        let grid = LaunchInputs { dims: &shaped.dims, inputs: &shaped.inputs };
        let after = self.run(budget, grid, &before).0.ok()?;
        Some([before, after])
    }
}

/// Returns true if an argument begins at zero and is written.
fn is_output(shaped: &Shaped, at: usize) -> bool {
    shaped.inputs[at].zero && shaped.inputs[at].written
}
