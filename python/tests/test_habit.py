"""Usual ways to use environments: registries, vectorization modes, wrappers, copies, processes, threads."""

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import gbxcule
import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from gymnasium.wrappers import vector as vector_wrappers

ID = "gbxcule/PearlDrift-v1"
SMALL = {"frames_per_step": 4, "release_after_frames": 2}


def printed_by(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "text",
    [
        "import gbxcule, gymnasium; gymnasium.make('gbxcule/KeepOfKeys-v1').reset(seed=1)",
        "import gymnasium, gbxcule; gymnasium.make('gbxcule/KeepOfKeys-v1').reset(seed=1)",
        "import gymnasium; gymnasium.make('gbxcule:gbxcule/KeepOfKeys-v1').reset(seed=1)",
        "import gymnasium; gymnasium.make_vec('gbxcule:gbxcule/KeepOfKeys-v1', num_envs=2).reset(seed=1)",
    ],
)
def test_gymnasium_knows_the_games_once_the_package_is_imported(text):
    done = printed_by("-c", text)
    assert done.returncode == 0, done.stderr


def test_the_command_does_without_gymnasium():
    done = printed_by("-X", "importtime", "-m", "gbxcule", "roms")
    assert done.returncode == 0 and "PEARL_DRIFT" in done.stdout
    assert "gymnasium" not in done.stderr and "gbxcule" in done.stderr


def test_a_game_s_features_are_an_environment_for_learners_that_take_rows():
    env = gymnasium.make("gbxcule/LastBeacon-features-v1")
    twin = gbxcule.make("LAST_BEACON", obs="features", reward="features")
    named = gbxcule.make_vec("LAST_BEACON", obs={"screen": "mean", "row": "LAST_BEACON"}, reward="LAST_BEACON")
    short = gbxcule.make_vec("LAST_BEACON", obs={"screen": "mean", "row": "features"}, reward="features")
    (one, _), (other, _) = named.reset(seed=4), short.reset(seed=4)
    assert np.array_equal(one["row"], other["row"])
    ends = gbxcule.make_vec("LAST_BEACON", done=["features", gbxcule.Number("GameOver")])
    assert (ends._measure.program_ends, len(ends._measure.ends)) == (True, 1)
    found, expected = env.reset(seed=4)[0], twin.reset(seed=4)[0]
    assert env.observation_space == twin.observation_space and len(env.observation_space.shape) == 1
    for action in [3, 0, 5, 6]:
        assert np.array_equal(found, expected)
        (found, reward, *_), (expected, paid, *_) = env.step(action), twin.step(action)
        assert reward == paid


@pytest.mark.parametrize(
    ("mode", "arguments"),
    [
        (None, {}), ("vector_entry_point", {}), ("sync", {}), ("async", {}),
        ("async", {"vector_kwargs": {"context": "spawn"}}), ("async", {"vector_kwargs": {"context": "forkserver"}}),
    ],
)
def test_every_vectorization_mode_plays_the_same_games(mode, arguments):
    env = gymnasium.make_vec(ID, num_envs=2, vectorization_mode=mode, threads=1, max_episode_steps=5, **arguments)
    assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    swarm = gbxcule.make_vec(num_envs=2, max_episode_steps=5)
    (found, _), (expected, _) = env.reset(seed=[7, 8]), swarm.reset(seed=[7, 8])
    for step in range(8):
        assert np.array_equal(found, expected)
        actions = np.array([step, 8 - step])
        (found, *results, _), (expected, *wanted, _) = env.step(actions), swarm.step(actions)
        assert all(np.array_equal(one, other) for one, other in zip(results, wanted, strict=True))
    env.close()


def test_an_option_that_is_not_there_is_refused_in_python_s_words():
    # TorchRL tries `frameskip`, looks for these words in the error, and then leaves it out.
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip': it is `frames_per_step` here"):
        gymnasium.make(ID, frameskip=1)


def test_wrappers_of_vectors_take_the_swarm():
    makers = [
        vector_wrappers.NormalizeObservation, vector_wrappers.NormalizeReward, vector_wrappers.FlattenObservation,
        lambda env: vector_wrappers.ClipReward(env, -1, 1),
        lambda env: vector_wrappers.ReshapeObservation(env, (40, 144)),
        lambda env: vector_wrappers.DtypeObservation(env, np.float32),
        lambda env: vector_wrappers.TransformAction(env, lambda actions: actions[::-1]),
    ]
    for make in makers:
        env = vector_wrappers.RecordEpisodeStatistics(make(gbxcule.make_vec(num_envs=3, max_episode_steps=4, **SMALL)))
        env.reset(seed=1)
        for _ in range(6):
            obs, *_ = env.step(env.action_space.sample())
            assert np.asarray(obs).shape == env.observation_space.shape
        env.close()
        env.close()


