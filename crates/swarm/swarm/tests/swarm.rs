//! The guarantees of a swarm, tested with the micro-ROMs and the game.

use std::num::NonZeroUsize;

use gbxcule_gameboy::Machine;
use gbxcule_swarm::{
    Codec, ConsoleError, Features, FrameRange, NativeSwarm, OBS_V0_DIM, Rom, Schedule, Stage,
    SwarmConfig, SwarmError, button, obs_v0, reward_v0,
};

fn rom(name: &str) -> Rom {
    let rom = gbxcule_assembler::by_name(name).expect("a ROM of the suite");
    Rom::new(rom.bytes()).expect("a good header")
}

fn config(num_envs: usize) -> SwarmConfig {
    let schedule = Schedule::new(3, 2).expect("a schedule");
    SwarmConfig { schedule, ..SwarmConfig::new(num_envs) }
}

fn swarm(name: &str, config: SwarmConfig) -> NativeSwarm {
    NativeSwarm::new(rom(name), config).expect("a swarm")
}

/// Different actions for every env and step.
fn actions(num_envs: usize, step: usize) -> Vec<u8> {
    (0..num_envs).map(|env| ((env * 5 + step * 3 + env * step) % 9) as u8).collect()
}

fn run(swarm: &mut NativeSwarm, steps: std::ops::Range<usize>) {
    let num_envs = swarm.config().num_envs;
    for step in steps {
        swarm.step(&actions(num_envs, step)).expect("good actions");
    }
}

/// The whole state of a machine.
fn state(swarm: &NativeSwarm, env: usize) -> (gbxcule_swarm::AnyMachine, Vec<u8>, u64) {
    let snapshot = swarm.snapshot(env).expect("an env");
    (snapshot.machine().clone(), snapshot.cart_ram().to_vec(), snapshot.counters().tcycles)
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let run_with = |threads: usize| {
        let threads = NonZeroUsize::new(threads);
        let mut swarm = swarm("JOY_DIVERGE_PERSIST", SwarmConfig { threads, ..config(37) });
        run(&mut swarm, 0..20);
        let states: Vec<_> = (0..37).map(|env| state(&swarm, env)).collect();
        (states, swarm.rewards().to_vec(), swarm.observations().to_vec())
    };
    let one = run_with(1);
    for threads in [2, 3, 8] {
        assert!(run_with(threads) == one, "{threads} threads");
    }
}

#[test]
fn a_swarm_that_memory_cannot_hold_is_refused_before_any_of_it_is_taken() {
    for num_envs in [1 << 40, usize::MAX / 2, usize::MAX] {
        let Err(error) = NativeSwarm::new(rom("PEARL_DRIFT"), config(num_envs)) else {
            panic!("{num_envs} machines")
        };
        let SwarmError::TooLittleMemory { fit, .. } = error else { panic!("{error}") };
        assert!(NativeSwarm::new(rom("PEARL_DRIFT"), config((fit as usize).min(2))).is_ok());
    }
}

#[test]
fn every_env_is_what_a_machine_alone_would_be() {
    let mut swarm = swarm("PEARL_DRIFT", config(5));
    run(&mut swarm, 0..30);
    let rom = rom("PEARL_DRIFT");
    for env in 0..5 {
        let mut machine = Machine::power_on(rom.cartridge());
        let mut cart_ram = vec![0xFF; rom.cart_ram_bytes()];
        for step in 0..30 {
            let action = actions(5, step)[env];
            machine.set_buttons(Codec::default().buttons(action).expect("an action"));
            machine.run_frame(rom.bytes(), &mut cart_ram, false);
            machine.run_frame(rom.bytes(), &mut cart_ram, false);
            machine.set_buttons(0);
            machine.run_frame(rom.bytes(), &mut cart_ram, false);
        }
        assert!(state(&swarm, env).0.original() == Some(&machine), "env {env}");
    }
}

#[test]
fn the_emulated_state_is_the_same_in_every_stage() {
    let states = Stage::ALL.map(|stage| {
        let mut swarm = swarm("JOY_DIVERGE_PERSIST", SwarmConfig { stage, ..config(4) });
        run(&mut swarm, 0..25);
        (0..4).map(|env| state(&swarm, env)).collect::<Vec<_>>()
    });
    assert!(states.iter().all(|other| *other == states[0]));
}

#[test]
fn drawing_changes_nothing_but_the_frame() {
    let states = [false, true].map(|draw_last| {
        let mut swarm = swarm("PEARL_DRIFT", SwarmConfig { draw_last, ..config(3) });
        run(&mut swarm, 0..40);
        let colours = swarm.frame(0).expect("an env").iter().any(|byte| *byte != 0);
        assert_eq!(colours, draw_last);
        (0..3)
            .map(|env| (swarm.cpu_state(env).expect("an env"), wram(&swarm, env)))
            .collect::<Vec<_>>()
    });
    assert!(states[0] == states[1]);
}

fn wram(swarm: &NativeSwarm, env: usize) -> Vec<u8> {
    swarm.read_memory(env, 0xC000..0xE000).expect("a good range")
}

