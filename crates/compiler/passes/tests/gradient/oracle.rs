//! The oracle: central differences on the interpreter.
//!
//! A kernel turns the arrays before a launch into the arrays after it. Its reverse must turn the
//! gradient of any number with respect to the arrays after the launch into the gradient with
//! respect to those before. So random weights are drawn for all elements after the launch, and the
//! weighted sum is differentiated by each element before it.

use gbxcule_interp::{Argument, Array, Failure, Interpreter};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::{self as ir, Module};
use gbxcule_passes::grad::{grad, reverse_name};
use gbxcule_testkit::arbitrary::Random;
pub(crate) use gbxcule_testkit::arbitrary::{Differentiable as Case, unit};

/// Outcome of a comparison.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Verdict {
    /// All derivatives agree.
    Right,
    /// The reverse pass is refused.
    Refused(Vec<Diagnostic>),
    /// Differences don't settle at some element: there is a jump or kink nearby.
    Rough,
    /// Some derivative is wrong.
    Wrong(String),
}

/// The seed of the weights.
pub(crate) const WEIGHTS: u64 = 17;

/// Greatest number of statements that the interpreter may take.
const BUDGET: u64 = 20_000_000;

/// Compares the reverse of a kernel with central differences.
pub(crate) fn compare(case: &Case) -> Verdict {
    let valid = check::module(case.module.clone()).unwrap_or_else(|faults| {
        panic!("the case itself is wrong: {faults:?}\n{}", ir::print::module(&case.module))
    });
    let reverse = match grad(&valid, case.kernel) {
        Ok(reverse) => reverse,
        Err(diagnostics) => return Verdict::Refused(diagnostics),
    };
    let text = || ir::print::module(&reverse);
    let reverse = match check::module(reverse.clone()) {
        Ok(reverse) => reverse,
        Err(faults) => return Verdict::Wrong(format!("invalid: {faults:?}\n{}", text())),
    };
    let mut random = Random::new(WEIGHTS);
    let weights: Vec<Vec<f64>> =
        case.arrays.iter().map(|array| array.iter().map(|_| unit(&mut random)).collect()).collect();
    let Ok(after) = launch(&valid, case, &case.arrays) else { return Verdict::Rough };
    let found = match backward(&reverse, case, &after, &weights) {
        Ok(found) => found,
        Err(failure) => return Verdict::Wrong(format!("{failure}\n{}", text())),
    };
    let objective = |arrays: &[Vec<f64>]| {
        let after = launch(&valid, case, arrays).ok()?;
        let terms = after.iter().flatten().zip(weights.iter().flatten());
        Some(terms.map(|(value, weight)| value * weight).sum::<f64>())
    };
    for (array, values) in case.arrays.iter().enumerate() {
        for (at, &have) in found[array].iter().enumerate().take(values.len()) {
            let Some(wanted) = difference(&objective, &case.arrays, array, at) else {
                return Verdict::Rough;
            };
            let scale = wanted.abs().max(1.0);
            // A NaN is wrong as well.
            if (have - wanted).abs() / scale < 1e-5 {
                continue;
            }
            if is_noise(&valid, &reverse, case, &weights, (array, at), have - wanted) {
                return Verdict::Rough;
            }
            let what = format!("array {array} element {at}: {have}, but differences say {wanted}");
            return Verdict::Wrong(format!("{what}\n{}", text()));
        }
    }
    Verdict::Right
}

