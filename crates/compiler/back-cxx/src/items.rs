//! Items of a text: the functions, types and tables that it needs, and their names.

use super::live::Faults;
use super::name::Names;
use super::plain::{self, PlainOptions};
use super::ty::Spelling;
use super::{Dialect, Options};
use gbxcule_ir::arena::Handle;
use gbxcule_ir::check::Valid;
use gbxcule_ir::constant::TableId;
use gbxcule_ir::function::{FunctionId, FunctionKind};
use gbxcule_ir::module::Module;
use gbxcule_ir::place::Root;
use gbxcule_ir::ty::{Scalar, Type};
use std::cell::Cell;

/// Names and facts that all functions of a text share.
pub(super) struct Items<'a> {
    pub(super) module: &'a Valid<Module>,
    pub(super) options: &'a Options<'a>,
    pub(super) spelling: Spelling,
    pub(super) faults: Faults,
    /// Options of a text without the header.
    pub(super) plain: Option<PlainOptions<'a>>,
    /// True if a text without the header can't express a part of the kernel.
    is_refused: Cell<bool>,
    /// Names by position; empty for items that the text doesn't need.
    functions: Vec<String>,
    tables: Vec<String>,
}

impl<'a> Items<'a> {
    pub(super) fn new(
        module: &'a Valid<Module>,
        options: &'a Options<'a>,
        plain: Option<PlainOptions<'a>>,
        names: &mut Names,
    ) -> Self {
        let mut needed = needed_functions(module, options, plain.as_ref());
        let (types, tables) = needed_items(module, &needed);
        if plain.is_some() {
            // Calls of these functions are operators.
            let is_operator = |id| plain::operator(module, id).is_some();
            module.functions.iter().for_each(|(id, _)| needed[id.index()] &= !is_operator(id));
        }
        // Kernels come first, so that their names stay unchanged.
        let mut functions = vec![String::new(); module.functions.len()];
        let all = || module.functions.iter().filter(|(id, _)| needed[id.index()]);
        for (id, kernel) in all().filter(|(_, function)| function.kind == FunctionKind::Kernel) {
            functions[id.index()] = names.symbol(&kernel.name);
        }
        let spelling = Spelling::new(module, types, names, plain.is_some());
        let tables = module.tables.iter().map(|(id, table)| {
            let is_needed = tables[Handle::index(id)];
            if is_needed { names.global(&table.name) } else { String::new() }
        });
        let tables = tables.collect();
        for (id, callable) in all().filter(|(_, function)| function.kind == FunctionKind::Callable)
        {
            let name = &callable.name;
            functions[id.index()] =
                if plain.is_some() { names.device_function(name) } else { names.global(name) };
        }
        let faults = Faults::new(module, options.checks);
        let is_refused = Cell::new(false);
        Self { module, options, spelling, faults, plain, is_refused, functions, tables }
    }

    pub(super) fn is_cuda(&self) -> bool {
        self.options.dialect == Dialect::Cuda
    }

    /// Returns true for a text without the header.
    pub(super) fn is_plain(&self) -> bool {
        self.plain.is_some()
    }

    /// Records that a text without the header can't express the kernel.
    pub(super) fn refuse(&self) {
        self.is_refused.set(true);
    }

    pub(super) fn is_refused(&self) -> bool {
        self.is_refused.get()
    }

    /// Returns true for a function that the text has.
    pub(super) fn needs(&self, id: FunctionId) -> bool {
        !self.function(id).is_empty()
    }

    /// Returns the name of a function.
    pub(super) fn function(&self, id: FunctionId) -> &str {
        &self.functions[id.index()]
    }

    /// Returns the name of a table.
    pub(super) fn table(&self, id: TableId) -> &str {
        &self.tables[Handle::index(id)]
    }

    /// Returns the name of a type.
    pub(super) fn ty(&self, ty: Type) -> &str {
        let name = self.spelling.of(ty);
        if name.is_empty() {
            self.refuse();
        }
        name
    }
}

fn needed_functions(
    module: &Valid<Module>,
    options: &Options<'_>,
    plain: Option<&PlainOptions<'_>>,
) -> Vec<bool> {
    let kernels: Vec<FunctionId> = match (plain, options.kernel) {
        (Some(plain), _) => plain.kernels.iter().map(|(kernel, _)| *kernel).collect(),
        (None, Some(kernel)) => vec![kernel],
        (None, None) => return vec![true; module.functions.len()],
    };
    let mut needed = vec![false; module.functions.len()];
    kernels.iter().for_each(|kernel| needed[kernel.index()] = true);
    for &id in module.call_order().iter().rev() {
        if needed[id.index()] {
            module.facts(id).callees.iter().for_each(|callee| needed[callee.index()] = true);
        }
    }
    needed
}

/// Marks the types and tables that functions mention.
fn needed_items(module: &Valid<Module>, needed: &[bool]) -> (Vec<bool>, Vec<bool>) {
    let mut types = vec![false; module.types.shapes().len()];
    let mut tables = vec![false; module.tables.len()];
    Scalar::ALL.into_iter().for_each(|of| types[Type::scalar(of).index()] = true);
    for (id, function) in module.functions.iter() {
        if !needed[id.index()] {
            continue;
        }
        let body = &function.body;
        // Values that are never reached may have any type.
        let mut need = |ty: Type| {
            if ty != Type::INVALID
                && let Some(type_needed) = types.get_mut(ty.index())
            {
                *type_needed = true;
            }
        };
        need(function.result);
        function.params.iter().for_each(|param| need(param.ty));
        body.locals.iter().for_each(|(_, local)| need(local.ty));
        body.values.iter().for_each(|(_, data)| need(data.ty));
        for (_, place) in body.places.iter() {
            if let Root::Table(id) = place.root
                && let Some(table) = module.tables.get(id)
            {
                tables[Handle::index(id)] = true;
                need(table.ty);
            }
        }
    }
    (types, tables)
}
