//! Hooks, `settled` and masks of actions are the same on every device.

use crate::pair::{Pair, Setup, Subject, actions, config, on, plain};
use gbxcule_swarm::{
    FrameRange, Hook, ProgramText, Programs, Schedule, ScratchArray, ScratchCell, Stage, Swarm,
    SwarmConfig, TextRole,
};

/// Ends steps early, stores what it read at a hook, forbids actions.
pub(crate) const PROGRAM: &str = r#"
import gbxcule as gb
import warp as wp

SCRATCH = 3
OBS_DIM = 2
ACTIONS = 9

@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[2] = 5.0

@wp.func
def caught(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] += wp.float32(gb.hl(machine)) + 0.25 * wp.float32(gb.read(machine, 0xFF44))
    scratch[1] = wp.float32(100 * gb.step_frames(machine) + gb.frames(machine)) + scratch[2]

@wp.func
def settled(machine: gb.Machine) -> wp.bool:
    least = 1 + gb.env(machine) % 4
    return gb.step_frames(machine) >= least and gb.read(machine, 0xFF04) % wp.uint8(3) == wp.uint8(0)

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    return scratch[0] + wp.float32(gb.step_frames(machine))

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = scratch[1]
    obs[1] = wp.float32(gb.pixel(machine, 80, 72))

@wp.func
def action_mask(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), mask: wp.array(dtype=wp.float32)):
    mask[int(gb.read(machine, 0xFF04) & wp.uint8(7))] = 0.0
    mask[8] = scratch[0]
"#;

/// Hooks in the game: two that count, one that calls, one that ends the step.
pub(crate) fn hooks() -> Vec<Hook> {
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    let at = |label| {
        let symbol = rom.rom().symbols.iter().find(|symbol| symbol.name == label);
        let symbol = symbol.expect("a label");
        Hook::at(symbol.bank, symbol.address)
    };
    let calls = Some("caught".to_owned());
    vec![
        at("ReadButtons"),
        Hook { calls, ..at("NextRandom") },
        Hook { ends_step: true, ..at("Spawn") },
        Hook::at(0, 0xffb0),
    ]
}

pub(crate) fn with_hooks(text: &str, hooks: Vec<Hook>) -> SwarmConfig {
    let text = ProgramText::new("mine.py", text);
    let programs = Programs::with_hooks(text.clone(), text, hooks).expect("right programs");
    let schedule = Schedule::new(7, 3).expect("a schedule");
    SwarmConfig { programs, schedule, ..config(5) }
}

pub(crate) fn pair(config: SwarmConfig, setup: Setup) -> Pair {
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    let mut pair = Pair::new(rom.bytes(), config, setup);
    // From the title into the game.
    for _ in 0..20 {
        pair.step(&[2, 2, 0, 2, 2]);
    }
    pair
}

pub(crate) fn hooks_and_settled_do_the_same(subject: Subject) {
    for stage in [Stage::FullStep, Stage::EmulateOnly, Stage::ObsOnly] {
        let config = SwarmConfig { stage, ..with_hooks(PROGRAM, hooks()) };
        let mut pair = pair(config, on(subject));
        for step in 0..30 {
            pair.step(&actions(5, step));
            if step % 6 == 5 {
                pair.assert_equal(&format!("{stage}, step {step}"));
            }
            if step == 14 {
                let mask = [true, false, false, true, true];
                pair.native.reset_masked(&mask).expect("a mask");
                pair.ours.reset_masked(&mask).expect("a mask");
            }
        }
        let native = Swarm::from(pair.native);
        let ours = Swarm::from(pair.ours);
        let counts = native.hook_counts().expect("counts");
        assert_eq!(counts, ours.hook_counts().expect("counts"));
        assert!(counts[0].in_episode > 10 && counts[1].in_episode > 0, "{counts:?}");
        assert!(counts.iter().skip(3).step_by(4).all(|count| count.in_episode == 0));
        let masks = native.action_masks().expect("masks");
        assert_eq!(masks, ours.action_masks().expect("masks"));
        // `action_mask` runs in stages that compute something of its file.
        assert_eq!(masks.contains(&true), stage != Stage::EmulateOnly);
        let cell = |cell| {
            let (text, array) = (TextRole::Reward, ScratchArray::Numbers);
            ScratchCell { text, array, cell }
        };
        assert_eq!(
            native.scratch_values(cell(0)).expect("a cell"),
            ours.scratch_values(cell(0)).expect("a cell")
        );
        native.scratch_values(cell(3)).expect_err("no such cell");
    }
}

