//! The built-in reward and observation as functions of a module: [`crate::reward_v0`] and [`crate::obs_v0`].

use gbxcule_kernel::ir::{
    Arg, BinaryOp, Builder, FunctionId, Inline, Literal, Module, Param, PlaceId, Scalar, Type,
    Value,
};

use super::translation::{field, function, machine_type};
use crate::{FEATURE_MEMORY, OBS_V0_DIM};

/// Programs that a step runs on the machine when its frames are over. They are functions of the module that
/// holds the machine, and see it whole: by reference, with ROM and cartridge RAM.
#[derive(Debug, Clone, Copy)]
pub struct Programs {
    /// `(machine: &Machine, rom: array<u8>, cart_ram: array<u8>) -> f32`
    pub reward: FunctionId,
    /// `(machine: &Machine, rom: array<u8>, cart_ram: array<u8>, out: array<f32>)`
    pub observe: FunctionId,
    /// Numbers that `observe` writes.
    pub obs_dim: usize,
}

impl Programs {
    /// Adds `reward_v0` and `obs_v0` to a module with the machine.
    pub fn built_in(module: &mut Module) -> Self {
        Self { reward: reward_v0(module), observe: obs_v0(module), obs_dim: OBS_V0_DIM }
    }
}

fn parameters(module: &mut Module) -> Vec<Param> {
    let (machine, bytes) = (machine_type(module), module.types.array(Type::U8, 1));
    vec![
        Param::shared("machine", machine),
        Param::value("rom", bytes),
        Param::value("cart_ram", bytes),
    ]
}

fn reward_v0(module: &mut Module) -> FunctionId {
    let params = parameters(module);
    let id = module.declare("reward_v0", params, Type::F32);
    let mut b = Builder::new(module, id);
    let machine = b.param_place(0);
    let a = register(&mut b, machine, "a");
    let (low, high, three) =
        (memory(&mut b, machine, 0), memory(&mut b, machine, 1), byte(&mut b, 3));
    let high = b.mul(high, three);
    let mixed = b.add(low, high);
    let mixed = b.binary(BinaryOp::Xor, a, mixed);
    let reward = over(&mut b, mixed, 255.0);
    b.ret(Some(reward));
    b.finish()
}

fn obs_v0(module: &mut Module) -> FunctionId {
    let reward = function(module, "reward_v0");
    let flags = function(module, "Cpu::f");
    let numbers = module.types.array(Type::F32, 1);
    let mut params = parameters(module);
    params.push(Param::value("out", numbers));
    let id = module.declare("obs_v0", params, Type::UNIT);
    module.functions[id].inline = Inline::Never;
    let mut b = Builder::new(module, id);
    let machine = b.param_place(0);
    let cpu = cpu(&mut b, machine);
    let f = b.call(flags, &[Arg::Place(cpu)]);
    let mut out = Vec::with_capacity(OBS_V0_DIM);
    for name in ["a", "f", "b", "c", "d", "e", "h", "l"] {
        let value = if name == "f" { f } else { register(&mut b, machine, name) };
        out.push(over(&mut b, value, 255.0));
    }
    for name in ["sp", "pc"] {
        let value = register(&mut b, machine, name);
        out.push(over(&mut b, value, 65535.0));
    }
    for bit in [7, 6, 5, 4] {
        let (bit, one) = (byte(&mut b, bit), byte(&mut b, 1));
        let flag = b.binary(BinaryOp::ShiftRight, f, bit);
        let flag = b.and(flag, one);
        out.push(b.convert(flag, Scalar::F32));
    }
    let mut sum = byte(&mut b, 0);
    for index in 0..FEATURE_MEMORY.len() {
        let value = memory(&mut b, machine, index);
        sum = b.add(sum, value);
        out.push(over(&mut b, value, 255.0));
    }
    out.push(over(&mut b, sum, 255.0));
    let (rom, cart_ram) = (b.arg(1), b.arg(2));
    out.push(b.call(reward, &[Arg::Place(machine), Arg::Value(rom), Arg::Value(cart_ram)]));
    for (index, number) in out.into_iter().enumerate() {
        let (array, index) = (b.param_place(3), b.i32(index as i32));
        let cell = b.element(array, &[index]);
        b.store(cell, number);
    }
    b.finish()
}

fn cpu(b: &mut Builder<'_>, machine: PlaceId) -> PlaceId {
    let cpu = field(&b.module.types, b.place_type(machine), "cpu");
    b.field(machine, cpu)
}

fn register(b: &mut Builder<'_>, machine: PlaceId, name: &str) -> Value {
    let cpu = cpu(b, machine);
    let register = field(&b.module.types, b.place_type(cpu), name);
    let place = b.field(cpu, register);
    b.load(place)
}

/// A byte of [`FEATURE_MEMORY`], all of which is work RAM.
fn memory(b: &mut Builder<'_>, machine: PlaceId, index: usize) -> Value {
    let wram = field(&b.module.types, b.place_type(machine), "wram");
    let (wram, offset) = (b.field(machine, wram), FEATURE_MEMORY.start - 0xC000);
    let index = b.i32(i32::from(offset) + index as i32);
    let place = b.at(wram, index);
    b.load(place)
}

fn byte(b: &mut Builder<'_>, value: u8) -> Value {
    b.literal(Literal::int(Scalar::U8, i128::from(value)))
}

fn over(b: &mut Builder<'_>, value: Value, most: f32) -> Value {
    let (value, most) = (b.convert(value, Scalar::F32), b.f32(most));
    b.div(value, most)
}
