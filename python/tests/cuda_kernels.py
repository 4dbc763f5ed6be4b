"""Kernels on a CUDA device: run by test_kernel_device.py where stand-ins play the driver, or by hand on a GPU."""

import ctypes

import numpy as np
import pytest
from gbxcule import _native
from gbxcule.kernel import LaunchError, array, kernel, struct, synchronize, wp, zeros


@kernel
def saxpy(a: wp.float32, x: wp.array(dtype=wp.float32), y: wp.array(dtype=wp.float32)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@kernel
def waves(x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = wp.sin(x[i]) * x[i]


@kernel
def lengths(v: wp.array(dtype=wp.vec3), m: wp.mat22, out: wp.array2d(dtype=wp.float32)):
    i, j = wp.tid()
    out[i, j] = wp.length(v[i]) * m[0, 1] + wp.float32(j)


@struct
class Cloud:
    weight: wp.float32
    at: wp.array(dtype=wp.float32)


@kernel
def weighted(cloud: Cloud):
    i = wp.tid()
    cloud.at[i] = cloud.weight * cloud.at[i]


@kernel
def brightness(frames: wp.array2d(dtype=wp.uint8), out: wp.array(dtype=wp.int32)):
    i, j = wp.tid()
    wp.atomic_add(out, i, wp.int32(frames[i, j]))


def test_a_launch_goes_where_its_arrays_lie():
    x, y = array(np.arange(1000, dtype=np.float32), device="cuda"), array(np.ones(1000, np.float32), device="cuda")
    saxpy.launch(1000, 2.0, x, y)
    assert np.array_equal(y.numpy(), 2 * np.arange(1000, dtype=np.float32) + 1)
    saxpy.launch(1000, 1.0, x, y, device="cuda:0")
    assert np.array_equal(np.asarray(y), 3 * np.arange(1000, dtype=np.float32) + 1)


def test_vectors_are_the_last_dimensions_and_structs_hold_arrays():
    v = array([[3, 4, 0], [0, 0, 2]], np.float32, device="cuda")
    out = zeros((2, 3), device="cuda")
    lengths.launch((2, 3), v, [[0, 2], [0, 0]], out)
    assert out.numpy().tolist() == [[10, 11, 12], [4, 5, 6]]
    at = array([1, 2, 3], np.float32, device="cuda")
    weighted.launch(3, {"weight": 0.5, "at": at})
    assert at.numpy().tolist() == [0.5, 1, 1.5]


def test_the_reverse_leaves_gradients_beside_the_arrays():
    host = np.linspace(-2, 2, 9)
    x, out = array(host, device="cuda"), zeros(9, np.float64, device="cuda")
    waves.launch(9, x, out)
    x_grad, out_grad = zeros(9, np.float64, device="cuda"), array(np.ones(9), device="cuda")
    waves.backward(9, x, out, grads={"x": x_grad, "out": out_grad})
    assert np.allclose(x_grad, np.cos(host) * host + np.sin(host), atol=1e-12)


@pytest.mark.parametrize(
    "dtype", "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
)
def test_arrays_of_every_type_are_copied_both_ways(dtype):
    host = (np.arange(12).reshape(3, 4) % 5 - (np.dtype(dtype).kind == "i")).astype(dtype)
    there = array(host, device="cuda")
    assert (there.shape, there.dtype, there.__dlpack_device__()) == ((3, 4), dtype, (2, 0))
    back = there.numpy()
    assert back.dtype == host.dtype and np.array_equal(back, host)
    there.assign(host.T.reshape(3, 4)[::-1])
    assert np.array_equal(there, host.T.reshape(3, 4)[::-1])
    assert not zeros(5, dtype, device="cuda").numpy().any()


def test_arrays_that_lie_elsewhere_are_refused_with_the_way_out():
    here, there = np.ones(4, np.float32), zeros(4, device="cuda")
    with pytest.raises(TypeError, match=r"`x`: .*lies on `cpu`, but the launch is on `cuda:0`: `gbxcule.kernel.array"):
        saxpy.launch(4, 1.0, here, there)
    with pytest.raises(TypeError, match="`y`: .*lies on `cuda:0`, but the launch is on `cpu`"):
        saxpy.launch(4, 1.0, here, there, device="cpu")
    with pytest.raises(TypeError, match="`y`: .*needs an array of `float32`"):
        saxpy.launch(4, 1.0, there, zeros(4, np.float64, device="cuda"))
    with pytest.raises(ValueError, match=r"expected an array of shape \[4\], found \[3\]"):
        there.assign(here[:3])
    with pytest.raises(TypeError, match="no arrays of `complex64`"):
        zeros(4, np.complex64, device="cuda")


def test_a_fault_is_told_by_whatever_waits():
    x, y = zeros(4, device="cuda"), zeros(5, device="cuda")
    for wait in (y.numpy, synchronize):
        saxpy.launch(5, 1.0, x, y)
        with pytest.raises(LaunchError, match="saxpy` stopped at thread .4.: index 4") as caught:
            wait()
        assert "cuda_kernels.py:14:" in str(caught.value)
    synchronize()
    assert not y.numpy().any()


# Arrays of another library, with a separate stream.


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("element", ctypes.c_uint8 * 4),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Library:
    def __init__(self, own_stream):
        zeros(1, device="cuda")  # Starts the driver.
        self.driver = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.stream = ctypes.c_void_p(1)
        if own_stream:
            self.call("cuStreamCreate", ctypes.byref(self.stream), 1)

    def call(self, name, *arguments):
        assert getattr(self.driver, name)(*arguments) == 0, name

    def full(self, shape, value):
        made = Foreign(self, shape)
        word = ctypes.c_uint32(np.float32(value).view(np.uint32))
        size = ctypes.c_size_t(int(np.prod(shape)))
        self.call("cuMemsetD32Async", made.address, word, size, self.stream)
        return made


class Foreign:
    def __init__(self, library, shape):
        self.library, self.shape, self.given_back = library, shape, 0
        self.address = ctypes.c_uint64()
        size = ctypes.c_size_t(4 * int(np.prod(shape)))
        library.call("cuMemAllocAsync", ctypes.byref(self.address), size, library.stream)
        extents = (ctypes.c_int64 * len(shape))(*shape)
        self.deleter = DELETER(self.count)
        address = ctypes.cast(self.deleter, ctypes.c_void_p)
        kind = (ctypes.c_uint8 * 4)(2, 32, 1, 0)
        on = (ctypes.c_int32 * 2)(2, 0)
        self.tensor = Tensor(self.address.value, on, len(shape), kind, extents, None, 0, None, address)

    def count(self, _tensor):
        self.given_back += 1

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, stream):
        call, event = self.library.call, ctypes.c_void_p()
        call("cuEventCreate", ctypes.byref(event), 2)
        call("cuEventRecord", event, self.library.stream)
        call("cuStreamWaitEvent", ctypes.c_void_p(stream), event, 0)
        call("cuEventDestroy_v2", event)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.tensor), b"dltensor", None)

    def numpy(self):
        """Waits for this library's stream only."""
        out = np.empty(self.shape, np.float32)
        to, stream = out.ctypes.data_as(ctypes.c_void_p), self.library.stream
        self.library.call("cuMemcpyDtoHAsync_v2", to, self.address, ctypes.c_size_t(out.nbytes), stream)
        self.library.call("cuStreamSynchronize", stream)
        return out

    def free(self):
        """Run in the order of this library's stream, without waiting."""
        self.library.call("cuMemFreeAsync", self.address, self.library.stream)


