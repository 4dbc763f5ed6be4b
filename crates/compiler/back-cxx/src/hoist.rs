//! Chooses where variables are declared: at their first store, if all their mentions follow it in
//! the same block, else at the top of the function, with the value zero.

use gbxcule_ir::arena::Handle;
use gbxcule_ir::function::Body;
use gbxcule_ir::place::{PlaceId, Root};
use gbxcule_ir::stmt::{BlockId, StmtKind};
use gbxcule_ir::walk::{Step, Use, stmt_uses, walk};

/// Place at which a variable is declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Declaration {
    /// The variable is not mentioned.
    Nowhere,
    /// A declaration at the top of the function.
    Top,
    /// The store that is this statement of this block declares the variable.
    Store(BlockId, usize),
}

/// Returns the declaration of each local, by position, and whether the local is exposed as an
/// array.
pub(super) fn declarations(body: &Body) -> (Vec<Declaration>, Vec<bool>) {
    let mut finder = DeclarationFinder {
        body,
        parents: vec![None; body.blocks.len()],
        mentions: vec![None; body.locals.len()],
        exposed: vec![false; body.locals.len()],
    };
    // Open blocks, each with the position of its current statement.
    let mut open: Vec<(BlockId, usize)> = Vec::new();
    walk(body, body.root, |step| match step {
        Step::Enter(block) => {
            finder.parents[block.index()] = open.last().map(|&(parent, _)| (parent, open.len()));
            open.push((block, 0));
        }
        Step::Leave(_) => _ = open.pop(),
        Step::Stmt(stmt) => {
            if let Some((block, position)) = open.last_mut() {
                finder.stmt(*block, *position, &stmt.kind);
                *position += 1;
            }
        }
    });
    let declarations = finder.mentions.iter().map(|mentions| match *mentions {
        None => Declaration::Nowhere,
        Some(Mentions { block, first: Some((in_block, position)), .. }) if in_block == block => {
            Declaration::Store(block, position)
        }
        Some(_) => Declaration::Top,
    });
    (declarations.collect(), finder.exposed)
}

struct DeclarationFinder<'a> {
    body: &'a Body,
    /// Block around each block, and the depth.
    parents: Vec<Option<(BlockId, usize)>>,
    mentions: Vec<Option<Mentions>>,
    exposed: Vec<bool>,
}

/// Mentions of a variable found so far.
#[derive(Clone, Copy)]
struct Mentions {
    /// Innermost block around all mentions.
    block: BlockId,
    /// First mention, if it stores the whole variable.
    first: Option<(BlockId, usize)>,
}

impl DeclarationFinder<'_> {
    fn stmt(&mut self, block: BlockId, position: usize, stmt: &StmtKind) {
        let body = self.body;
        stmt_uses(
            body,
            stmt,
            |_| true,
            |used| match used {
                Use::Value(_) => {}
                Use::Write(place) => {
                    let is_whole = body.path(place).is_empty();
                    self.mention(place, block, is_whole.then_some((block, position)));
                }
                Use::Expose(place) => {
                    self.mention(place, block, None);
                    if let Root::Local(local) = body.places[place].root {
                        self.exposed[Handle::index(local)] = true;
                    }
                }
                Use::Read(place) | Use::Change(place) => self.mention(place, block, None),
            },
        );
    }

    fn mention(&mut self, place: PlaceId, block: BlockId, first: Option<(BlockId, usize)>) {
        let Root::Local(local) = self.body.places[place].root else { return };
        let index = Handle::index(local);
        self.mentions[index] = Some(match self.mentions[index] {
            None => Mentions { block, first },
            Some(mentions) => {
                Mentions { block: self.common_block(mentions.block, block), ..mentions }
            }
        });
    }

    fn depth(&self, block: BlockId) -> usize {
        self.parents[block.index()].map_or(0, |(_, depth)| depth)
    }

    /// Returns the innermost block around both blocks.
    fn common_block(&self, mut one: BlockId, mut other: BlockId) -> BlockId {
        while one != other {
            let (deeper, shallower) =
                if self.depth(one) >= self.depth(other) { (one, other) } else { (other, one) };
            one = self.parents[deeper.index()].map_or(shallower, |(parent, _)| parent);
            other = shallower;
        }
        one
    }
}
