"""A task of Inspect (pip install inspect-ai): how many of a dataset's questions a model answers right.

gbxcule synth generate --count 400 --seed 8 --device both --out runs/kernels
inspect eval examples/training/inspect_task.py -T dataset=runs/kernels -T question=find-bug --model PROVIDER/MODEL
"""

from collections.abc import Callable
from typing import Any

import anyio.to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from gbxcule.grade import Environment, Result


@scorer(metrics=[accuracy(), stderr()])
def runs_right(env: Environment) -> Callable[..., Any]:
    """Score 1 for a right answer, with the verdict's reason as the explanation."""

    async def score(state: TaskState, target: Target) -> Score:
        def grade() -> Result:
            return env.grade([(target.text, state.output.completion)])[0]

        result = await anyio.to_thread.run_sync(grade)
        if result.reward is None:
            raise RuntimeError(result.message)
        return Score(value=result.reward, answer=state.output.completion, explanation=result.message)

    return score


@task
def kernels(dataset: str, question: str = "python-to-cuda", split: str = "test", seed: int = 0) -> Task:
    """Questions of one kind about the rows of a part of a dataset."""
    env = Environment(dataset, task=question, split=split, seed=seed)
    roles = {"system": ChatMessageSystem, "user": ChatMessageUser}

    def sample(own: Any) -> Sample:
        messages = [roles[message["role"]](content=message["content"]) for message in own.messages]
        return Sample(input=messages, target=own.id, id=own.id, metadata={"family": own.family})

    return Task(dataset=MemoryDataset([sample(own) for own in env.tasks]), solver=generate(), scorer=runs_right(env))
