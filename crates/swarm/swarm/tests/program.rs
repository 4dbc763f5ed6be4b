//! The user's programs after the step: what they read, what they store, and messages about wrong
//! ones.

use std::num::NonZeroUsize;

use gbxcule_swarm::{
    Features, NativeSwarm, OBS_V0_DIM, ProgramText, Programs, Rom, Schedule, Stage, SwarmConfig,
    obs_v0, reward_v0,
};

fn rom(name: &str) -> Rom {
    Rom::new(gbxcule_assembler::by_name(name).expect("a ROM of the suite").bytes())
        .expect("a good header")
}

fn text(body: &str) -> ProgramText {
    ProgramText::new("task.py", &format!("import warp as wp\nimport gbxcule as gb\n\n{body}"))
}

/// Programs of one text.
fn programs(body: &str) -> Programs {
    Programs::new(text(body), text(body)).unwrap_or_else(|error| panic!("{error}"))
}

fn swarm(name: &str, num_envs: usize, programs: &Programs) -> NativeSwarm {
    let schedule = Schedule::new(3, 2).expect("a schedule");
    let programs = programs.clone();
    let config = SwarmConfig { schedule, programs, ..SwarmConfig::new(num_envs) };
    NativeSwarm::new(rom(name), config).expect("a swarm")
}

fn actions(num_envs: usize, step: usize) -> Vec<u8> {
    (0..num_envs).map(|env| ((env * 5 + step * 3 + env * step) % 9) as u8).collect()
}

/// A number from each function that programs can call.
const EVERYTHING: &str = "\
SCRATCH = 2
OBS_DIM = 32

@wp.func
def seen(machine: gb.Machine) -> wp.float32:
    return wp.float32(gb.frames(machine) * 1000 + gb.env(machine))

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    scratch[0] += 1.0
    return scratch[0]

@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return scratch[0] > 2.0

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.a(machine))
    obs[1] = wp.float32(gb.f(machine))
    obs[2] = wp.float32(gb.b(machine))
    obs[3] = wp.float32(gb.c(machine))
    obs[4] = wp.float32(gb.d(machine))
    obs[5] = wp.float32(gb.e(machine))
    obs[6] = wp.float32(gb.h(machine))
    obs[7] = wp.float32(gb.l(machine))
    obs[8] = wp.float32(gb.bc(machine))
    obs[9] = wp.float32(gb.de(machine))
    obs[10] = wp.float32(gb.hl(machine))
    obs[11] = wp.float32(gb.sp(machine))
    obs[12] = wp.float32(gb.pc(machine))
    obs[13] = wp.float32(gb.action(machine))
    obs[14] = wp.float32(gb.buttons(machine))
    obs[15] = seen(machine)
    obs[16] = wp.float32(gb.seed(machine))
    obs[17] = wp.float32(gb.read(machine, 0xFF44))
    obs[18] = wp.float32(gb.read16(machine, 0xC000))
    obs[19] = wp.float32(gb.bcd(machine, 0xC002))
    obs[20] = wp.float32(gb.cart_ram(machine, 0))
    obs[21] = wp.float32(gb.rom_bank(machine))
    obs[22] = wp.float32(gb.pixel(machine, 80, 72))
    # Each number is 0 until it is written, in every step.
    if gb.bit(machine, 0xC003, 1):
        obs[23] = 1.0
    for at in range(8):
        obs[24 + at] = wp.float32(gb.read(machine, at * 0x2000 + 0x123))
";

fn expected(swarm: &NativeSwarm, env: usize, step: usize, action: u8) -> Vec<f32> {
    let cpu = swarm.cpu_state(env).expect("an env");
    let byte = |address: u32| swarm.read_memory(env, address..address + 1).expect("in range")[0];
    let word = |high: u8, low: u8| f32::from(u16::from_be_bytes([high, low]));
    let mut all: Vec<f32> =
        [cpu.a, cpu.f, cpu.b, cpu.c, cpu.d, cpu.e, cpu.h, cpu.l].map(f32::from).to_vec();
    all.extend([word(cpu.b, cpu.c), word(cpu.d, cpu.e), word(cpu.h, cpu.l)]);
    all.extend([f32::from(cpu.sp), f32::from(cpu.pc), f32::from(action)]);
    all.push(f32::from(swarm.config().codec.buttons(action).expect("an action")));
    all.extend([(3000 * step + env) as f32, 77.0, f32::from(byte(0xFF44))]);
    all.push(word(byte(0xC001), byte(0xC000)));
    all.push(f32::from(10 * (byte(0xC002) >> 4) + (byte(0xC002) & 15)));
    let ram = swarm.snapshot(env).expect("an env").cart_ram().first().copied();
    all.extend([f32::from(ram.unwrap_or(0xFF)), 1.0]);
    let at = 72 * 160 + 80;
    let four = swarm.frame(env).expect("an env")[at / 4];
    all.push(f32::from(four >> (6 - 2 * (at % 4)) & 3));
    all.push(f32::from(byte(0xC003) >> 1 & 1));
    all.extend((0..8).map(|at| f32::from(byte(at * 0x2000 + 0x123))));
    all
}

