"""Rehearse a run without a GPU: `make gpu-rehearsal`, or with STEPS="second". Its status is 0 if no step failed; the
last lines name the steps that could not be tried here.

The archive is unpacked in a folder of its own and run there small, on the stand-in for the driver and simulated machine
code: without the checkout, which an empty folder hides, without this environment's variables and without a network, as
far as this machine allows each. Machine code that was compiled although the archive should hold it fails the rehearsal.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RUNS = ROOT / "runs"
# Steps whose kernels are not those of built-in ROMs: they are compiled where they run.
COMPILES = ("tests_", "foundry", "smoke_")


def interpreter(version: str) -> tuple[Path, str]:
    """The Python of a version, else that of which this one was made, and its version."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    folders += sorted(Path.home().glob(f".pyenv/versions/{version}*/bin"))
    for candidate in (folder / f"python{version}" for folder in folders):
        if candidate.exists() and subprocess.run([candidate, "--version"], capture_output=True, check=False).returncode == 0:
            return candidate, version
    found, own = Path(sys.base_prefix) / "bin/python3", f"{sys.version_info[0]}.{sys.version_info[1]}"
    print(f"no Python {version} is here: {found} runs, for which the archive has no PyBoy")
    return found, own


def add_numpy(version: str, site: Path) -> None:
    """NumPy, which a machine with PyTorch has."""
    blocks = (ROOT / "requirements/oracle.txt").read_text().split("\nnumpy==")
    newest = "numpy==" + blocks[-1].split("\n    #")[0].split("\npyboy==")[0]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(newest.rstrip(" \\\n") + "\n")
        file.flush()
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
             "--require-hashes", "--only-binary", ":all:", "--python-version", version, "--target", site, "-r", file.name],
            check=True,
        )  # fmt: skip


def stand_ins(folder: Path, nvidia: Path) -> dict[str, str]:
    """Copy the stand-in for the driver, the simulator, NVRTC and its disassembler; return variables that name them."""
    shutil.copytree(RUNS / "host_gpu", folder, ignore=shutil.ignore_patterns("cache"))
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    simulator = shutil.copy2(built / "release/libgbxcule_gpu_sim.so", folder)
    for library in nvidia.rglob("libnvrtc*"):
        shutil.copy2(library, folder)
    (nvdisasm,) = list(nvidia.rglob("nvdisasm"))[:1]
    shutil.copy2(nvdisasm, folder)
    return {
        "LD_LIBRARY_PATH": str(folder), "GBXCULE_NVRTC": str(folder / "libnvrtc.so.13"), "HOST_GPU_ARCH": "90",
        "HOST_GPU_SASS": str(simulator), "HOST_NVDISASM": str(folder / "nvdisasm"), "PATH": "/usr/bin:/bin",
    }  # fmt: skip


def hidden(command: list[str]) -> list[str]:
    """A command that sees neither the checkout nor a network, as far as this machine allows."""
    text = f'mount -t tmpfs none {ROOT} && exec "$@"'
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    for wrapper in (["unshare", *user, "--net", "--mount", "sh", "-c", text, "sh"], ["unshare", *user, "--net"]):
        if shutil.which("unshare") and subprocess.run([*wrapper, "true"], capture_output=True, check=False).returncode == 0:
            return [*wrapper, *command]
        print(f"not allowed here: {' '.join(wrapper)}")
    return command


def compiled(steps: str) -> list[str]:
    """Steps that compiled a kernel of a built-in ROM: the archive lacks its machine code."""
    lines = [line.split()[0] for line in steps.splitlines() if " compiled" in line]
    return [name for name in lines if not name.startswith(COMPILES)]


def main() -> int:
    """Unpacks, runs, and shows what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default="3.12")
    parser.add_argument("--nvidia", type=Path, required=True, help="folder of NVIDIA's wheels")
    parser.add_argument("steps", nargs="*", default=["meeting", "first", "second"])
    parser.add_argument("--torch", type=Path, help="folder of packages with PyTorch for that Python: else `ppo` is not tried")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpu-rehearsal-") as name:
        folder = Path(name) / "gpu"
        folder.mkdir()
        subprocess.run(["tar", "--no-same-owner", "-xJf", RUNS / "gpu.tar.xz", "-C", folder], check=True)
        python, version = interpreter(options.python)
        add_numpy(version, folder / "site")
        variables = stand_ins(Path(name) / "stand_ins", options.nvidia)
        if options.torch:
            variables["PYTHONPATH"] = str(options.torch.resolve())
        command = [str(python.resolve()), "run.py", "--small", *options.steps]
        done = subprocess.run(hidden(command), cwd=folder, env=variables, check=False)
        kept = RUNS / "gpu_rehearsal"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder / "out", kept)
        # The next archive has the code that was made here.
        for code in (file for file in (folder / "cache").iterdir() if not (RUNS / "gpu_code/cache" / file.name).exists()):
            shutil.copy2(code, RUNS / "gpu_code/cache")
    missing = compiled((kept / "steps.txt").read_text())
    if missing:
        print(f"the archive had no machine code for {', '.join(missing)}: it is in runs/gpu_code now, make gpu-folder again")
    print(f"results: {kept}")
    return done.returncode or len(missing) > 0


if __name__ == "__main__":
    sys.exit(main())
