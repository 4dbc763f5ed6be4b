//! States that other emulators read and write. Those of PyBoy itself are in
//! `python/tests/test_state.py`.

use gbxcule_swarm::{AnyMachine, Model, NativeSwarm, Rom, Schedule, SwarmConfig};

fn swarm(name: &str) -> NativeSwarm {
    swarm_of(name, None)
}

fn swarm_of(name: &str, model: Option<Model>) -> NativeSwarm {
    let rom = gbxcule_assembler::by_name(name).expect("a ROM of the suite");
    let schedule = Schedule::new(1, 1).expect("a schedule");
    let config = SwarmConfig { schedule, draw_last: true, ..SwarmConfig::new(2) };
    let rom = Rom::for_model(rom.bytes(), model).expect("a header");
    NativeSwarm::new(rom, config).expect("a swarm")
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

/// All ROMs of the Color continue alike, and so do programs for the original on a Color.
#[test]
fn a_bess_state_of_a_color_goes_on_as_the_machine_did() {
    let of_original = ["PEARL_DRIFT", "HALT_IDLE", "BG_SCROLL", "MBC3_RAM", "MBC5_RAM"];
    for name in gbxcule_assembler::for_color().iter().map(|rom| rom.name).chain(of_original) {
        let mut swarm = swarm_of(name, Some(Model::Color));
        run(&mut swarm, 130);
        let state = swarm.export_bess(0).expect("an env");
        swarm.reset_masked(&[false, true]).expect("a mask");
        swarm.import_state(1, &state).expect("our own BESS");
        assert_eq!(swarm.cpu_state(0).expect("env"), swarm.cpu_state(1).expect("env"), "{name}");
        let seen = |swarm: &NativeSwarm, env: usize| {
            let snapshot = swarm.snapshot(env).expect("an env");
            let machine = snapshot.machine().color().expect("a Color");
            (machine.wram, machine.vram, machine.ppu.palettes, machine.color, machine.speed.double)
        };
        for frame in 0..60 {
            assert!(seen(&swarm, 0) == seen(&swarm, 1), "{name}, {frame} frames later");
            run(&mut swarm, 1);
            assert!(
                swarm.frame(0).expect("env") == swarm.frame(1).expect("env"),
                "{name}, frame {frame}"
            );
        }
    }
}

/// Every register that BESS can tell of arrives, at either speed.
#[test]
fn registers_of_a_color_are_part_of_a_bess_state() {
    for double in [false, true] {
        let mut swarm = swarm("COLOR_SPEED");
        while is_double(&swarm, 0) != double {
            run(&mut swarm, 1);
        }
        for (low, value) in [
            (0x4F, 1),
            (0x51, 0xD1),
            (0x52, 0x20),
            (0x53, 0x12),
            (0x54, 0x30),
            (0x56, 0xC1),
            (0x68, 0x85),
            (0x6A, 0x07),
            (0x70, 5),
            (0x72, 1),
            (0x73, 2),
            (0x74, 3),
            (0x75, 0x40),
        ] {
            swarm.write_memory(0, 0xFF00 + low, &[value]).expect("an env");
        }
        let state = swarm.export_bess(0).expect("an env");
        swarm.import_state(1, &state).expect("our own BESS");
        let registers = |env| {
            let snapshot = swarm.snapshot(env).expect("an env");
            let AnyMachine::Color(machine) = snapshot.machine() else { unreachable!("a Color") };
            let (hdma, palettes) = (&machine.hdma, machine.ppu.palettes);
            (machine.color, (hdma.source, hdma.target), palettes, machine.speed.double)
        };
        assert_eq!(registers(0), registers(1));
        assert_eq!(registers(1).0.wram_bank, 5);
        assert_eq!(registers(1).1, (0xD120, 0x1230));
        assert_eq!(registers(1).3, double);
    }
}

fn is_double(swarm: &NativeSwarm, env: usize) -> bool {
    let snapshot = swarm.snapshot(env).expect("an env");
    snapshot.machine().color().expect("a Color").speed.double
}

#[test]
fn a_state_of_the_other_model_is_refused_by_both_names() {
    let [mut original, mut color] =
        [Model::Original, Model::Color].map(|model| swarm_of("PEARL_DRIFT", Some(model)));
    for (from, to, found, machine) in [
        (0, 1, "model `GD  `, an original Game Boy", "this machine is a Game Boy Color"),
        (1, 0, "model `CCC `, a Game Boy Color", "this machine is an original Game Boy"),
    ] {
        let swarms = [&mut original, &mut color];
        let state = swarms[from].export_bess(0).expect("an env");
        let before = swarms[to].save_state(1).expect("an env");
        let error = swarms[to].import_state(1, &state).expect_err("the other model").to_string();
        assert!(error.contains(found) && error.contains(machine), "{error}");
        assert_eq!(swarms[to].save_state(1).expect("an env"), before);
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

/// The format has no lengths, so a missing part is noticed only by the total length.
#[test]
fn a_state_of_pyboys_of_another_length_is_refused() {
    for name in ["PEARL_DRIFT", "AMBER_ROAD"] {
        let mut game = swarm(name);
        run(&mut game, 70);
        let good = game.export_pyboy(0).expect("an env");
        let longer = [good.clone(), vec![0; 100]].concat();
        let shorter = [1, 2, 20, 2000].map(|count| good[..good.len() - count].to_vec());
        for state in shorter.into_iter().chain([longer]) {
            let error = game.import_state(1, &state).expect_err("another length").to_string();
            assert!(error.contains("cut off or damaged"), "{error}");
        }
        game.import_state(1, &good).expect("a good state");
    }
}

#[test]
fn damaged_states_never_bring_anything_down() {
    for (name, step) in [("MBC3_RTC", 997), ("COLOR_SPEED", 9973)] {
        let mut swarm = swarm(name);
        run(&mut swarm, 70);
        let good = swarm.export_bess(0).expect("an env");
        let first = good.len() - 600;
        for at in (first..good.len()).chain((0..first).step_by(step)) {
            for value in [0, 0x7F, 0x80, 0xFF] {
                let mut state = good.clone();
                state[at] = value;
                if swarm.import_state(1, &state).is_ok() {
                    run(&mut swarm, 1);
                }
            }
        }
    }
}

/// Palettes outside of the file, a block that is too short, and sizes that a Color doesn't have.
#[test]
fn damaged_memories_of_a_color_are_refused_and_short_ones_filled_up() {
    let mut swarm = swarm("COLOR_PALETTES");
    run(&mut swarm, 70);
    let good = swarm.export_bess(0).expect("an env");
    let at = |name: &[u8]| good.windows(4).rposition(|found| found == name).expect("a block") + 8;
    let (core, behind_oam, transfer) = (at(b"CORE"), at(b"XOAM"), at(b"HDMA"));
    for (place, value, reason) in [
        (core + 0xC3, 0x7F, "memory that lies outside"),
        (core + 0xCF, 0x7F, "memory that lies outside"),
        (core - 4, 0xC0, "bytes are needed"),
        (behind_oam - 4, 88, "an XOAM block of 88 bytes"),
        (transfer + 1, 0x81, "an HDMA block that says nothing"),
    ] {
        let mut state = good.clone();
        state[place] = value;
        let error = swarm.import_state(1, &state).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    }
    // An emulator may save one bank of each memory and no palettes.
    let mut short = good.clone();
    for (place, size) in [(0x98, 0x2000_u32), (0xA0, 0x2000), (0xC0, 0), (0xC8, 0)] {
        short[core + place..][..4].copy_from_slice(&size.to_le_bytes());
    }
    swarm.import_state(1, &short).expect("a state with less in it");
    let snapshot = swarm.snapshot(1).expect("an env");
    let machine = snapshot.machine().color().expect("a Color");
    assert!(machine.wram[0x2000..].iter().chain(&machine.vram[0x2000..]).all(|&byte| byte == 0));
}
