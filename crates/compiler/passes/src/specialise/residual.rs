//! Residual code of a specialisation: a body under construction, which reuses an operation that was
//! computed before.

use super::PartialValue;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{Body, Local};
use gbxcule_ir::op::{BinaryOp, CompareOp, Op, UnaryOp, Value, ValueData};
use gbxcule_ir::place::{Place, PlaceId, Projection, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::{Block, BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::{Scalar, Type};
use rustc_hash::FxHashMap;

/// Operation without effect on values that do not change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Pure {
    Literal(Literal),
    Unary(UnaryOp, Value),
    Binary(BinaryOp, Value, Value),
    Compare(CompareOp, Value, Value),
    Select(Value, Value, Value),
    Convert(Value),
    Bitcast(Value),
}

impl Pure {
    fn op(self) -> Op {
        match self {
            Self::Literal(literal) => Op::Literal(literal),
            Self::Unary(op, of) => Op::Unary(op, of),
            Self::Binary(op, left, right) => Op::Binary(op, left, right),
            Self::Compare(op, left, right) => Op::Compare(op, left, right),
            Self::Select(condition, accept, reject) => Op::Select { condition, accept, reject },
            Self::Convert(of) => Op::Convert(of),
            Self::Bitcast(of) => Op::Bitcast(of),
        }
    }
}

/// Place at which an operation was computed.
#[derive(Clone, Copy, Debug)]
struct Computed {
    value: Value,
    block: BlockId,
    position: usize,
}

/// A body under construction.
#[derive(Debug, Default)]
pub struct Residual {
    /// The body so far.
    pub body: Body,
    /// The block around each block, and the number of statements that come before it there.
    parents: FxHashMap<BlockId, (BlockId, usize)>,
    computed: FxHashMap<(Pure, Type), Vec<Computed>>,
}

impl Residual {
    /// Makes an empty block inside another one.
    pub fn open(&mut self, parent: BlockId) -> BlockId {
        let block = self.body.blocks.push(Block::default());
        self.parents.insert(block, (parent, self.body.blocks[parent].stmts.len()));
        block
    }

    /// Adds a statement to a block.
    pub fn push(&mut self, block: BlockId, kind: StmtKind) {
        self.body.blocks[block].stmts.push(Stmt { kind, span: Span::NONE });
    }

    /// Adds an operation to a block.
    pub fn emit(&mut self, block: BlockId, op: Op, ty: Type) -> Value {
        let value = self.define(op, ty);
        self.push(block, StmtKind::Let(value));
        value
    }

    /// Defines an operation, which the caller adds to a block.
    pub fn define(&mut self, op: Op, ty: Type) -> Value {
        self.body.values.push(ValueData { op, ty, name: None, span: Span::NONE })
    }

    /// Adds a placeholder for a literal, which [`Self::fill`] sets later.
    pub fn placeholder(&mut self, block: BlockId, scalar: Scalar) -> Value {
        // Nothing is assumed of a `Zero` here, so that no operation on it is folded.
        self.emit(block, Op::Zero, Type::scalar(scalar))
    }

    /// Sets the literal of a placeholder.
    pub fn fill(&mut self, placeholder: Value, literal: Literal) {
        self.body.values[placeholder].op = Op::Literal(literal);
    }

    /// Returns the value of an operation, and adds it to the block unless it is visible there
    /// already.
    pub(super) fn pure(&mut self, block: BlockId, pure: Pure, ty: Type) -> Value {
        if let Some(earlier) = self.computed.get(&(pure, ty)) {
            for computed in earlier.iter().rev() {
                if self.is_visible(*computed, block) {
                    return computed.value;
                }
            }
        }
        let position = self.body.blocks[block].stmts.len();
        let value = self.emit(block, pure.op(), ty);
        let computed = Computed { value, block, position };
        self.computed.entry((pure, ty)).or_default().push(computed);
        value
    }

    /// Returns true if the operation stands before the end of this block or of one around it, and
    /// was not taken back.
    fn is_visible(&self, computed: Computed, from: BlockId) -> bool {
        let mut around = Some((from, usize::MAX));
        while let Some((block, end)) = around {
            if block == computed.block {
                let stmt = self.body.blocks[block].stmts.get(computed.position);
                return computed.position < end
                    && stmt.is_some_and(|stmt| stmt.kind == StmtKind::Let(computed.value));
            }
            around = self.parents.get(&block).copied();
        }
        false
    }

    /// Returns the value of a partly known scalar, computed in a block.
    pub fn value(&mut self, block: BlockId, partial: PartialValue) -> Value {
        match partial {
            PartialValue::Value(value) => value,
            PartialValue::Literal(literal) => {
                self.pure(block, Pure::Literal(literal), Type::scalar(literal.scalar()))
            }
            PartialValue::Sum(base, literal) => {
                let ty = self.body.type_of(base);
                let literal = self.pure(block, Pure::Literal(literal), ty);
                self.pure(block, Pure::Binary(BinaryOp::Add, base, literal), ty)
            }
        }
    }

    /// Returns the type of a partly known scalar.
    pub fn type_of(&self, partial: PartialValue) -> Type {
        match partial {
            PartialValue::Literal(literal) => Type::scalar(literal.scalar()),
            PartialValue::Value(value) | PartialValue::Sum(value, _) => self.body.type_of(value),
        }
    }

    /// Makes a place.
    pub fn place(&mut self, root: Root, path: Vec<Projection>, ty: Type) -> PlaceId {
        let path = self.body.paths.add(path);
        self.body.places.push(Place { root, path, ty })
    }

    /// Declares a variable that is written before it is read.
    pub fn variable(&mut self, name: &str, ty: Type) -> PlaceId {
        let local = Local { name: name.into(), ty, scratch: true, span: Span::NONE };
        let local = self.body.locals.push(local);
        self.place(Root::Local(local), Vec::new(), ty)
    }
}
