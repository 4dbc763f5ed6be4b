//! Battery-backed memory, loaded from and saved as other emulators' files.

use gbxcule_swarm::{NativeSwarm, Rom, SwarmConfig};

fn swarm(name: &str) -> NativeSwarm {
    let rom = gbxcule_assembler::by_name(name).expect("a ROM of the suite");
    let rom = Rom::new(rom.bytes()).expect("a good header");
    NativeSwarm::new(rom, SwarmConfig::new(2)).expect("a swarm")
}

fn run(swarm: &mut NativeSwarm, steps: usize) {
    (0..steps).for_each(|_| swarm.step(&[8, 8]).expect("good actions"));
}

fn ram(swarm: &NativeSwarm, env: usize) -> Vec<u8> {
    swarm.snapshot(env).expect("an env").cart_ram().to_vec()
}

#[test]
fn a_file_holds_the_ram_and_comes_back_into_the_env_that_is_named() {
    for name in ["MBC1_RAM", "MBC2_RAM", "MBC3_RAM", "MBC5_RAM"] {
        let mut swarm = swarm(name);
        let empty = ram(&swarm, 0);
        run(&mut swarm, 4);
        let file = swarm.save_battery(0).expect("an env");
        assert_eq!(file, ram(&swarm, 0), "{name}");
        assert_ne!(file, empty, "{name}");
        swarm.reset(0).expect("a reset");
        swarm.load_battery(1, &file).expect("its own file");
        assert_eq!((ram(&swarm, 0), ram(&swarm, 1)), (empty, file), "{name}");
    }
}

#[test]
fn a_clock_comes_behind_the_ram_and_goes_on_where_it_was() {
    let mut swarm = swarm("MBC3_RTC");
    run(&mut swarm, 40);
    let file = swarm.save_battery(0).expect("an env");
    let size = ram(&swarm, 0).len();
    assert_eq!(file.len(), size + 48);
    let mut later = file.clone();
    // Hours that run, low byte first.
    later[size + 8] = 17;
    for length in [48, 44] {
        swarm.load_battery(1, &later[..size + length]).expect("a file with a clock");
        assert_eq!(swarm.save_battery(1).expect("an env")[size + 8], 17);
    }
    swarm.load_battery(1, &file[..size]).expect("a file without a clock");
    assert_eq!(swarm.save_battery(1).expect("an env")[size + 8], 17);
}

#[test]
fn pyboy_writes_a_whole_bank_for_a_smaller_ram() {
    let mut swarm = swarm("MBC2_RAM");
    let mut file = vec![0xF0; 0x2000];
    file[..4].copy_from_slice(&[0xF1, 0xF2, 0xF3, 0xF4]);
    swarm.load_battery(0, &file).expect("a whole bank");
    assert_eq!(ram(&swarm, 0)[..5], [0xF1, 0xF2, 0xF3, 0xF4, 0xF0]);
}

#[test]
fn files_of_other_cartridges_are_refused_with_both_sizes_and_change_nothing() {
    for (name, length, message) in [
        ("PEARL_DRIFT", 0, "the cartridge has no RAM"),
        ("PEARL_DRIFT", 8192, "it has 8192 bytes, the cartridge has no RAM"),
        ("MBC3_RAM", 8192, "it has 8192 bytes, the cartridge has 32768 bytes of RAM"),
        ("MBC3_RAM", 32768 + 48, "has 32768 bytes of RAM"),
        ("MBC3_RTC", 3, "44 or 48 of a clock may follow"),
    ] {
        let mut swarm = swarm(name);
        let before = swarm.save_state(0).expect("an env");
        let error = swarm.load_battery(0, &vec![7; length]).expect_err(name).to_string();
        assert!(error.contains(message), "{error}");
        assert_eq!(swarm.save_state(0).expect("an env"), before);
    }
}
