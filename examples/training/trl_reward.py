"""A reward for TRL (pip install trl): GRPO on a dataset's questions, each completion compiled and run.

gbxcule synth generate --count 400 --seed 8 --device both --out runs/kernels
python examples/training/trl_reward.py runs/kernels MODEL
"""

import sys
from typing import Any

from gbxcule.grade import Environment


def questions(env: Environment) -> list[dict[str, Any]]:
    """Rows for `datasets.Dataset.from_list`: the messages, and the name of the question."""
    return [{"prompt": task.messages, "question": task.id} for task in env.tasks]


class Reward:
    """A reward function: takes completions and columns of the dataset, returns a float for each completion.

    A completion without a verdict gets None, and TRL leaves it out.
    """

    __name__ = "runs_right"

    def __init__(self, env: Environment) -> None:
        self.env = env

    def __call__(self, completions: list[Any], question: list[str], **_: Any) -> list[float | None]:
        texts = [text if isinstance(text, str) else text[-1]["content"] for text in completions]
        return [result.reward for result in self.env.grade(zip(question, texts, strict=True))]


def main() -> None:
    """Train a model."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    env = Environment(sys.argv[1], task="python-to-cuda", split="train", rewards={"wrong result": 0.1})
    config = GRPOConfig(output_dir="runs/trl", num_generations=8, max_completion_length=1024)
    dataset = Dataset.from_list(questions(env))
    GRPOTrainer(model=sys.argv[2], reward_funcs=Reward(env), args=config, train_dataset=dataset).train()


if __name__ == "__main__":
    main()
