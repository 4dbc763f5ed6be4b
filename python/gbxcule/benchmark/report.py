"""The table and the picture of the results."""

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gbxcule import _native
from gbxcule.benchmark.play import AGENTS, RANDOM, SCRIPTED, Run
from gbxcule.benchmark.protocol import GAME_TASKS, TASKS
from gbxcule.benchmark.statistic import interquartile_mean, interval

HUMAN = "human"
NO_HUMAN = "No human has played: `--human` takes files that `gbxcule judge` accepts."


def means(runs: list[Run], task: str, agent: str) -> list[float]:
    """Return the mean score of each run of an agent in a task."""
    return [float(np.mean(run["scores"])) for run in runs if (run["task"], run["agent"]) == (task, agent)]


def cell(scores: Sequence[float]) -> str:
    """Write an interquartile mean with its interval."""
    if not scores:
        return ""
    middle = f"{float(interquartile_mean(scores)):,.0f}"
    if len(scores) == 1:
        return middle
    low, high = interval([scores])
    return f"{middle} ({low:,.0f}-{high:,.0f})"


def seeds(runs: list[Run], agent: str) -> str:
    """Return the number of seeds of an agent in its games, such as 5, or 3-5 where games have different numbers."""
    counts = {count for task in TASKS if (count := len(means(runs, task, agent)))}
    return "-".join(str(count) for count in sorted({min(counts), max(counts)}))


def normalised(runs: list[Run], task: str, agent: str) -> list[float]:
    """Scale runs from random play, 0, to the scripted player, 100; return none if one of the two is missing."""
    low, high = means(runs, task, RANDOM), means(runs, task, SCRIPTED)
    if not low or not high:
        return []
    first, last = float(np.mean(low)), float(np.mean(high))
    return [100 * (score - first) / (last - first) for score in means(runs, task, agent)]


def table(results: dict[str, Any], people: list[Run]) -> str:
    """Write the scores of each task, and below them normalised scores over all games that every agent played."""
    runs = results["runs"] + people
    agents = [agent for agent in AGENTS if any(run["agent"] == agent for run in runs)]
    shown = [*agents, HUMAN] if people else agents
    lines = ["| game | " + " | ".join(shown) + " |", "|---|" + "---:|" * len(shown)]
    lines.append("| seeds | " + " | ".join(seeds(runs, agent) for agent in shown) + " |")
    for task in TASKS:
        if any(run["task"] == task for run in runs):
            cells = [cell(means(runs, task, agent)) for agent in shown]
            lines.append(f"| {task} | " + " | ".join(cells) + " |")
    lines += ["", *normalised_table(runs, [agent for agent in agents if agent not in (RANDOM, SCRIPTED)])]
    return "\n".join(lines + ([] if people else ["", NO_HUMAN])) + "\n"


def normalised_table(runs: list[Run], agents: list[str]) -> list[str]:
    lines = ["| agent | games | normalised |", "|---|---|---:|"]
    for agent in agents:
        strata = {task: normalised(runs, task, agent) for task in GAME_TASKS}
        strata = {task: scores for task, scores in strata.items() if scores}
        if strata:
            low, high = interval(list(strata.values()))
            middle = float(interquartile_mean(np.concatenate(list(strata.values()))))
            games = "all" if len(strata) == len(GAME_TASKS) else ", ".join(strata)
            # Resamples of one seed are all equal.
            width = f" ({low:.1f}-{high:.1f})" if any(len(scores) > 1 for scores in strata.values()) else ""
            lines.append(f"| {agent} | {games} | {middle:.1f}{width} |")
    return lines


def plot(results: dict[str, Any], path: Path) -> None:
    """Draw curves of the training: the interquartile mean and the range of the seeds, beside the scores of the random
    and the scripted player in the held-out levels."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    runs = results["runs"]
    tasks = [task for task in TASKS if any(run["task"] == task for run in runs)]
    figure, panels = pyplot.subplots(-(-len(tasks) // 4), min(4, len(tasks)), squeeze=False, figsize=(14, 6), layout="constrained")
    for axes in panels.flat[len(tasks) :]:
        axes.set_axis_off()
    lines: dict[str, Any] = {}
    for axes, task in zip(panels.flat, tasks, strict=False):
        for number, agent in enumerate(AGENTS):
            curves = [np.array(run["curve"]) for run in runs if (run["task"], run["agent"]) == (task, agent) and run.get("curve")]
            if curves:
                first, last = max(curve[0, 0] for curve in curves), min(curve[-1, 0] for curve in curves)
                frames = np.linspace(first, max(first, last), 100)
                scores = np.array([np.interp(frames, curve[:, 0], curve[:, 1]) for curve in curves])
                (lines[agent],) = axes.plot(frames / 1e6, interquartile_mean(scores, 0), color=f"C{number}")
                axes.fill_between(frames / 1e6, scores.min(0), scores.max(0), color=f"C{number}", alpha=0.2, linewidth=0)
        for agent, style in ((RANDOM, "--"), (SCRIPTED, "-")):
            if scores_of := means(runs, task, agent):
                lines[agent] = axes.axhline(np.mean(scores_of), color="gray", linestyle=style)
        axes.set_yscale("symlog", linthresh=10)
        axes.set(title=task, xlabel="million frames", ylabel="score", ylim=(0, None))
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=len(lines))
    picture = io.BytesIO()
    figure.savefig(picture, dpi=110, format="png")
    _native.write_file(os.fspath(path), picture.getvalue())
    pyplot.close(figure)
