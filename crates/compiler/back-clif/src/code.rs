//! The lowest layer: writes one Cranelift function, and declares the functions and tables that it
//! refers to.
//!
//! This layer knows scalars, addresses and faults, but no values of the IR.

mod arithmetic;
mod atomic;
mod convert;
mod division;
mod fault;
mod half;
mod native;
mod sine;
mod slot;

pub use fault::Site;

pub(crate) use arithmetic::{compare, float_code, int_code, literal, unary, upper_limit, zero_of};
pub(crate) use convert::{bitcast, convert, index_to_i64};
pub(crate) use division::constant;
pub(crate) use sine::{MAX_REDUCED, near_sine};
pub(crate) use slot::{Chunks, load_scalar};

use crate::Options;
use crate::lowered_module::{Import, LoweredModule, Printed};
use crate::plan::Plan;
use crate::shape::{Flats, clif_type};
use cranelift_codegen::ir::{
    self, AbiParam, ExtFuncData, ExternalName, FuncRef, GlobalValueData, InstBuilder, Signature,
    UserExternalName, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use fault::Faults;
use gbxcule_ir::check::Valid;
use gbxcule_ir::{Module, Scalar, TableId};
use std::collections::HashMap;

/// Decisions made before the lowering of functions begins.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) module: &'a Valid<Module>,
    pub(crate) plan: &'a Plan,
    pub(crate) flats: &'a Flats<'a>,
    pub(crate) options: Options,
}

/// Function that is being written.
pub(crate) struct ScalarCode<'a, 'f> {
    pub(crate) b: FunctionBuilder<'f>,
    pub(crate) cx: Context<'a>,
    program: &'a mut LoweredModule,
    faults: Faults,
    functions: HashMap<u32, FuncRef>,
    tables: HashMap<TableId, ir::GlobalValue>,
}

impl<'a, 'f> ScalarCode<'a, 'f> {
    /// Begins a function. A function out of line may return a scalar in a register.
    pub(crate) fn new(
        cx: Context<'a>,
        program: &'a mut LoweredModule,
        b: FunctionBuilder<'f>,
        register_result: Option<Scalar>,
    ) -> Self {
        let faults = Faults::new(register_result);
        Self { b, cx, program, faults, functions: HashMap::new(), tables: HashMap::new() }
    }

    /// Ends the function.
    pub(crate) fn finish(mut self) {
        self.close_exits();
        self.b.seal_all_blocks();
        self.b.finalize(self.cx.options.target);
    }

    /// Calls the runtime to print arguments that lie at an address.
    pub(crate) fn call_print(&mut self, printed: Printed, address: Value) {
        self.program.facts.prints.push(printed);
        let print = self.b.ins().iconst(types::I32, self.program.facts.prints.len() as i64 - 1);
        let record = self.record();
        self.call_import(Import::Print, &[record, print, address]);
    }

    /// Calls a function of the runtime, and returns its scalar result.
    pub(crate) fn imported(&mut self, import: Import, args: &[Value]) -> Value {
        let result = self.call_import(import, args);
        result.unwrap_or_else(|| unreachable!("natives and remainders give a result"))
    }

    /// Returns the number of an import. Imports are numbered after the program's own functions.
    pub(crate) fn import_position(&mut self, import: Import) -> usize {
        self.cx.plan.emitted().len() + self.program.import(import)
    }

    /// Calls a function of the runtime; returns its result, if it has one.
    pub(crate) fn call_import(&mut self, import: Import, args: &[Value]) -> Option<Value> {
        let position = self.import_position(import);
        let mut signature = Signature::new(self.cx.options.target.default_call_conv);
        let params = args.iter().map(|&arg| AbiParam::new(self.b.func.dfg.value_type(arg)));
        signature.params.extend(params);
        if let Import::Native(_, of) | Import::Remainder(of) = import {
            signature.returns.push(AbiParam::new(clif_type(of)));
        }
        let callee = self.function_ref(position, signature);
        let call = self.b.ins().call(callee, args);
        self.b.inst_results(call).first().copied()
    }

    /// Declares a function of the program by its position in [`crate::plan::Plan::emitted`], or an
    /// import.
    pub(crate) fn function_ref(&mut self, position: usize, signature: Signature) -> FuncRef {
        let position = position as u32;
        if let Some(&known) = self.functions.get(&position) {
            return known;
        }
        let name = UserExternalName { namespace: 0, index: position };
        let name = ExternalName::user(self.b.func.declare_imported_user_function(name));
        let signature = self.b.import_signature(signature);
        let data = ExtFuncData { name, signature, colocated: false, patchable: false };
        let reference = self.b.import_function(data);
        self.functions.insert(position, reference);
        reference
    }

    /// Returns the address of a constant table.
    pub(crate) fn table_address(&mut self, table: TableId) -> Value {
        let global = match self.tables.get(&table) {
            Some(&global) => global,
            None => {
                let index = self.program.table(table) as u32;
                let name = UserExternalName { namespace: 1, index };
                let name = ExternalName::user(self.b.func.declare_imported_user_function(name));
                let data = GlobalValueData::Symbol {
                    name,
                    offset: 0.into(),
                    colocated: false,
                    tls: false,
                };
                let global = self.b.create_global_value(data);
                self.tables.insert(table, global);
                global
            }
        };
        self.b.ins().symbol_value(types::I64, global)
    }
}
