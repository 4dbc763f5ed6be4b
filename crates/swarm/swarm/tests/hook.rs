//! Hooks and `settled`: refused ones, what they don't change, and their cost.

use gbxcule_swarm::device::{Order, step_module};
use gbxcule_swarm::{
    Hook, Model, NativeSwarm, ProgramText, Programs, Rom, Schedule, Stage, Swarm, SwarmConfig,
    SwarmError,
};

const TASK: &str = "import warp as wp
import gbxcule as gb

SCRATCH = 1
OBS_DIM = 1

@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] = 100.0

@wp.func
def here(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)):
    scratch[0] += 1.0

@wp.func
def settled(machine: gb.Machine) -> wp.bool:
    return gb.step_frames(machine) == 4

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    return scratch[0]

@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.step_frames(machine))
";

fn with_hooks(reward: &str, obs: &str, hooks: Vec<Hook>) -> Result<Programs, SwarmError> {
    let [reward, obs] =
        [("reward.py", reward), ("obs.py", obs)].map(|(name, text)| ProgramText::new(name, text));
    Programs::with_hooks(reward, obs, hooks)
}

fn calls(name: &str, address: u16) -> Hook {
    Hook { calls: Some(name.to_owned()), ..Hook::at(0, address) }
}

fn read_buttons() -> u16 {
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    rom.rom().address("ReadButtons").expect("a label")
}

fn swarm(programs: Programs, stage: Stage, frames: u32) -> NativeSwarm {
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    let schedule = Schedule::new(frames, 2).expect("a schedule");
    let config = SwarmConfig { programs, stage, schedule, ..SwarmConfig::new(3) };
    NativeSwarm::new(Rom::new(rom.bytes()).expect("a ROM"), config).expect("a swarm")
}

#[test]
fn a_step_ends_when_it_has_settled_and_at_its_bound_otherwise() {
    for (frames, ran) in [(3, 3), (4, 4), (9, 4)] {
        for stage in Stage::ALL {
            let programs = with_hooks(TASK, TASK, Vec::new()).expect("right programs");
            let mut early = swarm(programs, stage, frames);
            let mut plain = swarm(Programs::default(), stage, ran);
            for step in 0..9 {
                early.step(&[step, 8, 2]).expect("good actions");
                plain.step(&[step, 8, 2]).expect("good actions");
            }
            for env in 0..3 {
                let [early, plain] = [&early, &plain].map(|it| it.snapshot(env).expect("an env"));
                assert_eq!(
                    early.machine().first_difference(plain.machine()).map(|it| it.to_string()),
                    None
                );
                assert_eq!(early.counters(), plain.counters());
            }
            if stage.owns_observation() {
                assert_eq!(early.observations(), [ran as f32; 3]);
            }
        }
    }
}

#[test]
fn counts_of_hooks_go_into_states_and_belong_to_those_hooks() {
    let hooks = || vec![calls("here", read_buttons()), Hook::at(0, 0x0100)];
    let programs = || with_hooks(TASK, TASK, hooks()).expect("right programs");
    let mut first = swarm(programs(), Stage::FullStep, 8);
    for _ in 0..30 {
        first.step(&[2, 0, 8]).expect("good actions");
    }
    assert!(first.rewards()[0] > 110.0, "{:?}", first.rewards());
    let state = first.save_state(0).expect("an env");
    let mut same = Swarm::from(swarm(programs(), Stage::FullStep, 8));
    same.load_state(1, &state).expect("its state");
    let first = Swarm::from(first);
    let counts = [first.hook_counts().expect("counts"), same.hook_counts().expect("counts")];
    assert_eq!(counts[0][..2], counts[1][2..4]);
    assert!(counts[0][0].in_episode > counts[0][0].in_step && counts[0][0].in_step > 0);
    // With other hooks it counts as a state of another task: `begin` runs.
    let other = with_hooks(TASK, TASK, hooks()[..1].to_vec()).expect("right programs");
    let mut other = Swarm::from(swarm(other, Stage::FullStep, 8));
    other.load_state(1, &state).expect("a state");
    assert_eq!(other.hook_counts().expect("counts")[1].in_episode, 0);
    // A checkpoint contains them.
    let (mut again, _) = Swarm::from_checkpoint(&first.checkpoint(&[]).expect("bytes"), None, None)
        .expect("a swarm");
    assert_eq!(again.config().programs.hooks(), hooks());
    assert_eq!(again.hook_counts().expect("counts"), counts[0]);
    again.step(&[2, 0, 8]).expect("good actions");
    assert!(again.rewards().expect("rewards")[0] > 110.0);
}

