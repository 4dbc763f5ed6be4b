"""The vector environment keeps Gymnasium's promises."""

import pickle
import subprocess
import sys
import warnings

import gbxcule
import gymnasium
import numpy as np
import pytest
from gbxcule._native import env_seeds
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

SMALL = {"frames_per_step": 4, "release_after_frames": 2}


def actions(env, step):
    return (np.arange(env.num_envs) * 5 + step * 3) % env.single_action_space.n


def play(env, steps, seed=None):
    yield env.reset(seed=seed)[0]
    for step in range(steps):
        yield env.step(actions(env, step))


def equal(left, right):
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[name], right[name]) for name in left)
    if isinstance(left, tuple):
        return all(equal(one, other) for one, other in zip(left, right, strict=True))
    return np.array_equal(left, right)


def test_gymnasium_checks_a_single_machine():
    env = gbxcule.make(render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", message=".*due to the environment not having a spec.*")
        check_env(env)


def test_gymnasium_makes_registered_environments():
    gbxcule.register()
    env = gymnasium.make("gbxcule/PearlDrift-v1", render_mode="rgb_array", disable_env_checker=False)
    check_env(env.unwrapped)
    envs = gymnasium.make_vec("gbxcule/PearlDrift-v1", num_envs=3, vectorization_mode="vector_entry_point")
    assert isinstance(envs.unwrapped, gbxcule.SwarmVectorEnv)
    assert envs.reset(seed=1)[0].shape == (3, 72, 80)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_vector_env_gives_what_its_spaces_say(mode):
    env = gbxcule.make_vec(num_envs=4, autoreset_mode=mode, obs={"screen": "gray", "cpu": "obs_v0"}, **SMALL)
    assert env.metadata["autoreset_mode"] is mode
    obs, infos = env.reset(seed=3)
    assert env.observation_space.contains(obs)
    assert all(f"_{name}" in infos for name in ["score", "hulls", "level"])
    for step in range(5):
        obs, rewards, terminated, truncated, infos = env.step(actions(env, step))
        assert env.observation_space.contains(obs)
        assert rewards.shape == terminated.shape == truncated.shape == (4,)
        assert rewards.dtype == np.float32
        assert terminated.dtype == truncated.dtype == np.bool_
        assert infos["score"].shape == infos["_score"].shape == (4,)


PLACES = [gbxcule.Ram("C000:C010"), gbxcule.Flags("Score")]


@pytest.mark.parametrize("obs", ["packed", "gray", "mean", "stride", "obs_v0", *PLACES])
def test_every_observation_is_in_its_space_and_changes(obs):
    env = gbxcule.make_vec(num_envs=3, obs=obs)
    first, _ = env.reset(seed=0)
    assert env.observation_space.contains(first)
    later = first
    for step in range(40):
        later = env.step(actions(env, step))[0]
    assert env.observation_space.contains(later)
    assert not np.array_equal(first, later)


def test_the_same_seed_gives_the_same_games_and_another_seed_others():
    runs = [list(play(gbxcule.make_vec(num_envs=3, obs="gray"), 12, seed)) for seed in (7, 7, 8)]
    assert all(equal(one, other) for one, other in zip(runs[0], runs[1], strict=True))
    assert not equal(runs[0][-1][0], runs[2][-1][0])


def test_an_env_plays_as_a_swarm_of_one_with_its_seed():
    together = gbxcule.make_vec(num_envs=3)
    alone = gbxcule.make_vec(num_envs=1)
    together.reset(seed=10)
    alone.reset(seed=env_seeds(10, 2, 1))
    for step in range(10):
        pressed = actions(together, step)
        shared = together.step(pressed)[0][2]
        assert np.array_equal(shared, alone.step(pressed[2:])[0][0])


def test_memory_at_power_on_is_by_choice():
    for power_on, first in [("zero", b"\x00"), ("pattern", b"\xff")]:
        env = gbxcule.make_vec("HALT_IDLE", 4, power_on=power_on)
        env.reset(seed=1)
        assert {env.read_memory(index, 0xD000) for index in range(4)} == {first}
    env = gbxcule.make_vec("HALT_IDLE", 16, power_on="random")
    env.reset(seed=1)
    drawn = [env.read_memory(index, 0xD000) for index in range(16)]
    assert len(set(drawn)) > 4
    env.reset(seed=1)
    assert [env.read_memory(index, 0xD000) for index in range(16)] == drawn
    with pytest.raises(ValueError, match="no memory `warm` at power-on; there are zero, pattern, random"):
        gbxcule.make_vec(num_envs=1, power_on="warm")


def test_resetting_without_a_seed_begins_another_game():
    env = gbxcule.make_vec(num_envs=2, obs=gbxcule.Ram("Random:0xC00E"))
    first, _ = env.reset(seed=5)
    second, _ = env.reset()
    again, _ = env.reset(seed=5)
    assert not np.array_equal(first, second)
    assert np.array_equal(first, again)


def test_the_reward_is_the_growth_of_the_score():
    env = gbxcule.make_vec(num_envs=8, max_episode_steps=1000)
    _, infos = env.reset(seed=2)
    scores = infos["score"]
    earned = np.zeros(8)
    rng = np.random.default_rng(0)
    for _ in range(60):
        _, rewards, terminated, _, infos = env.step(rng.integers(9, size=8))
        earned += rewards
        assert np.array_equal(infos["score"] - scores, rewards)
        scores = infos["score"]
        if terminated.any():
            break
    assert earned.sum() > 0


def over_after(env, steps):
    """Return after each step the envs that are over, with all results of the step."""
    env.reset(seed=1)
    for step in range(steps):
        yield env.step(actions(env, step))


def test_next_step_resets_in_the_step_behind_the_end():
    env = gbxcule.make_vec(num_envs=2, max_episode_steps=3, autoreset_mode="NextStep", **SMALL)
    first, _ = env.reset(seed=1)
    truncations = []
    for step in range(9):
        before = env.save_state(0)
        obs, rewards, terminated, truncated, infos = env.step(actions(env, step))
        truncations.append(truncated.tolist())
        assert "final_obs" not in infos
        if step % 4 == 3:
            assert rewards.tolist() == [0, 0]
            assert env.save_state(0) != before
            assert infos["score"].tolist() == [0, 0]
    over, going = [True] * 2, [False] * 2
    assert truncations == [going, going, over, going, going, going, over, going, going]


def test_same_step_gives_the_last_observation_apart():
    mode = AutoresetMode.SAME_STEP
    env = gbxcule.make_vec(num_envs=3, max_episode_steps=4, autoreset_mode=mode, obs="gray", **SMALL)
    twin = gbxcule.make_vec(num_envs=3, autoreset_mode="Disabled", obs="gray", **SMALL)
    env.reset(seed=4)
    twin.reset(seed=4)
    # The first env ends before the others.
    env._steps[1] = 1
    for step in range(3):
        obs, _, _, truncated, infos = env.step(actions(env, step))
        last, _, _, _, last_infos = twin.step(actions(twin, step))
        assert ("final_obs" in infos) == (step == 2)
    assert truncated.tolist() == [False, True, False]
    assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == [False, True, False]
    assert infos["final_obs"][0] is None and infos["final_obs"][2] is None
    assert np.array_equal(infos["final_obs"][1], last[1])
    assert np.array_equal(obs[[0, 2]], last[[0, 2]])
    assert not np.array_equal(obs[1], last[1])
    assert infos["final_info"]["hulls"][1] == last_infos["hulls"][1]
    assert infos["final_info"]["_hulls"].tolist() == [False, True, False]
    assert env.observation_space.contains(obs)


def test_disabled_asks_for_resets_and_resets_only_whom_it_is_told():
    env = gbxcule.make_vec(num_envs=3, max_episode_steps=2, autoreset_mode="Disabled", obs=gbxcule.Ram("Frames:C00A"))
    env.reset(seed=1)
    env.step(actions(env, 0))
    obs, _, _, truncated, _ = env.step(actions(env, 1))
    assert truncated.all()
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset_mask"):
        env.step(actions(env, 2))
    mask = np.array([True, False, True])
    after, infos = env.reset(options={"reset_mask": mask})
    assert np.array_equal(after[1], obs[1])
    assert not np.array_equal(after[0], obs[0])
    assert infos["_score"].tolist() == mask.tolist()
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"\[1\]"):
        env.step(actions(env, 2))
    env.reset(options={"reset_mask": ~mask})
    env.step(actions(env, 2))


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_game_over_terminates_and_a_new_game_begins(mode):
    env = gbxcule.make_vec(num_envs=2, autoreset_mode=mode)
    env.reset(seed=9)
    env.write_memory(1, "GameOver", b"\x01")
    _, _, terminated, truncated, infos = env.step(actions(env, 0))
    assert terminated.tolist() == [False, True]
    assert not truncated.any()
    if mode == "NextStep":
        _, _, terminated, _, infos = env.step(actions(env, 1))
        assert not terminated.any()
    assert env.read_memory(1, "GameOver") == b"\x00"
    assert infos["hulls"].tolist() == [3, 3]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_gymnasium_counts_episodes(mode):
    env = RecordEpisodeStatistics(gbxcule.make_vec(num_envs=2, max_episode_steps=5, autoreset_mode=mode, **SMALL))
    lengths = []
    env.reset(seed=0)
    for step in range(30):
        *_, infos = env.step(actions(env, step))
        if "episode" in infos:
            lengths += infos["episode"]["l"][infos["_episode"]].tolist()
    assert lengths == [5] * 2 * (5 if mode == "NextStep" else 6)


