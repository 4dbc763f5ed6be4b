//! Tiles of a row that never end outside of their arrays. An answer need not check what always
//! holds, so fresh inputs cut no tile that lies in its array on the stored inputs.

use crate::fresh_inputs::FreshInputs;
use crate::graded_row::GradedRow;
use gbxcule_ir::FunctionId;
use gbxcule_ir::source::Span;
use gbxcule_rows::execute::{self, LaunchInputs};
use std::collections::HashSet;

/// Calls of the dialect that skip the elements of a tile that lie outside of an array.
const TILE_CALLS: [&str; 6] = [
    "tile_load",
    "tile_store",
    "tile_atomic_add",
    "tile_load_indexed",
    "tile_store_indexed",
    "tile_atomic_add_indexed",
];

impl GradedRow {
    /// Returns true if the tiles that lie in their arrays on the stored inputs do so on these.
    pub(crate) fn keeps_tiles_whole(&self, grid: LaunchInputs<'_>, data: &[Vec<u8>]) -> bool {
        self.whole_tiles.is_empty() || {
            let outcomes = execute::forward_with_outcomes(&self.program, grid, data);
            outcomes.is_ok_and(|(_, outcomes)| {
                self.whole_tiles.iter().all(|it| outcomes.get(it).is_none_or(|seen| !seen[0]))
            })
        }
    }

    /// Returns the calls whose tiles lie in their arrays on a draw.
    pub(crate) fn whole_tiles_on(
        &self,
        draw: &FreshInputs,
        source: &str,
    ) -> HashSet<(FunctionId, Span)> {
        let is_tile_call = |span: Span| {
            let text = source.get(span.start as usize..span.end as usize).unwrap_or_default();
            let name = text.split('(').next().and_then(|it| it.rsplit('.').next());
            name.is_some_and(|it| TILE_CALLS.contains(&it.trim()))
        };
        if !TILE_CALLS.iter().any(|it| source.contains(it)) {
            return HashSet::new();
        }
        let outcomes = execute::forward_with_outcomes(&self.program, draw.grid(), &draw.data);
        let outcomes = outcomes.map(|it| it.1).unwrap_or_default();
        let whole =
            outcomes.into_iter().filter(|((_, span), seen)| !seen[0] && is_tile_call(*span));
        whole.map(|(place, _)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_grammar::input::ArgumentInput;
    use gbxcule_rows::row::Row;

    /// Rows of tiles of 8, over 24 numbers, or fewer.
    fn tiled(count: u32) -> GradedRow {
        let source = "import warp as wp\n\n\n@wp.kernel\ndef k(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n    \
             i = wp.tid()\n    t = wp.tile_load(x, shape=8, offset=8 * i)\n    wp.tile_store(y, t * 2.0, offset=8 * i)\n";
        let named = |name: &str, given: ArgumentInput| ArgumentInput { name: name.into(), ..given };
        let inputs = [
            named("x", ArgumentInput { high: 1.0, ..ArgumentInput::integers(vec![count], 0, 0) }),
            named("y", ArgumentInput::zeros(vec![count])),
        ];
        let inputs_json = serde_json::to_string(&inputs).expect("inputs");
        let (source, launch_dims) = (source.into(), vec![3]);
        let row = Row { source, launch_dims, inputs_json, ..Row::default() };
        GradedRow::of(&row, 3, false).expect("a problem")
    }

    #[test]
    fn fresh_inputs_cut_a_tile_only_where_the_row_does() {
        let cuts = |draw: &FreshInputs| 8 * draw.dims[0] > draw.inputs[0].shape[0];
        let whole = tiled(24);
        assert!(!whole.draws.iter().any(cuts));
        let extents: HashSet<u32> = whole.draws.iter().map(|it| it.inputs[0].shape[0]).collect();
        assert!(extents.len() > 2, "{extents:?}");
        assert!(tiled(20).draws.iter().filter(|it| cuts(it)).count() > 3);
    }
}
