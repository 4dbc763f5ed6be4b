//! The programs of `examples/programs` do what they say, on PEARL_DRIFT, and those of the games,
//! each on its own.

use std::collections::BTreeSet;

use gbxcule_swarm::{NativeSwarm, Programs, Rom, SwarmConfig};

const ENVS: usize = 3;

fn swarm(reward: &str, obs: &str) -> NativeSwarm {
    let find = |name: &str| match name.strip_suffix(".py") {
        Some(_) => format!("{}/../../../examples/programs/{name}", env!("CARGO_MANIFEST_DIR")),
        None => name.to_owned(),
    };
    let programs =
        Programs::find(&find(reward), &find(obs)).unwrap_or_else(|said| panic!("{said}"));
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    let config = SwarmConfig { programs, ..SwarmConfig::new(ENVS) };
    NativeSwarm::new(Rom::new(rom.bytes()).expect("a ROM"), config).expect("a swarm")
}

fn actions(step: usize) -> Vec<u8> {
    (0..ENVS).map(|env| ((step * 7 + env * 3) / 5 % 9) as u8).collect()
}

fn byte(swarm: &NativeSwarm, env: usize, address: u32) -> u8 {
    swarm.read_memory(env, address..address + 1).expect("in range")[0]
}

#[test]
fn visited_rewards_pearls_and_new_places_and_ends_with_the_game() {
    let mut swarm = swarm("visited.py", "obs_v0");
    let mut visited = vec![BTreeSet::new(); ENVS];
    let (mut scores, mut ended, mut caught) = ([0_i32; ENVS], false, false);
    let place = |swarm: &NativeSwarm, env: usize| {
        let [x, y] = [0xC006, 0xC007].map(|address| i32::from(byte(swarm, env, address)) / 8);
        ((x - 1).clamp(0, 19), (y - 2).clamp(0, 17))
    };
    let score = |swarm: &NativeSwarm, env: usize| {
        let [low, high] = [0xC000, 0xC001].map(|address| i32::from(byte(swarm, env, address)));
        high << 8 | low
    };
    // Episodes begin with a score and in a place.
    (0..20).for_each(|step| swarm.step(&actions(step)).expect("good actions"));
    swarm.write_memory(0, 0xC000, &[9, 0]).expect("in range");
    swarm.start_from_env(0).expect("an env");
    swarm.reset(0).expect("a reset");
    for env in 0..ENVS {
        scores[env] = score(&swarm, env);
        visited[env].insert(place(&swarm, env));
    }
    assert!(scores.iter().all(|score| *score >= 9));
    for step in 0..250 {
        swarm.step(&actions(step)).expect("good actions");
        for env in 0..ENVS {
            let now = score(&swarm, env);
            let gained = (now - scores[env]).max(0) as f32;
            scores[env] = now;
            let new = visited[env].insert(place(&swarm, env));
            let expected = if new { gained + 0.01 } else { gained };
            assert_eq!(swarm.rewards()[env], expected, "step {step}, env {env}");
            assert_eq!(swarm.dones()[env], byte(&swarm, env, 0xC003) == 1);
            ended |= swarm.dones()[env];
            caught |= gained > 0.0;
        }
    }
    assert!(ended && caught, "nothing happened");
}

#[test]
fn pixels_are_the_screen_at_half_its_size() {
    let mut swarm = swarm("reward_v0", "pixels.py");
    for step in 0..6 {
        swarm.step(&actions(step)).expect("good actions");
    }
    for env in 0..ENVS {
        let frame = swarm.frame(env).expect("an env");
        let shade = |x: usize, y: usize| frame[y * 40 + x / 4] >> (6 - 2 * (x % 4)) & 3;
        let found = &swarm.observations()[env * 5760..][..5760];
        assert!(found.iter().any(|number| *number > 0.0), "a white picture");
        for (at, number) in found.iter().enumerate() {
            let (x, y) = (at % 80 * 2, at / 80 * 2);
            let four = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| shade(x + dx, y + dy));
            assert_eq!(*number, f32::from(four.iter().sum::<u8>()) / 12.0);
        }
    }
}

