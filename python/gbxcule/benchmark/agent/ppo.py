"""PPO (Schulman et al. 2017), with one set of settings for all games."""

from typing import Any

import torch
from gymnasium.vector import VectorEnv
from torch import nn
from torch.distributions import Categorical

from gbxcule.benchmark.agent.network import WIDTH, Optimizer, actions_of, body, tensor
from gbxcule.benchmark.play import Policy
from gbxcule.benchmark.protocol import GAMMA

STEPS, EPOCHS, BATCH = 32, 4, 256
LAMBDA, CLIP, ENTROPY, RATE, MAX_GRADIENT = 0.95, 0.2, 0.01, 5e-4, 0.5

Rows = dict[str, torch.Tensor]


class Agent(nn.Module):
    """A policy and its value."""

    def __init__(self, shape: tuple[int, ...], actions: int) -> None:
        super().__init__()
        self.body = body(shape)
        self.head, self.value = nn.Linear(WIDTH, actions), nn.Linear(WIDTH, 1)
        nn.init.orthogonal_(self.head.weight, 0.01)

    def forward(self, seen: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        inner = self.body(seen)
        return Categorical(logits=self.head(inner), validate_args=False), self.value(inner).squeeze(-1)


class PPO:
    """The learner. `RND` adds rewards for what is new to it."""

    def __init__(self, env: VectorEnv[Any, Any, Any], seed: int) -> None:
        self.env = env
        self.seen = tensor(env.reset(seed=seed)[0])
        self.agent = self.new_agent(tuple(self.seen.shape[1:]), actions_of(env))
        self.optimizer = Optimizer(self.parameters(), adam, MAX_GRADIENT)

    def new_agent(self, shape: tuple[int, ...], actions: int) -> Any:
        return Agent(shape, actions)

    def parameters(self) -> list[nn.Parameter]:
        return list(self.agent.parameters())

    def policy(self) -> Policy:
        def act(obs: Any, _begins: Any) -> Any:
            with torch.no_grad():
                return self.agent(tensor(obs))[0].sample().numpy()

        return act

    def update(self, left: float) -> None:
        self.optimizer.set_rate(RATE * left)
        rows = self.played()
        with torch.no_grad():
            following = self.agent(self.seen)[1]
        rows["advantage"] = advantages(rows["reward"], rows["value"], following, 1 - rows["over"])
        rows["target"] = rows["advantage"] + rows["value"]
        self.learn({name: column.flatten(0, 1) for name, column in rows.items()})

    def played(self) -> Rows:
        """Play `STEPS` steps; return their observations, actions and rewards as rows."""
        columns: dict[str, list[torch.Tensor]] = {}
        for _ in range(STEPS):
            with torch.no_grad():
                policy, value = self.agent(self.seen)
                action = policy.sample()
            row = {"seen": self.seen, "action": action, "chance": policy.log_prob(action), "value": value}
            obs, reward, terminated, truncated, _ = self.env.step(action.numpy())
            self.seen = tensor(obs)
            row |= {"reward": torch.tensor(reward).float(), "over": torch.tensor(terminated | truncated).float()}
            for name, column in row.items():
                columns.setdefault(name, []).append(column)
        return {name: torch.stack(column) for name, column in columns.items()}

    def learn(self, rows: Rows) -> None:
        for _ in range(EPOCHS):
            for part in torch.randperm(len(rows["action"])).split(BATCH):
                self.optimizer.step(self.loss({name: column[part] for name, column in rows.items()}))

    def loss(self, batch: Rows) -> torch.Tensor:
        policy, value = self.agent(batch["seen"])
        return policy_loss(policy, batch) + 0.5 * (value - batch["target"]).pow(2).mean()


def adam(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    """Return the optimizer of PPO in all its forms."""
    return torch.optim.Adam(parameters, RATE, eps=1e-5)


def advantages(reward: torch.Tensor, value: torch.Tensor, following: torch.Tensor, alive: torch.Tensor) -> torch.Tensor:
    """Return generalised advantages of steps, each a row of envs; `following` is the value after the last step."""
    advantage, later = torch.zeros_like(value), torch.zeros_like(following)
    for t in reversed(range(len(reward))):
        surprise = reward[t] + GAMMA * alive[t] * following - value[t]
        advantage[t] = later = surprise + GAMMA * LAMBDA * alive[t] * later
        following = value[t]
    return advantage


def policy_loss(policy: Categorical, batch: Rows) -> torch.Tensor:
    """Return the clipped loss of a policy, minus its entropy."""
    ratio = (policy.log_prob(batch["action"]) - batch["chance"]).exp()
    gain = (batch["advantage"] - batch["advantage"].mean()) / (batch["advantage"].std() + 1e-8)
    clipped = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
    return -clipped - ENTROPY * policy.entropy().mean()
