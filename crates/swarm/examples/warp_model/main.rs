//! How well the machines of a warp run together: a model, no measurement. Machines are run natively
//! with random buttons, what each does is written down, and so many at a time are laid side by side
//! as a GPU would run them.
//!
//! ```sh
//! cargo run -p gbxcule-swarm --example step_text -- runs/cuda full_step sm_90
//! nvdisasm -c runs/cuda/full_step.sm_90.cubin > runs/cuda/sm_90.sass
//! cargo run --release -p gbxcule-swarm --example warp_model -- runs/cuda/sm_90.sass [ROM...]
//! ```
//!
//! A path through machine code: `... -- runs/cuda/sm_90.sass 0x20` prints what `JR NZ,e` executes.

mod code;
mod lockstep;
mod trace;

use std::collections::BTreeSet;

use code::{Code, Path};
use gbxcule_swarm::{Rom, Schedule};
use lockstep::{Choice, Costs, Count, Shape, Warp};
use trace::{Event, Lane};

const ROMS: [&str; 4] = ["PEARL_DRIFT", "ALU_LOOP", "MEM_RWB", "JOY_DIVERGE_PERSIST"];
/// Machines that are traced; warps are made of neighbours.
const MACHINES: u64 = 128;
/// Lanes of a warp that have work.
const LANES: [usize; 4] = [32, 16, 8, 4];
/// Steps before the one that is looked at: long enough for machines to have gone their own ways.
const STEPS_BEFORE: usize = 40;
/// Instructions of a GPU for work that is no opcode: guessed from what native code takes. They do
/// not differ between the rows that are compared.
const COSTS: Costs = Costs { service: 300, line: 60, drawn_line: 1200 };
/// To find an opcode's code by a jump table: bounds, address, load, jump.
const TABLE: usize = 8;
/// To pick operands where opcodes share their code.
const OPERANDS: usize = 8;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let listing = arguments.next().ok_or("which listing of `nvdisasm -c`?")?;
    let listing = std::fs::read_to_string(listing)?;
    let code = Code::read(&listing).ok_or("the listing has no loop over instructions")?;
    let paths = code.paths();
    let named: Vec<String> = arguments.collect();
    if let Some(opcode) = named.first().and_then(|name| name.strip_prefix("0x")) {
        let Path { choice, work } = &paths[usize::from(u8::from_str_radix(opcode, 16)?)];
        choice.iter().for_each(|at| println!("choice  {}", code.text(*at)));
        work.iter().for_each(|at| println!("work    {}", code.text(*at)));
        return Ok(());
    }
    tell_paths(&paths);
    let roms = if named.is_empty() { ROMS.map(String::from).to_vec() } else { named };
    for name in roms {
        let rom = gbxcule_roms::by_name(&name).ok_or("no such ROM")?;
        tell(&name, &Rom::new(rom.bytes())?, &paths);
    }
    Ok(())
}

fn tell_paths(paths: &[Path]) {
    let median = |of: fn(&Path) -> usize| {
        let mut lengths: Vec<usize> = paths.iter().map(of).collect();
        lengths.sort_unstable();
        lengths[lengths.len() / 2]
    };
    println!(
        "median of 256 opcodes: {} instructions to find its code, {} from there to the next",
        median(|it| it.choice.len()),
        median(|it| it.work.len())
    );
}

