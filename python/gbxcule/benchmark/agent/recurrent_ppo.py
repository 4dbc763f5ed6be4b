"""PPO whose policy remembers: a GRU behind the body, trained through the steps of each rollout."""

from itertools import pairwise
from typing import Any

import torch
from gymnasium.vector import VectorEnv
from torch import nn
from torch.distributions import Categorical

from gbxcule.benchmark.agent.network import WIDTH, Optimizer, actions_of, body, tensor
from gbxcule.benchmark.agent.ppo import EPOCHS, MAX_GRADIENT, RATE, STEPS, adam, advantages, policy_loss
from gbxcule.benchmark.play import Policy

# Envs of a batch, with all their steps.
BATCH_ENVS = 16


class Agent(nn.Module):
    """A policy and its value, computed from an observation and a memory; an episode begins with an empty memory."""

    def __init__(self, shape: tuple[int, ...], actions: int) -> None:
        super().__init__()
        self.body, self.memory = body(shape), nn.GRU(WIDTH, WIDTH)
        self.head, self.value = nn.Linear(WIDTH, actions), nn.Linear(WIDTH, 1)
        nn.init.orthogonal_(self.head.weight, 0.01)

    def forward(
        self, seen: torch.Tensor, memory: torch.Tensor, begins: torch.Tensor
    ) -> tuple[Categorical, torch.Tensor, torch.Tensor]:
        """Go through steps, each a row of envs; also return the memory after the last step."""
        steps, envs = seen.shape[:2]
        inner = self.body(seen.flatten(0, 1)).reshape(steps, envs, WIDTH)
        # The steps between two beginnings of any env's episode are one call.
        cuts = [0, *(begins[1:].any(1).nonzero().flatten() + 1).tolist(), steps]
        states = []
        for first, end in pairwise(cuts):
            part, last = self.memory(inner[first:end], (memory * (1 - begins[first])[:, None])[None])
            states.append(part)
            memory = last[0]
        outer = torch.cat(states)
        return Categorical(logits=self.head(outer), validate_args=False), self.value(outer).squeeze(-1), memory


class RecurrentPPO:
    """The learner."""

    def __init__(self, env: VectorEnv[Any, Any, Any], seed: int) -> None:
        self.env = env
        self.seen = tensor(env.reset(seed=seed)[0])
        self.agent = Agent(tuple(self.seen.shape[1:]), actions_of(env))
        self.optimizer = Optimizer(self.agent.parameters(), adam, MAX_GRADIENT)
        self.begins, self.memory = torch.ones(env.num_envs), torch.zeros(env.num_envs, WIDTH)

    def policy(self) -> Policy:
        memory = torch.zeros(0, WIDTH)

        def act(obs: Any, begins: Any) -> Any:
            nonlocal memory
            memory = memory if len(memory) else torch.zeros(len(obs), WIDTH)
            with torch.no_grad():
                policy, _, memory = self.agent(tensor(obs)[None], memory, torch.tensor(begins).float()[None])
            return policy.sample()[0].numpy()

        return act

    def update(self, left: float) -> None:
        self.optimizer.set_rate(RATE * left)
        first = self.memory
        columns: dict[str, list[torch.Tensor]] = {}
        for _ in range(STEPS):
            with torch.no_grad():
                policy, value, self.memory = self.agent(self.seen[None], self.memory, self.begins[None])
                action = policy.sample()
            row = {"seen": self.seen, "begins": self.begins, "action": action[0]}
            row |= {"chance": policy.log_prob(action)[0], "value": value[0]}
            obs, reward, terminated, truncated, _ = self.env.step(action[0].numpy())
            self.seen, self.begins = tensor(obs), torch.tensor(terminated | truncated).float()
            row |= {"reward": torch.tensor(reward).float(), "over": self.begins}
            for name, column in row.items():
                columns.setdefault(name, []).append(column)
        rows = {name: torch.stack(column) for name, column in columns.items()}
        with torch.no_grad():
            following = self.agent(self.seen[None], self.memory, self.begins[None])[1][0]
        rows["advantage"] = advantages(rows["reward"], rows["value"], following, 1 - rows["over"])
        rows["target"] = rows["advantage"] + rows["value"]
        self.learn(rows, first)

    def learn(self, rows: dict[str, torch.Tensor], first: torch.Tensor) -> None:
        for _ in range(EPOCHS):
            for part in torch.randperm(len(first)).split(BATCH_ENVS):
                batch = {name: column[:, part] for name, column in rows.items()}
                policy, value, _ = self.agent(batch["seen"], first[part], batch["begins"])
                self.optimizer.step(policy_loss(policy, batch) + 0.5 * (value - batch["target"]).pow(2).mean())