def test_a_copied_state_brings_no_reward():
    env = gbxcule.make_vec(num_envs=3)
    env.reset(seed=2)
    env.write_memory(0, "Score", b"\x40")
    env.copy_state(0, [False, True, True])
    _, rewards, *_ = env.step([8, 8, 8])
    assert (rewards < 0x40).all()
    assert env.read_memory(2, ("Score", 1)) >= b"\x40"


def test_a_saved_state_goes_on_as_it_would_have():
    env = gbxcule.make_vec(num_envs=2, obs="gray", **SMALL)
    list(play(env, 5, seed=6))
    state = env.save_state(0)
    ahead = [env.step(actions(env, step))[0][0] for step in range(5)]
    other = gbxcule.make_vec(num_envs=2, obs="gray", **SMALL)
    other.reset(seed=1)
    other.load_state(0, state)
    again = [other.step(actions(other, step))[0][0] for step in range(5)]
    assert equal(tuple(ahead), tuple(again))
    with pytest.raises(ValueError, match="neither a state of this program"):
        env.load_state(0, b"rubbish")


def test_episodes_can_begin_in_a_saved_state():
    env = gbxcule.make_vec(num_envs=1)
    list(play(env, 20, seed=6))
    state = env.save_state(0)
    late = gbxcule.make_vec(num_envs=2, start_state=state, start_steps=0)
    late.reset(seed=0)
    assert late.read_memory(1, "Frames:C00A") == env.read_memory(0, "Frames:C00A")


