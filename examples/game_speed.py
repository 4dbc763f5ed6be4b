"""Frames a second of every built-in game on one core, and as a ratio to PEARL_DRIFT's.

    pip install .
    python examples/game_speed.py

Buttons are random, from behind the title on; nothing is drawn, and a game that is over begins anew. The games take
turns, so that what else the machine does slows all of them. Each one's fastest round counts, in seconds of the
processor.
"""

import argparse
import time

import gbxcule
import numpy as np
from gbxcule.game import GAMES, NAME

ENVS = 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=9600, help="of each machine in a round")
    parser.add_argument("--audio", action="store_true", help="each step's sound, too")
    arguments = parser.parse_args()
    envs = {
        name: gbxcule.make_vec(
            name, ENVS, obs=gbxcule.Ram("C000:C010"), threads=1, frames_per_step=24, audio=arguments.audio
        )
        for name in GAMES
    }
    rng = np.random.default_rng(0)
    for env in envs.values():
        env.reset(seed=0)
    fastest = dict.fromkeys(GAMES, float("inf"))
    for _ in range(arguments.rounds):
        for name, env in envs.items():
            actions = rng.integers(env.single_action_space.n, size=(arguments.frames // 24, ENVS))
            start = time.process_time()
            for step in actions:
                env.step(step)
            fastest[name] = min(fastest[name], time.process_time() - start)
    print(f"| game | frames/s | of {NAME} |\n|---|---:|---:|")
    for name, seconds in fastest.items():
        rate = arguments.frames * ENVS / seconds
        print(f"| {name} | {rate:,.0f} | {fastest[NAME] / seconds:.2f} |")


if __name__ == "__main__":
    main()