#[test]
fn a_stage_leaves_outputs_that_it_does_not_own_untouched() {
    for stage in Stage::ALL {
        let mut swarm = swarm("MEM_RWB", SwarmConfig { stage, ..config(3) });
        run(&mut swarm, 0..4);
        assert_eq!(
            swarm.rewards().iter().any(|reward| *reward != 0.0),
            stage.owns_reward(),
            "{stage}"
        );
        let observed = swarm.observations().iter().any(|number| *number != 0.0);
        assert_eq!(observed, stage.owns_observation(), "{stage}");
    }
}

#[test]
fn outputs_are_the_programs_over_registers_and_memory() {
    let mut swarm = swarm("JOY_DIVERGE_PERSIST", config(6));
    run(&mut swarm, 0..12);
    for env in 0..6 {
        let memory = swarm.read_memory(env, 0xC000..0xC010).expect("a good range");
        let features = Features {
            cpu: swarm.cpu_state(env).expect("an env"),
            memory: memory.try_into().expect("16 bytes"),
        };
        let mut observation = [0.0; OBS_V0_DIM];
        obs_v0(&features, &mut observation);
        assert_eq!(swarm.rewards()[env].to_bits(), reward_v0(&features).to_bits());
        assert_eq!(swarm.observations()[env * OBS_V0_DIM..][..OBS_V0_DIM], observation);
    }
}

#[test]
fn a_masked_reset_restores_the_marked_envs_and_no_others() {
    let mut swarm = swarm("JOY_DIVERGE_PERSIST", config(40));
    let fresh = state(&swarm, 0);
    run(&mut swarm, 0..10);
    let before: Vec<_> = (0..40).map(|env| state(&swarm, env)).collect();
    let mask: Vec<_> = (0..40).map(|env| env % 3 == 0).collect();
    swarm.reset_masked(&mask).expect("a good mask");
    for env in 0..40 {
        assert!(
            state(&swarm, env) == if mask[env] { fresh.clone() } else { before[env].clone() },
            "env {env}"
        );
    }
}

#[test]
fn resets_go_back_to_the_reset_point_that_was_set() {
    let mut swarm = swarm("JOY_DIVERGE_PERSIST", config(4));
    run(&mut swarm, 0..7);
    let (machine, cart_ram, _) = state(&swarm, 2);
    swarm.start_from_env(2).expect("an env");
    run(&mut swarm, 7..15);
    swarm.reset(1).expect("a reset");
    for env in 0..4 {
        assert!(state(&swarm, env) == (machine.clone(), cart_ram.clone(), 0), "env {env}");
    }
    assert_eq!(swarm.seed(), 1);
}

#[test]
fn a_reset_swarm_runs_as_a_new_one() {
    let mut used = swarm("PEARL_DRIFT", config(3));
    run(&mut used, 0..20);
    used.reset(0).expect("a reset");
    let mut new = swarm("PEARL_DRIFT", config(3));
    run(&mut used, 0..10);
    run(&mut new, 0..10);
    assert!((0..3).all(|env| state(&used, env) == state(&new, env)));
    assert_eq!(used.observations(), new.observations());
}

#[test]
fn copy_state_puts_one_env_into_all_marked_ones() {
    let mut swarm = swarm("JOY_DIVERGE_PERSIST", config(20));
    run(&mut swarm, 0..9);
    let before: Vec<_> = (0..20).map(|env| state(&swarm, env)).collect();
    let mask: Vec<_> = (0..20).map(|env| env >= 10).collect();
    swarm.copy_state(3, &mask).expect("good arguments");
    for env in 0..20 {
        let expected = if env >= 10 { &before[3] } else { &before[env] };
        assert!(state(&swarm, env) == *expected, "env {env}");
    }
}

#[test]
fn a_restored_snapshot_continues_as_the_original_did() {
    let mut swarm = swarm("PEARL_DRIFT", config(2));
    run(&mut swarm, 0..15);
    let snapshot = swarm.snapshot(0).expect("an env");
    run(&mut swarm, 15..30);
    let end = state(&swarm, 0);
    swarm.restore(0, &snapshot).expect("the same cartridge");
    run(&mut swarm, 15..30);
    assert!(state(&swarm, 0) == end);
}

#[test]
fn pieces_of_a_step_do_what_the_step_does_wherever_it_is_cut() {
    let steps = SwarmConfig {
        schedule: Schedule::new(5, 3).expect("a schedule"),
        draw_last: true,
        ..SwarmConfig::new(4)
    };
    let mut whole = swarm("PEARL_DRIFT", steps.clone());
    let mut cut = swarm("PEARL_DRIFT", SwarmConfig { draw_last: false, ..steps });
    for step in 0..32_usize {
        let actions = actions(4, step);
        whole.step(&actions).expect("good actions");
        // Each way to divide the step's frames into ranges, once.
        let mut start = 0;
        for end in (1..=5).filter(|end| *end == 5 || step >> (end - 1) & 1 == 1) {
            let range = FrameRange { frames: start..end, draw_last: true };
            cut.step_frames(&actions, &range).expect("good actions");
            start = end;
        }
        for env in 0..4 {
            assert!(state(&cut, env) == state(&whole, env), "step {step}, env {env}");
        }
        assert_eq!(cut.rewards(), whole.rewards(), "step {step}");
        assert_eq!(cut.observations(), whole.observations(), "step {step}");
    }
    for frames in [0..0, 5..5, 0..6, 5..6] {
        let refused = cut.step_frames(&[0; 4], &FrameRange { frames, draw_last: false });
        assert!(matches!(refused, Err(SwarmError::BadFrameRange { of: 5, .. })));
    }
    assert!(state(&cut, 0) == state(&whole, 0));
}

