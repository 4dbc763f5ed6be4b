//! Machines run by blocks equal machines run by the interpreter, in every byte.

use gbxcule_blocks::Blocks;
use gbxcule_gameboy::{Cartridge, Machine};

/// A ROM, padded, with its machine and cartridge RAM after power-on.
fn powered_on(rom: &[u8]) -> (Vec<u8>, Machine, Vec<u8>) {
    let cartridge = Cartridge::from_rom(rom).expect("a ROM that runs");
    let mut rom = rom.to_vec();
    rom.resize(cartridge.padded_len(), 0xff);
    (rom, Machine::power_on(&cartridge), vec![0; cartridge.ram_bytes as usize])
}

#[test]
fn all_built_in_roms_run_alike() {
    for rom in gbxcule_roms::all() {
        let (bytes, mut native, mut native_ram) = powered_on(rom.bytes());
        let (mut machine, mut ram) = (native, native_ram.clone());
        let mut blocks = Blocks::new(bytes.len(), 8);
        for frame in 0..40u32 {
            if frame % 5 == 0 {
                let buttons = frame.wrapping_mul(0x35) as u8;
                native.set_buttons(buttons);
                machine.set_buttons(buttons);
            }
            let draw = frame % 4 == 3;
            native.run_frame(&bytes, &mut native_ram, draw);
            blocks.run_frame(&mut machine, &bytes, &mut ram, draw);
            if let Some(difference) = machine.first_difference(&native) {
                panic!("{} after frame {frame}: {difference}", rom.name);
            }
            assert!(machine == native && ram == native_ram, "{} after frame {frame}", rom.name);
        }
        println!("{}: {} blocks", rom.name, blocks.compiled);
    }
}
