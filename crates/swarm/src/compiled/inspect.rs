//! Kernels that look at envs and change them for debuggers: registers, memory by address, frames. Each leaves
//! what was asked for, and no more, side by side in memory, so that only that is copied to the host.

use std::sync::OnceLock;

use gbxcule_kernel::check::Valid;
use gbxcule_kernel::ir::{Arg, BlockId, Builder, Module, Param, PlaceId, Scalar, Type, Value};

use super::column::Columns;
use super::part::{self, FRAME, PARTS};
use super::translation::{arrange, checked, field, function, kernel, machine_module, machine_type};

/// Leaves the registers of envs: A F B C D E H L SP PC.
pub(crate) const REGISTERS: &str = "registers";
/// Leaves bytes of an env's address space.
pub(crate) const PEEK: &str = "peek";
/// Changes bytes of an env's address space.
pub(crate) const POKE: &str = "poke";
/// Leaves the bytes at some addresses of some envs.
pub(crate) const GATHER: &str = "gather";
/// Leaves the frames of some envs.
pub(crate) const FRAMES: &str = "frames";

/// 16-bit words that [`REGISTERS`] leaves for an env.
pub(crate) const REGISTER_COUNT: usize = 10;

/// Registers and frames: small, wanted all the time.
pub(crate) fn registers_module() -> &'static Valid<Module> {
    static MODULE: OnceLock<Valid<Module>> = OnceLock::new();
    MODULE.get_or_init(|| {
        let (mut module, columns) = machine("registers");
        registers(&mut module, &columns);
        frames(&mut module);
        checked(module)
    })
}

/// Memory by address: nearly the whole machine, since looking at a chip brings it up to date.
pub(crate) fn memory_module() -> &'static Valid<Module> {
    static MODULE: OnceLock<Valid<Module>> = OnceLock::new();
    MODULE.get_or_init(|| {
        let (mut module, columns) = machine("memory");
        memory(&mut module, &columns, PEEK);
        memory(&mut module, &columns, POKE);
        gather(&mut module, &columns);
        checked(module)
    })
}

fn machine(name: &str) -> (Module, Columns) {
    let mut module = arrange(machine_module(), &[]);
    module.name = name.into();
    let columns = Columns::new(&module.types, machine_type(&module));
    (module, columns)
}

/// An env as a machine in a variable.
fn local(b: &mut Builder<'_>, columns: &Columns, env: Value) -> PlaceId {
    let ty = machine_type(b.module);
    let local = b.local("machine", ty);
    let machine = b.local_place(local);
    part::load(b, columns, env, machine);
    machine
}

/// Thread `i` leaves the registers of env `first + i` in row `i`.
fn registers(module: &mut Module, columns: &Columns) {
    let mut params = part::parameters(module, "");
    let rows = module.types.array(Type::U16, 2);
    params.extend([Param::value("first", Type::I32), Param::value("out", rows)]);
    let flags = function(module, "Cpu::f");
    let kernel = kernel(module, REGISTERS, params);
    let mut b = Builder::new(module, kernel);
    let (row, first) = (b.launch_index(0), b.arg(PARTS as u32));
    let env = b.add(first, row);
    let machine = local(&mut b, columns, env);
    let cpu = field(&b.module.types, b.place_type(machine), "cpu");
    let cpu = b.field(machine, cpu);
    let names = ["a", "f", "b", "c", "d", "e", "h", "l", "sp", "pc"];
    for (index, name) in names.into_iter().enumerate() {
        let value = if name == "f" {
            b.call(flags, &[Arg::Place(cpu)])
        } else {
            let register = field(&b.module.types, b.place_type(cpu), name);
            let place = b.field(cpu, register);
            b.load(place)
        };
        let value = b.convert(value, Scalar::U16);
        let (out, index) = (b.param_place(PARTS as u32 + 1), b.i32(index as i32));
        let cell = b.element(out, &[row, index]);
        b.store(cell, value);
    }
    b.finish();
}

