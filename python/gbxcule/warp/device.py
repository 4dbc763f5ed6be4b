"""Devices: only the CPU. A call that asks for another device raises an error."""

import os
import platform
import sys
import warnings
from types import TracebackType
from typing import Any

import numpy as np

from gbxcule import _native
from gbxcule.warp import config
from gbxcule.warp.missing import KnownByName


class Device(KnownByName):
    """The CPU, with the attributes that programs read."""

    alias = name = "cpu"
    ordinal = -1
    arch = 0
    is_cpu, is_cuda, is_primary, is_uva = True, False, False, False
    is_mempool_supported = is_mempool_enabled = False
    is_capturing = False
    sm_count = 0
    has_context = True

    def __str__(self) -> str:
        return self.alias

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) or other == self.alias

    def __hash__(self) -> int:
        return hash(self.alias)

    @property
    def total_memory(self) -> int:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    @property
    def free_memory(self) -> int:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


DeviceLike = Device | str | None

_CPU = Device()

cuda_is_cpu = False
"""True while launches are recorded: a program that asks for a CUDA device then runs on the CPU."""


def get_device(ident: Any = None) -> Device:
    """Find a device by name; without one, the default."""
    if ident is None or isinstance(ident, Device) or str(ident) == "cpu":
        return _CPU
    if cuda_is_cpu and str(ident).startswith("cuda"):
        warnings.warn(f"the program asks for `{ident}`, and its launches are recorded on the CPU", stacklevel=2)
        return _CPU
    raise ValueError(
        f"gbxcule.warp runs on the CPU, and `{ident}` was asked for: `gbxcule.kernel` launches on CUDA devices"
    )


def set_device(ident: Any) -> None:
    """Choose the default device."""
    get_device(ident)


def get_devices() -> list[Device]:
    """List all devices."""
    return [_CPU]


def get_preferred_device() -> Device:
    """Return the device that programs use by default."""
    return _CPU


def is_cpu_available() -> bool:
    """Tell whether the CPU can be used."""
    return True


def is_device_available(device: Any) -> bool:
    """Tell whether a device can be used here."""
    return str(device) == "cpu"


def is_mempool_supported(device: Any = None) -> bool:
    """Tell whether a device has pools of memory."""
    return False


def is_mempool_enabled(device: Any = None) -> bool:
    """Tell whether a device uses pools of memory."""
    return False


def _is_reached(target_device: Any, peer_device: Any) -> bool:
    get_device(target_device)
    get_device(peer_device)
    return False


def is_mempool_access_supported(target_device: Any, peer_device: Any) -> bool:
    """Tell whether a device can reach another one's pools of memory."""
    return _is_reached(target_device, peer_device)


def is_mempool_access_enabled(target_device: Any, peer_device: Any) -> bool:
    """Tell whether a device reaches another one's pools of memory."""
    return _is_reached(target_device, peer_device)


def is_peer_access_supported(target_device: Any, peer_device: Any) -> bool:
    """Tell whether a CUDA device can reach another one's memory."""
    return _is_reached(target_device, peer_device)


def is_peer_access_enabled(target_device: Any, peer_device: Any) -> bool:
    """Tell whether a CUDA device reaches another one's memory."""
    return _is_reached(target_device, peer_device)


def is_conditional_graph_supported() -> bool:
    """Tell whether captures on a CUDA device can branch."""
    return False


def is_cuda_available() -> bool:
    """Tell whether a CUDA device can be used here."""
    return False


def get_cuda_devices() -> list[Device]:
    """List the CUDA devices that can be used here."""
    return []


def get_cuda_device_count() -> int:
    """Count the CUDA devices that can be used here."""
    return 0


def get_cuda_driver_version() -> tuple[int, int] | None:
    """Return None: this module uses no CUDA driver."""
    return None


def get_cuda_supported_archs() -> list[int]:
    """Return an empty list: this module compiles no CUDA code."""
    return []


def print_diagnostics() -> dict[str, Any]:
    """Print the versions and devices here; return them by name."""
    facts: dict[str, Any] = {
        "warp_python": config.version,
        "gbxcule": _native.version(),
        "numpy": np.__version__,
        "python": sys.version,
        "platform": platform.platform(),
        "cuda_enabled": False,
        "cuda_driver": get_cuda_driver_version(),
        "devices": [str(each) for each in get_devices()],
    }
    for name, value in facts.items():
        print(f"{name}: {value}")
    return facts


class ScopedDevice:
    """The default device within a block."""

    def __init__(self, device: Any) -> None:
        self.device = get_device(device)

    def __enter__(self) -> Device:
        return self.device

    def __exit__(self, *_error: type[BaseException] | BaseException | TracebackType | None) -> None:
        pass


class ScopedStream:
    """A block without a stream, which is the only one that the CPU has: `wp.ScopedStream(None)`."""

    def __init__(self, stream: None, sync_enter: bool = True, sync_exit: bool = False) -> None:
        if stream is not None:
            raise NotImplementedError(f"the CPU has no streams: `ScopedStream` takes None here, found {stream!r}")

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_error: type[BaseException] | BaseException | TracebackType | None) -> None:
        pass


def synchronize() -> None:
    """Do nothing: a launch on the CPU has ended when it returns."""


def synchronize_device(device: Any = None) -> None:
    """Wait for all work of a device."""
    get_device(device)


def synchronize_stream(stream_or_device: Any = None) -> None:
    """Wait for the work of a device, because the CPU has no streams."""
    get_device(stream_or_device)
