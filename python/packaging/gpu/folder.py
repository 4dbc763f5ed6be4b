"""Make what a machine with a GPU needs besides its driver: the folder runs/gpu and the archive runs/gpu.tar.xz.

`make gpu-folder` runs it. The folder holds the command, the extension, the tests that need a GPU, PyBoy and Gymnasium
for the machine's Python, rows of the foundry, machine code for sm_90, and `run.py`, which runs the steps of `steps.py`.

No GPU is needed for the machine code. The commands of the steps run small with the stand-in for the driver, which loads
code and launches nothing, and with NVIDIA's own compiler; what it makes is kept in runs/gpu_code, and made once.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from steps import Plan, Step
from variants import VARIANTS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
RUNS = ROOT / "runs"
FOLDER, ARCHIVE, CODE = RUNS / "gpu", RUNS / "gpu.tar.xz", RUNS / "gpu_code"
MAX_BYTES = 45_000_000
ARCH = 90
TESTS = {"cuda": "runtime", "device": "swarm"}
PLATFORMS = ["manylinux_2_28_x86_64", "manylinux2014_x86_64", "manylinux_2_17_x86_64", "any"]
# NVRTC compiles on one core; two at a time fit the memory of a small machine.
COMPILERS = 2
LIMIT_S = 1200


def run(*command: object, **options: object) -> None:
    """Run a command of the build; its failure ends this one."""
    subprocess.run([str(word) for word in command], cwd=ROOT, check=True, **options)  # type: ignore[call-overload]


def built(*arguments: str) -> list[dict[str, object]]:
    """Build with cargo; return its message about each product."""
    command = ["cargo", *arguments, "--release", "--message-format=json-render-diagnostics"]
    printed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return [message for message in messages if message["reason"] == "compiler-artifact"]


def copy_stripped(source: Path, target: Path) -> None:
    """Copy a program or a library without its symbols."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
    run("strip", "--strip-unneeded", target)


def copy_programs() -> None:
    """The command, the extension, the tests."""
    for product in built("build", "--package", "gbxcule-cli", "--package", "gbxcule-python"):
        name, files = product["target"]["name"], [Path(file) for file in product["filenames"]]  # type: ignore[index]
        if name == "gbxcule" and product["executable"]:
            copy_stripped(Path(str(product["executable"])), FOLDER / "gbxcule")
        for file in files:
            if file.name == "libgbxcule_native.so":
                copy_stripped(file, FOLDER / "python/gbxcule/_native.abi3.so")
    packages = [word for name in TESTS.values() for word in ("--package", f"gbxcule-{name}")]
    tests = [word for name in TESTS for word in ("--test", name)]
    for product in built("test", "--no-run", *packages, *tests):
        name = product["target"]["name"]  # type: ignore[index]
        if name in TESTS and product["profile"]["test"]:  # type: ignore[index]
            copy_stripped(Path(str(product["executable"])), FOLDER / "tests" / TESTS[name])


def copy_files() -> None:
    """Python's files, rows of the foundry, the steps, examples that they run."""
    package = FOLDER / "python/gbxcule"
    shutil.copytree(ROOT / "python/gbxcule", package, ignore=shutil.ignore_patterns("__pycache__", "*.so"), dirs_exist_ok=True)
    shutil.copytree(ROOT / "examples/dataset", FOLDER / "dataset")
    for name in ("run.py", "steps.py", "variants.py", "torch_check.py"):
        shutil.copy2(HERE / name, FOLDER)
    for example in (ROOT / "examples").glob("ppo_device.py"):
        (FOLDER / "examples").mkdir(exist_ok=True)
        shutil.copy2(example, FOLDER / "examples")


def copy_packages(python: str) -> None:
    """PyBoy and Gymnasium for a version of Python, without what only a compiler or a browser reads."""
    wheels = RUNS / f"gpu_wheels_{python}"
    run(
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes",
        "--only-binary", ":all:", "--python-version", python, "--implementation", "cp",
        *[word for platform in PLATFORMS for word in ("--platform", platform)],
        "--requirement", "requirements/gpu.txt", "--dest", wheels,
    )  # fmt: skip
    site = FOLDER / "site"
    for wheel in sorted(wheels.glob("*.whl")):
        shutil.unpack_archive(wheel, site, "zip")
    for pattern in ("*.c", "*.html", "*.pyx"):
        for file in site.rglob(pattern):
            file.unlink()
    for library in site.rglob("*.so"):
        run("strip", "--strip-unneeded", library)


def code_of(step: Step) -> bool:
    """Tell whether a step's own command makes machine code that no other step's does."""
    return step.command[0] == "gbxcule" and "pyboy_single" not in step.command or step.leaves == "lines"


