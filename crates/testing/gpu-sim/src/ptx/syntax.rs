//! A PTX text as data. Names are parts of the text.

use super::ty::Type;

/// A whole text.
#[derive(Debug, Default)]
pub struct Module<'t> {
    /// Variables outside of functions.
    pub variables: Vec<Variable<'t>>,
    /// Declarations and definitions, in the text's order.
    pub functions: Vec<Function<'t>>,
}

/// Memory in which a variable lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// Memory of the device.
    Global,
    /// Memory of the device that kernels only read.
    Const,
    /// Memory of one thread.
    Local,
    /// Arguments and results of calls.
    Param,
}

/// A variable in memory.
#[derive(Debug)]
pub struct Variable<'t> {
    /// Line of its declaration.
    pub line: usize,
    /// Name.
    pub name: &'t str,
    /// Memory space of the variable.
    pub space: Space,
    /// Type of its elements.
    pub ty: Type,
    /// Number of elements; 1 for a scalar.
    pub count: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Bits of its first elements; the others are 0.
    pub init: Vec<u64>,
}

impl Variable<'_> {
    /// Returns the size of the variable in bytes.
    pub fn bytes(&self) -> u64 {
        self.ty.bytes() * self.count
    }
}

/// A function or a kernel.
#[derive(Debug)]
pub struct Function<'t> {
    /// Line of its head.
    pub line: usize,
    /// Name.
    pub name: &'t str,
    /// True for a kernel.
    pub is_entry: bool,
    /// Variables for the results.
    pub results: Vec<Variable<'t>>,
    /// Variables for the parameters.
    pub params: Vec<Variable<'t>>,
    /// Greatest number of threads of a kernel's block.
    pub max_threads: u64,
    /// Statements; `None` for a declaration.
    pub body: Option<Vec<Statement<'t>>>,
}

/// A part of a body.
#[derive(Debug)]
pub enum Statement<'t> {
    /// A scope begins.
    Open,
    /// A scope ends.
    Close,
    /// A place to jump to.
    Label(&'t str),
    /// A list of labels to jump to by number.
    Targets {
        /// Name of the list.
        name: &'t str,
        /// Labels of the table.
        labels: Vec<&'t str>,
    },
    /// One register, or `count` of them: `name` followed by 0, 1 and so on.
    Registers {
        /// Type of each.
        ty: Type,
        /// Name, or the beginning of the names.
        name: &'t str,
        /// Number of registers; `None` for one without a number.
        count: Option<u64>,
    },
    /// A variable of this function.
    Variable(Variable<'t>),
    /// An instruction.
    Instruction(Instruction<'t>),
}

/// An instruction with its operands.
#[derive(Debug)]
pub struct Instruction<'t> {
    /// Line where it begins.
    pub line: usize,
    /// Predicate that decides if the instruction runs.
    pub guard: Option<Guard<'t>>,
    /// Opcode with all modifiers.
    pub mnemonic: &'t str,
    /// Operands as written: the destination comes first.
    pub operands: Vec<Operand<'t>>,
}

/// A predicate on which an instruction depends.
#[derive(Debug)]
pub struct Guard<'t> {
    /// Register of the predicate.
    pub register: &'t str,
    /// True if the instruction runs if the predicate is false.
    pub is_negated: bool,
}

/// An operand.
#[derive(Clone, PartialEq, Debug)]
pub enum Operand<'t> {
    /// A register, variable, label or function.
    Name(&'t str),
    /// An integer, in two's complement.
    Integer(u64),
    /// Bits of a float: `0f3F800000`.
    F32(u32),
    /// Bits of a float: `0d3FF0000000000000`.
    F64(u64),
    /// A place in memory: `[base+offset]`.
    Address {
        /// A register, a variable or a number.
        base: Box<Operand<'t>>,
        /// Offset in bytes.
        offset: i64,
    },
    /// `{a, b}`
    Vector(Vec<Operand<'t>>),
    /// `(a, b)`: arguments or results of a call.
    List(Vec<Operand<'t>>),
}
