//! The programs of `examples/programs` do what they say, on PEARL_DRIFT, and so does each game's
//! program in its game.

use std::collections::{BTreeMap, BTreeSet};

use gbxcule_swarm::{NativeSwarm, Programs, Rom, SwarmConfig};

const ENVS: usize = 3;

fn swarm(reward: &str, obs: &str) -> NativeSwarm {
    swarm_of("PEARL_DRIFT", reward, obs)
}

fn swarm_of(rom: &str, reward: &str, obs: &str) -> NativeSwarm {
    let find = |name: &str| match name.strip_suffix(".py") {
        Some(_) => format!("{}/../../../examples/programs/{name}", env!("CARGO_MANIFEST_DIR")),
        None => name.to_owned(),
    };
    let programs =
        Programs::find(&find(reward), &find(obs)).unwrap_or_else(|message| panic!("{message}"));
    let rom = gbxcule_assembler::by_name(rom).expect("the game");
    let config = SwarmConfig { programs, draw_last: true, ..SwarmConfig::new(ENVS) };
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
fn tiles_are_those_behind_the_pixels_and_objects_those_of_oam() {
    for rom in ["KEEP_OF_KEYS", "LAST_BEACON", "TARN_MASON", "PEARL_HEIST"] {
        let mut swarm = swarm_of(rom, "reward_v0", "tiles_v1");
        let (mut shown, mut objects) = (BTreeMap::new(), 0);
        for step in 0..60 {
            // START begins the game.
            let actions = if step < 8 { vec![2, 8, 2] } else { actions(step) };
            swarm.step(&actions).expect("good actions");
            // While a game draws its first screen, memory is ahead of the picture.
            for env in (0..ENVS).filter(|_| step > 11) {
                objects += compare_tiles(&swarm, env, &mut shown, &format!("{rom} {step} {env}"));
            }
        }
        let [right, wrong]: [usize; 2] =
            [0, 1].map(|kind| shown.values().map(|counts| counts[kind]).sum());
        assert!(shown.len() > 4 && objects > 0, "{rom}: {shown:?}, {objects} objects");
        // Changes between the picture and the step's end are rare.
        assert!(wrong * 50 < right, "{rom}: {right} right, {wrong} wrong: {shown:?}");
    }
}

/// Compares the middle pixel of each square that no object covers with its tile's, and counts in
/// `shown` for each tile those that are equal and those that differ; returns the number of objects.
fn compare_tiles(
    swarm: &NativeSwarm,
    env: usize,
    shown: &mut BTreeMap<u32, [usize; 2]>,
    when: &str,
) -> usize {
    let numbers = &swarm.observations()[env * 560..][..560];
    let registers = swarm.read_memory(env, 0xFF40..0xFF4C).expect("in range");
    let [control, scroll_y, scroll_x, palette, window_y, window_x] =
        [0, 2, 3, 7, 10, 11].map(|at| usize::from(registers[at]));
    let oam = swarm.read_memory(env, 0xFE00..0xFEA0).expect("in range");
    if control & 0x80 == 0 {
        assert!(numbers[..360].iter().all(|&tile| tile == -1.0), "{when}");
        return 0;
    }
    let height = if control & 4 == 0 { 8 } else { 16 };
    let on_screen = |object: &&[u8]| {
        (1..168).contains(&object[1]) && (17 - height..160).contains(&i32::from(object[0]))
    };
    let listed: Vec<&[u8]> = oam.chunks(4).filter(on_screen).collect();
    for (object, found) in listed.iter().zip(numbers[360..].chunks(5)) {
        let [y, x, tile, flags] = [0, 1, 2, 3].map(|at| f32::from(object[at]));
        assert_eq!(found, [1.0, x - 8.0, y - 16.0, tile, flags], "{when}");
    }
    assert!(numbers[360 + 5 * listed.len()..].iter().all(|&number| number == 0.0), "{when}");
    for (square, tile) in numbers[..360].iter().map(|&tile| tile as u32).enumerate() {
        let (x, y) = (square % 20 * 8 + 4, square / 20 * 8 + 4);
        let is_window = control & 0x20 != 0 && x + 7 >= window_x && y >= window_y;
        let covers = |object: &&[u8]| {
            let [top, left] = [i32::from(object[0]) - 16, i32::from(object[1]) - 8];
            // Objects may have moved since they were drawn.
            let [left, top] = [x as i32 - left, y as i32 - top];
            (-8..16).contains(&left) && (-8..height + 8).contains(&top)
        };
        if listed.iter().any(covers) {
            continue;
        }
        let [left, top] = match is_window {
            true => [x + 7 - window_x, y - window_y],
            false => [x + scroll_x, y + scroll_y],
        };
        let line = 0x8000 + 16 * tile + 2 * (top as u32 & 7);
        let planes = swarm.read_memory(env, line..line + 2).expect("in range");
        let bit = 7 - (left & 7);
        let color = (planes[0] >> bit & 1) | (planes[1] >> bit & 1) << 1;
        let frame = swarm.frame(env).expect("an env");
        let pixel = frame[y * 40 + x / 4] >> (6 - 2 * (x % 4)) & 3;
        let is_wrong = usize::from(pixel) != palette >> (2 * color) & 3;
        shown.entry(tile).or_default()[usize::from(is_wrong)] += 1;
    }
    listed.len()
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

/// Plays each game that has a program with random buttons; START leaves the title.
#[test]
fn the_programs_of_the_games_pay_for_points_and_end_with_the_game() {
    let schedule = gbxcule_swarm::Schedule::new(12, 8).expect("a schedule");
    for (name, _) in gbxcule_swarm::program::games() {
        let rom = gbxcule_assembler::by_name(name).unwrap_or_else(|| panic!("no ROM {name}"));
        let programs = Programs::find(name, name).unwrap_or_else(|message| panic!("{message}"));
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
fn seconds_of_a_step_by_program_and_stage() {
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
