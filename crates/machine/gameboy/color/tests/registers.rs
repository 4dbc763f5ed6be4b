//! Registers that the Color's boot ROM leaves locked, open or chosen for good.

use gbxcule_gameboy_color::{Cartridge, Machine};

const KEY1: u16 = 0xff4d;
const VBK: u16 = 0xff4f;
const HDMA5: u16 = 0xff55;
const BCPS: u16 = 0xff68;
const BCPD: u16 = 0xff69;
const OPRI: u16 = 0xff6c;
const SVBK: u16 = 0xff70;

/// A Color that is about to run a program whose header has this byte at 0143.
fn handed_over(flag: u8) -> Machine {
    let mut rom = vec![0; 0x8000];
    rom[0x143] = flag;
    Machine::power_on(&Cartridge::from_rom(&rom).expect("a good header"))
}

fn access(machine: &mut Machine, address: u16, value: Option<u8>) -> u8 {
    let mut cpu = machine.cpu;
    cpu.now = machine.now;
    if let Some(value) = value {
        cpu.write(machine, &[0; 0x8000], &mut [], address, value);
    }
    cpu.read(machine, &[0; 0x8000], &mut [], address)
}

/// The value that is read after another was written.
fn written(machine: &mut Machine, address: u16, value: u8) -> u8 {
    access(machine, address, Some(value))
}

// SameBoy; docboy obj_priority_change_opri, opri_write_read.
#[test]
fn opri_reads_back_but_the_boot_rom_has_chosen_the_order_of_objects() {
    for (flag, sorts_by_x) in [(0x80, false), (0x88, true)] {
        let mut machine = handed_over(flag);
        assert_eq!(access(&mut machine, OPRI, None), 0xfe, "{flag:02x}");
        assert_eq!(written(&mut machine, OPRI, 1), 0xff, "{flag:02x}");
        assert_eq!(machine.ppu.sorts_by_x, sorts_by_x, "{flag:02x}");
        assert_eq!(written(&mut machine, OPRI, 0), 0xfe, "{flag:02x}");
    }
    let mut original = handed_over(0);
    assert_eq!((written(&mut original, OPRI, 0), original.ppu.sorts_by_x), (0xff, true));
}

// docboy cgb_dmg_mode, cgb_dmg_ext_mode.
#[test]
fn bits_2_and_3_of_the_headers_flag_lock_the_registers_of_the_picture() {
    for flag in [0x00, 0x84, 0x88, 0x8c] {
        let mut machine = handed_over(flag);
        let is_open = flag & 8 != 0;
        assert!(machine.ppu.compatible);
        assert_eq!(written(&mut machine, BCPS, 0x81), 0xc1, "{flag:02x}");
        for (address, value) in [(BCPD, 0x12), (HDMA5, 0x80)] {
            assert_eq!(written(&mut machine, address, value), 0xff, "{flag:02x}");
        }
        for (address, value, open) in [(KEY1, 1, 0x7f), (SVBK, 3, 0xfb)] {
            let expected = if is_open { open } else { 0xff };
            assert_eq!(written(&mut machine, address, value), expected, "{flag:02x} {address:04x}");
        }
        let bank = if is_open { 0xff } else { 0xfe };
        assert_eq!(written(&mut machine, VBK, 1), bank, "{flag:02x}");
    }
}

// docboy boot_regs_joypad, mooneye boot_hwio-C.
#[test]
fn the_boot_rom_leaves_both_rows_of_buttons_selected_for_programs_of_the_color_alone() {
    assert_eq!([0x80, 0x00].map(|flag| access(&mut handed_over(flag), 0xff00, None)), [0xcf, 0xff]);
}