@pytest.mark.parametrize("own_stream", [False, True], ids=["default stream", "stream of its own"])
def test_tensors_of_others_are_used_in_place_and_in_the_order_of_their_stream(own_stream):
    library = Library(own_stream)
    x, y = library.full((6,), 3.0), library.full((6,), 1.0)
    saxpy.launch(6, 2.0, x, y, stream=library.stream.value if own_stream else None)
    assert (x.given_back, y.given_back) == (1, 1)
    x.free()
    assert y.numpy().tolist() == [7] * 6
    ours = zeros(6, device="cuda")
    saxpy.launch(6, 1.0, y, ours, stream=library.stream.value)
    y.free()
    assert ours.numpy().tolist() == [7] * 6


STEPS = 8


def test_arrays_of_a_swarm_are_used_in_place():
    swarm = _native.Swarm(_native.built_in_rom("PEARL_DRIFT"), 2, frames_per_step=4, draw_last=True, device="cuda")
    frames, out = swarm.frame_array, zeros(2, np.int32, device="cuda")
    for _ in range(STEPS):
        swarm.step(bytes(2))
    brightness.launch(frames.shape, frames, out)
    swarm.step(bytes(2))
    found = out.numpy()
    on_cpu = _native.Swarm(_native.built_in_rom("PEARL_DRIFT"), 2, frames_per_step=4, draw_last=True)
    for _ in range(STEPS):
        on_cpu.step(bytes(2))
    packed = np.empty((2, 144, 40), np.uint8)
    on_cpu.show(_native.View.picture("packed"), packed)
    assert found.tolist() == packed.reshape(2, -1).astype(int).sum(1).tolist() and found.all()
