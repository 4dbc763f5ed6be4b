//! The machine's sources as a module, and the passes that prepare the module for kernels: the
//! struct's arrays move to device memory and become handles, and the loop over instructions becomes
//! one function whose variables are as wide as registers.

use gbxcule_front_rust;
use gbxcule_gameboy::SOURCES;
use gbxcule_gameboy::bus::NO_ROM;
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Field, FunctionId, Literal, Module, Param, Scalar, Shape, Type, Types};
use gbxcule_passes::pass::{
    self, carry, detach, exit, lowest_first, out_of_line, promote, widen, window,
};
use gbxcule_recompiler::HotCode;
use gbxcule_runtime::get_or_make;

use crate::machine_sources::{MachineSources, PerSources};
use crate::program::{KERNEL_VIEW_ENTRIES, PROGRAM_ENTRIES};

/// Functions that kernels call.
const ENTRIES: [&str; 8] = [
    "families::execute_by_family",
    "Machine::run_step",
    "Machine::peek",
    "Machine::poke",
    "Machine::poke_bank",
    "kernel_call::run_frames",
    "kernel_call::apply_writes",
    "kernel_call::now",
];

/// Arrays of a machine that move out of its struct into device memory.
pub(crate) const DETACHED: [&str; 5] = ["wram", "vram", "oam", "hram", "frame"];

/// Further functions that kernels call if steps run one frame at a time.
const SINGLE_FRAME_ENTRIES: [&str; 2] = ["Machine::run_to_hook", "Machine::begin_frame_with"];

/// Further functions that the kernel of pairs calls.
const PAIR_ENTRIES: [&str; 3] = ["pair::run_pair_frames", "pair::pair_ahead", "pair::pair_tcycles"];

/// Returns the machine's module before any pass, with the functions that programs may call.
/// Programs are fused into this module.
pub(crate) fn machine_module(machine: MachineSources) -> Module {
    static MODULES: PerSources<Module> = PerSources::new();
    lowered(&MODULES, machine, &[])
}

/// Returns `machine_module` with the functions for steps that run one frame at a time.
pub(crate) fn single_frame_module(machine: MachineSources) -> Module {
    static MODULES: PerSources<Module> = PerSources::new();
    lowered(&MODULES, machine, &SINGLE_FRAME_ENTRIES)
}

/// Returns `machine_module` with the cable between two machines.
pub(crate) fn pair_module(machine: MachineSources) -> Module {
    static MODULES: PerSources<Module> = PerSources::new();
    lowered(&MODULES, machine, &PAIR_ENTRIES)
}

fn lowered(modules: &'static PerSources<Module>, machine: MachineSources, more: &[&str]) -> Module {
    let lowered = || {
        let mut sources = SourceMap::new();
        let entries = ENTRIES.iter().chain(more).chain(&KERNEL_VIEW_ENTRIES).copied();
        let entries: Vec<&str> =
            entries.chain(PROGRAM_ENTRIES.iter().map(String::as_str)).collect();
        let flags = machine.flags();
        let module = gbxcule_front_rust::lower_with_flags(SOURCES, flags, &entries, &mut sources);
        let mut module = module.unwrap_or_else(|faults| {
            unreachable!("the sources keep to the subset: {}", render(&faults, &sources))
        });
        trust(&mut module);
        execute_by_family(&mut module);
        module
    };
    get_or_make(modules.of(machine), lowered).clone()
}

/// Makes the machine execute opcodes by family: a GPU fetches this shorter code faster.
fn execute_by_family(module: &mut Module) {
    let [chart, families] =
        ["Cpu::execute", "execute_by_family"].map(|name| function(module, name));
    module.functions[chart].body = module.functions[families].body.clone();
}

/// Marks the machine's functions that programs call as trusted, as in [`machine_module`].
pub(crate) fn trusted(mut module: Module) -> Module {
    trust(&mut module);
    module
}

/// The machine masks its indices by construction. Functions of the builtin table stay checked,
/// because programs call them, too.
fn trust(module: &mut Module) {
    let functions: Vec<FunctionId> = module.functions.handles().collect();
    for id in functions {
        let function = &mut module.functions[id];
        function.trusted = function.instance.is_none();
    }
}

/// Declares a trusted kernel: its indices are numbers that the swarm has counted.
pub(crate) fn kernel(module: &mut Module, name: &str, params: Vec<Param>) -> FunctionId {
    let kernel = module.declare_kernel(name, params);
    module.functions[kernel].trusted = true;
    kernel
}

/// ROM and cartridge RAM: the sources pass them as arguments beside the machine; on the device they
/// are fields of the machine.
pub(crate) const CARRIED: [&str; 2] = ["rom", "cart_ram"];

/// Replaces the machine's large arrays by handles, and makes ROM and cartridge RAM fields of the
/// machine; `programs`, which take both after the machine, then read these fields.
fn detach_machine(module: &mut Module, machine: Type, programs: &[FunctionId]) {
    let entries: Vec<(FunctionId, Vec<usize>)> =
        programs.iter().map(|&id| (id, vec![1, 2])).collect();
    detach_machines(module, machine, &entries);
}