#[test]
fn programs_see_what_the_swarm_shows() {
    let programs = programs(EVERYTHING);
    for name in ["JOY_DIVERGE_PERSIST", "PEARL_DRIFT"] {
        let mut swarm = swarm(name, 5, &programs);
        swarm.reset(77).expect("a reset");
        for step in 1..=12 {
            let actions = actions(5, step);
            swarm.step(&actions).expect("good actions");
            for (env, &action) in actions.iter().enumerate() {
                let found = &swarm.observations()[env * 32..][..32];
                assert_eq!(found, expected(&swarm, env, step, action), "{name} {step} {env}");
            }
        }
    }
}

#[test]
fn the_built_in_programs_are_their_formulas_bit_for_bit() {
    // As long as one swarm has the programs, they are compiled.
    let _first = swarm("ALU_LOOP", 1, &Programs::default());
    for rom in gbxcule_assembler::all() {
        let mut swarm = swarm(rom.name, 3, &Programs::default());
        for step in 0..10 {
            swarm.step(&actions(3, step)).expect("good actions");
            for env in 0..3 {
                let snapshot = swarm.snapshot(env).expect("an env");
                let rom = Rom::new(rom.bytes()).expect("a good header");
                let features = Features::of(snapshot.machine(), &rom, snapshot.cart_ram());
                let mut obs = [0.0; OBS_V0_DIM];
                obs_v0(&features, &mut obs);
                let found = &swarm.observations()[env * OBS_V0_DIM..][..OBS_V0_DIM];
                assert_eq!(
                    found.iter().map(|it| it.to_bits()).collect::<Vec<_>>(),
                    obs.map(f32::to_bits)
                );
                assert_eq!(swarm.rewards()[env].to_bits(), reward_v0(&features).to_bits());
            }
        }
    }
}

#[test]
fn scratch_lives_from_step_to_step_and_a_reset_clears_it() {
    let mut swarm = swarm("ALU_LOOP", 4, &programs(EVERYTHING));
    for step in 1..=3 {
        swarm.step(&[0; 4]).expect("good actions");
        assert_eq!(swarm.rewards(), [step as f32; 4]);
        assert_eq!(swarm.dones(), [step > 2; 4]);
    }
    swarm.reset_masked(&[true, false, false, true]).expect("a mask");
    swarm.step(&[0; 4]).expect("good actions");
    assert_eq!(swarm.rewards(), [1.0, 4.0, 4.0, 1.0]);
    assert_eq!(swarm.dones(), [false, true, true, false]);
    let snapshot = swarm.snapshot(1).expect("an env");
    assert_eq!(snapshot.scratch(), [4.0, 0.0]);
    swarm.reset(0).expect("a reset");
    swarm.restore(2, &snapshot).expect("of this swarm");
    swarm.copy_state(2, &[false, false, false, true]).expect("a mask");
    swarm.step(&[0; 4]).expect("good actions");
    assert_eq!(swarm.rewards(), [1.0, 1.0, 5.0, 5.0]);
    swarm.start_from_env(2).expect("an env");
    swarm.reset(0).expect("a reset");
    swarm.step(&[0; 4]).expect("good actions");
    assert_eq!(swarm.rewards(), [1.0; 4]);
}

#[test]
fn two_texts_have_a_scratch_each() {
    let counting = |from: &str| {
        text(&format!(
            "SCRATCH = 3\nOBS_DIM = 1\n\n@wp.func\ndef next(scratch: wp.array(dtype=wp.float32)):\n    \
             scratch[2] = scratch[2] + {from}\n    return scratch[2]\n\n\
             @wp.func\ndef reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:\n    \
             return next(scratch)\n\n\
             @wp.func\ndef observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), \
             obs: wp.array(dtype=wp.float32)):\n    obs[0] = next(scratch)\n"
        ))
    };
    let two = Programs::new(counting("1.0"), counting("10.0")).expect("right");
    let one = Programs::new(counting("1.0"), counting("1.0")).expect("right");
    assert_eq!((two.scratch_len(), one.scratch_len()), (6, 3));
    // Before the first step there is an observation too.
    for (programs, rewards, observations) in [(two, 2.0, 30.0), (one, 4.0, 5.0)] {
        let mut swarm = swarm("ALU_LOOP", 2, &programs);
        swarm.step(&[0; 2]).expect("good actions");
        swarm.step(&[0; 2]).expect("good actions");
        assert_eq!((swarm.rewards()[1], swarm.observations()[1]), (rewards, observations));
    }
}

