"""NVIDIA Warp behind the framed protocol: kernels as source text in, memory after their launches out.

Warp wants to read a kernel's source from a file, so the text goes to a temporary one. All kernels of a text
share one module and one run of clang, which takes most of the time: send many kernels at once. The module is
named by the text's hash, so that Warp's own cache on disk finds it again.
"""

import ctypes
import hashlib
import importlib.metadata
import importlib.util
import platform
import struct
import tempfile
import time
from pathlib import Path

import warp as wp

from gbxcule.oracle import framing

MODULES: "dict[tuple[str, bool], object]" = {}


def hello(header: dict, payload: bytes) -> "tuple[dict, bytes]":
    """Who answers."""
    return {
        "protocol": framing.PROTOCOL_VERSION,
        "warp": importlib.metadata.version("warp-lang"),
        "python": platform.python_version(),
    }, b""


def load(source: str, backward: bool):
    """The Python module of a text, kept from one launch to the next."""
    key = (source, backward)
    if key not in MODULES:
        name = "text_" + hashlib.sha256(f"{backward}\n{source}".encode()).hexdigest()[:16]
        path = Path(tempfile.mkdtemp(prefix="gbxcule-")) / f"{name}.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        wp.config.enable_backward = backward
        spec.loader.exec_module(module)
        wp.load_module(wp.get_module(name), device="cpu")
        MODULES[key] = module
    return MODULES[key]


class Actual:
    """One argument: bytes that Warp reads, and changes if they are an array's."""

    def __init__(self, declared, given: dict, payload: bytes) -> None:
        self.memory = ctypes.create_string_buffer(payload, max(len(payload), 1))
        self.size = len(payload)
        self.is_array = isinstance(declared, wp.array)
        if self.is_array:
            self.value = self.array(declared, given)
        else:
            self.value = scalar_or_composite(declared, payload)

    def array(self, declared, given: dict):
        address = ctypes.addressof(self.memory)
        strides = given.get("strides")
        return wp.array(
            ptr=address + given.get("offset", 0),
            dtype=declared.dtype,
            shape=tuple(given["shape"]),
            strides=tuple(strides) if strides else None,
            device="cpu",
        )

    def bytes_after(self) -> bytes:
        return self.memory.raw[: self.size] if self.is_array else b""


def scalar_or_composite(declared, payload: bytes):
    if hasattr(declared, "ctype"):  # a struct
        instance = declared()
        ctypes.memmove(ctypes.addressof(instance._ctype), payload, len(payload))
        return instance
    if issubclass(declared, ctypes.Array):
        return declared.from_buffer_copy(payload)
    if declared in (bool, wp.bool):
        return bool(payload[0])
    if declared is wp.float16:
        return wp.float16(struct.unpack("<e", payload)[0])
    if declared is wp.bfloat16:
        return wp.bfloat16(struct.unpack("<f", b"\0\0" + payload)[0])
    return declared(declared._type_.from_buffer_copy(payload).value)


def run(header: dict, payload: bytes) -> "tuple[dict, bytes]":
    """Compile a text and launch kernels of it; the arrays of all launches come back, in order."""
    begin = time.perf_counter()
    module = load(header["source"], header.get("backward", False))
    compiled = time.perf_counter()
    results, at = [], 0
    for launch in header["launches"]:
        kernel = getattr(module, launch["kernel"])
        actuals = []
        for argument, given in zip(kernel.adj.args, launch["arguments"], strict=True):
            part = payload[at : at + given["bytes"]]
            at += given["bytes"]
            actuals.append(Actual(argument.type, given, part))
        wp.launch(kernel, dim=tuple(launch["dims"]), inputs=[actual.value for actual in actuals], device="cpu")
        results += [actual.bytes_after() for actual in actuals]
    times = {"compile_s": compiled - begin, "launch_s": time.perf_counter() - compiled}
    return {"sizes": [len(result) for result in results], **times}, b"".join(results)


def commands() -> "dict[str, framing.Command]":
    wp.config.quiet = True
    wp.init()
    return {"hello": hello, "run": run}
