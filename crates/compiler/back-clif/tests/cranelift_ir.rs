//! Holds what makes kernels and their compilation fast by the shape of the Cranelift IR, not by
//! times: loops repeat nothing that stays the same, and branches of large kernels join no
//! variables.

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{Function, Inst, InstructionData, Value, ValueDef};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::loop_analysis::{Loop, LoopAnalysis};
use cranelift_codegen::settings::{self, Configurable};
use gbxcule_back_clif::{Boundary, Emitted, Options, Sharing, lower};
use gbxcule_front_warp::Program;
use gbxcule_ir::abi::Checks;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionKind, Module};

/// Kernels with loops: checked indices, products of extents and strides, and searches that a
/// caller may stop. No loop has a check inside a branch, because the optimiser moves nothing out of
/// such a loop.
const TEXT: &str = "
import warp as wp

@wp.struct
class Item:
    least: wp.vec3
    next: int

@wp.kernel
def row_sums(x: wp.array2d(dtype=float), scale: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)
    for j in range(x.shape[1]):
        total += x[i, j] * wp.sqrt(scale[0] * scale[0] + 1.0)
    out[i] = total

@wp.kernel
def chains(items: wp.array(dtype=Item), start: wp.array(dtype=int), to: wp.array(dtype=wp.vec3), out: wp.array(dtype=int)):
    i = wp.tid()
    at = start[i]
    point = to[i]
    steps = int(0)
    while at >= 0:
        item = items[at]
        if item.least[0] < wp.length(point) * 0.5:
            steps += 1
        at = item.next
    out[i] = steps

@wp.kernel
def rays(mesh: wp.uint64, start: wp.array(dtype=wp.vec3), to: wp.array(dtype=wp.vec3), t: wp.array(dtype=float)):
    i = wp.tid()
    hit = wp.mesh_query_ray(mesh, start[i], to[i], 10.0)
    if hit.result:
        t[i] = hit.t
";

fn compiled(text: &str) -> Valid<Module> {
    let mut sources = SourceMap::new();
    let id = sources.add("k.py", text);
    let module = Program::parse(&sources, id).and_then(|program| program.compile("k"));
    module.and_then(check::module).expect("kernels")
}

fn this_machine() -> OwnedTargetIsa {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed").expect("a level");
    let isa = cranelift_native::builder().expect("this machine");
    isa.finish(settings::Flags::new(flags)).expect("this machine")
}

fn lowered(module: &Valid<Module>, isa: &dyn TargetIsa) -> Vec<Emitted> {
    let target = isa.frontend_config();
    let options = Options { checks: Checks::All, sharing: Sharing::Alone, target };
    lower(module, Boundary::default(), options).functions
}

/// Returns the optimised functions of the text, and which of them are kernels.
fn optimised() -> Vec<(bool, Function)> {
    let (module, isa) = (compiled(TEXT), this_machine());
    let optimise = |emitted: Emitted| {
        let mut context = Context::for_function(emitted.ir);
        context.optimize(&*isa, &mut ControlPlane::default()).expect("valid code");
        (module.functions[emitted.function].kind == FunctionKind::Kernel, context.func)
    };
    lowered(&module, &*isa).into_iter().map(optimise).collect()
}

/// Lists the instructions in loops whose operands all come from outside the loop. The loop over a
/// kernel's threads is left out.
fn repeated(ir: &Function, is_kernel: bool) -> Vec<String> {
    let flow = ControlFlowGraph::with_function(ir);
    let dominators = DominatorTree::with_function(ir, &flow);
    let mut loops = LoopAnalysis::new();
    loops.compute(ir, &flow, &dominators);
    let mut movable = Vec::new();
    for block in ir.layout.blocks() {
        let Some(innermost) = loops.innermost_loop(block) else { continue };
        if is_kernel && loops.loop_parent(innermost).is_none() {
            continue;
        }
        for inst in ir.layout.block_insts(block) {
            if is_movable(ir, inst)
                && ir.dfg.inst_args(inst).iter().all(|&arg| is_outside(ir, &loops, innermost, arg))
            {
                movable.push(format!("{block}: {}", ir.dfg.display_inst(inst)));
            }
        }
    }
    movable
}

/// Returns true for instructions without effects, except for those that the code generator makes
/// anew at each use because they are cheaper than a register.
fn is_movable(ir: &Function, inst: Inst) -> bool {
    let data = &ir.dfg.insts[inst];
    let opcode = data.opcode();
    if let InstructionData::Load { flags, .. } = *data {
        return ir.dfg.mem_flags[flags].readonly();
    }
    let acts = opcode.can_load() || opcode.can_store() || opcode.can_trap() || opcode.is_call();
    let constant = |&arg: &Value| {
        ir.dfg.value_def(arg).inst().is_some_and(|of| ir.dfg.inst_args(of).is_empty())
    };
    let args = ir.dfg.inst_args(inst);
    let acts = acts || opcode.is_terminator() || opcode.other_side_effects();
    !(acts || args.is_empty() || args.iter().any(constant))
}

fn is_outside(ir: &Function, loops: &LoopAnalysis, of: Loop, value: Value) -> bool {
    let block = match ir.dfg.value_def(ir.dfg.resolve_aliases(value)) {
        ValueDef::Result(inst, _) => ir.layout.inst_block(inst),
        ValueDef::Param(block, _) => Some(block),
        ValueDef::Union(..) => None,
    };
    block.is_some_and(|block| !loops.is_in_loop(block, of))
}

#[test]
fn loops_repeat_nothing_that_they_could_find_outside() {
    for (is_kernel, ir) in optimised() {
        let repeated = repeated(&ir, is_kernel);
        assert!(repeated.is_empty(), "{repeated:#?} in {}", ir.display());
    }
}

#[test]
fn variables_that_thousands_of_branches_change_are_not_joined_behind_each() {
    let joins = |branches: usize| {
        let head = "import warp as wp\n\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    v = x[wp.tid()]\n    s = float(0.0)\n";
        let branch = |at| format!("    if v > {at}.0:\n        s = wp.sqrt(s) * 0.5 + {at}.0\n");
        let text = String::from(head)
            + &(0..branches).map(branch).collect::<String>()
            + "    x[wp.tid()] = s\n";
        let ir = &lowered(&compiled(&text), &*this_machine())[0].ir;
        ir.layout.blocks().map(|block| ir.dfg.num_block_params(block)).sum::<usize>()
    };
    assert!(joins(500) >= 500);
    assert!(joins(2_500) < 500);
}
