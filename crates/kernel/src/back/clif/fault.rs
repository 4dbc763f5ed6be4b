//! What can go wrong while compiled code runs, and the branches that notice.
//!
//! A fault is a return code, never a signal: the failing check jumps to the function's one fault exit
//! with the number of its site and two details.

use super::lowerer::Lowerer;
use super::program::context;
use crate::ir::FunctionId;
use crate::ir::Name;
use crate::source::Span;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value, types};

/// A place in the program where a launch may stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// The function.
    pub function: FunctionId,
    /// Where in the source.
    pub span: Span,
    /// Why.
    pub fault: Fault,
}

/// Why a launch stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// An index outside the extent; both are among the details.
    Index,
    /// An element of an array without memory.
    Absent,
    /// A view beyond its array: first or last index and extent are among the details.
    View,
    /// An integer divided by 0.
    Division,
    /// An `Assert`.
    Assert(Name),
    /// A `Trap`.
    Trap(Name),
}

impl Lowerer<'_, '_> {
    /// Stops the launch if `condition` holds. Details are `i64`.
    pub(super) fn fault_if(&mut self, condition: Value, fault: Fault, details: Option<[Value; 2]>) {
        let (cold, rest) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(condition, cold, &[], rest, &[]);
        self.b.seal_block(rest);
        self.b.seal_block(cold);
        self.b.set_cold_block(cold);
        self.b.switch_to_block(cold);
        self.fault(fault, details);
        self.b.switch_to_block(rest);
    }

    /// Stops the launch. Ends the block.
    pub(super) fn fault(&mut self, fault: Fault, details: Option<[Value; 2]>) {
        let site = self.site(fault);
        self.program.sites.push(site);
        let status = self.b.ins().iconst(types::I32, self.program.sites.len() as i64);
        let [found, limit] = details.unwrap_or_else(|| [self.b.ins().iconst(types::I64, 0); 2]);
        let exit = self.fault_exit();
        self.b.ins().jump(exit, &[status, found, limit].map(BlockArg::Value));
    }

    /// Where the program is: in the innermost function that somebody wrote.
    fn site(&self, fault: Fault) -> Site {
        let (mut function, mut span) = (self.frame().function, self.span);
        for pair in self.frames.windows(2).rev() {
            if span.is_some() {
                break;
            }
            (function, span) = (pair[0].function, pair[1].called_at);
        }
        Site { function, span, fault }
    }

    /// Passes on the status of a call.
    pub(super) fn pass_on(&mut self, status: Value) {
        let exit = *self.status_exit.get_or_insert_with(|| {
            let exit = self.b.create_block();
            self.b.append_block_param(exit, types::I32);
            self.b.set_cold_block(exit);
            exit
        });
        let rest = self.b.create_block();
        self.b.ins().brif(status, exit, &[BlockArg::Value(status)], rest, &[]);
        self.b.seal_block(rest);
        self.b.switch_to_block(rest);
    }

    fn fault_exit(&mut self) -> cranelift_codegen::ir::Block {
        *self.fault_exit.get_or_insert_with(|| {
            let exit = self.b.create_block();
            for ty in [types::I32, types::I64, types::I64] {
                self.b.append_block_param(exit, ty);
            }
            self.b.set_cold_block(exit);
            exit
        })
    }

    /// Fills the exits that were used, at the end of the function.
    pub(super) fn close_exits(&mut self) {
        let flags = MemFlagsData::trusted();
        if let Some(exit) = self.fault_exit {
            self.b.switch_to_block(exit);
            let params: Vec<Value> = self.b.block_params(exit).to_vec();
            self.b.ins().store(flags, params[1], self.context, context::FAULT_FOUND);
            self.b.ins().store(flags, params[2], self.context, context::FAULT_LIMIT);
            self.leave_with(params[0]);
        }
        if let Some(exit) = self.status_exit {
            self.b.switch_to_block(exit);
            let status = self.b.block_params(exit)[0];
            self.leave_with(status);
        }
    }

    fn leave_with(&mut self, status: Value) {
        if let Some(thread) = self.thread {
            let flags = MemFlagsData::trusted();
            self.b.ins().store(flags, thread, self.context, context::FAULT_THREAD);
        }
        let mut results = vec![status];
        if let Some(ty) = self.register_result {
            results.push(self.zero_of(ty));
        }
        self.b.ins().return_(&results);
    }

    /// Whether an unsigned `i64` is below another, the wrong way round: a fault.
    pub(super) fn at_or_above(&mut self, index: Value, limit: Value) -> Value {
        self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, limit)
    }
}
