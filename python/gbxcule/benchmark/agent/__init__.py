"""Agents that learn, one a file. PyTorch is imported when the first of them is made."""

from typing import Any

from gymnasium.vector import VectorEnv

from gbxcule.benchmark.play import Learner


def make(name: str, env: VectorEnv[Any, Any, Any], seed: int, threads: int) -> Learner:
    """Make the learner called `name` for an environment."""
    try:
        import torch
    except ImportError as error:
        raise SystemExit(f"{name} needs PyTorch: pip install torch, or leave {name} out with `--agents random scripted`") from error
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    if name == "PQN":
        from gbxcule.benchmark.agent.pqn import PQN

        return PQN(env, seed)
    if name == "recurrent PPO":
        from gbxcule.benchmark.agent.recurrent_ppo import RecurrentPPO

        return RecurrentPPO(env, seed)
    if name == "RND":
        from gbxcule.benchmark.agent.rnd import RND

        return RND(env, seed)
    from gbxcule.benchmark.agent.ppo import PPO

    return PPO(env, seed)
