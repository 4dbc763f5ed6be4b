//! Blocks as IR, run by the reference interpreter, beside the native machine.

use crate::program::{Subject, random_rom, scene};
use gbxcule_gameboy::Machine;
use gbxcule_gameboy::cpu::Cpu;
use gbxcule_interp::{self as interp, Argument, Array};
use gbxcule_ir::{Arg, Builder, FunctionId, Module, PassMode, Type, check};
use gbxcule_recompiler::{Block, MachineIr, MemoryMap};
use gbxcule_testkit::machine_image::Image;
use proptest::prelude::*;
use std::mem::offset_of;

proptest! {
    #![proptest_config(ProptestConfig {
        // `PROPTEST_CASES` asks for fewer, as under a sanitizer.
        cases: ProptestConfig::default().cases.min(12),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn blocks_of_random_programs_mean_what_the_machine_does(
        rom in random_rom(),
        scenes in prop::collection::vec(scene(), 12),
    ) {
        let Some(start) = Subject::new(&rom) else { return Ok(()) };
        let machine_ir = MachineIr::get();
        let mut module = Module::clone(&machine_ir.module);
        let mut ran = Vec::new();
        for scene in &scenes {
            let mut machine = start.machine;
            scene.apply(&mut machine);
            let map = MemoryMap::of(&machine).expect("no OAM DMA in ROM");
            if let Ok(block) = Block::new(machine_ir, &start.rom, map, scene.pc) {
                let block = block.add_to(machine_ir, &mut module);
                ran.push((scene, with_handles(&mut module, block)));
            }
        }
        let module = check::module(module).expect("blocks keep all rules");
        let image = Image::new(&module.types);
        for (scene, block) in ran {
            let mut native = start.clone();
            scene.apply(&mut native.machine);
            let mut interpreter = interp::Interpreter::new(&module);
            let memory = &mut interpreter.memory;
            let machine =
                memory.add(image.of(&native.machine, &native.cartridge, &native.cart_ram));
            let [rom, ram] = [&native.rom, &native.cart_ram].map(|bytes| {
                let buffer = memory.add(bytes.clone());
                (buffer, Array::dense(buffer, 1, &[bytes.len() as u32]))
            });
            let args = [Argument::Place(machine.into()), rom.1.into(), ram.1.into()];
            interpreter.call(block, &args).expect("a block that doesn't fault");
            let mut ours = native.clone();
            ours.cart_ram.copy_from_slice(interpreter.memory.bytes(ram.0));
            let mut bytes = interpreter.memory.bytes(machine).to_vec();
            // A block updates the time only in the registers, as instructions do.
            let now = offset_of!(Machine, cpu) + offset_of!(Cpu, now);
            bytes.copy_within(now..now + 4, offset_of!(Machine, now));
            ours.machine =
                image.machine(&bytes, &native.machine, &native.cartridge, &mut ours.cart_ram);
            while native.machine.cpu.now != ours.machine.cpu.now {
                native.machine.run_instruction(&native.rom, &mut native.cart_ram);
            }
            ours.assert_equals(&native, &format!("{scene:?}"));
        }
    }
}

/// A function that takes ROM and RAM as the machine's functions do, and calls a block.
fn with_handles(module: &mut Module, block: FunctionId) -> FunctionId {
    let mut params = module.functions[block].params.clone();
    params[1..].iter_mut().for_each(|param| param.mode = PassMode::Value);
    let id = module.declare("with_handles", params, Type::UNIT);
    let mut builder = Builder::new(module, id);
    let args = [0, 1, 2].map(|param| Arg::Place(builder.param_place(param)));
    builder.call(block, &args);
    builder.finish()
}
