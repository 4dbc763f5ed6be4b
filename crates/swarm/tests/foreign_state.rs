//! States that other emulators read and write. Those of PyBoy itself are in
//! `python/tests/test_state.py`.

use gbxcule_swarm::{EnvStates, NativeSwarm, Rom, Schedule, SwarmConfig};

fn swarm(name: &str) -> NativeSwarm {
    let rom = gbxcule_roms::by_name(name).expect("a ROM of the suite");
    let schedule = Schedule::new(1, 1).expect("a schedule");
    let config = SwarmConfig { schedule, draw_last: true, ..SwarmConfig::new(2) };
    NativeSwarm::new(Rom::new(rom.bytes()).expect("a header"), config).expect("a swarm")
}

fn run(swarm: &mut NativeSwarm, frames: usize) {
    for frame in 0..frames {
        let action = (frame / 5 % 9) as u8;
        swarm.step(&[action, action]).expect("good actions");
    }
}

fn wram(swarm: &NativeSwarm, env: usize) -> Vec<u8> {
    swarm.read_memory(env, 0xC000..0xE000).expect("memory")
}

/// State that BESS leaves out doesn't matter to programs that wait for interrupts.
#[test]
fn a_bess_state_goes_on_as_the_machine_did() {
    for name in
        ["PEARL_DRIFT", "HALT_IDLE", "BG_SCROLL", "MBC1_RAM", "MBC2_RAM", "MBC3_RAM", "MBC5_RAM"]
    {
        let mut swarm = swarm(name);
        run(&mut swarm, 130);
        let state = swarm.export_bess(0).expect("an env");
        swarm.reset_masked(&[false, true]).expect("a mask");
        swarm.import_state(1, &state).expect("our own BESS");
        assert_eq!(swarm.cpu_state(0).expect("env"), swarm.cpu_state(1).expect("env"), "{name}");
        for frame in 0..200 {
            run(&mut swarm, 1);
            assert!(wram(&swarm, 0) == wram(&swarm, 1), "{name}, {frame} frames later");
        }
        assert!(swarm.frame(0).expect("env") == swarm.frame(1).expect("env"), "{name}");
    }
}

#[test]
fn an_imported_machine_shows_its_picture_at_once() {
    let mut swarm = swarm("BG_STATIC");
    run(&mut swarm, 60);
    let state = swarm.export_bess(0).expect("an env");
    swarm.import_state(1, &state).expect("our own BESS");
    assert_eq!(swarm.frame(0).expect("env"), swarm.frame(1).expect("env"));
}

#[test]
fn cartridge_ram_and_the_clock_are_part_of_a_bess_state() {
    let mut swarm = swarm("MBC3_RTC");
    run(&mut swarm, 130);
    swarm.write_memory(0, 0xC000, &[1, 2, 3]).expect("an env");
    let state = swarm.export_bess(0).expect("an env");
    swarm.import_state(1, &state).expect("our own BESS");
    let [ours, theirs] = [0, 1].map(|env| swarm.snapshot(env).expect("an env"));
    assert_eq!(ours.cart_ram(), theirs.cart_ram());
    let clock = |snapshot: &gbxcule_swarm::EnvSnapshot| {
        let rtc = snapshot.machine().original().expect("an original").cart.rtc;
        (rtc.running, rtc.latched)
    };
    assert_eq!(clock(&ours), clock(&theirs));
    assert_eq!(wram(&swarm, 1)[..3], [1, 2, 3]);
}

#[test]
fn our_own_states_are_imported_exactly() {
    let mut swarm = swarm("PEARL_DRIFT");
    run(&mut swarm, 77);
    let state = swarm.save_state(0).expect("an env");
    swarm.import_state(1, &state).expect("our own state");
    let [ours, theirs] = [0, 1].map(|env| swarm.snapshot(env).expect("an env").machine().clone());
    assert!(ours.first_difference(&theirs).is_none());
}

#[test]
fn states_that_cant_be_taken_say_why_and_change_nothing() {
    let mut game = swarm("PEARL_DRIFT");
    run(&mut game, 70);
    let good = game.export_bess(0).expect("an env");
    let before = game.save_state(1).expect("an env");
    let core = good.windows(4).rposition(|name| name == b"CORE").expect("a CORE block") + 8;
    let changed = |at: usize, value: u8| {
        let mut state = good.clone();
        state[at] = value;
        state
    };
    let other = swarm("ALU_LOOP").export_bess(0).expect("an env");
    let first = good.len() - 8;
    for (state, reason) in [
        (b"rubbish".to_vec(), "neither a state of this program"),
        (changed(core, 2), "BESS state of version 2; this program reads version 1"),
        (changed(core + 4, b'C'), "model `CD  `"),
        (changed(core + 0x18 + 0x50, 0), "within the boot ROM"),
        (changed(core + 0x16, 9), "execution state 9"),
        (changed(core + 0x9F, 0x7F), "memory that lies outside"),
        (changed(first + 3, 0x7F), "blocks lie outside"),
        (changed(core - 4, 0xFF), "bytes are needed"),
        (changed(core - 8, b'X'), "no CORE block"),
        (other, "another ROM, titled `ALU LOOP`"),
    ] {
        let error = game.import_state(1, &state).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert_eq!(game.save_state(1).expect("an env"), before);
}

#[test]
fn damaged_states_never_bring_anything_down() {
    let mut swarm = swarm("MBC3_RTC");
    run(&mut swarm, 70);
    let good = swarm.export_bess(0).expect("an env");
    let first = good.len() - 600;
    for at in (first..good.len()).chain((0..first).step_by(997)) {
        for value in [0, 0x7F, 0x80, 0xFF] {
            let mut state = good.clone();
            state[at] = value;
            if swarm.import_state(1, &state).is_ok() {
                run(&mut swarm, 1);
            }
        }
    }
}
