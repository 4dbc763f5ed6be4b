//! The families: the main subjects of kernels. Each family has a file with its weights and its
//! recipe.

mod arithmetic;
mod atomics;
mod conditionals;
mod functions;
mod integers;
mod loops;
mod math;
mod matrices;
mod mixed;
mod multidim;
mod quaternions;
mod reductions;
mod stencils;
mod storage;
mod structs;
mod transforms;
mod vectors;

use super::{KernelBuilder, Weights};
use crate::random::Random;

/// The main subject of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Family {
    Arithmetic,
    Math,
    Conditionals,
    Loops,
    Vectors,
    Matrices,
    Quaternions,
    Reductions,
    Atomics,
    Stencils,
    Transforms,
    Structs,
    Functions,
    MultiDim,
    Integers,
    Storage,
    Mixed,
}

/// Name, frequency, weights and recipe of a family.
struct Entry {
    family: Family,
    name: &'static str,
    share: u32,
    weights: Weights,
    build: fn(&mut KernelBuilder),
}

const PLAIN: Weights = Weights { math: 6, select: 3, geometry: 3, bits: 3, depth: 3 };

#[rustfmt::skip]
static TABLE: [Entry; 17] = [
    Entry { family: Family::Arithmetic, name: "arithmetic", share: 5, weights: Weights { math: 1, select: 1, ..PLAIN }, build: arithmetic::build },
    Entry { family: Family::Math, name: "math", share: 6, weights: Weights { math: 22, ..PLAIN }, build: math::build },
    Entry { family: Family::Conditionals, name: "conditionals", share: 9, weights: Weights { select: 10, ..PLAIN }, build: conditionals::build },
    Entry { family: Family::Loops, name: "loops", share: 11, weights: PLAIN, build: loops::build },
    Entry { family: Family::Vectors, name: "vectors", share: 8, weights: Weights { geometry: 20, ..PLAIN }, build: vectors::build },
    Entry { family: Family::Matrices, name: "matrices", share: 7, weights: Weights { geometry: 20, ..PLAIN }, build: matrices::build },
    Entry { family: Family::Quaternions, name: "quaternions", share: 5, weights: Weights { geometry: 14, ..PLAIN }, build: quaternions::build },
    Entry { family: Family::Reductions, name: "reductions", share: 6, weights: Weights { geometry: 8, ..PLAIN }, build: reductions::build },
    Entry { family: Family::Atomics, name: "atomics", share: 6, weights: PLAIN, build: atomics::build },
    Entry { family: Family::Stencils, name: "stencils", share: 6, weights: PLAIN, build: stencils::build },
    Entry { family: Family::Transforms, name: "transforms", share: 5, weights: Weights { geometry: 14, ..PLAIN }, build: transforms::build },
    Entry { family: Family::Structs, name: "structs", share: 7, weights: Weights { geometry: 10, ..PLAIN }, build: structs::build },
    Entry { family: Family::Functions, name: "functions", share: 16, weights: Weights { geometry: 8, ..PLAIN }, build: functions::build },
    Entry { family: Family::MultiDim, name: "multidim", share: 6, weights: PLAIN, build: multidim::build },
    Entry { family: Family::Integers, name: "integers", share: 6, weights: Weights { bits: 14, ..PLAIN }, build: integers::build },
    Entry { family: Family::Storage, name: "storage", share: 6, weights: PLAIN, build: storage::build },
    Entry { family: Family::Mixed, name: "mixed", share: 16, weights: Weights { math: 8, select: 5, geometry: 10, ..PLAIN }, build: mixed::build },
];

impl Family {
    pub(super) fn draw(random: &mut Random) -> Self {
        TABLE[random.weighted(TABLE.iter().map(|entry| entry.share))].family
    }

    fn entry(self) -> &'static Entry {
        &TABLE[self as usize]
    }

    /// Returns the family's name in datasets.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    pub(super) fn weights(self) -> Weights {
        self.entry().weights
    }

    pub(super) fn build(self, maker: &mut KernelBuilder) {
        (self.entry().build)(maker);
    }

    /// All names, in the table's order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|entry| entry.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_families() {
        assert!(TABLE.iter().enumerate().all(|(at, entry)| entry.family as usize == at));
    }
}
