"""The replay of games from seeds and buttons: `gbxcule judge` gives the scores of this package's environments."""

import hashlib
import json
import re
import subprocess
import sys

import gbxcule
import numpy as np
import pytest
from gbxcule import _native
from gbxcule.game import GAMES

BUTTONS = {"NOOP": 0, "RIGHT": 0x01, "LEFT": 0x02, "UP": 0x04, "DOWN": 0x08, "A": 0x10, "B": 0x20, "SELECT": 0x40, "START": 0x80}
FULL_V1 = "A,B,START,UP,DOWN,LEFT,RIGHT,SELECT,NOOP"


def judged(path, *options):
    return subprocess.run(
        [sys.executable, "-m", "gbxcule", "judge", str(path), *options], capture_output=True, text=True, check=False
    )


def played(game, seeds, steps, episodes=1):
    """Random games: a file's lines, and what each game came to, as the environment gave it: score and work RAM's digest."""
    row = GAMES[game]
    env = gbxcule.make_vec(game, len(seeds), max_episode_steps=steps, autoreset_mode="Disabled")
    env.reset(seed=seeds)
    names = FULL_V1 if row.actions == "full_v1" else row.actions
    bytes_of = [sum(BUTTONS[name] for name in action.split("+")) for action in names.split(",")]
    rng = np.random.default_rng(5)
    lines, results = [], []
    for episode in range(episodes):
        pressed, ends, goes_on = [[] for _ in seeds], [None] * len(seeds), np.ones(len(seeds), bool)
        while goes_on.any():
            actions = rng.integers(len(bytes_of), size=len(seeds))
            _, _, terminated, truncated, infos = env.step(actions)
            over = terminated | truncated
            for number in np.flatnonzero(goes_on):
                pressed[number].append(f"{bytes_of[actions[number]]:02x}")
            for number in np.flatnonzero(goes_on & over):
                memory = env.read_memory(int(number), "C000:E000")
                ends[number] = int(infos["score"][number]), hashlib.sha256(memory).hexdigest()
            goes_on &= ~over
            # Envs that ended earlier wait, and begin their next episodes with the others.
            if goes_on.any() and over.any():
                env.reset(options={"reset_mask": over})
        lines += [{"seed": seed, "episode": episode, "buttons": " ".join(each)} for seed, each in zip(seeds, pressed, strict=True)]
        results += ends
        if episode + 1 < episodes:
            env.reset(options={"reset_mask": np.ones(len(seeds), bool)})
    header = {"format": "gbxcule games", "version": 1, "game": game}
    header["rom_sha256"] = hashlib.sha256(_native.built_in_rom(game)).hexdigest()
    header |= {"frames_per_step": row.frames_per_step, "release_after_frames": row.release_after_frames}
    return [header, *lines], results


def written(path, lines):
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def claims(path):
    return [json.loads(line)["claim"] for line in path.read_text().splitlines()[1:]]


@pytest.mark.parametrize("game", [name for name, row in GAMES.items() if not row.has_rival])
def test_a_replay_earns_what_the_environment_gave(game, tmp_path):
    lines, results = played(game, [0, 7, 2**63 + 1, 12345], 600)
    path, sealed = written(tmp_path / "games.jsonl", lines), tmp_path / "sealed.jsonl"
    run = judged(path, "--each", "--seal", str(sealed))
    assert run.returncode == 0, run.stderr
    scores = [score for score, _ in results]
    assert [int(score) for score in re.findall(r"^ *(\d+)  (?:over|limit|stopped)", run.stdout, re.M)] == scores
    assert [(claim["score"], claim["memory_sha256"]) for claim in claims(sealed)] == results
    assert judged(sealed).returncode == 0
    text = sealed.read_text()
    sealed.write_text(text.replace(f'"score":{scores[1]},', f'"score":{scores[1] + 1},'))
    run = judged(sealed)
    assert run.returncode == 1 and f"claims the score {scores[1] + 1}, replaying gives {scores[1]}" in run.stdout


def test_later_episodes_have_numbers_of_their_own(tmp_path):
    lines, results = played("TARN_MASON", [3, 8], 40, episodes=3)
    sealed = tmp_path / "sealed.jsonl"
    assert judged(written(tmp_path / "games.jsonl", lines), "--seal", str(sealed)).returncode == 0
    assert [(claim["score"], claim["memory_sha256"]) for claim in claims(sealed)] == results
    assert len({digest for _, digest in results}) == 6


def test_any_altered_step_of_a_sealed_game_is_refused(tmp_path):
    lines, _ = played("KEEP_OF_KEYS", [11], 60)
    sealed = tmp_path / "sealed.jsonl"
    assert judged(written(tmp_path / "games.jsonl", lines), "--seal", str(sealed)).returncode == 0
    whole = [json.loads(line) for line in sealed.read_text().splitlines()]
    steps = lines[1]["buttons"].split()
    for step in (0, 31, 59):
        for altered in ([*steps[:step], "40", *steps[step + 1 :]], steps[:step] + steps[step + 1 :], [*steps[:step], "00", *steps[step:]]):
            if altered != steps:
                run = judged(written(tmp_path / "altered.jsonl", [whole[0], whole[1] | {"buttons": " ".join(altered)}]))
                assert run.returncode == 1, (step, run.stdout)


