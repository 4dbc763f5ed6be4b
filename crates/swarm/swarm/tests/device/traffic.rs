//! Copies between the host and the device, and waits for the device.

use crate::pair::{Subject, actions, config, plain};
use gbxcule_runtime::Traffic;
use gbxcule_swarm::{DeviceSwarm, FrameRange, Returns, Schedule, Swarm, SwarmConfig};

const ENVS: usize = 8;

/// Reads something from the swarm; returns its length.
type Look = dyn Fn(&DeviceSwarm) -> usize;

fn swarm(subject: Subject) -> DeviceSwarm {
    let schedule = Schedule::new(1, 1).expect("a schedule");
    let config = SwarmConfig { schedule, ..config(ENVS) };
    let mut swarm = plain(subject).swarm(subject.game(), config);
    // Else the first step begins the episodes.
    swarm.reset(0).expect("a reset");
    swarm
}

/// Bytes uploaded, bytes downloaded and waits of a call.
fn traffic(swarm: &mut DeviceSwarm, act: impl FnOnce(&mut DeviceSwarm)) -> [u64; 3] {
    let before = swarm.stream().traffic();
    act(swarm);
    let Traffic { uploaded, downloaded, waits } = swarm.stream().traffic();
    [uploaded - before.uploaded, downloaded - before.downloaded, waits - before.waits]
}

pub(crate) fn a_step_copies_its_actions_and_waits_for_nothing(subject: Subject) {
    let mut swarm = swarm(subject);
    let steps = traffic(&mut swarm, |swarm| {
        (0..20).for_each(|step| swarm.step(&actions(ENVS, step)).expect("good actions"));
    });
    assert_eq!(steps, [20 * ENVS as u64, 0, 0]);
    assert_eq!(traffic(&mut swarm, |swarm| swarm.sync().expect("nothing wrong")), [0, 0, 1]);
}

pub(crate) fn whoever_watches_waits_only_where_they_look(subject: Subject) {
    let mut swarm = Swarm::from(swarm(subject));
    let returns = Returns::new(&swarm).expect("a kernel");
    let now = |swarm: &Swarm| swarm.as_device().expect("kernels").stream().traffic();
    let before = now(&swarm);
    swarm.hold_buttons(3, Some(1)).expect("an env");
    for step in 0..20 {
        let range = FrameRange { frames: 0..1, draw_last: true };
        swarm.step_frames(&actions(ENVS, step), &range).expect("a range");
        returns.add(&swarm).expect("a launch");
    }
    swarm.hold_buttons(3, None).expect("an env");
    let after = now(&swarm);
    assert_eq!(after.uploaded - before.uploaded, 2 * 2 + 20 * ENVS as u64);
    assert_eq!((after.downloaded, after.waits), (before.downloaded, before.waits));
    returns.of(3).expect("an env");
    assert_eq!(
        (now(&swarm).downloaded, now(&swarm).waits),
        (after.downloaded + 4, after.waits + 1)
    );
}

pub(crate) fn what_is_looked_at_is_copied_and_nothing_else(subject: Subject) {
    let mut swarm = swarm(subject);
    swarm.step(&[0; ENVS]).expect("good actions");
    let cost = |swarm: &mut DeviceSwarm, look: &Look| {
        let mut seen = 0;
        let cost = traffic(swarm, |swarm| seen = look(swarm));
        assert!(seen > 0);
        cost
    };
    let frame = subject.frame_bytes() as u64;
    let looks: [(u64, &Look); 13] = [
        (16, &|swarm| swarm.read_memory(3, 0xC000..0xC010).expect("a range").len()),
        (1, &|swarm| swarm.read_memory(7, 0xFF44..0xFF45).expect("a range").len()),
        (20, &|swarm| usize::from(swarm.cpu_state(5).expect("an env").pc)),
        (20 * ENVS as u64, &|swarm| swarm.cpu_states().expect("registers").len()),
        (4 * ENVS as u64, &|swarm| swarm.rewards().expect("rewards").len()),
        (ENVS as u64, &|swarm| swarm.dones().expect("dones").len()),
        (4 * 32 * ENVS as u64, &|swarm| swarm.observations().expect("observations").len()),
        (frame, &|swarm| swarm.frame(2).expect("an env").len()),
        (3 * frame, &|swarm| {
            let mut frames = 0;
            swarm.frames(&[2, 3, 4], |_| frames += 1).expect("envs");
            frames
        }),
        (16, &|swarm| swarm.counters(6).expect("an env").frames as usize),
        (4, &|swarm| swarm.rewards_of(3..4).expect("an env").len()),
        (2, &|swarm| swarm.dones_of(3..5).expect("envs").len()),
        (4 * 32, &|swarm| swarm.observations_of(7..8).expect("an env").len()),
    ];
    for (bytes, look) in looks {
        assert_eq!(cost(&mut swarm, look), [0, bytes, 1]);
    }
    // Arrays on the device cost nothing until they are copied.
    let arrays = cost(&mut swarm, &|swarm| {
        let frames = swarm.frame_array().shape()[0];
        frames
            + swarm.reward_array().len()
            + swarm.observation_array().len()
            + swarm.done_array().len()
    });
    assert_eq!(arrays, [0; 3]);
}

pub(crate) fn resets_and_copies_stay_on_the_device(subject: Subject) {
    let mut swarm = swarm(subject);
    let mask = [true, false, true, false, false, false, false, true];
    let marks = [ENVS as u64, 0, 0];
    assert_eq!(traffic(&mut swarm, |swarm| swarm.reset(1).expect("a reset")), marks);
    assert_eq!(traffic(&mut swarm, |swarm| swarm.reset_masked(&mask).expect("a mask")), marks);
    assert_eq!(traffic(&mut swarm, |swarm| swarm.copy_state(4, &mask).expect("an env")), marks);
}
