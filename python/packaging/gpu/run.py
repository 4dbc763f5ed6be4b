"""Run the steps of a machine with a GPU: `python3 run.py first`, then `second`, in the unpacked folder.

Each step has a limit of its own and writes what it found into OUT (`out` beside this file) at once; a step that fails
stops nothing. After BUDGET seconds no step begins. steps.txt has a line for each step, log.txt what it printed,
bench.jsonl the artifacts of `gbxcule bench`, ncu.jsonl the profiler's figures, python.jsonl what programs in Python
measured. `gbxcule report OUT` makes tables and pictures of them.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import csv
import fnmatch
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

from steps import TESTS, Plan, Step

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"
# Machine code by the compiler that made it: NVRTC 13.5, NVRTC 13.0, that of the machine.
CACHES = ["cache", "cache130", "cache_here"]
# Bytes that a step may add to the log, which has to stay below what can be carried back.
MAX_OUTPUT = 200_000
# Bytes of the profiler's own reports, packed.
MAX_REPORTS = 15_000_000
NOT_HERE, NO_TIME = -1, -2


def environment(cache: Path) -> dict[str, str]:
    """The variables of every command: this folder's command and packages, and the cache."""
    found = dict(os.environ)
    found["PATH"] = os.pathsep.join([str(HERE), found.get("PATH", os.defpath)])
    packages = [HERE / "python", HERE / "site", *filter(None, found.get("PYTHONPATH", "").split(os.pathsep))]
    found["PYTHONPATH"] = os.pathsep.join(map(str, packages))
    found.update(GBXCULE_PYTHON=sys.executable, GBXCULE_CACHE=str(cache), PYTHONUNBUFFERED="1")
    return found | {"PYTHONDONTWRITEBYTECODE": "1"}


def execute(command: list[str], limit_s: float, output: Path, variables: dict[str, str]) -> int:
    """Run a command with its children until a limit; a file gets its output at once."""
    with output.open("wb") as file:
        try:
            child = subprocess.Popen(
                command, cwd=HERE, env=variables, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
            )
        except OSError as error:
            file.write(f"{error}\n".encode())
            return 127
        try:
            return child.wait(limit_s)
        except subprocess.TimeoutExpired:
            for number in (signal.SIGTERM, signal.SIGKILL):
                os.killpg(child.pid, number)
                try:
                    child.wait(3)
                    break
                except subprocess.TimeoutExpired:
                    continue
            return 124


def shortened(output: bytes) -> str:
    """The first and the last of an output that is long."""
    if len(output) > MAX_OUTPUT:
        output = output[: MAX_OUTPUT // 2] + b"\n[...]\n" + output[-MAX_OUTPUT // 2 :]
    return output.decode(errors="replace")


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:110] if lines else ""


