//! Builds the geometry that a row's kernel queries by an id: trees over the triangles of a mesh or
//! over boxes, and cells of points, as `gbxcule.warp` builds them.
//!
//! A row draws the points and indices of a mesh, the boxes of a `Bvh` and the positions that a hash
//! grid sorts. The other parts of the tables follow from these numbers.

use crate::execute;
use crate::part::TABLES;
use crate::row_program::{RowProgram, element};
use gbxcule_grammar::input::ArgumentInput;
use gbxcule_ir::{Param, Scalar, Shape, Type};
use gbxcule_runtime::geometry::{BoxTree, Point, PointCells};

/// Cells of a row's hash grid along each axis.
const CELLS: u32 = 4;

/// Number of each kind of part of a row's geometry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeometrySize {
    /// Points of a mesh.
    pub(crate) points: u32,
    /// Triangles of a mesh, or boxes of a tree.
    pub(crate) boxes: u32,
    /// Points in a hash grid.
    pub(crate) sorted: u32,
}

impl GeometrySize {
    /// Returns the input of a part of a table, whose floats have the range of `given`; `None` for
    /// other parameters.
    pub(crate) fn input(self, param: &Param, given: &ArgumentInput) -> Option<ArgumentInput> {
        let (table, field) = param.name.split_once('.')?;
        TABLES.iter().find(|it| **it == table)?;
        let Self { points, boxes, sorted } = self;
        let nodes = || (2 * boxes).saturating_sub(1);
        let range = |shape, least, most| ArgumentInput {
            name: param.name.clone(),
            low: given.low,
            high: given.high,
            ..ArgumentInput::integers(shape, least, most)
        };
        let built = |shape| ArgumentInput { low: 0.0, high: 0.0, ..range(shape, 0, 0) };
        Some(match (table, field) {
            ("meshes", "points" | "velocities") => range(vec![points], 0, 0),
            ("meshes", "indices") => range(vec![3 * boxes], 0, i64::from(points) - 1),
            ("bvhs", "nodes") => range(vec![nodes()], 0, 0),
            ("bvhs", "wide") => built(vec![wide_nodes(boxes)]),
            ("bvhs", _) => built(vec![1]),
            ("hash_grids", "starts") => built(vec![CELLS.pow(3) + 1]),
            ("hash_grids", "points") => built(vec![sorted]),
            ("hash_grids", "cells_per_unit") => {
                ArgumentInput { low: 0.5, high: 2.0, ..range(Vec::new(), 0, 0) }
            }
            _ => built(Vec::new()),
        })
    }
}

/// Returns the number of nodes of a wide tree, which depends on the number of boxes alone.
fn wide_nodes(boxes: u32) -> u32 {
    let corners = vec![[0.0; 3]; boxes as usize];
    let tree = BoxTree::new(&corners, &corners);
    let (low, high) = tree.bounds(&corners, &corners);
    tree.wide(&low, &high).map_or(0, |nodes| nodes.len() as u32)
}

/// Builds the parts of tables that follow from drawn numbers. A part whose shape doesn't fit stays
/// as it was drawn.
pub(crate) fn build(program: &RowProgram, inputs: &[ArgumentInput], data: &mut [Vec<u8>]) {
    if program.host.is_some() || !program.queries_geometry() {
        return;
    }
    let mut builder = Builder { program, inputs, data };
    let triangles = builder.mesh();
    builder.tree(triangles);
    builder.grid();
}

/// The greatest float of 32 bits that is not above a number.
fn below(number: f64) -> f32 {
    let near = number as f32;
    if f64::from(near) > number { near.next_down() } else { near }
}

/// The least float of 32 bits that is not below a number.
fn above(number: f64) -> f32 {
    -below(-number)
}

/// Low and high corners of boxes.
type Boxes = (Vec<Point>, Vec<Point>);

/// Returns the boxes around some points, each of three numbers.
fn boxes<'a>(corners: impl Iterator<Item = Vec<&'a [f64]>>) -> Boxes {
    corners
        .map(|points| {
            let axis = |axis: usize| points.iter().map(move |point| point[axis]);
            let low = |at: usize| below(axis(at).fold(f64::INFINITY, f64::min));
            let high = |at: usize| above(axis(at).fold(f64::NEG_INFINITY, f64::max));
            (std::array::from_fn(low), std::array::from_fn(high))
        })
        .unzip()
}

struct Builder<'a> {
    program: &'a RowProgram,
    inputs: &'a [ArgumentInput],
    data: &'a mut [Vec<u8>],
}

