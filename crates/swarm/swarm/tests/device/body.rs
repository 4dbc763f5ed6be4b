//! Test bodies that hold on every device.

use crate::pair::{Pair, Subject, actions, config, on, plain};
use gbxcule_runtime::Device;
use gbxcule_swarm::{DeviceConfig, DeviceSwarm};
use gbxcule_swarm::{
    Frame, Grays, Picture, ProgramText, Programs, Rom, Schedule, Stage, SwarmConfig, View, in_bank,
};

pub(crate) fn every_rom_runs_alike(subject: Subject) {
    // Compiled code stays in memory as long as a swarm uses it.
    let mut kept = None;
    // The kernel's text is the same for every ROM, so a few ROMs are enough where the text is
    // known to do what the CPU does: in the simulator, and for the Color's of the original's ROMs.
    let own = subject.roms().count() - gbxcule_assembler::all().len();
    let is_few = std::env::var_os("HOST_GPU_SASS").is_some() || own > 0;
    let is_chosen = |number: usize| {
        let is_own = number < own;
        subject.device == Device::Cpu || !is_few || is_own || (number - own).is_multiple_of(5)
    };
    for (number, rom) in subject.roms().enumerate().filter(|(at, _)| is_chosen(*at)) {
        // A warp of machines, each with buttons of its own, in the Color's game.
        let num_envs = if rom.name == "AMBER_ROAD" { 32 } else { 3 };
        let config = SwarmConfig { draw_last: number % 3 != 0, ..config(num_envs) };
        let mut pair = Pair::new(rom.bytes(), config, on(subject));
        for step in 0..12 {
            pair.step(&actions(num_envs, step));
            if step % 4 == 3 {
                pair.assert_equal(&format!("{} after step {step}", rom.name));
            }
        }
        kept = Some(pair);
    }
    assert!(kept.is_some(), "there are ROMs");
}

pub(crate) fn every_stage_computes_what_it_owns_and_leaves_the_rest(subject: Subject) {
    let rom = gbxcule_assembler::by_name("JOY_DIVERGE_PERSIST").expect("a ROM");
    for stage in Stage::ALL {
        let config = SwarmConfig { stage, ..config(5) };
        let mut pair = Pair::new(rom.bytes(), config, plain(subject));
        for step in 0..6 {
            pair.step(&actions(5, step));
        }
        pair.assert_equal(stage.name());
    }
}

/// Both swarms a few steps into a ROM with cartridge RAM.
fn battery(subject: Subject, num_envs: usize) -> Pair {
    let with_ram = |bytes: &[u8]| Rom::new(bytes).is_ok_and(|rom| rom.cart_ram_bytes() > 1000);
    let rom = gbxcule_assembler::all().iter().find(|rom| with_ram(rom.bytes()));
    let setup = on(subject);
    let mut pair = Pair::new(rom.expect("a ROM").bytes(), config(num_envs), setup);
    assert!(pair.native.snapshot(0).expect("an env").cart_ram().len() > 1000);
    for step in 0..5 {
        pair.step(&actions(num_envs, step));
    }
    pair
}

pub(crate) fn resets_copies_and_snapshots_do_the_same(subject: Subject) {
    let mut pair = battery(subject, 6);
    let mask = [true, false, false, true, false, true];
    pair.native.copy_state(4, &mask).expect("an env");
    pair.ours.copy_state(4, &mask).expect("an env");
    pair.assert_equal("after a copy");
    let (native, ours) = (pair.native.snapshot(2), pair.ours.snapshot(2));
    let (native, ours) = (native.expect("an env"), ours.expect("an env"));
    pair.native.start_from_env(1).expect("an env");
    pair.ours.start_from_env(1).expect("an env");
    for step in 5..9 {
        pair.step(&actions(6, step));
    }
    pair.native.reset_masked(&mask).expect("a mask");
    pair.ours.reset_masked(&mask).expect("a mask");
    pair.assert_equal("after a masked reset");
    pair.native.restore(5, &native).expect("its cartridge");
    pair.ours.restore(5, &ours).expect("its cartridge");
    pair.assert_equal("after a restore");
    let bytes = pair.ours.save_state(3).expect("an env");
    assert!(bytes == pair.native.save_state(3).expect("an env"));
    pair.native.load_state(0, &bytes).expect("a state");
    pair.ours.load_state(0, &bytes).expect("a state");
    pair.step(&actions(6, 9));
    pair.assert_equal("after a loaded state");
    pair.native.reset(7).expect("a reset");
    pair.ours.reset(7).expect("a reset");
    assert_eq!(pair.ours.seed(), 7);
    pair.assert_equal("after a reset");
}

