"""The part of NVIDIA Warp's Python API that programs around kernels use, on this package's compiler.

    import gbxcule.warp as wp

Kernels, arrays, tapes and builtins work on the CPU. A name of Warp's that is missing here raises an
`AttributeError` that says so.
"""

import math
import sys
from types import ModuleType
from typing import Any as Any

from gbxcule import _native
from gbxcule._native import CompileError as CompileError
from gbxcule._native import LaunchError as LaunchError
from gbxcule.warp import array_function as utils
from gbxcule.warp import autograd as autograd
from gbxcule.warp import builtin as _builtin
from gbxcule.warp import config as config
from gbxcule.warp import examples as examples
from gbxcule.warp import internal as _internal
from gbxcule.warp import kernel_name as _kernel_name
from gbxcule.warp import missing as _missing
from gbxcule.warp import optim as optim
from gbxcule.warp import render as render
from gbxcule.warp import sparse as sparse
from gbxcule.warp import test_support as _test_support
from gbxcule.warp import types as types
from gbxcule.warp.array_copy import clone as clone
from gbxcule.warp.array_copy import copy as copy
from gbxcule.warp.array_factory import empty as empty
from gbxcule.warp.array_factory import empty_like as empty_like
from gbxcule.warp.array_factory import from_numpy as from_numpy
from gbxcule.warp.array_factory import full as full
from gbxcule.warp.array_factory import full_like as full_like
from gbxcule.warp.array_factory import ones as ones
from gbxcule.warp.array_factory import ones_like as ones_like
from gbxcule.warp.array_factory import zeros as zeros
from gbxcule.warp.array_factory import zeros_like as zeros_like
from gbxcule.warp.array_memory import ArrayAnnotation as ArrayAnnotation
from gbxcule.warp.array_memory import array as array
from gbxcule.warp.array_memory import array1d as array1d
from gbxcule.warp.array_memory import array2d as array2d
from gbxcule.warp.array_memory import array3d as array3d
from gbxcule.warp.array_memory import array4d as array4d
from gbxcule.warp.branch import capture_if as capture_if
from gbxcule.warp.branch import capture_while as capture_while
from gbxcule.warp.capture import Graph as Graph
from gbxcule.warp.capture import ScopedCapture as ScopedCapture
from gbxcule.warp.capture import capture_begin as capture_begin
from gbxcule.warp.capture import capture_end as capture_end
from gbxcule.warp.capture import capture_launch as capture_launch
from gbxcule.warp.composite import composite as _composite
from gbxcule.warp.composite import matrix as _matrix
from gbxcule.warp.composite import named_types as _named_types
from gbxcule.warp.composite import vector as _vector
from gbxcule.warp.config import DeterministicMode as DeterministicMode
from gbxcule.warp.device import Device as Device
from gbxcule.warp.device import DeviceLike as DeviceLike
from gbxcule.warp.device import ScopedDevice as ScopedDevice
from gbxcule.warp.device import ScopedStream as ScopedStream
from gbxcule.warp.device import get_cuda_device_count as get_cuda_device_count
from gbxcule.warp.device import get_cuda_devices as get_cuda_devices
from gbxcule.warp.device import get_cuda_driver_version as get_cuda_driver_version
from gbxcule.warp.device import get_cuda_supported_archs as get_cuda_supported_archs
from gbxcule.warp.device import get_device as get_device
from gbxcule.warp.device import get_devices as get_devices
from gbxcule.warp.device import get_preferred_device as get_preferred_device
from gbxcule.warp.device import is_cpu_available as is_cpu_available
from gbxcule.warp.device import is_conditional_graph_supported as is_conditional_graph_supported
from gbxcule.warp.device import is_cuda_available as is_cuda_available
from gbxcule.warp.device import is_device_available as is_device_available
from gbxcule.warp.device import is_mempool_access_enabled as is_mempool_access_enabled
from gbxcule.warp.device import is_mempool_access_supported as is_mempool_access_supported
from gbxcule.warp.device import is_mempool_enabled as is_mempool_enabled
from gbxcule.warp.device import is_mempool_supported as is_mempool_supported
from gbxcule.warp.device import is_peer_access_enabled as is_peer_access_enabled
from gbxcule.warp.device import is_peer_access_supported as is_peer_access_supported
from gbxcule.warp.device import print_diagnostics as print_diagnostics
from gbxcule.warp.device import set_device as set_device
from gbxcule.warp.device import synchronize as synchronize
from gbxcule.warp.device import synchronize_device as synchronize_device
from gbxcule.warp.device import synchronize_stream as synchronize_stream
from gbxcule.warp.exchange import device_from_torch as device_from_torch
from gbxcule.warp.exchange import device_to_torch as device_to_torch
from gbxcule.warp.exchange import dtype_from_numpy as dtype_from_numpy
from gbxcule.warp.exchange import dtype_from_torch as dtype_from_torch
from gbxcule.warp.exchange import dtype_to_numpy as dtype_to_numpy
from gbxcule.warp.exchange import dtype_to_torch as dtype_to_torch
from gbxcule.warp.exchange import from_dlpack as from_dlpack
from gbxcule.warp.exchange import from_torch as from_torch
from gbxcule.warp.exchange import to_dlpack as to_dlpack
from gbxcule.warp.exchange import to_torch as to_torch
from gbxcule.warp.geometry import Bvh as Bvh
from gbxcule.warp.geometry import HashGrid as HashGrid
from gbxcule.warp.geometry import Mesh as Mesh
from gbxcule.warp.indexed_array import indexedarray as indexedarray
from gbxcule.warp.indexed_array import indexedarray1d as indexedarray1d
from gbxcule.warp.indexed_array import indexedarray2d as indexedarray2d
from gbxcule.warp.indexed_array import indexedarray3d as indexedarray3d
from gbxcule.warp.indexed_array import indexedarray4d as indexedarray4d
from gbxcule.warp.logger import Logger as Logger
from gbxcule.warp.logger import ScopedLogger as ScopedLogger
from gbxcule.warp.logger import get_logger as get_logger
from gbxcule.warp.logger import set_logger as set_logger
from gbxcule.warp.mapping import map as map
from gbxcule.warp.program import Function as Function
from gbxcule.warp.program import Kernel as Kernel
from gbxcule.warp.program import Launch as Launch
from gbxcule.warp.program import Module as Module
from gbxcule.warp.program import clear_kernel_cache as clear_kernel_cache
from gbxcule.warp.program import constant as constant
from gbxcule.warp.program import force_load as force_load
from gbxcule.warp.program import func as func
from gbxcule.warp.program import func_grad as func_grad
from gbxcule.warp.program import func_native as func_native
from gbxcule.warp.program import func_replay as func_replay
from gbxcule.warp.program import get_module as get_module
from gbxcule.warp.program import get_module_options as get_module_options
from gbxcule.warp.program import get_suggested_block_size as get_suggested_block_size
from gbxcule.warp.program import kernel as kernel
from gbxcule.warp.program import launch as launch
from gbxcule.warp.program import launch_tiled as launch_tiled
from gbxcule.warp.program import load_module as load_module
from gbxcule.warp.program import overload as overload
from gbxcule.warp.program import set_module_options as set_module_options
from gbxcule.warp.program import static as static
from gbxcule.warp.program import struct as struct
from gbxcule.warp.recording import record as record
from gbxcule.warp.scalar import BY_NAME as _SCALARS
from gbxcule.warp.structure import Struct as Struct
from gbxcule.warp.structure import StructInstance as StructInstance
from gbxcule.warp.tape import Tape as Tape
from gbxcule.warp.timer import TIMING_ALL as TIMING_ALL
from gbxcule.warp.timer import TIMING_GRAPH as TIMING_GRAPH
from gbxcule.warp.timer import TIMING_KERNEL as TIMING_KERNEL
from gbxcule.warp.timer import TIMING_KERNEL_BUILTIN as TIMING_KERNEL_BUILTIN
from gbxcule.warp.timer import TIMING_MEMCPY as TIMING_MEMCPY
from gbxcule.warp.timer import TIMING_MEMSET as TIMING_MEMSET
from gbxcule.warp.timer import ScopedCudaProfiler as ScopedCudaProfiler
from gbxcule.warp.timer import ScopedLogLevel as ScopedLogLevel
from gbxcule.warp.timer import ScopedTimer as ScopedTimer
from gbxcule.warp.timer import cuda_profiler_start as cuda_profiler_start
from gbxcule.warp.timer import cuda_profiler_stop as cuda_profiler_stop
from gbxcule.warp.timer import timing_begin as timing_begin
from gbxcule.warp.timer import timing_end as timing_end
from gbxcule.warp.timer import timing_print as timing_print
from gbxcule.warp.volume import Volume as Volume