def test_wrappers_of_one_machine_stack_pictures_and_limit_time():
    env = wrappers.FrameStackObservation(gymnasium.make(ID, max_episode_steps=6), 4)
    seen, _ = env.reset(seed=0)
    assert seen.shape == (4, 72, 80) and (seen == seen[0]).all()
    for step in range(6):
        before = seen
        seen, _, _, truncated, _ = env.step(step)
        assert np.array_equal(seen[:3], before[1:]) and truncated == (step == 5)


def test_a_step_before_the_first_episode_asks_for_a_reset(tmp_path):
    env = gbxcule.make_vec(num_envs=3, **SMALL)
    with pytest.raises(gymnasium.error.ResetNeeded, match="^no episode has begun: call reset before the first step$"):
        env.step([0, 0, 0])
    env.reset(options={"reset_mask": np.array([True, False, False])})
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"no episode of the envs \[1, 2\] has begun"):
        env.step([0, 0, 0])
    # A state begins an episode, and so does a checkpoint.
    env.load_state(1, env.save_state(0))
    env.copy_state(0, np.array([False, False, True]))
    env.step([0, 0, 0])
    fresh = gbxcule.make_vec(num_envs=2, **SMALL)
    fresh.checkpoint(tmp_path / "fresh.ckpt")
    gbxcule.restore(tmp_path / "fresh.ckpt").step([0, 0])
    single = gbxcule.make(**SMALL)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset before the first step"):
        single.step(0)


def test_a_press_that_is_longer_than_the_step_lasts_the_whole_step():
    long, whole = (gbxcule.make_vec(num_envs=2, frames_per_step=4, release_after_frames=press) for press in (8, 4))
    long.reset(seed=1), whole.reset(seed=1)
    for action in (3, 6, 0, 4, 3):
        assert np.array_equal(long.step([action] * 2)[0], whole.step([action] * 2)[0])
    assert long.save_state(0) == whole.save_state(0) or (long.screens() == whole.screens()).all()


def test_a_single_machine_says_what_to_do_when_its_episode_is_over():
    env = gbxcule.make(max_episode_steps=1)
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset before the next step"):
        env.step(0)
    env.reset()
    env.step(0)
    env.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        env.step(0)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_of_wrapped_environments_go_on_alike_and_apart(again):
    env = vector_wrappers.RecordEpisodeStatistics(gbxcule.make_vec(num_envs=2, max_episode_steps=3))
    env.reset(seed=4)
    env.step([1, 2])
    other = again(env)
    expected = [env.step([step, 4])[0] for step in range(5)]
    found = [other.step([step, 4])[0] for step in range(5)]
    assert all(np.array_equal(one, two) for one, two in zip(found, expected, strict=True))
    single = gymnasium.make(ID, max_episode_steps=9)
    single.reset(seed=4)
    twin = again(single)
    assert twin.spec == single.spec
    assert all(np.array_equal(single.step(step)[0], twin.step(step)[0]) for step in range(4))


@pytest.mark.parametrize("context", ["fork", "spawn", "forkserver"])
def test_processes_of_gymnasium_run_machines_whatever_starts_them(context):
    obs = {"screen": "mean", "ram": gbxcule.Ram("C000:C004")}
    env = AsyncVectorEnv([lambda: gbxcule.make(obs=obs, threads=1)] * 2, context=context)
    seen, _ = env.reset(seed=3)
    expected, _ = gbxcule.make_vec(num_envs=2, obs=obs).reset(seed=3)
    assert all(np.array_equal(seen[name], expected[name]) for name in obs)
    env.close()


def test_threads_have_environments_of_their_own_or_are_told_so():
    def total(seed):
        env = gbxcule.make(threads=1)
        env.reset(seed=seed)
        return sum(env.step(5)[1] for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(total, range(4))) == [total(seed) for seed in range(4)]
        shared = gbxcule.make_vec(num_envs=8, frames_per_step=400)
        shared.reset(seed=0)
        calls = [pool.submit(shared.step, [0] * 8) for _ in range(8)]
        raised = [call.exception() for call in calls]
    assert None in raised
    assert all(error is None or "give each thread an environment of its own" in str(error) for error in raised)


def test_observations_reach_torch_without_a_copy():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for kept in [True, False]:
        env = gbxcule.make_vec(num_envs=2, copy=kept)
        first, _ = env.reset(seed=0)
        tensor = torch.from_numpy(first)
        assert tensor.data_ptr() == first.ctypes.data
        before = tensor.clone()
        second, *_ = env.step(torch.tensor([4, 5]))
        assert torch.equal(tensor, before) == kept and np.shares_memory(first, second) != kept
    buffer = torch.zeros(3, 2, 72, 80, dtype=torch.uint8)
    for row in buffer:
        env.write_observations_to(row.numpy())
        seen = env.step([1, 2])[0]
        assert np.array_equal(row.numpy(), seen)


def machines_in_a_worker(count):
    """Rows of a data set, made on access."""
    env = gbxcule.make(threads=1)
    rows = [env.reset(seed=1)[0]]
    return rows + [env.step(step)[0] for step in range(count - 1)]