pub(crate) fn memory_is_read_and_written_the_same(subject: Subject) {
    let mut pair = battery(subject, 3);
    for env in 0..3 {
        let native = pair.native.read_memory(env, 0..0x1_0000).expect("a range");
        let ours = pair.ours.read_memory(env, 0..0x1_0000).expect("a range");
        let differs = (0..0x1_0000).find(|&at| native[at] != ours[at]);
        assert_eq!(differs, None, "env {env}");
    }
    // Work RAM alone is read another way.
    for range in [0xC000..0xC020, 0xCFFF..0xE000, 0xDFFF..0xE001] {
        let native = pair.native.read_memory(2, range.clone()).expect("a range");
        assert_eq!(pair.ours.read_memory(2, range).expect("a range"), native);
    }
    for (bank, address) in
        [(0, 0x8000), (1, 0x8010), (0, 0xA000), (1, 0x4000), (1, 0xD000), (5, 0xD0F0)]
    {
        let range = in_bank(bank, address)..in_bank(bank, address + 0x20);
        let native = pair.native.read_memory(2, range.clone()).map_err(|error| error.to_string());
        let ours = pair.ours.read_memory(2, range).map_err(|error| error.to_string());
        assert_eq!(ours, native, "bank {bank} of {address:04x}");
    }
    pair.assert_equal("reading disturbs nothing");
    for (low, bytes) in [
        (0xC0F0, vec![1, 2, 3]),
        (0x8010, vec![0xAA; 20]),
        (0xFE00, vec![7; 0xA0]),
        (0xFF40, vec![0x91, 0x40, 3, 4]),
        (0xFF80, vec![9]),
        (0xA000, vec![0x5A; 40]),
        (0x0100, vec![0; 4]),
    ] {
        pair.native.write_memory(1, low, &bytes).expect("a range");
        pair.ours.write_memory(1, low, &bytes).expect("a range");
        pair.assert_equal(&format!("after a write to {low:04x}"));
    }
    for (bank, address) in [(0, 0x8000), (1, 0x8010), (0, 0xA000), (1, 0xD000), (5, 0xD0F0)] {
        let low = in_bank(bank, address);
        let native = pair.native.write_memory(1, low, &[8, 9, 10]).map_err(|it| it.to_string());
        let ours = pair.ours.write_memory(1, low, &[8, 9, 10]).map_err(|it| it.to_string());
        assert_eq!(ours, native, "bank {bank} of {address:04x}");
        pair.assert_equal(&format!("after a write to {address:04x} in bank {bank}"));
    }
    pair.step(&actions(3, 5));
    pair.assert_equal("a step after the writes");
    assert!(pair.ours.read_memory(0, 5..5).expect("a range").is_empty());
}