/// Returns true if the derivative differs as much between two points that are almost the same: then
/// large terms cancel, and the difference consists of their rounding errors. A wrong derivative
/// would stay the same.
fn is_noise(
    valid: &Valid<Module>,
    reverse: &Valid<Module>,
    case: &Case,
    weights: &[Vec<f64>],
    (array, at): (usize, usize),
    error: f64,
) -> bool {
    let beside = |by: f64| {
        let moved = case.arrays.iter().map(|array| array.iter().map(|x| x * (1.0 + by)).collect());
        let moved: Vec<Vec<f64>> = moved.collect();
        let after = launch(valid, case, &moved).ok()?;
        Some(backward(reverse, case, &after, weights).ok()?[array][at])
    };
    let near: Vec<f64> = (1..5).filter_map(|step| beside(f64::from(step) * 1e-13)).collect();
    let range = near.iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (x.min(low), x.max(high)));
    range.1 - range.0 > 0.1 * error.abs()
}

/// Returns the derivative by one element, if two step widths agree about it.
fn difference(
    objective: &impl Fn(&[Vec<f64>]) -> Option<f64>,
    arrays: &[Vec<f64>],
    array: usize,
    at: usize,
) -> Option<f64> {
    let slope = |step: f64| {
        let value = |by: f64| {
            let mut moved = arrays.to_vec();
            moved[array][at] += by;
            objective(&moved)
        };
        let near = value(step)? - value(-step)?;
        let far = value(2.0 * step)? - value(-2.0 * step)?;
        Some((8.0 * near - far) / (12.0 * step))
    };
    let (wide, narrow) = (slope(1e-4)?, slope(2e-5)?);
    // At a kink the function has two slopes, and central differences give their mean.
    let side = |step: f64| {
        let mut moved = arrays.to_vec();
        moved[array][at] += step;
        Some((objective(&moved)? - objective(arrays)?) / step)
    };
    let kink = (side(1e-6)? - side(-1e-6)?).abs() > 1e-4 * narrow.abs().max(1.0);
    // A number that grew without bound has no digits left to compare.
    let tame = narrow.abs() < 1e7 && objective(arrays)?.abs() < 1e7;
    let same = (wide - narrow).abs() <= 1e-6 * narrow.abs().max(1.0);
    (same && tame && !kink).then_some(narrow)
}

fn arguments(case: &Case, arrays: Vec<Array>) -> Vec<Argument> {
    let numbers = case.numbers.iter().map(|&number| number.into());
    arrays.into_iter().map(Argument::Array).chain(numbers).collect()
}

fn launch(
    module: &Valid<Module>,
    case: &Case,
    arrays: &[Vec<f64>],
) -> Result<Vec<Vec<f64>>, Failure> {
    let mut interpreter = Interpreter::new(module);
    interpreter.budget = BUDGET;
    let buffers: Vec<_> = arrays.iter().map(|array| interpreter.memory.add_slice(array)).collect();
    let handles = buffers.iter().zip(arrays);
    let handles = handles.map(|(&buffer, array)| Array::dense(buffer, 8, &[array.len() as u32]));
    let args = arguments(case, handles.collect());
    interpreter.launch(case.kernel, &[case.threads], &args)?;
    Ok(buffers.into_iter().map(|buffer| interpreter.memory.read(buffer)).collect())
}

fn backward(
    module: &Valid<Module>,
    case: &Case,
    after: &[Vec<f64>],
    weights: &[Vec<f64>],
) -> Result<Vec<Vec<f64>>, Failure> {
    let name = reverse_name(&case.module.functions[case.kernel].name);
    let kernel = module.find(&name).expect("the reverse is there");
    let mut interpreter = Interpreter::new(module);
    interpreter.budget = 50 * BUDGET;
    let mut gradients = Vec::new();
    let mut handles = Vec::new();
    for (array, weights) in after.iter().zip(weights) {
        let (data, gradient) =
            (interpreter.memory.add_slice(array), interpreter.memory.add_slice(weights));
        gradients.push(gradient);
        let handle = Array::dense(data, 8, &[array.len() as u32]);
        handles.push(handle.with_gradient(gradient));
    }
    let args = arguments(case, handles);
    interpreter.launch(kernel, &[case.threads], &args)?;
    Ok(gradients.into_iter().map(|buffer| interpreter.memory.read(buffer)).collect())
}
