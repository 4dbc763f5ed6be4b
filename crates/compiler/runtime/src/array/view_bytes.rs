//! The bytes of memory that a view covers, as few rectangles. A copy moves these rectangles instead
//! of the whole buffer.

/// Rows of bytes at equal distances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rectangle {
    /// Offset of the first row in the memory.
    pub(crate) at: usize,
    /// Bytes of a row.
    pub(crate) width: usize,
    /// Number of rows.
    pub(crate) rows: usize,
    /// Bytes from the beginning of a row to the beginning of the next row, at least `width`.
    pub(crate) pitch: usize,
}

/// Bytes of a view, packed together, and the positions of the view's elements in the packed
/// bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ViewBytes {
    pub(crate) rectangles: Vec<Rectangle>,
    /// Bytes of all rectangles.
    pub(crate) bytes: usize,
    /// Offset of the first element.
    pub(crate) offset: usize,
    /// Bytes from one index to the next, in each dimension.
    pub(crate) strides: Vec<isize>,
    /// True if elements overlap or interleave, so that some of the bytes may belong to no element.
    pub(crate) has_gaps: bool,
}

impl ViewBytes {
    /// Returns the bytes of a view with elements of `size` bytes; the view must not be empty.
    pub(crate) fn of(offset: usize, shape: &[usize], strides: &[isize], size: usize) -> Self {
        let mut dims: Vec<usize> =
            (0..shape.len()).filter(|&dim| shape[dim] > 1 && strides[dim] != 0).collect();
        dims.sort_by_key(|&dim| strides[dim].unsigned_abs());
        let way = |dim: usize| (shape[dim] - 1) * strides[dim].unsigned_abs();
        let below: usize = dims.iter().filter(|&&dim| strides[dim] < 0).map(|&dim| way(dim)).sum();
        let (first, span) =
            (offset - below, size + dims.iter().map(|&dim| way(dim)).sum::<usize>());
        let mut inside = size;
        for &dim in &dims {
            if strides[dim].unsigned_abs() < inside {
                // The elements overlap or interleave.
                let rectangles = vec![Rectangle { at: first, width: span, rows: 1, pitch: span }];
                let strides = strides.to_vec();
                return Self { rectangles, bytes: span, offset: below, strides, has_gaps: true };
            }
            inside += way(dim);
        }
        longest_first(&mut dims, shape, strides, size);
        let mut dense = Self {
            rectangles: Vec::new(),
            bytes: size,
            offset: 0,
            strides: vec![0; shape.len()],
            has_gaps: false,
        };
        for &dim in &dims {
            let stride = dense.bytes as isize;
            dense.strides[dim] = if strides[dim] < 0 { -stride } else { stride };
            if strides[dim] < 0 {
                dense.offset += (shape[dim] - 1) * dense.bytes;
            }
            dense.bytes *= shape[dim];
        }
        let steps = dims.iter().map(|&dim| (shape[dim], strides[dim].unsigned_abs()));
        dense.rectangles = rectangles(first, size, &steps.collect::<Vec<_>>());
        dense
    }

    /// Returns true if the elements lie in the order of their indices, without gaps.
    pub(crate) fn are_in_order(&self, shape: &[usize], size: usize) -> bool {
        let mut stride = size as isize;
        let next = |(&extent, &found): (&usize, &isize)| {
            let fits = extent == 1 || found == stride;
            stride *= extent as isize;
            fits
        };
        shape.iter().zip(&self.strides).rev().all(next) && self.bytes == stride as usize
    }
}

/// Puts the dimension with gaps and the most rows first: rectangles run along this dimension, so
/// there are few of them. Dimensions that continue each other at one distance are joined.
fn longest_first(dims: &mut [usize], shape: &[usize], strides: &[isize], size: usize) {
    let mut width = size;
    let dense = |dim: &&usize| {
        let fits = strides[**dim].unsigned_abs() == width;
        width *= shape[**dim];
        fits
    };
    let first = dims.iter().take_while(dense).count();
    let with_gaps = &mut dims[first..];
    let follows = |one: &usize, other: &usize| {
        strides[*other].unsigned_abs() == shape[*one] * strides[*one].unsigned_abs()
    };
    let (mut position, mut best) = (0, (0, 0, 0));
    for together in with_gaps.chunk_by(follows) {
        let rows: usize = together.iter().map(|&dim| shape[dim]).product();
        position += together.len();
        if rows > best.0 {
            best = (rows, position, together.len());
        }
    }
    with_gaps[..best.1].rotate_right(best.2);
}