pub(crate) fn frames_are_those_of_the_native_swarm(subject: Subject) {
    let config = SwarmConfig { draw_last: true, ..config(2) };
    let mut pair = Pair::new(subject.game(), config, plain(subject));
    for step in 0..30 {
        pair.step(&actions(2, step));
    }
    for envs in [&[0][..], &[1], &[0, 1], &[1, 0], &[0, 0, 1]] {
        let mut frames: Vec<u8> = Vec::new();
        let see = |frame: Frame<'_>| match frame {
            Frame::Shades(bytes) => frames.extend(bytes),
            Frame::Colors(bytes) => frames.extend(bytes),
        };
        pair.ours.frames(envs, see).expect("envs");
        for (frame, env) in frames.chunks(subject.frame_bytes()).zip(envs) {
            assert!(frame == pair.native.frame(*env).expect("an env"), "{envs:?}");
            assert!(frame.iter().any(|byte| *byte != 0), "nothing was drawn");
        }
        assert_eq!(frames.len(), envs.len() * subject.frame_bytes());
    }
    pair.ours.frames(&[0, 2], |_| ()).expect_err("no such env");
}

pub(crate) fn views_show_the_same(subject: Subject) {
    let config = SwarmConfig { draw_last: true, ..config(4) };
    let mut pair = Pair::new(subject.game(), config, plain(subject));
    (0..12).for_each(|step| pair.step(&actions(4, step)));
    let banked = in_bank(1, 0xD000)..in_bank(1, 0xD008);
    let ranges = vec![0xC000..0xC010, 0xFF40..0xFF46, banked, 0x0100..0x0102];
    let views = [
        View::Picture(Picture::Packed, Grays::Even),
        View::Picture(Picture::Mean, Grays::Pyboy),
        View::Memory(ranges.clone()),
        View::Bits(ranges),
        View::ObsV0,
        View::Memory(Vec::new()),
    ];
    for (view, mask) in
        views.iter().flat_map(|view| [(view, None), (view, Some([true, false, false, true]))])
    {
        let mask = mask.as_ref().map(|mask| &mask[..]);
        let [mut native, mut ours] = [(); 2].map(|()| vec![7; 4 * view.bytes_per_env()]);
        pair.native.fill_view(view, mask, &mut native).expect("a view");
        pair.ours.fill_view(view, mask, &mut ours).expect("a view");
        assert!(native == ours, "{view:?} {mask:?}");
    }
    let exported = pair.ours.export_bess(1).expect("an env");
    assert!(exported == pair.native.export_bess(1).expect("an env"));
    pair.native.import_state(2, &exported).expect("a state");
    pair.ours.import_state(2, &exported).expect("a state");
    pair.assert_equal("after an imported state");
    pair.ours.fill_view(&views[2], None, &mut [0; 3]).expect_err("a short buffer");
}

pub(crate) fn wrong_calls_are_refused_and_change_nothing(subject: Subject) {
    let mut pair = battery(subject, 3);
    let swarm = &mut pair.ours;
    let refusals = [
        swarm.step(&[0, 0]),
        swarm.step(&[0, 200, 0]),
        swarm.reset_masked(&[true]),
        swarm.copy_state(3, &[true; 3]),
        swarm.copy_state(0, &[true; 2]),
        swarm.cpu_state(3).map(|_| ()),
        swarm.snapshot(9).map(|_| ()),
        swarm.frame(3).map(|_| ()),
        swarm.read_memory(0, 0xFFFF..0x1_0001).map(|_| ()),
        swarm.write_memory(0, 0xFFFF, &[0, 0]),
        swarm.load_state(0, &[1, 2, 3]),
    ];
    for refusal in refusals {
        refusal.expect_err("a refusal");
    }
    pair.assert_equal("after refusals");
    let rom = subject.rom(gbxcule_assembler::by_name("ALU_LOOP").expect("a ROM").bytes());
    let device = DeviceConfig { device: subject.device, ..DeviceConfig::default() };
    assert!(DeviceSwarm::new(rom, config(0), device).is_err());
}

/// A reward with memory, an end, and an observation of memory and pixels.
pub(crate) const PROGRAM: &str = r#"
import gbxcule as gb
import warp as wp

SCRATCH = 3
OBS_DIM = 7

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    now = wp.float32(gb.read(machine, 0xC000)) + 0.5 * wp.float32(gb.action(machine))
    gained = now - scratch[0]
    scratch[0] = now
    scratch[1] = scratch[1] + 1.0
    return gained / 3.0

