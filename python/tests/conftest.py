"""Fixtures of several tests."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="session")
def on_stand_ins(tmp_path_factory):
    """Run a Python command in a child process with the stand-ins for NVIDIA's driver and NVRTC, which run CUDA text on
    the host (crates/testing/testkit/src/stand_in)."""
    compiler = os.environ.get("CXX", "c++")
    if sys.platform != "linux":
        pytest.skip("the stand-ins for NVIDIA's driver are libraries for Linux")
    if shutil.which(compiler) is None:
        pytest.skip(f"the stand-ins for NVIDIA's driver need a C++ compiler, and there is no `{compiler}`")
    folder = tmp_path_factory.mktemp("host_gpu")
    sources = ROOT / "crates/testing/testkit/src/stand_in"
    shutil.copy(ROOT / "crates/compiler/back-cxx/src/host_cuda.h", folder)
    for library, names in [
        ("libcuda.so.1", ["device.cpp", "driver.cpp", "module.cpp"]),
        ("libnvrtc.so.13", ["compiler.cpp"]),
    ]:
        files = [sources / name for name in names]
        options = ["-std=c++17", "-O1", "-shared", "-fPIC", "-pthread", "-o", folder / library]
        subprocess.run([compiler, *options, *files, "-ldl"], check=True)
    (folder / "libcuda.so").symlink_to("libcuda.so.1")
    settings = {
        "LD_LIBRARY_PATH": str(folder),
        "GBXCULE_NVRTC": str(folder / "libnvrtc.so.13"),
        "GBXCULE_CACHE": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }

    def run(*command):
        return subprocess.run(
            [sys.executable, *map(str, command)], env=os.environ | settings, capture_output=True, text=True, timeout=1800
        )

    return run