#[test]
fn whole_numbers_and_bytes_are_kept_as_they_are() {
    let counting = |from: i32| {
        text(&format!(
            "INT_SCRATCH = 2\nBYTE_SCRATCH = 5\nSCRATCH = 1\nOBS_DIM = 3\n\n\
             Numbers = wp.array(dtype=wp.float32)\nInts = wp.array(dtype=wp.int32)\n\
             Bytes = wp.array(dtype=wp.uint8)\n\n@wp.func\n\
             def reward(machine: gb.Machine, scratch: Numbers, int_scratch: Ints) -> wp.float32:\n    \
             int_scratch[1] += {from}\n    scratch[0] = wp.float32(int_scratch[1] - {from})\n    \
             return scratch[0]\n\n@wp.func\n\
             def observe(machine: gb.Machine, scratch: Numbers, obs: Numbers, byte_scratch: Bytes, \
             int_scratch: Ints):\n    byte_scratch[4] += wp.uint8(200)\n    \
             obs[0] = wp.float32(byte_scratch[4])\n    obs[1] = wp.float32(int_scratch[1] & 3)\n    \
             obs[2] = wp.float32(int_scratch.shape[0] + byte_scratch.shape[0])\n"
        ))
    };
    let large = 1 << 24 | 1;
    let one = Programs::new(counting(large), counting(large)).expect("right");
    let two = Programs::new(counting(-large), counting(large)).expect("right");
    for (programs, sign, low) in [(one, 1.0, 2.0), (two, -1.0, 0.0)] {
        let mut swarm = swarm("ALU_LOOP", 3, &programs);
        for step in 1..=2 {
            swarm.step(&[0; 3]).expect("good actions");
            // A float32 could not hold the sum's last bits.
            assert_eq!(swarm.rewards(), [sign * (step - 1) as f32 * large as f32; 3]);
        }
        assert_eq!(swarm.observations()[..3], [((3 * 200) & 255) as f32, low, 7.0]);
        let snapshot = swarm.snapshot(1).expect("an env");
        swarm.reset_masked(&[true, true, false]).expect("a mask");
        assert_eq!(swarm.observations()[..3], [200.0, 0.0, 7.0]);
        swarm.restore(0, &snapshot).expect("of this swarm");
        let state = swarm.save_state(2).expect("an env");
        swarm.load_state(1, &state).expect("its own state");
        swarm.step(&[0; 3]).expect("good actions");
        assert_eq!(swarm.rewards(), [sign * 2.0 * large as f32; 3]);
        assert_eq!(swarm.observations()[..3], swarm.observations()[3..6]);
        assert_eq!(swarm.observations()[..3], swarm.observations()[6..]);
    }
}

#[test]
fn a_scratch_without_its_size_is_named() {
    let body = "@wp.func\ndef reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), \
                byte_scratch: wp.array(dtype=wp.uint8)) -> wp.float32:\n    return 1.0\n";
    let obs = ProgramText::find("obs_v0").expect("a built-in program");
    let message =
        |body: &str| Programs::new(text(body), obs.clone()).expect_err("wrong").to_string();
    assert!(message(body).contains("sets no `BYTE_SCRATCH`"), "{}", message(body));
    let of_floats = format!("BYTE_SCRATCH = 1\n{}", body.replace("wp.uint8", "wp.float32"));
    assert!(message(&of_floats).contains("takes other parameters"), "{}", message(&of_floats));
    let twice = format!("BYTE_SCRATCH = 4194305\n{body}");
    assert!(message(&twice).contains("a number from 1 to 4194304"), "{}", message(&twice));
}

#[test]
fn stages_run_only_what_they_own() {
    let programs = programs(EVERYTHING);
    let mut machines = Vec::new();
    for stage in Stage::ALL {
        let config = SwarmConfig { stage, programs: programs.clone(), ..SwarmConfig::new(3) };
        let mut swarm = NativeSwarm::new(rom("PEARL_DRIFT"), config).expect("a swarm");
        for step in 0..3 {
            swarm.step(&actions(3, step)).expect("good actions");
        }
        let rewards = if stage.owns_reward() { [3.0; 3] } else { [0.0; 3] };
        assert_eq!(swarm.rewards(), rewards, "{stage}");
        assert_eq!(swarm.dones(), [stage.owns_reward(); 3], "{stage}");
        let observed = swarm.observations().iter().any(|number| *number != 0.0);
        assert_eq!(observed, stage.owns_observation(), "{stage}");
        machines.push(
            (0..3).map(|env| swarm.machine(env).expect("an env").clone()).collect::<Vec<_>>(),
        );
    }
    assert!(machines.iter().all(|those| *those == machines[0]), "the machines are the same");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let run_with = |threads: usize| {
        let threads = NonZeroUsize::new(threads);
        let programs = programs(EVERYTHING);
        let config = SwarmConfig { threads, programs, ..SwarmConfig::new(37) };
        let mut swarm = NativeSwarm::new(rom("JOY_DIVERGE_PERSIST"), config).expect("a swarm");
        for step in 0..6 {
            swarm.step(&actions(37, step)).expect("good actions");
        }
        (swarm.rewards().to_vec(), swarm.observations().to_vec())
    };
    let one = run_with(1);
    assert!([2, 5].into_iter().all(|threads| run_with(threads) == one));
}