@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.frames(machine) > 20 and gb.env(machine) % 2 == 0

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = scratch[1]
    obs[1] = wp.float32(gb.pc(machine))
    obs[2] = wp.float32(gb.buttons(machine))
    obs[3] = wp.float32(gb.seed(machine))
    for at in range(3):
        obs[4 + at] = wp.float32(gb.pixel(machine, 40 * at, 30 + at)) + wp.float32(gb.read(machine, 0xFF40 + at))
"#;

pub(crate) fn programs_of_the_user_compute_the_same(subject: Subject) {
    let text = ProgramText::new("mine.py", PROGRAM);
    let programs = Programs::new(text.clone(), text).expect("right programs");
    let config = SwarmConfig { programs, ..config(4) };
    let mut pair = Pair::new(subject.game(), config, plain(subject));
    pair.native.reset(5).expect("a reset");
    pair.ours.reset(5).expect("a reset");
    for step in 0..9 {
        pair.step(&actions(4, step));
        pair.assert_equal(&format!("programs after step {step}"));
        assert_eq!(pair.ours.dones().expect("dones"), pair.native.dones());
    }
    assert_eq!(pair.native.dones(), [true, false, true, false]);
    for env in 0..4 {
        let (native, ours) = (pair.native.snapshot(env), pair.ours.snapshot(env));
        let (native, ours) = (native.expect("an env"), ours.expect("an env"));
        assert_eq!(native.scratch(), ours.scratch());
        assert!(ours.scratch()[1] == 9.0);
    }
    pair.native.copy_state(1, &[true, false, true, false]).expect("an env");
    pair.ours.copy_state(1, &[true, false, true, false]).expect("an env");
    pair.step(&actions(4, 9));
    pair.assert_equal("programs after a copy");
    pair.native.reset_masked(&[true, false, false, true]).expect("a mask");
    pair.ours.reset_masked(&[true, false, false, true]).expect("a mask");
    pair.step(&actions(4, 10));
    pair.assert_equal("programs after a masked reset");
}

pub(crate) fn the_program_of_a_game_computes_the_same(subject: Subject) {
    let programs = Programs::find("LAST_BEACON", "LAST_BEACON").expect("right programs");
    let rom = gbxcule_assembler::by_name("LAST_BEACON").expect("the game");
    let schedule = Schedule::new(8, 4).expect("a schedule");
    let config = SwarmConfig { programs, schedule, ..config(3) };
    let mut pair = Pair::new(rom.bytes(), config, plain(subject));
    for step in 0..60 {
        pair.step(&actions(3, step));
        if step % 10 == 9 {
            pair.assert_equal(&format!("after step {step}"));
        }
    }
}

pub(crate) fn a_program_that_stops_names_its_env_and_its_line(subject: Subject) {
    let body = PROGRAM.replace("scratch[0] = now", "scratch[int(gb.env(machine)) * 2] = now");
    let text = ProgramText::new("mine.py", &body);
    let programs = Programs::new(text.clone(), text).expect("right programs");
    let rom = gbxcule_assembler::by_name("ALU_LOOP").expect("a ROM");
    let config = SwarmConfig { programs, ..config(3) };
    let mut pair = Pair::new(rom.bytes(), config, plain(subject));
    let native = pair.native.step(&[0; 3]).expect_err("a stop").to_string();
    let ours =
        pair.ours.step(&[0; 3]).and_then(|()| pair.ours.sync()).expect_err("a stop").to_string();
    // The kernels have other names.
    let place = |message: &str| message.split_once("-->").map(|(_, rest)| rest.to_owned());
    assert_eq!(place(&ours), place(&native));
    assert!(ours.contains("env 2") && ours.contains("mine.py:12"), "{ours}");
    // The swarm reports the stop once, and the machines remain valid.
    pair.ours.sync().expect("nothing new");
    assert_eq!(pair.ours.cpu_state(0).expect("an env"), pair.native.cpu_state(0).expect("an env"));
}
