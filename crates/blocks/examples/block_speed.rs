//! Frames with and without blocks, in turn on one core; blocks are made in a warm-up that is not
//! timed. A slice of frames takes some milliseconds, so that what else the machine does hits both
//! ways alike, or is far from the median.
//!
//! ```sh
//! cargo run --release -p gbxcule-blocks --example block_speed -- ALU_LOOP 6000
//! valgrind --tool=callgrind --toggle-collect='*timed_frames*' \
//!     target/release/examples/block_speed ALU_LOOP 150 blocks
//! ```
//! With a third argument, `interpreter` or `blocks`, it runs that way only, for a profiler. With
//! `drawn` as the last one every frame is drawn.

use gbxcule_blocks::Blocks;
use gbxcule_gameboy::{Cartridge, Machine};
use std::time::Instant;

/// Pairs of slices.
const PAIRS: usize = 101;
/// Times that a program arrives at an address before a block is made there.
const THRESHOLD: u32 = 100;

struct Subject {
    rom: Vec<u8>,
    machine: Machine,
    cart_ram: Vec<u8>,
    blocks: Option<Blocks>,
    draw: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().ok_or("the name of a built-in ROM, or the path of a file")?;
    let frames: u32 = args.get(1).map_or(Ok(6000), |frames| frames.parse())?;
    let mut rom = match gbxcule_roms::by_name(name) {
        Some(rom) => rom.bytes().to_vec(),
        None => std::fs::read(name)?,
    };
    let cartridge = Cartridge::from_rom(&rom)?;
    rom.resize(cartridge.padded_len(), 0xff);
    let draw = args.last().is_some_and(|last| last == "drawn");
    let subject = |blocks| Subject {
        rom: rom.clone(),
        machine: Machine::power_on(&cartridge),
        cart_ram: vec![0; cartridge.ram_bytes as usize],
        blocks,
        draw,
    };
    let (mut interpreted, mut compiled) = (subject(None), subject(Some(Blocks::new(THRESHOLD))));
    match args.get(2).map(String::as_str) {
        Some("interpreter") => alone(&mut interpreted, frames),
        Some("blocks") => alone(&mut compiled, frames),
        None | Some("drawn") => pairs(name, &mut interpreted, &mut compiled, frames)?,
        Some(other) => return Err(format!("`{other}` is neither interpreter nor blocks").into()),
    }
    Ok(())
}

fn alone(subject: &mut Subject, frames: u32) {
    warm_up(subject, frames);
    let start = subject.machine.now;
    timed_frames(subject, frames);
    println!("{} M-cycles", subject.machine.now.wrapping_sub(start));
}

fn pairs(
    name: &str,
    interpreted: &mut Subject,
    compiled: &mut Subject,
    frames: u32,
) -> Result<(), Box<dyn std::error::Error>> {
    warm_up(interpreted, frames);
    warm_up(compiled, frames);
    let slice = (frames / PAIRS as u32).max(1);
    let (mut ratios, mut rates) = (Vec::with_capacity(PAIRS), [0.0f64; 2]);
    for _ in 0..PAIRS {
        let slow = f64::from(slice) / timed_frames(interpreted, slice);
        let fast = f64::from(slice) / timed_frames(compiled, slice);
        if interpreted.machine != compiled.machine {
            return Err("the machines differ".into());
        }
        rates = [rates[0].max(slow), rates[1].max(fast)];
        ratios.push(fast / slow);
    }
    ratios.sort_by(f64::total_cmp);
    let [lower, median, upper] = [PAIRS / 4, PAIRS / 2, PAIRS * 3 / 4].map(|at| ratios[at]);
    let blocks = compiled.blocks.as_ref().map_or(0, Blocks::compiled);
    let [slow, fast] = rates;
    println!(
        "{name}: {median:.2} (quartiles {lower:.2} and {upper:.2}) times as fast, {blocks} blocks; at best {slow:.0} \
         frames/s interpreted, {fast:.0} by blocks"
    );
    Ok(())
}

/// Seconds that frames take.
#[inline(never)]
fn timed_frames(subject: &mut Subject, frames: u32) -> f64 {
    let clock = Instant::now();
    let Subject { rom, machine, cart_ram, blocks, draw } = subject;
    for _ in 0..frames {
        match blocks {
            Some(blocks) => blocks.run_frame(machine, rom, cart_ram, *draw),
            None => machine.run_frame(rom, cart_ram, *draw),
        }
    }
    clock.elapsed().as_secs_f64()
}

/// Runs frames and makes blocks.
fn warm_up(subject: &mut Subject, frames: u32) {
    let Subject { rom, machine, cart_ram, blocks, draw } = subject;
    for _ in 0..frames {
        match blocks {
            Some(blocks) => blocks.learn_frame(machine, rom, cart_ram, *draw),
            None => machine.run_frame(rom, cart_ram, *draw),
        }
    }
}
