//! Indices as sums of products, exact modulo 2^32.

use super::access::ParamArray;
use gbxcule_ir::Value;
use std::collections::BTreeMap;

/// Greatest number of products of a sum.
const MAX_TERMS: usize = 16;
/// Greatest number of factors of a product.
const MAX_FACTORS: usize = 4;

/// Value that is known only at run time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Atom {
    /// The launch index of a dimension.
    Launch(u8),
    /// A parameter of the kernel, or a field of one.
    Param(u32, Vec<u32>),
    /// The extent of an array in a dimension.
    Extent(ParamArray, u8),
    /// The index of a loop, in one call of its function.
    Index(usize, Value),
}

/// Products of atoms, each with the factor by which it is added; the constant term is the empty
/// product.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Sum {
    terms: BTreeMap<Vec<Atom>, i32>,
}

impl Sum {
    pub(super) fn constant(number: i128) -> Self {
        let mut sum = Self::default();
        sum.add(Vec::new(), number as i32);
        sum
    }

    pub(super) fn atom(atom: Atom) -> Self {
        Self { terms: [(vec![atom], 1)].into() }
    }

    pub(super) fn as_constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&[][..]).map(|&number| i64::from(number)),
            _ => None,
        }
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = (&[Atom], i64)> {
        self.terms.iter().map(|(factors, &count)| (&factors[..], i64::from(count)))
    }

    pub(super) fn plus(self, other: &Self) -> Option<Self> {
        self.plus_times(other, 1)
    }

    pub(super) fn minus(&self, other: &Self) -> Option<Self> {
        self.clone().plus_times(other, -1)
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (left, one) in &self.terms {
            for (right, another) in &other.terms {
                let mut factors = [&left[..], right].concat();
                if factors.len() > MAX_FACTORS {
                    return None;
                }
                factors.sort();
                product.add(factors, one.wrapping_mul(*another));
            }
        }
        (product.terms.len() <= MAX_TERMS).then_some(product)
    }

    fn plus_times(mut self, other: &Self, times: i32) -> Option<Self> {
        for (factors, count) in &other.terms {
            self.add(factors.clone(), count.wrapping_mul(times));
        }
        (self.terms.len() <= MAX_TERMS).then_some(self)
    }

    pub(super) fn add(&mut self, factors: Vec<Atom>, count: i32) {
        let sum = self.terms.get(&factors).copied().unwrap_or(0).wrapping_add(count);
        match sum {
            0 => _ = self.terms.remove(&factors),
            _ => _ = self.terms.insert(factors, sum),
        }
    }
}