def test_a_file_of_another_rom_is_refused(tmp_path):
    lines, _ = played("EMBER_LEAP", [1], 3)
    lines[0]["rom_sha256"] = "0" * 64
    run = judged(written(tmp_path / "games.jsonl", lines))
    assert run.returncode == 2 and "another EMBER_LEAP than this gbxcule has" in run.stderr


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("EMBER_LEAP", {"levels": [7, 250], "variant": "moon"}),
        ("PEARL_DRIFT", {"levels": [7, 250], "variant": "fast", "difficulty": "easy"}),
        ("LAST_BEACON", {"levels": [7, 250]}),
        ("PEARL_DRIFT", {"variant": "fast"}),
        ("KEEP_OF_KEYS", {"difficulty": "easy"}),
    ],
)
def test_levels_and_variants_are_played_as_the_environment_plays_them(tmp_path, game, options):
    row, steps = GAMES[game], 40
    levels = options.get("levels")
    bytes_of = [sum(BUTTONS[name] for name in action.split("+")) for action in
                (FULL_V1 if row.actions == "full_v1" else row.actions).split(",")]
    rng = np.random.default_rng(3)
    header = {"format": "gbxcule games", "version": 1, "game": game}
    header["rom_sha256"] = hashlib.sha256(_native.built_in_rom(game)).hexdigest()
    header |= {"frames_per_step": row.frames_per_step, "release_after_frames": row.release_after_frames}
    header |= {name: options[name] for name in ("variant", "difficulty") if name in options}
    lines, digests = [header], []
    for start in levels or [11, 12]:
        env = gbxcule.make_vec(game, 1, **options | ({"levels": [start]} if levels else {}))
        env.reset(seed=start)
        pressed = []
        for action in rng.integers(len(bytes_of), size=steps):
            terminated = env.step([action])[2]
            pressed.append(f"{bytes_of[action]:02x}")
            if terminated[0]:
                break
        buttons = " ".join(pressed)
        lines.append({"level" if levels else "seed": start, "buttons": buttons})
        digests.append(hashlib.sha256(env.read_memory(0, "C000:E000")).hexdigest())
    written(tmp_path / "games.jsonl", lines)
    assert judged(tmp_path / "games.jsonl", "--seal", str(tmp_path / "sealed.jsonl")).returncode == 0
    sealed = [json.loads(line) for line in (tmp_path / "sealed.jsonl").read_text().splitlines()]
    assert [game["claim"]["memory_sha256"] for game in sealed[1:]] == digests
    assert judged(tmp_path / "sealed.jsonl").returncode == 0
    for name in ("variant", "difficulty"):
        if name in header:
            written(tmp_path / "altered.jsonl", [{**sealed[0], name: "normal" if name == "difficulty" else None}, *sealed[1:]])
            assert judged(tmp_path / "altered.jsonl").returncode == 1
    if levels:
        written(tmp_path / "altered.jsonl", [sealed[0], sealed[1] | {"level": 8}])
        assert judged(tmp_path / "altered.jsonl").returncode == 1


def test_a_leaderboard_asks_for_a_finished_game_of_each_level(tmp_path):
    row = GAMES["PEARL_DRIFT"]
    header = {"format": "gbxcule games", "version": 1, "game": "PEARL_DRIFT"}
    header["rom_sha256"] = hashlib.sha256(_native.built_in_rom("PEARL_DRIFT")).hexdigest()
    header |= {"frames_per_step": row.frames_per_step, "release_after_frames": row.release_after_frames}
    games = [{"level": level, "buttons": "00*4500"} for level in (200, 201, 202)]
    path = tmp_path / "games.jsonl"
    assert judged(written(path, [header, *games]), "--seal", str(path)).returncode == 0
    header, *games = map(json.loads, path.read_text().splitlines())
    stopped = {"level": 201, "buttons": "00*9"}
    for lines, levels, said in (
        (games, "200..203", "PEARL_DRIFT: 3 games"),
        ([games[0], games[2]], "200..203", "refused  the file: it has no game of level 201"),
        ([games[0], stopped, games[2]], "200..203", "refused  game 2: it was stopped before its end"),
        (games, "200..202", "refused  game 3: it has none of the levels 200..202"),
    ):
        run = judged(written(path, [header, *lines]), "--levels", levels)
        assert said in run.stdout and run.returncode == ("refused" in said), run.stdout + run.stderr
    assert "write the first level and the one after the last: 200..400" in judged(path, "--levels", "203").stderr
