"""Frames a second of one core, as agents see them, beside EnvPool's and ALE's Atari games: drawn, 84x84, stacks of 4.

    pip install . envpool ale-py
    python examples/speed/beside_atari.py

All play random sticky actions (0.25), four frames a step, with the last two frames pooled; an episode that is over
begins anew. Each has one thread. Before the first round gbxcule steps until it has made code for the ROM, as it does
once in a training. All take turns in every round, so other work of the computer slows all of them. Seconds are
processor time of all threads of this process. Each round gives a ratio; the table has the median of all rounds, the
least and the greatest.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

SKIP, STACK, SIDE, STICKY = 4, 4, 84, 0.25


def gbxcule_env(game: str, envs: int) -> Any:
    import gbxcule

    return gbxcule.make_vec(
        game, envs, obs="gray", frames_per_step=SKIP, resize=(SIDE, SIDE), frame_stack=STACK, max_pool=True, sticky=STICKY,
        threads=1, copy=False,
    )


def envpool_env(game: str, envs: int) -> Any:
    import envpool

    return envpool.make(
        f"{game}-v5", "gymnasium", num_envs=envs, num_threads=1, stack_num=STACK, frame_skip=SKIP, img_height=SIDE,
        img_width=SIDE, repeat_action_probability=STICKY,
    )


def ale_env(game: str, envs: int) -> Any:
    from ale_py.vector_env import AtariVectorEnv

    return AtariVectorEnv(
        game.lower(), envs, num_threads=1, stack_num=STACK, frameskip=SKIP, img_height=SIDE, img_width=SIDE,
        repeat_action_probability=STICKY,
    )


class Contender:
    """An environment that is stepped with random actions."""

    def __init__(self, maker: Callable[[str, int], Any], game: str, envs: int) -> None:
        self.env, self.envs = maker(game, envs), envs
        space = getattr(self.env, "single_action_space", None) or self.env.action_space
        self.actions, self.rng = int(space.n), np.random.default_rng(0)
        obs, _ = self.env.reset()
        assert obs.shape == (envs, STACK, SIDE, SIDE) and obs.dtype == np.uint8, obs.shape

    def rate(self, steps: int) -> float:
        """Frames a second of the processor."""
        actions = self.rng.integers(self.actions, size=(steps, self.envs), dtype=np.int64).astype(np.int32)
        start = time.process_time()
        for each in actions:
            self.env.step(each)
        return steps * self.envs * SKIP / (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=100, help="of every environment in a round")
    parser.add_argument("--warm-up", type=int, default=3000, help="steps of gbxcule before the first round")
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--games", default="PEARL_DRIFT,EMBER_LEAP,LAST_BEACON", help="built-in ones, or paths of ROMs")
    parser.add_argument("--atari", default="Pong,Breakout,Seaquest")
    given = parser.parse_args()
    games, atari = given.games.split(","), given.atari.split(",")
    makers = [("gbxcule", gbxcule_env, games), ("EnvPool", envpool_env, atari), ("ALE", ale_env, atari)]
    contenders = {
        (name, game): Contender(maker, game, given.envs) for name, maker, of_maker in makers for game in of_maker
    }
    for (name, _), contender in contenders.items():
        contender.rate(given.warm_up if name == "gbxcule" else given.steps)
    rounds = [{key: contender.rate(given.steps) for key, contender in contenders.items()} for _ in range(given.rounds)]
    print("| | frames/s |\n|---|---:|")
    for name, game in contenders:
        print(f"| {name}, {game} | {statistics.median(rates[name, game] for rates in rounds):,.0f} |")
    print("\n| ratio of the means | median | least | greatest |\n|---|---:|---:|---:|")
    for name in ("EnvPool", "ALE"):
        ratios = sorted(
            statistics.fmean(rates["gbxcule", game] for game in games)
            / statistics.fmean(rates[name, game] for game in atari)
            for rates in rounds
        )
        print(f"| gbxcule / {name} | {statistics.median(ratios):.2f} | {ratios[0]:.2f} | {ratios[-1]:.2f} |")


if __name__ == "__main__":
    main()
