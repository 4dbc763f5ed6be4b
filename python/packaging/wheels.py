"""Builds what is handed out: wheels, the static command, the source, a bill of materials and checksums.

`make wheels` runs it.

A wheel holds the extension and the command, built with zig as the linker so that it runs with the C library of
manylinux_2_28 (2018) and any newer one, and on Python 3.10 or newer. Those for this machine are installed into an
empty environment and tried, with each Python from 3.10 to 3.13 that is here. The static command needs no library at
all: it runs on every Linux on x86-64, without CUDA devices, which need the C library's loader.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]
# The target of the static command.
STATIC = "x86_64-unknown-linux-musl"
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
# The C library of RHEL 8, Debian 10 and Ubuntu 20.04 is as old, or newer.
COMPATIBILITY = "manylinux_2_28"
MAX_BYTES = 15 * 1000 * 1000
# Names of the files that are written.
OWN = ["*.whl", "*.tar.gz", "*.tar.xz", "*.cyclonedx.json", "SHA256SUMS"]

# zig as a C compiler for `cc-rs`, whose spelling of the target zig doesn't know.
ZIG_CC = """#!/bin/sh
for word; do
    shift
    case $word in --target=*) ;; *) set -- "$@" "$word" ;; esac
done
exec "{python}" -m ziglang cc -target x86_64-linux-musl -fno-sanitize=all "$@"
"""

# Program that must run where only the wheel and its dependencies are installed.
TRIAL = """
import gbxcule
envs = gbxcule.make_vec(num_envs=2)
envs.reset(seed=1)
print("stepped", envs.step(envs.action_space.sample())[0].shape)
"""


def run(*command: object, **variables: str) -> None:
    """Run a command of the build, with these variables of the environment; its failure ends this one."""
    # maturin asks the first `python3` for zig.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run([str(word) for word in command], cwd=ROOT, env={**os.environ, "PATH": path, **variables}, check=True)


def missing_library(target: str) -> bool:
    """Tell whether Rust has no standard library for a target."""
    query = ["rustc", "--print", "target-libdir", "--target", target]
    folder = Path(subprocess.run(query, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip())
    return not any(folder.glob("libstd-*.rlib"))


def build(target: str, out: Path) -> Path:
    """Builds the wheel of a target."""
    with tempfile.TemporaryDirectory(dir=out) as scratch:
        run(
            sys.executable, "-m", "maturin", "build", "--release", "--locked", "--zig", "--target", target,
            "--compatibility", COMPATIBILITY, "--auditwheel", "check", "--out", scratch,
        )  # fmt: skip
        (wheel,) = Path(scratch).glob("*.whl")
        return Path(shutil.move(wheel, out / wheel.name))


def build_static(out: Path) -> None:
    """Builds the static command, tries it where there is no other file, and packs it."""
    with tempfile.TemporaryDirectory(dir=out) as scratch:
        compiler = Path(scratch) / "zigcc"
        compiler.write_text(ZIG_CC.format(python=sys.executable))
        compiler.chmod(0o755)
        run(
            "cargo", "build", "--release", "--locked", "--package", "gbxcule-cli", "--bin", "gbxcule", "--target", STATIC,
            "--target-dir", ROOT / "target", CC_x86_64_unknown_linux_musl=str(compiler),
        )  # fmt: skip
        command = Path(scratch) / "gbxcule"
        shutil.copy(ROOT / "target" / STATIC / "release" / "gbxcule", command)
        version = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
        for arguments in [
            ["demo", "--env-counts", "8", "--out", "demo"],
            ["synth", "generate", "--count", "4", "--mode", "run", "--device", "cpu", "--out", "rows"],
        ]:
            clean = {"PATH": os.defpath, "HOME": scratch}
            subprocess.run([command, *arguments], cwd=scratch, env=clean, check=True)
        archive = out / f"gbxcule-{version}-{STATIC}.tar.xz"
        with tarfile.open(archive, "w:xz") as packed:
            for file in [command, ROOT / "LICENSE-APACHE", ROOT / "LICENSE-MIT"]:
                packed.add(file, f"gbxcule-{version}/{file.name}")
    print(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB")


def examine(wheel: Path) -> None:
    """Holds a wheel to its size, its command and its bill of materials, and lays the bill beside it."""
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB")
    if size > MAX_BYTES:
        raise SystemExit(f"{wheel.name} has {size} bytes, more than {MAX_BYTES}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry_points,) = [name for name in names if name.endswith(".dist-info/entry_points.txt")]
        if "gbxcule=gbxcule.__main__:main" not in archive.read(entry_points).decode().replace(" ", ""):
            raise SystemExit(f"{wheel.name} has no command `gbxcule`")
        (bill,) = [name for name in names if name.endswith(".cyclonedx.json")]
        contents = archive.read(bill)
    print(f"  {len(json.loads(contents)['components'])} components in its bill of materials (CycloneDX)")
    wheel.with_suffix(".cyclonedx.json").write_bytes(contents)


def try_out(wheel: Path) -> None:
    """Installs a wheel into empty environments and uses it."""
    there = [version for version in PYTHONS if shutil.which(f"python{version}")]
    for version in there:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([f"python{version}", "-m", "venv", folder], check=True)
            program = Path(folder) / "bin"
            # A folder without this project's files, and no variable of this process's environment.
            clean = {"PATH": os.defpath, "HOME": folder}
            for command in [
                [program / "pip", "install", "--quiet", "--disable-pip-version-check", wheel.resolve()],
                [program / "gbxcule", "--version"],
                [program / "gbxcule", "demo", "--env-counts", "8", "--out", Path(folder) / "demo"],
                [program / "gbxcule", "synth", "generate", "--count", "4", "--mode", "text", "--out", Path(folder) / "rows"],
                [program / "python", "-c", TRIAL],
            ]:
                wanted = os.environ if command[0].name == "pip" else clean
                subprocess.run([str(word) for word in command], cwd=folder, env=wanted, check=True)
        print(f"{wheel.name} works with Python {version}")
    absent = [version for version in PYTHONS if version not in there]
    if absent:
        print(f"not tried, because they are not on the PATH: Python {', '.join(absent)}")


def emptied(out: Path) -> Path:
    """Makes the folder, without what an earlier run left there; one that holds anything else is refused."""
    own = {path for pattern in OWN for path in out.glob(pattern)}
    others = set(out.iterdir()) - own if out.exists() else set()
    if others:
        raise SystemExit(f"{out} holds other files, such as {min(others).name}: choose an empty or a new folder")
    for path in own:
        path.unlink()
    out.mkdir(parents=True, exist_ok=True)
    return out


def write_checksums(out: Path) -> None:
    """Writes what `sha256sum --check` reads."""
    files = sorted(path for path in out.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (out / "SHA256SUMS").write_text("".join(lines))


def main() -> None:
    """Builds what can be built here, and says what can't and why."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "dist", help="an empty or a new folder")
    parser.add_argument("--target", action="append", choices=[*TARGETS, STATIC], help="default: all of them")
    arguments = parser.parse_args()
    out = emptied(arguments.out.resolve())
    targets = arguments.target or [*TARGETS, STATIC]
    missing = [target for target in targets if missing_library(target)]
    run(sys.executable, "-m", "maturin", "sdist", "--out", out)
    for target in targets:
        if target in missing:
            continue
        if target == STATIC:
            build_static(out)
            continue
        wheel = build(target, out)
        examine(wheel)
        if platform.system() == "Linux" and target.startswith(platform.machine()):
            try_out(wheel)
    write_checksums(out)
    print(f"in {out}: {', '.join(sorted(path.name for path in out.iterdir()))}")
    if missing:
        raise SystemExit(
            "".join(
                f"nothing for {target}: Rust's standard library for it is not installed; "
                f"`rustup target add {target}` brings it\n"
                for target in missing
            )
        )


if __name__ == "__main__":
    main()
