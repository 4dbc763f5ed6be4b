//! Result of lowering: functions, and all items outside to which they refer.
//!
//! External names: namespace 0 is code (first [`LoweredModule::functions`], then
//! [`LoweredModule::imports`], by position), namespace 1 is data ([`LoweredModule::tables`], by
//! position).

use super::access::ParamArray;
use super::code::Site;
use cranelift_codegen::ir;
use gbxcule_ir::builtin::Native;
use gbxcule_ir::{FunctionId, Name, Scalar, TableId, Type};

/// A lowered module.
#[derive(Default, Debug)]
pub struct LoweredModule {
    /// Kernels, and functions that are called out of line.
    pub functions: Vec<Emitted>,
    /// Functions of the runtime, and of the caller.
    pub imports: Vec<Import>,
    /// Constant tables.
    pub tables: Vec<TableId>,
    /// Facts that launches of the compiled functions need.
    pub facts: LaunchFacts,
}

/// Facts about a lowered module that launches need beside its machine code.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LaunchFacts {
    /// Faults that can happen, and their locations.
    pub sites: Vec<Site>,
    /// Print statements.
    pub prints: Vec<Printed>,
    /// The kernels.
    pub entries: Vec<Entry>,
}

/// One lowered function.
#[derive(Debug)]
pub struct Emitted {
    /// Function of the module.
    pub function: FunctionId,
    /// Lowered function.
    pub ir: ir::Function,
}

/// Function outside the module's code that compiled code calls, in the C calling convention.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Import {
    /// A native builtin on `f32` or `f64`.
    Native(Native, Scalar),
    /// C's `fmod` on `f32` or `f64`.
    Remainder(Scalar),
    /// `fn(record, print: i32, arguments)`: see [`Printed`].
    Print,
    /// A function that the caller defines: see [`super::Boundary`].
    External(FunctionId),
}

/// A print statement. Its arguments lie one after the other, each at a multiple of 16 bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    /// C's format, if there is one.
    pub format: Option<Name>,
    /// Types of the arguments.
    pub types: Vec<Type>,
}

/// Kernel among the functions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The kernel.
    pub kernel: FunctionId,
    /// Position in [`LoweredModule::functions`].
    pub position: usize,
    /// Number of leading dimensions of the grid that the function asks for: a range counts the
    /// threads of these dimensions, row by row. With 0 a range counts all threads.
    pub dims: u8,
    /// Approximate number of operations of a thread; huge if there are loops.
    pub work: u64,
    /// Bytes of stack that the variables of the kernel and its callees take.
    pub stack_bytes: u64,
    /// Arrays in which threads touch only their own elements, if no two elements share memory with
    /// each other or with another array. See [`super::Sharing`].
    pub exclusive: std::sync::Arc<[ParamArray]>,
    /// Requirements on the arrays of a launch whose threads may run side by side in groups. If an
    /// array breaks them, threads must run in order
    /// ([`RangeRecord::in_order`](gbxcule_ir::abi::RangeRecord)). `None` if threads always run in
    /// order.
    pub order: Option<std::sync::Arc<super::order::GroupOrder>>,
}

impl LoweredModule {
    /// Returns the position of an exported function in [`LoweredModule::functions`].
    pub fn position(&self, export: FunctionId) -> Option<usize> {
        self.functions.iter().position(|emitted| emitted.function == export)
    }

    /// Returns the position of an import, which is added if it is new.
    pub(super) fn import(&mut self, import: Import) -> usize {
        position_of(&mut self.imports, import)
    }

    /// Returns the position of a table, which is added if it is new.
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
