//! State that the functions of a module share while they are lowered, and the beginning of each.

use super::control::Statements;
use super::manual_gradient::ManualGradient;
use super::operand::Binding;
use super::report::Report;
use super::snippet;
use super::struct_type::StructTypes;
use super::user_function::Instances;
use super::writer::Writer;
use gbxcule_ir::function::{FunctionId, Param};
use gbxcule_ir::module::Module;
use gbxcule_ir::ty::Type;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::StmtFunctionDef;
use gbxcule_warp_types::decorator::{self, Role};
use gbxcule_warp_types::kernel_option;
use gbxcule_warp_types::signature::Formal;
use gbxcule_warp_types::unit::Unit;
use rustc_hash::FxHashMap;

/// Structs and functions made so far, and the faults of the kernel that is lowered.
#[derive(Clone)]
pub(crate) struct Session<'a> {
    pub(crate) structs: StructTypes,
    pub(crate) report: Report,
    pub(super) instances: Instances<'a>,
    /// True if gradients by hand are lowered too.
    pub(super) gradients: bool,
    /// The derivative of each function of which `wp.grad` was called.
    pub(super) derivatives: FxHashMap<FunctionId, FunctionId>,
}

/// A function to lower, and the bindings of its parameters.
pub(crate) struct Definition<'f, 'a> {
    pub(crate) def: &'a StmtFunctionDef,
    /// The scope that holds the definition.
    pub(crate) scope: ScopeId,
    pub(crate) formals: &'f [Formal<'a>],
    pub(crate) bindings: Vec<Binding<'a>>,
    pub(crate) kind: Kind<'a>,
}

/// Kind of a function.
pub(crate) enum Kind<'a> {
    Kernel,
    Function,
    /// A gradient by hand.
    Gradient(ManualGradient<'a>),
}

impl<'a> Session<'a> {
    pub(crate) fn new(unit: &Unit<'a>, gradients: bool) -> Self {
        Self {
            structs: StructTypes::default(),
            report: Report::new(unit.dialect.trials.is_brief()),
            instances: Instances::default(),
            gradients,
            derivatives: FxHashMap::default(),
        }
    }

    /// Begins the report of the next kernel.
    pub(crate) fn begin_kernel(&mut self, unit: &Unit<'a>) {
        self.report = Report::new(unit.dialect.trials.is_brief());
    }

    /// Lowers a kernel for parameters of given types. Its faults lie in `report` afterwards.
    pub(crate) fn kernel(
        &mut self,
        unit: &Unit<'a>,
        module: &mut Module,
        (def, scope): (&'a StmtFunctionDef, ScopeId),
        formals: &[Formal<'a>],
        types: &[Type],
    ) {
        let params = formals
            .iter()
            .zip(types)
            .map(|(formal, &ty)| Param::value(formal.name, ty).at(formal.span));
        let id = module.declare_kernel(def.name.as_str(), params.collect());
        module.functions[id].span = unit.span(&def.name);
        match kernel_option::residency(unit, def, scope) {
            Ok(residency) => module.functions[id].residency = residency,
            Err(fault) => self.report.push(*fault),
        }
        let bindings = (0..formals.len()).map(|position| Binding::Param(position as u32)).collect();
        let definition = Definition { def, scope, formals, bindings, kind: Kind::Kernel };
        self.body(unit, module, id, definition);
    }

    /// Fills a declared function; returns true if nothing was refused.
    pub(crate) fn body(
        &mut self,
        unit: &Unit<'a>,
        module: &mut Module,
        id: FunctionId,
        definition: Definition<'_, 'a>,
    ) -> bool {
        let before = self.report.faults().len();
        if decorator::role(unit, definition.def, definition.scope) == Role::Native {
            if let Err(fault) = snippet::lower(unit, self, module, id, &definition) {
                self.report.push(*fault);
            }
        } else {
            Statements::lower(Writer::new(unit, self, module, id), definition);
        }
        self.report.faults().len() == before
    }
}
