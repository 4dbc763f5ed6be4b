"""Films of the best episodes."""

import signal

import gbxcule
import numpy as np
import pytest


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_each_episode_that_is_better_than_all_before_is_filmed(tmp_path, mode):
    env = gbxcule.make_vec(
        num_envs=6, obs=gbxcule.Ram("C000"), reward=gbxcule.Change("SubX"), max_episode_steps=8, autoreset_mode=mode
    )
    env = gbxcule.RecordBest(env, tmp_path / "films")
    env.reset(seed=2)
    rng, running, expected = np.random.default_rng(1), np.zeros(6), []
    was_over = np.zeros(6, bool)
    for _ in range(40):
        _, rewards, terminated, truncated, _ = env.step(rng.integers(9, size=6))
        running[~was_over] += rewards[~was_over]
        over = (terminated | truncated) & ~was_over
        for earned in running[over]:
            if not expected or earned > expected[-1]:
                expected.append(earned)
        if mode == "Disabled" and over.any():
            env.reset(options={"reset_mask": over})
        running[over] = 0
        was_over = over if mode == "NextStep" else np.zeros(6, bool)
    assert expected and env.best_return == expected[-1] and len(env.films) == len(expected)
    for film in env.films:
        assert film.read_bytes().startswith(b"GIF89a")


def test_films_of_an_earlier_training_stay(tmp_path):
    (tmp_path / "best-3.gif").write_bytes(b"of yesterday")
    (tmp_path / "best-of-all.gif").write_bytes(b"of somebody")
    env = gbxcule.make_vec(num_envs=1, max_episode_steps=1, autoreset_mode="SameStep")
    env = gbxcule.RecordBest(env, tmp_path)
    env.reset(seed=0)
    env.step([0])
    assert env.films == [tmp_path / "best-4.gif"] and env.films[0].exists()
    assert (tmp_path / "best-3.gif").read_bytes() == b"of yesterday"


def test_a_film_shows_the_episode_that_was_played(tmp_path):
    env = gbxcule.make_vec(num_envs=2, obs="gray", max_episode_steps=30)
    env.reset(seed=1)
    state, played = env.save_state(1), []
    for action in (5, 5, 6, 3, 0, 6, 6):
        obs, *_ = env.step([8, action])
        played.append(action)
    path = tmp_path / "one.gif"
    env._film(path, state, bytes(played), every=24, scale=1)
    assert env.read_memory(1, "C000:C100") != env.read_memory(0, "C000:C100")
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed").open(path)
    image.seek(image.n_frames - 1)
    light = np.asarray(image.convert("L")) > 128
    assert np.array_equal(light, obs[1] > 128)


def test_refusals_of_films_say_why(tmp_path, monkeypatch):
    env = gbxcule.make_vec(num_envs=2)
    env.reset(seed=0)
    state = env.save_state(0)
    for arguments, message in [
        ({"every": 1}, "50 pictures a second"),
        ({"scale": 9}, "1 to 8 times"),
        ({"every": 0}, "every is at least 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            env._film(tmp_path / "a.gif", state, b"\0", **arguments)
        with pytest.raises(ValueError, match=message):
            gbxcule.RecordBest(env, tmp_path, **arguments)
    with pytest.raises(ValueError, match="a .gif or an .mp4"):
        env._film(tmp_path / "a.avi", state, b"\0")
    with pytest.raises(ValueError, match="as BESS states do: give a file that one of them saved$"):
        env._film(tmp_path / "a.gif", b"no state", b"\0")
    with pytest.raises(ValueError, match="plays one machine"):
        gbxcule.RecordBest(gbxcule.make_vec("LINK_PING_PONG", 2, link="pairs"), tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="a gif or an mp4"):
        gbxcule.RecordBest(env, tmp_path, kind="avi")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="an mp4 needs ffmpeg"):
        gbxcule.RecordBest(env, tmp_path, kind="mp4")
    with pytest.raises(TypeError, match=r"takes an environment of gbxcule\.make_vec"):
        gbxcule.RecordBest(gbxcule.make(), tmp_path)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
def test_a_long_film_is_ended_by_a_signal(tmp_path):
    class Stopped(Exception):
        pass

    def stop(*_):
        raise Stopped

    env = gbxcule.make_vec(num_envs=1)
    env.reset(seed=0)
    state, before = env.save_state(0), signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        # An episode that would take hours if it were played to its end.
        with pytest.raises(Stopped):
            env._film(tmp_path / "long.gif", state, bytes(10_000_000))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert list(tmp_path.iterdir()) == []
    assert env.save_state(0) == state


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_film_begins_where_somebody_put_the_env(tmp_path, mode):
    env = gbxcule.make_vec(num_envs=2, obs="gray", max_episode_steps=6, autoreset_mode=mode, threads=1)
    filming = gbxcule.RecordBest(env, tmp_path, scale=1, every=24)
    filming.reset(seed=1)
    elsewhere = env.save_state(1)
    for action in (5, 5, 6, 2):
        filming.step([action, 8])
    env.load_state(0, elsewhere)
    films = []
    for action in (3, 7):
        obs, *_, infos = filming.step([action, 8])
    last = infos["final_obs"][0] if mode == "SameStep" else obs[0]
    films = filming.films
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed").open(films[0])
    image.seek(image.n_frames - 1)
    assert image.n_frames <= 3
    assert np.array_equal(np.asarray(image.convert("L")) > 128, last > 128)


def test_an_episode_that_a_state_begins_counts_from_its_first_step(tmp_path):
    env = gbxcule.make_vec(num_envs=1, obs=gbxcule.Ram("C000"), reward=gbxcule.Change("SubX"), max_episode_steps=3)
    filming = gbxcule.RecordBest(env, tmp_path)
    filming.reset(seed=2)
    state = env.save_state(0)
    for action in (6, 6, 6):
        filming.step([action])
    env.load_state(0, state)
    earned = sum(float(filming.step([action])[1][0]) for action in (3, 3, 3))
    assert filming._returns[0] == earned and len(filming._actions[0]) == 3
