"""Arrays and types of other libraries: PyTorch, NumPy, and all that speak DLPack. Memory is shared."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule.warp.array_memory import array
from gbxcule.warp.device import Device, get_device
from gbxcule.warp.scalar import BY_NAME, Scalar, scalar_type


class _Writable:
    """Memory that may be written although NumPy marks it as read-only."""

    def __init__(self, memory: npt.NDArray[Any]) -> None:
        self._memory = memory
        self.__array_interface__ = {**memory.__array_interface__, "data": (memory.ctypes.data, False)}


class _Capsule:
    """A wrapper that gives NumPy a DLPack capsule; NumPy refuses a capsule of another device."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def from_dlpack(source: Any, dtype: Any = None) -> array:
    """Make an array that shares another library's array or a capsule; `dtype` may be a type of vectors.
    """
    memory: npt.NDArray[Any] = np.from_dlpack(source if hasattr(source, "__dlpack__") else _Capsule(source))
    if not memory.flags.writeable and not isinstance(source, np.ndarray):
        memory = np.asarray(_Writable(memory))
    return array(memory, dtype=scalar_type(memory.dtype) if dtype is None else dtype, copy=False)


def to_dlpack(wp_array: array) -> Any:
    """Return an array's memory as a DLPack capsule."""
    return wp_array.__dlpack__()


def device_from_torch(torch_device: Any) -> Device:
    """Return the device for a PyTorch device."""
    return get_device(str(torch_device))


def device_to_torch(warp_device: Any) -> str:
    """Return PyTorch's name of a device."""
    return str(get_device(warp_device))


def dtype_from_torch(torch_dtype: Any) -> type[Scalar]:
    """Find the scalar type for one of PyTorch's."""
    scalar = BY_NAME.get(str(torch_dtype).removeprefix("torch."))
    if scalar is None:
        raise TypeError(f"there is no scalar type for `{torch_dtype}`")
    return scalar


def dtype_to_torch(warp_dtype: Any) -> Any:
    """Find PyTorch's type for a scalar type."""
    import torch

    scalar = scalar_type(warp_dtype)
    if scalar is None:
        raise TypeError(f"PyTorch has no type for `{warp_dtype}`")
    return getattr(torch, scalar.__name__)


def dtype_from_numpy(numpy_dtype: Any) -> type[Scalar]:
    """Find the scalar type for one of NumPy's."""
    scalar = None if isinstance(numpy_dtype, str) else scalar_type(np.dtype(numpy_dtype))
    if scalar is None:
        raise TypeError(f"there is no scalar type for `{numpy_dtype}`")
    return scalar


def dtype_to_numpy(warp_dtype: Any) -> Any:
    """Find NumPy's type for a scalar type."""
    if not (isinstance(warp_dtype, type) and issubclass(warp_dtype, Scalar)):
        raise TypeError(f"NumPy has no type for `{warp_dtype}`")
    return warp_dtype.numpy.type


def from_torch(t: Any, dtype: Any = None, requires_grad: bool | None = None, grad: Any = None,
               return_ctype: bool = False, retain_grad: bool = False) -> array:  # fmt: skip
    """Make an array that shares a tensor's memory; its gradient is the tensor's, or `grad`.

    Launches take the array where Warp's take a descriptor, which `return_ctype` asks for there.
    """
    if t.device.type != "cpu":
        raise ValueError(f"gbxcule.warp runs on the CPU, and the tensor lies on `{t.device}`")
    scalar = dtype_from_torch(t.dtype)
    memory = _memory_of(t)
    made = array(memory, dtype=scalar if dtype is None else dtype, copy=False)
    if requires_grad is not False and (requires_grad or t.requires_grad or grad is not None):
        if grad is None:
            if t.grad is None:
                t.grad = t.detach().new_zeros(t.shape)
            grad = t.grad
        made.grad = grad if isinstance(grad, array) else array(_memory_of(grad), dtype=made.dtype, copy=False)
    made.retain_grad = retain_grad
    return made


def _memory_of(tensor: Any) -> npt.NDArray[Any]:
    import torch

    plain = tensor.detach()
    is_bfloat16 = plain.dtype is torch.bfloat16
    memory: npt.NDArray[Any] = (plain.view(torch.int16) if is_bfloat16 else plain).numpy()
    return memory.view(np.uint16) if is_bfloat16 else memory


def to_torch(a: array, requires_grad: bool | None = None) -> Any:
    """Make a tensor that shares an array's memory and gradient."""
    import torch

    is_bfloat16 = getattr(a.dtype, "_wp_scalar_type_", a.dtype) is BY_NAME["bfloat16"]
    made = torch.from_numpy(a.numpy().view(np.int16) if is_bfloat16 else a.numpy())
    made = made.view(torch.bfloat16) if is_bfloat16 else made
    if a.requires_grad if requires_grad is None else requires_grad:
        made.requires_grad = True
        if a.grad is not None:
            made.grad = to_torch(a.grad, requires_grad=False)
    return made
