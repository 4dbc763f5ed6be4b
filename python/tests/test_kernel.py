"""Kernels on arrays of other libraries."""

import enum
import math
import socket
import types
import subprocess
import sys
from typing import Any

import box_shape
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
    assert saxpy.parameters[2] == ("y", "array[float32]", True)


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


def test_a_file_imports_from_the_files_beside_it(tmp_path):
    (tmp_path / "shape.py").write_text("import warp as wp\n\n@wp.func\ndef area(x: float):\n    return x * x\n")
    text = "import warp as wp\nfrom shape import area\n\n@wp.kernel\ndef fill(out: wp.array(dtype=float)):\n    out[0] = area(3.0)\n"
    path = tmp_path / "kernels.py"
    path.write_text(text)
    out = np.zeros(1, np.float32)
    from_file(path)["fill"].launch(1, out)
    assert out[0] == 9
    (tmp_path / "shape.py").write_text("import warp as wp\n\n@wp.func\ndef area(x: float):\n    return x\n")
    from_file(path)["fill"].launch(1, out)
    assert out[0] == 3, "a changed file counts"
    with pytest.raises(CompileError, match="only a text in a file"):
        from_text(text)


def test_a_kernel_uses_functions_structs_and_constants_of_a_module_of_ours():
    @kernel
    def uses(out: wp.array(dtype=float)):
        box = box_shape.Box()
        box.side = 2.0
        out[0] = box_shape.surface(box) + float(box_shape.CORNERS)

    out = np.zeros(1, np.float32)
    uses.launch(1, out)
    assert out[0] == 32


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
        ((1.0, np.zeros(4), np.zeros(4, np.float32)), "`x`: needs an array of `float32` in 1 dimensions, found float64"),
        ((1.0, np.zeros((2, 2), np.float32), np.zeros(4, np.float32)), r"found float32 \[2, 2\]"),
        ((1.0, [0.0], np.zeros(4, np.float32)), "`x`: expected an array that speaks DLPack"),
        (("one", None, None), "`a`: needs `float32`, found `str`"),
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


def test_a_gradient_needs_arrays_apart_and_sees_views_of_one_array():
    @kernel
    def stored(x: wp.array(dtype=wp.float64), o: wp.array(dtype=wp.float64)):
        i = wp.tid()
        o[i] = wp.sin(x[i])

    whole, grad = np.ones(12), np.ones(12)
    stored.launch(6, whole[:6], whole[6:])
    stored.backward(6, whole[:6], whole[6:], grads={"x": grad[:6], "o": grad[6:]})
    assert np.allclose(grad[:6], 1 + np.cos(1)) and not grad[6:].any()
    with pytest.raises(LaunchError, match="must not share memory"):
        stored.backward(6, whole[:6], whole[5:11], grads={"x": grad[:6], "o": np.ones(6)})


SIZE = wp.constant(3)
UP = wp.vec3(0.0, 1.0, 0.0)
Five = wp.types.vector(length=5, dtype=float)
GAIN = np.float32(2.5)
LIMIT = math.inf


class Setting:
    STEPS = 4


def plain(x):
    return x


@func
def doubled(x: float):
    return x + x


@func
def doubled(x: int):  # noqa: F811
    return 4 * x


@func
def squared(x: Any):
    return x * x


def test_constants_types_modules_and_overloads_around_a_kernel_come_along():
    @kernel
    def uses(out: wp.array(dtype=float)):
        out[0] = float(SIZE) + UP[1] + Five(2.0)[4] + GAIN
        out[1] = wp.min(LIMIT, float(Setting.STEPS)) + math.pi
        out[2] = doubled(1.5) + float(doubled(2))
        out[3] = squared(3.0)

    out = np.zeros(4, np.float32)
    uses.launch(1, out)
    assert out.tolist() == pytest.approx([8.5, 4 + math.pi, 11, 9])


def test_a_plain_function_is_named_as_what_kernels_cant_call():
    @kernel
    def calls(out: wp.array(dtype=float)):
        out[0] = plain(out[0])

    with pytest.raises(CompileError, match="`plain` is a Python function"):
        calls.launch(1, np.zeros(1, np.float32))


def test_a_function_whose_text_cant_be_read_is_refused():
    with pytest.raises(TypeError, match="`from_text` takes a string"):
        kernel(lambda x: x).launch(1, np.zeros(1, np.float32))


@pytest.mark.parametrize("grid", [np.int64(4), (4,), [np.int32(4)], np.array([4])])
def test_a_grid_is_made_of_whole_numbers_of_any_kind(grid):
    y = np.zeros(4, np.float32)
    saxpy.launch(grid, 2.0, np.ones(4, np.float32), y)
    assert y.tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(("grid", "error"), [(4.0, TypeError), ("4", TypeError), (-4, ValueError), ((2, -2), ValueError)])
