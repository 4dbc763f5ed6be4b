"""PPO on PEARL_DRIFT: learns to catch pearls and to leave alone what stings, on the CPU, in minutes.

    pip install . torch matplotlib
    python examples/ppo.py --minutes 5 --curve runs/ppo.png

The learner is the benchmark's (`gbxcule.benchmark.agent.ppo`). It sees two reduced frames and gets the growth of the score,
and a penalty for each hull lost. The script prints and draws the game's own score of whole episodes, beside random play's.
"""

import argparse
import time
from pathlib import Path

import gbxcule
import numpy as np
import torch
from gbxcule.benchmark.agent.ppo import PPO
from gbxcule.benchmark.protocol import Played

ENVS, FRAMES = 64, 12


def make() -> Played:
    # Twelve frames a step: the submarine moves 24 pixels, half a screen in three steps.
    reward = [gbxcule.Change("Score", 2, 0.2), gbxcule.Change("Hulls", 1, 1.0)]
    return Played(
        gbxcule.make_vec(
            num_envs=ENVS, obs="mean", frame_stack=2, reward=reward, frames_per_step=FRAMES, release_after_frames=FRAMES,
            max_episode_steps=400, autoreset_mode="SameStep",
        )
    )


def score_of_random_play() -> float:
    env, rng = make(), np.random.default_rng(0)
    env.reset(seed=1000)
    while len(env.scores) < 100:
        env.step(rng.integers(env.single_action_space.n, size=ENVS))
    return float(np.mean(env.scores))


def train(minutes: float) -> list[tuple[float, float]]:
    torch.manual_seed(0)
    env = make()
    learner = PPO(env, 0)
    curve, begun = [], time.time()
    while (elapsed := time.time() - begun) < 60 * minutes:
        learner.update(1 - elapsed / (60 * minutes))
        if env.scores:
            curve.append((env.steps * FRAMES / 1e6, float(np.mean(env.scores))))
            print(f"{elapsed:6.0f} s  {curve[-1][0]:5.2f} M frames  score {curve[-1][1]:6.1f}", flush=True)
    return curve


def draw(curve: list[tuple[float, float]], random: float, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(*zip(*curve, strict=True), label="PPO, mean of the last 100 episodes")
    axes.axhline(random, color="gray", linestyle="--", label="random play")
    axes.set(xlabel="million frames", ylabel="score", title="PEARL DRIFT", ylim=(0, None))
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch: more wait for each other on a busy machine")
    parser.add_argument("--curve", type=Path, default=Path("runs/ppo.png"))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    random = score_of_random_play()
    print(f"random play: score {random:.1f}")
    curve = train(arguments.minutes)
    draw(curve, random, arguments.curve)
    print(f"score {curve[-1][1]:.1f}, random play {random:.1f}; curve in {arguments.curve}")


if __name__ == "__main__":
    main()
