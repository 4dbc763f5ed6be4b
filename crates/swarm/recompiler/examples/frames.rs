//! Runs one machine for `examples/speed`, which compares emulators, and for profilers.
//!
//! ```sh
//! cargo build --release -p gbxcule-recompiler --example frames
//! printf '150 0\n150 0\n' | valgrind --tool=callgrind --toggle-collect='*timed_frames*' \
//!     target/release/examples/frames ALU_LOOP blocks
//! ```
//! The arguments are a built-in ROM or a file, `interpreter`, `blocks` or `counted`, and `drawn` if
//! every frame is drawn. Each line of standard input has pairs of numbers, frames and the buttons
//! that are held in them; the answer is the seconds of the processor that the line took. The first
//! line is a warm-up: blocks are made in it, nothing is counted as a timed frame. `counted` counts
//! where the program arrives, as a swarm does in some frames, and makes no block. The package
//! `gbxcule-recompiler-color` has this program as `frames_color`.

#[cfg(color)]
extern crate gbxcule_gameboy_color as gbxcule_gameboy;
#[cfg(color)]
extern crate gbxcule_recompiler_color as gbxcule_recompiler;

use std::error::Error;
use std::io::{Write, stdin, stdout};
use std::sync::LazyLock;
use std::time::Instant;

use gbxcule_gameboy::{Cartridge, Machine};
use gbxcule_recompiler::EagerRunner;

/// Times that a program arrives at an address before a block is made there.
const THRESHOLD: u32 = 100;

struct Subject {
    rom: Vec<u8>,
    machine: Machine,
    cart_ram: Vec<u8>,
    blocks: Option<EagerRunner>,
    draw: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (name, way, draw) = match args[..] {
        [name, way] => (name, way, false),
        [name, way, "drawn"] => (name, way, true),
        _ => return Err("frames ROM interpreter|blocks|counted [drawn]".into()),
    };
    let (threshold, learns_always) = match way {
        "interpreter" => (None, false),
        "blocks" => (Some(THRESHOLD), false),
        "counted" => (Some(u32::MAX), true),
        _ => return Err(format!("`{way}` is neither interpreter, blocks nor counted").into()),
    };
    let mut rom = match gbxcule_assembler::by_name(name) {
        Some(rom) => rom.bytes().to_vec(),
        None => std::fs::read(name)?,
    };
    let cartridge = Cartridge::from_rom(&rom)?;
    rom.resize(cartridge.padded_len(), 0xff);
    let mut subject = Subject {
        machine: Machine::power_on(&cartridge),
        cart_ram: vec![0; cartridge.ram_bytes as usize],
        blocks: threshold.map(EagerRunner::new),
        rom,
        draw,
    };
    for (turn, line) in stdin().lines().enumerate() {
        let numbers: Result<Vec<u32>, _> = line?.split_whitespace().map(str::parse).collect();
        let numbers = numbers?;
        let (pairs, []) = numbers.as_chunks::<2>() else {
            return Err("a line has pairs of frames and buttons".into());
        };
        let begun = seconds();
        if turn == 0 || learns_always {
            subject.learn_frames(pairs);
        } else {
            subject.timed_frames(pairs);
        }
        println!("{}", seconds() - begun);
        stdout().flush()?;
    }
    Ok(())
}

impl Subject {
    /// Runs frames. A profiler counts what this function calls.
    #[inline(never)]
    fn timed_frames(&mut self, pairs: &[[u32; 2]]) {
        self.frames(pairs, |blocks, machine, rom, cart_ram, draw| {
            blocks.run_frame(machine, rom, cart_ram, draw);
        });
    }

    /// Runs frames and makes blocks.
    fn learn_frames(&mut self, pairs: &[[u32; 2]]) {
        self.frames(pairs, EagerRunner::learn_frame);
    }

    #[inline(always)]
    fn frames<R>(&mut self, pairs: &[[u32; 2]], by_blocks: R)
    where
        R: Fn(&mut EagerRunner, &mut Machine, &[u8], &mut [u8], bool),
    {
        let Self { rom, machine, cart_ram, blocks, draw } = self;
        for &[frames, buttons] in pairs {
            machine.set_buttons(buttons as u8);
            for _ in 0..frames {
                match blocks {
                    Some(blocks) => by_blocks(blocks, machine, rom, cart_ram, *draw),
                    None => machine.run_frame(rom, cart_ram, *draw),
                }
            }
        }
    }
}

/// Seconds that this thread has run, or, where nothing tells them, that have passed.
fn seconds() -> f64 {
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    // The number is brought up to date when the thread is scheduled.
    std::thread::yield_now();
    let ran = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = ran.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    ran.map_or_else(|| BEGUN.elapsed().as_secs_f64(), |nanoseconds| nanoseconds as f64 * 1e-9)
}
