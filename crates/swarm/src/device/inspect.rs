//! Kernels that look at envs and change them for debuggers: registers, memory by address, frames.
//! Each leaves what was asked for, and no more, side by side in memory, so that only that is copied
//! to the host.

use std::sync::OnceLock;

use gbxcule_ir::check::Valid;
use gbxcule_ir::{Arg, Builder, Module, Param, PlaceId, Scalar, Type, Value};
use gbxcule_runtime::once;

use super::column::Columns;
use super::state_arrays::{self, FRAME, PARTS};
use super::translation::{arrange, checked, field, function, kernel, machine_module, machine_type};

/// Leaves the registers of envs: A F B C D E H L SP PC.
pub(crate) const REGISTERS: &str = "registers";
/// Leaves bytes of an env's address space.
pub(crate) const PEEK: &str = "peek";
/// Changes bytes of some envs' address spaces.
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
    once(&MODULE, || {
        let (mut module, columns) = machine("registers");
        registers(&mut module, &columns);
        frames(&mut module);
        checked(module)
    })
}

/// Memory by address: nearly the whole machine, since looking at a chip brings it up to date.
pub(crate) fn memory_module() -> &'static Valid<Module> {
    static MODULE: OnceLock<Valid<Module>> = OnceLock::new();
    once(&MODULE, || {
        let (mut module, columns) = machine("memory");
        peek(&mut module, &columns);
        poke(&mut module, &columns);
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
    state_arrays::load(b, columns, env, machine);
    machine
}

/// Thread `i` leaves the registers of env `first + i` in row `i`.
fn registers(module: &mut Module, columns: &Columns) {
    let mut params = state_arrays::parameters(module, "");
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
    let mut params = state_arrays::parameters(module, "");
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

/// Thread `i` leaves byte `i` of an env from an address on.
fn peek(module: &mut Module, columns: &Columns) {
    let mut params = state_arrays::parameters(module, "");
    let bytes = module.types.array(Type::U8, 1);
    params.extend([
        Param::value("rom", bytes),
        Param::value("env", Type::I32),
        Param::value("low", Type::U16),
        Param::value("data", bytes),
    ]);
    let [rom, env, low, data] = [0, 1, 2, 3].map(|position| PARTS as u32 + position);
    let peek = function(module, "Machine::peek");
    let kernel = kernel(module, PEEK, params);
    let mut b = Builder::new(module, kernel);
    let (env, low, rom) = (b.arg(env), b.arg(low), b.arg(rom));
    let machine = local(&mut b, columns, env);
    state_arrays::attach(&mut b, machine, "rom", rom);
    let index = b.launch_index(0);
    let offset = b.convert(index, Scalar::U16);
    let (address, data) = (b.add(low, offset), b.param_place(data));
    let value = b.call(peek, &[Arg::Place(machine), Arg::Value(address)]);
    let place = b.element(data, &[index]);
    b.store(place, value);
    b.finish();
}

/// Thread `i` writes row `i` to env `envs[i]` from an address on, one byte after the other.
fn poke(module: &mut Module, columns: &Columns) {
    let mut params = state_arrays::parameters(module, "");
    let [bytes, numbers] = [Type::U8, Type::I32].map(|of| module.types.array(of, 1));
    let rows = module.types.array(Type::U8, 2);
    params.extend([
        Param::value("rom", bytes),
        Param::value("envs", numbers),
        Param::value("low", Type::U16),
        Param::value("data", rows),
    ]);
    let [rom, envs, low, data] = [0, 1, 2, 3].map(|position| PARTS as u32 + position);
    let poke = function(module, "Machine::poke");
    let kernel = kernel(module, POKE, params);
    let mut b = Builder::new(module, kernel);
    let row = b.launch_index(0);
    let envs = b.param_place(envs);
    let env = b.element(envs, &[row]);
    let (env, low, rom) = (b.load(env), b.arg(low), b.arg(rom));
    let machine = local(&mut b, columns, env);
    state_arrays::attach(&mut b, machine, "rom", rom);
    let rows = b.arg(data);
    let (from, end, step) = (b.i32(0), b.extent(rows, 1), b.i32(1));
    b.for_range("index", [from, end, step], |b, index| {
        let offset = b.convert(index, Scalar::U16);
        let (address, data) = (b.add(low, offset), b.param_place(data));
        let place = b.element(data, &[row, index]);
        let value = b.load(place);
        b.call(poke, &[Arg::Place(machine), Arg::Value(address), Arg::Value(value)]);
    });
    state_arrays::store(&mut b, columns, env, machine);
    b.finish();
}

/// Thread `i` leaves what is at all the addresses of env `envs[i]` in row `i`.
fn gather(module: &mut Module, columns: &Columns) {
    let mut params = state_arrays::parameters(module, "");
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
    state_arrays::attach(&mut b, machine, "rom", rom);
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
