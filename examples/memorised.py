"""Scores of memorised buttons: the scripted player's game of one level, played again in others.

    python examples/memorised.py                     # all games for one player; EMBER_LEAP's player takes minutes
    python examples/memorised.py PEARL_DRIFT

The player plays level 200, and `gbxcule judge` replays its buttons in the levels 200 to 239.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from gbxcule import _native
from gbxcule.action_log import ActionLog, LoggedGame
from gbxcule.benchmark.protocol import GAME_TASKS, held_out_levels
from gbxcule.game import EPISODE_STEPS, GAMES


def scores(game: str, folder: Path) -> list[float]:
    """Play the first level, and replay its buttons in all levels; return each level's score."""
    first, *others = levels = held_out_levels(0)
    _, _, buttons = _native.scripted_game(game, first, EPISODE_STEPS * GAMES[game].frames_per_step)
    file = folder / f"{game}.jsonl"
    ActionLog(game, 1, 1, games=[LoggedGame(buttons, level) for level in levels]).write(file)
    # Sealing drops the buttons after a game's end, which a file must not have.
    judge = [sys.executable, "-m", "gbxcule", "judge", str(file), "--each", "--seal", str(file.with_suffix(".sealed"))]
    lines = subprocess.run(judge, capture_output=True, text=True, check=True).stdout.splitlines()
    level_scores = [float(line.split()[0]) for line in lines if line.split()[-2:-1] == ["level"]]
    assert len(level_scores) == 1 + len(others), lines
    return level_scores


def main() -> None:
    print("| game | level 200 | mean of the levels 201 to 239 | highest |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for game in sys.argv[1:] or GAME_TASKS:
            own, *others = scores(game, Path(folder))
            print(f"| {game} | {own:,.0f} | {np.mean(others):,.0f} | {max(others):,.0f} |", flush=True)


if __name__ == "__main__":
    main()