/// Thread `i, j` leaves byte `j` of the frame of env `envs[i]` in row `i`.
fn frames(module: &mut Module) {
    let mut params = part::parameters(module, "");
    let (numbers, rows) = (module.types.array(Type::I32, 1), module.types.array(Type::U8, 2));
    params.extend([Param::value("envs", numbers), Param::value("out", rows)]);
    let kernel = kernel(module, FRAMES, params);
    let mut b = Builder::new(module, kernel);
    let (row, byte) = (b.launch_index(0), b.launch_index(1));
    let [envs, out] = [0, 1].map(|position| b.param_place(PARTS as u32 + position));
    let env = b.element(envs, &[row]);
    let env = b.load(env);
    let from = b.param_place(FRAME as u32);
    let from = b.element(from, &[env, byte]);
    let value = b.load(from);
    let to = b.element(out, &[row, byte]);
    b.store(to, value);
    b.finish();
}

/// Bytes of an env from an address on. Peeking, thread `i` leaves byte `i`; poking, the one thread there is
/// writes them one after the other.
fn memory(module: &mut Module, columns: &Columns, name: &str) {
    let mut params = part::parameters(module, "");
    let bytes = module.types.array(Type::U8, 1);
    params.extend([
        Param::value("rom", bytes),
        Param::value("env", Type::I32),
        Param::value("low", Type::U16),
        Param::value("data", bytes),
    ]);
    let [rom, env, low, data] = [0, 1, 2, 3].map(|position| PARTS as u32 + position);
    let [peek, poke] = ["Machine::peek", "Machine::poke"].map(|name| function(module, name));
    let kernel = kernel(module, name, params);
    let mut b = Builder::new(module, kernel);
    let (env, low, rom) = (b.arg(env), b.arg(low), b.arg(rom));
    let machine = local(&mut b, columns, env);
    part::attach(&mut b, machine, "rom", rom);
    let machine_arg = Arg::Place(machine);
    let cell = |b: &mut Builder<'_>, index: Value| {
        let offset = b.convert(index, Scalar::U16);
        let address = b.add(low, offset);
        let data = b.param_place(data);
        (Arg::Value(address), b.element(data, &[index]))
    };
    if name == PEEK {
        let index = b.launch_index(0);
        let (address, place) = cell(&mut b, index);
        let value = b.call(peek, &[machine_arg, address]);
        b.store(place, value);
    } else {
        let index = b.loop_index(Type::I32, "index");
        let body: BlockId = b.block(|b| {
            let (address, place) = cell(b, index);
            let value = b.load(place);
            b.call(poke, &[machine_arg, address, Arg::Value(value)]);
        });
        let (from, step) = (b.i32(0), b.i32(1));
        let data = b.arg(data);
        let end = b.extent(data, 0);
        b.for_block(index, [from, end, step], body);
        part::store(&mut b, columns, env, machine);
    }
    b.finish();
}

/// Thread `i` leaves what is at all the addresses of env `envs[i]` in row `i`.
fn gather(module: &mut Module, columns: &Columns) {
    let mut params = part::parameters(module, "");
    let [bytes, words, numbers] =
        [Type::U8, Type::U16, Type::I32].map(|of| module.types.array(of, 1));
    let rows = module.types.array(Type::U8, 2);
    params.extend([
        Param::value("rom", bytes),
        Param::value("envs", numbers),
        Param::value("addresses", words),
        Param::value("out", rows),
    ]);
    let [rom, envs, addresses, out] = [0, 1, 2, 3].map(|position| PARTS as u32 + position);
    let peek = function(module, "Machine::peek");
    let kernel = kernel(module, GATHER, params);
    let mut b = Builder::new(module, kernel);
    let row = b.launch_index(0);
    let envs = b.param_place(envs);
    let env = b.element(envs, &[row]);
    let (env, rom) = (b.load(env), b.arg(rom));
    let machine = local(&mut b, columns, env);
    part::attach(&mut b, machine, "rom", rom);
    let all = b.arg(addresses);
    let (start, end, step) = (b.i32(0), b.extent(all, 0), b.i32(1));
    b.for_range("index", [start, end, step], |b, index| {
        let (addresses, out) = (b.param_place(addresses), b.param_place(out));
        let address = b.element(addresses, &[index]);
        let address = b.load(address);
        let value = b.call(peek, &[Arg::Place(machine), Arg::Value(address)]);
        let cell = b.element(out, &[row, index]);
        b.store(cell, value);
    });
    b.finish();
}
