"""Verdicts on answers from Python equal those of `gbxcule synth grade`, reward by reward."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from gbxcule.grade import Environment


def command(*words: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "gbxcule", *map(str, words)], check=True, capture_output=True)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grade")
    command("synth", "generate", "--count", 6, "--seed", 3, "--device", "cpu", "--out", folder / "rows")
    command(
        "synth", "tasks", folder / "rows", "--task", "python-to-ir", "--out", folder / "tasks.jsonl",
        "--stand-in", folder / "own.jsonl", "--mutate-every", 2,
    )  # fmt: skip
    return folder


def answers(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "own.jsonl").read_text().splitlines()]


def test_rewards_are_the_verdicts_of_the_command(dataset: Path, tmp_path: Path) -> None:
    env = Environment(dataset / "rows", task="python-to-ir")
    results = env.grade([(f"{line['task']}/{line['row']}", str(line["answer"])) for line in answers(dataset)])
    subprocess.run(
        [sys.executable, "-m", "gbxcule", "synth", "grade", dataset / "own.jsonl", "--dataset", dataset / "rows",
         "--out", tmp_path],
        check=True, capture_output=True,
    )  # fmt: skip
    graded = [json.loads(line) for line in (tmp_path / "grades.jsonl").read_text().splitlines()]
    assert [result.verdict for result in results] == [line["verdict"] for line in graded]
    assert [result.reward for result in results] == [float(line["verdict"] == "right") for line in graded]
    assert {result.verdict for result in results} > {"right"}


def test_a_step_grades_the_question_that_was_asked(dataset: Path) -> None:
    env = Environment(dataset / "rows", task="python-to-ir", rewards={"wrong result": 0.25})
    own = {line["row"]: str(line["answer"]) for line in answers(dataset)}
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        env.step("")
    seen = set()
    for seed in range(12):
        task = env.reset(seed=seed)
        assert task == env.reset(seed=seed)
        result = env.step(own[task.row])
        assert result.reward == {"right": 1.0, "wrong result": 0.25}[result.verdict]
        assert (result.counterexample is None) == (result.verdict == "right")
        seen.add(task.row)
    assert len(seen) > 1
    assert env.step("no kernel").verdict == "does not parse"


def test_a_task_has_the_words_that_the_command_writes(dataset: Path) -> None:
    env = Environment(dataset / "rows", task="python-to-ir")
    written = [json.loads(line) for line in (dataset / "tasks.jsonl").read_text().splitlines()]
    assert [task.id for task in env.tasks] == [line["custom_id"] for line in written]
    assert [task.prompt for task in env.tasks] == [line["prompt"] for line in written]
    assert [task.messages for task in env.tasks] == [line["messages"] for line in written]


def test_questions_of_all_kinds_have_right_answers(dataset: Path, tmp_path: Path) -> None:
    command(
        "synth", "tasks", dataset / "rows", "--out", tmp_path / "tasks.jsonl", "--stand-in", tmp_path / "own.jsonl"
    )  # fmt: skip
    own = [json.loads(line) for line in (tmp_path / "own.jsonl").read_text().splitlines()]
    names = {line["task"] for line in own}
    asked = {"repair-python", "predict-value"}
    assert asked <= names
    env = Environment(dataset / "rows", task=asked)
    right = [(f"{line['task']}/{line['row']}", str(line["answer"])) for line in own if line["task"] in asked]
    assert [task.id for task in env.tasks] == [name for name, _ in right]
    assert {result.verdict for result in env.grade(right)} == {"right"}


def test_rewards_for_trl_are_those_of_the_environment(dataset: Path) -> None:
    path = Path(__file__).parents[2] / "examples/training/trl_reward.py"
    spec = importlib.util.spec_from_file_location("trl_reward", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    env = Environment(dataset / "rows", task="python-to-ir", rewards={"does not parse": 0.25})
    questions = module.questions(env)
    assert [question["prompt"] for question in questions] == [task.messages for task in env.tasks]
    own = {line["row"]: str(line["answer"]) for line in answers(dataset)}
    texts = [own[task.row] for task in env.tasks] + ["no kernel"]
    names = [question["question"] for question in questions] + [env.tasks[0].id]
    wanted = [result.reward for result in env.grade(zip(names, texts, strict=True))]
    reward = module.Reward(env)
    assert reward(completions=texts, question=names, prompts=[], trainer_state=None) == wanted
    assert reward(completions=[[{"role": "assistant", "content": text}] for text in texts], question=names) == wanted
    assert {0.0, 0.25, 1.0} == set(wanted)


def test_wrong_use_says_what_there_is(dataset: Path, tmp_path: Path) -> None:
    rows = dataset / "rows"
    with pytest.raises(ValueError, match="python-to-cuda: the dataset's tasks are .*python-to-ir"):
        Environment(rows, task="python-to-cuda")
    with pytest.raises(ValueError, match="train, valid, test"):
        Environment(rows, split="all")
    with pytest.raises(ValueError, match="no verdict 'fast'"):
        Environment(rows, rewards={"fast": 2.0})
    with pytest.raises(ValueError, match="python-to-ir/17"):
        Environment(rows).grade([("python-to-ir", "")])
    with pytest.raises(ValueError, match="nowhere"):
        Environment(tmp_path / "nowhere")
