"""A taskset of verifiers 0.4 (pip install verifiers): questions about a dataset's rows, rewards by their verdicts.

gbxcule synth generate --count 400 --seed 8 --device both --out runs/kernels
PYTHONPATH=examples/training vf-eval verifiers_environment --env.taskset.dataset runs/kernels --env.taskset.question repair-python

The data of a task hold the name of the question; the row decides whether an answer is right.
"""

import asyncio
from collections.abc import Iterator
from functools import cache

import verifiers.v1 as vf

from gbxcule.grade import Environment


@cache
def environment(dataset: str, question: str, split: str, seed: int) -> Environment:
    """The environment of a dataset, made once in a process: its compilers stay warm."""
    return Environment(dataset, task=question, split=split, seed=seed)


class KernelsConfig(vf.TasksetConfig):
    """Choices of a taskset. Each has a default: `vf-eval` makes one without arguments first."""

    dataset: str = "runs/kernels"
    question: str = "python-to-cuda"
    split: str = "train"
    seed: int = 0


class KernelData(vf.TaskData):
    """A question, and the environment that grades answers to it."""

    environment: tuple[str, str, str, int]


class KernelTask(vf.Task[KernelData]):
    """A question, answered by one reply."""

    @vf.reward
    async def runs_right(self, trace: vf.Trace) -> float:
        """Reward 1 for a right answer. Grading runs in a thread, not in the event loop."""
        env = environment(*self.data.environment)
        result = (await asyncio.to_thread(env.grade, [(self.data.id, trace.last_reply)]))[0]
        if result.reward is None:
            raise RuntimeError(result.message)
        return result.reward


class KernelTaskset(vf.Taskset[KernelTask, KernelsConfig]):
    """All questions of one kind about the rows of a part of a dataset."""

    def load(self) -> Iterator[KernelTask]:
        """Make the tasks, one a row."""
        config = self.config
        own = (config.dataset, config.question, config.split, config.seed)
        for task in environment(*own).tasks:
            system, user = (message["content"] for message in task.messages)
            yield KernelTask(KernelData(id=task.id, prompt=user, system_prompt=system, environment=own), config.task)


__all__ = ["KernelTaskset"]
