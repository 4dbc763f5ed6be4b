//! Scratch.
use gbxcule_gameboy::machine::is_before;
use gbxcule_gameboy::{Cartridge, Machine};
use std::collections::HashMap;
fn main() {
    for name in std::env::args().skip(1) {
        let mut rom = match gbxcule_roms::by_name(&name) {
            Some(r) => r.bytes().to_vec(),
            None => std::fs::read(&name).unwrap(),
        };
        let cartridge = Cartridge::from_rom(&rom).unwrap();
        rom.resize(cartridge.padded_len(), 0xff);
        let mut heads: HashMap<(u16, u32), (u64, u64)> = HashMap::new();
        let (mut all, mut turns) = (0u64, 0u64);
        for number in 0..4u64 {
            let mut machine = Machine::power_on(&cartridge);
            let mut ram = vec![0; cartridge.ram_bytes as usize];
            let mut seed = 77 + number;
            for frame in 0..2000u32 {
                if frame % 24 == 0 {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let b = (seed >> 33) % 9;
                    machine.set_buttons(if b == 8 { 0 } else { 1 << b });
                } else if frame % 24 == 8 {
                    machine.set_buttons(0);
                }
                if frame < 1440 {
                    machine.run_frame(&rom, &mut ram, false);
                    continue;
                }
                machine.begin_frame(false);
                let mut arrived = true;
                let mut head = None;
                while !machine.frame_done {
                    let pc = machine.cpu.pc;
                    let executes = is_before(machine.now, machine.deadline);
                    if executes {
                        if arrived {
                            head = (pc < 0x8000)
                                .then(|| (pc, machine.rom_base[usize::from(pc >> 14) & 1]));
                            turns += 1;
                            if let Some(h) = head {
                                heads.entry(h).or_default().0 += 1;
                            }
                        }
                        all += 1;
                        if let Some(h) = head {
                            heads.entry(h).or_default().1 += 1;
                        }
                        let base = machine.rom_base[usize::from(pc >> 14) & 3];
                        let op = if pc < 0x8000 {
                            rom[(u32::from(pc).wrapping_add(base)) as usize % rom.len()]
                        } else {
                            0
                        };
                        machine.run_instruction(&rom, &mut ram);
                        arrived = matches!(
                            op,
                            0x20 | 0x28
                                | 0x30
                                | 0x38
                                | 0xc0
                                | 0xc8
                                | 0xd0
                                | 0xd8
                                | 0xc9
                                | 0xd9
                                | 0xe9
                                | 0xc2
                                | 0xca
                                | 0xd2
                                | 0xda
                                | 0xc4
                                | 0xcc
                                | 0xd4
                                | 0xdc
                        );
                    } else {
                        let before = pc;
                        machine.run_instruction(&rom, &mut ram);
                        if machine.cpu.pc != before {
                            arrived = true;
                        }
                    }
                }
            }
        }
        let mut v: Vec<_> = heads.into_iter().collect();
        v.sort_by_key(|(_, c)| std::cmp::Reverse(c.1));
        println!(
            "{name}: {} instructions a frame, {} turns, {} heads",
            all / (4 * 560),
            turns / (4 * 560),
            v.len()
        );
        let mut sum = (0, 0);
        for (i, (h, c)) in v.iter().enumerate() {
            sum.0 += c.0;
            sum.1 += c.1;
            if i < 12 {
                println!(
                    "  {:04x} {:x}: {} visits, {:.1} long, {:.1} % of all",
                    h.0,
                    h.1,
                    c.0,
                    c.1 as f64 / c.0 as f64,
                    c.1 as f64 * 100.0 / all as f64
                );
            }
            if [4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256].contains(&(i + 1)) {
                println!(
                    "  {:3} heads: {:.1} % of instructions, {:.1} % of turns",
                    i + 1,
                    sum.1 as f64 * 100.0 / all as f64,
                    sum.0 as f64 * 100.0 / turns as f64
                );
            }
        }
    }
}
