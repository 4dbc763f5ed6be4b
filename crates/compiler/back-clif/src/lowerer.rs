//! The highest layer: statements, calls and the loop over threads become a graph of blocks.
//!
//! A function lowered in place at a call is a frame on top of its caller's. The work that remains
//! is a stack of [`LoweringTask`]s, so that no input makes this recurse deeply.

mod call;
mod control;
mod entry;

use crate::code::{Context, ScalarCode};
use crate::group::GroupCode;
use crate::lowered_module::LoweredModule;
use crate::result::{ResultParts, signature};
use crate::thread::ThreadCode;
use crate::typed::TypedCode;
use crate::unused::remove_unused_loads;
use control::LoweringTask;
use cranelift_codegen::ir::{self, UserFuncName};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use gbxcule_ir::{FunctionId, FunctionKind};
use std::ops::{Deref, DerefMut};

/// Lowering of one function.
struct Lowerer<'a, 'f> {
    group: GroupCode<'a, 'f>,
    todo: Vec<LoweringTask<'a>>,
}

impl<'a, 'f> Deref for Lowerer<'a, 'f> {
    type Target = GroupCode<'a, 'f>;

    fn deref(&self) -> &Self::Target {
        &self.group
    }
}

impl DerefMut for Lowerer<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.group
    }
}

/// Lowers a function that is called out of line, or a kernel.
pub(crate) fn lower(
    cx: Context<'_>,
    program: &mut LoweredModule,
    buffers: &mut FunctionBuilderContext,
    id: FunctionId,
) -> ir::Function {
    let position = cx.plan.of(id).position.unwrap_or_default();
    let is_kernel = cx.module.functions[id].kind == FunctionKind::Kernel;
    let (signature, register_result) = if is_kernel {
        (entry::signature(cx.options), None)
    } else {
        let result = ResultParts::new(cx, cx.module.functions[id].result);
        (signature(cx, id), result.single())
    };
    let name = UserFuncName::user(0, position as u32);
    let mut ir = ir::Function::with_name_signature(name, signature);
    let code =
        ScalarCode::new(cx, program, FunctionBuilder::new(&mut ir, buffers), register_result);
    let group = GroupCode::new(ThreadCode::new(TypedCode::new(code)));
    let mut lowerer = Lowerer { group, todo: Vec::new() };
    if is_kernel {
        lowerer.kernel(id);
    } else {
        lowerer.callable(id);
    }
    lowerer.group.into_threads().into_typed().into_code().finish();
    remove_unused_loads(&mut ir);
    ir
}
