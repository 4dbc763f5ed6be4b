//! Pairs in a swarm: the result depends only on states and actions; options that can't be combined
//! with a cable are errors that say so.

use std::num::NonZeroUsize;

use gbxcule_gameboy::{Cartridge, Machine};
use gbxcule_link::{LEAD_TCYCLES, Link as Cable};
use gbxcule_swarm::{
    Codec, FrameRange, Hook, LinkMode, Model, NativeSwarm, ProgramText, Programs, Rom, Schedule,
    Swarm, SwarmConfig, SwarmError,
};

fn rom() -> Rom {
    rom_for(None)
}

fn rom_for(model: Option<Model>) -> Rom {
    let rom = gbxcule_assembler::by_name("LINK_PING_PONG").expect("a built-in ROM");
    Rom::for_model(rom.bytes(), model).expect("a good header")
}

fn config(num_envs: usize, threads: usize) -> SwarmConfig {
    SwarmConfig {
        link: LinkMode::Pairs,
        threads: NonZeroUsize::new(threads),
        schedule: Schedule::new(3, 1).expect("a schedule"),
        ..SwarmConfig::new(num_envs)
    }
}

/// Actions of a step in which the two of a pair differ.
fn actions(num_envs: usize, step: usize) -> Vec<u8> {
    (0..num_envs).map(|env| ((env * 5 + step * 3 + env % 2) % 9) as u8).collect()
}

fn stepped(model: Option<Model>, num_envs: usize, threads: usize, steps: usize) -> NativeSwarm {
    let mut swarm = NativeSwarm::new(rom_for(model), config(num_envs, threads)).expect("a swarm");
    for step in 0..steps {
        swarm.step(&actions(num_envs, step)).expect("good actions");
    }
    swarm
}

#[test]
fn the_ball_comes_and_goes_in_every_pair() {
    for model in [Model::Original, Model::Color] {
        let codec = Codec::by_name("NOOP,A").expect("a codec");
        let config = SwarmConfig { codec, ..config(6, 1) };
        let mut swarm = NativeSwarm::new(rom_for(Some(model)), config).expect("a swarm");
        for _ in 0..12 {
            // One of each pair throws, once it is the first and once the second.
            swarm.step(&[1, 0, 0, 1, 1, 0]).expect("good actions");
        }
        for env in 0..6 {
            let bytes = swarm.read_memory(env, 0xc000..0xc004).expect("an env");
            assert_eq!(bytes[0], 0xa5, "{model:?} {env}: {bytes:x?}");
            assert!(bytes[1] >= 16, "{model:?} {env}: {bytes:x?}");
            let others = swarm.read_memory(env ^ 1, 0xc000..0xc004).expect("an env");
            assert_eq!(bytes[3] + others[3], 3, "one threw first: {bytes:x?} and {others:x?}");
        }
    }
}

#[test]
fn pairs_do_not_depend_on_threads_or_neighbours() {
    let (one, three, fewer) =
        (stepped(None, 8, 1, 9), stepped(None, 8, 3, 9), stepped(None, 2, 2, 9));
    for env in 0..8 {
        assert!(one.machine(env).expect("an env") == three.machine(env).expect("an env"), "{env}");
        assert_eq!(one.counters(env).expect("one"), three.counters(env).expect("one"));
    }
    for env in 0..2 {
        assert!(one.machine(env).expect("an env") == fewer.machine(env).expect("an env"), "{env}");
    }
}

#[test]
fn a_swarm_steps_a_pair_as_two_machines_with_a_cable() {
    let swarm = stepped(None, 2, 1, 7);
    let bytes = rom().bytes().to_vec();
    let cartridge = Cartridge::from_rom(&bytes).expect("a good header");
    let [mut one, mut other] = [Machine::power_on(&cartridge); 2];
    let mut cable = Cable::new(&one, &other, [-LEAD_TCYCLES; 2]);
    let codec = swarm.config().codec.clone();
    for step in 0..7 {
        for frame in 0..3 {
            for (machine, action) in [&mut one, &mut other].into_iter().zip(actions(2, step)) {
                let buttons = codec.actions[usize::from(action)].buttons;
                machine.set_buttons(if frame == 0 { buttons } else { 0 });
            }
            cable.run_frame(&mut one, &mut other, &bytes, &mut [], &mut []);
        }
        cable.sync_for_observers(&mut one, &mut other);
    }
    for (env, machine) in [one, other].iter().enumerate() {
        let stepped = swarm.machine(env).expect("an env").original().expect("an original");
        assert_eq!(stepped.first_difference(machine), None, "{env}");
    }
}