/// Converts extents and distances to rectangles, in the order of the packed bytes.
fn rectangles(first: usize, size: usize, steps: &[(usize, usize)]) -> Vec<Rectangle> {
    let mut rectangle = Rectangle { at: first, width: size, rows: 1, pitch: size };
    let mut remaining = steps.iter().peekable();
    while let Some(&(extent, _)) = remaining.next_if(|(_, stride)| *stride == rectangle.width) {
        rectangle.width *= extent;
    }
    rectangle.pitch = rectangle.width;
    if let Some(&(extent, stride)) = remaining.next() {
        (rectangle.rows, rectangle.pitch) = (extent, stride);
    }
    while let Some(&(extent, _)) =
        remaining.next_if(|(_, stride)| *stride == rectangle.rows * rectangle.pitch)
    {
        rectangle.rows *= extent;
    }
    let mut all = vec![rectangle];
    for &(extent, stride) in remaining {
        let again = |step: usize| {
            all.iter()
                .map(move |rectangle| Rectangle { at: rectangle.at + step * stride, ..*rectangle })
        };
        all = (0..extent).flat_map(again).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rectangle(at: usize, width: usize, rows: usize, pitch: usize) -> Rectangle {
        Rectangle { at, width, rows, pitch }
    }

    #[test]
    fn neighbouring_elements_are_one_piece_in_any_order() {
        let whole = [rectangle(16, 96, 1, 96)];
        for (strides, offset) in [([32, 8, 4], 16), ([4, 8, 32], 16), ([-32, 8, -4], 16 + 64 + 4)] {
            let shape = if strides[0] == 4 { [2, 4, 3] } else { [3, 4, 2] };
            let view = ViewBytes::of(offset, &shape, &strides, 4);
            assert_eq!(
                (view.rectangles.as_slice(), view.bytes),
                (whole.as_slice(), 96),
                "{strides:?}"
            );
            assert_eq!(view.are_in_order(&shape, 4), strides == [32, 8, 4]);
        }
    }

    #[test]
    fn rows_and_columns_are_rectangles() {
        let column = ViewBytes::of(12, &[100], &[40], 4);
        assert_eq!(column.rectangles, [rectangle(12, 4, 100, 40)]);
        assert!(column.are_in_order(&[100], 4));
        let part = ViewBytes::of(0, &[5, 6, 2], &[1000, 40, 8], 4);
        assert_eq!((part.rectangles.len(), part.bytes), (10, 240));
        assert_eq!(part.rectangles[1], rectangle(8, 4, 6, 40));
        let together = ViewBytes::of(0, &[100, 3, 2], &[120, 40, 8], 4);
        assert_eq!(together.rectangles, [rectangle(0, 4, 300, 40), rectangle(8, 4, 300, 40)]);
        assert_eq!((together.strides, together.bytes), (vec![12, 4, 1200], 2400));
        let rows = ViewBytes::of(0, &[5, 6, 8], &[240, 40, 4], 4);
        assert_eq!(rows.rectangles, [rectangle(0, 32, 30, 40)]);
    }

    #[test]
    fn elements_that_lie_over_each_other_are_copied_once() {
        let same = ViewBytes::of(8, &[1000, 2], &[0, 4], 4);
        assert_eq!(
            (same.rectangles.as_slice(), same.strides.as_slice()),
            ([rectangle(8, 8, 1, 8)].as_slice(), [0, 4].as_slice())
        );
        assert!(!same.are_in_order(&[1000, 2], 4));
        let windows = ViewBytes::of(16, &[5, 4], &[-4, 4], 4);
        assert_eq!(
            (windows.rectangles.as_slice(), windows.offset),
            ([rectangle(0, 32, 1, 32)].as_slice(), 16)
        );
        assert!(windows.has_gaps);
    }
}
