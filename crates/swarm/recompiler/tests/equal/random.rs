//! Random programs as machine code, beside the interpreter: they write to every register of the
//! hardware, switch the bank that they run in, jump into the middle of instructions and execute
//! RAM.

use crate::program::{Subject, random_rom, scene};
use gbxcule_recompiler::{Block, BlockCode, EagerRunner, MachineIr, Memories, MemoryMap};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig {
        // `PROPTEST_CASES` asks for fewer, as under a sanitizer.
        cases: ProptestConfig::default().cases.min(12),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_programs_run_alike(
        rom in random_rom(),
        scenes in prop::collection::vec(scene(), 3),
    ) {
        let Some(mut native) = Subject::new(&rom) else { return Ok(()) };
        let mut blocks = EagerRunner::new(2);
        let mut ours = native.clone();
        for scene in scenes {
            scene.apply(&mut native.machine);
            scene.apply(&mut ours.machine);
            for frame in 0..3 {
                native.machine.run_frame(&native.rom, &mut native.cart_ram, frame == 1);
                let Subject { rom, machine, cart_ram, .. } = &mut ours;
                match frame {
                    2 => blocks.run_frame(machine, rom, cart_ram, false),
                    _ => blocks.learn_frame(machine, rom, cart_ram, frame == 1),
                }
                ours.assert_equals(&native, &format!("frame {frame} of {scene:?}"));
            }
        }
    }

    #[test]
    fn a_block_enters_only_if_its_longest_way_fits(rom in random_rom(), scene in scene()) {
        let Some(mut subject) = Subject::new(&rom) else { return Ok(()) };
        scene.apply(&mut subject.machine);
        let map = MemoryMap::of(&subject.machine).expect("no OAM DMA in ROM");
        let Ok(block) = Block::new(MachineIr::get(), &subject.rom, map, scene.pc) else {
            return Ok(());
        };
        let longest = block.longest_mcycles;
        let codes = BlockCode::new(vec![block], subject.rom.len()).expect("code for this machine");
        let code = &codes[0];
        let mut machine = subject.machine;
        machine.deadline = machine.now.wrapping_add(longest);
        let before = machine;
        code.run(&mut machine, &Memories::new(&subject.rom, &mut subject.cart_ram));
        prop_assert!(machine == before, "too early a deadline");
        machine.deadline = machine.deadline.wrapping_add(1);
        code.run(&mut machine, &Memories::new(&subject.rom, &mut subject.cart_ram));
        prop_assert!(machine.cpu.now != before.cpu.now, "the deadline lies behind it");
    }

    /// A block runs whole instructions, and none that the interpreter would not have run.
    #[test]
    fn a_block_stops_where_the_interpreter_may_stop(rom in random_rom(), scene in scene()) {
        let Some(mut native) = Subject::new(&rom) else { return Ok(()) };
        scene.apply(&mut native.machine);
        let map = MemoryMap::of(&native.machine).expect("no OAM DMA in ROM");
        let Ok(block) = Block::new(MachineIr::get(), &native.rom, map, scene.pc) else {
            return Ok(());
        };
        let codes = BlockCode::new(vec![block], native.rom.len()).expect("code for this machine");
        let code = &codes[0];
        let mut ours = native.clone();
        code.run(&mut ours.machine, &Memories::new(&ours.rom, &mut ours.cart_ram));
        ours.machine.now = ours.machine.cpu.now;
        while native.machine.cpu.now != ours.machine.cpu.now {
            let now = native.machine.now;
            prop_assert!(gbxcule_gameboy::machine::is_before(now, native.machine.deadline));
            native.machine.run_instruction(&native.rom, &mut native.cart_ram);
        }
        ours.assert_equals(&native, &format!("{scene:?}"));
    }
}