/// Does the work of `detach_machine` for functions that may take several machines; each entry lists
/// the positions of ROM and cartridge RAM.
fn detach_machines(module: &mut Module, machine: Type, entries: &[(FunctionId, Vec<usize>)]) {
    let fields = DETACHED.map(|name| field(&module.types, machine, name));
    let machine = detach::fields(module, machine, &fields)
        .unwrap_or_else(|fault| unreachable!("no source copies a whole array: {}", fault.message));
    carry::handles(module, machine, &CARRIED, entries);
}

/// Arranges a module with the machine for kernels. `programs` are further functions that kernels
/// call; their first parameters are the machine, ROM and cartridge RAM. After this call the latter
/// two are fields of the machine.
pub(crate) fn arrange(mut module: Module, programs: &[FunctionId]) -> Module {
    let machine = machine_type(&module);
    detach_machine(&mut module, machine, programs);
    arrange_detached(module)
}

/// Arranges the module of pairs. No kernel there calls programs.
pub(crate) fn arrange_pairs(mut module: Module, programs: &[FunctionId]) -> Module {
    let machine = machine_type(&module);
    let pair = function(&module, "run_pair_frames");
    let mut entries: Vec<(FunctionId, Vec<usize>)> = vec![(pair, vec![2, 3, 2, 4])];
    entries.extend(programs.iter().map(|&id| (id, vec![1, 2])));
    detach_machines(&mut module, machine, &entries);
    arrange_detached(module)
}

fn arrange_detached(mut module: Module) -> Module {
    exit::before_inlining(&mut module);
    let module = pass::simplify(checked(module));
    let mut module = module.into_inner();
    let no_rom = promote::KnownElements {
        field: field(&module.types, machine_type(&module), "rom_base"),
        from: 2,
        value: Literal::int(Scalar::U32, i128::from(NO_ROM)),
    };
    for hot in ["Machine::run_until_deadline", "Machine::run_until_mark"] {
        if let Some(hot) = module.find(hot) {
            promote::run(&mut module, hot, 0, promote::FieldSelection::InLoops, &[no_rom]);
            widen::run(&mut module, hot);
        }
    }
    module
}

/// The variables in which the loop over opcodes keeps the fields that most opcodes change.
const REGISTERS: [&str; 12] = [
    "cpu_pc",
    "cpu_now",
    "cpu_a",
    "cpu_h",
    "cpu_l",
    "cpu_b",
    "cpu_c",
    "cpu_d",
    "cpu_e",
    "cpu_zero",
    "cpu_carries",
    "cpu_sp",
];

/// Makes the machines of a warp with the lowest stack pointer, then the lowest program counter,
/// execute first: callees and handlers end before callers go on.
pub(crate) fn execute_lowest_first(module: &mut Module, hot: Option<&HotCode>) {
    let parting = HotCode::ends_of_turns(hot);
    let position = lowest_first::Position { high: "cpu_sp", low: "cpu_pc", changing: &REGISTERS };
    if let Some(hot) = module.find("Machine::run_until_deadline") {
        let windows = window::run(module, hot, position.low);
        assert!(windows > 0, "the machine fetches from ROM");
        let is_done = lowest_first::run(module, hot, position, &parting);
        assert!(is_done, "the machine executes in a loop around its opcodes");
    }
}

/// Arranges a module that has only those functions of the machine that programs call; returns also
/// the machine's type in the module.
pub(crate) fn arrange_view(mut module: Module, programs: &[FunctionId]) -> (Module, Type) {
    let machine = module.functions[programs[0]].params[0].ty;
    detach_machine(&mut module, machine, programs);
    let module = pass::simplify(checked(module)).into_inner();
    let machine = module.functions[programs[0]].params[0].ty;
    (module, machine)
}

/// Maximum of statements that inlined copies of a function may add to a module. With 300 and with
/// 1,000 a warp issues more instructions in the step kernel (`docs/gpu-results.md`).
pub(crate) const MAX_COPIED: usize = 600;

/// Checks a module of kernels and keeps its large functions out of line. Each module with the
/// machine needs this: without it NVRTC took minutes for `peek`, which calls the PPU in many
/// places.
pub(crate) fn finished(module: Module) -> check::Valid<Module> {
    out_of_line::run(checked(module), MAX_COPIED)
}

/// Checks a module that this crate built; a fault in it is a defect of this crate.
pub(crate) fn checked(module: Module) -> check::Valid<Module> {
    check::module(module).unwrap_or_else(|faults| unreachable!("kernels are right: {faults:#?}"))
}

/// Returns the type of the machine: the first parameter of `Machine::run_step`.
pub(crate) fn machine_type(module: &Module) -> Type {
    module.functions[function(module, "Machine::run_step")].params[0].ty
}

/// A function of the machine by its name.
pub(crate) fn function(module: &Module, name: &str) -> FunctionId {
    module.find(name).unwrap_or_else(|| unreachable!("`{name}` is lowered"))
}

/// The position of a struct's field.
pub(crate) fn field(types: &Types, structure: Type, name: &str) -> u32 {
    let position = fields(types, structure).iter().position(|field| field.name == name);
    position.unwrap_or_else(|| unreachable!("the machine has a field `{name}`")) as u32
}

/// The fields of a struct.
pub(crate) fn fields(types: &Types, structure: Type) -> &[Field] {
    match types[structure] {
        Shape::Struct(id) => &types.structure(id).fields,
        _ => unreachable!("`{}` is a struct", types.display(structure)),
    }
}