def test_grays_are_pyboys_by_choice():
    for grays, third in [("even", 170), ("pyboy", 153)]:
        env = gbxcule.make_vec(num_envs=1, obs="gray", grays=grays, render_mode="rgb_array")
        obs, _ = env.reset(seed=0)
        assert third in obs and set(np.unique(obs)) <= {0, 85, third, 255}
        assert set(np.unique(env.screens())) == set(np.unique(obs))


def test_rendering_shows_every_env():
    env = gbxcule.make_vec(num_envs=5, obs="obs_v0", render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.dtype == np.uint8 and picture.shape[2] == 3
    assert picture.shape[0] * picture.shape[1] >= 5 * 144 * 160
    env = gbxcule.make_vec(num_envs=5, obs="obs_v0", render_mode="rgb_array_each")
    env.reset(seed=0)
    assert [each.shape for each in env.render()] == [(144, 160, 3)] * 5
    with pytest.raises(ValueError, match="rgb_array"):
        gbxcule.make_vec().render()


def test_a_rom_without_its_padding_runs_with_a_warning(tmp_path):
    rom = tmp_path / "short.gb"
    rom.write_bytes(gbxcule._native.built_in_rom("ALU_LOOP")[:0x4000])
    with pytest.warns(UserWarning, match="the ROM has 16384 bytes and its header promises 32768"):
        gbxcule.make_vec(rom, 1).reset()


def test_machines_begin_in_a_boot_rom(tmp_path):
    # JR to itself.
    boot = b"\x18\xfe" + bytes(254)
    path = tmp_path / "boot.bin"
    path.write_bytes(boot)
    for given in (boot, path):
        env = gbxcule.make_vec("PEARL_DRIFT", 2, boot_rom=given)
        env.reset()
        assert env.read_memory(0, (0, 2)) == boot[:2] and env.read_memory(1, (0xFF50, 1)) == b"\xfe"
    env.checkpoint(tmp_path / "swarm.ckpt")
    assert gbxcule.restore(tmp_path / "swarm.ckpt").read_memory(1, (0, 2)) == boot[:2]
    with pytest.raises(ValueError, match="the boot ROM has 256 bytes, that of a Game Boy Color has 2304"):
        gbxcule.make_vec("AMBER_ROAD", 1, boot_rom=boot, model="cgb")


def _cartridge(type_code, program=b"\x18\xfe"):
    rom = bytearray(0x8000)
    rom[0x100:0x104] = b"\x00\xc3\x50\x01"
    rom[0x147] = type_code
    rom[0x150 : 0x150 + len(program)] = program
    return bytes(rom)


def test_a_cartridge_is_tilted_and_rumbles():
    # LD A,0A; LD (0000),A; LD A,40; LD (4000),A; then, for ever,
    # LD A,55; LD (A000),A; LD A,AA; LD (A010),A
    feel = bytes.fromhex("3e0a ea0000 3e40 ea0040 3e55 ea00a0 3eaa ea10a0 18f4")
    env = gbxcule.make_vec(_cartridge(0x22, feel), 2, obs="mean", reward=False)
    env.reset()
    env.set_tilts([True, False], [1.0, 0.0])
    env.step(env.action_space.sample())
    felt = [int.from_bytes(env.read_memory(one, (0xA020, 1)) + env.read_memory(one, (0xA030, 1)), "little") for one in range(2)]
    assert felt == [0x81D0 - 0x70, 0x81D0]
    with pytest.raises(ValueError, match="two numbers"):
        env.set_tilts([True, True], [[0.0, 0.0]])
    with pytest.raises(ValueError, match="2 times the gravity"):
        env.set_tilts([True, True], [0.0, 3.0])
    with pytest.raises(ValueError, match="no sensor of tilt"):
        gbxcule.make_vec(num_envs=1).set_tilts([True], [0.0, 0.0])
    # LD A,08; LD (4000),A; JR to itself
    env = gbxcule.make_vec(_cartridge(0x1C, bytes.fromhex("3e08 ea0040 18fe")), 2, obs="mean", reward=False)
    env.reset()
    env.step(env.action_space.sample())
    assert env.rumbles().tolist() == [True, True]


def test_a_super_game_boy_has_a_border_and_more_controllers():
    env = gbxcule.make_vec("PEARL_DRIFT", 2, model="sgb", obs="rgb")
    obs, _ = env.reset(seed=1)
    pictures = env.bordered_pictures()
    assert pictures.shape == (2, 224, 256, 3)
    assert np.array_equal(pictures[:, 40:184, 48:208], obs)
    assert (pictures[:, :40] == pictures[0, 0, 0]).all()
    env.set_controllers([True, False], 1, 0x10)
    env.set_controllers([True, True], 3, [1, 2])
    for controller, buttons in [(0, 1), (4, 1)]:
        with pytest.raises(ValueError, match="controllers that are set are 1 to 3"):
            env.set_controllers([True, True], controller, buttons)
    for buttons in ([1], 256, -1, 0.5):
        with pytest.raises(ValueError, match="a number from 0 to 255"):
            env.set_controllers([True, True], 1, buttons)
    with pytest.raises(ValueError, match="no Super Game Boy"):
        gbxcule.make_vec(num_envs=1).bordered_pictures()


@pytest.mark.parametrize("rom", ["PEARL_DRIFT", "AMBER_ROAD"])
def test_pictures_are_drawn_where_nothing_else_looks_at_them(rom):
    # Buttons are released before a step ends, so one more frame without any goes on from there.
    steps = {"actions": "full_v1", "frames_per_step": 6, "release_after_frames": 2}
    env, alone = gbxcule.make_vec(rom, 2, obs="obs_v0", **steps), gbxcule.make_vec(rom, 2, obs="obs_v0", **steps)
    frames = {"actions": "full_v1", "frames_per_step": 1, "release_after_frames": 1}
    drawn, rgb = gbxcule.make_vec(rom, 2, obs="gray", **frames), gbxcule.make_vec(rom, 2, obs="rgb", **frames)
    for each in (env, alone):
        each.reset(seed=2)
    for step in range(6):
        for each in (env, alone):
            each.step([step % 5, 1])
        states = [env.save_state(number) for number in range(2)]
        for each, shown in ((drawn, env.screens()), (rgb, env.pictures())):
            each.reset(options={"state": states})
            picture, *_ = each.step([8, 8])
            assert picture.min() < picture.max() and np.array_equal(shown, picture)
    assert [env.save_state(number) for number in range(2)] == [alone.save_state(number) for number in range(2)]


@pytest.mark.parametrize("rom", ["AMBER_ROAD", "LANTERN_WING"])
def test_renderings_have_the_colors_of_the_machine(rom):
    env = gbxcule.make_vec(rom, num_envs=2, obs="rgb", render_mode="rgb_array_each")
    env.reset(seed=0)
    for _ in range(3):
        pictures, *_ = env.step([1, 2])
    assert np.array_equal(env.render(), pictures) and np.array_equal(env.pictures(), pictures)
    is_colored = (pictures != pictures[..., :1]).any()
    assert is_colored == (rom == "AMBER_ROAD")
    assert is_colored or np.array_equal(env.screens(), pictures[..., 0])
    single = gbxcule.make(rom, obs="rgb", render_mode="rgb_array")
    picture, _ = single.reset(seed=0)
    assert np.array_equal(single.render(), picture)


def test_a_closed_env_says_so_and_may_be_closed_again():
    env = gbxcule.make_vec()
    env.close()
    env.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        env.reset()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "tpu"}, "`tpu` is not a device"),
        ({"obs": "colour"}, "no observation `colour`"),
        ({"obs": {}}, "at least one"),
        ({"obs": gbxcule.Ram("Nowhere")}, "no symbol `Nowhere`"),
        ({"obs": gbxcule.Ram(("FFFF", 2))}, "not a range"),
        ({"reward": "gold"}, "no reward `gold`"),
        ({"actions": "dance"}, "no action codec `dance`"),
        ({"max_episode_steps": 0}, "max_episode_steps is at least 1"),
        ({"render_mode": "human"}, "no render mode `human`"),
        ({"frames_per_step": 0}, "frames_per_step is at least 1"),
        ({"num_envs": 0}, "num_envs is at least 1"),
        ({"rom": b"no cartridge"}, "ROM cannot be used"),
    ],
)
def test_wrong_arguments_are_refused_with_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        gbxcule.make_vec(**options)


