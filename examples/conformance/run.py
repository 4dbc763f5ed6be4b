"""Run the patterns of `gradients/` by one framework, and compare each gradient with central differences.

    python run.py --with gbxcule.warp            prints wrong and refused patterns, and counts
    python run.py --with warp --hold             the same; fails if results.csv has another verdict
    python run.py --with warp --write            writes the column of results.csv

Frameworks: `gbxcule.warp`, `warp` (NVIDIA Warp), `torch`, `jax`, `quadrants`; numpy and the framework are all that it
needs. A pattern is a kernel that two threads run on two arrays of 64-bit floats, with n = 5 and m = 3, or a function
that launches kernels on them. The differences are those of the framework's own forward runs.
"""

import argparse
import csv
import importlib
import json
import pathlib
import subprocess
import sys
from collections import Counter

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
TABLE = FOLDER / "results.csv"
PAGE = FOLDER.parents[1] / "docs" / "conformance.md"
BEGIN, END = "<!-- gradients: begin -->", "<!-- gradients: end -->"
FRAMEWORKS = {
    "gbxcule.warp": "adapter_warp",
    "warp": "adapter_warp",
    "torch": "adapter_eager",
    "jax": "adapter_eager",
    "quadrants": "adapter_quadrants",
}
# Values of both arrays before the launch, and weights of the values after it; their weighted sum is
# differentiated.
ARRAYS = np.array([0.7, -1.3, 1.9, 0.4, -0.6, 1.1]), np.array([0.3, -0.2, 0.9, 0.5])
WEIGHTS = np.array([0.37, -0.81, 0.55, 0.92, -0.43, 0.68]), np.array([0.71, -0.29, 0.88, -0.64])
STEP = 1e-6
# Largest error of a right derivative, relative to the derivative or to 1.
TOLERANCE = 1e-5
SECONDS = 300
VERDICTS = ("right", "refused", "wrong")


def objective(arrays) -> float:
    return sum(float(weights @ array) for weights, array in zip(WEIGHTS, arrays, strict=True))


def differences(adapter, pattern) -> np.ndarray:
    """The gradient of the objective by both arrays, one after the other, from forward runs."""
    slopes = []
    for which, array in enumerate(ARRAYS):
        for at in range(len(array)):
            ends = []
            for step in (STEP, -STEP):
                moved = [given.copy() for given in ARRAYS]
                moved[which][at] += step
                ends.append(objective(adapter.forward(pattern, *moved)))
            slopes.append((ends[0] - ends[1]) / (2 * STEP))
    return np.array(slopes)


def judge(adapter, pattern) -> "tuple[str, str]":
    """Call a pattern's gradient `right`, `wrong` or `refused`; `-` if the framework can't run the pattern forward."""
    try:
        wanted = differences(adapter, pattern)
    except Exception as error:  # noqa: BLE001 - a framework may raise anything
        return "-", first_line(error)
    try:
        gradients = adapter.backward(pattern, *(array.copy() for array in ARRAYS), *WEIGHTS)
    except Exception as error:  # noqa: BLE001
        return "refused", first_line(error)
    apart = np.abs(np.concatenate(gradients) - wanted) / np.maximum(np.abs(wanted), 1.0)
    worst = apart.max()
    return ("right", "") if worst <= TOLERANCE else ("wrong", f"off by {worst:.2g}")


def first_line(error) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:200]


def run_file(framework: str, path: pathlib.Path, skipped: "list[str]") -> None:
    """Judge the patterns of a file in this process, which a crash of the framework ends."""
    adapter = importlib.import_module(FRAMEWORKS[framework]).Adapter(framework)
    for pattern in adapter.patterns(path):
        if pattern.name in skipped:
            continue
        print(json.dumps([pattern.name, pattern.title, "dies", ""]), flush=True)
        print(json.dumps([pattern.name, pattern.title, *judge(adapter, pattern)]), flush=True)


def run(framework: str, path: pathlib.Path) -> "dict[str, tuple[str, str, str]]":
    """Title, verdict and reason of each pattern of a file; a process that dies is started again at the next pattern."""
    rows: dict = {}
    while True:
        command = [sys.executable, __file__, "--with", framework, "--file", str(path), "--skip", ",".join(rows)]
        try:
            child = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
            text, code, error = child.stdout, child.returncode, child.stderr
        except subprocess.TimeoutExpired as late:
            text, code, error = (late.stdout or b"").decode(), None, ""
        before = len(rows)
        for line in text.splitlines():
            if line.startswith('["'):
                name, title, verdict, reason = json.loads(line)
                rows[name] = title, verdict, reason
        if code == 0:
            return rows
        if len(rows) == before:
            sys.exit(f"{path.name} by {framework}:\n{error}")


def stored() -> "dict[str, dict[str, str]]":
    if not TABLE.exists():
        return {}
    with TABLE.open(newline="") as file:
        return {row["pattern"]: row for row in csv.DictReader(file)}


def write(table: "dict[str, dict[str, str]]") -> None:
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["pattern", "title", *FRAMEWORKS], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(table.values())
    head, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{summary(table)}\n{END}{rest.split(END)[1]}")


def summary(table: "dict[str, dict[str, str]]") -> str:
    """Give the counts of each file's verdicts, a column for each framework that was run."""
    names = [name for name in FRAMEWORKS if any(row.get(name) for row in table.values())]
    files = sorted({pattern.split("/")[0] for pattern in table})
    lines = [f"| patterns | | {' | '.join(f'`{name}`' for name in names)} |", f"|---|---|{'---|' * len(names)}"]
    for stem in [*files, ""]:
        rows = [row for pattern, row in table.items() if pattern.startswith(f"{stem}/") or not stem]
        counts = [Counter(row.get(name) for row in rows) for name in names]
        cells = [" / ".join(str(each[verdict]) for verdict in VERDICTS) for each in counts]
        lines.append(f"| {stem or '**all**'} | {len(rows)} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "Right / refused / wrong."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with", dest="framework", choices=FRAMEWORKS, required=True)
    parser.add_argument("--write", action="store_true", help="write this framework's column of results.csv")
    parser.add_argument("--hold", action="store_true", help="fail where results.csv says something else")
    parser.add_argument("--file", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--skip", default="", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", help="names of files in gradients/, without .py; all if none is given")
    given = parser.parse_args()
    if given.file:
        return run_file(given.framework, given.file, given.skip.split(","))
    files = sorted(path for path in (FOLDER / "gradients").glob("*.py") if not given.files or path.stem in given.files)
    before, table, counts = stored(), {}, {"right": 0, "refused": 0, "wrong": 0, "dies": 0, "-": 0}
    changed = []
    for path in files:
        for name, (title, verdict, reason) in run(given.framework, path).items():
            pattern = f"{path.stem}/{name}"
            counts[verdict] += 1
            row = before.get(pattern, {"pattern": pattern})
            if row.get(given.framework) != verdict:
                changed.append(f"{pattern}: {row.get(given.framework)} before, {verdict} now")
            table[pattern] = row | {"title": title, given.framework: verdict}
            if verdict != "right":
                print(f"{verdict:8}{pattern}  {title}  {reason}")
    print(", ".join(f"{verdict} {count}" for verdict, count in counts.items()), f"of {sum(counts.values())}")
    if given.write:
        # A pattern that is no longer in its file is dropped.
        seen = {name.split("/")[0] for name in table}
        write({name: row for name, row in (before | table).items() if name in table or name.split("/")[0] not in seen})
    if given.hold and changed:
        sys.exit("\n".join(changed))


if __name__ == "__main__":
    main()
