"""PPO in one file, in CleanRL's manner: the loop of its `ppo.py`, on machines of this package.

    pip install . torch
    python examples/one_file_ppo.py --total-steps 60000

Gymnasium's own `RecordEpisodeStatistics` counts episodes. The step after the end of an episode is the reset
(`NextStep`, the default in both); the learner ignores this step.
"""

import argparse
import time

import gbxcule
import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="PEARL_DRIFT", help="a built-in game, paid and seen as its program says")
    parser.add_argument("--difficulty", default="normal", choices=["normal", "easy"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--total-steps", type=int, default=100_000)
    parser.add_argument("--num-envs", type=int, default=32)
    parser.add_argument("--num-steps", type=int, default=64, help="of each env between two updates")
    parser.add_argument("--num-minibatches", type=int, default=4)
    parser.add_argument("--update-epochs", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.98)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip-coef", type=float, default=0.2)
    parser.add_argument("--ent-coef", type=float, default=0.01)
    parser.add_argument("--vf-coef", type=float, default=0.5)
    parser.add_argument("--max-grad-norm", type=float, default=0.5)
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch: more wait for each other on a busy machine")
    return parser.parse_args()


def layer_init(layer: nn.Linear, std: float = 2**0.5) -> nn.Linear:
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, 0.0)
    return layer


class Agent(nn.Module):
    def __init__(self, envs: gym.vector.VectorEnv) -> None:
        super().__init__()
        inputs, actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
        self.critic = nn.Sequential(
            layer_init(nn.Linear(inputs, 64)), nn.Tanh(), layer_init(nn.Linear(64, 64)), nn.Tanh(),
            layer_init(nn.Linear(64, 1), 1.0),
        )
        self.actor = nn.Sequential(
            layer_init(nn.Linear(inputs, 64)), nn.Tanh(), layer_init(nn.Linear(64, 64)), nn.Tanh(),
            layer_init(nn.Linear(64, actions), 0.01),
        )

    def get_value(self, x: torch.Tensor) -> torch.Tensor:
        return self.critic(x).flatten()

    def get_action_and_value(self, x: torch.Tensor, action: torch.Tensor | None = None) -> tuple[torch.Tensor, ...]:
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.get_value(x)


def main() -> None:
    args = arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)

    # Here CleanRL has `gym.vector.SyncVectorEnv([make_env(..) for i in range(args.num_envs)])`.
    envs: gym.vector.VectorEnv = gbxcule.make_vec(
        args.game, args.num_envs, obs=args.game, reward=args.game, difficulty=args.difficulty, max_episode_steps=400
    )
    envs = gym.wrappers.vector.RecordEpisodeStatistics(envs)

    agent = Agent(envs)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros((*shape, *envs.single_observation_space.shape))
    actions = torch.zeros(shape, dtype=torch.long)
    logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))

    global_step, start_time = 0, time.time()
    first_obs, _ = envs.reset(seed=args.seed)
    next_obs, next_done = torch.as_tensor(first_obs), torch.zeros(args.num_envs)
    num_iterations = args.total_steps // (args.num_steps * args.num_envs)
    for iteration in range(num_iterations):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1.0 - iteration / num_iterations)
        returns_seen: list[float] = []
        for step in range(args.num_steps):
            global_step += args.num_envs
            obs[step], dones[step] = next_obs, next_done
            with torch.no_grad():
                actions[step], logprobs[step], _, values[step] = agent.get_action_and_value(next_obs)
            found, reward, terminations, truncations, infos = envs.step(actions[step].numpy())
            rewards[step] = torch.as_tensor(reward)
            next_obs, next_done = torch.as_tensor(found), torch.as_tensor(terminations | truncations).float()
            if "episode" in infos:
                returns_seen += infos["episode"]["r"][infos["_episode"]].tolist()

        with torch.no_grad():
            advantages, lastgaelam = torch.zeros(shape), torch.zeros(args.num_envs)
            nextvalues, nextdone = agent.get_value(next_obs), next_done
            for t in reversed(range(args.num_steps)):
                delta = rewards[t] + args.gamma * nextvalues * (1.0 - nextdone) - values[t]
                advantages[t] = lastgaelam = delta + args.gamma * args.gae_lambda * (1.0 - nextdone) * lastgaelam
                nextvalues, nextdone = values[t], dones[t]
            returns = advantages + values

        played = (dones == 0.0).flatten().nonzero().flatten()
        b_obs = obs.flatten(0, 1)
        b_actions, b_logprobs, b_advantages, b_returns = (x.flatten() for x in (actions, logprobs, advantages, returns))
        for _ in range(args.update_epochs):
            for mb in played[torch.randperm(len(played))].chunk(args.num_minibatches):
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb], b_actions[mb])
                ratio = (newlogprob - b_logprobs[mb]).exp()
                mb_advantages = (b_advantages[mb] - b_advantages[mb].mean()) / (b_advantages[mb].std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = -torch.min(mb_advantages * ratio, mb_advantages * clipped).mean()
                v_loss = 0.5 * ((newvalue - b_returns[mb]) ** 2).mean()
                loss = pg_loss - args.ent_coef * entropy.mean() + args.vf_coef * v_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        if returns_seen:
            speed = global_step / (time.time() - start_time)
            print(f"global_step={global_step} episodic_return={np.mean(returns_seen):.2f} SPS={speed:.0f}", flush=True)
    envs.close()


if __name__ == "__main__":
    main()