@pytest.mark.parametrize("wrong", [[9, 0], [-1, 0], [0], [0.5, 1.0], [[0, 0]]])
def test_wrong_actions_are_refused(wrong):
    env = gbxcule.make_vec(num_envs=2)
    env.reset(seed=0)
    with pytest.raises(ValueError):
        env.step(np.array(wrong))


def test_reward_v0_is_the_one_of_the_swarm():
    env = gbxcule.make_vec("ALU_LOOP", num_envs=2, obs="obs_v0", reward="reward_v0")
    env.reset()
    obs, rewards, *_ = env.step([8, 8])
    assert np.array_equal(rewards, obs[:, 31])
    assert rewards.any()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_envs": 2.5}, TypeError, "num_envs is a whole number, found 2.5"),
        ({"num_envs": 2**31 - 1}, MemoryError, "has no room for 2147483647 machines: .* would fit"),
        ({"start_steps": -1}, ValueError, "start_steps is at least 0"),
        ({"threads": 0}, ValueError, "threads is at least 1"),
        ({"reward": 3}, TypeError, "a reward is a gbxcule.Change"),
        ({"done": "C000"}, ValueError, "no done `C000`; there are features, the games' own"),
        ({"rom": "pearl_drfit"}, FileNotFoundError, "did you mean PEARL_DRIFT?"),
    ],
)
def test_arguments_that_cant_be_are_named(options, error, message):
    with pytest.raises(error, match=message):
        gbxcule.make_vec(**options)


