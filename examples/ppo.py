"""PPO on PEARL_DRIFT: learns to catch pearls and to leave alone what stings, on the CPU, in minutes.

    pip install . torch matplotlib
    python examples/ppo.py --minutes 5 --curve runs/ppo.png

The agent sees two reduced frames and gets the growth of the score, and a penalty for each hull lost. What is printed
and drawn is the game's own score of whole episodes, beside that of random play. `examples/benchmark.py` trains the same
learner on all seven games for one player.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import gbxcule
import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

ENVS, STEPS, EPOCHS, BATCH = 64, 64, 2, 1024
GAMMA, LAMBDA, CLIP, ENTROPY, RATE = 0.99, 0.95, 0.2, 0.01, 5e-4


def make(seed_envs: int) -> gbxcule.SwarmVectorEnv:
    # Twelve frames a step: the submarine moves 24 pixels, half a screen in three steps.
    reward = [gbxcule.Change("Score", 2, 0.2), gbxcule.Change("Hulls", 1, 1.0)]
    return gbxcule.make_vec(
        num_envs=seed_envs, obs="mean", reward=reward, frames_per_step=12, release_after_frames=12,
        max_episode_steps=400, autoreset_mode="SameStep",
    )


class Agent(nn.Module):
    """Policy and value of the last two observations: pictures, or rows of features."""

    def __init__(self, shape: tuple[int, ...], actions: int) -> None:
        super().__init__()
        self.shades = 255 if len(shape) == 2 else 1
        if len(shape) == 2:
            self.body = nn.Sequential(
                nn.Conv2d(2, 16, 8, 4), nn.ReLU(), nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.Flatten(),
                nn.Linear(32 * 7 * 8, 256), nn.ReLU(),
            )
        else:
            self.body = nn.Sequential(
                nn.Flatten(), nn.Linear(2 * shape[0], 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU()
            )
        self.policy, self.value = nn.Linear(256, actions), nn.Linear(256, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, seen: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        body = self.body(seen.float() / self.shades)
        return Categorical(logits=self.policy(body)), self.value(body).squeeze(-1)


def beside_the_last(seen: torch.Tensor, obs: Any, over: torch.Tensor) -> torch.Tensor:
    """Put an observation beside the one before; a new episode has none before its first."""
    new = torch.from_numpy(obs).clone()
    is_new = over.bool().reshape(-1, *[1] * (new.dim() - 1))
    return torch.stack([torch.where(is_new, new, seen[:, 1]), new], 1)


def scores_in(infos: dict[str, Any]) -> list[float]:
    """Scores of the episodes that ended in a step."""
    return infos["final_info"]["score"][infos["_final_info"]].tolist() if "final_info" in infos else []


class Learner:
    """PPO on a vector environment, whose episodes begin anew in the step in which they end."""

    def __init__(self, env: gymnasium.vector.VectorEnv, seed: int) -> None:
        torch.manual_seed(seed)
        self.env = env
        self.agent = Agent(env.single_observation_space.shape, int(env.single_action_space.n))
        self.optimizer = torch.optim.Adam(self.agent.parameters(), RATE, eps=1e-5)
        screen = torch.from_numpy(env.reset(seed=seed)[0]).clone()
        self.seen = torch.stack([screen, screen], 1)
        self.steps = 0
        # Those of the last hundred episodes.
        self.scores: list[float] = []

    def update(self, left: float) -> None:
        """Play STEPS steps in each env and learn from them, at a rate that falls with what is left of the training."""
        for group in self.optimizer.param_groups:
            group["lr"] = RATE * left
        data = self._played()
        with torch.no_grad():
            following = self.agent(self.seen)[1]
        advantage, later = torch.zeros_like(data["value"]), torch.zeros_like(following)
        for t in reversed(range(STEPS)):
            alive = 1 - data["over"][t]
            surprise = data["reward"][t] + GAMMA * alive * following - data["value"][t]
            advantage[t] = later = surprise + GAMMA * LAMBDA * alive * later
            following = data["value"][t]
        flat = {name: column.flatten(0, 1) for name, column in data.items()}
        self._learn(flat, (advantage + data["value"]).flatten(), advantage.flatten())

    def _played(self) -> dict[str, torch.Tensor]:
        rows: dict[str, list[torch.Tensor]] = {
            name: [] for name in ("seen", "action", "chance", "value", "reward", "over")
        }
        for _ in range(STEPS):
            with torch.no_grad():
                policy, value = self.agent(self.seen)
                action = policy.sample()
            obs, reward, terminated, truncated, infos = self.env.step(action.numpy())
            over = torch.from_numpy(terminated | truncated).float()
            reward = torch.from_numpy(reward).float()
            step = (self.seen, action, policy.log_prob(action), value, reward, over)
            for column, part in zip(rows.values(), step, strict=True):
                column.append(part)
            self.seen = beside_the_last(self.seen, obs, over)
            self.scores = (self.scores + scores_in(infos))[-100:]
        self.steps += STEPS * len(over)
        return {name: torch.stack(column) for name, column in rows.items()}

    def _learn(self, flat: dict[str, torch.Tensor], target: torch.Tensor, advantage: torch.Tensor) -> None:
        for _ in range(EPOCHS):
            for part in torch.randperm(len(target)).split(BATCH):
                policy, value = self.agent(flat["seen"][part])
                ratio = (policy.log_prob(flat["action"][part]) - flat["chance"][part]).exp()
                gain = (advantage[part] - advantage[part].mean()) / (advantage[part].std() + 1e-8)
                loss = -torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
                loss = loss + 0.5 * (value - target[part]).pow(2).mean() - ENTROPY * policy.entropy().mean()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.agent.parameters(), 0.5)
                self.optimizer.step()


def scores_of_random_play(episodes: int) -> list[float]:
    env, rng, scores = make(ENVS), np.random.default_rng(0), []
    env.reset(seed=1000)
    while len(scores) < episodes:
        scores += scores_in(env.step(rng.integers(env.single_action_space.n, size=ENVS))[-1])
    return scores


def train(minutes: float) -> list[tuple[float, float]]:
    learner = Learner(make(ENVS), 0)
    curve, begun = [], time.time()
    while (elapsed := time.time() - begun) < 60 * minutes:
        learner.update(1 - elapsed / (60 * minutes))
        if learner.scores:
            curve.append((learner.steps * 12 / 1e6, float(np.mean(learner.scores))))
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
    random = float(np.mean(scores_of_random_play(200)))
    print(f"random play: score {random:.1f}")
    curve = train(arguments.minutes)
    draw(curve, random, arguments.curve)
    print(f"score {curve[-1][1]:.1f}, random play {random:.1f}; curve in {arguments.curve}")


if __name__ == "__main__":
    main()
