"""PPO on a game that people play: Libbet and the Magic Floor, with a visited map and a start state, on the CPU.

    git clone pinobatch/libbet from GitHub; it is built with RGBDS 0.7 or later, and Python with Pillow:
    make -C libbet all
    python examples/libbet.py libbet/libbet.gb --minutes 5 --curve runs/libbet.png

An episode begins on the first floor, a saved state behind the title. The reward and the observation are a program
(`programs/libbet.py`): a point for each tile that the game counts, five for the next floor, a tenth for each tile that
is new. What is printed and drawn are points and floors of whole episodes, beside those of random play.
"""

import argparse
from pathlib import Path

import gbxcule
import numpy as np
import torch
from ppo import ENVS, draw, scores_of_random_play, train
from torch import nn
from torch.distributions import Categorical

TASK = Path(__file__).parent / "programs" / "libbet.py"
# About the time of a roll onto the next tile.
FRAMES = 16
ACTIONS = [["UP"], ["DOWN"], ["LEFT"], ["RIGHT"], ["A", "UP"], ["A", "DOWN"], ["A", "LEFT"], ["A", "RIGHT"]]


def check_addresses(symbols: dict[str, int]) -> None:
    """The program's addresses are those of the game as it was built here."""
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
        start_state=first_floor(rom), start_steps=0, frames_per_step=FRAMES, release_after_frames=8, max_episode_steps=256,
        autoreset_mode="SameStep",
    )


class Agent(nn.Module):
    def __init__(self, actions: int, numbers: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(2 * numbers, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.policy, self.value = nn.Linear(256, actions), nn.Linear(256, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, seen: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        body = self.body(seen)
        return Categorical(logits=self.policy(body)), self.value(body).squeeze(-1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rom", type=Path)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--curve", type=Path, default=Path("runs/libbet.png"))
    parser.add_argument("--watch", action="store_true", help="serve a live view of the training")
    arguments = parser.parse_args()
    env = make(arguments.rom, ENVS)
    random = float(np.mean(scores_of_random_play(200, env)))
    print(f"random play: score {random:.1f}")
    if arguments.watch:
        print(env.watch(heatmap=("cursor_x", "cursor_y")).url)
    torch.manual_seed(0)
    agent = Agent(int(env.single_action_space.n), env.single_observation_space.shape[0])
    curve = train(arguments.minutes, env, agent, FRAMES)
    draw(curve, random, arguments.curve, "Libbet and the Magic Floor")
    print(f"score {curve[-1][1]:.1f}, random play {random:.1f}; curve in {arguments.curve}")


if __name__ == "__main__":
    main()