#[test]
fn texts_that_do_not_fit_the_hooks_are_refused() {
    let other = TASK.replace("100.0", "200.0");
    let said = |reward: &str, obs: &str, hooks: Vec<Hook>| {
        with_hooks(reward, obs, hooks).expect_err("a refusal").to_string()
    };
    let message = said(TASK, TASK, vec![calls("gone", 0x150)]);
    assert!(message.contains("`reward.py` defines no `gone`"), "{message}");
    assert!(message.contains("def gone(machine: gb.Machine, scratch:"), "{message}");
    let message = said(TASK, &other, Vec::new());
    assert!(message.contains("`settled` is defined in both files"), "{message}");
    let message = said(
        &TASK.replace("def here(machine: gb.Machine, scratch", "def here(scratch"),
        TASK,
        Vec::new(),
    );
    assert!(message.contains("in both files"), "{message}");
    let message = said(TASK, TASK, vec![calls("reward", 0x150)]);
    assert!(message.contains("a hook can't call `reward`"), "{message}");
}

#[test]
fn only_begin_and_what_hooks_call_may_write() {
    let writer = "@wp.func\ndef put(machine: gb.Machine):\n    gb.write(machine, 0xC000, 1)\n\n";
    let calls_writer = |head: &str| {
        let (before, after) = TASK.split_once(head).expect("a function");
        let (line, rest) = after.split_once('\n').expect("its head");
        let text = format!("{before}{head}{line}\n    put(machine)\n{rest}");
        text.replacen("@wp.func", &format!("{writer}@wp.func"), 1)
    };
    let hooks = || vec![calls("here", 0x150)];
    for name in ["def reward", "def observe", "def settled"] {
        let text = calls_writer(name);
        let message = with_hooks(&text, &text, hooks()).expect_err("a refusal").to_string();
        let name = name.trim_start_matches("def ");
        assert!(
            message.contains(&format!("`{name}` may not write; `begin` and functions")),
            "{message}"
        );
    }
    for name in ["def begin", "def here"] {
        let text = calls_writer(name);
        assert!(with_hooks(&text, &text, hooks()).expect("right programs").writes_memory());
    }
    assert!(!with_hooks(TASK, TASK, hooks()).expect("right programs").writes_memory());
}

#[test]
fn a_step_kernel_without_hooks_has_nothing_of_them() {
    let functions = |programs: &Programs| {
        let module = step_module(programs, Stage::FullStep, Model::Original);
        let names = module.functions.iter().map(|(_, function)| function.name.clone());
        let kernel = module.find("step").expect("the kernel");
        (names.collect::<Vec<_>>(), module.functions[kernel].params.len())
    };
    let (plain, plain_params) = functions(&Programs::default());
    let hooks = vec![Hook::at(0, 0x150)];
    let (hooked, hooked_params) = functions(&with_hooks(TASK, TASK, hooks).expect("programs"));
    let of_hooks = |names: &[String]| names.iter().any(|name| name.contains("run_to_hook"));
    assert!(of_hooks(&hooked) && !of_hooks(&plain));
    assert!(hooked_params > plain_params);
}

/// Artifacts name it. Steps with hooks have a loop over opcodes of their own.
#[test]
fn a_step_kernel_without_hooks_executes_the_lowest_first() {
    let hooks = vec![Hook::at(0, 0x150)];
    let hooked = with_hooks(TASK, TASK, hooks).expect("programs");
    let order = |programs: &Programs, stage| {
        let module = step_module(programs, stage, Model::Original);
        Order::of(&module)
    };
    for stage in Stage::ALL {
        assert_eq!(order(&Programs::default(), stage), Order::LowestFirst, "{stage}");
    }
    assert_eq!(order(&hooked, Stage::FullStep), Order::EachItsOwn);
}

#[test]
fn a_function_that_runs_at_other_times_is_not_called_by_a_hook() {
    for (name, when) in [
        ("reward", "after each step: give the hook a function of its own"),
        ("observe", "after each step and where episodes begin"),
        ("settled", "after each frame"),
    ] {
        let refused = with_hooks(TASK, TASK, vec![calls(name, 0x150)]).expect_err("a refusal");
        let message = refused.to_string();
        assert!(message.starts_with(&format!("a hook can't call `{name}`, which runs {when}")));
    }
    // `begin` runs when an episode begins, and a hook may call it again.
    with_hooks(TASK, TASK, vec![calls("begin", 0x150)]).expect("the right parameters");
}
