//! A module: the functions, types and tables of one compilation.

use super::arena::Arena;
use super::builtin::Instance;
use super::constant::{Table, TableId};
use super::function::{Body, Function, FunctionId, FunctionKind, Inline, Name, Param, Residency};
use super::ty::{Type, Types};
use crate::source::Span;
use rustc_hash::FxHashMap;

/// Types, tables, functions and kernels.
///
/// Front ends build a module, and `check` makes a `Valid<Module>` of it. Functions may be declared
/// in any order and call each other before they have bodies, but not in a circle.
#[derive(Clone, Default, Debug)]
pub struct Module {
    /// Name, which the emitted text gets.
    pub name: String,
    /// All types.
    pub types: Types,
    /// Constant tables.
    pub tables: Arena<Table>,
    /// Functions and kernels, in order of declaration.
    pub functions: Arena<Function>,
    names: Arena<Box<str>>,
    name_index: FxHashMap<Box<str>, Name>,
    instances: FxHashMap<(Instance, Box<[Type]>), FunctionId>,
}

impl Module {
    /// Makes an empty module.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a string to the string table.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(&name) = self.name_index.get(text) {
            return name;
        }
        let name = self.names.push(text.into());
        self.name_index.insert(text.into(), name);
        name
    }

    /// Returns a string of the string table.
    pub fn text(&self, name: Name) -> &str {
        &self.names[name]
    }

    /// Returns true if the string table has this name.
    pub fn has_name(&self, name: Name) -> bool {
        self.names.get(name).is_some()
    }

    /// Returns the string table.
    pub fn names(&self) -> &Arena<Box<str>> {
        &self.names
    }

    /// Adds a constant table.
    pub fn add_table(&mut self, table: Table) -> TableId {
        self.tables.push(table)
    }

    /// Adds a function with an empty body; see [`super::build::Builder`] for filling it.
    pub fn declare(
        &mut self,
        name: impl Into<String>,
        params: Vec<Param>,
        result: Type,
    ) -> FunctionId {
        self.functions.push(Function {
            name: name.into(),
            kind: FunctionKind::Callable,
            params,
            result,
            body: Body::default(),
            inline: Inline::Auto,
            instance: None,
            adjoint: None,
            replay: None,
            disjoint: Vec::new(),
            trusted: false,
            residency: Residency::Free,
            diverges: false,
            span: Span::NONE,
        })
    }

    /// Adds a kernel with an empty body.
    pub fn declare_kernel(&mut self, name: impl Into<String>, params: Vec<Param>) -> FunctionId {
        let id = self.declare(name, params, Type::UNIT);
        self.functions[id].kind = FunctionKind::Kernel;
        id
    }

    /// All kernels.
    pub fn kernels(&self) -> impl Iterator<Item = (FunctionId, &Function)> {
        self.functions.iter().filter(|(_, function)| function.kind == FunctionKind::Kernel)
    }

    /// Returns the first function or kernel with this name.
    pub fn find(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().find(|(_, function)| function.name == name).map(|(id, _)| id)
    }

    /// Returns the function that was made from a builtin's signature for these argument types.
    pub(super) fn instance(&self, key: &(Instance, Box<[Type]>)) -> Option<FunctionId> {
        self.instances.get(key).copied()
    }

    /// Records a function that was made from a builtin's signature.
    pub(super) fn add_instance(&mut self, key: (Instance, Box<[Type]>), function: FunctionId) {
        self.functions[function].instance = Some(key.0);
        self.instances.insert(key, function);
    }
}
