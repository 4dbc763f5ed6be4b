//! No ROM, save data or buttons make the machine panic, or run a frame without end. The machine is
//! built with overflow checks here (see the workspace's profiles), so arithmetic is covered as
//! well.

// The Color runs these, too.
#[cfg(color)]
extern crate gbxcule_gameboy_color as gbxcule_gameboy;

use gbxcule_gameboy::{Cartridge, FRAME_MCYCLES, Machine};
use proptest::prelude::*;

/// A ROM of random bytes behind a header that some mapper accepts.
fn roms() -> impl Strategy<Value = Vec<u8>> {
    let types = prop::sample::select(vec![
        0x00u8, 0x01, 0x03, 0x05, 0x06, 0x08, 0x0f, 0x10, 0x13, 0x19, 0x1b, 0x1e,
    ]);
    (types, 0u8..4, 0u8..6, prop::collection::vec(any::<u8>(), 0x400), any::<bool>()).prop_map(
        |(kind, rom_size, ram_size, bytes, dense)| {
            let mut rom: Vec<u8> = bytes.iter().copied().cycle().take(0x8000 << rom_size).collect();
            if dense {
                // Mostly instructions that touch the hardware: LDH (n),A with random n and A.
                for (index, pair) in rom.chunks_mut(4).enumerate() {
                    if index % 3 != 0 {
                        (pair[0], pair[2]) = (0x3e, 0xe0);
                    }
                }
            }
            rom[0x100..0x104].copy_from_slice(&[0x00, 0xc3, 0x50, 0x01]);
            (rom[0x143], rom[0x147], rom[0x148], rom[0x149]) = (0, kind, rom_size, ram_size);
            rom
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_programs_run_frames_of_bounded_length(
        mut rom in roms(),
        save in prop::collection::vec(any::<u8>(), 64),
        buttons in prop::collection::vec(any::<u8>(), 6),
    ) {
        let Ok(cartridge) = Cartridge::from_rom(&rom) else { return Ok(()) };
        rom.resize(cartridge.padded_len(), 0xff);
        let mut cart_ram: Vec<u8> =
            save.iter().copied().cycle().take(cartridge.ram_bytes as usize).collect();
        let mut machine = Machine::power_on(&cartridge);
        for (frame, pressed) in buttons.into_iter().enumerate() {
            let began = machine.now;
            machine.set_buttons(pressed);
            machine.run_frame(&rom, &mut cart_ram, frame % 2 == 0);
            // Switching the LCD off and on restarts its frame, but not for ever.
            prop_assert!(machine.now.wrapping_sub(began) <= 3 * FRAME_MCYCLES + 16);
        }
    }

    #[test]
    fn random_bytes_load_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..0x9000)) {
        if let Ok(cartridge) = Cartridge::from_rom(&bytes) {
            let mut rom = bytes;
            rom.resize(cartridge.padded_len(), 0xff);
            let mut cart_ram = vec![0; cartridge.ram_bytes as usize];
            Machine::power_on(&cartridge).run_frame(&rom, &mut cart_ram, true);
        }
    }

    #[test]
    fn a_machine_is_its_own_state(mut rom in roms(), frames in 1usize..4) {
        let Ok(cartridge) = Cartridge::from_rom(&rom) else { return Ok(()) };
        rom.resize(cartridge.padded_len(), 0xff);
        let mut machine = Machine::power_on(&cartridge);
        let mut cart_ram = vec![0; cartridge.ram_bytes as usize];
        machine.run_frame(&rom, &mut cart_ram, false);
        let (mut copy, mut copy_ram) = (machine, cart_ram.clone());
        for _ in 0..frames {
            machine.run_frame(&rom, &mut cart_ram, true);
            copy.run_frame(&rom, &mut copy_ram, true);
        }
        prop_assert_eq!(machine, copy);
        prop_assert_eq!(cart_ram, copy_ram);
    }
}
