//! Joins paths: a value that differs between the paths goes through a variable.

use super::{PartialValue, Specialiser, State, Unsupported};
use gbxcule_ir::op::Op;
use gbxcule_ir::stmt::StmtKind;

/// Part of a state that may differ from path to path.
#[derive(Clone, Copy)]
enum Slot {
    Register(usize),
    Local { frame: usize, local: usize },
    Result,
}

impl State {
    fn slot(&self, slot: Slot) -> Option<PartialValue> {
        match slot {
            Slot::Register(at) => Some(self.registers[at]),
            Slot::Local { frame, local } => self.frames[frame].locals[local],
            Slot::Result => match self.result {
                Some(super::PassedValue::Scalar(partial)) => Some(partial),
                _ => None,
            },
        }
    }

    fn set(&mut self, slot: Slot, partial: PartialValue) {
        match slot {
            Slot::Register(at) => self.registers[at] = partial,
            Slot::Local { frame, local } => self.frames[frame].locals[local] = Some(partial),
            Slot::Result => self.result = Some(super::PassedValue::Scalar(partial)),
        }
    }
}

impl Specialiser<'_> {
    /// Turns `base`, whose block holds the branch, into the state after the paths have met.
    pub(super) fn meet(&mut self, base: &mut State, ways: &[State]) -> Result<(), Unsupported> {
        let registers = (0..base.registers.len()).map(Slot::Register);
        let locals = base.frames.iter().enumerate().flat_map(|(frame, it)| {
            (0..it.locals.len()).map(move |local| Slot::Local { frame, local })
        });
        let slots: Vec<Slot> = registers.chain(locals).chain([Slot::Result]).collect();
        let mut loads = Vec::new();
        for slot in slots {
            let Some(first) = ways[0].slot(slot) else { continue };
            if ways[1..].iter().all(|way| way.slot(slot) == Some(first)) {
                base.set(slot, first);
                continue;
            }
            let ty = self.residual.type_of(first);
            let variable = self.residual.variable("met", ty);
            for way in ways {
                let Some(partial) = way.slot(slot) else {
                    return Err(Unsupported("a value on one way only"));
                };
                let value = self.residual.value(way.block, partial);
                self.residual.push(way.block, StmtKind::Store { place: variable, value });
            }
            loads.push((slot, variable, ty));
        }
        for (slot, variable, ty) in loads {
            let value = self.residual.emit(base.block, Op::Load(variable), ty);
            base.set(slot, PartialValue::Value(value));
        }
        Ok(())
    }
}
