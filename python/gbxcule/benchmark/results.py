"""The folder of results: `results.json`, written as a whole after each run, from which an interrupted command goes on."""

import importlib.util
import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from gbxcule import _native, registration
from gbxcule.action_log import ActionLog, read, rom_sha256
from gbxcule.benchmark.play import Run, Settings
from gbxcule.benchmark.protocol import (
    EASY, EVALUATION_EPISODES, GAME_TASKS, HELD_OUT_LEVELS, PROTOCOL, TRAINING_LEVELS,
)
from gbxcule.game import EPISODE_STEPS

FILE = "results.json"


def write_text(path: Path, text: str) -> None:
    """Write a whole file, or leave the one that is there."""
    _native.write_file(os.fspath(path), text.encode())


def opened(folder: Path, settings: Settings) -> dict[str, Any]:
    """Read a folder's results, or make new ones; refuse other settings, another protocol or other ROMs."""
    path = folder / FILE
    fixed = fixed_by(settings)
    if not path.exists():
        return {**fixed, "made_with": [], "runs": []}
    try:
        results: dict[str, Any] = json.loads(path.read_text())
        is_earlier = isinstance(results["made_with"], dict)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} does not hold results of this command: give another --out") from error
    if is_earlier:
        raise SystemExit(f"{path} is of an earlier version, which did not say what made each run: give another --out")
    for name, value in fixed.items():
        if results.get(name) != value:
            raise SystemExit(f"{path} has {name} {results.get(name)}, and this command {value}: give the same, or another --out")
    return results


def fixed_by(settings: Settings) -> dict[str, Any]:
    """Return the settings and rules that all runs of a folder have in common."""
    return {
        "protocol": PROTOCOL,
        "frames": settings.frames,
        "obs": settings.obs,
        "training_levels": [TRAINING_LEVELS.start, TRAINING_LEVELS.stop],
        "held_out_levels": [HELD_OUT_LEVELS.start, HELD_OUT_LEVELS.stop],
        "episodes": EVALUATION_EPISODES,
        "episode_steps": EPISODE_STEPS,
        "ids": f"v{registration.VERSION}",
        "rom_sha256": {name: rom_sha256(name) for name in GAME_TASKS},
    }


def made_with(settings: Settings) -> dict[str, Any]:
    """Return the computer, the commit and the versions that make runs now."""
    versions = {"gbxcule": _native.version(), "python": platform.python_version()}
    for package in ("numpy", "gymnasium", "torch"):
        if importlib.util.find_spec(package):
            versions[package] = metadata.version(package)
    return {"commit": commit(), "versions": versions, "machine": machine(), "threads": settings.threads}


def commit() -> str | None:
    """Return the commit of the checkout that the package lies in, with `+` if files were changed; None without a
    checkout."""
    here = Path(__file__).resolve()
    root = next((folder for folder in here.parents if (folder / ".git").exists()), None)
    if root is None or here.relative_to(root).parts[:2] != ("python", "gbxcule"):
        return None
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+"], cwd=root, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return described.stdout.strip()


def machine() -> str:
    """Describe the processor and the system."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def add(results: dict[str, Any], run: Run, maker: dict[str, Any]) -> None:
    """Add a run; its `made_with` is the place of what made it in the list of that name."""
    makers = results["made_with"]
    if maker not in makers:
        makers.append(maker)
    results["runs"].append({**run, "made_with": makers.index(maker)})


def write(folder: Path, results: dict[str, Any]) -> None:
    """Write the results, each run on a line."""
    head = {name: value for name, value in results.items() if name != "runs"}
    runs = ",\n".join("  " + json.dumps(run) for run in results["runs"])
    write_text(folder / FILE, json.dumps(head, indent=1)[:-2] + f',\n "runs": [\n{runs}\n ]\n}}\n')


def write_games(folder: Path, run: Run, log: ActionLog) -> None:
    """Write the games behind a run's scores."""
    (folder / "games").mkdir(exist_ok=True)
    log.write(folder / "games" / f"{run['task']}-{run['agent'].replace(' ', '-')}-{run['seed']}.jsonl.gz")


def of_people(paths: list[Path]) -> list[Run]:
    """Return scores of games that people played; `gbxcule judge` must confirm each file."""
    runs = []
    for path in paths:
        judge = [sys.executable, "-m", "gbxcule", "judge", str(path), "--each"]
        judged = subprocess.run(judge, capture_output=True, text=True, check=False)
        if judged.returncode:
            raise SystemExit(f"{path} is not counted:\n{judged.stdout}{judged.stderr}".rstrip())
        rows = [line.split() for line in judged.stdout.splitlines()]
        scores = [float(row[0]) for row in rows if len(row) > 2 and row[1] in ("over", "limit")]
        if scores:
            runs.append({"task": _task_of(path), "agent": "human", "seed": path.name, "scores": scores})
    return runs


def _task_of(path: Path) -> str:
    """Return the name of the task that a judged file's games belong to."""
    log = read(path)
    variants = {log.variant, log.difficulty} - {None, "normal"}
    if variants - {"easy"}:
        raise SystemExit(f"{path} has games of the variant {log.variant}, which is no task: --human takes games without a variant, or of `easy`")
    return log.game + EASY if variants else log.game
