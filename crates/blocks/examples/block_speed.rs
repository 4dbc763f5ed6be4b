//! Frames a second with and without blocks, in turn on one core, nothing drawn.
//!
//! ```sh
//! cargo run --release -p gbxcule-blocks --example block_speed -- ALU_LOOP 2000 [interpreter | blocks]
//! ```
//! With a third argument it runs that way only, for a profiler.

use gbxcule_blocks::Blocks;
use gbxcule_gameboy::{Cartridge, Machine};
use std::time::Instant;

const PAIRS: usize = 5;

struct Subject {
    rom: Vec<u8>,
    machine: Machine,
    cart_ram: Vec<u8>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().ok_or("the name of a built-in ROM, or the path of a file")?;
    let frames: u32 = args.get(1).map_or(Ok(2000), |frames| frames.parse())?;
    let bytes = match gbxcule_roms::by_name(name) {
        Some(rom) => rom.bytes().to_vec(),
        None => std::fs::read(name)?,
    };
    let cartridge = Cartridge::from_rom(&bytes)?;
    let mut rom = bytes;
    rom.resize(cartridge.padded_len(), 0xff);
    let cart_ram = vec![0; cartridge.ram_bytes as usize];
    let mut subjects = [(); 2].map(|()| Subject {
        rom: rom.clone(),
        machine: Machine::power_on(&cartridge),
        cart_ram: cart_ram.clone(),
    });
    let mut blocks = Blocks::new(rom.len(), 16);
    let only = args.get(2).map(String::as_str);
    let mut ratios = Vec::new();
    for pair in 0..=PAIRS {
        let [interpreted, compiled] = &mut subjects;
        let slow = if only == Some("blocks") { 0.0 } else { timed(interpreted, frames, None) };
        let fast = if only == Some("interpreter") {
            0.0
        } else {
            timed(compiled, frames, Some(&mut blocks))
        };
        if only.is_none() && interpreted.machine != compiled.machine {
            return Err("the machines differ".into());
        }
        // The first pair makes the blocks.
        if pair > 0 {
            println!(
                "{name}: {slow:.0} frames/s interpreted, {fast:.0} by {} blocks: {:.2}",
                blocks.compiled(),
                fast / slow
            );
            ratios.push(fast / slow);
        }
    }
    ratios.sort_by(f64::total_cmp);
    println!("{name}: median {:.2}", ratios[PAIRS / 2]);
    Ok(())
}

fn timed(subject: &mut Subject, frames: u32, mut blocks: Option<&mut Blocks>) -> f64 {
    let Subject { rom, machine, cart_ram } = subject;
    let start = Instant::now();
    for _ in 0..frames {
        match &mut blocks {
            Some(blocks) => blocks.run_frame(machine, rom, cart_ram, false),
            None => machine.run_frame(rom, cart_ram, false),
        }
    }
    f64::from(frames) / start.elapsed().as_secs_f64()
}
