"""Kernels on other people's arrays."""

import math

import numpy as np
import pytest
from gbxcule.kernel import CompileError, LaunchError, from_file, from_text, func, kernel, struct, wp

HALF = 0.5


@func
def halved(x: wp.float32):
    return HALF * x


@struct
class Line:
    slope: wp.float32
    offset: wp.float32


@kernel
def saxpy(a: wp.float32, x: wp.array(dtype=wp.float32), y: wp.array(dtype=wp.float32)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@kernel
def along(line: Line, x: wp.array(dtype=wp.float32), out: wp.array(dtype=wp.float32)):
    i = wp.tid()
    out[i] = line.slope * x[i] + line.offset + halved(x[i])


@kernel
def waves(x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = wp.sin(x[i]) * x[i]


@kernel
def lengths(v: wp.array(dtype=wp.vec3), m: wp.mat22, out: wp.array2d(dtype=wp.float32)):
    i, j = wp.tid()
    out[i, j] = wp.length(v[i]) * m[0, 1] + wp.float32(j)


def test_a_decorated_function_works_on_numpy_arrays_in_place():
    x = np.arange(1000, dtype=np.float32)
    y = np.ones(1000, np.float32)
    saxpy.launch(1000, 2.0, x, y)
    assert np.array_equal(y, 2 * np.arange(1000, dtype=np.float32) + 1)
    assert saxpy.name == "saxpy"
    assert saxpy.parameters[2] == ("y", "array<f32, 1>", True)


def test_functions_structs_and_numbers_around_it_come_with_a_kernel():
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    along.launch(4, {"slope": 2.0, "offset": 1.0}, x, out)
    assert np.array_equal(out, 2.5 * x + 1)


def test_kernels_use_what_a_function_around_them_holds():
    factor = 3.0

    @kernel
    def scaled(x: wp.array(dtype=wp.float32)):
        i = wp.tid()
        x[i] = factor * x[i]

    x = np.ones(3, np.float32)
    scaled.launch(3, x)
    assert x.tolist() == [3, 3, 3]


def test_vectors_and_matrices_are_the_last_dimensions_of_arrays():
    v = np.array([[3, 4, 0], [0, 0, 2]], np.float32)
    out = np.zeros((2, 3), np.float32)
    lengths.launch((2, 3), v, [[0, 2], [0, 0]], out)
    assert out.tolist() == [[10, 11, 12], [4, 5, 6]]


def test_strided_and_reversed_arrays_are_used_in_place():
    whole = np.arange(12, dtype=np.float32)
    y = np.zeros(12, np.float32)
    saxpy.launch(4, 1.0, whole[::-3], y[1::3])
    assert y[1::3].tolist() == [11, 8, 5, 2]
    assert not y[0::3].any() and not y[2::3].any()


def test_the_reverse_leaves_gradients_beside_the_arrays():
    x = np.linspace(-2, 2, 9)
    out = np.zeros(9)
    waves.launch(9, x, out)
    x_grad, out_grad = np.zeros(9), np.ones(9)
    waves.backward(9, x, out, grads={"x": x_grad, "out": out_grad})
    assert np.allclose(x_grad, np.cos(x) * x + np.sin(x), atol=1e-12)


def test_torch_tensors_are_used_in_place():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, y = torch.arange(8, dtype=torch.float32), torch.zeros(8)
    saxpy.launch(8, 2.0, x, y)
    assert y.equal(2 * x)


TEXT = """import warp as wp

@wp.kernel
def fill(out: wp.array(dtype=wp.int32), value: wp.int32):
    out[wp.tid()] = value

@wp.kernel
def count(out: wp.array(dtype=wp.int32)):
    wp.atomic_add(out, 0, 1)
"""


def test_texts_and_files_give_all_their_kernels(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(TEXT)
    for kernels in (from_text(TEXT), from_file(path)):
        assert sorted(kernels) == ["count", "fill"]
        out = np.zeros(3, np.int32)
        kernels["fill"].launch(3, out, 7)
        kernels["count"].launch(10, out)
        assert out.tolist() == [17, 7, 7]


def test_refusals_point_at_the_line():
    with pytest.raises(CompileError) as caught:
        from_text("import warp as wp\n\n@wp.kernel\ndef f(x: wp.array(dtype=float)):\n    x[0] = wp.sine(1.0)\n", "wave.py")
    message = str(caught.value)
    assert "wave.py:5:" in message and "sine" in message and "wp.sin" in message


def test_refusals_of_a_decorated_function_point_into_its_own_file():
    @kernel
    def wrong(x: wp.array(dtype=wp.float32)):
        x[0] = wp.sine(1.0)

    line = test_refusals_of_a_decorated_function_point_into_its_own_file.__code__.co_firstlineno + 3
    with pytest.raises(CompileError, match=f"test_kernel.py:{line}:"):
        wrong.launch(1, np.zeros(1, np.float32))


def test_a_gradient_that_cant_be_is_refused_but_the_kernel_runs():
    @kernel
    def overwriting(x: wp.array(dtype=wp.float64), n: wp.int32):
        for _ in range(n):
            x[0] = wp.sin(x[0])

    x = np.ones(1)
    overwriting.launch(1, x, 2)
    assert x[0] == pytest.approx(math.sin(math.sin(1)))
    with pytest.raises(CompileError, match="grad-overwritten"):
        overwriting.backward(1, x, 2, grads={"x": np.ones(1)})


def test_a_launch_that_leaves_an_array_says_where():
    with pytest.raises(LaunchError, match="saxpy") as caught:
        saxpy.launch(5, 1.0, np.zeros(4, np.float32), np.zeros(5, np.float32))
    assert "test_kernel.py" in str(caught.value) and "4" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.0, np.zeros(4), np.zeros(4, np.float32)), "`x`: needs an array of `f32` in 1 dimensions, found float64"),
        ((1.0, np.zeros((2, 2), np.float32), np.zeros(4, np.float32)), r"found float32 \[2, 2\]"),
        ((1.0, [0.0], np.zeros(4, np.float32)), "`x`: expected an array that speaks DLPack"),
        (("one", None, None), "`a`: needs `f32`, found `str`"),
        ((1.0,), r"takes 3 arguments \(a, x, y\), found 1"),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments, message):
    with pytest.raises(TypeError, match=message):
        saxpy.launch(4, *arguments)


def test_gradients_are_those_of_parameters():
    x = np.zeros(3)
    with pytest.raises(TypeError, match="no parameter `z`"):
        waves.backward(3, x, x.copy(), grads={"z": x})
    with pytest.raises(TypeError, match="a gradient has the type, shape and layout"):
        waves.backward(3, x, x.copy(), grads={"x": np.zeros(6)[::2]})
