//! Swarms of Game Boy Colors: chosen by need or by name, seen in colour, saved and gone
//! on with, and never mixed with originals.

use std::num::NonZeroUsize;

use gbxcule_swarm::{
    EnvStates, Frame, Grays, Model, NativeSwarm, Picture, Programs, Rom, Stage, Swarm, SwarmConfig,
    View,
};

/// The game, for a model.
fn rom(model: Option<Model>) -> Rom {
    let game = gbxcule_roms::by_name("PEARL_DRIFT").expect("the game");
    Rom::for_model(game.bytes(), model).expect("a good header")
}

fn config(threads: usize) -> SwarmConfig {
    SwarmConfig {
        stage: Stage::FullStep,
        programs: Programs::default(),
        draw_last: true,
        threads: NonZeroUsize::new(threads),
        ..SwarmConfig::new(5)
    }
}

fn stepped(threads: usize) -> NativeSwarm {
    let mut swarm = NativeSwarm::new(rom(Some(Model::Color)), config(threads)).expect("a swarm");
    for step in 0..8 {
        let actions: Vec<u8> = (0..5).map(|env| (env + step) % 9).collect();
        swarm.step(&actions).expect("good actions");
    }
    swarm
}

#[test]
fn programs_for_the_color_alone_run_on_it_and_others_if_it_is_named() {
    let game = gbxcule_roms::by_name("PEARL_DRIFT").expect("the game");
    let mut bytes = game.bytes().to_vec();
    let model = |bytes: &[u8], wish| Rom::for_model(bytes, wish).map(|rom| rom.model());
    assert_eq!(model(&bytes, None).expect("a ROM"), Model::Original);
    assert_eq!(model(&bytes, Some(Model::Color)).expect("a ROM"), Model::Color);
    bytes[0x143] = 0x80;
    assert_eq!(model(&bytes, None).expect("a ROM"), Model::Original);
    assert_eq!(model(&bytes, Some(Model::Color)).expect("a ROM"), Model::Color);
    bytes[0x143] = 0xc0;
    assert_eq!(model(&bytes, None).expect("a ROM"), Model::Color);
    let said = model(&bytes, Some(Model::Original)).expect_err("a Color's ROM").to_string();
    assert!(said.contains("only on a Game Boy Color"), "{said}");
}

#[test]
fn results_of_colors_do_not_depend_on_the_number_of_threads() {
    let (one, three) = (stepped(1), stepped(3));
    for env in 0..5 {
        assert!(one.machine(env).expect("an env") == three.machine(env).expect("an env"), "{env}");
    }
    assert_eq!(one.rewards(), three.rewards());
    assert_eq!(one.observations(), three.observations());
}

#[test]
fn a_frame_has_colors_and_its_pictures_agree_with_it() {
    let swarm = stepped(1);
    let frame = swarm.machine(0).expect("an env").frame();
    assert!(matches!(frame, Frame::Colors(_)));
    let mut colors = Vec::new();
    frame.colors(Grays::Even, |color| colors.push(color));
    let mut distinct = colors.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!(distinct.len() > 3, "{distinct:04x?}");
    let view = View::Picture(Picture::Rgb, Grays::Even);
    let mut shown = vec![0; 5 * view.bytes_per_env()];
    swarm.fill_view(&view, None, &mut shown).expect("a view");
    let rgb: Vec<u8> = colors.iter().flat_map(|&color| gbxcule_swarm::rgb(color)).collect();
    assert!(shown[..rgb.len()] == rgb);
    assert_eq!(gbxcule_swarm::rgb(0x7fff), [255; 3]);
    assert_eq!(gbxcule_swarm::corrected_rgb(0x7fff), [240; 3]);
}

#[test]
fn states_and_checkpoints_of_colors_go_on_and_are_not_taken_by_originals() {
    let mut swarm = Swarm::Native(Box::new(stepped(1)));
    let state = swarm.save_state(2).expect("an env");
    let checkpoint = swarm.checkpoint(b"").expect("bytes");
    let (mut again, _) = Swarm::from_checkpoint(&checkpoint, None, None).expect("a swarm");
    for swarm in [&mut swarm, &mut again] {
        swarm.step(&[3; 5]).expect("good actions");
    }
    assert!(swarm.save_state(4).expect("an env") == again.save_state(4).expect("an env"));
    let mut original = NativeSwarm::new(rom(None), config(1)).expect("a swarm");
    let said = original.load_state(0, &state).expect_err("the other model").to_string();
    assert!(said.contains("other model"), "{said}");
    swarm.load_state(0, &state).expect("its own state");
}