#[test]
fn a_frame_is_drawn_if_a_program_looks_at_it() {
    let programs = programs(EVERYTHING);
    assert!(programs.reads_pixels() && !Programs::default().reads_pixels());
    for (programs, drawn) in [(programs, true), (Programs::default(), false)] {
        let mut swarm = swarm("PEARL_DRIFT", 1, &programs);
        for step in 0..20 {
            swarm.step(&actions(1, step)).expect("good actions");
        }
        assert_eq!(swarm.frame(0).expect("an env").iter().any(|four| *four != 0), drawn);
    }
}

#[test]
fn a_program_that_stops_names_its_env_and_its_line() {
    let programs = programs(
        "OBS_DIM = 4

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    return 1.0

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    if gb.frames(machine) > 0:
        obs[gb.env(machine) + 2] = 1.0
",
    );
    for threads in [1, 3] {
        let threads = NonZeroUsize::new(threads);
        let config = SwarmConfig { threads, programs: programs.clone(), ..SwarmConfig::new(9) };
        let mut swarm = NativeSwarm::new(rom("ALU_LOOP"), config).expect("a swarm");
        let message = swarm.step(&[0; 9]).expect_err("outside").to_string();
        let lines: Vec<&str> = message.lines().collect();
        assert_eq!(lines[0], "a program stopped in env 2");
        assert!(lines[1].contains("index 4 where there are 4 elements"), "{message}");
        assert!(lines[2].contains("task.py:13:9"), "{message}");
        assert_eq!(swarm.rewards(), [1.0; 9]);
        swarm.reset(0).expect("no program stops before a frame");
    }
}

#[test]
fn programs_are_found_by_name_and_by_path() {
    let built_in = Programs::find("reward_v0", "obs_v0").expect("built in");
    assert!(built_in.is_built_in() && built_in == Programs::default());
    assert_eq!((built_in.obs_dim(), built_in.scratch_len(), built_in.has_done()), (32, 0, false));
    assert_eq!(built_in.reward_text().sha256().len(), 64);
    let message =
        |name: &str| Programs::find(name, "obs_v0").expect_err("nothing there").to_string();
    let names: Vec<&str> = gbxcule_swarm::program::built_in().map(|(name, _)| name).collect();
    assert_eq!(
        message("reward_v1"),
        format!(
            "there is no built-in program `reward_v1`; there are {}, and files that end in .py",
            names.join(", ")
        )
    );
    assert!(names.starts_with(&["reward_v0", "obs_v0"]), "{names:?}");
    assert!(message("no/such/file.py").starts_with("cannot read the program no/such/file.py: "));
}

#[test]
fn a_program_imports_from_the_files_beside_it_and_is_another_one_if_they_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("task.py");
    let shape = |factor: f32| {
        let text = format!(
            "import gbxcule as gb\nimport warp as wp\n\n@wp.func\ndef scaled(machine: gb.Machine, x: wp.float32):\n    return x * {factor:?} + wp.float32(gb.env(machine))\n"
        );
        std::fs::write(folder.path().join("shape.py"), text).expect("a file");
    };
    shape(2.0);
    let text = "import gbxcule as gb\nimport warp as wp\nfrom shape import scaled\n\n@wp.func\ndef reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:\n    return scaled(machine, 3.0)\n";
    std::fs::write(&path, text).expect("a file");
    let find = || Programs::find(path.to_str().expect("UTF-8"), "obs_v0").expect("right");
    let before = find();
    let rewards = |programs: &Programs| {
        let mut swarm = swarm("ALU_LOOP", 2, programs);
        swarm.step(&[0; 2]).expect("a step");
        swarm.rewards().to_vec()
    };
    assert_eq!(rewards(&before), [6.0, 7.0]);
    shape(5.0);
    assert_eq!(rewards(&find()), [15.0, 16.0]);
    assert_eq!(rewards(&before), [6.0, 7.0], "it has the texts that it was found with");
    assert_ne!(before.reward_text().sha256(), find().reward_text().sha256());
    assert_eq!(before.reward_text().files().len(), 1);
}
