"""Rewards, ends and observations written in the Warp dialect, computed after each step."""

import pathlib

import gbxcule
import numpy as np
import pytest
from gbxcule._native import env_seeds

TASK = '''import gbxcule as gb
import warp as wp

SCRATCH = 1
OBS_DIM = 3


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    score = wp.float32(gb.read16(machine, 0xC000))
    gain = score - scratch[0]
    scratch[0] = score
    return gain


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return gb.read(machine, 0xC003) == 1


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    obs[0] = wp.float32(gb.read(machine, 0xC006))
    obs[1] = wp.float32(gb.read(machine, 0xC007))
    obs[2] = wp.float32(gb.read16(machine, 0xC008))
'''


@pytest.fixture
def task(tmp_path):
    path = tmp_path / "task.py"
    path.write_text(TASK)
    return path


def test_a_program_rewards_ends_and_observes_as_memory_does(task):
    options = {"num_envs": 4, "autoreset_mode": "SameStep", "max_episode_steps": 40}
    ours = gbxcule.make_vec(obs={"own": task, "screen": "mean"}, reward=task, done=[gbxcule.Number(0xC0FF), task], **options)
    theirs = gbxcule.make_vec(obs=gbxcule.Ram(0xC006, 0xC007, 0xC008, 0xC009), **options)
    first, _ = ours.reset(seed=3)
    expected, _ = theirs.reset(seed=3)
    assert ours.observation_space.contains(first)
    rng = np.random.default_rng(0)
    earned = 0
    for step in range(60):
        assert np.array_equal(first["own"], numbers(expected)), step
        actions = rng.integers(9, size=4)
        if step == 20:
            # START would begin a new game at once.
            actions[2] = 8
            for env in (ours, theirs):
                env.write_memory(2, "GameOver", b"\x01")
        first, rewards, terminated, truncated, _ = ours.step(actions)
        expected, *others, _ = theirs.step(actions)
        assert np.array_equal(rewards, others[0]) and np.array_equal(terminated, others[1])
        assert terminated[2] or step != 20
        earned += rewards.sum()
    assert earned > 0


def numbers(ram):
    wide = ram.astype(np.float32)
    return np.stack([wide[:, 0], wide[:, 1], wide[:, 2] + 256 * wide[:, 3]], 1)


def test_errors_of_a_program_name_its_line(task):
    task.write_text(TASK.replace("gb.read16(machine, 0xC000)", "gb.raed(machine, 0xC000)"))
    with pytest.raises(ValueError, match=r"task.py:10:.*"):
        gbxcule.make_vec(reward=task)


def test_one_program_observes(task, tmp_path):
    other = tmp_path / "other.py"
    other.write_text(TASK)
    with pytest.raises(ValueError, match="one observation can be a program"):
        gbxcule.make_vec(obs={"a": task, "b": other})
    with pytest.raises(ValueError, match="no reward `task`"):
        gbxcule.make_vec(reward="task")


SETTLED = """import gbxcule as gb
import warp as wp


@wp.func
def settled(machine: gb.Machine) -> wp.bool:
    return gb.step_frames(machine) == 5
"""


def test_a_program_may_do_nothing_but_say_when_steps_end(tmp_path):
    path = tmp_path / "steps.py"
    path.write_text(SETTLED)
    env = gbxcule.make_vec(num_envs=2, reward=path, frames_per_step=30, release_after_frames=4)
    short = gbxcule.make_vec(num_envs=2, frames_per_step=5, release_after_frames=4)
    obs, _ = env.reset(seed=0, options={"state": short.save_state(0)})
    short.reset(seed=0, options={"state": short.save_state(0)})
    for actions in ([3, 4], [5, 6], [0, 1]):
        obs, rewards, *_ = env.step(actions)
        expected, *_ = short.step(actions)
        assert np.array_equal(obs, expected) and rewards.tolist() == [0, 0]
    # A program that misspells `reward` is refused.
    path.write_text(SETTLED + TASK.partition("OBS_DIM = 3")[2].replace("def reward(", "def rewards("))
    with pytest.raises(ValueError, match="defines no `reward`"):
        gbxcule.make_vec(reward=path)


