//! Builds trees and cells for `gbxcule.warp`, as bytes of NumPy arrays.

use gbxcule_runtime::geometry::{BoxTree, Point, PointCells};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Reads `float32` numbers as points, three for each.
fn points(bytes: &[u8]) -> PyResult<Vec<Point>> {
    if !bytes.len().is_multiple_of(size_of::<Point>()) {
        return Err(PyValueError::new_err("points have three numbers of 32 bits each"));
    }
    Ok(numbers(bytes))
}

fn numbers<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

fn bytes_of<'py, T: bytemuck::NoUninit>(py: Python<'py>, numbers: &[T]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, bytemuck::cast_slice(numbers))
}

/// Bytes of several arrays.
type Parts<'py, const N: usize> = [Bound<'py, PyBytes>; N];

/// Builds a tree over boxes; returns its skips and items as bytes.
#[pyfunction]
pub(crate) fn build_box_tree<'py>(
    py: Python<'py>,
    lowers: &[u8],
    uppers: &[u8],
) -> PyResult<Parts<'py, 2>> {
    let (lowers, uppers) = (points(lowers)?, points(uppers)?);
    let tree = py.detach(|| BoxTree::new(&lowers, &uppers));
    Ok([bytes_of(py, &tree.skips), bytes_of(py, &tree.items)])
}

/// Computes the boxes of a tree's nodes; returns low corners, high ones, and the wide tree.
#[pyfunction]
pub(crate) fn bound_box_tree<'py>(
    py: Python<'py>,
    skips: &[u8],
    items: &[u8],
    lowers: &[u8],
    uppers: &[u8],
) -> PyResult<Parts<'py, 3>> {
    let (lowers, uppers) = (points(lowers)?, points(uppers)?);
    let tree = BoxTree { skips: numbers(skips), items: numbers(items) };
    let count = tree.items.iter().filter(|&&item| item >= 0).count();
    if count != lowers.len() || count != uppers.len() {
        return Err(PyValueError::new_err(format!("a tree over {count} boxes needs as many")));
    }
    if !tree.is_over(count) {
        return Err(PyValueError::new_err(
            "these are not the skips and items that `build_box_tree` returns",
        ));
    }
    let (low, high, wide) = py.detach(|| {
        let (low, high) = tree.bounds(&lowers, &uppers);
        let wide = tree.wide(&low, &high).or_else(|| {
            let balanced = BoxTree::new(&lowers, &uppers);
            let (low, high) = balanced.bounds(&lowers, &uppers);
            balanced.wide(&low, &high)
        });
        (low, high, wide.unwrap_or_default())
    });
    Ok([bytes_of(py, &low), bytes_of(py, &high), bytes_of(py, &wide)])
}

/// Sorts points into cells; returns where cells begin in the list of points' numbers, and the list.
/// Points are of 64-bit numbers if `is_double`, else of 32-bit ones.
#[pyfunction]
pub(crate) fn sort_into_cells<'py>(
    py: Python<'py>,
    of: &[u8],
    extents: [i32; 3],
    cells_per_unit: f64,
    is_double: bool,
) -> PyResult<Parts<'py, 2>> {
    if extents.iter().any(|&extent| extent <= 0) {
        return Err(PyValueError::new_err("extents of a hash grid are above 0"));
    }
    let cells = extents.iter().try_fold(1_i32, |cells, &extent| cells.checked_mul(extent));
    if cells.is_none_or(|cells| cells == i32::MAX) {
        let most = i32::MAX - 1;
        let message = format!("a hash grid of {extents:?} has too many cells: at most {most}");
        return Err(PyValueError::new_err(message));
    }
    let cells = if is_double {
        let of: Vec<[f64; 3]> = numbers(of);
        py.detach(|| PointCells::of_doubles(&of, extents, cells_per_unit))
    } else {
        let of = points(of)?;
        py.detach(|| PointCells::new(&of, extents, cells_per_unit as f32))
    };
    Ok([bytes_of(py, &cells.starts), bytes_of(py, &cells.points)])
}