def test_other_grids_are_refused(grid, error):
    with pytest.raises(error, match="extents are"):
        saxpy.launch(grid, 2.0, np.ones(4, np.float32), np.zeros(4, np.float32))


@struct
class Body:
    mass: wp.float32
    velocity: wp.vec3
    number: wp.int8
    count: wp.int32


@kernel
def pushed(bodies: wp.array(dtype=Body), energy: wp.array(dtype=wp.float32)):
    i = wp.tid()
    bodies[i].count = bodies[i].count + int(bodies[i].number)
    energy[i] = bodies[i].mass * wp.dot(bodies[i].velocity, bodies[i].velocity)


BODY = [("mass", "f4"), ("velocity", "f4", 3), ("number", "i1"), ("count", "i4")]


def test_records_are_structs_in_place():
    whole = np.zeros(6, np.dtype(BODY, align=True))
    whole["mass"], whole["velocity"][:, 0], whole["number"], whole["count"] = 2, np.arange(6), 3, 10
    energy = np.zeros(3, np.float32)
    pushed.launch(3, whole[::2], energy)
    assert energy.tolist() == [0, 8, 32]
    assert whole["count"].tolist() == [13, 10, 13, 10, 13, 10]


@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        (np.dtype(BODY), "records of 21 bytes aren't laid out as `Body`, which has 24"),
        (np.dtype(BODY[:3], align=True), "no field `count`"),
        (np.dtype([BODY[0], BODY[2], BODY[1], BODY[3]], align=True), "in the same order"),
        (np.dtype([("mass", "i4"), *BODY[1:]], align=True), "aren't laid out"),
    ],
)
def test_records_of_another_layout_are_refused(dtype, message):
    with pytest.raises(TypeError, match=message):
        pushed.launch(1, np.zeros(1, dtype), np.zeros(1, np.float32))


def test_numbers_have_no_gradient():
    x = np.zeros(4, np.float32)
    with pytest.raises(TypeError, match="`a`: is a `float32`, and only arrays have gradients"):
        saxpy.backward(4, 1.0, x, x.copy(), grads={"a": np.zeros(1, np.float32)})


def test_an_array_that_may_not_be_written_to_is_refused_with_what_to_do():
    with pytest.raises(TypeError, match="`x`: the array is read-only.*pass a copy"):
        saxpy.launch(4, 1.0, np.broadcast_to(np.float32(1), 4), np.zeros(4, np.float32))


def test_the_shape_of_numbers_that_are_no_vector_or_matrix_is_shown():
    with pytest.raises(TypeError, match=r"found numbers of shape \[2\]"):
        lengths.launch((1, 1), np.zeros((1, 3), np.float32), [0, 2], np.zeros((1, 1), np.float32))


ENDLESS = """
import os, signal, threading
import numpy as np
from gbxcule.kernel import from_text

text = '''
import warp as wp

@wp.kernel
def endless(a: wp.array(dtype=wp.int32)):
    while a[0] == 1:
        a[1] = a[1] + 1

@wp.kernel
def count(a: wp.array(dtype=wp.int32)):
    for i in range(1000):
        wp.atomic_add(a, 2, wp.tid() * 0 + 1)
'''
kernels = from_text(text)
a = np.array([1, 0, 0], np.int32)
# Shells let what they run in the background ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    kernels["endless"].launch(1000, a)
except KeyboardInterrupt:
    kernels["count"].launch(1000, a)
    print(f"interrupted, {a[2]}")
"""


def test_a_kernel_that_never_ends_can_be_interrupted():
    # A launch that doesn't stop at once runs into the limit.
    command = [sys.executable, "-c", ENDLESS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout.strip()) == (0, "interrupted, 1000000"), done.stderr


class Kind(enum.IntEnum):
    BALL = 3
    CUBE = 8


class Flags(enum.Flag):
    FAST = 4


CONFIG = types.SimpleNamespace(gain=0.5, deep=types.SimpleNamespace(steps=(3, 4)), scales={"near": 2, "far": 7})
PAIRS = ((1, 2), (3, 4))
renamed = halved
N = 5


def helper(n):
    return n * n + 1


def test_values_in_python_objects_are_taken_from_them():
    @kernel
    def uses(kind: wp.array(dtype=int), out: wp.array(dtype=float)):
        if kind[0] == Kind.CUBE and kind[1] == Flags.FAST.value:
            out[0] = CONFIG.gain * float(CONFIG.deep.steps[1]) + renamed(9.0)
        out[1] = float(PAIRS[1][0] + wp.static(helper(N) + CONFIG.scales["far"]))
        for i in range(len(PAIRS)):
            out[2] += float(wp.static(PAIRS[i][1]))
        out[3] = float(socket.AF_INET)

    out = np.zeros(4, np.float32)
    uses.launch(1, np.array([8, 4], np.int32), out)
    assert out.tolist() == [0.5 * 4 + 4.5, 3 + 26 + 7, 6, float(socket.AF_INET)]


