"""PQN (Gallici et al. 2024, "Simplifying Deep Temporal Difference Learning"): Q-learning of many environments at once, without
replay or target network, by a normalised network and lambda-returns."""

from typing import Any

import torch
from gymnasium.vector import VectorEnv
from torch import nn

from gbxcule.benchmark.agent.network import WIDTH, Optimizer, actions_of, body, tensor
from gbxcule.benchmark.play import Policy
from gbxcule.benchmark.protocol import GAMMA

STEPS, EPOCHS, BATCH = 32, 2, 256
LAMBDA, RATE, MAX_GRADIENT = 0.65, 5e-4, 10.0
# Shares of random actions. The share falls from first to last in the first half of the training;
# evaluations have their own.
FIRST_CHANCE, LAST_CHANCE, EVALUATION_CHANCE = 1.0, 0.05, 0.01


class PQN:
    """The learner."""

    def __init__(self, env: VectorEnv[Any, Any, Any], seed: int) -> None:
        self.env = env
        self.seen = tensor(env.reset(seed=seed)[0])
        self.actions = actions_of(env)
        self.network = nn.Sequential(body(tuple(self.seen.shape[1:]), norm=True), nn.Linear(WIDTH, self.actions))
        self.optimizer = Optimizer(self.network.parameters(), lambda them: torch.optim.RAdam(them, RATE), MAX_GRADIENT)

    def policy(self) -> Policy:
        def act(obs: Any, _begins: Any) -> Any:
            with torch.no_grad():
                return self.chosen(self.network(tensor(obs)), EVALUATION_CHANCE).numpy()

        return act

    def chosen(self, values: torch.Tensor, chance: float) -> torch.Tensor:
        """Return the best actions, of which a share is replaced by random ones."""
        random = torch.randint(self.actions, (len(values),))
        return torch.where(torch.rand(len(values)) < chance, random, values.argmax(1))

    def update(self, left: float) -> None:
        self.optimizer.set_rate(RATE * left)
        chance = max(LAST_CHANCE, FIRST_CHANCE - 2 * (1 - left) * (FIRST_CHANCE - LAST_CHANCE))
        seen, actions, rewards, alive, best = [], [], [], [], []
        for _ in range(STEPS):
            with torch.no_grad():
                values = self.network(self.seen)
            action = self.chosen(values, chance)
            seen.append(self.seen)
            actions.append(action)
            best.append(values.max(1).values)
            obs, reward, terminated, truncated, _ = self.env.step(action.numpy())
            self.seen = tensor(obs)
            rewards.append(torch.tensor(reward).float())
            alive.append(1 - torch.tensor(terminated | truncated).float())
        with torch.no_grad():
            best.append(self.network(self.seen).max(1).values)
        self.learn(torch.cat(seen), torch.cat(actions), torch.cat(lambda_returns(rewards, alive, best)))

    def learn(self, seen: torch.Tensor, actions: torch.Tensor, targets: torch.Tensor) -> None:
        for _ in range(EPOCHS):
            for part in torch.randperm(len(actions)).split(BATCH):
                values = self.network(seen[part]).gather(1, actions[part, None]).squeeze(1)
                self.optimizer.step((values - targets[part]).pow(2).mean())


def lambda_returns(
    rewards: list[torch.Tensor], alive: list[torch.Tensor], best: list[torch.Tensor]
) -> list[torch.Tensor]:
    """Return the returns of steps: a step's reward, plus a mixture of the next state's best value and the next
    return. `best` has one row more than the others, for the state after the last step."""
    later, returns = best[-1], []
    for reward, goes_on, following in zip(reversed(rewards), reversed(alive), reversed(best[1:]), strict=True):
        later = reward + GAMMA * goes_on * ((1 - LAMBDA) * following + LAMBDA * later)
        returns.append(later)
    return returns[::-1]