#[test]
fn hands_hold_their_env_where_the_schedule_would_let_go_and_no_other() {
    let noop = Codec::default().action("NOOP").expect("an action");
    let right = Codec::default().action("RIGHT").expect("an action");
    let mut held = swarm("PEARL_DRIFT", config(3));
    let never = Schedule::new(3, 3).expect("a schedule");
    let mut pressed = swarm("PEARL_DRIFT", SwarmConfig { schedule: never, ..config(3) });
    held.hold_buttons(1, Some(button::RIGHT)).expect("an env");
    for step in 0..40 {
        if step == 20 {
            held.reset(0).expect("a reset");
            pressed.reset(0).expect("a reset");
        }
        held.step(&[noop; 3]).expect("good actions");
        pressed.step(&[noop, right, noop]).expect("good actions");
        for env in 0..3 {
            assert!(state(&held, env) == state(&pressed, env), "step {step}, env {env}");
        }
    }
    assert!(state(&held, 1).0 != state(&held, 0).0, "the game knows RIGHT");
    held.hold_buttons(1, None).expect("an env");
    assert!(matches!(held.hold_buttons(3, None), Err(SwarmError::NoSuchEnv { .. })));
    let mut let_go = swarm("PEARL_DRIFT", config(3));
    held.reset(0).expect("a reset");
    for swarm in [&mut held, &mut let_go] {
        run(swarm, 0..9);
    }
    assert!(state(&held, 1) == state(&let_go, 1));
}

#[test]
fn a_state_in_bytes_continues_as_the_original_did() {
    let mut swarm = swarm("MBC1_RAM", config(2));
    run(&mut swarm, 0..9);
    let bytes = swarm.save_state(0).expect("an env");
    swarm.load_state(1, &bytes).expect("the same cartridge");
    for _ in 0..9 {
        swarm.step(&[4, 4]).expect("good actions");
    }
    let [first, second] = [0, 1].map(|env| (state(&swarm, env).0, state(&swarm, env).1));
    assert!(first == second);
    assert!(matches!(
        swarm.load_state(1, &bytes[1..]),
        Err(SwarmError::Console(ConsoleError::State(_)))
    ));
}

#[test]
fn snapshots_of_another_cartridge_are_refused() {
    let with_ram = swarm("MBC1_RAM", config(1)).snapshot(0).expect("an env");
    let refused = swarm("ALU_LOOP", config(1)).restore(0, &with_ram);
    assert!(matches!(refused, Err(SwarmError::OtherCartridge { .. })));
}

#[test]
fn write_memory_changes_one_env_alone() {
    let mut swarm = swarm("MEM_RWB", config(2));
    swarm.write_memory(1, 0xC080, &[1, 2, 3]).expect("a good range");
    assert_eq!(swarm.read_memory(1, 0xC080..0xC083).expect("a good range"), [1, 2, 3]);
    assert_eq!(swarm.read_memory(0, 0xC080..0xC083).expect("a good range"), [0, 0, 0]);
}

#[test]
fn the_whole_address_space_can_be_read() {
    let swarm = swarm("ALU_LOOP", config(1));
    assert_eq!(swarm.read_memory(0, 0..0x1_0000).expect("a good range").len(), 0x1_0000);
    assert!(matches!(
        swarm.read_memory(0, 0..0x1_0001),
        Err(SwarmError::Console(ConsoleError::BadRange { .. }))
    ));
}

#[test]
fn refused_actions_move_no_machine() {
    let mut swarm = swarm("ALU_LOOP", config(3));
    let before = state(&swarm, 0);
    let message = swarm.step(&[0, 1, 9]).expect_err("9 is not an action").to_string();
    assert_eq!(message, "action 9 of env 2 is not in codec full_v1, which has the actions 0 to 8");
    let message = swarm.step(&[0, 1]).expect_err("3 envs").to_string();
    assert_eq!(message, "expected one action for each of the 3 machines, found 2");
    assert!(state(&swarm, 0) == before);
}

#[test]
fn calls_about_envs_that_do_not_exist_are_refused() {
    let mut swarm = swarm("ALU_LOOP", config(3));
    assert!(matches!(swarm.cpu_state(3), Err(SwarmError::NoSuchEnv { env: 3, last: 2 })));
    assert!(matches!(swarm.write_memory(3, 0xC000, &[0]), Err(SwarmError::NoSuchEnv { .. })));
    assert!(matches!(swarm.copy_state(3, &[true; 3]), Err(SwarmError::NoSuchEnv { .. })));
    assert!(matches!(swarm.reset_masked(&[true; 2]), Err(SwarmError::WrongLength { .. })));
}
