"""PPO whose rollouts stay on the device: actions, observations, rewards, ends and advantages are PyTorch's, in place.

    pip install . torch
    python examples/ppo_device.py --device cuda --num-envs 4096
    python examples/ppo_device.py --device cpu --total-steps 200000

The same lines run on a CUDA device and on the CPU. Between two updates nothing is copied to the host and nothing waits:
`wait_for` and `ready_on` put the machines' stream and PyTorch's in order on the device. The step after the end of an
episode begins the next episode (`NextStep`); the learner ignores this step.
"""

import argparse
import time

import gbxcule
import torch
from torch import nn


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--game", default="PEARL_DRIFT", help="a built-in game, paid and seen as its program says")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--total-steps", type=int, default=200_000)
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--num-steps", type=int, default=64, help="of each env between two updates")
    parser.add_argument("--frames-per-step", type=int, default=24)
    parser.add_argument("--max-episode-steps", type=int, default=400)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.98)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--reward-clip", type=float, default=5.0)
    parser.add_argument("--torch-threads", type=int, default=1, help="of PyTorch on the CPU: small networks gain by no more")
    return parser.parse_args()


class Agent(nn.Module):
    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.policy, self.value = nn.Linear(64, actions), nn.Linear(64, 1)
        for layer, scale in ((self.body[0], 2**0.5), (self.body[2], 2**0.5), (self.policy, 0.01), (self.value, 1.0)):
            nn.init.orthogonal_(layer.weight, scale)
            nn.init.zeros_(layer.bias)

    def forward(self, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.body(seen)
        return self.policy(hidden).log_softmax(-1), self.value(hidden).squeeze(-1)


def sample(log_probabilities: torch.Tensor) -> torch.Tensor:
    # Gumbel's trick, because `multinomial` and `Categorical` check their arguments on the host.
    return (log_probabilities - torch.empty_like(log_probabilities).exponential_().log()).argmax(-1)


class Rollout:
    """The steps of all envs between two updates, in the device's memory."""

    def __init__(self, env: gbxcule.SwarmVectorEnv, agent: Agent, args: argparse.Namespace) -> None:
        self.env, self.agent, self.args = env, agent, args
        self.arrays = {name: torch.from_dlpack(array) for name, array in env.device_arrays.items()}
        shape, device = (args.num_steps, args.num_envs), self.arrays["rewards"].device
        self.seen = torch.zeros((*shape, self.arrays["observations"].shape[1]), device=device)
        self.actions = torch.zeros(shape, dtype=torch.int64, device=device)
        self.logged, self.rewards, self.values, self.advantages = (torch.zeros(shape, device=device) for _ in range(4))
        # True where an episode ended with a step; true where the agent played the step, which did
        # not begin an episode.
        self.over, self.played = (torch.zeros(shape, dtype=torch.bool, device=device) for _ in range(2))
        self.was_over = torch.zeros(args.num_envs, dtype=torch.bool, device=device)
        # Sum of returns and number of the episodes that ended.
        self.ended = torch.zeros(2, dtype=torch.float64, device=device)
        self.stream = torch.cuda.current_stream(device) if device.type == "cuda" else None

    @torch.no_grad()
    def play(self) -> None:
        arrays, clip = self.arrays, self.args.reward_clip
        for step in range(self.args.num_steps):
            self.seen[step] = arrays["observations"]
            log_probabilities, self.values[step] = self.agent(self.seen[step])
            self.actions[step] = sample(log_probabilities)
            self.logged[step] = log_probabilities.gather(1, self.actions[step, :, None]).squeeze(1)
            self.env.wait_for(self.stream)
            self.env.step(self.actions[step])
            self.env.ready_on(self.stream)
            self.rewards[step] = arrays["rewards"].clamp(-clip, clip)
            over = self.over[step]
            torch.logical_or(arrays["terminated"], arrays["truncated"], out=over)
            self.played[step] = ~self.was_over
            self.was_over.copy_(over)
            self.ended += torch.stack([(arrays["returns"] * over).sum(), over.sum()])
        self.estimate()

    def estimate(self) -> None:
        """Generalized advantage estimation."""
        args, following = self.args, self.agent(self.arrays["observations"])[1]
        advantage = torch.zeros_like(following)
        for step in reversed(range(args.num_steps)):
            goes_on = (~self.over[step]).float()
            delta = self.rewards[step] + args.gamma * following * goes_on - self.values[step]
            advantage = delta + args.gamma * args.gae_lambda * goes_on * advantage
            self.advantages[step], following = advantage, self.values[step]


def update(rollout: Rollout, optimizer: torch.optim.Optimizer, args: argparse.Namespace) -> None:
    seen, actions = rollout.seen.flatten(0, 1), rollout.actions.flatten()
    logged, advantages, values = rollout.logged.flatten(), rollout.advantages.flatten(), rollout.values.flatten()
    goals, weights = advantages + values, rollout.played.flatten().float()
    for _ in range(args.epochs):
        for chosen in torch.randperm(len(actions), device=seen.device).chunk(args.minibatches):
            log_probabilities, value = rollout.agent(seen[chosen])
            weight = weights[chosen] / weights[chosen].sum().clamp(min=1.0)
            mean = (advantages[chosen] * weight).sum()
            spread = ((advantages[chosen] - mean).square() * weight).sum().sqrt() + 1e-8
            advantage = (advantages[chosen] - mean) / spread
            ratio = (log_probabilities.gather(1, actions[chosen, None]).squeeze(1) - logged[chosen]).exp()
            gained = torch.min(ratio * advantage, ratio.clamp(1 - args.clip, 1 + args.clip) * advantage)
            entropy = -(log_probabilities.exp() * log_probabilities).sum(-1)
            error = 0.5 * (value - goals[chosen]).square()
            loss = ((0.5 * error - gained - args.entropy * entropy) * weight).sum()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(rollout.agent.parameters(), 0.5)
            optimizer.step()


def main() -> None:
    args = arguments()
    torch.set_num_threads(args.torch_threads)
    torch.manual_seed(args.seed)
    env = gbxcule.make_vec(
        args.game, args.num_envs, obs=args.game, reward=args.game, frames_per_step=args.frames_per_step,
        max_episode_steps=args.max_episode_steps, device=args.device,
    )
    env.reset(seed=args.seed)
    agent = Agent(env.single_observation_space.shape[0], int(env.single_action_space.n)).to(args.device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    rollout = Rollout(env, agent, args)
    steps_each = args.num_steps * args.num_envs
    updates = max(1, args.total_steps // steps_each)
    begun = time.perf_counter()
    for number in range(1, updates + 1):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1.0 - (number - 1) / updates)
        rollout.play()
        update(rollout, optimizer, args)
        # The only place at which an update waits.
        returns, episodes = rollout.ended.tolist()
        rollout.ended.zero_()
        seconds = time.perf_counter() - begun
        steps = number * steps_each
        mean = returns / episodes if episodes else float("nan")
        print(
            f"steps={steps} episodes={episodes:.0f} return={mean:.2f} steps/s={steps / seconds:.0f} "
            f"frames/s={steps * args.frames_per_step / seconds:.0f}", flush=True,
        )
    env.close()


if __name__ == "__main__":
    main()
