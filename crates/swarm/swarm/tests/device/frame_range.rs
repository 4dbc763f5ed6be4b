//! Steps run as ranges of frames and with manual buttons, and the returns of episodes.

use crate::body::PROGRAM;
use crate::pair::{Pair, Subject, actions, config, plain};
use gbxcule_swarm::{
    Codec, FrameRange, NativeSwarm, ProgramText, Programs, Returns, Swarm, SwarmConfig, button,
};

pub(crate) fn with_programs() -> SwarmConfig {
    let text = ProgramText::new("mine.py", PROGRAM);
    let programs = Programs::new(text.clone(), text).expect("right programs");
    // Nine actions: one is held for fewer frames than the others, one for more.
    let codec = Codec::by_name("A:1,B,START,UP,DOWN,LEFT:3,RIGHT,SELECT,NOOP").expect("a codec");
    SwarmConfig { programs, codec, ..config(4) }
}

pub(crate) fn steps_in_pieces_with_hands_on_buttons_do_the_same(subject: Subject) {
    let mut pair = Pair::new(subject.game(), with_programs(), plain(subject));
    let cuts: [&[u32]; 4] = [&[0, 1, 2, 3], &[0, 2, 3], &[0, 1, 3], &[0, 3]];
    for (step, cuts) in cuts.iter().cycle().take(12).enumerate() {
        let manual_buttons = [None, Some(button::RIGHT | button::A), Some(0)][step / 2 % 3];
        pair.native.hold_buttons(step % 4, manual_buttons).expect("an env");
        pair.ours.hold_buttons(step % 4, manual_buttons).expect("an env");
        for cut in cuts.windows(2) {
            let range = FrameRange { frames: cut[0]..cut[1], draw_last: step % 2 == 0 };
            pair.native.step_frames(&actions(4, step), &range).expect("good actions");
            pair.ours.step_frames(&actions(4, step), &range).expect("good actions");
            pair.assert_equal(&format!("step {step}, {range:?}"));
        }
        if step % 5 == 4 {
            let range = FrameRange { frames: 0..3, draw_last: false };
            pair.native.step_frames_without_buttons(&range).expect("an idle step");
            pair.ours.step_frames_without_buttons(&range).expect("an idle step");
            pair.assert_equal(&format!("idle behind step {step}"));
        }
        if step == 7 {
            pair.native.reset(3).expect("a reset");
            pair.ours.reset(3).expect("a reset");
        }
    }
    pair.ours.hold_buttons(4, None).expect_err("no such env");
    let range = FrameRange { frames: 1..4, draw_last: false };
    pair.ours.step_frames(&[0; 4], &range).expect_err("no such frames");
    pair.assert_equal("after refusals");
}

pub(crate) fn returns_are_sums_of_an_episodes_rewards(subject: Subject) {
    let config = with_programs();
    let native = NativeSwarm::new(subject.rom(subject.game()), config.clone()).expect("a swarm");
    let ours = plain(subject).swarm(subject.game(), config);
    for mut swarm in [Swarm::from(native), Swarm::from(ours)] {
        let returns = Returns::new(&swarm).expect("a kernel");
        let (mut sums, mut over, mut episodes) = ([0.0; 4], [false; 4], 0);
        for step in 0..24 {
            // Envs 0 and 2 are over for some steps of each nine.
            if step % 9 == 8 {
                swarm.reset_masked(&[true; 4]).expect("a mask");
            }
            swarm.step(&actions(4, step)).expect("good actions");
            returns.add(&swarm).expect("a launch");
            let rewards = swarm.rewards().expect("rewards");
            let dones = swarm.dones().expect("dones");
            for env in 0..4 {
                match (over[env], dones[env]) {
                    (true, true) => {}
                    (true, false) => (sums[env], episodes) = (rewards[env], episodes + 1),
                    (false, _) => sums[env] += rewards[env],
                }
                over[env] = dones[env];
                let sum = returns.of(env).expect("an env");
                assert_eq!(sum.to_bits(), f32::to_bits(sums[env]), "step {step}, env {env}");
            }
        }
        assert_eq!(episodes, 4);
        swarm.reset(0).expect("a reset");
        returns.reset().expect("a reset");
        assert_eq!(returns.of(3).expect("an env").to_bits(), 0);
        returns.of(4).expect_err("no such env");
    }
}
