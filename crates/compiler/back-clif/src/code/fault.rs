//! Faults of compiled code while it runs, and the branches that notice them.
//!
//! A fault is a return code, never a signal: the failing check jumps to the function's one fault
//! exit with the number of its site and two details.

use super::ScalarCode;
use super::arithmetic::zero_of;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{
    Block, BlockArg, InstBuilder, InstructionData, MemFlagsData, Value, types,
};
use gbxcule_ir::abi::{Cause, FaultKind, RangeRecord};
use gbxcule_ir::source::Span;
use gbxcule_ir::{FunctionId, Scalar};
use std::mem::offset_of;

/// Place in the program at which a launch may stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// Function.
    pub function: FunctionId,
    /// Place in the source.
    pub span: Span,
    /// Reason for which the launch may stop.
    pub cause: Cause,
}

/// The function's one fault exit, and the place in the program to which the current code belongs.
pub(super) struct Faults {
    record: Value,
    /// Scalar that a function out of line returns in a register.
    register_result: Option<Scalar>,
    fault_exit: Option<Block>,
    status_exit: Option<Block>,
    /// Nested calls in which the code lies, the function's own first.
    calls: Vec<InlineCall>,
    span: Span,
    /// Number of the thread, in a kernel.
    thread: Option<Value>,
}

/// Function that is lowered in place, or by itself.
struct InlineCall {
    function: FunctionId,
    called_at: Span,
    is_checked: bool,
}

impl Faults {
    pub(super) fn new(register_result: Option<Scalar>) -> Self {
        Self {
            record: Value::from_u32(0),
            register_result,
            fault_exit: None,
            status_exit: None,
            calls: Vec::new(),
            span: Span::NONE,
            thread: None,
        }
    }

    fn call(&self) -> &InlineCall {
        self.calls.last().unwrap_or_else(|| unreachable!("code belongs to a function"))
    }
}

impl ScalarCode<'_, '_> {
    /// Returns the pointer to the record of the launch.
    pub(crate) fn record(&self) -> Value {
        self.faults.record
    }

    pub(crate) fn set_record(&mut self, record: Value) {
        self.faults.record = record;
    }

    /// Begins the code of a function that is called at the current place.
    pub(crate) fn enter_call(&mut self, function: FunctionId) {
        let is_checked = self.cx.options.checks.of(&self.cx.module.functions[function]);
        self.faults.calls.push(InlineCall { function, called_at: self.faults.span, is_checked });
    }

    pub(crate) fn leave_call(&mut self) {
        self.faults.calls.pop();
    }

    /// Sets the place in the source to which the following code belongs.
    pub(crate) fn set_span(&mut self, span: Span) {
        self.faults.span = span;
    }

    /// Sets the thread to which the following code belongs.
    pub(crate) fn set_thread(&mut self, thread: Option<Value>) {
        self.faults.thread = thread;
    }

    /// Returns the function to which the current code belongs.
    pub(crate) fn function(&self) -> FunctionId {
        self.faults.call().function
    }

    /// Returns true if the current function is checked.
    pub(crate) fn is_checked(&self) -> bool {
        self.faults.call().is_checked
    }

    /// Stops the launch if `condition` holds. The two details are `i64`.
    pub(crate) fn fault_if(&mut self, condition: Value, cause: Cause, details: Option<[Value; 2]>) {
        let (cold, continuation) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(condition, cold, &[], continuation, &[]);
        self.b.seal_block(continuation);
        self.b.seal_block(cold);
        self.b.set_cold_block(cold);
        self.b.switch_to_block(cold);
        self.fault(cause, details);
        self.b.switch_to_block(continuation);
    }

    /// Branches to `inside` if a condition holds, else to `out`, which lies behind a loop.
    ///
    /// The optimiser moves nothing out of a loop any more once it met a block behind the loop. It
    /// meets the second target of a branch before the first one, so the first target always leaves
    /// the loop.
    pub(crate) fn leave_unless(&mut self, condition: Value, out: Block, inside: Block) {
        let dfg = &self.b.func.dfg;
        let compare = dfg.value_def(condition).inst().map(|inst| dfg.insts[inst]);
        let fails = match compare {
            Some(InstructionData::FloatCompare { cond, args: [x, y], .. }) => {
                self.b.ins().fcmp(cond.complement(), x, y)
            }
            _ => self.b.ins().icmp_imm_s(IntCC::Equal, condition, 0),
        };
        self.b.ins().brif(fails, out, &[], inside, &[]);
    }