def fill(code: Path, steps: list[Step], compiler: dict[str, str]) -> None:
    """Make the machine code that steps need, unless it is there."""
    code.mkdir(parents=True, exist_ok=True)
    kept = list(code.iterdir())
    for file in kept:
        os.utime(file, ns=(0, file.stat().st_mtime_ns))
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("GBXCULE_", "HOST_"))}
    variables |= {
        "LD_LIBRARY_PATH": str(RUNS / "host_gpu"), "HOST_GPU_LAUNCHES": "none", "HOST_GPU_ARCH": str(ARCH),
        "HOST_GPU_LEAKS": "allow", "GBXCULE_CACHE": str(code), "GBXCULE_PYTHON": sys.executable, **compiler,
        "PYTHONPATH": f"{FOLDER / 'python'}:{FOLDER / 'site'}", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip

    def make(step: Step) -> None:
        begun, before = time.monotonic(), set(code.glob("*.cubin"))
        with tempfile.TemporaryDirectory() as scratch:
            command = [str(FOLDER / "gbxcule") if word == "gbxcule" else word for word in step.command]
            command += ["--out", f"{scratch}/out"] if step.leaves == "bench" else []
            done = subprocess.run(
                command, cwd=FOLDER, env=variables, capture_output=True, text=True, timeout=LIMIT_S, check=False
            )
        made = len(set(code.glob("*.cubin")) - before)
        # Machines that do not run disagree; benches and programs in Python have no reason to fail.
        message = done.stderr.strip()[-300:] if step.leaves and done.returncode != 0 else ""
        print(f"{code.name:9} {step.name:34} {time.monotonic() - begun:6.1f} s, {made} made {message}", flush=True)

    different = {tuple(step.command): step for step in steps if code_of(step)}
    with concurrent.futures.ThreadPoolExecutor(COMPILERS) as pool:
        list(pool.map(make, different.values()))
    # Disagreements of machines that never ran.
    shutil.rmtree(FOLDER / "runs", ignore_errors=True)
    # Code that nothing read is of other sources; some file systems don't say what was read.
    read = [file for file in kept if file.exists() and file.stat().st_atime_ns > 0]
    for file in kept:
        if read and file not in read and file.exists():
            file.unlink()


def make_code(nvrtc: Path, nvrtc130: Path) -> None:
    """Machine code of two versions of NVRTC, and that of the step's variants."""
    plan = Plan(small=True)
    every = [*plan.meeting(), *plan.first(), *plan.second()]
    fill(CODE / "cache", [step for step in every if not step.variant], {"GBXCULE_NVRTC": str(nvrtc)})
    for name, edits in VARIANTS.items():
        edited = {"GBXCULE_NVRTC": str(RUNS / "host_gpu/libnvrtc_edited.so"), "HOST_NVRTC": str(nvrtc)}
        for number, (old, new) in enumerate(edits, 1):
            edited |= {f"HOST_NVRTC_FROM_{number}": old, f"HOST_NVRTC_TO_{number}": new}
        code = CODE / "variants" / name
        fill(code, [step for step in every if step.variant == name], edited)
        kernels = [(file, CODE / "cache" / file.name) for file in code.glob("*.cubin")]
        if all(plain.exists() and file.read_bytes() == plain.read_bytes() for file, plain in kernels):
            sys.exit(f"no program of the variant {name} has the texts that variants.py edits")
    # A second version is needed only for the steps that matter most.
    least = [step for step in plan.first() if not step.variant and step.leaves != "lines"]
    fill(CODE / "cache130", least, {"GBXCULE_NVRTC": str(nvrtc130)})


def pack() -> None:
    """Pack the folder. Files belong to the user who unpacks them, because stored code of other users is not loaded."""
    for name in ("cache", "cache130", "variants"):
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        if (CODE / name).exists():
            shutil.copytree(CODE / name, FOLDER / name)
    with ARCHIVE.open("wb") as file:
        command = ["tar", "--owner=0", "--group=0", "--mode=go-w", "--directory", str(FOLDER), "--create", "."]
        packed = subprocess.Popen(command, stdout=subprocess.PIPE)
        run("xz", "-6", "--threads=2", stdin=packed.stdout, stdout=file)
        if packed.wait() != 0:
            sys.exit("tar failed")
    size = ARCHIVE.stat().st_size
    print(f"{ARCHIVE}: {size / 1e6:.1f} MB, of at most {MAX_BYTES / 1e6:.0f}")
    if size > MAX_BYTES:
        sys.exit("the archive is too large")


def main() -> None:
    """Make the folder, the machine code and the archive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default="3.12", help="version of the machine's Python")
    parser.add_argument("--nvrtc", type=Path, help="library of NVRTC 13.5; without it no machine code is made")
    parser.add_argument("--nvrtc130", type=Path, help="library of NVRTC 13.0")
    options = parser.parse_args()
    begun = time.monotonic()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for make in (copy_programs, copy_files, lambda: copy_packages(options.python)):
        make()
    print(f"programs and packages: {time.monotonic() - begun:.0f} s", flush=True)
    if options.nvrtc and options.nvrtc130:
        make_code(options.nvrtc, options.nvrtc130)
        print(f"machine code: {time.monotonic() - begun:.0f} s in all", flush=True)
    pack()


if __name__ == "__main__":
    main()
