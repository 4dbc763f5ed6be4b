//! Trees of boxes and cells of points for the dialect's geometry library
//! (`crates/compiler/warp-types/src/geometry`), which defines their layout and the walks through
//! them.

/// A corner of a box, or a point.
pub type Point = [f32; 3];

/// Greatest number of levels of a wide tree: a walk keeps four bits for each level in 64 bits.
pub const MAX_LEVELS: u32 = 16;

/// A tree of boxes, depth first: the first child of a node is the next node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BoxTree {
    /// For each node, the node that follows it in a walk that does not enter it.
    pub skips: Vec<i32>,
    /// Item of each leaf; -1 for other nodes.
    pub items: Vec<i32>,
}

impl BoxTree {
    /// Builds a tree over boxes: splits them in halves along the axis in which their centres lie
    /// furthest apart.
    pub fn new(lowers: &[Point], uppers: &[Point]) -> Self {
        let mut tree = Self::default();
        let middle = |item: i32, axis: usize| {
            let item = item as usize;
            lowers[item][axis] + uppers[item][axis]
        };
        let mut items: Vec<i32> = (0..lowers.len().min(uppers.len()) as i32).collect();
        tree.grow(&mut items, &middle);
        tree
    }

    fn grow(&mut self, items: &mut [i32], middle: &dyn Fn(i32, usize) -> f32) {
        let node = self.items.len();
        match items {
            [] => return,
            [item] => {
                self.items.push(*item);
                self.skips.push(node as i32 + 1);
                return;
            }
            _ => {}
        }
        self.items.push(-1);
        self.skips.push(0);
        let spread = |axis: usize| {
            let all = items.iter().map(|&item| middle(item, axis));
            let (low, high) = all.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), at| {
                (low.min(at), high.max(at))
            });
            high - low
        };
        let spreads = [0, 1, 2].map(spread);
        let axis =
            (1..3).fold(0, |best, axis| if spreads[axis] > spreads[best] { axis } else { best });
        let half = items.len() / 2;
        // Equal centres are ordered by number, so that a tree depends only on its boxes.
        items.select_nth_unstable_by(half, |&one, &other| {
            middle(one, axis).total_cmp(&middle(other, axis)).then(one.cmp(&other))
        });
        let (first, second) = items.split_at_mut(half);
        self.grow(first, middle);
        self.grow(second, middle);
        self.skips[node] = self.items.len() as i32;
    }

    /// Returns true if this is a tree over the given number of boxes: each item is the number of
    /// a box, and each node except the leaves is followed by two children.
    pub fn is_over(&self, boxes: usize) -> bool {
        let Self { skips, items } = self;
        let is_whole = |node: usize| match usize::try_from(items[node]) {
            Ok(item) => item < boxes,
            Err(_) => {
                let other = skips.get(node + 1).and_then(|&skip| usize::try_from(skip).ok());
                other.is_some_and(|other| other > node + 1 && other < items.len())
            }
        };
        skips.len() == items.len() && (0..items.len()).all(is_whole)
    }

    /// Returns the corners, low and high, of all nodes' boxes for the boxes of the items.
    ///
    /// # Panics
    /// The tree is not a tree [over](Self::is_over) the boxes.
    pub fn bounds(&self, lowers: &[Point], uppers: &[Point]) -> (Vec<Point>, Vec<Point>) {
        let mut bounds = (vec![[0.0; 3]; self.items.len()], vec![[0.0; 3]; self.items.len()]);
        for node in (0..self.items.len()).rev() {
            let (low, high) = match usize::try_from(self.items[node]) {
                Ok(item) => (lowers[item], uppers[item]),
                Err(_) => {
                    let (one, other) = (node + 1, self.skips[node + 1] as usize);
                    let both = |of: &[Point], choose: fn(f32, f32) -> f32| {
                        std::array::from_fn(|axis| choose(of[one][axis], of[other][axis]))
                    };
                    (both(&bounds.0, f32::min), both(&bounds.1, f32::max))
                }
            };
            (bounds.0[node], bounds.1[node]) = (low, high);
        }
        bounds
    }

    /// Joins every second level into nodes of four boxes, in the order of this tree, which has
    /// these [`bounds`](Self::bounds). Returns `None` if there are more than [`MAX_LEVELS`]
    /// levels; a tree made by [`new`](Self::new) has fewer.
    ///
    /// # Panics
    /// The tree is not a tree [over](Self::is_over) boxes, or the bounds are wrong.
    pub fn wide(&self, lowers: &[Point], uppers: &[Point]) -> Option<Vec<WideNode>> {
        let Self { skips, items } = self;
        // The first node has no boxes: its only child is the node for the whole tree.
        let mut nodes: Vec<WideNode> = vec![[0; 32]];
        let parts = |node: usize| match items[node] {
            ..0 => [Some(node + 1), Some(skips[node + 1] as usize)],
            _ => [Some(node), None],
        };
        // Nodes to join, each with its parent, its box there, and its level.
        let mut todo = vec![(0, 0_u32, 0, 2)];
        todo.retain(|_| !items.is_empty());
        while let Some((top, parent, slot, level)) = todo.pop() {
            if level > MAX_LEVELS {
                return None;
            }
            let number = nodes.len();
            if let Some(above) = nodes.get_mut(parent as usize) {
                above[24 + slot] = number as u32;
            }
            let mut wide: WideNode = [0; 32];
            wide[28] = parent;
            let boxes = parts(top).into_iter().flatten().flat_map(|part| match part == top {
                true => [Some(part), None],
                false => parts(part),
            });
            for (at, node) in boxes.flatten().enumerate() {
                for axis in 0..3 {
                    wide[4 * axis + at] = lowers[node][axis].to_bits();
                    wide[12 + 4 * axis + at] = uppers[node][axis].to_bits();
                }
                wide[24 + at] = (-1 - items[node]) as u32;
                wide[29] |= 1 << at;
                if items[node] < 0 {
                    todo.push((node, number as u32, at, level + 1));
                }
            }
            nodes.push(wide);
        }
        Some(nodes)
    }
}

