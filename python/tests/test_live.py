"""The live view of an environment: it shows what Python trains, and changes nothing of it."""

import base64
import json
import os
import select
import socket
import struct
import subprocess
import sys

import gbxcule
import numpy as np
import pytest

HEATMAP = ("SubX", "SubY")


class Viewer:
    """A browser's side of the view's protocol (`protocol.rs`)."""

    def __init__(self, url):
        host, port = url.removeprefix("http://").split("/")[0].split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /socket HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.take(1)
        assert b" 101 " in head
        self.hello = json.loads(self.message())

    def take(self, count):
        taken = b""
        while len(taken) < count:
            more = self.socket.recv(count - len(taken))
            if not more:
                raise EOFError
            taken += more
        return taken

    def message(self):
        whole = b""
        while True:
            first, length = self.take(2)
            if length == 126:
                (length,) = struct.unpack(">H", self.take(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.take(8))
            whole += self.take(length)
            if first & 0x80:
                return whole

    def send(self, **request):
        text = json.dumps(request).encode()
        assert len(text) < 65536
        length = bytes([0x80 | len(text)]) if len(text) < 126 else b"\xfe" + struct.pack(">H", len(text))
        # A mask of zeros doesn't change the text.
        self.socket.sendall(b"\x81" + length + bytes(4) + text)

    def look(self, **more):
        self.send(type="look", first=0, count=4, shrink=1, chosen=None, **more)

    def view(self):
        data = self.message()
        (length,) = struct.unpack("<I", data[:4])
        return json.loads(data[4 : 4 + length]), data[4 + length :]


def steps_until(env, viewer, most=2000):
    """Step until the viewer has a message."""
    for _ in range(most):
        env.step(np.full(env.num_envs, 8))
        if select.select([viewer.socket], [], [], 0)[0]:
            return
    raise AssertionError("no view came")


@pytest.fixture
def env():
    env = gbxcule.make_vec(num_envs=4, obs="packed", max_episode_steps=30, frames_per_step=2)
    env.reset(seed=1)
    yield env
    env.close()


def test_the_page_shows_the_machines_that_python_steps(env):
    with env.watch() as view:
        viewer = Viewer(view.url)
        assert (viewer.hello["mode"], viewer.hello["rom"], viewer.hello["num_envs"]) == ("train", "PEARL_DRIFT", 4)
        viewer.look()
        steps_until(env, viewer)
        head, pictures = viewer.view()
        # The view shows a later step, with the picture of that step.
        other = gbxcule.make_vec(num_envs=4, obs="packed", max_episode_steps=30, frames_per_step=2)
        other.reset(seed=1)
        for _ in range(head["step"]):
            obs, *_ = other.step(np.full(4, 8))
        assert pictures[: 4 * 5760] == obs.tobytes()
    assert view.is_closed and "closed" in repr(view)


def test_machines_of_the_color_are_shown_in_their_colors():
    env = gbxcule.make_vec("AMBER_ROAD", num_envs=4, obs="rgb555", actions="full_v1")
    env.reset(seed=1)
    viewer = Viewer(env.watch().url)
    viewer.look()
    steps_until(env, viewer)
    head, pictures = viewer.view()
    assert head["colors"] == "raw" and len(pictures) == 4 * 160 * 144 * 2
    shown = np.frombuffer(pictures, "<u2")
    parts = [shown >> shift & 31 for shift in (0, 5, 10)]
    assert np.any(parts[0] != parts[1]) and np.any(parts[1] != parts[2])
    other = gbxcule.make_vec("AMBER_ROAD", num_envs=4, obs="rgb555", actions="full_v1")
    other.reset(seed=1)
    for _ in range(head["step"]):
        obs, *_ = other.step(np.full(4, 8))
    assert pictures == obs.tobytes()


def test_viewers_change_nothing_and_draw_only_what_they_see():
    def run(watched):
        env = gbxcule.make_vec(num_envs=3, obs=gbxcule.Ram("C000:C100"), frames_per_step=4)
        env.reset(seed=5)
        viewer = Viewer(env.watch(heatmap=HEATMAP).url) if watched else None
        rng, seen = np.random.default_rng(0), []
        for step in range(60):
            if viewer and step % 7 == 0:
                viewer.look(map=True)
            obs, reward, *_ = env.step(rng.integers(9, size=3))
            seen.append((obs.tobytes(), reward.tobytes()))
        return seen, [env.read_memory(at, "C000:E000") for at in range(3)]

    assert run(True) == run(False)


def test_statistics_and_the_map_are_of_what_was_stepped(env):
    viewer = Viewer(env.watch(heatmap=HEATMAP).url)
    ended, running = [], np.zeros(4)
    for _ in range(65):
        _, reward, terminated, truncated, _ = env.step(np.full(4, 6))
        running += reward
        over = terminated | truncated
        ended += running[over].tolist()
        running[over] = 0
    viewer.look(map=True)
    viewer.send(type="save", env=2)
    steps_until(env, viewer)
    head, rest = viewer.view()
    episodes, heat = head["episodes"], head["map"]
    assert episodes["count"] >= len(ended) and episodes["mean_steps"] <= 30
    assert heat["columns"] * heat["rows"] == len(rest) - 4 * 5760 - head["state_bytes"]
    cells = np.frombuffer(rest[4 * 5760 :][: heat["columns"] * heat["rows"]], np.uint8)
    assert cells.max() == 255 and heat["most"] >= 1


def test_viewers_may_look_and_nothing_else(env):
    viewer = Viewer(env.watch().url)
    for request in ({"type": "pause"}, {"type": "reset"}, {"type": "hold", "env": 0, "buttons": 1}):
        viewer.send(**request)
        refused = json.loads(viewer.message())
        assert refused["type"] == "refused" and "a program steps this swarm" in refused["message"]


def test_a_view_ends_with_close_and_with_the_environment():
    env = gbxcule.make_vec(num_envs=2)
    env.reset(seed=0)
    first = env.watch()
    port = int(first.url.rstrip("/").rsplit(":", 1)[1])
    viewer = Viewer(first.url)
    first.close()
    with pytest.raises((EOFError, ConnectionError)):
        viewer.message()
    # The port is free again.
    second = env.watch(port)
    assert second.url == first.url
    third = env.watch()
    assert second._view is not third._view
    env.step([0, 0])
    env.close()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", int(third.url.rstrip("/").rsplit(":", 1)[1])), timeout=5)


def test_refusals_of_views_say_why(env):
    for arguments, message in [
        ({"heatmap": "wX"}, "two places in memory"),
        ({"heatmap": ("SubX", "SubZ")}, "no symbol `SubZ`"),
        ({"heatmap": ("C000:C004", "C004")}, "1 or 2 bytes"),
        ({"host": "here"}, "no address `here`"),
        ({"port": 70000}, "at most 65535"),
        ({"take_over": 1}, "True or False"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            env.watch(**arguments)
    taken = env.watch()
    port = int(taken.url.rstrip("/").rsplit(":", 1)[1])
    with pytest.raises(OSError, match=f"port {port} of 127.0.0.1 is taken"):
        gbxcule.make_vec().watch(port)


def test_a_viewer_who_may_drives_a_machine_and_gives_it_back(env):
    """The other envs step as they do without a viewer."""
    alone = gbxcule.make_vec(num_envs=4, obs="packed", max_episode_steps=30, frames_per_step=2)
    alone.reset(seed=1)
    view = env.watch(take_over=True)
    viewer = Viewer(view.url)
    assert viewer.hello["hands"] is True and [0xC006, "SubX"] in viewer.hello["labels"]
    # Buttons of someone who drives are those of the env alone: 1 is RIGHT.
    viewer.send(type="hold", env=2, buttons=1)
    viewer.look()
    steps = 0
    while view.held != [2]:
        env.step(np.full(4, 8))
        steps += 1
    for _ in range(20):
        env.step(np.full(4, 8))
    for _ in range(steps + 20):
        alone.step(np.full(4, 8))
    places = ["C000:E000"]
    same = [all(env.read_memory(at, place) == alone.read_memory(at, place) for place in places) for at in range(4)]
    assert same == [True, True, False, True]
    viewer.view()
    viewer.send(type="poke", env=1, place=0xC123, byte=77)
    viewer.send(type="let_go")
    while view.held:
        env.step(np.full(4, 8))
    viewer.look()
    steps_until(env, viewer)
    assert env.read_memory(1, "C123") == b"\x4d"
    viewer.send(type="pause")
    viewer.view()
    env.step(np.full(4, 8))
    refused = json.loads(viewer.message())
    assert "neither run nor reset" in refused["message"]


def test_closing_gives_all_machines_back():
    env = gbxcule.make_vec(num_envs=2, obs="packed", frames_per_step=1)
    env.reset(seed=1)
    view = env.watch(take_over=True)
    viewer = Viewer(view.url)
    viewer.send(type="hold", env=0, buttons=1)
    while view.held != [0]:
        env.step([8, 8])
    view.close()
    assert view.held == []
    other = gbxcule.make_vec(num_envs=2, obs="packed", frames_per_step=1)
    other.reset(seed=1)
    other.load_state(0, env.save_state(0))
    for _ in range(30):
        env.step([4, 8])
        other.step([4, 8])
    assert env.read_memory(0, "C000:E000") == other.read_memory(0, "C000:E000")


@pytest.mark.parametrize("autoreset", ["NextStep", "SameStep"])
def test_driven_games_are_recorded_for_the_judge(tmp_path, autoreset):
    record = tmp_path / "games.jsonl"
    # Without buttons a game is over after some 530 frames, in the middle of a step.
    levels = [201, 202, 203, 205, 206, 207]
    env = gbxcule.make_vec("LANTERN_WING", 3, levels=levels, autoreset_mode=autoreset, frames_per_step=20)
    with env, env.watch(take_over=True, record=record) as view:
        env.reset(seed=3)
        viewer = Viewer(view.url)
        scores, driven, asked = {}, False, False
        while len(scores) < 2:
            # Somebody presses RIGHT for a moment, in each game.
            held = view.held == [1]
            if held or not (driven or asked):
                viewer.send(**({"type": "let_go"} if held else {"type": "hold", "env": 1, "buttons": 1}))
                asked = not held
            driven |= held
            *_, terminated, _, infos = env.step(np.full(3, env.action_names.index("NOOP")))
            if terminated[1] and driven:
                final = infos["final_info"] if autoreset == "SameStep" else infos
                # A level counts once.
                scores.setdefault(final["level_number"][1], final["score"][1])
            driven &= not terminated[1]
    judged = subprocess.run(
        [sys.executable, "-m", "gbxcule", "judge", record, "--each"], capture_output=True, text=True, check=False
    )
    assert judged.returncode == 0, judged.stdout + judged.stderr
    rows = [line.split() for line in judged.stdout.splitlines() if " over " in line]
    assert {int(row[-1]): int(row[0]) for row in rows} == scores, judged.stdout


def test_games_that_a_replay_would_not_repeat_are_not_recorded(tmp_path):
    path = tmp_path / "games.jsonl"
    for options, watched, message in [
        ({"levels": range(3)}, {"take_over": False}, "take_over=True, too"),
        ({}, {}, "levels=range"),
        ({"levels": range(3), "sticky": 0.25}, {}, "leave out `sticky`"),
        ({"levels": range(3), "start_steps": 2}, {}, "leave out `start_steps`"),
        ({"levels": range(3)}, {"record": ""}, "found an empty string"),
        ({"levels": range(3)}, {"record": tmp_path}, "games|directory|folder"),
    ]:
        env = gbxcule.make_vec("PEARL_DRIFT", 2, **options)
        with env, pytest.raises((ValueError, OSError), match=message):
            env.watch(**{"take_over": True, "record": path, **watched})
    env = gbxcule.make_vec("PEARL_DRIFT", 2, levels=range(3))
    env.reset(seed=1)
    with env, env.watch(take_over=True, record=path) as view:
        # An episode that was under way, and one that began in a state, are left out.
        viewer = Viewer(view.url)
        viewer.send(type="hold", env=0, buttons=1)
        while view.held != [0]:
            env.step([0, 0])
        env.step([0, 0])
        env.reset(options={"state": env.save_state(1)})
        env.step([0, 0])
    assert not path.exists()
