"""Stacks of pictures, sticky actions and the like, against a model in NumPy."""

import pickle

import gbxcule
import numpy as np
import pytest
from gbxcule import _native

ROM = bytes(_native.built_in_rom("PEARL_DRIFT"))
GOLDEN, MASK64 = 0x9E3779B97F4A7C15, 2**64 - 1
FRAMES, HELD = 4, 2


def splitmix64(state):
    bits = (state + GOLDEN) & MASK64
    bits = ((bits ^ bits >> 30) * 0xBF58476D1CE4E5B9) & MASK64
    bits = ((bits ^ bits >> 27) * 0x94D049BB133111EB) & MASK64
    return bits ^ bits >> 31


def bits_of(seed, count):
    return splitmix64((splitmix64(seed) + count * GOLDEN) & MASK64)


def repeats(seed, count, frames, probability):
    drawn = splitmix64((bits_of(seed, count) + (frames + 1) * GOLDEN) & MASK64)
    return drawn >> 32 < round(probability * 2**32)


def shares(before, after):
    """Each pixel's share in each pixel of the result, as whole numbers."""
    pieces = np.arange(before * after)
    covers = np.zeros((after, before), np.int64)
    np.add.at(covers, (pieces // before, pieces // after), 1)
    return covers


def area(picture, size):
    lines, columns = (shares(before, after) for before, after in zip(picture.shape[:2], size, strict=True))
    summed = np.einsum("ay,bx,yx...->ab...", lines, columns, picture.astype(np.int64), optimize=True)
    covered = picture.shape[0] * picture.shape[1]
    return ((2 * summed + covered) // (2 * covered)).astype(np.uint8)


class Model:
    """One env, stepped frame by frame, whose options NumPy computes."""

    def __init__(self, picture="gray", *, stack=None, pool=False, crop=None, size=None, sticky=0.0):
        self.env = gbxcule.make_vec(
            ROM, 1, obs=picture, frames_per_step=1, release_after_frames=1, start_steps=FRAMES, autoreset_mode="Disabled"
        )
        self.stack, self.pool, self.crop, self.size, self.sticky = stack, pool, crop, size, sticky
        self.noop = self.env.action_names.index("NOOP")

    def reset(self, seed):
        self.env.reset(seed=seed)
        self.seed, self.frames, self.last = seed, 0, None
        self.pictures = [self.reduced([self.env._observer.copy()[0]])] * (self.stack or 1)
        return self.seen()

    def reduced(self, frames):
        picture = np.max(frames, axis=0) if self.pool else frames[-1]
        if self.crop:
            top, left, lines, columns = self.crop
            picture = picture[top : top + lines, left : left + columns]
        return area(picture, self.size) if self.size else picture

    def seen(self):
        return np.stack(self.pictures) if self.stack else self.pictures[-1]

    def step(self, action):
        if self.last is not None and repeats(self.seed, 1, self.frames, self.sticky):
            action = self.last
        self.last = action
        frames = [self.env.step([action if frame < HELD else self.noop])[0][0] for frame in range(FRAMES)]
        self.frames += FRAMES
        self.pictures = [*self.pictures[1:], self.reduced(frames[-2:])]
        return self.seen()


CASES = [
    {"frame_stack": 4, "resize": (84, 84), "max_pool": True, "sticky": 0.25},
    {"frame_stack": 1, "crop": (16, 8, 100, 130)},
    {"resize": 64, "crop": (0, 0, 128, 128), "sticky": 0.9},
    {"obs": "mean", "frame_stack": 3, "max_pool": True, "resize": (72, 33)},
    {"obs": "stride", "resize": (1, 1)},
    {"obs": "rgb", "frame_stack": 2, "resize": (50, 60), "max_pool": True, "sticky": 1.0},
    {"obs": "packed", "frame_stack": 5},
    {"obs": "rgb_corrected", "crop": (3, 5, 7, 11), "max_pool": True},
    {"obs": "rgb555", "frame_stack": 2, "crop": (140, 150, 4, 10)},
]


def made(num_envs=3, **options):
    options = {"obs": "gray", "autoreset_mode": "Disabled", **options}
    return gbxcule.make_vec(ROM, num_envs, frames_per_step=FRAMES, release_after_frames=HELD, **options)


@pytest.mark.parametrize("case", CASES)
def test_pictures_and_actions_are_the_model_s(case):
    env, chosen = made(**case), np.random.default_rng(1)
    size = case.get("resize")
    models = [
        Model(
            case.get("obs", "gray"), stack=case.get("frame_stack"), pool=case.get("max_pool", False), crop=case.get("crop"),
            size=(size, size) if isinstance(size, int) else size, sticky=case.get("sticky", 0.0),
        )
        for _ in range(3)
    ]
    seeds = [5, 6, 700]
    assert np.array_equal(env.reset(seed=seeds)[0], [model.reset(seed) for model, seed in zip(models, seeds, strict=True)])
    for step in range(20):
        actions = chosen.integers(0, 9, 3)
        seen = env.step(actions)[0]
        assert seen in env.observation_space
        for one in range(3):
            assert np.array_equal(seen[one], models[one].step(int(actions[one]))), (step, one)


def run(env, steps, seed=3):
    chosen = np.random.default_rng(seed)
    return [env.step(chosen.integers(0, 9, env.num_envs)) for _ in range(steps)]


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray) and one.dtype == object:
        return all(map(same, one, other))
    return np.array_equal(one, other)


ALL = {"frame_stack": 4, "resize": (84, 84), "max_pool": True, "sticky": 0.5, "noop_max": 9}


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_checkpoints_pickles_and_states_go_on(mode, tmp_path):
    env = made(4, **ALL, autoreset_mode=mode, max_episode_steps=7)
    env.reset(seed=8)
    run(env, 10)
    env.checkpoint(tmp_path / "swarm.ckpt")
    restored, copied = gbxcule.restore(tmp_path / "swarm.ckpt"), pickle.loads(pickle.dumps(env))
    outcomes = run(env, 20)
    assert same(outcomes, run(restored, 20)) and same(outcomes, run(copied, 20))


def test_a_copied_env_has_the_pictures_and_its_own_chance():
    env = made(3, **ALL)
    env.reset(seed=1)
    run(env, 6)
    state, stack = env.save_state(0), env._observer.copy()[0]
    env.copy_state(0, np.array([False, True, False]))
    env.load_state(2, state)
    env._observer.read(env._swarm)
    assert all(np.array_equal(seen, stack) for seen in env._observer.copy())
    # Both differ from there on: each draws by its own seed.
    assert len({outcomes[0][one].tobytes() for outcomes in run(env, 30)[-1:] for one in range(3)}) > 1
    # A state of an env without pictures begins a stack of its one frame.
    plain = made(1)
    plain.reset(seed=1)
    env.load_state(0, plain.save_state(0))
    env._observer.read(env._swarm)
    seen = env._observer.copy()[0]
    assert all(np.array_equal(one, seen[0]) for one in seen)


def test_pools_and_ranks_are_parts_of_the_whole():
    from gbxcule.adapter.pool import SwarmPool
    from gbxcule.rank import Rank

    whole = made(4, **ALL, autoreset_mode="NextStep", max_episode_steps=5)
    first, _ = whole.reset(seed=8)
    options = {"obs": "gray", "frames_per_step": FRAMES, "release_after_frames": HELD, "max_episode_steps": 5, **ALL}
    pool = SwarmPool(ROM, 4, batch_size=2, **options)
    pool.async_reset(seed=8)
    batches = {tuple(info["env_id"]): obs for obs, _, _, _, info in (pool.recv(), pool.recv())}
    ranks = [gbxcule.make_vec_for_rank(ROM, 4, rank=Rank(rank, 2), **options) for rank in range(2)]
    assert np.array_equal(np.concatenate([batches[0, 1], batches[2, 3]]), first)
    assert np.array_equal(np.concatenate([rank.reset(seed=8)[0] for rank in ranks]), first)
    actions = np.random.default_rng(4).integers(0, 9, (12, 4))
    for row in actions:
        obs = whole.step(row)[0]
        assert np.array_equal(np.concatenate([rank.step(row[2 * one : 2 * one + 2])[0] for one, rank in enumerate(ranks)]), obs)
    pool.close()


def test_no_ops_are_drawn_by_the_seed():
    plain = made(1, start_steps=0)
    plain.reset(seed=0)
    run(plain, 50)
    state = plain.save_state(0)
    frames = gbxcule.make_vec(ROM, 1, obs="gray", frames_per_step=1, release_after_frames=1)
    after = [frames.reset(seed=0, options={"state": state})[0][0]]
    noop = frames.action_names.index("NOOP")
    after += [frames.step([noop])[0][0] for _ in range(7)]
    env = made(64, starts=[state], start_steps=0, noop_max=7)
    counts = []
    for episode in range(1, 4):
        seen, _ = env.reset(seed=None if episode > 1 else list(range(64)))
        for one in range(64):
            counts.append(splitmix64(bits_of(one, episode)) % 7 + 1)
            assert np.array_equal(seen[one], after[counts[-1]])
    assert set(counts) == set(range(1, 8))
    env.set_starts([state, state], weights=[1, 3])
    env.reset()


class TestEpisodicLife:
    """PEARL_DRIFT's hulls are its lives."""

    @staticmethod
    def made(mode, **options):
        return gbxcule.make_vec(
            "PEARL_DRIFT", 8, obs={"screen": "mean"}, autoreset_mode=mode, episodic_life=gbxcule.Number("Hulls"), frame_stack=2,
            info={"hulls": gbxcule.Number("Hulls")}, **options,
        )

    @pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
    def test_a_lost_life_ends_the_episode_and_the_machine_goes_on(self, mode):
        env = self.made(mode)
        plain = gbxcule.make_vec(
            "PEARL_DRIFT", 8, obs="mean", autoreset_mode="Disabled", info={"hulls": gbxcule.Number("Hulls")}
        )
        env.reset(seed=3)
        _, info = plain.reset(seed=3)
        hulls, rests, alive = info["hulls"].copy(), np.zeros(8, bool), np.ones(8, bool)
        lost = 0
        chosen = np.random.default_rng(2)
        for _ in range(400):
            actions = chosen.integers(0, env.single_action_space.n, 8)
            if mode == "Disabled" and env._over.any():
                env.reset(options={"reset_mask": env._over.copy()})
                rests[:] = False
            obs, _, terminated, truncated, info = env.step(actions)
            # The plain env rests in the step in which ours begins an episode.
            before = [plain.save_state(one) for one in np.flatnonzero(rests | ~alive)]
            if plain._over.any():
                plain._over[:] = False
            _, _, over, _, told = plain.step(actions)
            for one, state in zip(np.flatnonzero(rests | ~alive), before, strict=True):
                plain.load_state(int(one), state)
            now = np.array([plain.read_memory(one, "Hulls")[0] for one in range(8)])
            played = alive & ~rests
            fell = (now < hulls) & played
            expected = played & (fell | over)
            assert np.array_equal(terminated & alive, expected), (terminated, expected)
            lost += int((fell & ~over).sum())
            alive &= ~(over & played)
            hulls = now
            rests = (terminated & (mode != "SameStep")) & alive
            for one in np.flatnonzero(terminated & alive) if mode == "SameStep" else []:
                assert np.array_equal(obs["screen"][one][0], obs["screen"][one][1])
            if lost > 5 and not alive.all():
                break
        assert lost > 5

    @staticmethod
    def until_a_life_is_lost(env):
        chosen = np.random.default_rng(2)
        while True:
            _, _, terminated, _, info = env.step(chosen.integers(0, env.single_action_space.n, 8))
            if terminated.any():
                return terminated, info["hulls"].copy()

    def test_a_state_for_one_env_changes_no_other_env(self):
        env = self.made("Disabled")
        env.reset(seed=3)
        lost, hulls = self.until_a_life_is_lost(env)
        env.reset(options={"reset_mask": ~lost, "state": env.save_state(int(np.argmin(lost)))})
        _, info = env.reset(options={"reset_mask": lost})
        assert np.array_equal(info["hulls"][lost], hulls[lost])

    def test_a_reset_with_a_seed_begins_anew(self):
        env = self.made("Disabled")
        first, _ = env.reset(seed=3)
        terminated, hulls = self.until_a_life_is_lost(env)
        _, info = env.reset(options={"reset_mask": terminated})
        assert np.array_equal(info["hulls"][terminated], hulls[terminated])
        again, _ = env.reset(seed=3)
        assert np.array_equal(again["screen"], first["screen"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"frame_stack": 0}, ValueError, "frame_stack is at least 1"),
        ({"frame_stack": 65}, ValueError, "`frame_stack` is 1 to 64 pictures, found 65"),
        ({"resize": (145, 84)}, ValueError, r"1 to 144 lines and 1 to 160 columns, .* found \(145, 84\)"),
        ({"resize": (84, 84), "crop": (0, 0, 80, 80)}, ValueError, r"1 to 80 lines .* found \(84, 84\)"),
        ({"obs": "mean", "resize": (84, 84)}, ValueError, "found .84, 84.: the picture is `mean`, and `gray` has 144 lines and 160 columns"),
        ({"obs": "stride", "crop": (0, 0, 144, 144)}, ValueError, "the picture is `stride`, and `gray` has 144 lines"),
        ({"resize": "84"}, ValueError, r"`resize` is \(lines, columns\), or one number for both, found '84'"),
        ({"crop": (100, 0, 45, 10)}, ValueError, r"inside of the picture's 144 lines and 160 columns, found \(100, 0, 45, 10\)"),
        ({"crop": (1, 2, 3)}, ValueError, r"`crop` is \(top, left, lines, columns\), found \(1, 2, 3\)"),
        ({"obs": "packed", "resize": (9, 9)}, ValueError, "no brightness"),
        ({"obs": "obs_v0", "frame_stack": 4}, ValueError, "`frame_stack` changes the one picture of the observation, and obs='obs_v0' has 0"),
        ({"obs": {"a": "gray", "b": "mean"}, "resize": (9, 9)}, ValueError, "has 2 pictures: give one of"),
        ({"max_pool": True, "frames_per_step": 1}, ValueError, "frames_per_step=1 do not have"),
        ({"max_pool": True, "link": "pairs", "num_envs": 2}, ValueError, "the cable"),
        ({"max_pool": 1}, TypeError, "max_pool is True or False"),
        ({"sticky": 1.5}, ValueError, "`sticky` is a probability from 0 to 1, found 1.5"),
        ({"sticky": float("nan")}, ValueError, "found NaN"),
        ({"sticky": "often"}, TypeError, "such as 0.25, found 'often'"),
        ({"noop_max": 241}, ValueError, "`noop_max` is 0 to 240 frames, found 241"),
        ({"noop_max": -1}, ValueError, "noop_max is at least 0"),
        ({"episodic_life": "Hulls"}, TypeError, "the number of lives, a gbxcule.Number"),
        ({"stack_num": 4}, TypeError, "it is `frame_stack` here"),
    ],
)
def test_wrong_preprocessing_is_refused_by_name(options, error, message):
    with pytest.raises(error, match=message):
        gbxcule.make_vec(**{"obs": "gray", **options})
