//! Frames a second of processor time with and without blocks, in turn on one core, nothing drawn.
//! Blocks are made in a warm-up that is not timed.
//!
//! ```sh
//! cargo run --release -p gbxcule-blocks --example block_speed -- ALU_LOOP 6000
//! valgrind --tool=callgrind --toggle-collect='*timed_frames*' \
//!     target/release/examples/block_speed ALU_LOOP 150 blocks
//! ```
//! With a third argument, `interpreter` or `blocks`, it runs that way only, for a profiler.

use gbxcule_blocks::Blocks;
use gbxcule_gameboy::{Cartridge, Machine};
use std::time::Instant;

const PAIRS: usize = 5;
/// Times that the interpreter runs an instruction before it becomes the head of a block.
const THRESHOLD: u8 = 100;

struct Subject {
    rom: Vec<u8>,
    machine: Machine,
    cart_ram: Vec<u8>,
    blocks: Option<Blocks>,
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
    let subject = |blocks| Subject {
        rom: rom.clone(),
        machine: Machine::power_on(&cartridge),
        cart_ram: vec![0; cartridge.ram_bytes as usize],
        blocks,
    };
    let (mut interpreted, mut compiled) =
        (subject(None), subject(Some(Blocks::new(rom.len(), THRESHOLD))));
    match args.get(2).map(String::as_str) {
        Some("interpreter") => alone(&mut interpreted, frames),
        Some("blocks") => alone(&mut compiled, frames),
        Some(other) => return Err(format!("`{other}` is neither interpreter nor blocks").into()),
        None => pairs(name, &mut interpreted, &mut compiled, frames)?,
    }
    Ok(())
}

fn alone(subject: &mut Subject, frames: u32) {
    run(subject, frames);
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
    run(interpreted, frames);
    run(compiled, frames);
    let mut ratios = Vec::with_capacity(PAIRS);
    for _ in 0..PAIRS {
        let slow = f64::from(frames) / timed_frames(interpreted, frames);
        let fast = f64::from(frames) / timed_frames(compiled, frames);
        if interpreted.machine != compiled.machine {
            return Err("the machines differ".into());
        }
        println!("{name}: {slow:.0} frames/s interpreted, {fast:.0} by blocks");
        ratios.push(fast / slow);
    }
    ratios.sort_by(f64::total_cmp);
    let [least, median, most] = [0, PAIRS / 2, PAIRS - 1].map(|at| ratios[at]);
    let blocks = compiled.blocks.as_ref().map_or(0, Blocks::compiled);
    println!("{name}: {median:.2} ({least:.2} to {most:.2}) times as fast, {blocks} blocks");
    Ok(())
}

/// Seconds of processor time that frames take.
#[inline(never)]
fn timed_frames(subject: &mut Subject, frames: u32) -> f64 {
    let clock = Instant::now();
    let before = processor_ns();
    run(subject, frames);
    match (before, processor_ns()) {
        (Some(before), Some(after)) => (after - before) as f64 * 1e-9,
        _ => clock.elapsed().as_secs_f64(),
    }
}

/// Nanoseconds that this thread ran; nothing where the system doesn't say it so.
fn processor_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn run(subject: &mut Subject, frames: u32) {
    let Subject { rom, machine, cart_ram, blocks } = subject;
    for _ in 0..frames {
        match blocks {
            Some(blocks) => blocks.run_frame(machine, rom, cart_ram, false),
            None => machine.run_frame(rom, cart_ram, false),
        }
    }
}