def made_for(dtype, by, apply):
    @struct
    class Box:
        width: dtype

    @func
    def area(box: Box):
        return apply(box.width) * dtype(by)

    @kernel
    def areas(boxes: wp.array(dtype=Box), out: wp.array(dtype=dtype)):
        i = wp.tid()
        box = Box()
        box.width = boxes[i].width
        out[i] = area(box) + dtype(N)

    return areas, area


@func
def tripled(x: Any):
    return x * type(x)(3)


@func
def negated(x: Any):
    return -x


def test_kernels_of_one_function_have_its_arguments():
    for dtype, scalar, by, apply, wanted in [
        (wp.float64, np.float64, 4, tripled, 29),
        (int, np.int32, -2, negated, 9),
        (np.float32, np.float32, 0.5, tripled, 8),
    ]:
        boxes, out = np.array([(2,)], [("width", scalar)]), np.zeros(1, scalar)
        made_for(dtype, by, apply)[0].launch(1, boxes, out)
        assert out[0] == wanted


def scaled(by):
    @func
    def times(x: float):
        return x * by

    return times


def test_functions_of_one_name_stay_apart():
    twice, thrice = scaled(2.0), scaled(3.0)
    times = scaled(10.0)

    @kernel
    def uses(out: wp.array(dtype=float)):
        out[0] = twice(1.0) + 100.0 * thrice(1.0) + times(1.0)

    out = np.zeros(1, np.float32)
    uses.launch(1, out)
    assert out.tolist() == [2 + 300 + 10]


@kernel
def filled(out: wp.array(dtype=Any), value: Any):
    out[wp.tid()] = value


@kernel
def floored(x: wp.array2d(dtype=wp.Float), n: wp.array(dtype=int)):
    i, j = wp.tid()
    n[i] += int(x[i, j])


def test_generic_kernels_are_compiled_for_what_they_are_launched_with():
    for dtype, shape, value in [
        (np.float32, (3,), 2.5),
        (np.float64, (3,), np.float64(2.5)),
        (np.int32, (3,), 7),
        (np.float32, (3, 3), (1.0, 2.0, 3.0)),
        (np.float32, (2, 2, 2), ((1.0, 2.0), (3.0, 4.0))),
    ]:
        out = np.zeros(shape, dtype)
        filled.launch(shape[0], out, value)
        assert (out == value).all()
    n = np.zeros(2, np.int32)
    for dtype in (np.float16, np.float64):
        floored.launch((2, 3), np.full((2, 3), 1.5, dtype), n)
    assert n.tolist() == [6, 6]
    with pytest.raises(TypeError, match="only a launch gives the types"):
        filled.compiled  # noqa: B018
    with pytest.raises(TypeError, match="an array with 2 dimensions or more, found 1"):
        floored.launch((2, 3), np.zeros(6, np.float32), n)
    with pytest.raises(TypeError, match="a number or an array of numbers, found `dict`"):
        filled.launch(1, np.zeros(1, np.float32), {})


def test_generic_kernels_have_reverses_and_come_from_texts():
    text = """
from typing import Any
import warp as wp

@wp.kernel
def square(x: wp.array(dtype=Any), y: wp.array(dtype=Any)):
    i = wp.tid()
    y[i] = x[i] * x[i]

@wp.kernel
def one(y: wp.array(dtype=float)):
    y[0] = 1.0
"""
    kernels = from_text(text)
    assert list(kernels) == ["square", "one"]
    for dtype in (np.float32, np.float64):
        x, y = np.array([3, 4], dtype), np.zeros(2, dtype)
        kernels["square"].launch(2, x, y)
        grads = {"x": np.zeros(2, dtype), "y": np.ones(2, dtype)}
        kernels["square"].backward(2, x, y, grads=grads)
        assert y.tolist() == [9, 16] and grads["x"].tolist() == [6, 8]
    assert kernels["square"].name == "square"


@kernel
def weighted(p: Any, x: wp.array(dtype=Any)):
    i = wp.tid()
    x[i] = x[i] * x.dtype(p.slope) + x.dtype(p.offset)


def test_a_generic_kernel_takes_values_of_structs():
    for scalar in (np.float32, np.float64):
        x = np.arange(3, dtype=scalar)
        weighted.launch(3, Line(slope=2.0, offset=1.0), x)
        assert x.tolist() == [1.0, 3.0, 5.0]
    with pytest.raises(TypeError, match="slope, offset, found slope"):
        Line(slope=2.0)