#[test]
fn flags_are_the_bits_of_memory() {
    let mut swarm = swarm("visited.py", "flags.py");
    for step in 0..20 {
        swarm.step(&actions(step)).expect("good actions");
        for env in 0..ENVS {
            let bytes = swarm.read_memory(env, 0xC020..0xC070).expect("in range");
            let bits =
                bytes.iter().flat_map(|byte| (0..8).map(move |bit| f32::from(byte >> bit & 1)));
            assert!(bits.eq(swarm.observations()[env * 640..][..640].iter().copied()));
        }
    }
}

/// Plays each game that has a program with buttons of chance: START leaves the title.
#[test]
fn the_programs_of_the_games_pay_for_points_and_end_with_the_game() {
    let schedule = gbxcule_swarm::Schedule::new(12, 8).expect("a schedule");
    for (name, _) in gbxcule_swarm::program::games() {
        let rom = gbxcule_assembler::by_name(name).unwrap_or_else(|| panic!("no ROM {name}"));
        let programs = Programs::find(name, name).unwrap_or_else(|said| panic!("{said}"));
        let obs_dim = programs.obs_dim();
        let config = SwarmConfig { programs, schedule, ..SwarmConfig::new(ENVS) };
        let mut swarm =
            NativeSwarm::new(Rom::new(rom.bytes()).expect("a ROM"), config).expect("a swarm");
        let score = |swarm: &NativeSwarm, env: usize| {
            let [low, high] = [0xC000, 0xC001].map(|address| byte(swarm, env, address));
            f32::from(u16::from_le_bytes([low, high]))
        };
        let mut scores = [0.0; ENVS];
        let (mut paid, mut seen) = (0.0, BTreeSet::new());
        for step in 0..400 {
            swarm.step(&actions(step)).expect("good actions");
            for (env, before) in scores.iter_mut().enumerate() {
                let now = score(&swarm, env);
                let reward = swarm.rewards()[env];
                assert!(reward >= now - *before, "{name}, step {step}: {reward}");
                // Only an eel takes points away.
                assert!(reward >= 0.0 || name == "PEARL_HEIST", "{name}, step {step}: {reward}");
                assert_eq!(swarm.dones()[env], byte(&swarm, env, 0xC003) == 1, "{name}");
                paid += reward;
                *before = now;
            }
            let found = &swarm.observations()[..obs_dim];
            assert!(found.iter().all(|number| number.abs() < 32.0), "{name}: {found:?}");
            seen.extend(found.iter().enumerate().map(|(at, number)| (at, number.to_bits())));
        }
        assert!(paid > 0.0, "{name} pays nothing");
        assert!(seen.len() > obs_dim + 20, "{name} shows {} numbers", seen.len());
    }
}

#[test]
#[ignore = "measures"]
fn what_programs_cost() {
    let schedule = gbxcule_swarm::Schedule::new(1, 1).expect("a schedule");
    for (reward, obs) in
        [("reward_v0", "obs_v0"), ("visited.py", "flags.py"), ("visited.py", "pixels.py")]
    {
        let programs = swarm(reward, obs).config().programs.clone();
        let mut seconds = Vec::new();
        for stage in gbxcule_swarm::Stage::ALL {
            let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
            let config = SwarmConfig {
                programs: programs.clone(),
                schedule,
                stage,
                threads: std::num::NonZeroUsize::new(1),
                ..SwarmConfig::new(64)
            };
            let mut swarm =
                NativeSwarm::new(Rom::new(rom.bytes()).expect("a ROM"), config).expect("a swarm");
            swarm.step(&[0; 64]).expect("good actions");
            let start = std::time::Instant::now();
            for step in 0..100 {
                swarm.step(&[(step % 9) as u8; 64]).expect("good actions");
            }
            seconds.push(start.elapsed().as_secs_f64());
        }
        let each = seconds.iter().map(|all| format!("{:8.3}", (all - seconds[0]) / 6400.0 * 1e6));
        let each: Vec<String> = each.collect();
        println!(
            "{reward} {obs}: {:.3} us a frame, and more a step: {} us",
            seconds[0] / 6400.0 * 1e6,
            each.join(" ")
        );
    }
}
