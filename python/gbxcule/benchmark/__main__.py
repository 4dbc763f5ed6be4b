"""`python -m gbxcule.benchmark`: plays the benchmark, and writes its table and picture.

    pip install gbxcule[benchmark]
    python -m gbxcule.benchmark --out runs/benchmark --frames 1e6
    python -m gbxcule.benchmark --out runs/quick --frames 0 --agents random scripted --games PEARL_DRIFT

The folder gets results.json after each run, its games as files for `gbxcule.action_log`, at last table.md and curves.png. The same command goes on where it was interrupted.
"""

import argparse
import importlib.util
import itertools
import sys
from pathlib import Path

import numpy as np

from gbxcule.benchmark import report, results
from gbxcule.benchmark.play import AGENTS, SCRIPTED, Settings, run
from gbxcule.benchmark.protocol import GAME_TASKS, OBSERVATIONS, SEEDS, TASKS, Task


def whole_number(text: str) -> int:
    """Parse a number such as 1e6."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number.is_integer() or number < 0:
        raise argparse.ArgumentTypeError(f"give a whole number, such as 1e6 or 10000000, found {text}")
    return int(number)


def positive(text: str) -> int:
    """Parse a number from 1 on."""
    number = whole_number(text)
    if number == 0:
        raise argparse.ArgumentTypeError("give a number from 1 on, found 0")
    return number


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m gbxcule.benchmark", formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__
    )
    parser.add_argument("--out", type=Path, default=Path("runs/benchmark"), help="folder of the results")
    parser.add_argument("--frames", type=whole_number, default=1_000_000, help="frames that each agent is trained for")
    parser.add_argument("--obs", choices=OBSERVATIONS, default="features", help="what agents see")
    parser.add_argument("--games", nargs="+", default=GAME_TASKS, choices=TASKS, metavar="GAME", help=", ".join(TASKS))
    parser.add_argument("--agents", nargs="+", default=list(AGENTS), choices=AGENTS, metavar="AGENT", help=", ".join(AGENTS))
    parser.add_argument("--seeds", type=positive, default=SEEDS, help="seeds 0, 1 and so on; each is a run")
    parser.add_argument("--threads", type=positive, default=1, help="threads of a run; results do not depend on them")
    parser.add_argument("--human", nargs="+", type=Path, default=[], metavar="FILE", help="games of people, as `gbxcule judge` reads them")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Play what is missing in the folder; then write the table and the picture."""
    given = parsed(arguments)
    settings = Settings(given.frames, given.obs, given.threads)
    try:
        given.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"--out is a folder, found {given.out}: {error.strerror}") from error
    people = results.of_people(given.human)
    saved, maker = results.opened(given.out, settings), results.made_with(settings)
    done = {(row["task"], row["agent"], row["seed"]) for row in saved["runs"]}
    for seed, agent, task in itertools.product(range(given.seeds), given.agents, map(Task, given.games)):
        if (task.name, agent, seed) in done or (agent == SCRIPTED and task.difficulty != "normal"):
            continue
        row, log = run(agent, task, seed, settings)
        results.write_games(given.out, row, log)
        results.add(saved, row, maker)
        results.write(given.out, saved)
        print(f"{task.name} {agent} {seed}: score {np.mean(row['scores']):.1f}", flush=True)
    results.write_text(given.out / "table.md", report.table(saved, people))
    if importlib.util.find_spec("matplotlib"):
        report.plot(saved, given.out / "curves.png")
    else:
        print("no picture without matplotlib: pip install matplotlib", file=sys.stderr)
    print(report.table(saved, people), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
