//! A checkpoint of a device can be restored on every device.

use crate::begin::PROGRAM;
use crate::pair::{Subject, actions, config, plain};
use gbxcule_runtime::Device;
use gbxcule_swarm::{Chance, NativeSwarm, ProgramText, Programs, Swarm, SwarmConfig};

pub(crate) fn a_checkpoint_goes_on_anywhere(subject: Subject) {
    let text = ProgramText::new("mine.py", PROGRAM);
    let programs = Programs::new(text.clone(), text).expect("right programs");
    let game = subject.game();
    let chance = Some(Chance { low: 0xC0F0, width_bytes: 2 });
    let config = SwarmConfig { programs, chance, ..config(3) };
    let native = NativeSwarm::new(subject.rom(game), config.clone()).expect("a swarm");
    let ours = plain(subject).swarm(game, config);
    let mut swarms = [Swarm::from(native), Swarm::from(ours)];
    for swarm in &mut swarms {
        swarm.reset(6).expect("a reset");
        swarm.hold_buttons(1, Some(1)).expect("an env");
        (0..5).for_each(|step| swarm.step(&actions(3, step)).expect("good actions"));
        swarm.start_from_env(2).expect("an env");
    }
    let checkpoints =
        swarms.each_ref().map(|swarm| swarm.checkpoint(b"note").expect("a checkpoint"));
    let mut all = Vec::from(swarms);
    let devices = [Device::Cpu, subject.device];
    for (bytes, device) in checkpoints.iter().flat_map(|it| devices.map(|device| (it, device))) {
        let made = Swarm::from_checkpoint(bytes, Some(device), None).expect("whole");
        assert_eq!(made.1, b"note");
        all.push(made.0);
    }
    let bits = |numbers: Vec<f32>| numbers.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let seen = |swarm: &Swarm| {
        let states = (0..3).map(|env| swarm.save_state(env).expect("an env"));
        let states: Vec<Vec<u8>> = states.collect();
        let outputs =
            [swarm.rewards(), swarm.observations()].map(|numbers| bits(numbers.expect("numbers")));
        (states, outputs, swarm.dones().expect("dones"), swarm.seed())
    };
    for round in 0..3 {
        let expected = seen(&all[0]);
        for (at, swarm) in all.iter_mut().enumerate() {
            assert!(seen(swarm) == expected, "round {round}, swarm {at}");
            (0..3).for_each(|step| swarm.step(&actions(3, step)).expect("good actions"));
            swarm.reset_masked(&[round > 0, false, true]).expect("a mask");
        }
    }
}