_NUMBERS = {
    "pi": math.pi, "half_pi": math.pi / 2.0, "tau": math.tau, "e": math.e, "inf": math.inf, "nan": math.nan,
    "log2e": math.log2(math.e), "log10e": math.log10(math.e), "ln2": math.log(2.0), "ln10": math.log(10.0),
    "phi": (1.0 + math.sqrt(5.0)) / 2.0,
}  # fmt: skip
_BUILTINS = {*_native.builtin_names(), "quat_identity", "transform_identity"}
__version__ = config.version
# Makes `import gbxcule.warp.utils` work, as it does for Warp.
sys.modules[f"{__name__}.utils"] = utils
LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR = 10, 20, 30, 40
# Errors that programs catch: what Warp refuses to compile, this compiler refuses as well.
_ERRORS = dict.fromkeys(
    ["WarpCodegenError", *(f"WarpCodegen{kind}Error" for kind in ("Attribute", "Index", "Key", "Type", "Value"))],
    CompileError,
)
_known: dict[str, Any] = {
    **_ERRORS,
    **_SCALARS,
    **_named_types(),
    **_NUMBERS,
    "handle": _SCALARS["uint64"],
    **_kernel_name.TYPES,
    **{name.upper(): number for name, number in _NUMBERS.items()},
}


