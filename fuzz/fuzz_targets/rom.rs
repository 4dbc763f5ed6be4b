//! Takes any bytes as a cartridge: it is refused, or run for a few frames with buttons that the
//! bytes choose.
#![no_main]

use gbxcule_gameboy::{Cartridge, FRAME_MCYCLES, Machine};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(cartridge) = Cartridge::from_rom(bytes) else { return };
    let mut rom = bytes.to_vec();
    rom.resize(cartridge.padded_len(), 0xff);
    let mut cart_ram = vec![0; cartridge.ram_bytes as usize];
    let mut machine = Machine::power_on(&cartridge);
    for (frame, &pressed) in bytes.iter().take(4).enumerate() {
        let began = machine.now;
        machine.set_buttons(pressed);
        machine.run_frame(&rom, &mut cart_ram, frame % 2 == 0);
        assert!(machine.now.wrapping_sub(began) <= 3 * FRAME_MCYCLES);
    }
});