#[test]
fn ranges_of_a_step_and_checkpoints_change_nothing() {
    let whole = stepped(None, 4, 1, 8);
    let mut swarm = Swarm::from(stepped(None, 4, 2, 3));
    for step in 3..8 {
        for frames in [0..1, 1..3] {
            let range = FrameRange { frames, draw_last: false };
            swarm.step_frames(&actions(4, step), &range).expect("a range");
        }
        let kept = swarm.checkpoint(&[]).expect("a checkpoint");
        (swarm, _) = Swarm::from_checkpoint(&kept, None, None).expect("what was written");
        assert_eq!(swarm.config().link, LinkMode::Pairs);
    }
    for env in 0..4 {
        let native = swarm.as_native().expect("the CPU's engine");
        assert!(whole.machine(env).expect("one") == native.machine(env).expect("one"), "{env}");
        assert_eq!(whole.counters(env).expect("one"), swarm.counters(env).expect("one"));
    }
}

#[test]
fn states_of_both_machines_bring_a_pair_back() {
    let mut swarm = stepped(None, 4, 1, 3);
    let snapshots = [0, 1].map(|env| swarm.snapshot(env).expect("an env"));
    let expected = stepped(None, 4, 1, 6);
    for env in [2, 3] {
        swarm.restore(env, &snapshots[env - 2]).expect("a state of this ROM");
    }
    for step in 3..6 {
        let mut pressed = actions(4, step);
        pressed.copy_within(0..2, 2);
        swarm.step(&pressed).expect("good actions");
    }
    for env in 0..2 {
        let machine = expected.machine(env).expect("an env");
        for env in [env, env + 2] {
            assert!(swarm.machine(env).expect("an env") == machine, "{env}");
        }
    }
}

#[test]
fn an_env_that_was_alone_joins_a_pair() {
    let config = SwarmConfig { link: LinkMode::Open, ..config(2, 1) };
    let mut alone = NativeSwarm::new(rom(), config).expect("a swarm");
    for step in 0..5 {
        alone.step(&actions(2, step)).expect("good actions");
    }
    let mut pair = stepped(None, 2, 1, 2);
    pair.restore(1, &alone.snapshot(0).expect("an env")).expect("a state of this ROM");
    for step in 0..12 {
        pair.step(&actions(2, step)).expect("good actions");
    }
    for env in 0..2 {
        assert_eq!(pair.counters(env).expect("an env").frames % 3, 0);
    }
}

#[test]
fn options_that_pairs_cannot_have_are_refused_by_name() {
    let message = |config: SwarmConfig| match NativeSwarm::new(rom(), config) {
        Ok(_) => panic!("it was taken"),
        Err(error) => error.to_string(),
    };
    assert_eq!(
        message(config(3, 1)),
        "pairs need an even number of machines, found 3: env 2i is wired to env 2i + 1"
    );
    let text = SwarmConfig { sound: true, ..config(2, 1) };
    assert!(message(text).contains("have no sound"));
    let hook = Hook { bank: 0, address: 0x150, ends_step: false, calls: None };
    let text = || ProgramText::find("reward_v0").expect("a built-in program");
    let obs = ProgramText::find("obs_v0").expect("a built-in program");
    let programs = Programs::with_hooks(text(), obs, vec![hook]).expect("programs");
    assert!(message(SwarmConfig { programs, ..config(2, 1) }).contains("have no hooks"));

    let mut swarm = NativeSwarm::new(rom(), config(4, 1)).expect("a swarm");
    let half = swarm.reset_masked(&[false, false, true, false]);
    assert!(matches!(half, Err(SwarmError::HalfPair { env: 2 })));
    swarm.reset_masked(&[false, false, true, true]).expect("a pair");
}
