//! Swarms of Game Boy Colors: chosen by need or by name, seen in colour, saved and gone
//! on with, and never mixed with originals.

use std::num::NonZeroUsize;

use gbxcule_swarm::{
    Chance, Frame, Grays, Model, NativeSwarm, Picture, ProgramText, Programs, Rom, Stage, Swarm,
    SwarmConfig, View, in_bank,
};

/// The game, for a model.
fn rom(model: Option<Model>) -> Rom {
    let game = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
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
    let game = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    let mut bytes = game.bytes().to_vec();
    let model = |bytes: &[u8], wish| Rom::for_model(bytes, wish).map(|rom| rom.model());
    assert_eq!(model(&bytes, None).expect("a ROM"), Model::Original);
    assert_eq!(model(&bytes, Some(Model::Color)).expect("a ROM"), Model::Color);
    bytes[0x143] = 0x80;
    assert_eq!(model(&bytes, None).expect("a ROM"), Model::Original);
    assert_eq!(model(&bytes, Some(Model::Color)).expect("a ROM"), Model::Color);
    bytes[0x143] = 0xc0;
    assert_eq!(model(&bytes, None).expect("a ROM"), Model::Color);
    let message = model(&bytes, Some(Model::Original)).expect_err("a Color's ROM").to_string();
    assert!(message.contains("only on a Game Boy Color"), "{message}");
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
    let mut swarm = Swarm::from(stepped(1));
    let state = swarm.save_state(2).expect("an env");
    let checkpoint = swarm.checkpoint(b"").expect("bytes");
    let (mut again, _) = Swarm::from_checkpoint(&checkpoint, None, None).expect("a swarm");
    for swarm in [&mut swarm, &mut again] {
        swarm.step(&[3; 5]).expect("good actions");
    }
    assert!(swarm.save_state(4).expect("an env") == again.save_state(4).expect("an env"));
    let mut original = NativeSwarm::new(rom(None), config(1)).expect("a swarm");
    let message = original.load_state(0, &state).expect_err("the other model").to_string();
    assert!(message.contains("other model"), "{message}");
    swarm.load_state(0, &state).expect("its own state");
}

