//! Removal of loads whose value has no use, which Cranelift's optimiser keeps if they may move.
//!
//! Lowering reads a composite in memory as a whole, and a handle with its gradient and all extents,
//! although most code uses few of the parts.

use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function, Inst, InstructionData, Opcode, Value};

/// Removes loads without uses, and the operations that only these need.
pub(crate) fn remove_unused_loads(ir: &mut Function) {
    let mut uses: SecondaryMap<Value, u32> = SecondaryMap::new();
    let blocks: Vec<Block> = ir.layout.blocks().collect();
    for &block in &blocks {
        for inst in ir.layout.block_insts(block) {
            ir.dfg.inst_values(inst).for_each(|of| uses[ir.dfg.resolve_aliases(of)] += 1);
        }
    }
    for &block in blocks.iter().rev() {
        let mut next = ir.layout.last_inst(block);
        while let Some(inst) = next {
            next = ir.layout.prev_inst(inst);
            let results = ir.dfg.inst_results(inst);
            if is_removable(ir, inst) && results.iter().all(|&result| uses[result] == 0) {
                ir.dfg.inst_values(inst).for_each(|of| uses[ir.dfg.resolve_aliases(of)] -= 1);
                ir.layout.remove_inst(inst);
            }
        }
    }
}

/// Returns true if an instruction does nothing but give its results.
fn is_removable(ir: &Function, inst: Inst) -> bool {
    let data = &ir.dfg.insts[inst];
    if let InstructionData::Load { opcode: Opcode::Load, flags, .. } = *data {
        return ir.dfg.mem_flags[flags].notrap();
    }
    let opcode = data.opcode();
    let acts = opcode.can_load() || opcode.can_store() || opcode.can_trap() || opcode.is_call();
    !(acts || opcode.is_terminator() || opcode.other_side_effects())
}
