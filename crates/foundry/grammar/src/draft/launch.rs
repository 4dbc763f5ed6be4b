//! The launch of a kernel: its parameters, their inputs, its grid.

mod style;

use crate::ast::{Expr, Name, Param, Ty};
use crate::input::ArgumentInput;
use crate::random::Random;

/// Parameters and grid of a kernel being written.
#[derive(Default)]
pub(super) struct Launch {
    params: Vec<Param>,
    /// One input for each parameter.
    inputs: Vec<ArgumentInput>,
    /// Extents of the grid.
    dims: Vec<u32>,
    /// Names of the launch indices.
    index: Vec<Name>,
}

impl Launch {
    /// Draws a grid of `dims` dimensions, and names of its indices.
    pub(super) fn draw(random: &mut Random, dims: usize) -> Self {
        let extents: &[(i64, i64)] = match dims {
            1 => match random.weighted([80, 14, 6]) {
                0 => &[(6, 20)],
                1 => &[(24, 64)],
                _ => &[(96, 160)],
            },
            2 => match random.weighted([80, 20]) {
                0 => &[(3, 6), (3, 6)],
                _ => &[(6, 12), (5, 12)],
            },
            3 => &[(2, 4), (2, 4), (2, 4)],
            _ => &[(2, 3), (1, 2), (2, 3), (2, 2)],
        };
        let extents = extents.iter().map(|&(low, high)| random.between(low, high) as u32).collect();
        let sets: &[[&str; 4]] = &[
            ["i", "j", "k", "l"],
            ["i", "j", "k", "l"],
            ["row", "col", "layer", "batch"],
            ["x", "y", "z", "w"],
        ];
        let single = if dims == 1 { random.pick(&["i", "i", "tid", "idx", "gid"]) } else { "" };
        let set = random.pick(sets);
        let names = if dims == 1 { &[single][..] } else { &set[..dims] };
        let index = names.iter().map(|&name| name.into()).collect();
        Self { dims: extents, index, ..Self::default() }
    }

    pub(super) fn dims(&self) -> &[u32] {
        &self.dims
    }

    pub(super) fn names(&self) -> &[Name] {
        &self.index
    }

    pub(super) fn index(&self, dim: usize) -> Expr {
        Expr::from(&self.index[dim])
    }

    pub(super) fn here(&self) -> Vec<Expr> {
        self.index.iter().map(Expr::from).collect()
    }

    pub(super) fn param(&mut self, name: Name, ty: Ty, dims: u8, given: ArgumentInput) -> Name {
        self.params.push(Param { name: name.clone(), ty, dims });
        self.inputs.push(ArgumentInput { name: name.to_string(), ..given });
        name
    }

    pub(super) fn has_param(&self, is_it: impl Fn(&Name) -> bool) -> bool {
        self.params.iter().any(|param| is_it(&param.name))
    }

    pub(super) fn input(&self, name: &str) -> Option<&ArgumentInput> {
        self.inputs.iter().find(|it| it.name == name)
    }

    /// Returns the type of the first array that the kernel writes.
    pub(super) fn written_type(&self) -> Option<Ty> {
        let written = self.inputs.iter().position(|given| given.written)?;
        Some(self.params[written].ty)
    }

    /// Returns the element type of an array that is only read.
    pub(super) fn read_only_type(&self, array: &Name) -> Option<Ty> {
        let at = self.params.iter().position(|param| param.name == *array && param.dims > 0)?;
        (!self.inputs[at].written).then(|| self.params[at].ty)
    }

    /// Makes all extents at least `least`, also of the arrays, and returns the extents.
    pub(super) fn widen(&mut self, least: u32) -> Vec<u32> {
        self.dims.iter_mut().for_each(|extent| *extent = (*extent).max(least));
        let arrays = self.inputs.iter_mut().filter(|given| !given.shape.is_empty());
        arrays.for_each(|given| given.shape.clone_from(&self.dims));
        self.dims.clone()
    }
}
