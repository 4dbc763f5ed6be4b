//! Stacks of pictures, sticky actions and frames without buttons are the same on every device.

use crate::pair::{Pair, Subject, actions, config, on, plain};
use gbxcule_swarm::{Crop, FrameRange, Grays, Picture, PictureStack, Stage, SwarmConfig, View};

const ENVS: usize = 4;

fn form(picture: Picture) -> PictureStack {
    PictureStack { picture, grays: Grays::Pyboy, crop: None, size: None, depth: 1, max_pool: false }
}

fn forms() -> Vec<PictureStack> {
    let crop = Some(Crop { top: 9, left: 4, lines: 61, columns: 50 });
    vec![
        PictureStack { size: Some([84, 84]), depth: 4, max_pool: true, ..form(Picture::Gray) },
        PictureStack { crop, size: Some([31, 50]), depth: 2, ..form(Picture::Mean) },
        PictureStack { crop, max_pool: true, ..form(Picture::Stride) },
        PictureStack { crop, size: Some([10, 7]), depth: 3, ..form(Picture::Rgb) },
        PictureStack { max_pool: true, depth: 2, ..form(Picture::RgbCorrected) },
        PictureStack { depth: 2, ..form(Picture::Packed) },
        PictureStack { crop, ..form(Picture::Rgb555) },
    ]
}

fn assert_same_pictures(pair: &Pair, form: PictureStack, when: &str) {
    let view = View::Stack(form);
    let mut seen = [0, 1].map(|_| vec![7; ENVS * form.bytes()]);
    pair.native.fill_view(&view, None, &mut seen[0]).expect("its own view");
    pair.ours.fill_view(&view, None, &mut seen[1]).expect("its own view");
    assert!(seen[0] == seen[1], "{form:?} {when}");
    assert!(seen[0].iter().any(|byte| *byte != seen[0][0]), "an empty picture: {form:?} {when}");
    let mask = [false, true, false, true];
    pair.native.fill_view(&view, Some(&mask), &mut seen[0]).expect("its own view");
    pair.ours.fill_view(&view, Some(&mask), &mut seen[1]).expect("its own view");
    assert!(seen[0] == seen[1], "{form:?} {when}, masked");
}

pub(crate) fn pictures_and_sticky_actions_do_the_same(subject: Subject) {
    for (number, form) in forms().into_iter().enumerate() {
        let stage = [Stage::EmulateOnly, Stage::FullStep][number % 2];
        let config =
            SwarmConfig { pictures: Some(form), sticky: 0.5, noop_max: 3, stage, ..config(ENVS) };
        let setup = if number % 2 == 0 { plain(subject) } else { on(subject) };
        let mut pair = Pair::new(subject.game(), config, setup);
        pair.native.restart_from(&[], 30).expect("power-on");
        pair.ours.restart_from(&[], 30).expect("power-on");
        pair.native.reset(7).expect("a reset");
        pair.ours.reset(7).expect("a reset");
        for step in 0..6 {
            pair.step(&actions(ENVS, step));
            assert_same_pictures(&pair, form, &format!("after step {step}"));
        }
        let mask = [true, false, false, true];
        for frames in [0..1, 1..3] {
            let range = FrameRange { frames, draw_last: false };
            let chosen = actions(ENVS, 7);
            pair.native.step_frames_masked(&chosen, &mask, &range).expect("good actions");
            pair.ours.step_frames_masked(&chosen, &mask, &range).expect("good actions");
        }
        assert_same_pictures(&pair, form, "after a step in pieces in which some rested");
        pair.native.copy_state(0, &[false, true, false, false]).expect("an env");
        pair.ours.copy_state(0, &[false, true, false, false]).expect("an env");
        let state = pair.native.save_state(3).expect("an env");
        assert_eq!(state, pair.ours.save_state(3).expect("an env"));
        pair.native.load_state(2, &state).expect("a state");
        pair.ours.load_state(2, &state).expect("a state");
        assert_same_pictures(&pair, form, "after copies");
        pair.native.begin_again(&mask).expect("a mask");
        pair.ours.begin_again(&mask).expect("a mask");
        assert_same_pictures(&pair, form, "where some began again");
        pair.native.reset_masked(&mask).expect("a mask");
        pair.ours.reset_masked(&mask).expect("a mask");
        pair.step(&actions(ENVS, 9));
        pair.assert_equal("at the end");
        assert_same_pictures(&pair, form, "at the end");
    }
}
