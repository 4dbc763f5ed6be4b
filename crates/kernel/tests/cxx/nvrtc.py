"""Compiles CUDA text with NVRTC and assembles the PTX with ptxas. No GPU, no driver.

Usage: nvrtc.py NVRTC HEADER ARCH[,ARCH..] TEXT...

NVRTC is libnvrtc itself or a folder above it; ptxas is looked for in the same tree, then on PATH.
Prints one line for each text and architecture, and what went wrong; exits with 1 if anything did.
"""

import ctypes
import pathlib
import shutil
import subprocess
import sys
import tempfile


def find(place):
    place = pathlib.Path(place).resolve()
    libraries = [place] if place.is_file() else sorted(place.rglob("libnvrtc.so*"))
    if not libraries:
        sys.exit(f"no libnvrtc.so below {place}")
    for folder in [place if place.is_dir() else place.parent, *libraries[0].parents]:
        found = next((path for path in folder.glob("bin/ptxas")), None) or next(
            (path for path in folder.glob("ptxas")), None
        )
        if found:
            return ctypes.CDLL(str(libraries[0])), str(found)
    ptxas = shutil.which("ptxas")
    if not ptxas:
        sys.exit("no ptxas beside libnvrtc nor on PATH: it is in the package nvidia-cuda-nvcc")
    return ctypes.CDLL(str(libraries[0])), ptxas


def ptx(nvrtc, text, header, arch):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    headers = (ctypes.c_char_p * 1)(header.encode())
    names = (ctypes.c_char_p * 1)(b"gbxcule.h")
    created = nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"text.cu", 1, headers, names)
    assert created == 0, created
    options = [f"--gpu-architecture=compute_{arch}".encode(), b"--std=c++17", b"--fmad=false"]
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    measure, read = (
        (nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog) if failed else (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    )
    measure(program, ctypes.byref(size))
    result = ctypes.create_string_buffer(size.value)
    read(program, result)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return (None, result.value.decode()) if failed else (result.value.decode(), "")


def main(place, header, archs, texts):
    nvrtc, ptxas = find(place)
    header = pathlib.Path(header).read_text()
    wrong = 0
    for text in texts:
        for arch in archs.split(","):
            assembly, log = ptx(nvrtc, pathlib.Path(text).read_text(), header, arch)
            if assembly is not None:
                with tempfile.TemporaryDirectory() as folder:
                    path = pathlib.Path(folder, "text.ptx")
                    path.write_text(assembly)
                    command = [ptxas, "--gpu-name", f"sm_{arch}", "-O1", str(path), "-o", str(path) + ".cubin"]
                    run = subprocess.run(command, capture_output=True, text=True)
                    log = run.stdout + run.stderr if run.returncode else ""
            print(f"{'FAILED' if log else 'ok'} sm_{arch} {text}")
            if log:
                wrong += 1
                print(log)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:4], sys.argv[4:])