/// Reads each bank as the program left it, also those that are not mapped, by debugger, view and
/// program.
#[test]
fn memory_is_read_in_the_bank_that_is_named() {
    let text = "import gbxcule as gb\nimport warp as wp\n
@wp.func\ndef reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    return wp.float32(gb.read_bank(machine, 3, 0xD004)) + 256.0 * wp.float32(gb.read_bank(machine, 1, 0x8003))\n";
    let programs = Programs::new(
        ProgramText::new("task.py", text),
        ProgramText::find("obs_v0").expect("built in"),
    );
    let programs = programs.unwrap_or_else(|error| panic!("{error}"));
    let banked = gbxcule_assembler::by_name("COLOR_BANKS").expect("a ROM");
    let own = Rom::new(banked.bytes()).expect("a header");
    let settings = SwarmConfig { programs, ..config(1) };
    let mut banks = NativeSwarm::new(own, settings).expect("a swarm");
    for frame in 0..4 {
        banks.step(&[0; 5]).expect("actions");
        let snapshot = banks.snapshot(0).expect("an env");
        let machine = snapshot.machine().color().expect("a Color");
        let asked = f32::from(machine.wram[0x3004]) + 256.0 * f32::from(machine.vram[0x2003]);
        assert_eq!(banks.rewards()[0], asked, "{frame}");
        for bank in 0..8_u16 {
            let range = in_bank(bank, 0xD000)..in_bank(bank, 0xDFFF) + 1;
            let own = usize::from(bank.max(1)) * 0x1000;
            let expected = &machine.wram[own..own + 0x1000];
            assert!(banks.read_memory(0, range.clone()).expect("memory") == expected, "{frame}");
            let view = View::Memory(vec![range]);
            let mut rows = vec![0; 5 * 0x1000];
            banks.fill_view(&view, None, &mut rows).expect("a view");
            assert!(rows.chunks(0x1000).all(|row| row == expected), "{frame}");
        }
        for bank in 0..2_u16 {
            let range = in_bank(bank, 0x8000)..in_bank(bank, 0x9FFF) + 1;
            let expected = &machine.vram[usize::from(bank) * 0x2000..][..0x2000];
            assert!(banks.read_memory(0, range).expect("memory") == expected, "{frame}");
        }
    }
    let differ = |bank| banks.read_memory(0, in_bank(bank, 0xD000)..in_bank(bank, 0xD100));
    assert!((2..8).any(|bank| differ(bank).expect("memory") != differ(1).expect("memory")));
    for (range, reason) in [
        (
            in_bank(8, 0xD000)..in_bank(8, 0xD001),
            "address D000 has 8 banks, from 0 on, found bank 8",
        ),
        (in_bank(2, 0x8000)..in_bank(2, 0x8001), "address 8000 has 2 banks"),
        (in_bank(2, 0x4000)..in_bank(2, 0x4001), "address 4000 has 2 banks"),
        (in_bank(0, 0xA000)..in_bank(0, 0xA001), "address A000 has 0 banks"),
        (in_bank(1, 0xDFFF)..in_bank(2, 0x0001), "from 01:DFFF on leave the bank"),
        (
            in_bank(1, 0xDFFF)..in_bank(1, 0xE001),
            "2 bytes from 01:DFFF on leave the bank, whose last",
        ),
        (in_bank(1, 0x7FFE)..in_bank(1, 0x8001), "whose last address here is 7FFF"),
    ] {
        let error = banks.read_memory(0, range).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

/// Writes in banks, by debugger, program and chance, reach the bank that is named and nothing else.
#[test]
fn memory_is_changed_in_the_bank_that_is_named() {
    let text = "import gbxcule as gb\nimport warp as wp\n
@wp.func\ndef begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    gb.write_bank(machine, 4, 0xD123, 44)
    gb.write_bank(machine, 1, 0x8123, 55)
    gb.write_bank(machine, 300, 0xD123, 66)
    gb.write_bank(machine, 4, 0xC123, 77)\n
@wp.func\ndef reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    return 0.0\n";
    let programs = Programs::new(
        ProgramText::new("task.py", text),
        ProgramText::find("obs_v0").expect("built in"),
    );
    let programs = programs.unwrap_or_else(|error| panic!("{error}"));
    let banked = gbxcule_assembler::by_name("COLOR_BANKS").expect("a ROM");
    let own = || Rom::new(banked.bytes()).expect("a header");
    let chance = Some(Chance { low: in_bank(7, 0xDFFE), width_bytes: 2 });
    let settings = SwarmConfig { programs, chance, ..config(1) };
    let mut swarm = NativeSwarm::new(own(), settings.clone()).expect("a swarm");
    swarm.reset(9).expect("a reset");
    let plain = SwarmConfig { programs: Programs::default(), chance: None, ..settings.clone() };
    let mut plain = NativeSwarm::new(own(), plain).expect("a swarm");
    plain.reset(9).expect("a reset");
    swarm.write_memory(0, in_bank(2, 0xD010), &[1, 2]).expect("a bank");
    let mut both = [&swarm, &plain].map(|swarm| swarm.snapshot(0).expect("an env"));
    let [changed, machine] = both.each_mut().map(|it| it.machine().color().expect("a Color"));
    let mut expected = *machine;
    expected.wram[0x4123] = 44;
    expected.vram[0x2123] = 55;
    expected.wram[0x0123] = 77;
    expected.wram[0x2010..0x2012].copy_from_slice(&[1, 2]);
    let drawn = [changed.wram[0x7FFE], changed.wram[0x7FFF]];
    assert_ne!(drawn, [0, 0]);
    expected.wram[0x7FFE..0x8000].copy_from_slice(&drawn);
    assert!(changed.wram == expected.wram && changed.vram == expected.vram);

    let checkpoint = Swarm::from(swarm).checkpoint(b"").expect("bytes");
    let (again, _) = Swarm::from_checkpoint(&checkpoint, None, None).expect("a swarm");
    assert_eq!(again.config().chance, chance);
    let missing = plain.write_memory(0, in_bank(8, 0xD000), &[0]).expect_err("eight banks");
    assert!(missing.to_string().contains("found bank 8"), "{missing}");
    let chance = Some(Chance { low: in_bank(8, 0xD000), width_bytes: 1 });
    let error = NativeSwarm::new(own(), SwarmConfig { chance, ..settings }).err().expect("eight");
    assert!(error.to_string().contains("found bank 8"), "{error}");
}
