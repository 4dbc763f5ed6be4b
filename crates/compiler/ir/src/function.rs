//! Functions, kernels and their bodies.

use super::arena::{Arena, Handle, Pool};
use super::builtin::Instance;
use super::constant::Literal;
use super::op::{Arg, Op, Selector, Value, ValueData};
use super::place::{Place, PlaceId, Projection};
use super::stmt::{Block, BlockId};
use super::ty::Type;
use crate::source::Span;

/// Name that the module's string table holds.
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
    /// Type of the result: `Type::UNIT` without one, a tuple for several.
    pub result: Type,
    /// Body: the statements of the function.
    pub body: Body,
    /// Advice on inlining calls to it.
    pub inline: Inline,
    /// Row of the builtin table from which the function was made.
    pub instance: Option<Instance>,
    /// Reverse that was written by hand: `grad` calls it instead of deriving one.
    pub adjoint: Option<FunctionId>,
    /// Function that a reverse kernel calls in place of this one when it repeats the forward
    /// computation. It returns no floats.
    pub replay: Option<FunctionId>,
    /// Pairs of a kernel's parameters whose arrays must share no memory, gradients included. The
    /// code that launches the kernel must check this.
    pub disjoint: Vec<(u32, u32)>,
    /// True if the author guarantees that nothing in the function faults: builds that rely on this
    /// omit its checks.
    pub trusted: bool,
    /// Part of a GPU's multiprocessor that a kernel may take.
    pub residency: Residency,
    /// True for a kernel whose threads soon take different branches. A GPU then holds as many
    /// threads at once as it can; where it has room for more threads than the launch has, it
    /// gives work to fewer lanes of each warp. The flag never changes what a program means.
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

/// Part of a multiprocessor that the threads of a kernel may take, so that enough threads run side
/// by side. The limit never changes what a program means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Residency {
    /// No limit: the GPU's compiler chooses.
    #[default]
    Free,
    /// Limits on the blocks of threads.
    Blocks {
        /// Greatest number of threads in a block: 1 to 1,024.
        threads: u32,
        /// Smallest number of blocks at once: 1 to 32.
        together: Option<u32>,
    },
    /// Greatest number of registers of a thread: 1 to 255.
    Registers(u32),
}

impl Residency {
    /// Returns true if there may be a GPU that fits the limit.
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

/// Request about inlining, which never changes what a program means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Inline {
    /// Free choice of the back end.
    #[default]
    Auto,
    /// The function goes inline at every call.
    Always,
    /// The function stays out of line, because it is large and rarely called.
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
    /// Passed as a copy; the function can't write the parameter.
    Value,
    /// Passed as the caller's place, to read.
    Shared,
    /// Passed as the caller's place, to read and write.
    Mutable,
}

impl Param {
    /// Makes a parameter passed by value, without a span.
    pub fn value(name: impl Into<String>, ty: Type) -> Self {
        Self { name: name.into(), ty, mode: PassMode::Value, span: Span::NONE }
    }

    /// Makes a parameter passed by reference, to write.
    pub fn mutable(name: impl Into<String>, ty: Type) -> Self {
        Self { mode: PassMode::Mutable, ..Self::value(name, ty) }
    }

    /// Makes a parameter passed by reference, to read.
    pub fn shared(name: impl Into<String>, ty: Type) -> Self {
        Self { mode: PassMode::Shared, ..Self::value(name, ty) }
    }

    /// Returns the parameter with a span.
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
    /// True if every part is written before it is read, so that its first content doesn't matter.
    pub scratch: bool,
    /// Place at which it was first written.
    pub span: Span,
}

/// Names a local of the same body.
pub type LocalId = Handle<Local>;

/// Body of a function: its statements and everything that they refer to.
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
    /// Returns the type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// Returns the literal that a value is; `None` if another operation makes the value.
    pub fn literal(&self, value: Value) -> Option<Literal> {
        match self.values[value].op {
            Op::Literal(literal) => Some(literal),
            _ => None,
        }
    }

    /// Returns the number of a value that is a literal of an integer or `bool`.
    pub fn integer(&self, value: Value) -> Option<i128> {
        self.literal(value)?.as_int()
    }

    /// Returns the path of a place.
    pub fn path(&self, place: PlaceId) -> &[Projection] {
        &self.paths[self.places[place].path]
    }
}
