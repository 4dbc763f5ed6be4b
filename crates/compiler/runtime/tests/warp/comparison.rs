//! Distance between two memories.

use gbxcule_ir::layout::leaves;
use gbxcule_ir::{Literal, Scalar};
use gbxcule_testkit::arbitrary::{Actual, RandomProgram, distance};

/// The most units for floats computed by + - * / and roots alone.
const EXACT_ULPS: f64 = 4.0;
/// The most units for floats computed by transcendental functions: their rows allow some units,
/// which sums and products carry on.
const TRANSCENDENTAL_ULPS: f64 = 64.0;

/// The number of a memory that differs most.
#[derive(Clone, Default, Debug)]
pub(crate) struct Worst {
    /// Distance in units in the last place, at the size of the number, of the array's largest
    /// number or of 1.
    pub(crate) ulps: f64,
    pub(crate) what: String,
}

impl Worst {
    /// Returns true if the distance is within the limit.
    pub(crate) fn agrees(&self, transcendental: bool) -> bool {
        self.ulps <= if transcendental { TRANSCENDENTAL_ULPS } else { EXACT_ULPS }
    }
}

/// Returns the number that differs most between our memory and theirs.
pub(crate) fn worst(program: &RandomProgram, ours: &[Vec<u8>], theirs: &[Vec<u8>]) -> Worst {
    let mut worst = Worst::default();
    let types = &program.module.types;
    for (param, actual) in program.args.iter().enumerate() {
        let Actual::Array { buffer, of, .. } = actual else { continue };
        let (ours, theirs) = (&ours[*buffer], &theirs[*buffer]);
        let element = types.layout(*of).map_or(1, |layout| layout.size.max(1)) as usize;
        for (number, (l, r)) in ours.chunks(element).zip(theirs.chunks(element)).enumerate() {
            for leaf in leaves(types, *of) {
                let (l, r) = (leaf.read(l), leaf.read(r));
                let found = units(leaf.scalar, l, r);
                if found > worst.ulps {
                    let name = &program.module.functions[program.kernel].params[param].name;
                    let what =
                        format!("`{name}` element {number} byte {}: {l} and {r}", leaf.offset);
                    worst = Worst { ulps: found, what };
                }
            }
        }
    }
    worst
}

/// Returns the distance of two numbers, in units in the last place of the larger number or of 1.
fn units(scalar: Scalar, left: Literal, right: Literal) -> f64 {
    let apart = distance(left, right);
    if !scalar.is_float() || apart == u64::MAX || apart <= 4 {
        return if apart == u64::MAX { f64::INFINITY } else { apart as f64 };
    }
    let epsilon = match scalar {
        Scalar::F64 => f64::EPSILON,
        Scalar::F32 => f64::from(f32::EPSILON),
        Scalar::F16 => 2f64.powi(-10),
        _ => 2f64.powi(-7),
    };
    let (l, r) = (left.as_f64(), right.as_f64());
    let units = (l - r).abs() / (epsilon * l.abs().max(r.abs()).max(1.0));
    if units.is_nan() { f64::INFINITY } else { units }
}