fn tell(name: &str, rom: &Rom, paths: &[Path]) {
    let schedule = Schedule::default();
    let frames = f64::from(schedule.frames_per_step());
    let steps: Vec<Vec<Vec<Event>>> = (0..MACHINES)
        .map(|number| {
            let mut lane = Lane::new(rom, number + 1);
            (0..STEPS_BEFORE).for_each(|_| _ = lane.step(rom, schedule));
            lane.step(rom, schedule)
        })
        .collect();
    let events = steps.iter().flatten().flatten();
    let opcodes = events.clone().filter(|event| matches!(event, Event::Opcode(_))).count();
    let a_frame = |count: usize| count as f64 / (steps.len() as f64 * frames);
    println!(
        "\n## {name}\na machine's frame: {:.0} instructions, {:.1} services",
        a_frame(opcodes),
        a_frame(events.count() - opcodes)
    );
    tell_memory(&steps, paths);
    println!(
        "| lanes | loops | choice | turns | at work | wait: round | frame | opcodes a turn | slots: choice | opcodes | \
         service | lines | all | a machine |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    );
    let others = [
        (Shape::Nested, "nested", Choice::Table(TABLE), "table"),
        (Shape::Nested, "nested", Choice::Grouped(OPERANDS), "grouped"),
        (Shape::Flat, "flat", Choice::Tests, "tests"),
    ];
    for lanes in LANES {
        let others = if lanes == 32 { &others[..] } else { &[] };
        let rows = [(Shape::Nested, "nested", Choice::Tests, "tests")].iter().chain(others);
        for &(shape, loops, choice, how) in rows {
            let sum = run(&steps, lanes, shape, paths, choice);
            println!("| {lanes} | {loops} | {how} {}", row(&sum, lanes, frames));
        }
    }
}

fn run(
    steps: &[Vec<Vec<Event>>],
    lanes: usize,
    shape: Shape,
    paths: &[Path],
    choice: Choice,
) -> Count {
    let mut sum = Count::default();
    for warp in steps.chunks(lanes) {
        sum.add(&Warp::new(paths, choice, COSTS).step(warp, shape));
    }
    sum
}

fn row(sum: &Count, lanes: usize, frames: f64) -> String {
    let warp_frames = MACHINES as f64 / lanes as f64 * frames;
    let a_frame = |count: u64| count as f64 / warp_frames;
    let share = |count: u64| 100.0 * count as f64 / (sum.turns * lanes as u64) as f64;
    format!(
        "| {:.0} | {:.0} % | {:.0} % | {:.0} % | {:.1} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} |",
        a_frame(sum.turns),
        share(sum.active),
        share(sum.waits_for_round),
        share(sum.waits_for_frame),
        sum.distinct as f64 / sum.turns as f64,
        a_frame(sum.choice_slots),
        a_frame(sum.opcode_slots - sum.choice_slots),
        a_frame(sum.service_slots),
        a_frame(sum.line_slots),
        a_frame(sum.slots()),
        a_frame(sum.slots()) / lanes as f64,
    )
}

/// Prints how much of work RAM and ROM a warp of 32 touches.
fn tell_memory(steps: &[Vec<Vec<Event>>], paths: &[Path]) {
    let sum = run(steps, 32, Shape::Nested, paths, Choice::Tests);
    let a_turn = |count: u64, turns: u64| count as f64 / turns.max(1) as f64;
    println!(
        "a turn of 32 lanes: {:.1} sectors of ROM; {:.0} % touch work RAM, by {:.1} lanes: {:.1} sectors env-major, {:.1} \
         interleaved",
        a_turn(sum.rom_sectors, sum.turns),
        100.0 * a_turn(sum.wram_turns, sum.turns),
        a_turn(sum.wram_lanes, sum.wram_turns),
        a_turn(sum.env_major, sum.wram_turns),
        a_turn(sum.interleaved, sum.wram_turns),
    );
    let touched = |lane: &Vec<Vec<Event>>| -> BTreeSet<u16> {
        let events = lane.iter().flatten();
        let data = events.filter_map(|event| match event {
            Event::Opcode(access) => access.data.filter(lockstep::is_wram),
            Event::Service(_) => None,
        });
        data.collect()
    };
    let (mut env_major, mut interleaved) = (0, 0);
    for warp in steps.chunks(32) {
        let lanes: Vec<BTreeSet<u16>> = warp.iter().map(touched).collect();
        let sectors = |lane: &BTreeSet<u16>| {
            lane.iter().map(|address| address / 32).collect::<BTreeSet<u16>>().len()
        };
        env_major += lanes.iter().map(sectors).sum::<usize>();
        interleaved += lanes.iter().flatten().collect::<BTreeSet<_>>().len();
    }
    let warps = steps.len() / 32;
    println!(
        "in a step a warp touches {} sectors of work RAM env-major, {} interleaved",
        env_major / warps,
        interleaved / warps
    );
}
