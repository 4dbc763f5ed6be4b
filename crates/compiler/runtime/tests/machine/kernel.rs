//! The machine's own sources as a module, with a kernel that runs one frame of many machines.

use gbxcule_gameboy::SOURCES;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Arg, Builder, Module, Param, Selector, Type};

/// Returns the module with the kernel `run_frame(machines, rom, rams, buttons, draw)`.
pub(crate) fn module() -> Valid<Module> {
    let mut sources = SourceMap::new();
    let entries = ["Machine::run_frame", "Machine::set_buttons"];
    let mut module = gbxcule_front_rust::lower(SOURCES, &entries, &mut sources)
        .unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)));
    let [run, press] = entries.map(|entry| module.find(entry).expect("an entry point"));
    let machine = module.functions[run].params[0].ty;
    let machines = module.types.array(machine, 1);
    let bytes = module.types.array(Type::U8, 1);
    let rams = module.types.array(Type::U8, 2);
    let params = vec![
        Param::value("machines", machines),
        Param::value("rom", bytes),
        Param::value("rams", rams),
        Param::value("buttons", bytes),
        Param::value("draw", Type::BOOL),
    ];
    let kernel = module.declare_kernel("run_frame", params);
    let mut b = Builder::new(&mut module, kernel);
    let env = b.launch_index(0);
    let places = [0, 3].map(|position| b.param_place(position));
    let [machine, buttons] = places.map(|array| b.element(array, &[env]));
    let pressed = b.load(buttons);
    b.call(press, &[Arg::Place(machine), Arg::Value(pressed)]);
    let (rom, rams, draw) = (b.arg(1), b.arg(2), b.arg(4));
    let ram = b.view(rams, &[Selector::At(env)]);
    let args = [Arg::Place(machine), Arg::Value(rom), Arg::Value(ram), Arg::Value(draw)];
    b.call(run, &args);
    b.finish();
    check::module(module).unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)))
}