def test_a_closed_environment_says_so_whatever_is_asked_of_it():
    env = gbxcule.make_vec(num_envs=1)
    env.close()
    for ask in (env.reset, env.screens, lambda: env.save_state(0), lambda: env.read_memory(0, 0xC000)):
        with pytest.raises(gymnasium.error.ClosedEnvironmentError):
            ask()


def test_observations_need_an_array_without_gaps():
    env = gbxcule.make_vec(num_envs=2)
    with pytest.raises(ValueError, match="C order without gaps"):
        env.write_observations_to(np.zeros((2, 72, 160), np.uint8)[:, :, ::2])


FORKED = """
import os, sys, threading, warnings
import gbxcule

warnings.simplefilter("ignore", DeprecationWarning)
OWN, LEAVE = sys.argv[1:]
make = lambda: gbxcule.make_vec(num_envs=40, obs="gray", reward="reward_v0", threads=4)
ours = make()
# The page of the live view has a thread of its own.
page = ours.watch()
expected, _ = ours.reset(seed=1)
child = os.fork()
if child == 0:
    native = ours._machines
    for use in (
        lambda: ours.step([0] * 40), lambda: ours.reset(), lambda: ours.save_state(0), lambda: native.step(bytes(40))
    ):
        try:
            use()
        except RuntimeError as error:
            assert "forked" in str(error), error
        else:
            os._exit(2)
    if OWN == "own":
        own = make()
        again, _ = own.reset(seed=1)
        own.step([0] * 40)
        assert (again == expected).all()
    if LEAVE == "close":
        ours.close()
    del ours, native, page
    if OWN == "own":
        own.step([1] * 40)
        own.close()
    # As an interpreter ends that nobody stops.
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
ours.step([0] * 40)
"""