/// A node of a [`wide`](BoxTree::wide) tree, the `BvhWideNode` of the dialect's library: up to
/// four boxes as bits, in two cache lines.
///
/// Words 0 to 11 are the low corners (four x, four y, four z), words 12 to 23 the high corners.
/// Words 24 to 27 describe the content of each box: the number of a node, or -1 minus the number
/// of an item. Word 28 is the number of the parent node, and word 29 has one bit for each box
/// that the node has.
pub type WideNode = [u32; 32];

/// Points in the cells of a grid that repeats without end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PointCells {
    /// Index in `points` of each cell's first point, then the number of points.
    pub starts: Vec<i32>,
    /// Numbers of points, sorted by cell; the numbers of one cell are in ascending order.
    pub points: Vec<i32>,
}

impl PointCells {
    /// Sorts points into a grid with `extents` cells along the axes, `cells_per_unit` cells to a
    /// unit of length.
    pub fn new(points: &[Point], extents: [i32; 3], cells_per_unit: f32) -> Self {
        // A cast gives the nearest number in range, and 0 for a NaN.
        let cell =
            |point: &Point| point.map(|coordinate| (coordinate * cells_per_unit).floor() as i32);
        Self::of_cells(points.iter().map(cell), extents)
    }

    /// Sorts points of 64-bit numbers as [`PointCells::new`] does.
    pub fn of_doubles(points: &[[f64; 3]], extents: [i32; 3], cells_per_unit: f64) -> Self {
        let cell =
            |point: &[f64; 3]| point.map(|coordinate| (coordinate * cells_per_unit).floor() as i32);
        Self::of_cells(points.iter().map(cell), extents)
    }

