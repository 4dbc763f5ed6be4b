"""PPO with random network distillation (Burda et al. 2018). A network learns to predict a fixed random one; its error
on new observations is a second reward, with its own value.
"""


import torch
from torch import nn
from torch.distributions import Categorical

from gbxcule.benchmark.agent import ppo
from gbxcule.benchmark.agent.network import WIDTH, body
from gbxcule.benchmark.agent.ppo import Rows, advantages, policy_loss

EXTRINSIC, INTRINSIC = 2.0, 1.0
# Share of a batch from which the predictor learns.
SHARE = 0.25
OUTPUTS = 64


class Agent(ppo.Agent):
    """A policy, its value, and the value of rewards for new observations."""

    def __init__(self, shape: tuple[int, ...], actions: int) -> None:
        super().__init__(shape, actions)
        self.new_value = nn.Linear(WIDTH, 1)

    def values(self, seen: torch.Tensor) -> tuple[Categorical, torch.Tensor, torch.Tensor]:
        inner = self.body(seen)
        policy = Categorical(logits=self.head(inner), validate_args=False)
        return policy, self.value(inner).squeeze(-1), self.new_value(inner).squeeze(-1)


class Spread:
    """Running mean and variance of all batches that `show` was given."""

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self.mean, self.variance, self.count = torch.zeros(shape), torch.ones(shape), 1e-4

    def show(self, batch: torch.Tensor) -> None:
        count = self.count + len(batch)
        difference = batch.mean(0) - self.mean
        squares = self.variance * self.count + batch.var(0, unbiased=False) * len(batch)
        self.variance = (squares + difference.pow(2) * self.count * len(batch) / count) / count
        self.mean = self.mean + difference * len(batch) / count
        self.count = count


class RND(ppo.PPO):
    """The learner."""

    def new_agent(self, shape: tuple[int, ...], actions: int) -> Agent:
        self.target = nn.Sequential(body(shape), nn.Linear(WIDTH, OUTPUTS)).requires_grad_(False)
        self.predictor = nn.Sequential(body(shape), nn.Linear(WIDTH, OUTPUTS))
        self.seen_so_far, self.new_returns = Spread(shape), Spread()
        return Agent(shape, actions)

    def parameters(self) -> list[nn.Parameter]:
        return [*self.agent.parameters(), *self.predictor.parameters()]

    def error(self, seen: torch.Tensor) -> torch.Tensor:
        """Return the predictor's error for each observation."""
        spread = self.seen_so_far
        scaled = ((seen - spread.mean) / (spread.variance.sqrt() + 1e-8)).clamp(-5, 5)
        return (self.predictor(scaled) - self.target(scaled)).pow(2).mean(-1)

    def update(self, left: float) -> None:
        self.optimizer.set_rate(ppo.RATE * left)
        rows = self.played()
        arrived = torch.cat([rows["seen"][1:], self.seen[None]])
        self.seen_so_far.show(arrived.flatten(0, 1))
        with torch.no_grad():
            new = self.error(arrived.flatten(0, 1)).reshape(arrived.shape[:2])
            new_value = self.agent.values(rows["seen"].flatten(0, 1))[2].reshape(new.shape)
            _, following, new_following = self.agent.values(self.seen)
        # The reward for new observations is not cut off at the end of an episode.
        alive = torch.ones_like(new)
        self.new_returns.show(advantages(new, torch.zeros_like(new), torch.zeros_like(new[0]), alive).flatten())
        new = new / (self.new_returns.variance.sqrt() + 1e-8)
        advantage = advantages(rows["reward"], rows["value"], following, 1 - rows["over"])
        new_advantage = advantages(new, new_value, new_following, alive)
        rows["target"], rows["new_target"] = advantage + rows["value"], new_advantage + new_value
        rows["advantage"] = EXTRINSIC * advantage + INTRINSIC * new_advantage
        self.learn({name: column.flatten(0, 1) for name, column in rows.items()})

    def loss(self, batch: Rows) -> torch.Tensor:
        policy, value, new_value = self.agent.values(batch["seen"])
        errors = (value - batch["target"]).pow(2).mean() + (new_value - batch["new_target"]).pow(2).mean()
        distillation = self.error(batch["seen"][torch.rand(len(value)) < SHARE]).mean()
        return policy_loss(policy, batch) + 0.5 * errors + distillation
