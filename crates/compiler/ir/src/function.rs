//! Functions, kernels and their bodies.

use super::arena::{Arena, Handle, Pool};
use super::builtin::Instance;
use super::op::{Arg, Selector, Value, ValueData};
use super::place::{Place, PlaceId, Projection};
use super::stmt::{Block, BlockId};
use super::ty::Type;
use crate::source::Span;

/// A name kept in the module's string table.
pub type Name = Handle<Box<str>>;

/// A function or kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Name in the source; back ends make it unique.
    pub name: String,
    /// Kernel or callable.
    pub kind: FunctionKind,
    /// Parameters.
    pub params: Vec<Param>,
    /// The type of its result; `Type::UNIT` if it has none, a tuple if it has several.
    pub result: Type,
    /// Body: the statements of the function.
    pub body: Body,
    /// Advice on inlining calls to it.
    pub inline: Inline,
    /// The row of the builtin table it was made from.
    pub instance: Option<Instance>,
    /// Reverse, if one was written by hand: `grad` calls it instead of deriving one.
    pub adjoint: Option<FunctionId>,
    /// Function that replaces it where a reverse runs it again; returns no floats.
    pub replay: Option<FunctionId>,
    /// Pairs of parameters of a kernel whose arrays must share no memory, gradients included. The
    /// code that launches it must check that.
    pub disjoint: Vec<(u32, u32)>,
    /// True if the author vouches that nothing in it faults: builds that trust it leave its checks
    /// out.
    pub trusted: bool,
    /// Part of a GPU's multiprocessor that a kernel may take.
    pub residency: Residency,
    /// True for a kernel whose threads soon go ways of their own. A GPU then holds as many of them
    /// at once as it can, and where it could hold more, fewer of them run in lockstep. Never
    /// changes what a program means.
    pub diverges: bool,
    /// Place of the definition.
    pub span: Span,
}

/// Names a function of the module.
pub type FunctionId = Handle<Function>;

/// Purpose of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FunctionKind {
    /// Called by other functions.
    Callable,
    /// Launched over a grid, never called. No result; all parameters by value.
    Kernel,
}

/// Part of a multiprocessor that the threads of a kernel may take, so that enough of them run side
/// by side; never changes what a program means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Residency {
    /// Free choice of the GPU's compiler.
    #[default]
    Free,
    /// Blocks of so many threads at most, and so many blocks at once at least.
    Blocks {
        /// 1 to 1,024.
        threads: u32,
        /// 1 to 32.
        together: Option<u32>,
    },
    /// Most registers of a thread: 1 to 255.
    Registers(u32),
}

impl Residency {
    /// Returns true if a GPU with that much may exist.
    pub fn is_possible(self) -> bool {
        match self {
            Self::Free => true,
            Self::Blocks { threads, together } => {
                (1..=1024).contains(&threads)
                    && together.is_none_or(|blocks| (1..=32).contains(&blocks))
            }
            Self::Registers(count) => (1..=255).contains(&count),
        }
    }
}

/// A wish about inlining; never changes what a program means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Inline {
    /// Free choice of the back end.
    #[default]
    Auto,
    /// The function goes inline at every call.
    Always,
    /// Kept out of line: rare and fat.
    Never,
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Name in the source.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// Mode of passing.
    pub mode: PassMode,
    /// Place of the declaration.
    pub span: Span,
}

/// Mode in which an argument is passed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PassMode {
    /// A copy; the parameter can't be written.
    Value,
    /// The caller's place, to read.
    Shared,
    /// The caller's place, to read and write.
    Mutable,
}

impl Param {
    /// A parameter passed by value, without span.
    pub fn value(name: impl Into<String>, ty: Type) -> Self {
        Self { name: name.into(), ty, mode: PassMode::Value, span: Span::NONE }
    }

    /// A parameter passed by reference, to write.
    pub fn mutable(name: impl Into<String>, ty: Type) -> Self {
        Self { mode: PassMode::Mutable, ..Self::value(name, ty) }
    }

    /// A parameter passed by reference, to read.
    pub fn shared(name: impl Into<String>, ty: Type) -> Self {
        Self { mode: PassMode::Shared, ..Self::value(name, ty) }
    }

    /// Returns the local with a span.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = span;
        self
    }
}

/// A variable of a function. It holds zero when the function begins and lives until it ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// Name in the source; several locals may share one.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// True if no part of it is read before it is written: it may begin with anything.
    pub scratch: bool,
    /// Place at which it was first written.
    pub span: Span,
}

/// Names a local of the same body.
pub type LocalId = Handle<Local>;

/// Body of a function: its statements and all that they point at.
#[derive(Clone, PartialEq, Debug)]
pub struct Body {
    /// Operations.
    pub values: Arena<ValueData>,
    /// Places.
    pub places: Arena<Place>,
    /// Variables.
    pub locals: Arena<Local>,
    /// Blocks.
    pub blocks: Arena<Block>,
    /// Operand lists of operations and element indices.
    pub value_lists: Pool<Value>,
    /// Argument lists of calls.
    pub arg_lists: Pool<Arg>,
    /// Paths of places.
    pub paths: Pool<Projection>,
    /// Selectors of views.
    pub selector_lists: Pool<Selector>,
    /// The outermost block.
    pub root: BlockId,
}

impl Default for Body {
    fn default() -> Self {
        let mut blocks = Arena::default();
        let root = blocks.push(Block::default());
        Self {
            values: Arena::default(),
            places: Arena::default(),
            locals: Arena::default(),
            blocks,
            value_lists: Pool::default(),
            arg_lists: Pool::default(),
            paths: Pool::default(),
            selector_lists: Pool::default(),
            root,
        }
    }
}

impl Body {
    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// The path of a place.
    pub fn path(&self, place: PlaceId) -> &[Projection] {
        &self.paths[self.places[place].path]
    }
}
