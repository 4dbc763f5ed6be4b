//! The user's own actions: what they press, for how long, and steps that press nothing or are
//! interrupted.

use gbxcule_gameboy::Machine;
use gbxcule_swarm::{Codec, NativeSwarm, Pressed, Rom, Schedule, Stage, SwarmConfig, button};

fn rom() -> Rom {
    let game = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    Rom::new(game.bytes()).expect("a good header")
}

fn swarm(codec: &str, frames_per_step: u32, num_envs: usize) -> NativeSwarm {
    let config = SwarmConfig {
        codec: Codec::by_name(codec).expect("a codec"),
        schedule: Schedule::new(frames_per_step, 2).expect("a schedule"),
        stage: Stage::FullStep,
        ..SwarmConfig::new(num_envs)
    };
    NativeSwarm::new(rom(), config).expect("a swarm")
}

fn everything(swarm: &NativeSwarm) -> Vec<Vec<u8>> {
    let envs = 0..swarm.config().num_envs;
    envs.map(|env| swarm.save_state(env).expect("an env")).collect()
}

#[test]
fn an_action_is_held_for_its_own_frames_and_presses_its_combination() {
    const RIGHT: u8 = button::A | button::RIGHT;
    let rows = [("A+RIGHT:1", RIGHT, 1), ("A+RIGHT:3", RIGHT, 3), ("A+RIGHT", RIGHT, 2)];
    let rows = [&rows[..], &[("A+RIGHT:9", RIGHT, 9), ("NOOP", 0, 2)]].concat();
    let names: Vec<&str> = rows.iter().map(|row| row.0).collect();
    let mut swarm = swarm(&names.join(","), 4, rows.len());
    let actions: Vec<u8> = (0..rows.len() as u8).collect();
    for _ in 0..30 {
        swarm.step(&actions).expect("good actions");
    }
    let rom = rom();
    for (env, (name, buttons, held)) in rows.into_iter().enumerate() {
        let mut machine = Machine::power_on(rom.cartridge());
        for frame in 0..4 * 30 {
            machine.set_buttons(if frame % 4 < held { buttons } else { 0 });
            machine.run_frame(rom.bytes(), &mut [], false);
        }
        let own = swarm.machine(env).expect("an env");
        assert!(own.original() == Some(&machine), "{name}");
    }
}

#[test]
fn an_idle_step_presses_nothing_whatever_the_codec_and_hands_hold() {
    let mut one = swarm("A,B", 4, 2);
    let mut other = swarm("NOOP", 4, 2);
    one.hold_buttons(1, Some(button::UP)).expect("an env");
    for _ in 0..20 {
        let whole = one.step_while(Pressed::Nothing, false, &mut || true).expect("a step");
        assert!(whole);
        other.step(&[0, 0]).expect("good actions");
    }
    assert_eq!(everything(&one), everything(&other));
}

#[test]
fn a_step_that_is_broken_off_stays_between_two_frames() {
    let frames = 1_000_000;
    let mut swarm = swarm("full_v1", frames, 1);
    let mut asked = 0;
    let mut go_on = || {
        asked += 1;
        asked < 3
    };
    let whole = swarm.step_while(Pressed::Actions(&[6]), false, &mut go_on).expect("a good action");
    assert!(!whole);
    let ran = swarm.counters(0).expect("an env").frames;
    assert!((3..u64::from(frames)).contains(&ran), "{ran}");
    assert_eq!(swarm.rewards(), [0.0]);
    let rom = rom();
    let mut machine = Machine::power_on(rom.cartridge());
    for frame in 0..ran {
        machine.set_buttons(if frame < 2 { button::RIGHT } else { 0 });
        machine.run_frame(rom.bytes(), &mut [], false);
    }
    assert!(swarm.machine(0).expect("an env").original() == Some(&machine));
}

#[test]
fn a_step_that_may_be_broken_off_does_what_a_step_does() {
    let (mut one, mut other) = (swarm("full_v1", 9, 5), swarm("full_v1", 9, 5));
    for step in 0..8 {
        let actions: Vec<u8> = (0..5).map(|env| (env * 2 + step) % 9).collect();
        assert!(
            one.step_while(Pressed::Actions(&actions), false, &mut || true).expect("good actions")
        );
        other.step(&actions).expect("good actions");
        assert_eq!(everything(&one), everything(&other));
        assert_eq!(one.rewards(), other.rewards());
        assert_eq!(one.observations(), other.observations());
    }
}
