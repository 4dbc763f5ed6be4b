"""A part of the swarm for each process of a `torchrun` or Slurm job.

Each process steps its own machines. Env numbers and seeds continue from process to process, so that a job on four
processes plays the games that one process would. In programs `gb.env` and `gb.seed` count within a process: its first
env is 0.

`sbatch -n4 script` runs the script once, in one process that is alone: only `srun` starts four.
"""

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gbxcule.argument_check import check_options, whole
from gbxcule.option import VECTOR_NAMES, showing
from gbxcule.start import RomLike
from gbxcule.vector import SwarmVectorEnv

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gbxcule.option import Options

# Variables that launchers set: torchrun, mpirun of Open MPI, of MVAPICH, of MPICH and Intel, and
# srun. The first entry that is set counts: a launcher inside another, as mpirun in Slurm, comes
# first.
_LAUNCHERS = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"),
)


@dataclass(frozen=True)
class Rank:
    """The place of this process in a job."""

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0

    def __post_init__(self) -> None:
        for name in ("rank", "world_size", "local_rank"):
            whole(name, getattr(self, name), 0)
        if not 0 <= self.rank < self.world_size:
            raise ValueError(f"the ranks of {self.world_size} processes are 0 to {self.world_size - 1}, found {self.rank}")

    @staticmethod
    def from_environment(environment: Mapping[str, str] = os.environ) -> "Rank":
        """Read the variables that torchrun, mpirun or srun set; without any of them the process is alone."""
        launched = Rank.launched(environment)
        if launched is not None:
            return launched
        tasks = environment.get("SLURM_NTASKS", "1")
        if "SLURM_PROCID" in environment and tasks != "1":
            warnings.warn(
                f"Slurm gave this job {tasks} tasks, and srun did not start this process, so that it is alone and steps all "
                "envs: start the script by `srun`",
                stacklevel=2,
            )
        return Rank()

    @staticmethod
    def launched(environment: Mapping[str, str] = os.environ) -> "Rank | None":
        """Read a launcher's variables, or return None if none started this process."""
        for rank, world_size, local_rank in _LAUNCHERS:
            if rank in environment and world_size in environment:
                return Rank(*(_number(environment, name) for name in (rank, world_size, local_rank)))
        return None

    def share(self, total: int) -> range:
        """Return this process's range of `total` envs; the ranges are as equal as possible."""
        return range(self.rank * total // self.world_size, (self.rank + 1) * total // self.world_size)


def _number(environment: Mapping[str, str], name: str) -> int:
    value = environment.get(name, "0")
    if not value.isdecimal():
        raise ValueError(f"the environment variable {name} is a whole number, found `{value}`")
    return int(value)


class RankVectorEnv(SwarmVectorEnv):
    """The part of a swarm that one process steps."""

    def __init__(self, rom: RomLike, total: int, rank: Rank, **options: "Unpack[Options]") -> None:
        # None if the checkpoint of an older version doesn't say it.
        self.rank: Rank | None = rank
        self.envs = rank.share(total)
        super().__init__(rom, len(self.envs), **options)

    @property
    def _first_env(self) -> int:  # type: ignore[override]
        return self.envs.start


@showing(SwarmVectorEnv, VECTOR_NAMES)
def make_vec_for_rank(
    rom: RomLike = None, num_envs: int = 1, *, rank: Rank | None = None, **options: "Unpack[Options]"
) -> RankVectorEnv:
    """Make this process's part of a swarm of `num_envs` machines, according to `rank` or the launcher's variables.

    Options are those of `make_vec`. On CUDA each process takes the device of its local rank.
    """
    check_options("gbxcule.make_vec_for_rank", options, VECTOR_NAMES)
    rank = Rank.from_environment() if rank is None else rank
    if not isinstance(rank, Rank):
        raise TypeError(f"rank is a gbxcule.rank.Rank, found {rank!r}")
    envs = rank.share(whole("num_envs", num_envs, 1))
    if not envs:
        raise ValueError(f"{num_envs} envs are too few for {rank.world_size} processes")
    if options.get("device") == "cuda":
        options["device"] = f"cuda:{rank.local_rank}"
    return RankVectorEnv(rom, num_envs, rank, **options)
