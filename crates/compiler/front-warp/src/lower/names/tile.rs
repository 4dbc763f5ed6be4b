//! Names of tiles: `t = wp.tile_load(..)`, and another tile under the same name.
//!
//! The type of a tile is known at compile time, so a name has one type where branches join. As in
//! NVIDIA Warp, the block that binds a name first may bind it to another type.

use super::{Binding, LoweringResult, Names, Operand, Tile, Writer};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::BlockId;
use std::rc::Rc;

impl<'a> Names<'a> {
    /// Binds a name to a tile. A name that is bound several times has its own tile, into which
    /// each binding copies, so that every branch leads to the same variable.
    pub(super) fn bind_tile(
        &mut self,
        b: &mut Writer<'_, 'a>,
        name: &'a str,
        tile: Rc<Tile>,
        span: Span,
    ) -> LoweringResult<()> {
        if !self.usage.needs_variable(name, true, false) {
            self.bindings.insert(name, Binding::Tile(tile));
            return Ok(());
        }
        let named_tile = match self.tiles.get(name) {
            Some(named_tile) if named_tile.shape() == tile.shape() => named_tile.clone(),
            _ => {
                let named_tile = Rc::new(Tile::new(b, name, &tile.shape(), span)?);
                self.tiles.insert(name, named_tile.clone());
                named_tile
            }
        };
        tile.copy_to(&named_tile, b, span)?;
        self.bindings.insert(name, Binding::Tile(named_tile));
        Ok(())
    }

    /// Refuses to bind a name to a tile of another type, to a tile after a value of another kind,
    /// or to another kind of value after a tile, if another path through the function may still
    /// see the old value.
    pub(super) fn check_tile(
        &mut self,
        b: &mut Writer<'_, 'a>,
        name: &'a str,
        operand: &Operand<'a>,
        span: Span,
    ) -> LoweringResult<()> {
        let here = b.open_block_id();
        let Some(bound) = self.bindings.get(name) else {
            self.homes.insert(name, here);
            return Ok(());
        };
        let bound = match (bound, operand) {
            (Binding::Tile(old), Operand::Tile(new)) if old.shape() == new.shape() => return Ok(()),
            (Binding::Tile(old), _) => old.shape().shown(b),
            (_, Operand::Tile(_)) => match self.bound_type(b, name) {
                Some(ty) => b.shown(ty),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let root = b.body().root;
        let home = self.homes.get(name).copied().unwrap_or(root);
        // Blocks are numbered as they open, so the home is this block or lies in it.
        if home.index() >= here.index() {
            if here != root {
                self.changed.insert(name, here);
            }
            return Ok(());
        }
        let found = match operand {
            Operand::Tile(tile) => tile.shape().shown(b),
            other => b.operand_type(other).map_or("value".to_owned(), |ty| b.shown(ty)),
        };
        let message = format!("`{name}` is a `{bound}` and can't become a `{found}` here");
        let help = "give it another name: a name changes its type only in the block of statements \
                    that binds it first, not in a branch or loop inside";
        Err(Diagnostic::error(Code::TypeMismatch, span, message).help(help).into())
    }

    /// Forgets names that changed their type in a block that ends, because control may have left
    /// the block before the change.
    pub(in crate::lower) fn leave_block(&mut self, block: BlockId) {
        if !self.changed.is_empty() {
            let changed = &self.changed;
            self.bindings.retain(|name, _| changed.get(name) != Some(&block));
        }
    }
}