pub(crate) fn steps_that_end_early_do_so_in_pieces_too(subject: Subject) {
    let config = with_hooks(PROGRAM, hooks());
    // The second game runs at double speed, if its machines can.
    let fast = Pair::new(subject.game(), config.clone(), plain(subject));
    for mut pair in [pair(config, plain(subject)), fast] {
        let cuts: [&[u32]; 3] = [&[0, 1, 4, 7], &[0, 3, 7], &[0, 7]];
        for (step, cuts) in cuts.iter().cycle().take(12).enumerate() {
            pair.native.hold_buttons(step % 5, (step % 4 == 1).then_some(0x11)).expect("an env");
            pair.ours.hold_buttons(step % 5, (step % 4 == 1).then_some(0x11)).expect("an env");
            for cut in cuts.windows(2) {
                let range = FrameRange { frames: cut[0]..cut[1], draw_last: step % 2 == 0 };
                pair.native.step_frames(&actions(5, step), &range).expect("good actions");
                pair.ours.step_frames(&actions(5, step), &range).expect("good actions");
                pair.assert_equal(&format!("step {step}, {range:?}"));
            }
        }
    }
}

pub(crate) fn a_hook_that_stops_names_its_env_and_its_line(subject: Subject) {
    let text = PROGRAM.replace("scratch[1] = wp", "scratch[gb.env(machine)] = wp");
    let mut pair = Pair::new(
        gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game").bytes(),
        SwarmConfig { stage: Stage::EmulateOnly, ..with_hooks(&text, hooks()) },
        plain(subject),
    );
    let run = |step: &mut dyn FnMut() -> Result<(), gbxcule_swarm::SwarmError>| {
        (0..200).find_map(|_| step().err()).expect("a stop").to_string()
    };
    let native = run(&mut || pair.native.step(&[2; 5]));
    let ours = run(&mut || pair.ours.step(&[2; 5]).and_then(|()| pair.ours.sync()));
    let place = |message: &str| message.split_once("-->").map(|(_, rest)| rest.to_owned());
    assert_eq!(place(&ours), place(&native));
    assert!(ours.contains("env 3") && ours.contains("mine.py:16"), "{ours}");
}

/// Writes to memory of every kind where an episode begins and at a hook.
const WRITING: &str = r#"
import gbxcule as gb
import warp as wp

SCRATCH = 1
OBS_DIM = 2

@wp.func
def fill(machine: gb.Machine, low: wp.int32, count: wp.int32):
    for place in range(count):
        gb.write(machine, low + place, place * 37 + gb.env(machine))

@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    fill(machine, 0xC0F0, 9)
    gb.write(machine, 0xFF42, 5 * gb.env(machine))
    gb.write_bank(machine, 1, 0xD0F3, 77)
    gb.write_bank(machine, 6, 0xD0F4, 78)
    scratch[0] = wp.float32(gb.read(machine, 0xC0F1))

@wp.func
def caught(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    fill(machine, 0x9800, 20)
    fill(machine, 0xFE00, 12)
    gb.write(machine, 0xFF42, gb.read(machine, 0xFF42) + wp.uint8(1))
    gb.write(machine, 0xFF05, 200)
    gb.write(machine, 0xFF47, gb.read(machine, 0xFF44))
    gb.write(machine, 0x2000, 3)
    gb.write(machine, 0xC0F0, gb.a(machine))

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    return scratch[0]

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.read(machine, 0xC0F1))
    obs[1] = wp.float32(gb.pixel(machine, 8, 8))
"#;

pub(crate) fn programs_write_the_same(subject: Subject) {
    let config = SwarmConfig { draw_last: true, ..with_hooks(WRITING, hooks()) };
    let mut pair = pair(config, on(subject));
    pair.assert_equal("in the sea");
    pair.native.reset(1).expect("a reset");
    pair.ours.reset(1).expect("a reset");
    pair.assert_equal("after a reset");
    // `begin` sees what was there before it wrote, the observation what it wrote.
    let seen = pair.native.read_memory(3, 0xC0F0..0xC0F3).expect("in range");
    assert_eq!(seen, [3, 40, 77]);
    assert_eq!(pair.native.observations()[6..7], [40.0]);
    for step in 0..20 {
        pair.step(&actions(5, step));
        pair.assert_equal(&format!("step {step}"));
    }
    let native = Swarm::from(pair.native);
    let (text, array) = (TextRole::Reward, ScratchArray::Numbers);
    let kept = native.scratch_values(ScratchCell { text, array, cell: 0 }).expect("a cell");
    assert!(kept.iter().all(|it| *it == 0.0));
    assert!(native.hook_counts().expect("counts")[1].in_episode > 3);
    assert_eq!(native.read_memory(2, 0x9801..0x9802).expect("in range"), [39]);
}

pub(crate) fn a_function_that_writes_too_much_is_stopped(subject: Subject) {
    let text = WRITING.replace("0xC0F0, 9)", "0xC0F0, 65 * (gb.env(machine) % 3))");
    let line = 1 + text.lines().take_while(|line| !line.starts_with("def begin(")).count();
    let programs = with_hooks(&text, hooks());
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    let mut pair = Pair::new(rom.bytes(), programs, plain(subject));
    let native = pair.native.reset(0).expect_err("a stop").to_string();
    let ours = pair.ours.reset(0).and_then(|()| pair.ours.sync()).expect_err("a stop").to_string();
    for message in [native, ours] {
        assert!(message.contains("env 1") && message.contains("writes at most 64"), "{message}");
        assert!(message.contains(&format!("--> mine.py:{line}:5")), "{message}");
    }
}
