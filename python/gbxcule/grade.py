"""Tasks of a dataset of kernels, and verdicts on answers: a language model's environment.

    from gbxcule.grade import Environment

    env = Environment("runs/kernels", task="python-to-ir")
    task = env.reset(seed=0)
    result = env.step(model(task.prompt))
    result.reward, result.verdict, result.message

Every answer is compiled and run as `gbxcule synth grade` does it. Verdicts follow from dataset, seed and answer alone.
"""

import json
import os
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gbxcule import _native

VERDICTS = ("right", "wrong result", "does not compile", "does not parse", "not graded")
"""The verdicts that an answer may get."""

PARTS = ("train", "valid", "test")
"""The parts of a dataset."""


class Result(NamedTuple):
    """A verdict on an answer."""

    reward: float | None
    """1 for a right answer and 0 for a wrong one, or what `rewards` says; None where there is no verdict."""
    verdict: str
    """One of `VERDICTS`."""
    counterexample: str | None
    """The first input on which a wrong result shows, with what is there and what is right."""
    message: str
    """The verdict and its reason, as a sentence for a model."""


@dataclass(frozen=True)
class Task:
    """A question about one row."""

    name: str
    row: int
    family: str
    split: str
    _grader: Any = field(repr=False, compare=False)

    @property
    def id(self) -> str:
        """Name of the question, such as `python-to-cuda/17`."""
        return f"{self.name}/{self.row}"

    @property
    def prompt(self) -> str:
        """The question as plain text, which ends with an open fence."""
        return str(self._line()["prompt"])

    @property
    def messages(self) -> list[dict[str, str]]:
        """The question as messages of a chat."""
        return list(self._line()["messages"])

    def _line(self) -> dict[str, Any]:
        return dict(json.loads(self._grader.prompt(self.name, self.row)))


class Environment:
    """Asks a question about a dataset's row in each episode; an answer ends it.

    Args:
        dataset: The dataset's folder.
        task: Only this task, or these.
        split: Only rows of this part: train, valid or test.
        seed: The seed of the inputs that answers run on, beside the stored ones.
        rewards: Rewards by verdict, such as `{"wrong result": 0.2}`; verdicts that it lacks give 1 or 0.
        workers: Threads of a batch; one for each core.
        work: Parent folder of the compilers' scratch folders.
        cuda_on_host: Run CUDA as C++ behind a header, without NVRTC, warps and races.
    """

    tasks: Sequence[Task]
    """All questions, by row."""

    def __init__(
        self,
        dataset: str | os.PathLike[str],
        *,
        task: str | Iterable[str] | None = None,
        split: str | None = None,
        seed: int = 0,
        rewards: Mapping[str, float] | None = None,
        workers: int | None = None,
        work: str | os.PathLike[str] = "runs/synth-host",
        cuda_on_host: bool = False,
    ) -> None:
        if split is not None and split not in PARTS:
            raise ValueError(f"split={split!r}: a dataset has the splits {', '.join(PARTS)}")
        unknown = [verdict for verdict in rewards or {} if verdict not in VERDICTS]
        if unknown:
            raise ValueError(f"rewards: there is no verdict {unknown[0]!r}; there are {', '.join(VERDICTS)}")
        if workers is not None and workers < 1:
            raise ValueError(f"workers={workers}: at least one thread is needed")
        self._rewards = {verdict: float(verdict == "right") for verdict in VERDICTS[:-1]} | dict(rewards or {})
        self._grader = _native.Grader(os.fspath(dataset), seed, workers or os.cpu_count() or 1, os.fspath(work), cuda_on_host)
        names = None if task is None else {task} if isinstance(task, str) else set(task)
        # The grader finds the tasks of a row only by making them.
        rows = [Task(*fields, self._grader) for fields in self._grader.tasks(names)]
        if missing := (names or set()) - {row.name for row in rows}:
            present = {name for name, *_ in self._grader.tasks()}
            raise ValueError(f"task={', '.join(sorted(missing))}: the dataset's tasks are {', '.join(sorted(present))}")
        self.tasks = [row for row in rows if split in (None, row.split)]
        if not self.tasks:
            raise ValueError(f"{os.fspath(dataset)} has no question of the task in the split {split}")
        self._random = random.Random(0)
        self._task: Task | None = None

    def __len__(self) -> int:
        return len(self.tasks)

    def reset(self, seed: int | None = None) -> Task:
        """Ask a question, drawn at random; a seed begins the drawing anew."""
        if seed is not None:
            self._random.seed(seed)
        self._task = self._random.choice(self.tasks)
        return self._task

    def step(self, answer: str) -> Result:
        """Grades an answer to the question that `reset` asked."""
        if self._task is None:
            raise RuntimeError("there is no question yet: call reset()")
        return self.grade([(self._task, answer)])[0]

    def grade(self, answers: Iterable[tuple[Task | str, str]]) -> list[Result]:
        """Grades a batch of answers on all threads, each with its task or the task's `id`."""
        named = []
        for task, text in answers:
            name, _, row = (task.id if isinstance(task, Task) else task).partition("/")
            if not row.isdecimal():
                raise ValueError(f"{task!r} does not name a question: give a task and a row, as in python-to-ir/17")
            named.append((name, int(row), text))
        return [self._result(verdict, reason) for verdict, reason in self._grader.grade(named)]

    def _result(self, verdict: str, reason: str | None) -> Result:
        counterexample = reason if verdict == "wrong result" else None
        message = f"The answer is {verdict}." if reason is None else f"{verdict}: {reason}"
        return Result(self._rewards.get(verdict), verdict, counterexample, message)
