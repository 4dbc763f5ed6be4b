"""Helpers for tests, which Warp has in `warp.tests.unittest_utils`."""

import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gbxcule.warp.array_memory import array
from gbxcule.warp.array_factory import zeros_like
from gbxcule.warp.device import Device, get_devices
from gbxcule.warp.program import Kernel, launch


def get_test_devices(mode: str | None = None) -> list[Device]:
    """List the devices that tests run on."""
    return get_devices()


def get_cpu_test_devices() -> list[Device]:
    """List the CPU."""
    return get_devices()


def get_cuda_test_devices(mode: str | None = None) -> list[Device]:
    """Return an empty list: tests run on no CUDA device."""
    return []


get_selected_cuda_test_devices = get_cuda_test_devices


class StreamCapture:
    """Captures the text that the process writes to a stream between `begin` and `end`."""

    def __init__(self, stream_name: str) -> None:
        self._name = stream_name

    def begin(self) -> None:
        """Redirect the stream to a temporary file."""
        self._before = getattr(sys, self._name)
        self._number = self._before.fileno()
        self._target = os.dup(self._number)
        self._file = io.TextIOWrapper(tempfile.TemporaryFile(buffering=0), encoding="utf-8", write_through=True)
        os.dup2(self._file.fileno(), self._number)
        setattr(sys, self._name, self._file)

    def end(self) -> str:
        """Redirect the stream back; return its text."""
        os.dup2(self._target, self._number)
        os.close(self._target)
        setattr(sys, self._name, self._before)
        with self._file as file:
            file.seek(0)
            return file.buffer.read().decode("utf-8", "replace")


class StdOutCapture(StreamCapture):
    """Captures standard output."""

    def __init__(self) -> None:
        super().__init__("stdout")


class StdErrCapture(StreamCapture):
    """Captures standard error."""

    def __init__(self) -> None:
        super().__init__("stderr")


class CheckOutput:
    """Context manager that checks that a block of a test prints nothing."""

    def __init__(self, test: Any) -> None:
        self._test, self._capture = test, StdOutCapture()

    def __enter__(self) -> None:
        self._capture.begin()

    def __exit__(self, error: type[BaseException] | None, *_rest: Any) -> None:
        text = self._capture.end().strip()
        if text:
            print(text)
        if text and error is None:
            self._test.fail(f"Unexpected output:\n'{text}'")


def assert_array_equal(result: array, expect: array) -> None:
    """Fail unless two arrays are equal."""
    np.testing.assert_equal(result.numpy(), expect.numpy())


def assert_np_equal(result: Any, expect: Any, tol: float = 0.0) -> None:
    """Fail unless NumPy's arrays are equal, or differ by at most `tol`."""
    if tol:
        np.testing.assert_allclose(np.ravel(result), np.ravel(expect), rtol=1e-7, atol=tol, equal_nan=True)
    else:
        np.testing.assert_array_equal(result, expect)


def sanitize_identifier(s: Any) -> str:
    """Make an identifier from an object's text."""
    return re.sub(r"\W|^(?=\d)", "_", str(s))


def add_function_test(
    cls: type, name: str, func: Callable[..., Any], devices: Any = None, check_output: bool = True,
    device_check: Callable[..., Any] | None = None, **options: Any,
) -> None:  # fmt: skip
    """Add a function to a class of tests, once or for each device."""

    def test(device: Any) -> Callable[[Any], None]:
        def run(self: Any) -> None:
            if device_check is not None:
                device_check(self, device)
            if not check_output:
                func(self, device, **options)
                return
            with CheckOutput(self):
                func(self, device, **options)

        return run

    if devices is None:
        setattr(cls, name, test(None))
        return
    listed = list(devices) if isinstance(devices, (list, tuple)) else [devices]
    for device in listed:
        setattr(cls, f"{name}_{sanitize_identifier(device)}", test(device))
    if not listed:
        setattr(cls, name, lambda self: self.skipTest("No suitable devices to run the test."))


def add_kernel_test(
    cls: type, kernel: Kernel, dim: int | Sequence[int], name: str | None = None, expect: Any = None,
    inputs: Any = None, devices: Any = None, inputs_factory: Callable[[Any], Any] | None = None,
) -> None:  # fmt: skip
    """Add a test of a launch to a class of tests; it compares the integers in the last argument."""

    def run(test: Any, device: Any) -> None:
        given = [*((inputs_factory(device) if inputs_factory is not None else inputs) or [])]
        wanted = array(expect, dtype=int) if expect else None
        out = None if wanted is None else zeros_like(wanted)
        launch(kernel, dim=dim, inputs=given if out is None else [*given, out], device=device)
        if out is not None and wanted is not None:
            assert_array_equal(out, wanted)

    add_function_test(cls, name or kernel.key, run, get_test_devices() if devices is None else devices)
