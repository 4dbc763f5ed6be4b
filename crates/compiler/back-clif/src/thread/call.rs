//! Arguments and results, passed between a thread, the functions that it calls, and its caller.

use super::{BoundParam, Exit, ThreadCode};
use crate::lowered_module::{Import, Printed};
use crate::result::{MAX_PASSED, ResultParts, signature};
use crate::shape::clif_type;
use crate::typed::{LoweredPlace, LoweredValue};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use gbxcule_ir::{Arg, FunctionId, List, Name};

impl ThreadCode<'_, '_> {
    pub(crate) fn bind(&mut self, args: List<Arg>) -> Vec<BoundParam> {
        let args = &self.body().arg_lists[args];
        let bound = args.iter().map(|arg| match *arg {
            Arg::Value(value) => BoundParam::Value(self.val(value)),
            Arg::Place(place) => BoundParam::Place(match self.place(place) {
                LoweredPlace::Value { val: LoweredValue::Memory(address), .. } => {
                    LoweredPlace::Memory { address, offset: 0 }
                }
                loc => loc,
            }),
        });
        bound.collect()
    }

    pub(crate) fn value_or_unit(&self, value: Option<gbxcule_ir::Value>) -> LoweredValue {
        value.map_or_else(|| LoweredValue::Parts([].into()), |value| self.val(value))
    }

    /// Passes a thread's result to its caller in the same function.
    pub(crate) fn pass_result(
        &mut self,
        carried: &ResultParts,
        value: Option<gbxcule_ir::Value>,
        args: &mut Vec<Value>,
    ) {
        let val = self.value_or_unit(value);
        let Exit::Call { slots, .. } = self.frame().exit.clone() else { return };
        let mut slots = slots.into_iter();
        carried.take_apart(&val, &mut |part, value| match part {
            ResultParts::Memory { size, align } => {
                let Some(slot) = slots.next() else { return };
                let to = self.slot_address(slot);
                self.copy(to, value, *size, *align);
            }
            _ => args.push(value),
        });
    }

    pub(crate) fn return_from(
        &mut self,
        carried: &ResultParts,
        val: &LoweredValue,
        results: Option<Value>,
    ) {
        let mut registers = Vec::new();
        if self.cx.plan.of(self.function()).can_fault {
            registers.push(self.b.ins().iconst(types::I32, 0));
        }
        let mut offset = 0;
        carried.take_apart(val, &mut |part, value| match (part, results) {
            (_, None) => registers.push(value),
            (ResultParts::Memory { size, align }, Some(results)) => {
                let to = self.b.ins().iadd_imm_s(results, offset);
                self.copy(to, value, *size, *align);
                offset += size.next_multiple_of(16) as i64;
            }
            (_, Some(results)) => {
                let flags = MemFlagsData::new().with_notrap();
                self.b.ins().store(flags, value, results, offset as i32);
                offset += 8;
            }
        });
        self.b.ins().return_(&registers);
    }

    pub(crate) fn call_out_of_line(
        &mut self,
        id: FunctionId,
        bound: Vec<BoundParam>,
    ) -> LoweredValue {
        let (function, decided) = (&self.cx.module.functions[id], self.cx.plan.of(id));
        let result = ResultParts::new(self.cx, function.result);
        let mut args = vec![self.record()];
        let results = (result.single().is_none() && result.size() > 0).then(|| {
            let slot = self.slot(result.size());
            self.slot_address(slot)
        });
        args.extend(results);
        args.extend(&self.current_lane().coordinates[..usize::from(decided.dims)]);
        for (bound, param) in bound.into_iter().zip(&function.params) {
            match bound {
                BoundParam::Place(loc) => args.push(self.address(&loc)),
                BoundParam::Value(val) if self.cx.flats.of(param.ty).count <= MAX_PASSED => {
                    args.extend(val.leaves());
                }
                BoundParam::Value(val) => args.push(self.in_memory(&val, param.ty)),
            }
        }
        let signature = signature(self.cx, id);
        let position = if decided.is_external {
            self.import_position(Import::External(id))
        } else {
            decided.position.unwrap_or_default()
        };
        let callee = self.function_ref(position, signature);
        let call = self.b.ins().call(callee, &args);
        let mut given: Vec<Value> = self.b.inst_results(call).to_vec();
        if decided.can_fault {
            let status = given.remove(0);
            self.pass_on(status);
        }
        let mut offset = 0;
        result.assemble(&mut |leaf, size| {
            let Some(results) = results else { return given[0] };
            let at = offset;
            offset += size as i64;
            match leaf {
                Some(of) => {
                    let flags = MemFlagsData::new().with_notrap();
                    self.b.ins().load(clif_type(of), flags, results, at as i32)
                }
                None => self.b.ins().iadd_imm_s(results, at),
            }
        })
    }

    /// Prints values. Arguments lie one after the other, each at a multiple of 16 bytes.
    pub(crate) fn print(&mut self, format: Option<Name>, args: List<gbxcule_ir::Value>) {
        let args = &self.body().value_lists[args];
        let printed: Vec<_> = args.iter().map(|&arg| self.ty(arg)).collect();
        let sizes: Vec<u64> = printed
            .iter()
            .map(|&ty| self.cx.module.types.layout(ty).map_or(0, |layout| layout.size))
            .collect();
        let slot = self.slot(sizes.iter().map(|size| size.next_multiple_of(16)).sum());
        let address = self.slot_address(slot);
        let mut offset = 0;
        for ((&arg, &ty), size) in args.iter().zip(&printed).zip(sizes) {
            let val = self.val(arg);
            if size > 0 {
                self.write(&LoweredPlace::Memory { address, offset }, ty, &val);
            }
            offset += size.next_multiple_of(16) as i32;
        }
        self.call_print(Printed { format, types: printed }, address);
    }
}
