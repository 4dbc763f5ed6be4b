//! What lowering gives: functions, and everything outside them that they refer to.
//!
//! External names: namespace 0 is code (first [`Program::functions`], then [`Program::imports`], by
//! position), namespace 1 is data ([`Program::tables`], by position).

use super::fault::Site;
use super::own::Owned;
use crate::ir::builtin::Native;
use crate::ir::{FunctionId, Name, Scalar, TableId, Type};
use cranelift_codegen::ir;

/// Byte offsets in the record that all code gets a pointer to: one for each range that runs.
pub mod context {
    /// `i64`: what the fault is about, such as the index.
    pub const FAULT_FOUND: i32 = 0;
    /// `i64`: what was allowed, such as the extent.
    pub const FAULT_LIMIT: i32 = 8;
    /// `i64`: the thread that faulted, counted row-major.
    pub const FAULT_THREAD: i32 = 16;
    /// Four `i64`: the extents of the grid in the dimensions the kernel asks for, 1 beyond the grid's.
    pub const GRID: i32 = 24;
    /// How many dimensions a grid has at most.
    pub const DIMS: usize = 4;
    /// Size of the part that compiled code knows.
    pub const SIZE: usize = 56;
}

/// A lowered module.
#[derive(Default, Debug)]
pub struct Program {
    /// Kernels and functions that are called out of line.
    pub functions: Vec<Emitted>,
    /// Functions of the runtime.
    pub imports: Vec<Import>,
    /// Constant tables.
    pub tables: Vec<TableId>,
    /// What can go wrong, where.
    pub sites: Vec<Site>,
    /// Print statements.
    pub prints: Vec<Printed>,
    /// The kernels.
    pub entries: Vec<Entry>,
}

/// One lowered function.
#[derive(Debug)]
pub struct Emitted {
    /// What it was.
    pub function: FunctionId,
    /// What it became.
    pub ir: ir::Function,
}

/// A function of the runtime that compiled code calls, all in the C calling convention.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Import {
    /// A native builtin on `f32` or `f64`.
    Native(Native, Scalar),
    /// C's `fmod` on `f32` or `f64`.
    Remainder(Scalar),
    /// `fn(context, print: i32, arguments)`: see [`Printed`].
    Print,
}

/// A print statement. Its arguments lie one after the other, each at a multiple of 16 bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    /// C's format, if there is one.
    pub format: Option<Name>,
    /// Types of the arguments.
    pub types: Vec<Type>,
}

/// A kernel among the functions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The kernel.
    pub kernel: FunctionId,
    /// Its position in [`Program::functions`].
    pub position: usize,
    /// How many leading dimensions of the grid it asks for: a range counts the threads of these, row
    /// by row. 0: it doesn't ask, and a range counts all threads.
    pub dims: u8,
    /// Operations of a thread, about; huge if there are loops.
    pub work: u64,
    /// Bytes of stack that it and its callees take for variables.
    pub stack_bytes: u64,
    /// Arrays of which threads touch their own elements only, if no two elements share memory, and none does with
    /// anything else. See [`super::Sharing`].
    pub owned: std::sync::Arc<[Owned]>,
}

impl Program {
    /// The position of an import, which is added if it is new.
    pub(super) fn import(&mut self, import: Import) -> usize {
        position_of(&mut self.imports, import)
    }

    /// The position of a table, which is added if it is new.
    pub(super) fn table(&mut self, table: TableId) -> usize {
        position_of(&mut self.tables, table)
    }
}

fn position_of<T: PartialEq>(items: &mut Vec<T>, item: T) -> usize {
    items.iter().position(|known| *known == item).unwrap_or_else(|| {
        items.push(item);
        items.len() - 1
    })
}
