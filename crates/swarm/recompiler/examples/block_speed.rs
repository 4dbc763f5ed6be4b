//! Frames with and without blocks, and PyBoy's, in turn on one core; blocks are made in a warm-up
//! that is not timed. Times are the processor's where `/proc` tells them, so that a busy machine
//! hits all ways alike; give frames enough for slices of some 10 ms.
//!
//! ```sh
//! cargo run --release -p gbxcule-recompiler --example block_speed -- ALU_LOOP 6000
//! GBXCULE_PYTHON=.venv/bin/python \
//!     cargo run --release -p gbxcule-recompiler --example block_speed -- ALU_LOOP 6000
//! valgrind --tool=callgrind --toggle-collect='*timed_frames*' \
//!     target/release/examples/block_speed ALU_LOOP 150 blocks
//! ```
//! With a third argument, `interpreter` or `blocks`, it runs that way only, for a profiler;
//! `counted` compares frames in which arrivals are counted with others, frame by frame. With
//! `drawn` as the last one every frame is drawn, with `played` random buttons are held for 8 of
//! each 24 frames. `GBXCULE_PYTHON` is a Python that has PyBoy. The package
//! `gbxcule-recompiler-color` has it as `block_speed_color`.

#[cfg(color)]
extern crate gbxcule_gameboy_color as gbxcule_gameboy;
#[cfg(color)]
extern crate gbxcule_recompiler_color as gbxcule_recompiler;

use gbxcule_gameboy::{Cartridge, Machine};
use gbxcule_recompiler::EagerRunner;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::LazyLock;
use std::time::Instant;

/// Slices of each way.
const TURNS: usize = 101;
/// Times that a program arrives at an address before a block is made there.
const THRESHOLD: u32 = 100;

/// PyBoy as a process that runs as many frames as it is told to and answers with the seconds.
const PYBOY: &str = "
import sys, time
from pyboy import PyBoy
pyboy = PyBoy(sys.argv[1], window='null', sound_emulated=False, log_level='CRITICAL')
pyboy.set_emulation_speed(0)
drawn, played = sys.argv[2] == 'drawn', sys.argv[2] == 'played'
names = ['right', 'left', 'up', 'down', 'a', 'b', 'select', 'start']
state, passed, held = 0x9E3779B97F4A7C15, 0, None
for line in sys.stdin:
    begun = time.thread_time()
    if played:
        left = int(line)
        while left > 0:
            if passed % 24 == 0:
                state ^= state << 13 & 0xFFFFFFFFFFFFFFFF
                state ^= state >> 7
                state ^= state << 17 & 0xFFFFFFFFFFFFFFFF
                held = state % 9
                if held:
                    pyboy.button_press(names[held - 1])
            elif passed % 24 == 8 and held:
                pyboy.button_release(names[held - 1])
            run = min(left, (8 if passed % 24 < 8 else 24) - passed % 24)
            pyboy.tick(run, render=False)
            passed += run
            left -= run
    elif drawn:
        for frame in range(int(line)):
            pyboy.tick(1, render=True)
    else:
        pyboy.tick(int(line), render=False)
    print(time.thread_time() - begun, flush=True)
";

struct Subject {
    rom: Vec<u8>,
    machine: Machine,
    cart_ram: Vec<u8>,
    blocks: Option<EagerRunner>,
    draw: bool,
    buttons: Option<RandomButtons>,
}

/// Buttons of a player who knows nothing.
#[derive(Clone, Copy)]
struct RandomButtons {
    state: u64,
    passed: u32,
}

impl RandomButtons {
    const FIRST: Self = Self { state: 0x9E37_79B9_7F4A_7C15, passed: 0 };

