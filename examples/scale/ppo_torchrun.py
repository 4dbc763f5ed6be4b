"""PPO by all processes of a torchrun job, on one or several computers; continues bit for bit after a process was killed.

    pip install . torch
    export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
    torchrun --nproc-per-node 2 --max-restarts 3 examples/scale/ppo_torchrun.py --out runs/torchrun
    torchrun --nnodes 2 --nproc-per-node 4 --max-restarts 3 --rdzv-backend c10d --rdzv-endpoint FIRST_HOST:29500 \
        examples/scale/ppo_torchrun.py --out /shared/torchrun

Each process steps its own envs of one swarm and learns from them; gradients are averaged. Every few updates all
processes save their state into a folder that all of them see. torchrun starts all processes again if one dies; they
load the newest complete folder. A job of another size can load it, too: it divides the envs anew, and draws new chance.
The learner is the benchmark's (`gbxcule.benchmark.agent.ppo`).
The variable gives processes that are started again a new store: in a shared one Gloo finds the addresses of the dead
processes. If a host has several networks, GLOO_SOCKET_IFNAME names the network that connects the hosts.
"""

import argparse
import os
import shutil
from pathlib import Path
from typing import Any

import gbxcule
import torch
from gbxcule.benchmark.agent.ppo import PPO
from gbxcule.benchmark.protocol import TRAINING_ENVS, Played
from gbxcule.rank import Rank
from torch import distributed

GAME = "PEARL_DRIFT"


def make(envs: int) -> gbxcule.SwarmVectorEnv:
    return gbxcule.make_vec_for_rank(
        GAME, envs, obs="mean", frame_stack=2, reward=[gbxcule.Change("Score", 2, 0.2), gbxcule.Change("Hulls", 1, 1.0)], frames_per_step=12,
        max_episode_steps=400, autoreset_mode="SameStep", threads=1,
    )


class Learner(PPO):
    """The learner of one process: its own envs and chance, the weights of all."""

    env: Played

    def __init__(self, envs: int, seed: int, rank: Rank) -> None:
        torch.manual_seed(seed)
        super().__init__(Played(make(envs)), seed)
        torch.manual_seed(seed + 1 + rank.rank)
        self.optimizer.register_step_pre_hook(lambda *_: self._average_gradients())
        self.updates = 0

    @property
    def swarm(self) -> Any:
        """This process's part of the swarm."""
        return self.env.unwrapped

    def _average_gradients(self) -> None:
        """Replace each gradient by the mean of all processes'."""
        gradients = [parameter.grad for parameter in self.agent.parameters() if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(flat)
        flat /= distributed.get_world_size()
        for gradient, mean in zip(gradients, flat.split([gradient.numel() for gradient in gradients]), strict=True):
            gradient.copy_(mean.view_as(gradient))

    def keep(self, folder: Path, rank: Rank) -> None:
        """Write this process's part into a folder with the others' parts; a complete folder gets its final name."""
        unfinished = folder.with_suffix(".unfinished")
        if rank.rank == 0:
            # A job that died may have left files, perhaps of more processes.
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir(parents=True)
        distributed.barrier()
        self.swarm.checkpoint(unfinished / f"{rank.rank}.ckpt")
        own = {
            "agent": self.agent.state_dict(), "optimizer": self.optimizer.state_dict(), "seen": self.seen, "updates": self.updates,
            "steps": self.env.steps, "scores": self.env.scores, "random": torch.get_rng_state(), "world_size": rank.world_size,
        }
        torch.save(own, unfinished / f"{rank.rank}.pt")
        distributed.barrier()
        if rank.rank == 0:
            unfinished.rename(folder)
            for older in folder.parent.glob("update-*"):
                if older != folder:
                    shutil.rmtree(older)
        distributed.barrier()

    def resume(self, folder: Path, rank: Rank) -> None:
        """Load the parts that the processes of this job, or of a job of another size, wrote."""
        parts = sorted(folder.glob("*.pt"), key=lambda path: int(path.stem))
        first = torch.load(parts[0])
        self.env.close()
        if first["world_size"] == rank.world_size:
            own: dict[str, Any] = torch.load(parts[rank.rank])
            self.env = Played(gbxcule.restore(folder / f"{rank.rank}.ckpt"))
            self.seen = own["seen"]
            torch.set_rng_state(own["random"])
        else:
            own = first
            self.env = Played(gbxcule.restore([part.with_suffix(".ckpt") for part in parts]))
            seen = torch.cat([torch.load(part)["seen"] for part in parts])
            self.seen = seen[self.swarm.envs.start : self.swarm.envs.stop].clone()
            torch.manual_seed(first["updates"] * 2**16 + rank.rank)
        self.agent.load_state_dict(own["agent"])
        self.optimizer.load_state_dict(own["optimizer"])
        self.updates, self.env.steps, self.env.scores = own["updates"], own["steps"], own["scores"]


def newest(out: Path) -> Path | None:
    """The newest complete folder that the first process sees; all processes load this folder."""
    whole = [path for path in out.glob("update-*") if path.suffix != ".unfinished"]
    folder = [max(whole, key=lambda path: int(path.name.split("-")[1]), default=None)]
    distributed.broadcast_object_list(folder, src=0)
    return folder[0]


def train(out: Path, envs: int, updates: int, every: int, seed: int) -> Learner:
    rank = Rank.from_environment()
    if envs % rank.world_size:
        raise SystemExit(f"{envs} envs can't be shared evenly by {rank.world_size} processes, which take the same steps: change --envs")
    learner = Learner(envs, seed, rank)
    folder = newest(out)
    if folder is not None:
        learner.resume(folder, rank)
    while learner.updates < updates:
        learner.update(1 - learner.updates / updates)
        learner.updates += 1
        if learner.updates % every == 0 or learner.updates == updates:
            learner.keep(out / f"update-{learner.updates}", rank)
            if rank.rank == 0 and learner.env.scores:
                mean = sum(learner.env.scores) / len(learner.env.scores)
                print(f"update {learner.updates}  score {mean:.1f}", flush=True)
    return learner


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="a folder that all hosts see")
    parser.add_argument("--envs", type=int, default=TRAINING_ENVS, help="of all processes together")
    parser.add_argument("--updates", type=int, default=100)
    parser.add_argument("--every", type=int, default=5, help="updates between two states that are kept")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0") != "0" and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        raise SystemExit("start torchrun with TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1: else no process can start again")
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    try:
        train(arguments.out, arguments.envs, arguments.updates, arguments.every, arguments.seed)
    finally:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
