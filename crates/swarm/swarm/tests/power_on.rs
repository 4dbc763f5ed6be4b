//! Memory at power-on: chosen by an option, and drawn from the seed if it is random.

use std::collections::HashSet;

use gbxcule_swarm::{NativeSwarm, PowerOnChoice, Rom, SwarmConfig, env_seed};

const ENVS: usize = 32;

/// A program that touches no memory.
fn swarm(power_on: PowerOnChoice) -> NativeSwarm {
    let rom = gbxcule_assembler::assemble("Start: jr Start").expect("a program");
    let config = SwarmConfig { power_on, ..SwarmConfig::new(ENVS) };
    NativeSwarm::new(Rom::new(&rom.bytes).expect("a ROM"), config).expect("a swarm")
}

/// Work RAM, high RAM and wave RAM of each env.
fn memory(swarm: &NativeSwarm) -> Vec<Vec<u8>> {
    let of = |env| {
        let snapshot = swarm.snapshot(env).expect("an env");
        let machine = snapshot.machine().original().expect("an original");
        [&machine.wram[..], &machine.hram[..0x7f], &machine.apu.wave_ram].concat()
    };
    (0..ENVS).map(of).collect()
}

#[test]
fn zeros_and_the_pattern_are_the_same_in_every_env() {
    let zero = memory(&swarm(PowerOnChoice::Zero));
    assert!(zero.iter().flatten().all(|byte| *byte == 0));
    let pattern = memory(&swarm(PowerOnChoice::Pattern));
    assert!(pattern.iter().all(|env| *env == pattern[0]));
    assert_eq!(pattern[0][..0x200], [[0xff; 0x100], [0; 0x100]].concat());
    assert_eq!(pattern[0].iter().filter(|byte| **byte == 0xff).count() % 0x100, 0);
    assert_eq!(pattern[0][0x2000..], [0; 0x7f + 16]);
}

#[test]
fn the_seed_draws_random_memory_for_each_episode() {
    let mut swarm = swarm(PowerOnChoice::Random);
    swarm.reset(7).expect("a reset");
    let first = memory(&swarm);
    let different: HashSet<_> = first.iter().collect();
    assert!((8..=16).contains(&different.len()), "{}", different.len());
    for env in &first {
        let ones: u32 = env.iter().map(|byte| byte.count_ones()).sum();
        let half = env.len() as u32 * 4;
        assert!(ones.abs_diff(half) < half / 20, "{ones} of {}", 2 * half);
    }
    swarm.reset_masked(&[true; ENVS]).expect("a reset");
    let second = memory(&swarm);
    assert_ne!(first, second, "the next episode draws anew");
    swarm.step(&[0; ENVS]).expect("a step");
    swarm.reset(7).expect("a reset");
    assert_eq!(memory(&swarm), first);
    for (env, drawn) in (0..).zip(&first) {
        swarm.reset(env_seed(7, env)).expect("a reset");
        assert_eq!(memory(&swarm)[0], *drawn, "of the env's own seed");
    }
}

#[test]
fn steps_before_the_start_run_from_the_memory_chosen() {
    let mut swarm = swarm(PowerOnChoice::Random);
    swarm.reset(3).expect("a reset");
    let fresh = memory(&swarm);
    swarm.restart_from(&[], 2).expect("two steps");
    swarm.reset(3).expect("a reset");
    assert_eq!(memory(&swarm), fresh);
}
