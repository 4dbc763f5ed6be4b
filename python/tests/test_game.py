"""Every built-in game is an environment: its row, its start, its score, its program."""

import warnings

import gbxcule
import gymnasium
import numpy as np
import pytest
from conftest import ROOT
from gbxcule import game
from gymnasium.utils.env_checker import check_env

NAMES = [*game.GAMES]
SCORE, GAME_OVER, STATE = (0xC000, 2), (0xC003, 1), (0xC005, 1)


def number(env, one, place):
    return int.from_bytes(env.read_memory(one, place), "little")


def random_play(env, seed, steps, buttons=1):
    """Play random actions; return the results of the reset and of each step."""
    generator = np.random.default_rng(buttons)
    yield env.reset(seed=seed)
    for _ in range(steps):
        yield env.step(generator.integers(env.single_action_space.n, size=env.num_envs))


@pytest.mark.parametrize("name", NAMES)
def test_a_game_begins_behind_its_title_with_its_score_as_the_reward(name):
    env = gbxcule.make_vec(name, 3, max_episode_steps=150, autoreset_mode="Disabled")
    _, infos = env.reset(seed=1)
    played = game.GAMES[name]
    assert env.action_names == gbxcule.make_vec(name, 1, actions=played.actions).action_names
    assert not played.has_title or all(number(env, one, STATE) == 1 for one in range(3))
    scores = infos["score"].copy()
    over = np.zeros(3, bool)
    generator = np.random.default_rng(1)
    episodes = 0
    while episodes < 6:
        if over.any():
            episodes += over.sum()
            _, infos = env.reset(options={"reset_mask": over})
            assert all(number(env, one, GAME_OVER) == 0 for one in np.flatnonzero(over))
            scores[over] = infos["score"][over]
        _, rewards, terminated, truncated, infos = env.step(generator.integers(env.single_action_space.n, size=3))
        for one in range(3):
            assert infos["score"][one] == number(env, one, SCORE)
            assert rewards[one] == infos["score"][one] - scores[one]
            assert terminated[one] == (number(env, one, GAME_OVER) == 1)
        scores, over = infos["score"].copy(), terminated | truncated


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_the_same_episodes_and_another_seed_others(name):
    def memories(seed):
        env = gbxcule.make_vec(name, 2, obs=gbxcule.Ram("C000:C100"), max_episode_steps=60)
        # All seeds get the same buttons: only the game's own chance differs.
        return np.stack([obs for obs, *_ in random_play(env, seed, 130, buttons=0)])

    first = memories(5)
    assert np.array_equal(first, memories(5))
    assert not np.array_equal(first, memories(6))
    assert not np.array_equal(first[:, 0], first[:, 1])


@pytest.mark.parametrize("name", NAMES)
def test_the_program_of_a_game_pays_at_least_the_score_and_sees_numbers(name):
    env = gbxcule.make_vec(name, 2, reward=name, obs=name, max_episode_steps=100)
    pure = gbxcule.make_vec(name, 2, max_episode_steps=100)
    seen = []
    for (obs, *mine), (_, *plain) in zip(random_play(env, 3, 150), random_play(pure, 3, 150), strict=True):
        seen.append(obs.copy())
        if len(mine) == 4:
            rewards, terminated, truncated, _ = mine
            assert (rewards >= plain[0]).all()
            assert np.array_equal(terminated, plain[1]) and np.array_equal(truncated, plain[2])
    seen = np.stack(seen)
    assert np.isfinite(seen).all() and np.abs(seen).max() < 32
    assert (seen.min(0) < seen.max(0)).sum() >= 5, "a step changes some features"


