"""PPO on a game that people play: Libbet and the Magic Floor, with a visited map and a start state, on the CPU.

    git clone pinobatch/libbet from GitHub; it is built with RGBDS 0.7 or later, and Python with Pillow:
    make -C libbet all
    python examples/libbet.py libbet/libbet.gb --minutes 5 --curve runs/libbet.png

An episode begins on the first floor, a saved state behind the title. The reward and the observation are a program
(`programs/libbet.py`): a point for each tile that the game counts, five for the next floor, a tenth for each tile that
is new. The script prints and draws points and floors of whole episodes, beside those of random play.
"""

import argparse
import time
from pathlib import Path

import gbxcule
import numpy as np
import torch
from ppo import ENVS, Learner, scores_in

TASK = Path(__file__).parent / "programs" / "libbet.py"
# About the time of a roll onto the next tile.
FRAMES = 16
ACTIONS = [["UP"], ["DOWN"], ["LEFT"], ["RIGHT"], ["A", "UP"], ["A", "DOWN"], ["A", "LEFT"], ["A", "RIGHT"]]


def check_addresses(symbols: dict[str, int]) -> None:
    """Check that the program's addresses are those of the game's `.sym` file."""
    for line in TASK.read_text().splitlines():
        name, _, address = line.partition(" = 0x")
        if address and symbols.get(name.lower()) != int(address, 16):
            raise SystemExit(f"{TASK}: {name} is at {symbols.get(name.lower(), 0):#06x} in this build of the game")


def first_floor(rom: Path) -> bytes:
    """A state on the first floor: START, pressed on and off."""
    env = gbxcule.make_vec(rom, actions=[["START"], []])
    env.reset(seed=0)
    for press in range(16):
        env.step([press % 2])
    return env.save_state(0)


def make(rom: Path, envs: int) -> gbxcule.SwarmVectorEnv:
    symbols = gbxcule.load_symbols(rom.with_suffix(".sym"))
    check_addresses(symbols)
    return gbxcule.make_vec(
        rom, envs, symbols=symbols, actions=ACTIONS, obs=TASK, reward=TASK, info={"score": gbxcule.Cell(0)},
        start_state=first_floor(rom), start_steps=0, frames_per_step=FRAMES, release_after_frames=8,
        max_episode_steps=256, autoreset_mode="SameStep",
    )


def random_score(env: gbxcule.SwarmVectorEnv, episodes: int) -> float:
    """The mean score of random play."""
    rng, scores = np.random.default_rng(0), []
    env.reset(seed=1000)
    while len(scores) < episodes:
        scores += scores_in(env.step(rng.integers(len(ACTIONS), size=ENVS))[-1])
    return float(np.mean(scores))


def train(env: gbxcule.SwarmVectorEnv, minutes: float) -> list[tuple[float, float]]:
    """Million frames, and the mean score of the last hundred episodes."""
    learner, begun, curve = Learner(env, 0), time.time(), []
    while (elapsed := time.time() - begun) < 60 * minutes:
        learner.update(1 - elapsed / (60 * minutes))
        if learner.scores:
            curve.append((learner.steps * FRAMES / 1e6, float(np.mean(learner.scores))))
            print(f"{elapsed:6.0f} s  {curve[-1][0]:5.2f} M frames  score {curve[-1][1]:6.1f}", flush=True)
    return curve


def draw(curve: list[tuple[float, float]], random: float, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(*zip(*curve, strict=True), label="PPO, mean of the last 100 episodes")
    axes.axhline(random, color="gray", linestyle="--", label="random play")
    axes.set(xlabel="million frames", ylabel="score", title="Libbet and the Magic Floor", ylim=(0, None))
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rom", type=Path)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch: more wait for each other on a busy machine")
    parser.add_argument("--curve", type=Path, default=Path("runs/libbet.png"))
    parser.add_argument("--watch", action="store_true", help="serve a live view of the training")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    env = make(arguments.rom, ENVS)
    random = random_score(env, 200)
    print(f"random play: score {random:.1f}")
    if arguments.watch:
        print(env.watch(heatmap=("cursor_x", "cursor_y")).url)
    curve = train(env, arguments.minutes)
    draw(curve, random, arguments.curve)
    print(f"score {curve[-1][1]:.1f}, random play {random:.1f}; curve in {arguments.curve}")


if __name__ == "__main__":
    main()
