//! Steps in which some envs are not stepped are the same on every device.

use crate::hook;
use crate::pair::{Pair, Subject, actions, config, on, plain};
use gbxcule_swarm::{FrameRange, LinkMode, NativeSwarm, SwarmConfig, button};

/// An env's observation, its reward and its end, as bits.
fn outputs(swarm: &NativeSwarm, env: usize) -> (Vec<u32>, u32, bool) {
    let obs_dim = swarm.config().programs.obs_dim();
    let seen = &swarm.observations()[env * obs_dim..][..obs_dim];
    let seen = seen.iter().map(|number| number.to_bits()).collect();
    (seen, swarm.rewards()[env].to_bits(), swarm.dones()[env])
}

/// Runs a masked step, in these ranges, on both swarms; envs that are not stepped don't change.
fn step(pair: &mut Pair, actions: &[u8], mask: &[bool], cuts: &[u32]) {
    let envs = 0..mask.len();
    let before: Vec<_> = envs
        .clone()
        .map(|env| (pair.native.snapshot(env).expect("an env"), outputs(&pair.native, env)))
        .collect();
    for cut in cuts.windows(2) {
        let range = FrameRange { frames: cut[0]..cut[1], draw_last: true };
        pair.native.step_frames_masked(actions, mask, &range).expect("good actions");
        pair.ours.step_frames_masked(actions, mask, &range).expect("good actions");
    }
    for env in envs.filter(|&env| !mask[env]) {
        let (snapshot, (seen, ..)) = &before[env];
        let now = pair.native.snapshot(env).expect("an env");
        assert!(now.machine().first_difference(snapshot.machine()).is_none(), "env {env} moved");
        assert_eq!(now.counters(), snapshot.counters());
        assert_eq!(outputs(&pair.native, env), (seen.clone(), 0, false));
    }
    pair.assert_equal(&format!("{actions:?}, {mask:?}"));
    assert_eq!(pair.ours.dones().expect("dones"), pair.native.dones());
}

pub(crate) fn envs_that_rest_do_the_same(subject: Subject) {
    let mut pair = Pair::new(subject.game(), crate::frame_range::with_programs(), plain(subject));
    pair.native.hold_buttons(1, Some(button::A)).expect("an env");
    pair.ours.hold_buttons(1, Some(button::A)).expect("an env");
    let cuts: [&[u32]; 3] = [&[0, 3], &[0, 1, 3], &[0, 1, 2, 3]];
    let masks =
        [[true, false, true, true], [false; 4], [false, true, false, true], [true; 4]].into_iter();
    for (number, mask) in masks.cycle().take(12).enumerate() {
        // Without a mask all envs are stepped again.
        pair.step(&actions(4, number));
        step(&mut pair, &actions(4, number), &mask, cuts[number % 3]);
    }
    for mask in [&[true; 3][..], &[]] {
        let range = FrameRange { frames: 0..3, draw_last: false };
        pair.native.step_frames_masked(&[0; 4], mask, &range).expect_err("a mask for four");
        pair.ours.step_frames_masked(&[0; 4], mask, &range).expect_err("a mask for four");
    }
    pair.assert_equal("after refusals");
}

pub(crate) fn envs_that_rest_come_to_no_hook(subject: Subject) {
    let config = hook::with_hooks(hook::PROGRAM, hook::hooks());
    let mut pair = hook::pair(config, plain(subject));
    for number in 0..6 {
        pair.step(&actions(5, number));
        let mask = [number % 2 == 0, false, true, number % 2 == 1, true];
        step(&mut pair, &actions(5, number), &mask, &[0, 2, 7]);
    }
}

pub(crate) fn pairs_rest_together(subject: Subject) {
    let rom = gbxcule_assembler::by_name("LINK_PING_PONG").expect("a built-in ROM").bytes();
    let config = SwarmConfig { link: LinkMode::Pairs, ..config(4) };
    let mut pair = Pair::new(rom, config, on(subject));
    for number in 0..30 {
        pair.step(&actions(4, number));
        let first = number % 2 == 0;
        step(&mut pair, &actions(4, number), &[first, first, !first, !first], &[0, 2, 3]);
    }
    let (range, half) = (FrameRange { frames: 0..3, draw_last: false }, [true, false, true, true]);
    pair.native.step_frames_masked(&[0; 4], &half, &range).expect_err("half a pair");
    pair.ours.step_frames_masked(&[0; 4], &half, &range).expect_err("half a pair");
}