    /// Stops the launch if it was given up meanwhile. Loops of unknown length, and loops around
    /// loops, contain this test; an innermost `For` goes without it, because it ends soon.
    pub(crate) fn stop_if_asked(&mut self) {
        if !self.is_checked() {
            return;
        }
        // The pointer never changes, so that its load moves out of loops; the byte is written by
        // another thread.
        let flags = MemFlagsData::trusted();
        let fixed = flags.with_readonly().with_can_move();
        let stop = offset_of!(RangeRecord, stop) as i32;
        let place = self.b.ins().load(types::I64, fixed, self.faults.record, stop);
        let asked = self.b.ins().atomic_load(types::I8, flags, place);
        self.fault_if(asked, FaultKind::Stopped.into(), None);
    }

    /// Stops the launch. Ends the block.
    pub(crate) fn fault(&mut self, cause: Cause, details: Option<[Value; 2]>) {
        let site = self.site(cause);
        self.program.facts.sites.push(site);
        let status = self.b.ins().iconst(types::I32, self.program.facts.sites.len() as i64);
        let [found, limit] = details.unwrap_or_else(|| [self.b.ins().iconst(types::I64, 0); 2]);
        let exit = self.fault_exit();
        let details = [status, found, limit].into_iter().chain(self.faults.thread);
        let details: Vec<BlockArg> = details.map(BlockArg::Value).collect();
        self.b.ins().jump(exit, &details);
    }

    /// Returns the present place in the innermost function of the user's text.
    fn site(&self, cause: Cause) -> Site {
        let (mut function, mut span) = (self.function(), self.faults.span);
        for pair in self.faults.calls.windows(2).rev() {
            if span.is_some() || self.cx.module.functions[function].instance.is_none() {
                break;
            }
            (function, span) = (pair[0].function, pair[1].called_at);
        }
        Site { function, span, cause }
    }

    /// Returns from the function if a call returned a fault.
    pub(crate) fn pass_on(&mut self, status: Value) {
        let thread = self.faults.thread;
        let exit = *self.faults.status_exit.get_or_insert_with(|| {
            let exit = self.b.create_block();
            self.b.append_block_param(exit, types::I32);
            thread.into_iter().for_each(|_| _ = self.b.append_block_param(exit, types::I64));
            self.b.set_cold_block(exit);
            exit
        });
        let ok = self.b.create_block();
        let args: Vec<BlockArg> = [status].into_iter().chain(thread).map(BlockArg::Value).collect();
        self.b.ins().brif(status, exit, &args, ok, &[]);
        self.b.seal_block(ok);
        self.b.switch_to_block(ok);
    }

    fn fault_exit(&mut self) -> Block {
        let thread = self.faults.thread.map(|_| types::I64);
        *self.faults.fault_exit.get_or_insert_with(|| {
            let exit = self.b.create_block();
            for ty in [types::I32, types::I64, types::I64].into_iter().chain(thread) {
                self.b.append_block_param(exit, ty);
            }
            self.b.set_cold_block(exit);
            exit
        })
    }

    /// Writes the exits that were used, at the end of the function.
    pub(crate) fn close_exits(&mut self) {
        let flags = MemFlagsData::trusted();
        if let Some(exit) = self.faults.fault_exit {
            self.b.switch_to_block(exit);
            let params: Vec<Value> = self.b.block_params(exit).to_vec();
            self.b.ins().store(
                flags,
                params[1],
                self.faults.record,
                offset_of!(RangeRecord, fault_found) as i32,
            );
            self.b.ins().store(
                flags,
                params[2],
                self.faults.record,
                offset_of!(RangeRecord, fault_limit) as i32,
            );
            self.leave_with(params[0], params.get(3).copied());
        }
        if let Some(exit) = self.faults.status_exit {
            self.b.switch_to_block(exit);
            let params: Vec<Value> = self.b.block_params(exit).to_vec();
            self.leave_with(params[0], params.get(1).copied());
        }
    }

    fn leave_with(&mut self, status: Value, thread: Option<Value>) {
        if let Some(thread) = thread {
            let flags = MemFlagsData::trusted();
            self.b.ins().store(
                flags,
                thread,
                self.faults.record,
                offset_of!(RangeRecord, fault_thread) as i32,
            );
        }
        let mut results = vec![status];
        if let Some(ty) = self.faults.register_result {
            results.push(zero_of(&mut self.b, ty));
        }
        self.b.ins().return_(&results);
    }

    /// Computes the condition that an unsigned `i64` is not below another, which means a fault.
    pub(crate) fn at_or_above(&mut self, index: Value, limit: Value) -> Value {
        self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, limit)
    }
}