@pytest.mark.parametrize("own", ["own", "none"])
@pytest.mark.parametrize("leave", ["drop", "close"])
def test_a_forked_process_drops_its_parents_environment_and_makes_its_own(own, leave):
    # The limit is many times the usual duration; a failure would hang.
    run = subprocess.run([sys.executable, "-c", FORKED, own, leave], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0 and run.stderr == "", run.stderr


FORKED_AT_WORK = """
import os, threading, warnings
import gbxcule

warnings.simplefilter("ignore", DeprecationWarning)
ours = gbxcule.make_vec(num_envs=40, threads=4)
ours.reset(seed=1)
stop = threading.Event()

def work():
    while not stop.is_set():
        ours.step([0] * 40)

worker = threading.Thread(target=work)
worker.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        ours.close()
        del ours
        own = gbxcule.make_vec(num_envs=8, threads=2)
        own.reset(seed=1)
        own.step([0] * 8)
        own.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop.set()
worker.join()
"""


def test_a_process_may_be_forked_in_the_midst_of_a_step():
    run = subprocess.run([sys.executable, "-c", FORKED_AT_WORK], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0 and run.stderr == "", run.stderr


def test_the_space_of_all_observations_is_made_when_it_is_asked_for():
    env = gbxcule.make_vec(num_envs=3, obs="rgb")
    obs, _ = env.reset(seed=0)
    restored = pickle.loads(pickle.dumps(env))
    assert "observation_space" not in env.__dict__ and "observation_space" not in restored.__dict__
    assert obs in env.observation_space and env.observation_space is env.observation_space
    env.observation_space.seed(5)
    again = pickle.loads(pickle.dumps(env))
    assert np.array_equal(env.observation_space.sample(), again.observation_space.sample())


def test_more_observations_than_there_is_memory_for_are_refused():
    # Half a GiB for each env, and as much for the copy that a step returns.
    large = {"num_envs": 8192, "obs": gbxcule.Ram(*["0000:10000"] * 8192)}
    with pytest.raises(MemoryError, match="observations of 8192 envs need 8,192 GiB of memory, .* are free; .* copy=False"):
        gbxcule.make_vec(**large)
    with pytest.raises(MemoryError, match="observations of 8192 envs need 4,096 GiB of memory, .* a smaller observation$"):
        gbxcule.make_vec(copy=False, **large)