def test_workers_of_a_data_loader_make_their_own_machines_or_are_told_so():
    torch = pytest.importorskip("torch", reason="torch is not installed")

    class Played(torch.utils.data.IterableDataset):
        def __iter__(self):
            return map(torch.from_numpy, machines_in_a_worker(4))

    class Shared(torch.utils.data.Dataset):
        def __init__(self, env):
            self.env = env

        def __len__(self):
            return 2

        def __getitem__(self, place):
            return self.env.step([place])[0][0]

    load = torch.utils.data.DataLoader
    assert [batch.shape[0] for batch in load(Played(), batch_size=2, num_workers=2)] == [2] * 4
    env = gbxcule.make_vec(num_envs=1)
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match="make it in the process that steps it"):
        list(load(Shared(env), num_workers=1, multiprocessing_context="fork"))


def test_envs_that_are_given_no_seed_draw_theirs():
    env = gbxcule.make_vec(num_envs=4, obs=gbxcule.Ram("Random"))
    drawn, _ = env.reset(seed=[None, None, None, 7])
    assert len(np.unique(drawn[:3], axis=0)) > 1
    given, _ = gbxcule.make_vec(num_envs=1, obs=gbxcule.Ram("Random")).reset(seed=7)
    assert np.array_equal(drawn[3], given[0])


def _chance_drawn(masks):
    env = gbxcule.make_vec(num_envs=4, obs=gbxcule.Ram(("Random", 2)), autoreset_mode="Disabled", threads=1)
    for mask in masks:
        obs, _ = env.reset(options={"reset_mask": np.array(mask)})
    return [tuple(row) for row in obs]


def test_envs_that_begin_later_draw_seeds_of_their_own():
    drawn = _chance_drawn([[True, False, False, False], [False, True, True, True]])
    assert len(set(drawn)) == 4
    assert drawn != _chance_drawn([[True, False, False, False], [False, True, True, True]])


def test_a_seed_that_came_with_a_state_is_kept():
    made = [gbxcule.make_vec(num_envs=1, obs=gbxcule.Ram(("Random", 2)), autoreset_mode="Disabled") for _ in range(3)]
    made[0].reset(seed=7)
    state = made[0].save_state(0)
    for env in made[1:]:
        env.load_state(0, state, with_seed=True)
    first, second, third = (env.reset()[0].tolist() for env in made)
    assert first == second == third


def test_a_new_buffer_has_all_envs_after_a_masked_reset():
    env = gbxcule.make_vec(num_envs=2, obs=gbxcule.Ram("C000:C010"), autoreset_mode="Disabled", threads=1)
    env.reset(seed=1)
    before = env.step([3, 4])[0]
    buffer = np.full_like(before, 77)
    env.write_observations_to(buffer)
    obs, _ = env.reset(options={"reset_mask": np.array([True, False])})
    assert np.array_equal(obs[1], before[1])


def test_the_callers_lists_may_change_afterwards():
    reward, info = [gbxcule.Change("Score", 2)], {"score": gbxcule.Number("Score", 2)}
    env = gbxcule.make_vec(num_envs=1, reward=reward, info=info, obs=gbxcule.Ram("C000"), threads=1)
    env.reset(seed=1)
    reward.append(gbxcule.Change("C002"))
    info.clear()
    copied = copy.deepcopy(env)
    for _ in range(3):
        (_, paid, *_, infos), (_, again, *_, copied_infos) = env.step([5]), copied.step([5])
        assert paid == again and infos["score"] == copied_infos["score"]


def test_attributes_of_a_subclass_are_copied():
    class Counted(gbxcule.SwarmVectorEnv):
        def __init__(self, *arguments, **options):
            self.first = "set before"
            super().__init__(*arguments, **options)
            self.count = [0]

        def step(self, actions):
            self.count[0] += 1
            return super().step(actions)

    env = Counted("PEARL_DRIFT", 1, threads=1)
    env.reset(seed=1)
    copied = copy.deepcopy(env)
    copied.step([0])
    assert (copied.count, copied.first, env.count) == ([1], "set before", [0])


def test_short_words_are_labels():
    with pytest.raises(ValueError, match="no symbol `Bad`"):
        gbxcule.make_vec(obs=gbxcule.Ram("Bad"))
    env = gbxcule.make_vec(obs=gbxcule.Ram("0xC0", "$C0", 0xC0, "00C0"))
    assert len(set(env.reset()[0][0].tolist())) == 1


def test_sound_is_in_a_copy():
    env = gbxcule.make_vec(num_envs=2, audio=True, obs=gbxcule.Ram("C000"), frames_per_step=4, autoreset_mode="Disabled", threads=1)
    env.reset(seed=1)
    for _ in range(20):
        heard = env.step([5, 6])[0]["audio"]
        if heard[1].any():
            break
    copied = pickle.loads(pickle.dumps(env))
    only_first = {"reset_mask": np.array([True, False])}
    obs, again = env.reset(options=only_first)[0], copied.reset(options=only_first)[0]
    assert heard[1].any() and np.array_equal(obs["audio"][1], heard[1])
    assert np.array_equal(again["audio"][1], heard[1])
