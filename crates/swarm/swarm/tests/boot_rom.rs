//! Machines that begin in a boot ROM: with code made for the ROM and without, through saved states,
//! checkpoints and states of other emulators.

use gbxcule_assembler::Assembler;
use gbxcule_runtime::Device;
use gbxcule_swarm::{
    ConsoleError, Model, NativeSwarm, Recompile, Rom, Schedule, Swarm, SwarmConfig,
};

const ENVS: usize = 3;

const BOOT: &str = include_str!("samples/boot.asm");

fn plain(model: Model) -> Rom {
    let bytes = gbxcule_assembler::by_name("PEARL_DRIFT").expect("a game").bytes();
    Rom::for_model(bytes, Some(model)).expect("a good header")
}

fn booting(model: Model) -> Rom {
    let mut boot = Assembler::new("boot.asm", BOOT).code_at(0).expect("a program");
    if model == Model::Color {
        boot.resize(2304, 0);
    }
    plain(model).with_boot_rom(&boot).expect("the length of the model's")
}

fn config(recompile: Recompile) -> SwarmConfig {
    let schedule = Schedule::new(1, 1).expect("a schedule");
    SwarmConfig { schedule, recompile, draw_last: true, ..SwarmConfig::new(ENVS) }
}

fn assert_equal(one: &NativeSwarm, other: &NativeSwarm, when: &str) {
    for env in 0..ENVS {
        let [one, other] = [one, other].map(|swarm| swarm.snapshot(env).expect("an env"));
        let difference = one.machine().first_difference(other.machine());
        assert_eq!(difference, None, "{when}, env {env}");
    }
}

#[test]
fn a_boot_rom_has_its_model_s_length() {
    for (model, right) in [(Model::Original, 256), (Model::Color, 2304)] {
        for wrong in [0, 255, 257, 2048, 2303] {
            let error = plain(model).with_boot_rom(&vec![0; wrong]).expect_err("a wrong length");
            assert!(
                matches!(error, ConsoleError::BootRom { found, expected, .. } if (found, expected) == (wrong, right)),
                "{error}"
            );
        }
        assert!(plain(model).with_boot_rom(&vec![0; right]).is_ok());
    }
}

#[test]
fn code_made_for_the_rom_sees_the_boot_rom_go() {
    for model in [Model::Original, Model::Color] {
        let [mut interpreted, mut made] = [Recompile::Off, Recompile::Always]
            .map(|how| NativeSwarm::new(booting(model), config(how)).expect("a swarm"));
        assert_eq!(made.cpu_state(0).expect("an env").pc, 0);
        for step in 0..12 {
            let actions = [step as u8 % 9; ENVS];
            interpreted.step(&actions).expect("good actions");
            made.step(&actions).expect("good actions");
            assert_equal(&interpreted, &made, &format!("{model:?} after step {step}"));
        }
        assert!(made.cpu_state(0).expect("an env").pc > 0x100, "the game runs");
        assert_eq!(made.read_memory(0, 0xff50..0xff51).expect("a register"), [0xff]);
    }
}

#[test]
fn states_and_checkpoints_from_within_go_on() {
    for model in [Model::Original, Model::Color] {
        let rom = booting(model);
        let mut swarm = Swarm::new(rom, config(Recompile::Off), Device::Cpu).expect("a swarm");
        swarm.step(&[0; ENVS]).expect("good actions");
        let state = swarm.save_state(0).expect("an env");
        let checkpoint = swarm.checkpoint(b"").expect("a swarm");
        let (mut restored, _) =
            Swarm::from_checkpoint(&checkpoint, None, None).expect("its own checkpoint");
        for _ in 0..4 {
            swarm.step(&[0; ENVS]).expect("good actions");
            restored.step(&[0; ENVS]).expect("good actions");
        }
        let later = swarm.save_state(1).expect("an env");
        assert!(later == restored.save_state(1).expect("an env"), "{model:?}");
        swarm.load_state(1, &state).expect("a state of its own");
        swarm.step(&[0; ENVS]).expect("good actions");
        let mut without =
            Swarm::new(plain(model), config(Recompile::Off), Device::Cpu).expect("a swarm");
        let refused = without.load_state(0, &state).expect_err("no boot ROM here");
        assert!(refused.to_string().contains("boot ROM"), "{refused}");
        // A state saved after the boot ROM needs none.
        without.load_state(0, &later).expect("the game's own state");
    }
}

#[test]
fn a_foreign_state_goes_on_behind_the_boot_rom() {
    let mut swarm =
        Swarm::new(plain(Model::Original), config(Recompile::Off), Device::Cpu).expect("a swarm");
    for _ in 0..8 {
        swarm.step(&[0; ENVS]).expect("good actions");
    }
    let foreign = swarm.export_bess(0).expect("an env");
    let mut booting =
        Swarm::new(booting(Model::Original), config(Recompile::Off), Device::Cpu).expect("a swarm");
    let from_within = booting.export_bess(0).expect("an env");
    booting.import_state(0, &foreign).expect("a state of the game");
    let pc = swarm.cpu_states().expect("registers")[0].pc;
    assert_eq!(booting.cpu_states().expect("registers")[0].pc, pc);
    let refused = booting.import_state(1, &from_within).expect_err("a state from within");
    assert!(refused.to_string().contains("boot ROM"), "{refused}");
}