    fn of_cells(points: impl Iterator<Item = [i32; 3]>, extents: [i32; 3]) -> Self {
        let cell = |point: [i32; 3]| {
            let coordinate = |axis: usize| {
                i64::from(point[axis].min(i32::MAX - 1)).rem_euclid(extents[axis].into()) as usize
            };
            let [x, y, _] = extents.map(|extent| extent as usize);
            (coordinate(2) * y + coordinate(1)) * x + coordinate(0)
        };
        let count = extents.iter().map(|&extent| extent as usize).product();
        let cells: Vec<usize> = points.map(cell).collect();
        // The start of a cell is counted up to its end, which is the start of the next one.
        let mut starts = vec![0; count + 1];
        cells.iter().for_each(|&cell| starts[cell + 1] += 1);
        (0..count).for_each(|cell| starts[cell + 1] += starts[cell]);
        let mut sorted = vec![0; cells.len()];
        for (point, &cell) in cells.iter().enumerate() {
            sorted[starts[cell] as usize] = point as i32;
            starts[cell] += 1;
        }
        starts.rotate_right(1);
        starts[0] = 0;
        Self { starts, points: sorted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_each_item_once_in_a_box_around_it() {
        let [lowers, uppers] = boxes(23);
        let tree = BoxTree::new(&lowers, &uppers);
        let (low, high) = tree.bounds(&lowers, &uppers);
        let mut items: Vec<i32> = tree.items.iter().copied().filter(|&item| item >= 0).collect();
        items.sort_unstable();
        assert_eq!(items, (0..23).collect::<Vec<i32>>());
        for node in 0..tree.items.len() {
            for inner in node..tree.skips[node] as usize {
                assert!((0..3).all(|axis| low[node][axis] <= low[inner][axis]));
                assert!((0..3).all(|axis| high[node][axis] >= high[inner][axis]));
            }
        }
        assert!(tree.is_over(23) && !tree.is_over(22));
        assert_eq!(BoxTree::new(&[], &[]), BoxTree::default());
        assert!(BoxTree::default().is_over(0));
        let cut = BoxTree { skips: tree.skips[..9].into(), items: tree.items[..9].into() };
        assert!(!cut.is_over(23));
    }

    fn boxes(count: usize) -> [Vec<Point>; 2] {
        let at = |item: usize| [(item * 7 % 11) as f32, (item * 5 % 13) as f32, item as f32];
        let lowers: Vec<Point> = (0..count).map(at).collect();
        let uppers = lowers.iter().map(|low| low.map(|low| low + 1.5)).collect();
        [lowers, uppers]
    }

    /// Adds the items below a wide node, and those of all boxes around them.
    fn walk(nodes: &[WideNode], node: usize, lowers: &[Point], items: &mut Vec<usize>) {
        let wide = &nodes[node];
        for slot in (0..4).filter(|slot| wide[29] >> slot & 1 == 1) {
            let (before, child) = (items.len(), wide[24 + slot] as i32);
            match usize::try_from(child) {
                Ok(child) => {
                    assert_eq!(nodes[child][28], node as u32);
                    walk(nodes, child, lowers, items);
                }
                Err(_) => items.push(-(child + 1) as usize),
            }
            for (axis, item) in
                (0..3).flat_map(|axis| items[before..].iter().map(move |&item| (axis, item)))
            {
                let [low, high] =
                    [4 * axis, 12 + 4 * axis].map(|at| f32::from_bits(wide[at + slot]));
                assert!(node == 0 || low <= lowers[item][axis] && lowers[item][axis] + 1.5 <= high);
            }
        }
    }

    #[test]
    fn a_wide_tree_has_the_same_items_in_the_same_order() {
        for count in [1, 2, 3, 4, 5, 23, 200] {
            let [lowers, uppers] = boxes(count);
            let tree = BoxTree::new(&lowers, &uppers);
            let (low, high) = tree.bounds(&lowers, &uppers);
            let mut nodes = tree.wide(&low, &high).expect("it isn't deep");
            // The first node's only child is the node for the whole tree.
            assert_eq!((nodes[0][24], nodes[0][29]), (1, 0));
            nodes[0][29] = 1;
            let mut items = Vec::new();
            walk(&nodes, 0, &lowers, &mut items);
            let expected = tree.items.iter().filter_map(|&item| usize::try_from(item).ok());
            assert_eq!(items, expected.collect::<Vec<usize>>());
        }
        assert_eq!(BoxTree::default().wide(&[], &[]), Some(vec![[0; 32]]));
        // A chain, in which each node has a leaf and the rest of the chain.
        let count = 40;
        let mut chain = BoxTree { skips: Vec::new(), items: Vec::new() };
        for item in 0..count - 1 {
            chain.items.extend([-1, item]);
            chain.skips.extend([2 * count - 1, 2 * item + 2]);
        }
        chain.items.push(count - 1);
        chain.skips.push(2 * count - 1);
        assert!(chain.is_over(count as usize));
        let [lowers, uppers] = boxes(count as usize);
        let (low, high) = chain.bounds(&lowers, &uppers);
        assert_eq!(chain.wide(&low, &high), None);
    }

    #[test]
    fn points_lie_in_their_cells_in_order() {
        let points = [[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0], [2.5, 0.0, 0.0], [f32::NAN, 9e30, 0.0]];
        let cells = PointCells::new(&points, [2, 3, 1], 1.0);
        // Cell 1 along x holds -0.5; 2,147,483,646 is 0 modulo 3.
        assert_eq!(cells.points, [0, 2, 3, 1]);
        assert_eq!(cells.starts, [0, 3, 4, 4, 4, 4, 4]);
        let doubles = points.map(|point| point.map(f64::from));
        assert_eq!(PointCells::of_doubles(&doubles, [2, 3, 1], 1.0), cells);
    }
}
