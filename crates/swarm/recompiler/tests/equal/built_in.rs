//! All built-in ROMs, frame by frame.

use crate::program::Subject;
use gbxcule_recompiler::EagerRunner;

#[test]
fn all_built_in_roms_run_alike() {
    let mut compiled = 0;
    for rom in gbxcule_assembler::all() {
        let mut native = Subject::new(rom.bytes()).expect("a ROM that runs");
        let mut ours = native.clone();
        let mut blocks = EagerRunner::new(40);
        for frame in 0..16u32 {
            if frame % 5 == 0 {
                let buttons = frame.wrapping_mul(0x35) as u8;
                native.machine.set_buttons(buttons);
                ours.machine.set_buttons(buttons);
            }
            let draw = frame % 4 == 3;
            native.machine.run_frame(&native.rom, &mut native.cart_ram, draw);
            match frame % 3 {
                0 => blocks.run_frame(&mut ours.machine, &ours.rom, &mut ours.cart_ram, draw),
                _ => blocks.learn_frame(&mut ours.machine, &ours.rom, &mut ours.cart_ram, draw),
            }
            ours.assert_equals(&native, &format!("{} after frame {frame}", rom.name));
        }
        compiled += blocks.compiled();
    }
    assert!(compiled > 50, "{compiled} blocks in all ROMs");
}