    /// Holds none or one of eight buttons before each 24th frame, and nothing 8 frames later.
    fn before_frame(&mut self, machine: &mut Machine) {
        match self.passed % 24 {
            0 => {
                self.state ^= self.state << 13;
                self.state ^= self.state >> 7;
                self.state ^= self.state << 17;
                let held = (self.state % 9) as u32;
                machine.set_buttons(1_u8.checked_shl(held.wrapping_sub(1)).unwrap_or(0));
            }
            8 => machine.set_buttons(0),
            _ => {}
        }
        self.passed += 1;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().ok_or("the name of a built-in ROM, or the path of a file")?;
    let frames: u32 = args.get(1).map_or(Ok(6000), |frames| frames.parse())?;
    let mut rom = match gbxcule_assembler::by_name(name) {
        Some(rom) => rom.bytes().to_vec(),
        None => std::fs::read(name)?,
    };
    let cartridge = Cartridge::from_rom(&rom)?;
    rom.resize(cartridge.padded_len(), 0xff);
    let mode = args.last().map_or("", String::as_str);
    let draw = mode == "drawn";
    let subject = |blocks| Subject {
        rom: rom.clone(),
        machine: Machine::power_on(&cartridge),
        cart_ram: vec![0; cartridge.ram_bytes as usize],
        blocks,
        draw,
        buttons: (mode == "played").then_some(RandomButtons::FIRST),
    };
    let (mut interpreted, mut compiled) =
        (subject(None), subject(Some(EagerRunner::new(THRESHOLD))));
    match args.get(2).map(String::as_str) {
        Some("interpreter") => alone(&mut interpreted, frames),
        Some("blocks") => alone(&mut compiled, frames),
        Some("counted") => counted(&mut interpreted, frames),
        None | Some("drawn" | "played") => {
            let python = std::env::var_os("GBXCULE_PYTHON");
            let pyboy = python.map(|python| PyBoy::start(&python, &rom, mode)).transpose()?;
            turns(name, &mut interpreted, &mut compiled, pyboy, frames)?;
        }
        Some(other) => {
            return Err(format!("`{other}` is neither interpreter, blocks nor counted").into());
        }
    }
    Ok(())
}

fn alone(subject: &mut Subject, frames: u32) {
    warm_up(subject, frames);
    let start = subject.machine.now;
    timed_frames(subject, frames);
    println!("{} M-cycles", subject.machine.now.wrapping_sub(start));
}

/// Frames interpreted and frames counted, in turn; no block is made.
fn counted(subject: &mut Subject, frames: u32) {
    warm_up(subject, frames);
    let mut counter = Some(EagerRunner::new(u32::MAX));
    let mut microseconds: [Vec<f64>; 2] = [const { Vec::new() }; 2];
    for _ in 0..frames {
        microseconds[0].push(1e6 * timed_frames(subject, 1));
        std::mem::swap(&mut subject.blocks, &mut counter);
        let begun = seconds();
        warm_up(subject, 1);
        microseconds[1].push(1e6 * (seconds() - begun));
        std::mem::swap(&mut subject.blocks, &mut counter);
    }
    for (way, microseconds) in ["interpreted", "counted"].iter().zip(microseconds) {
        println!("{way}: {} microseconds a frame", Spread::new(microseconds.into_iter()).text(0));
    }
}

fn turns(
    name: &str,
    interpreted: &mut Subject,
    compiled: &mut Subject,
    mut pyboy: Option<PyBoy>,
    frames: u32,
) -> Result<(), Box<dyn std::error::Error>> {
    warm_up(interpreted, frames);
    warm_up(compiled, frames);
    if let Some(pyboy) = &mut pyboy {
        pyboy.seconds(frames)?;
    }
    let slice = (frames / TURNS as u32).max(1);
    let mut rates: [Vec<f64>; 3] = [const { Vec::new() }; 3];
    for _ in 0..TURNS {
        rates[0].push(f64::from(slice) / timed_frames(interpreted, slice));
        rates[1].push(f64::from(slice) / timed_frames(compiled, slice));
        if interpreted.machine != compiled.machine {
            return Err("the machines differ".into());
        }
        if let Some(pyboy) = &mut pyboy {
            rates[2].push(f64::from(slice) / pyboy.seconds(slice)?);
        }
    }
    let blocks = compiled.blocks.as_ref().map_or(0, EagerRunner::compiled);
    println!("{name}: {blocks} blocks");
    for (way, rates) in ["interpreter", "blocks", "PyBoy"].iter().zip(&rates) {
        println!("{way}: {} frames/s", Spread::new(rates.iter().copied()).text(0));
    }
    let ratios = |over: usize, under: usize| {
        let pairs = rates[over].iter().zip(&rates[under]);
        Spread::new(pairs.map(|(over, under)| over / under)).text(2)
    };
    println!("blocks / interpreter: {}", ratios(1, 0));
    if pyboy.is_some() {
        println!("interpreter / PyBoy: {}\nblocks / PyBoy: {}", ratios(0, 2), ratios(1, 2));
    }
    Ok(())
}

/// The quartiles of some numbers.
struct Spread([f64; 3]);

impl Spread {
    fn new(numbers: impl Iterator<Item = f64>) -> Self {
        let mut numbers: Vec<f64> = numbers.collect();
        numbers.sort_by(f64::total_cmp);
        let at = |quarter: usize| numbers.get(numbers.len() * quarter / 4).copied();
        Self([1, 2, 3].map(|quarter| at(quarter).unwrap_or(f64::NAN)))
    }

    fn text(&self, digits: usize) -> String {
        let Self([lower, median, upper]) = self;
        format!("{median:.digits$} ({lower:.digits$} to {upper:.digits$})")
    }
}

/// A PyBoy beside us.
struct PyBoy {
    process: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Holds the ROM as a file.
    _folder: tempfile::TempDir,
}

impl PyBoy {
    fn start(
        python: &std::ffi::OsStr,
        rom: &[u8],
        mode: &str,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("rom.gb");
        std::fs::write(&path, rom)?;
        let mut command = Command::new(python);
        command.args(["-c", PYBOY]).arg(path).arg(mode);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let (Some(ask), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("no pipes to PyBoy".into());
        };
        Ok(Self { process, ask, answers: BufReader::new(answers), _folder: folder })
    }

    /// Seconds that frames take it.
    fn seconds(&mut self, frames: u32) -> Result<f64, Box<dyn std::error::Error>> {
        writeln!(self.ask, "{frames}")?;
        self.ask.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(answer.trim().parse().map_err(|_| format!("PyBoy said `{}`", answer.trim()))?)
    }
}

impl Drop for PyBoy {
    fn drop(&mut self) {
        // The process may have ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Seconds that frames take.
#[inline(never)]
fn timed_frames(subject: &mut Subject, frames: u32) -> f64 {
    let begun = seconds();
    let Subject { rom, machine, cart_ram, blocks, draw, buttons } = subject;
    for _ in 0..frames {
        if let Some(buttons) = buttons {
            buttons.before_frame(machine);
        }
        match blocks {
            Some(blocks) => blocks.run_frame(machine, rom, cart_ram, *draw),
            None => machine.run_frame(rom, cart_ram, *draw),
        }
    }
    seconds() - begun
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

/// Runs frames and makes blocks.
fn warm_up(subject: &mut Subject, frames: u32) {
    let Subject { rom, machine, cart_ram, blocks, draw, buttons } = subject;
    for _ in 0..frames {
        if let Some(buttons) = buttons {
            buttons.before_frame(machine);
        }
        match blocks {
            Some(blocks) => blocks.learn_frame(machine, rom, cart_ram, *draw),
            None => machine.run_frame(rom, cart_ram, *draw),
        }
    }
}