def init() -> None:
    """Do nothing: everything is ready when the module is imported."""


def quat_identity(dtype: Any = float) -> Any:
    """Return the quaternion without rotation."""
    return _composite("quaternion", (4,), dtype)(0.0, 0.0, 0.0, 1.0)


def transform_identity(dtype: Any = float) -> Any:
    """Return the identity transform."""
    return _composite("transform", (7,), dtype)(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def matrix_from_rows(*rows: Any) -> Any:
    """Make a matrix from its rows."""
    return _matrix((len(rows), len(rows[0])), rows[0]._wp_scalar_type_)(*[each for row in rows for each in row])


def matrix_from_cols(*columns: Any) -> Any:
    """Make a matrix from its columns."""
    rows = [each for row in zip(*columns, strict=True) for each in row]
    return _matrix((len(columns[0]), len(columns)), columns[0]._wp_scalar_type_)(*rows)


def stand_in() -> ModuleType:
    """Make `import warp` import this module from now on, for programs that can't be changed."""
    module = sys.modules[__name__]
    sys.modules["warp"] = module
    for name in ("autograd", "config", "examples", "optim", "render", "sparse", "types", "utils"):
        sys.modules[f"warp.{name}"] = globals()[name]
    sys.modules["warp.optim.linear"] = optim.linear
    _missing.stand_in(module, _internal)
    sys.modules["warp.tests.unittest_utils"] = _test_support
    return module


def __getattr__(name: str) -> Any:
    if name in _known:
        return _known[name]
    if name in _BUILTINS:
        return _builtin.named(name)
    if name in _kernel_name.FUNCTIONS:
        return _builtin.named(name, in_kernels_only=True)
    missing = _missing.named(name)
    if missing is not None:
        return missing
    help = _missing.instead_of(name)
    raise AttributeError(f"gbxcule.warp has no `{name}`{help}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted({*globals(), *_known, *_BUILTINS, *_kernel_name.FUNCTIONS})
