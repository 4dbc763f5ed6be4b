//! Names of tiles: `t = wp.tile_load(..)`, and another tile under the same name.
//!
//! The type of a tile is known when compiled, so a name has one type wherever ways meet. In code
//! without branches a name may change it, as in NVIDIA Warp: where the block that binds it first
//! binds it again.

use super::Tile;
use crate::lower::{Binding, FunctionLowering, LoweringError, LoweringResult, Operand};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::BlockId;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Tiles of names, and where names are bound.
#[derive(Default)]
pub(in crate::lower) struct TileNames<'a> {
    /// Tiles of names that are bound several times.
    own: FxHashMap<&'a str, Rc<Tile>>,
    /// The block that binds a name first.
    homes: FxHashMap<&'a str, BlockId>,
    /// Names that change their type in a block, which may be left between.
    changed: FxHashMap<&'a str, BlockId>,
}

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// Binds a name to a tile. A name that is bound several times has a tile of its own, so that
    /// every way leads to the same variable; and so has a copy of what another name stands for.
    pub(in crate::lower) fn bind_tile(
        &mut self,
        name: &'a str,
        tile: Rc<Tile>,
        span: Span,
    ) -> LoweringResult<()> {
        if !self.usage.needs_variable(name, true, false) {
            self.names.insert(name, Binding::Tile(tile));
            return Ok(());
        }
        let own = match self.tiles.own.get(name) {
            Some(own) if own.shape() == tile.shape() => own.clone(),
            _ => {
                let own = Rc::new(self.new_tile(name, &tile.shape(), span)?);
                self.tiles.own.insert(name, own.clone());
                own
            }
        };
        self.copy_tile(&tile, &own, span)?;
        self.names.insert(name, Binding::Tile(own));
        Ok(())
    }

    /// Refuses to bind a name to a tile of another type than it has, to a tile in place of
    /// something else, or the other way round, where the old one may be seen on another way.
    pub(in crate::lower) fn check_tile_name(
        &mut self,
        name: &'a str,
        operand: &Operand<'a>,
        span: Span,
    ) -> LoweringResult<()> {
        let here = self.b.open_block_id();
        let Some(bound) = self.names.get(name).cloned() else {
            self.tiles.homes.insert(name, here);
            return Ok(());
        };
        let bound = match (&bound, operand) {
            (Binding::Tile(old), Operand::Tile(new)) if old.shape() == new.shape() => return Ok(()),
            (Binding::Tile(old), _) => self.shown_tile(&old.shape()),
            (_, Operand::Tile(_)) => match self.bound_type(name) {
                Some(ty) => self.shown(ty),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let root = self.b.body().root;
        let home = self.tiles.homes.get(name).copied().unwrap_or(root);
        // A block is numbered when it opens: this one holds the home, or is it.
        if home.index() >= here.index() {
            if here != root {
                self.tiles.changed.insert(name, here);
            }
            return Ok(());
        }
        let found = match operand {
            Operand::Tile(tile) => self.shown_tile(&tile.shape()),
            other => self.operand_type(other).map_or("value".to_owned(), |ty| self.shown(ty)),
        };
        let message = format!("`{name}` is a `{bound}` and can't become a `{found}` here");
        let help = "give it another name: a name changes its type only in the block of statements \
                    that binds it first, not in a branch or loop inside";
        let fault = Diagnostic::error(Code::TypeMismatch, span, message).help(help);
        Err(LoweringError::Fault(Box::new(fault)))
    }

    /// Forgets names that changed their type in a block that ends: it may have been left before.
    pub(in crate::lower) fn leave_block(&mut self, block: BlockId) {
        if !self.tiles.changed.is_empty() {
            let changed = &self.tiles.changed;
            self.names.retain(|name, _| changed.get(name) != Some(&block));
        }
    }
}
