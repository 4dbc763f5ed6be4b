//! Finds blocks that leave their loop or function before their end, for `grad::normal`.
//! (`pass::exit` gives a function a single return.)

use gbxcule_ir::function::Body;
use gbxcule_ir::stmt::{BlockId, StmtKind};
use gbxcule_ir::walk::{Step, stmt_blocks, walk};

/// Ways in which control leaves a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Exit {
    /// Control always reaches the block's end.
    Never,
    /// Control may leave.
    Maybe,
    /// Control never reaches the block's end.
    Always,
}

/// Exits of each block.
#[derive(Debug)]
pub(super) struct Exits {
    exits: Vec<Exit>,
    /// True for each block with a `Break` of the loop around it.
    breaks: Vec<bool>,
    /// True for each block with a `Return` or `Trap` anywhere inside.
    returns: Vec<bool>,
}

impl Exits {
    pub(super) fn new(body: &Body) -> Self {
        let count = body.blocks.len();
        let mut exits = Self {
            exits: vec![Exit::Never; count],
            breaks: vec![false; count],
            returns: vec![false; count],
        };
        // Blocks end in post-order: the exits of inner blocks are known when an outer block asks
        // for them.
        let mut order = Vec::new();
        walk(body, body.root, |step| {
            if let Step::Leave(block) = step {
                order.push(block);
            }
        });
        for block in order {
            exits.block(body, block);
        }
        exits
    }

    fn block(&mut self, body: &Body, block: BlockId) {
        let index = block.index();
        for stmt in &body.blocks[block].stmts {
            let kind = &stmt.kind;
            self.exits[index] = self.exits[index].max(self.of_stmt(kind));
            let is_loop = matches!(kind, StmtKind::For { .. } | StmtKind::While { .. });
            self.breaks[index] |= matches!(kind, StmtKind::Break);
            self.returns[index] |= matches!(kind, StmtKind::Return(_) | StmtKind::Trap { .. });
            stmt_blocks(kind, |inner| {
                self.breaks[index] |= !is_loop && self.breaks[inner.index()];
                self.returns[index] |= self.returns[inner.index()];
            });
        }
    }

    pub(super) fn of(&self, block: BlockId) -> Exit {
        self.exits[block.index()]
    }

    /// Returns the exit of a statement; the exits of its blocks are known.
    pub(super) fn of_stmt(&self, stmt: &StmtKind) -> Exit {
        match stmt {
            kind if kind.is_terminator() => Exit::Always,
            StmtKind::If { .. } | StmtKind::Switch { .. } => {
                let (mut least, mut most) = (Exit::Always, Exit::Never);
                stmt_blocks(stmt, |block| {
                    least = least.min(self.of(block));
                    most = most.max(self.of(block));
                });
                if least == Exit::Always { least } else { most.min(Exit::Maybe) }
            }
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                if self.returns[body.index()] { Exit::Maybe } else { Exit::Never }
            }
            _ => Exit::Never,
        }
    }

    /// Returns true if the loop with this body may end before all its rounds are done.
    pub(super) fn leaves_loop(&self, body: BlockId) -> bool {
        self.breaks[body.index()] || self.returns[body.index()]
    }
}
