"""PPO on the built-in game: learns to catch pearls and to leave alone what stings, on the CPU, in minutes.

    pip install . torch matplotlib
    python examples/ppo.py --minutes 5 --curve runs/ppo.png

The agent sees two reduced frames and gets the growth of the score, and a penalty for each hull lost. What is printed
and drawn is the game's own score of whole episodes, beside that of random play.
"""

import argparse
import time
from pathlib import Path

import gbxcule
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

ENVS, STEPS, EPOCHS, BATCH = 64, 64, 2, 1024
# Twelve frames a step: the submarine moves 24 pixels, half a screen in three steps.
FRAMES = 12
GAMMA, LAMBDA, CLIP, ENTROPY, RATE = 0.98, 0.95, 0.2, 0.01, 5e-4


def make(seed_envs: int) -> gbxcule.SwarmVectorEnv:
    reward = [gbxcule.Change("Score", 2, 0.2), gbxcule.Change("Hulls", 1, 1.0)]
    return gbxcule.make_vec(
        num_envs=seed_envs, obs="mean", reward=reward, frames_per_step=FRAMES, release_after_frames=FRAMES,
        max_episode_steps=400, autoreset_mode="SameStep",
    )


class Agent(nn.Module):
    def __init__(self, actions: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2, 16, 8, 4), nn.ReLU(), nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.Flatten(),
            nn.Linear(32 * 7 * 8, 256), nn.ReLU(),
        )
        self.policy, self.value = nn.Linear(256, actions), nn.Linear(256, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, seen: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        body = self.body(seen.float() / 255)
        return Categorical(logits=self.policy(body)), self.value(body).squeeze(-1)


def scores_of_random_play(episodes: int, env: gbxcule.SwarmVectorEnv) -> list[float]:
    rng, scores = np.random.default_rng(0), []
    env.reset(seed=1000)
    while len(scores) < episodes:
        infos = env.step(rng.integers(env.single_action_space.n, size=ENVS))[-1]
        if "final_info" in infos:
            scores += infos["final_info"]["score"][infos["_final_info"]].tolist()
    return scores


def train(minutes: float, env: gbxcule.SwarmVectorEnv, agent: nn.Module, frames_per_step: int) -> list[tuple[float, float]]:
    optimizer = torch.optim.Adam(agent.parameters(), RATE, eps=1e-5)
    screen = torch.from_numpy(env.reset(seed=0)[0])
    seen = torch.stack([screen, screen], 1)
    curve, recent, begun, frames = [], [], time.time(), 0
    while (elapsed := time.time() - begun) < 60 * minutes:
        rows = {name: [] for name in ("seen", "action", "chance", "value", "reward", "over")}
        for _ in range(STEPS):
            with torch.no_grad():
                policy, value = agent(seen)
                action = policy.sample()
            obs, reward, terminated, truncated, infos = env.step(action.numpy())
            over = torch.from_numpy(terminated | truncated)
            step = (seen, action, policy.log_prob(action), value, torch.from_numpy(reward), over.float())
            for column, part in zip(rows.values(), step, strict=True):
                column.append(part)
            screen = torch.from_numpy(obs)
            # A new episode has no frame before its first.
            begins = over.reshape(-1, *[1] * (screen.ndim - 1))
            seen = torch.stack([torch.where(begins, screen, seen[:, 1]), screen], 1)
            if "final_info" in infos:
                recent += infos["final_info"]["score"][infos["_final_info"]].tolist()
        frames += STEPS * ENVS * frames_per_step
        with torch.no_grad():
            following = agent(seen)[1]
        data = {name: torch.stack(column) for name, column in rows.items()}
        advantage, later = torch.zeros(STEPS, ENVS), torch.zeros(ENVS)
        for t in reversed(range(STEPS)):
            alive = 1 - data["over"][t]
            surprise = data["reward"][t] + GAMMA * alive * following - data["value"][t]
            advantage[t] = later = surprise + GAMMA * LAMBDA * alive * later
            following = data["value"][t]
        flat = {name: column.flatten(0, 1) for name, column in data.items()}
        target, advantage = (advantage + data["value"]).flatten(), advantage.flatten()
        for _ in range(EPOCHS):
            for part in torch.randperm(STEPS * ENVS).split(BATCH):
                policy, value = agent(flat["seen"][part])
                ratio = (policy.log_prob(flat["action"][part]) - flat["chance"][part]).exp()
                gain = (advantage[part] - advantage[part].mean()) / (advantage[part].std() + 1e-8)
                loss = -torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
                loss = loss + 0.5 * (value - target[part]).pow(2).mean() - ENTROPY * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        recent = recent[-100:]
        if recent:
            curve.append((frames / 1e6, float(np.mean(recent))))
            print(f"{elapsed:6.0f} s  {frames / 1e6:5.2f} M frames  score {curve[-1][1]:6.1f}", flush=True)
    return curve


def draw(curve: list[tuple[float, float]], random: float, path: Path, title: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(*zip(*curve, strict=True), label="PPO, mean of the last 100 episodes")
    axes.axhline(random, color="gray", linestyle="--", label="random play")
    axes.set(xlabel="million frames", ylabel="score", title=title, ylim=(0, None))
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--curve", type=Path, default=Path("runs/ppo.png"))
    arguments = parser.parse_args()
    env = make(ENVS)
    random = float(np.mean(scores_of_random_play(200, env)))
    print(f"random play: score {random:.1f}")
    torch.manual_seed(0)
    curve = train(arguments.minutes, env, Agent(int(env.single_action_space.n)), FRAMES)
    draw(curve, random, arguments.curve, "PEARL DRIFT")
    print(f"score {curve[-1][1]:.1f}, random play {random:.1f}; curve in {arguments.curve}")


if __name__ == "__main__":
    main()
