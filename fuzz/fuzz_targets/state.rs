//! Takes any bytes as a saved state: it is refused, or gives a machine that runs. The first bytes
//! choose how many bytes of a valid state are replaced, so that the fuzzer gets behind the header
//! quickly.
#![no_main]

use gbxcule_gameboy::{Cartridge, Machine};
use libfuzzer_sys::fuzz_target;

fn cartridge() -> (Cartridge, Vec<u8>) {
    let mut rom = vec![0; 0x8000];
    (rom[0x147], rom[0x149]) = (0x10, 0x03);
    (Cartridge::from_rom(&rom).expect("an MBC3 header"), rom)
}

fuzz_target!(|bytes: &[u8]| {
    let (cartridge, rom) = cartridge();
    let mut cart_ram = vec![0; cartridge.ram_bytes as usize];
    let machine = Machine::power_on(&cartridge);
    let mut state = vec![0; machine.state_len(&cartridge)];
    machine.save_state(&cartridge, &cart_ram, &mut state).expect("a buffer of the right length");
    for change in bytes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % state.len();
        state[at] = change[2];
    }
    if let Ok(mut machine) = Machine::load_state(&cartridge, &state, &mut cart_ram) {
        for frame in 0..3 {
            machine.run_frame(&rom, &mut cart_ram, frame % 2 == 0);
        }
    }
});