class Run:
    """A run: where its results lie, and how much time is left."""

    def __init__(self, out: Path, budget_s: float, small: bool) -> None:
        self.out, self.budget_s, self.small = out, budget_s, small
        self.start = time.monotonic()
        self.cache = HERE / CACHES[0]
        for folder in (out, WORK):
            folder.mkdir(parents=True, exist_ok=True)

    def passed_s(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.start

    def say(self, line: str) -> None:
        """Print a line, and add it to steps.txt."""
        print(line, flush=True)
        self.append("steps.txt", line)

    def append(self, name: str, text: str) -> None:
        """Add a line to a result."""
        with (self.out / name).open("a") as file:
            file.write(text + "\n")

    def has(self, needed: str) -> bool:
        """Tell whether a program or a package of Python is installed."""
        if not needed.startswith("python:"):
            return shutil.which(needed) is not None
        text = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{needed.removeprefix('python:')}') is None)"
        return execute([sys.executable, "-c", text], 60, WORK / "find.out", environment(self.cache)) == 0

    def do(self, step: Step) -> int:
        """Run a step and store its results."""
        left_s = self.budget_s - self.passed_s()
        if left_s < 5:
            self.say(f"{step.name:34} not tried, no time left")
            return NO_TIME
        if step.needs and not self.has(step.needs):
            self.say(f"{step.name:34} not tried, not here: {step.needs}")
            return NOT_HERE
        if step.variant and self.cache.name != CACHES[0]:
            self.say(f"{step.name:34} not tried, not here: its machine code is NVRTC 13.5's")
            return NOT_HERE
        cache = HERE / "variants" / step.variant if step.variant else self.cache
        command, output = list(step.command), WORK / f"{step.name}.out"
        if step.leaves == "bench" or step.leaves == "profile":
            shutil.rmtree(WORK / step.name, ignore_errors=True)
            command += ["--out", f"work/{step.name}"]
        # Simulated machines take their time.
        limit_s = step.limit_s * (40 if self.small else 1)
        begun, before = time.monotonic(), set(cache.glob("*.cubin"))
        code = execute(command, min(limit_s, left_s), output, environment(cache) | step.environment)
        took_s = time.monotonic() - begun
        text = shortened(output.read_bytes())
        self.append("log.txt", f"=== {step.name}: {' '.join(command)}\n{text}")
        try:
            found = self.keep(step)
        except (OSError, ValueError, KeyError) as error:
            found = f"results not read: {error!r}"
        found = found or last_line(text)
        if made := len(set(cache.glob("*.cubin")) - before):
            found += f" ({made} compiled)"
        self.say(f"{step.name:34} rc {code:<4} {took_s:6.1f} s at {self.passed_s():5.0f} s  {found}")
        return code

    def keep(self, step: Step) -> str:
        """Store what a command left; return a summary for the step's line."""
        summary = ""
        if step.leaves == "bench":
            for path in sorted((WORK / step.name).glob("*.json")):
                artifact = json.loads(path.read_text())
                self.append("bench.jsonl", json.dumps({"step": step.name, "variant": step.variant, "artifact": artifact}))
                for row in artifact["results"]:
                    opened_s = row["warm_start"]["open_s"]
                    summary = f"{row['frames_per_s']:,.0f} frames/s ± {50 * row['spread']:.0f} %, opened in {opened_s:.2f} s"
        elif step.leaves == "profile":
            summary = self.keep_profile(step.name)
        elif step.leaves == "lines":
            for line in (WORK / f"{step.name}.out").read_text(errors="replace").splitlines():
                if line.startswith('{"'):
                    self.append("python.jsonl", json.dumps({"step": step.name} | json.loads(line)))
        return summary

    def keep_profile(self, name: str) -> str:
        """Store the profiler's figures, and its report with the samples of each instruction."""
        report = WORK / f"{name}.ncu-rep"
        if not report.exists():
            return ""

        def page(kind: str, *more: str) -> str:
            command = ["ncu", "--import", str(report), "--page", kind, *more]
            return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout

        rows = list(csv.reader(io.StringIO(page("raw", "--csv"))))
        names, units, values = next((rows[at : at + 3] for at, row in enumerate(rows) if "Kernel Name" in row), ([], [], []))
        figures = {name: [value, unit] for name, unit, value in zip(names, units, values, strict=False)}
        artifact: dict[str, object] = {}
        for path in sorted((WORK / name).glob("*.json")):
            artifact = json.loads(path.read_text())["config"]
        self.append("ncu.jsonl", json.dumps({"step": name, "config": artifact, "figures": figures}))
        (WORK / f"{name}.details.txt").write_text(page("details"))
        (WORK / f"{name}.source.csv").write_text(page("source", "--csv", "--print-source", "sass"))
        kept = [file for end in ("source.csv", "details.txt", "ncu-rep") for file in sorted(WORK.glob(f"*.{end}"))]
        pack(kept, self.out / "profiles.tar.xz")
        return ", ".join(f"{key}: {figures[key][0]}" for key in ("smsp__inst_executed.sum",) if key in figures)

    def choose_cache(self) -> bool:
        """Find machine code that the driver takes: that of 13.5, else that of 13.0, else what is compiled here."""
        for name in CACHES:
            self.cache = HERE / name
            self.cache.mkdir(exist_ok=True)
            before = set(self.cache.glob("*.cubin"))
            code = self.do(Plan(small=True).bench(f"smoke_{name}", "ALU_LOOP", 1))
            made = set(self.cache.glob("*.cubin")) - before
            # Code that the driver refused was compiled anew.
            if code == 0 and (not made or name == CACHES[-1]):
                self.say(f"machine code: {name}")
                return True
        self.say("machine code: nothing runs here")
        return False


def pack(files: list[Path], archive: Path) -> None:
    """Pack files in order, as long as the archive is not too large."""
    for count in range(len(files), 0, -1):
        with tarfile.open(archive, "w:xz", preset=1) as packed:
            for file in files[:count]:
                packed.add(file, file.name)
        if archive.stat().st_size <= MAX_REPORTS:
            return


@contextlib.contextmanager
def clocks(out: Path) -> Iterator[None]:
    """Write the GPU's clocks, power and temperature into clocks.csv every two seconds."""
    what = "timestamp,clocks.current.sm,clocks.current.memory,power.draw,temperature.gpu,utilization.gpu"
    tool = shutil.which("nvidia-smi")
    if tool is None:
        yield
        return
    with (out / "clocks.csv").open("ab") as file:
        child = subprocess.Popen([tool, f"--query-gpu={what}", "--format=csv", "--loop=2"], stdout=file, stderr=file)
        try:
            yield
        finally:
            child.kill()
            child.wait()


def describe(out: Path) -> None:
    """Write a description of this machine."""
    queries = [
        ["nvidia-smi"], ["nvidia-smi", "-q", "-d", "CLOCK,MEMORY,ECC,POWER"], ["uname", "-a"], ["nproc"], ["date", "-u"],
        [sys.executable, "-c", "import sys, numpy; print(sys.version, numpy.__version__)"], ["gbxcule", "doctor"],
    ]  # fmt: skip
    for query in queries:
        execute(query, 20, WORK / "query.out", environment(HERE / CACHES[0]))
        with (out / "machine.txt").open("a") as file:
            file.write(f"$ {' '.join(query)}\n{(WORK / 'query.out').read_text(errors='replace')}\n")


def run_tests(program: str, small: bool) -> int:
    """Run the tests of a program that need a GPU, each in a process of its own; return the number that failed."""
    path = str(HERE / "tests" / program)
    listed = subprocess.run([path, "needs_cuda::", "--ignored", "--list"], capture_output=True, text=True, check=True)
    names = [line.removesuffix(": test") for line in listed.stdout.splitlines() if line.endswith(": test")]
    names = names[:2] if small else names
    limit_s = TESTS[program] * (10 if small else 1)

    def passes(name: str) -> bool:
        output = WORK / f"test_{program}_{name.rpartition(':')[2]}.out"
        command = [path, name, "--exact", "--ignored", "--test-threads=1"]
        code = execute(command, limit_s, output, dict(os.environ))
        tail = "" if code == 0 else output.read_text(errors="replace")[-2000:]
        print(f"test {name} ... {'ok' if code == 0 else f'FAILED ({code})'}\n{tail}".strip(), flush=True)
        return code == 0

    with concurrent.futures.ThreadPoolExecutor(max(2, min(8, os.cpu_count() or 2))) as pool:
        passed = list(pool.map(passes, names))
    print(f"{sum(passed)} of {len(passed)} tests passed")
    return len(passed) - sum(passed)


def chosen(words: list[str], plan: Plan) -> list[Step]:
    """The steps of `meeting`, `first` or `second`, or whose names fit a pattern, in the order of the words."""
    groups = {"meeting": list(plan.meeting()), "first": list(plan.first()), "second": list(plan.second())}
    every = [step for group in groups.values() for step in group]
    steps: list[Step] = []
    for word in words:
        found = groups.get(word) or [step for step in every if fnmatch.fnmatch(step.name, word)]
        if not found:
            sys.exit(f"no step `{word}`; there are {', '.join([*groups, *(step.name for step in every)])}")
        steps += [step for step in found if step not in steps]
    return steps


def main() -> int:
    """Read the command line and run what it names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", default=["first"], help="meeting, first, second, or names of steps such as 'equal_*'")
    parser.add_argument("--small", action="store_true", help="few machines and frames, for the stand-ins")
    parser.add_argument("--tests", choices=sorted(TESTS), help="run the tests of a program alone")
    options = parser.parse_args()
    if options.tests:
        WORK.mkdir(exist_ok=True)
        return 1 if run_tests(options.tests, options.small) else 0
    os.umask(0o022)
    budget_s = float(os.environ.get("BUDGET", 1e6 if options.small else 450))
    run = Run(Path(os.environ.get("OUT", HERE / "out")).resolve(), budget_s, options.small)
    steps = chosen(options.steps, Plan(options.small))
    describe(run.out)
    with clocks(run.out):
        if not run.choose_cache():
            return 1
        codes = {step.name: run.do(step) for step in steps}
    failed = [name for name, code in codes.items() if code > 0]
    run.say(f"not tried: {', '.join(name for name, code in codes.items() if code < 0) or 'nothing'}")
    run.say(f"end at {run.passed_s():.0f} s; failed: {', '.join(failed) or 'nothing'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
