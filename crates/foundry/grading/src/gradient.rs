//! Comparison of an answer's gradients with the row's: the numbers before the reverse kernel runs,
//! and the numbers that it must leave.

use crate::fresh_inputs::FreshInputs;
use crate::graded_row::{GradedRow, elements, is_alike, place_name};
use gbxcule_grammar::input::ArgumentInput;
use gbxcule_ir::Literal;
use gbxcule_rows::execute::{self, ArgumentBytes};
use gbxcule_rows::tensor;

impl GradedRow {
    /// Returns the array whose gradient the draw of this number omits, if the row has an array
    /// whose gradient may be omitted.
    pub(crate) fn absent_gradient(&self, number: usize) -> Option<usize> {
        let draw = self.draws.first()?;
        let is_input = |at: &usize| !draw.inputs[*at].written && !draw.cotangents[*at].is_empty();
        let inputs: Vec<usize> = (0..draw.inputs.len()).filter(is_input).collect();
        // The stored inputs have all gradients.
        (number > 0 && !inputs.is_empty()).then(|| inputs[number % inputs.len()])
    }

    /// Describes the first gradient that is wrong, or the first array that differs from the forward
    /// kernel's result.
    pub(crate) fn backward_difference(
        &self,
        draw: &FreshInputs,
        found: &ArgumentBytes,
    ) -> Option<String> {
        let tolerances = |place: usize| &self.tolerances(draw).gradients[place];
        let added = self.without_starts(draw, &found.gradients);
        let place = self.difference(draw, draw.results.slopes(), &added, &tolerances);
        let gradient = place.map(|place| format!("the gradient of {place}"));
        let gradient = gradient.or_else(|| self.changed_cotangent(draw, &found.gradients));
        gradient.or_else(|| self.forward_difference(draw, found))
    }

    /// Describes the first number of a result's gradient that differs from its value before the
    /// reverse and from the value that the row's reverse leaves there.
    fn changed_cotangent(&self, draw: &FreshInputs, found: &[Vec<u8>]) -> Option<String> {
        for tensor in &draw.results.consumed {
            let is_named = |it: &ArgumentInput| it.name == tensor.name;
            let Some(at) = draw.inputs.iter().position(is_named) else { continue };
            let [before, after] = [&draw.cotangents[at], &found[at]]
                .map(|bytes| execute::numbers(&self.program, at, bytes));
            for (index, &number) in after.iter().enumerate() {
                let is_kept = |other: Literal| is_alike(&[number], &[other]);
                if ![before[index], tensor.numbers[index]].into_iter().any(is_kept) {
                    let element = index / (after.len() / elements(tensor)).max(1);
                    let (place, number) = (place_name(tensor, element), tensor::spelled(number));
                    let (was, draw) = (tensor::spelled(before[index]), draw.described());
                    return Some(format!(
                        "the gradient of `{place}`, which the reverse reads: {number} instead of {was}, on {draw}"
                    ));
                }
            }
        }
        None
    }

    /// Returns the gradients before the reverse kernel runs. Gradients of arrays that the row only
    /// reads begin at a number, so that an answer is found that sets them instead of adding.
    pub(crate) fn gradients_before(&self, draw: &FreshInputs) -> Vec<Vec<u8>> {
        let mut gradients = draw.cotangents.clone();
        for (at, bytes) in gradients.iter_mut().enumerate() {
            if let Some(start) = draw.gradient_start(at).filter(|_| !bytes.is_empty()) {
                let count = execute::numbers(&self.program, at, bytes).len();
                *bytes = execute::image(&self.program, at, &vec![start; count]);
            }
        }
        gradients
    }

    /// Subtracts the initial gradients from gradients.
    fn without_starts(&self, draw: &FreshInputs, gradients: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let added = |(at, bytes): (usize, &Vec<u8>)| match draw.gradient_start(at) {
            Some(start) if !bytes.is_empty() => {
                let numbers = execute::numbers(&self.program, at, bytes);
                let added: Vec<f64> = numbers.iter().map(|it| it.as_f64() - start).collect();
                execute::image(&self.program, at, &added)
            }
            _ => bytes.clone(),
        };
        gradients.iter().enumerate().map(added).collect()
    }
}
