//! Steps whose actions lie on the device equal the native swarm's, and nothing is copied to or from
//! the host.

use crate::pair::{Pair, Subject, actions, config, plain};
use gbxcule_runtime::{Array, Device, Element};
use gbxcule_swarm::{
    Chance, DeviceSwarm, FrameRange, MemoryNumber, RolloutConfig, RolloutState, Stage, SwarmConfig,
    SwarmError,
};

const ENVS: usize = 4;

fn rollout(same_step: bool) -> RolloutConfig {
    RolloutConfig {
        same_step,
        max_episode_steps: Some(3),
        program_pays: true,
        program_ends: true,
        changes: Vec::new(),
        ends: Vec::new(),
        lives: None,
    }
}

/// Actions in the swarm's memory, a row for each env.
fn on_device<T: Element>(swarm: &DeviceSwarm, actions: &[T]) -> Array {
    let array = swarm.stream().from_slice(actions).expect("small");
    let size = size_of::<T>() as isize;
    let column = array.view_as(T::data_type(), 0, &[actions.len(), 1], &[size, size]);
    column.expect("as many elements")
}

fn at_beginnings() -> RolloutState {
    RolloutState {
        lengths: vec![0; ENVS],
        returns: vec![0.0; ENVS],
        over: vec![false; ENVS],
        goes_on: vec![false; ENVS],
    }
}

fn pair(subject: Subject) -> Pair {
    let chance = Some(Chance { low: 0xC0F0, width_bytes: 2 });
    let config = SwarmConfig { chance, stage: Stage::FullStep, ..config(ENVS) };
    let mut pair = Pair::new(subject.game(), config, plain(subject));
    let states: Vec<Vec<u8>> = (0..3)
        .map(|step| {
            pair.step(&actions(ENVS, step));
            pair.native.save_state(1).expect("an env")
        })
        .collect();
    let states: Vec<&[u8]> = states.iter().map(Vec::as_slice).collect();
    pair.native.set_starts(&states).expect("states");
    pair.ours.set_starts(&states).expect("states");
    pair.native.set_start_weights(&[1, 3, 2]).expect("weights");
    pair.ours.set_start_weights(&[1, 3, 2]).expect("weights");
    pair.native.reset(7).expect("a reset");
    pair.ours.reset(7).expect("a reset");
    pair
}

pub(crate) fn rollouts_do_what_steps_and_resets_do(subject: Subject) {
    for same_step in [true, false] {
        let mut pair = pair(subject);
        pair.ours.prepare_rollout(&rollout(same_step)).expect("kernels");
        pair.ours.enter_rollout(&at_beginnings()).expect("numbers");
        let mut lengths = [0; ENVS];
        let mut over = [false; ENVS];
        for step in 0..10 {
            let chosen = actions(ENVS, step);
            let numbers: Vec<i64> = chosen.iter().map(|&action| action.into()).collect();
            let given = on_device(&pair.ours, &numbers);
            let before = pair.ours.stream().traffic();
            pair.ours.step_rollout(&given).expect("good actions");
            assert_eq!(pair.ours.stream().traffic(), before, "something crossed the host");
            let begins = over;
            let mask: Vec<bool> = begins.iter().map(|begins| !begins).collect();
            let range = FrameRange { frames: 0..3, draw_last: false };
            pair.native.step_frames_masked(&chosen, &mask, &range).expect("good actions");
            for env in 0..ENVS {
                lengths[env] = if begins[env] { 0 } else { lengths[env] + 1 };
                over[env] = lengths[env] == 3;
            }
            let resets = if same_step { over } else { begins };
            pair.native.reset_masked(&resets).expect("a mask");
            if same_step {
                (0..ENVS).filter(|&env| over[env]).for_each(|env| lengths[env] = 0);
                over = [false; ENVS];
            }
            pair.assert_equal(&format!("same step {same_step}, step {step}"));
        }
        let state = pair.ours.leave_rollout().expect("nothing wrong").expect("it went on");
        assert_eq!((state.lengths, state.over), (lengths.to_vec(), over.to_vec()));
        for env in 0..ENVS {
            let episodes = (pair.ours.episode(env), pair.native.episode(env));
            assert_eq!(episodes.0.expect("an env"), episodes.1.expect("an env"));
        }
        // Steps on the host continue from the device's state.
        pair.native.reset_masked(&[true, false, true, false]).expect("a mask");
        pair.ours.reset_masked(&[true, false, true, false]).expect("a mask");
        pair.assert_equal("back on the host");
    }
}

pub(crate) fn an_action_that_is_not_there_is_said_by_its_env(subject: Subject) {
    let mut pair = pair(subject);
    pair.ours.prepare_rollout(&rollout(false)).expect("kernels");
    pair.ours.enter_rollout(&at_beginnings()).expect("numbers");
    let given = on_device(&pair.ours, &[0_i32, 1, 99, 2]);
    let step = pair.ours.step_rollout(&given);
    let message = step.and_then(|()| pair.ours.sync()).expect_err("an action that is not there");
    assert!(
        matches!(message, SwarmError::UnknownDeviceAction { env: 2, action: 99, .. }),
        "{message}"
    );
    if subject.device != Device::Cpu {
        let idle = pair.native.config().codec.action("NOOP").unwrap_or(0);
        pair.native.step(&[0, 1, idle, 2]).expect("good actions");
        pair.assert_equal("after a bad action");
    }
    let wrong = on_device(&pair.ours, &[0_i32; 3]);
    let refused = pair.ours.step_rollout(&wrong).expect_err("three actions");
    assert!(refused.to_string().contains("for each of the 4 machines"), "{refused}");
}

pub(crate) fn numbers_that_a_rollout_cannot_read_are_refused(subject: Subject) {
    let mut pair = pair(subject);
    let number = MemoryNumber {
        low: 0xFF80,
        width_bytes: 1,
        big_endian: false,
        signed: false,
        decimal: false,
    };
    let config = RolloutConfig { ends: vec![number], ..rollout(true) };
    let refused = pair.ours.prepare_rollout(&config).map(drop).expect_err("high RAM");
    assert!(refused.to_string().contains("FF80 is outside of C000"), "{refused}");
    let given = on_device(&pair.ours, &[0_u8; ENVS]);
    let refused = pair.ours.step_rollout(&given).expect_err("not entered");
    assert!(matches!(refused, SwarmError::NoRollout), "{refused}");
}