COUNTED = """import gbxcule as gb
import warp as wp

SCRATCH = 3


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    scratch[0] += 1.0
    # The third step of an episode has no cell.
    scratch[int(scratch[0])] = 1.0
    return scratch[0]


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return scratch[0] == 2.0
"""


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("NextStep", [1, 2, 0, 1, 2, 0, 1]), ("SameStep", [1, 2, 1, 2, 1, 2, 1]), ("Disabled", [1, 2, 1, 2, 1, 2, 1])],
)
def test_programs_rest_in_a_step_that_begins_an_episode(tmp_path, mode, expected):
    path = tmp_path / "counted.py"
    path.write_text(COUNTED)
    env = gbxcule.make_vec(num_envs=2, reward=path, autoreset_mode=mode, info={"steps": gbxcule.Cell(0)})
    env.reset(seed=0)
    for step, earned in enumerate(expected):
        _, rewards, terminated, _, infos = env.step([8, 8])
        assert rewards.tolist() == [earned, earned], step
        assert terminated.tolist() == [earned == 2, earned == 2]
        if mode == "Disabled" and terminated.any():
            env.reset(options={"reset_mask": terminated})
        elif mode == "NextStep":
            assert infos["steps"].tolist() == rewards.tolist()


def test_envs_begin_alone_while_others_play(tmp_path):
    path = tmp_path / "task.py"
    path.write_text(TASK)
    options = {"obs": path, "reward": path, "max_episode_steps": 5}
    env, others = gbxcule.make_vec(num_envs=3, **options), [gbxcule.make_vec(**options) for _ in range(3)]
    env.reset(seed=7)
    for number, other in enumerate(others):
        other.reset(seed=env_seeds(7, number, 1))
    rng = np.random.default_rng(1)
    for step in range(40):
        if step == 3:
            env.write_memory(1, "GameOver", b"\1")
            others[1].write_memory(0, "GameOver", b"\1")
        # START would begin a new game at once.
        actions = rng.choice([0, 1, 3, 4, 5, 6, 8], 3)
        found = env.step(actions)[:4]
        for number, other in enumerate(others):
            for all_envs, alone in zip(found, other.step(actions[number : number + 1])[:4], strict=True):
                assert np.array_equal(all_envs[number], alone[0]), (step, number)


def test_a_state_keeps_the_picture_that_a_program_looks_at():
    program = pathlib.Path(__file__).parents[2] / "examples/programs/pixels.py"
    env = gbxcule.make_vec(num_envs=2, obs=program, frames_per_step=7)
    env.reset(seed=0)
    for step in range(12):
        seen, *_ = env.step([step % 9, 5])
    other = gbxcule.make_vec(num_envs=2, obs=program, frames_per_step=7)
    found, _ = other.reset(options={"state": [env.save_state(number) for number in range(2)]})
    assert np.array_equal(found, seen)


LABELLED = TASK.replace("0xC000", '"Score"').replace("0xC003", '"GameOver"')


def test_labels_and_texts_are_programs_too(tmp_path):
    symbols = {"Score": 0xC000, "GameOver": 0xC003, "Table": gbxcule.symbol.Banked(0x4000, 2)}
    outcomes = []
    for number, text in enumerate((TASK, LABELLED)):
        (tmp_path / f"task{number}.py").write_text(text)
        for given in (text, str(tmp_path / f"task{number}.py")):
            with gbxcule.make_vec("PEARL_DRIFT", 2, reward=given, obs=given, symbols=symbols) as env:
                first = env.reset(seed=1)[0]
                env.checkpoint(tmp_path / "env.ckpt")
                outcomes.append([first, *(env.step([0, 3])[:3] for _ in range(5))])
                again = gbxcule.restore(tmp_path / "env.ckpt")
                for one in outcomes[-1][1:]:
                    assert all(np.array_equal(*pair) for pair in zip(one, again.step([0, 3])[:3], strict=True))
    assert all(np.array_equal(one, other) for each in outcomes[1:] for one, other in zip(each[0], outcomes[0][0], strict=True))
    assert all(
        np.array_equal(mine, his)
        for each in outcomes[1:] for one, other in zip(each[1:], outcomes[0][1:], strict=True) for mine, his in zip(one, other, strict=True)
    )