@pytest.mark.parametrize("name", game.GAMES)
def test_observations_of_a_program_depend_on_its_env_s_state_alone(name):
    env = gbxcule.make_vec(name, 4, reward=name, obs=name, max_episode_steps=200)
    other = gbxcule.make_vec(name, 4, reward=name, obs=name, autoreset_mode="Disabled")
    for step, (obs, *_) in enumerate(random_play(env, 4, 300)):
        if step % 20 == 7:
            states = [env.save_state(one) for one in range(4)]
            assert np.array_equal(obs, other.reset(options={"state": states})[0])


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_makes_and_checks_every_game(name):
    gbxcule.register()
    env = gymnasium.make(f"gbxcule/{game.GAMES[name].title}-v1", render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        check_env(env.unwrapped)


def test_the_page_lists_the_games_as_they_are():
    page = (ROOT / "docs/games.md").read_text()
    for name, played in game.GAMES.items():
        assert f"`gbxcule/{played.title}-v1`" in page
        row = f"| {name} | `{played.actions}` | {played.frames_per_step}, {played.release_after_frames} |"
        assert row in page


def test_the_starts_behind_a_title_differ_in_chance_and_not_in_score():
    env = gbxcule.make_vec("LAST_BEACON", 1)
    found = set()
    for state in game.starts("LAST_BEACON"):
        env.load_state(0, state)
        assert (number(env, 0, SCORE), number(env, 0, STATE)) == (5, 1)
        found.add(env.read_memory(0, (0xC00C, 2)))
    assert len(found) == 16


@pytest.mark.parametrize("name", NAMES)
def test_a_level_begins_alike_in_every_episode_and_unlike_other_levels(name):
    env = gbxcule.make_vec(name, 3, levels=[7])
    memory = lambda env: {env.read_memory(each, "C000:E000") for each in range(env.num_envs)}
    env.reset(seed=1)
    first = memory(env)
    env.reset(seed=2)
    assert len(first) == 1 and memory(env) == first
    many = gbxcule.make_vec(name, 16, levels=range(8))
    many.reset(seed=1)
    found = memory(many)
    assert 4 < len(found) <= 8
    env = gbxcule.make_vec(name, 1, levels=range(8))
    env.weigh_starts([0, 0, 0, 0, 0, 0, 0, 1])
    env.reset()
    assert memory(env) == first


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_infos_name_the_level_of_each_env(mode, tmp_path):
    levels = [5, 9, 300]
    env = gbxcule.make_vec("KEEP_OF_KEYS", 6, levels=levels, max_episode_steps=3, autoreset_mode=mode, noop_max=2)
    maps = {}
    for level in levels:
        alone = gbxcule.make_vec("KEEP_OF_KEYS", 1, levels=[level])
        alone.reset(seed=0)
        maps[level] = alone.read_memory(0, "C100:C2E0")
    found = set()

    def check(env, infos):
        assert infos["_level_number"].all() and infos["level_number"].dtype == np.int64
        for each, level in enumerate(infos["level_number"]):
            assert env.read_memory(each, "C100:C2E0") == maps[level]
            found.add(int(level))

    check(env, env.reset(seed=3)[1])
    for step in range(12):
        *_, truncated, infos = env.step([0] * 6)
        if mode == "Disabled" and truncated.any():
            infos = env.reset(options={"reset_mask": truncated})[1]
        check(env, infos)
        if step == 6:
            env.checkpoint(tmp_path / "kept")
    assert found == set(levels)
    other = gbxcule.restore(tmp_path / "kept")
    assert (other.step([0] * 6)[-1]["level_number"].shape) == (6,)
    assert "level_number" not in gbxcule.make_vec("KEEP_OF_KEYS", 2).reset()[1]


@pytest.mark.parametrize("name", [name for name in NAMES if game.GAMES[name].variants])
def test_a_variant_is_a_bit_that_the_game_keeps(name):
    names = gbxcule.variants(name)
    assert names[0] == "easy" and len(names) >= 2
    for levels in (None, [3, 4]):
        for bit, variant in enumerate(names):
            env = gbxcule.make_vec(name, 2, variant=variant, levels=levels)
            env.reset(seed=1)
            env.step([0, 0])
            assert env.read_memory(0, "Variant") == bytes([1 << bit])
    both = gbxcule.make_vec(name, 1, variant=names[1], difficulty="easy")
    assert both.read_memory(0, "Variant") == b"\3"
    assert gbxcule.make_vec(name, 1, power_on="random").read_memory(0, "Variant") == b"\0"


def test_an_unknown_game_has_no_variants():
    assert gbxcule.variants("PEARL_HEIST") == ()
    with pytest.raises(ValueError, match="no game `PONG`; there are AMBER_ROAD"):
        gbxcule.variants("PONG")


def test_an_easy_game_has_no_creatures():
    places = lambda **options: gbxcule.make_vec("KEEP_OF_KEYS", 1, **options).read_memory(0, "C100:C2E0")
    for options in ({}, {"levels": [3]}):
        assert max(places(**options)) >= 16
        assert max(places(difficulty="easy", **options)) < 16


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": 200}, "such as range\\(200\\), found 200"),
        ({"levels": []}, "1 to 4096 levels, found 0"),
        ({"levels": range(5000)}, "1 to 4096 levels, found 5000"),
        ({"levels": [1, 1]}, "names a level twice; `env.weigh_starts"),
        ({"levels": [65_535]}, "levels are 0 to 65534, found 65535"),
        ({"levels": [0.5]}, "a level is a whole number, found 0.5"),
        ({"levels": [0], "starts": [b""]}, "and so do `start_state`"),
        ({"levels": [0], "chance": gbxcule.Number(0xC00C, 2)}, "decides all chance"),
        ({"levels": [0], "rom": "ALU_LOOP"}, "only built-in games"),
        ({"levels": [0], "rom": "PEARL_HEIST", "link": "pairs", "num_envs": 2}, "are for single machines"),
        ({"difficulty": "hard"}, "one of normal, easy, found 'hard'"),
        ({"difficulty": "easy", "rom": "PEARL_HEIST"}, "`difficulty='easy'`: PEARL_HEIST has no variants"),
        ({"variant": "fast"}, "`variant='fast'`: EMBER_LEAP has the variants easy, night, moon"),
        ({"variant": 2}, "`variant=2`: EMBER_LEAP has the variants"),
        ({"variant": "easy", "rom": "ALU_LOOP"}, "ALU_LOOP has no variants"),
        ({"variant": "night", "starts": [b""]}, "`variant` says how games begin, and so do `start_state`"),
    ],
)
def test_levels_that_fit_no_game_are_refused(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        gbxcule.make_vec(**{"rom": "EMBER_LEAP", **options})


@pytest.mark.parametrize("name", ["EMBER_LEAP", "AMBER_ROAD"])
def test_a_start_is_that_of_a_machine_that_pressed_start_then(name):
    env = gbxcule.make_vec(name, 1, actions="NOOP,START", frames_per_step=4, release_after_frames=4, starts=[],
                           start_steps=0)
    env.reset(seed=0)
    later = 5
    for step in range(200):
        env.step([int(step == 30 + later)])
        if number(env, 0, STATE) == 1:
            break
    twin = gbxcule.make_vec(name, 1)
    twin.load_state(0, game.starts(name)[later])
    assert twin.read_memory(0, "8000:E000") == env.read_memory(0, "8000:E000")
    assert twin.cpu_state(0) == env.cpu_state(0)


def test_a_game_with_a_title_runs_on_the_other_model():
    env = gbxcule.make_vec("KEEP_OF_KEYS", 2, model="cgb", power_on="pattern")
    env.reset(seed=0)
    assert number(env, 0, STATE) == 1


OWN = """import gbxcule as gb
import warp as wp

SCRATCH = 1


@wp.func
def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
    scratch[0] += 1.0
    return 0.5


@wp.func
def done(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.bool:
    return scratch[0] == 6.0
"""
OVER, LIVES = gbxcule.Number("GameOver"), gbxcule.Number("Lives")


@pytest.mark.parametrize(
    ("reward", "done", "paid", "ends"),
    [
        # The game is over in step 3, the program says so in step 6; lives are there from step 1.
        (None, None, 0.0, 3),
        (None, False, 0.0, None),
        (False, None, 0.0, 3),
        (False, False, 0.0, None),
        ("EMBER_LEAP", None, 0.0, 3),
        ("EMBER_LEAP", False, 0.0, None),
        ("EMBER_LEAP", "EMBER_LEAP", 0.0, 3),
        ("own", None, 0.5, 3),
        ("own", False, 0.5, None),
        ("own", "own", 0.5, 6),
        ("own", OVER, 0.5, 3),
        ("own", [], 0.5, None),
        ("own", ["own", OVER], 0.5, 3),
        ("own", ["own", LIVES], 0.5, 1),
        (False, "own", 0.0, 6),
        (gbxcule.Change("Lives"), "own", 0.0, 6),
        ([], LIVES, 0.0, 1),
    ],
)
def test_rewards_and_ends_are_exactly_what_is_named(tmp_path, reward, done, paid, ends):
    path = tmp_path / "own.py"
    path.write_text(OWN)

    def named(given):
        return [named(one) for one in given] if isinstance(given, list) else str(path) if given == "own" else given

    env = gbxcule.make_vec("EMBER_LEAP", 2, reward=named(reward), done=named(done), autoreset_mode="Disabled")
    env.reset(seed=0)
    again = None
    for step in range(1, 9):
        if step == 3:
            env.write_memories(np.ones(2, bool), "C003", np.ones((2, 1), np.uint8))
            env.checkpoint(tmp_path / "kept")
            again = gbxcule.restore(tmp_path / "kept")
        _, rewards, terminated, *_ = env.step([0, 0])
        assert rewards.tolist() == [paid, paid]
        assert terminated.all() == (step == ends) and terminated.any() == (step == ends)
        assert again is None or again.step([0, 0])[2].tolist() == terminated.tolist()
        if terminated.any():
            return
    assert ends is None


def test_a_done_that_the_program_lacks_is_named(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(OWN[: OWN.rindex("@wp.func")])
    with pytest.raises(ValueError, match="names the program `.*own.py`, which has no function `done`"):
        gbxcule.make_vec("EMBER_LEAP", 1, reward=path, done=path)


def over_after(env, reset, most):
    """Count the steps of an episode without buttons, up to a number."""
    reset()
    for step in range(1, most + 1):
        _, _, terminated, truncated, _ = env.step(np.zeros(env.action_space.shape, int) if env.action_space.shape else 0)
        if np.any(truncated) or np.any(terminated):
            assert np.all(truncated) and not np.any(terminated)
            return step
    return None


@pytest.mark.parametrize(("given", "steps"), [({}, 4500), ({"max_episode_steps": 7}, 7), ({"max_episode_steps": -1}, None)])
def test_a_game_s_episodes_are_equally_long_however_it_is_made(given, steps):
    # Without buttons nothing happens in the maze, so steps of one frame are enough to count.
    options = {"frames_per_step": 1, "obs": gbxcule.Ram("Score")}
    made = [
        gymnasium.make("gbxcule/KeepOfKeys-v1", **options, **given),
        gymnasium.make("gbxcule/KeepOfKeys-features-v1", frames_per_step=1, **given),
        gymnasium.make_vec("gbxcule/KeepOfKeys-v1", num_envs=2, **options, **given),
        gymnasium.make_vec("gbxcule/KeepOfKeys-v1", num_envs=2, vectorization_mode="sync", **options, **given),
        gbxcule.make_vec("KEEP_OF_KEYS", 2, **options, **given),
        gbxcule.make("KEEP_OF_KEYS", **options, **given),
    ]
    for env in made:
        assert over_after(env, lambda env=env: env.reset(seed=1), 4700) == steps, env
        env.close()


def test_no_limit_stays_none_in_a_checkpoint(tmp_path):
    env = gbxcule.make_vec("KEEP_OF_KEYS", 1, max_episode_steps=False)
    env.reset(seed=0)
    env.checkpoint(tmp_path / "kept")
    assert gbxcule.restore(tmp_path / "kept").max_episode_steps is None
    assert gbxcule.make_vec("ALU_LOOP", 1).max_episode_steps is None


@pytest.mark.parametrize("id", ["gbxcule/KeepOfKeys", "gbxcule/KeepOfKeys-features", "gbxcule:gbxcule/PearlHeist"])
def test_an_id_of_the_first_version_names_the_present_one(id):
    new = id.removeprefix("gbxcule:")
    for make in (gymnasium.make, gymnasium.make_vec):
        with pytest.warns(DeprecationWarning), pytest.raises(gymnasium.error.DeprecatedEnv, match=f"Please use `{new}-v1`"):
            make(f"{id}-v0")


@pytest.mark.parametrize(
    ("rom", "frames", "pressed"),
    [
        ("EMBER_LEAP", 8, 8), ("EMBER_LEAP", 1, 1), ("TARN_MASON", 16, 8), ("TARN_MASON", 3, 2), ("PEARL_DRIFT", 12, 4),
        ("PEARL_DRIFT", 1, 1), ("ALU_LOOP", 4, 2), ("ALU_LOOP", 24, 8),
    ],
)
def test_a_press_follows_the_step_s_length_unless_it_is_named(rom, frames, pressed):
    def played(**options):
        env = gbxcule.make_vec(rom, 1, frames_per_step=frames, **options)
        env.reset(seed=0)
        for step in range(30):
            env.step([(step * 5) % len(env.action_names)])
        return env.save_state(0), env._arguments["release_after_frames"]

    assert played() == played(release_after_frames=pressed)
    assert played(release_after_frames=pressed + 1)[1] == pressed + 1


def test_two_seeds_share_no_start():
    def starts(seed):
        env = gbxcule.make_vec("EMBER_LEAP", 64, obs=gbxcule.Ram("Random:0xC00E"), threads=1)
        env.reset(seed=seed)
        return {env._swarm.episode(one)[0] for one in range(64)}

    seeds = [0, 1, 2, 3, 63, 64, 9_999, 10_000, 10_001, 10_002]
    assert len(set().union(*map(starts, seeds))) == 64 * len(seeds)


STACK = """import gbxcule as gb
import warp as wp

SCRATCH = 4
OBS_DIM = 4


@wp.func
def observe(machine: gb.Machine, scratch: wp.array(dtype=wp.float32), obs: wp.array(dtype=wp.float32)):
    for age in range(3):
        scratch[age] = scratch[age + 1]
    scratch[3] = wp.float32(gb.frames(machine)) + wp.float32(gb.read16(machine, 0xC00C))
    for age in range(4):
        obs[age] = scratch[age]
"""


@pytest.mark.parametrize("way", ["load_state", "load_states", "copy_state", "reset"])
def test_a_stack_in_scratch_goes_on_where_it_was(tmp_path, way):
    path = tmp_path / "stack.py"
    path.write_text(STACK)
    env = gbxcule.make_vec("EMBER_LEAP", 2, obs=path, autoreset_mode="Disabled")
    env.reset(seed=3)
    for step in range(6):
        seen, *_ = env.step([step, step + 1])
    state, other = env.save_state(0), np.array([False, True])
    if way == "load_state":
        env.load_state(1, state)
    elif way == "load_states":
        env.load_states(other, state)
    elif way == "copy_state":
        env.copy_state(0, other)
    elif way == "reset":
        obs, _ = env.reset(options={"reset_mask": other, "state": state})
        assert np.array_equal(obs[1], seen[0]), "the observation that was saved"
    for step in range(5):
        obs, *_ = env.step([step, step])
        assert np.array_equal(obs[0], obs[1])
        assert obs[0][2] == (seen[0][3] if step == 0 else last), "one frame a step"
        last = obs[0][3]


class Tensor:
    """Stands for an array of another library."""

    def __array__(self, dtype=None, copy=None):
        return np.array([True, False])


def test_a_reset_mask_may_be_a_tensor():
    env = gbxcule.make_vec("EMBER_LEAP", 2)
    env.reset(seed=0)
    assert env.reset(options={"reset_mask": Tensor()})[0].shape[0] == 2


def test_given_options_go_before_the_game_s_own():
    state = game.starts("LAST_BEACON")[3]
    env = gbxcule.make_vec(
        "LAST_BEACON",
        1,
        frames_per_step=4,
        release_after_frames=4,
        actions=["A", "B"],
        reward=gbxcule.Change("Coins", 2),
        info={"steps": gbxcule.Number("Steps", 2)},
        start_state=state,
    )
    _, infos = env.reset(seed=0)
    assert env.action_names == ["A", "B"]
    assert infos.keys() == {"steps", "_steps"}
    assert env.metadata["render_fps"] == 15


def test_a_checkpoint_of_a_game_goes_on_as_that_game(tmp_path):
    env = gbxcule.make_vec("LAST_BEACON", 2)
    env.reset(seed=4)
    env.step([3, 4])
    env.checkpoint(tmp_path / "swarm")
    other = gbxcule.restore(tmp_path / "swarm")
    for step in range(20):
        actions = [step % 7, step % 5]
        one, two = env.step(actions), other.step(actions)
        assert np.array_equal(one[0], two[0]) and np.array_equal(one[1], two[1])
        assert one[4].keys() == two[4].keys() and np.array_equal(one[4]["score"], two[4]["score"])


def test_other_roms_have_no_defaults_of_a_game():
    env = gbxcule.make_vec("ALU_LOOP", 1)
    _, infos = env.reset(seed=0)
    assert len(env.action_names) == 9 and not infos
