//! Issues of warps whose 32 lanes are machines with random buttons: the step's machine code as
//! NVRTC makes it, run by the stand-ins for driver and GPU (the crate `gpu-sim`). Each machine's
//! state must be the native machine's.
//!
//! `make gpu-counts` sets the stand-ins up; `HOST_GPU_COUNTS` names the folder that they write
//! `launches.tsv` into. `... --example warp_counts -- [OPTION...] [ROM...]`; a name that ends in
//! `.gb` is a game's file. Options: `--no-recompile`; `--draw-last` draws the last frame of a step;
//! `--warps N`; `--before N`, steps before those that are counted.

use gbxcule_runtime::Device;
use gbxcule_swarm::{
    DeviceConfig, DeviceSwarm, NativeSwarm, Recompile, Rom, Schedule, SwarmConfig,
};
use std::path::PathBuf;

/// Five ROMs that do one thing, and the games.
const ROMS: [&str; 5] = ["ALU_LOOP", "MEM_RWB", "FLOW_STACK", "JOY_DIVERGE_PERSIST", "PPU_WINDOW"];
const GAMES: [&str; 7] = [
    "PEARL_DRIFT",
    "KEEP_OF_KEYS",
    "EMBER_LEAP",
    "TARN_MASON",
    "LANTERN_WING",
    "LAST_BEACON",
    "AMBER_ROAD",
];
/// Machines of a warp, one in each lane.
const LANES: usize = 32;
/// Steps before those that are counted: machines have gone their own ways.
const STEPS_BEFORE: usize = 8;
/// Steps that are counted.
const STEPS: usize = 2;
/// Columns of `launches.tsv` after kernel, blocks and threads.
const COLUMNS: usize = 13;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let mut named: Vec<String> = std::env::args().skip(1).collect();
    let mut takes = |option: &str| {
        let arguments = named.len();
        named.retain(|argument| argument != option);
        named.len() < arguments
    };
    let draw_last = takes("--draw-last");
    let recompile = if takes("--no-recompile") { Recompile::Off } else { Recompile::WhereItWins };
    let warps = number(&mut named, "--warps")?.unwrap_or(1);
    let steps_before = number(&mut named, "--before")?.unwrap_or(STEPS_BEFORE);
    let all = ROMS.iter().chain(&GAMES).map(|name| (*name).to_owned());
    let roms = if named.is_empty() { all.collect() } else { named };
    println!(
        "| ROM | issues of a machine's frame | lanes at work | sectors of memory | sectors of local memory |\n\
         |---|---:|---:|---:|---:|"
    );
    for name in roms {
        let config = SwarmConfig { recompile, draw_last, ..SwarmConfig::new(LANES * warps) };
        println!("{}", row(&name, config, steps_before)?);
    }
    Ok(())
}

/// Takes an option with its number out of the arguments.
fn number(arguments: &mut Vec<String>, option: &str) -> Outcome<Option<usize>> {
    let Some(at) = arguments.iter().position(|argument| argument == option) else {
        return Ok(None);
    };
    let number = arguments.get(at + 1).ok_or(format!("{option} takes a number"))?.parse()?;
    arguments.drain(at..at + 2);
    Ok(Some(number))
}

/// Runs both swarms and counts the last steps.
fn row(name: &str, config: SwarmConfig, steps_before: usize) -> Outcome<String> {
    let is_file = name.ends_with(".gb");
    let file = if is_file { std::fs::read(name)? } else { Vec::new() };
    let built_in = || Ok::<_, &str>(gbxcule_assembler::by_name(name).ok_or("no such ROM")?.bytes());
    let rom = Rom::new(if is_file { &file } else { built_in()? })?;
    // A game's step has the default's frames; of what a ROM does over and over three show all.
    let is_game = is_file || GAMES.contains(&name);
    let schedule = if is_game { Schedule::default() } else { Schedule::new(3, 2)? };
    let config = SwarmConfig { schedule, ..config };
    let machines = config.num_envs;
    let frames = config.schedule.frames_per_step();
    let mut native = NativeSwarm::new(rom.clone(), config.clone())?;
    let device = DeviceConfig { device: Device::Cuda(0), ..DeviceConfig::default() };
    let mut ours = DeviceSwarm::new(rom, config, device)?;
    let mut buttons = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..steps_before + STEPS {
        let actions: Vec<u8> = (0..machines).map(|_| random(&mut buttons)).collect();
        native.step(&actions)?;
        ours.step(&actions)?;
    }
    for env in 0..machines {
        let (native, ours) = (native.snapshot(env)?, ours.snapshot(env)?);
        if let Some(difference) = ours.machine().first_difference(native.machine()) {
            return Err(format!("{name}, machine {env}: {difference}").into());
        }
    }
    let sums = last_steps()?;
    let machine_frames = (STEPS * machines) as f64 * f64::from(frames);
    let a_frame = |at: usize| sums[at] as f64 / machine_frames;
    Ok(format!(
        "| {name} | {:.0} | {:.1} | {:.0} | {:.0} |",
        a_frame(0),
        sums[1] as f64 / sums[0] as f64,
        a_frame(4) + a_frame(6) + a_frame(12),
        a_frame(8) + a_frame(10),
    ))
}

/// One of nine buttons.
fn random(state: &mut u64) -> u8 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state % 9) as u8
}

/// Sums of the columns over the last launches of the step.
fn last_steps() -> Outcome<[u64; COLUMNS]> {
    let folder = std::env::var_os("HOST_GPU_COUNTS").ok_or("HOST_GPU_COUNTS names no folder")?;
    let lines = std::fs::read_to_string(PathBuf::from(folder).join("launches.tsv"))?;
    let steps: Vec<&str> = lines.lines().filter(|line| line.starts_with("step\t")).collect();
    let mut sums = [0; COLUMNS];
    for line in &steps[steps.len().saturating_sub(STEPS)..] {
        for (sum, number) in sums.iter_mut().zip(line.split('\t').skip(3)) {
            *sum += number.parse::<u64>()?;
        }
    }
    Ok(sums)
}