@pytest.mark.parametrize(
    ("label", "message"),
    [("Scor", r"no label `Scor`[\s\S]*did you mean `Score`"), ("Table", r"lies in bank 2[\s\S]*take the bank before the label")],
)
def test_a_label_that_cant_be_is_named(label, message):
    symbols = {"Score": 0xC000, "GameOver": 0xC003, "Table": gbxcule.symbol.Banked(0x4000, 2)}
    text = LABELLED.replace('"Score"', f'"{label}"')
    with pytest.raises(ValueError, match=message):
        gbxcule.make_vec("PEARL_DRIFT", 2, reward=text, symbols=symbols)


def test_functions_of_python_are_a_program():
    from gbxcule.kernel import wp

    score = 0xC000

    @gbxcule.kernel.func
    def now(machine: gbxcule.Machine) -> wp.float32:
        return wp.float32(gbxcule.read16(machine, score))

    def reward(machine: gbxcule.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
        gain = now(machine) - scratch[0]
        scratch[0] = now(machine)
        return gain

    def observe(machine: gbxcule.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
        obs[0] = scratch[0]

    text = gbxcule.program_text(reward, observe, SCRATCH=1, OBS_DIM=1)
    env = gbxcule.make_vec("PEARL_DRIFT", 2, reward=text, obs=text)
    twin = gbxcule.make_vec("PEARL_DRIFT", 2, reward=gbxcule.Change(score, 2))
    env.reset(seed=1), twin.reset(seed=1)
    for step in range(60):
        obs, earned, *_ = env.step([step % 7, 3])
        assert np.array_equal(earned, twin.step([step % 7, 3])[1])
    assert obs.shape == (2, 1)
    with pytest.raises(TypeError, match="no setting `OBS`; there are SCRATCH, INT_SCRATCH, BYTE_SCRATCH, OBS_DIM, ACTIONS, WEIGHTS"):
        gbxcule.program_text(reward, OBS=1)
    with pytest.raises(TypeError, match="program_text takes functions that Python text defines, found <built-in function len>"):
        gbxcule.program_text(len)


WEIGHTED = """import gbxcule as gb
import warp as wp

SCRATCH = 2
OBS_DIM = 3
WEIGHTS = 2
BYTE_SCRATCH = 3


@wp.func
def begin(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), weights: wp.array(dtype=wp.float32)):
    scratch[0] = weights[1]


@wp.func
def reward(
    machine: gb.Machine, scratch: wp.array(dtype=wp.float32), byte_scratch: wp.array(dtype=wp.uint8),
    weights: wp.array(dtype=wp.float32),
) -> wp.float32:
    scratch[1] += 1.0
    byte_scratch[2] += wp.uint8(64)
    return weights[0] * scratch[1]


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), byte_scratch: wp.array(dtype=wp.uint8)) -> wp.bool:
    return byte_scratch[2] == wp.uint8(0)


@wp.func
def observe(
    machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32),
    weights: wp.array(dtype=wp.float32),
):
    obs[0] = scratch[0]
    obs[1] = weights[0]
    obs[2] = scratch[1]
"""


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_weights_are_read_from_the_step_on_in_which_they_change(mode, tmp_path):
    env = gbxcule.make_vec(
        "PEARL_DRIFT", 2, reward=WEIGHTED, obs=WEIGHTED, weights={"explore": 2.0, "score": 5.0}, autoreset_mode=mode,
        frames_per_step=2, sticky=0.5, info={"quarters": gbxcule.Cell(2, array="byte_scratch")},
    )
    assert env.reset(seed=1)[0].tolist() == [[5.0, 2.0, 0.0]] * 2
    assert env.step([0, 0])[1].tolist() == [2.0] * 2
    state = env.save_state(0)
    env.set_weights(explore=10.0)
    obs, rewards, *_, infos = env.step([0, 0])
    assert rewards.tolist() == [20.0] * 2 and obs.tolist() == [[5.0, 10.0, 2.0]] * 2
    assert infos["quarters"].tolist() == [128, 128] and infos["quarters"].dtype == np.int64
    env.set_weights(3.0, 7.0)
    assert env.weights == {"explore": 3.0, "score": 7.0}
    env.load_state(0, state)
    env.checkpoint(tmp_path / "env.ckpt")
    again = gbxcule.restore(tmp_path / "env.ckpt")
    assert again.weights == env.weights
    for each in (env, again):
        # Each env has its own scratch; the swarm has one set of weights.
        _, rewards, *_, infos = each.step([0, 0])
        assert rewards.tolist() == [6.0, 9.0] and infos["quarters"].tolist() == [128, 192]
        for _ in range(2):
            obs, _, over, *_ = each.step([0, 0])
        each.step([0, 0])
        obs, *_ = each.step([0, 0])
        assert obs[0][:2].tolist() == [7.0, 3.0] and obs[1][:2].tolist() == [7.0, 3.0]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (None, ValueError, r"the programs take 2 weights \(`WEIGHTS`\), found 0"),
        ([1.0], ValueError, "found 1: give one number for each"),
        ([1.0, "2"], TypeError, "a weight is a number, found '2'"),
        ({"a": float("inf"), "b": 1}, ValueError, "`weights` a is a finite float32, found inf"),
        ("ab", TypeError, "`weights` are numbers, in a list or by name in a dictionary, found 'ab'"),
    ],
)
def test_weights_that_cant_be_are_named(given, error, message):
    with pytest.raises(error, match=message):
        gbxcule.make_vec("PEARL_DRIFT", 2, reward=WEIGHTED, weights=given)


