//! Building function bodies: what front ends, `grad` and the bodies of builtins use.
//!
//! The builder never fails and checks nothing: an operation on wrong types gets the type
//! `Type::INVALID`, and `check` refuses the module. Statements after a terminator are dropped.

mod control;
mod place;
mod short;
mod value;

use super::arena::Handle;
use super::function::{Body, Function, FunctionId, Local, LocalId};
use super::module::Module;
use super::stmt::{Block, BlockId, Stmt, StmtKind};
use super::ty::Type;
use crate::source::Span;

/// Fills the body of one declared function. Nested builders for other functions may borrow
/// [`Builder::module`] meanwhile.
pub struct Builder<'m> {
    /// The module, with this function's signature but without its body until [`Builder::finish`].
    pub module: &'m mut Module,
    function: FunctionId,
    body: Body,
    open: Vec<OpenBlock>,
    /// True, for each block, if control never leaves it at its end.
    diverges: Vec<bool>,
    span: Span,
}

/// A block that statements are being added to.
struct OpenBlock {
    block: BlockId,
    diverges: bool,
}

impl<'m> Builder<'m> {
    /// Begins the body of a declared function, or goes on at its end.
    pub fn new(module: &'m mut Module, function: FunctionId) -> Self {
        let body = std::mem::take(&mut module.functions[function].body);
        let open = vec![OpenBlock { block: body.root, diverges: false }];
        let diverges = vec![false; body.blocks.len()];
        Self { module, function, body, open, diverges, span: Span::NONE }
    }

    /// Puts the body into the module.
    pub fn finish(self) -> FunctionId {
        self.module.functions[self.function].body = self.body;
        self.function
    }

    /// The function being built; its `body` is empty meanwhile.
    pub fn function(&self) -> &Function {
        &self.module.functions[self.function]
    }

    /// Handle.
    pub fn function_id(&self) -> FunctionId {
        self.function
    }

    /// The body so far.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The span that everything from here on gets.
    pub fn set_span(&mut self, span: Span) {
        self.span = span;
    }

    /// The span that everything gets now.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Adds a variable.
    pub fn local(&mut self, name: impl Into<String>, ty: Type) -> LocalId {
        let (name, span) = (name.into(), self.span);
        self.body.locals.push(Local { name, ty, scratch: false, span })
    }

    /// Adds a variable no part of which is read before it is written.
    pub fn scratch(&mut self, name: impl Into<String>, ty: Type) -> LocalId {
        let local = self.local(name, ty);
        self.body.locals[local].scratch = true;
        local
    }

    /// Returns the depth at which the next statements nest.
    pub fn nesting(&self) -> usize {
        self.open.len()
    }

    /// Opens a block: statements go there until [`Builder::close_block`].
    pub fn open_block(&mut self) {
        let block = self.body.blocks.push(Block::default());
        self.diverges.push(false);
        self.open.push(OpenBlock { block, diverges: false });
    }

    /// The innermost open block.
    pub fn open_block_id(&self) -> BlockId {
        self.open.last().map_or(self.body.root, |open| open.block)
    }

    /// Closes the innermost open block, to be given to the statement that owns it. The outermost
    /// block of the function can't be closed.
    pub fn close_block(&mut self) -> BlockId {
        debug_assert!(self.open.len() > 1, "the outermost block stays open");
        let Some(open) = self.open.pop() else { return self.body.root };
        self.diverges[open.block.index()] = open.diverges;
        open.block
    }

    /// Runs `fill` with a new open block and closes it.
    pub fn block(&mut self, fill: impl FnOnce(&mut Self)) -> BlockId {
        self.open_block();
        fill(self);
        self.close_block()
    }

    /// A block without statements.
    pub fn empty_block(&mut self) -> BlockId {
        self.block(|_| ())
    }

    /// Returns true if control can't reach the end of the innermost open block: what is added is
    /// dropped.
    pub fn diverged(&self) -> bool {
        self.open.last().is_some_and(|open| open.diverges)
    }

    fn block_diverges(&self, block: BlockId) -> bool {
        self.diverges.get(Handle::index(block)).copied().unwrap_or(false)
    }

    fn push(&mut self, kind: StmtKind, diverges: bool) {
        let span = self.span;
        let Some(open) = self.open.last_mut() else { return };
        if open.diverges {
            return;
        }
        open.diverges = diverges;
        self.body.blocks[open.block].stmts.push(Stmt { kind, span });
    }
}