impl Builder<'_> {
    fn place(&self, name: &str) -> Option<usize> {
        self.program.params().iter().position(|param| param.name == name)
    }

    fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        let at = self.place(name)?;
        let numbers = execute::numbers(self.program, at, &self.data[at]);
        Some(numbers.iter().map(|it| it.as_f64()).collect())
    }

    fn set(&mut self, name: &str, numbers: &[f64]) {
        let Some(at) = self.place(name) else { return };
        let bytes = execute::image(self.program, at, numbers);
        if bytes.len() == self.data[at].len() {
            self.data[at] = bytes;
        }
    }

    /// Completes the mesh, and returns the boxes of its triangles.
    fn mesh(&mut self) -> Option<Boxes> {
        let (points, indices) = (self.numbers("meshes.points")?, self.numbers("meshes.indices")?);
        let corners: Vec<&[f64]> = points.chunks_exact(3).collect();
        let triangles: Option<Vec<Vec<&[f64]>>> = indices
            .chunks_exact(3)
            .map(|three| three.iter().map(|&at| corners.get(at as usize).copied()).collect())
            .collect();
        let triangles = triangles?;
        let length = |one: &[f64], other: &[f64]| {
            one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
        };
        let edges =
            triangles.iter().flat_map(|it| [(0, 1), (1, 2), (2, 0)].map(|(a, b)| (it, a, b)));
        let lengths: Vec<f64> = edges.map(|(it, a, b)| length(it[a], it[b])).collect();
        let mean = lengths.iter().sum::<f64>() / (lengths.len() as f64).max(1.0);
        let boxes = boxes(triangles.into_iter());
        self.set("meshes.bvh", &[1.0]);
        self.set("meshes.average_edge_length", &[mean]);
        self.set("meshes.has_winding_number", &[1.0]);
        Some(boxes)
    }

    /// Builds the tree over boxes, or over those of its drawn nodes.
    fn tree(&mut self, boxes_of: Option<Boxes>) -> Option<()> {
        let drawn = self.numbers("bvhs.nodes")?;
        let (lowers, uppers) = boxes_of.unwrap_or_else(|| {
            // A node is its low corner, the next node, its high corner, and its item. The first of
            // the drawn nodes have the boxes, and in a tree that is built already the leaves.
            let mut nodes: Vec<&[f64]> = drawn.chunks_exact(8).collect();
            let count = nodes.len().div_ceil(2);
            if nodes.first().is_some_and(|top| top[7] < 0.0) {
                nodes.retain(|it| it[7] >= 0.0);
                nodes.sort_by(|one, other| one[7].total_cmp(&other[7]));
            }
            boxes(nodes.into_iter().take(count).map(|it| vec![&it[..3], &it[4..7]]))
        });
        let tree = BoxTree::new(&lowers, &uppers);
        let (low, high) = tree.bounds(&lowers, &uppers);
        let mut nodes = Vec::new();
        for (at, (low, high)) in low.iter().zip(&high).enumerate() {
            nodes.extend(low.map(f64::from));
            nodes.push(tree.skips[at].into());
            nodes.extend(high.map(f64::from));
            nodes.push(tree.items[at].into());
        }
        self.set("bvhs.nodes", &nodes);
        let wide = tree.wide(&low, &high).unwrap_or_default();
        let number = |(at, bits): (usize, &u32)| match at {
            0..24 => f64::from(f32::from_bits(*bits)),
            _ => f64::from(*bits as i32),
        };
        let wide: Vec<f64> =
            wide.iter().flat_map(|node| node.iter().enumerate().map(number)).collect();
        self.set("bvhs.wide", &wide);
        Some(())
    }

    /// Sorts the kernel's positions into the cells of the hash grid.
    fn grid(&mut self) -> Option<()> {
        let scale = *self.numbers("hash_grids.cells_per_unit")?.first()?;
        self.set("hash_grids.extents", &[f64::from(CELLS); 3]);
        let at = positions(self.program, self.inputs)?;
        let numbers = execute::numbers(self.program, at, &self.data[at]);
        let is_double = numbers.first().is_some_and(|it| it.scalar() == Scalar::F64);
        let numbers: Vec<f64> = numbers.iter().map(|it| it.as_f64()).collect();
        let points: Vec<[f64; 3]> =
            numbers.chunks_exact(3).map(|it| [it[0], it[1], it[2]]).collect();
        let extents = [CELLS as i32; 3];
        let cells = if is_double {
            PointCells::of_doubles(&points, extents, scale)
        } else {
            let points: Vec<Point> =
                points.iter().map(|point| point.map(|number| number as f32)).collect();
            PointCells::new(&points, extents, scale as f32)
        };
        let wide = |all: &[i32]| all.iter().map(|&it| f64::from(it)).collect::<Vec<f64>>();
        self.set("hash_grids.starts", &wide(&cells.starts));
        self.set("hash_grids.points", &wide(&cells.points));
        Some(())
    }
}

/// Returns the number of the input that a hash grid sorts: the first array of positions.
pub(crate) fn positions(program: &RowProgram, inputs: &[ArgumentInput]) -> Option<usize> {
    let types = &program.forward.types;
    let is_position =
        |of: Type| matches!(types[of], Shape::Vector { len: 3, of: Scalar::F32 | Scalar::F64 });
    let mut params = program.params().iter().zip(inputs);
    params.position(|(param, given)| {
        given.shape.len() == 1 && element(&program.forward, param.ty).is_some_and(is_position)
    })
}