def test_programs_without_weights_say_so():
    with pytest.raises(ValueError, match="the programs take no weights, found 2: a program with `WEIGHTS = 2` reads them"):
        gbxcule.make_vec("PEARL_DRIFT", 2, weights=[1.0, 2.0])


def test_a_text_without_its_imports_names_them():
    text = "import warp as wp\n\n@wp.func\ndef done(machine: gb.Machine) -> wp.bool:\n    return False\n"
    with pytest.raises(ValueError, match="write `import gbxcule as gb` before it"):
        gbxcule.make_vec("PEARL_DRIFT", 2, reward=text)


def test_a_change_of_weights_names_what_it_takes():
    env = gbxcule.make_vec("PEARL_DRIFT", 2, reward=WEIGHTED, weights=[1, 2])
    for numbers, named, error, message in [
        ((1,), {}, ValueError, "expected 2 weights, found 1"),
        ((), {"a": 1}, TypeError, "some by name if make_vec got names"),
        ((), {}, TypeError, "set_weights takes all weights in order"),
        (([1, 2],), {}, TypeError, r"found \[1, 2\]: write set_weights\(\*weights\)"),
        (({"a": 1},), {}, TypeError, r"found {'a': 1}: write set_weights\(\*\*weights\)"),
    ]:
        with pytest.raises(error, match=message):
            env.set_weights(*numbers, **named)
    with pytest.raises(ValueError, match="sets no `WEIGHTS`"):
        gbxcule.make_vec("PEARL_DRIFT", 2, reward=WEIGHTED.replace("WEIGHTS = 2", ""), weights=[1, 2])


SEEN_BY_ALL = """
import warp as wp
import gbxcule as gb
SCRATCH = 0
WEIGHTS = 16

@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), weights: wp.array(dtype=wp.float32)) -> wp.float32:
    return 1.0 / wp.sqrt(1.0 + weights[wp.int32(gb.read(machine, "SubX")) // 16])
"""


def test_a_map_that_all_envs_share_is_the_same_for_any_number_of_threads():
    found = []
    for threads in (1, 2, 3):
        env = gbxcule.make_vec(
            "PEARL_DRIFT", 40, reward=SEEN_BY_ALL, weights=[0.0] * 16, info={"x": gbxcule.Number("SubX")}, threads=threads
        )
        env.reset(seed=1)
        visits, rng = np.zeros(16), np.random.default_rng(0)
        for _ in range(20):
            _, rewards, _, _, info = env.step(rng.integers(9, size=40))
            places = info["x"].astype(int) // 16
            assert np.allclose(rewards, 1 / np.sqrt(1 + visits[places]))
            np.add.at(visits, places, 1)
            env.set_weights(*visits)
        found.append((rewards.tobytes(), visits.tobytes()))
        env.close()
    assert found[0] == found[1] == found[2] and visits.sum() == 800
