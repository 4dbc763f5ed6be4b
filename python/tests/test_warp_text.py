"""Names that kernels of `gbxcule.warp` use from the Python around them."""

import importlib
import pathlib
import re
import sys
from typing import Any, Tuple  # noqa: UP035

import numpy as np
import pytest

import gbxcule.warp as wp
from gbxcule.kernel import from_file, from_text


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """Write files into one folder, and import the last of them."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)

    def write_and_import(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(f"import gbxcule.warp as wp\n{text}")
        importlib.invalidate_caches()
        return importlib.import_module(list(files)[-1])

    yield write_and_import
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", "").startswith(str(tmp_path)):
            del sys.modules[name]


LIBRARY = """
DOWN = wp.vec3(0.0, -1.0, 0.0)
LIMIT = 1.5

@wp.struct
class Spring:
    stiffness: float

@wp.func
def force(spring: Spring):
    return spring.stiffness * 2.0
"""

PROGRAM = """
import spring_library
from spring_library import Spring

@wp.kernel
def pull(spring: {struct}, x: wp.array[wp.vec3]):
    force = spring_library.force(spring)
    spring_library_DOWN = spring_library.DOWN * spring_library.LIMIT
    x[wp.tid()] = spring_library_DOWN * force
"""


@pytest.mark.parametrize("struct", ["Spring", "spring_library.Spring"])
def test_a_module_beside_the_kernel_has_one_struct_however_it_is_named(imported, struct):
    program = imported(spring_library=LIBRARY, spring_program=PROGRAM.format(struct=struct))
    x = wp.zeros(1, dtype=wp.vec3)
    wp.launch(program.pull, 1, [program.Spring(stiffness=2.0), x])
    assert x.numpy().tolist() == [[0.0, -6.0, 0.0]]


class Physics:
    UP = wp.constant(wp.vec3(0.0, 2.0, 0.0))
    SWAP = wp.mat22(0.0, 1.0, 1.0, 0.0)


@wp.kernel
def use_class(x: wp.array[wp.vec3], y: wp.array[wp.vec2]):
    UP = Physics.UP * 2.0
    x[0] = UP + Physics.UP
    y[0] = Physics.SWAP * wp.vec2(1.0, 2.0)


def test_vectors_and_matrices_may_stand_after_a_dot():
    x, y = wp.zeros(1, dtype=wp.vec3), wp.zeros(1, dtype=wp.vec2)
    wp.launch(use_class, 1, [x, y])
    assert x.numpy().tolist() == [[0.0, 6.0, 0.0]] and y.numpy().tolist() == [[2.0, 1.0]]


@wp.func
def clipped(x: float):
    return 3.0 * x


@wp.func_grad(clipped)
def adj_clipped(x: float, adj_ret: float):
    wp.adjoint[x] += wp.min(adj_ret, 1.0)


@wp.func
def take(counter: wp.array[int], taken: wp.array[int], i: int):
    at = wp.atomic_add(counter, 0, 1)
    taken[i] = at
    return at


@wp.func_replay(take)
def replay_take(counter: wp.array[int], taken: wp.array[int], i: int):
    return taken[i]


@wp.kernel
def clip(x: wp.array[float], y: wp.array[float]):
    i = wp.tid()
    y[i] = clipped(x[i])


@wp.kernel
def compact(counter: wp.array[int], taken: wp.array[int], x: wp.array[float], y: wp.array[float]):
    i = wp.tid()
    at = take(counter, taken, i)
    y[at] = x[i] * x[i]


def test_a_function_with_a_gradient_by_hand_is_reversed_by_it():
    x, y = wp.ones(2, requires_grad=True), wp.zeros(2, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(clip, 2, [x, y])
    tape.backward(grads={y: wp.array([0.5, 7.0], dtype=float)})
    assert y.numpy().tolist() == [3.0, 3.0] and x.grad.numpy().tolist() == [0.5, 1.0]


def test_a_function_with_a_replay_is_replayed_by_it():
    counter, taken = wp.zeros(1, dtype=int), wp.zeros(3, dtype=int)
    x, y = wp.array([1.0, 2.0, 3.0], dtype=float, requires_grad=True), wp.zeros(3, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(compact, 3, [counter, taken, x, y])
    tape.backward(grads={y: wp.ones(3)})
    assert counter.numpy().tolist() == [3] and x.grad.numpy().tolist() == [2.0, 4.0, 6.0]


BY_HAND = """import warp as wp

@wp.func
def clipped(x: float):
    return 3.0 * x

@wp.func_grad(clipped)
def adj_clipped(x: float, adj_ret: float):
    wp.adjoint[x] += {gradient}

@wp.kernel
def clip(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = clipped(x[i])
"""


def test_kernels_of_a_file_are_reversed_by_gradients_by_hand(tmp_path):
    file = tmp_path / "clip.py"
    file.write_text(BY_HAND.format(gradient="wp.min(adj_ret, 1.0)"))
    gradient = np.zeros(2, np.float32)
    values: list[Any] = [np.ones(2, np.float32), np.zeros(2, np.float32)]
    kernel = from_file(file)["clip"]
    kernel.backward(2, *values, grads={"x": gradient, "y": np.array([0.5, 7.0], np.float32)})
    assert gradient.tolist() == [0.5, 1.0]


def test_a_gradient_by_hand_that_is_refused_is_a_fault_of_the_reverse_alone():
    kernel = from_text(BY_HAND.format(gradient="no_such_name"))["clip"]
    x, y = np.ones(2, np.float32), np.zeros(2, np.float32)
    kernel.launch(2, x, y)
    assert y.tolist() == [3.0, 3.0]
    with pytest.raises(wp.CompileError, match="no_such_name"):
        kernel.backward(2, x, y, grads={"x": np.zeros(2, np.float32), "y": np.ones(2, np.float32)})


@wp.func
def length_of(v: wp.types.vector(length=Any, dtype=wp.Float)):
    total = v.dtype(0.0)
    for i in range(len(v)):
        total += v[i] * v[i]
    return wp.sqrt(total)


@wp.func
def parts(v: wp.vec2) -> Tuple[float, wp.vec2]:  # noqa: UP006
    return v[0], v * 2.0


@wp.func
def powers(x: float) -> wp.fixedarray(shape=2, dtype=float):
    made = wp.zeros(shape=2, dtype=float)
    made[0] = x
    made[1] = x * x
    return made


@wp.func
def raise_by(x: wp.ref[float], by: float):
    x += by


@wp.func_native("return a * a + b;")
def squared_and(a: float, b: float) -> float: ...


OPERATIONS = [wp.sqrt, wp.abs]


@wp.kernel(enable_backward=False)
def use_names(v: wp.array[wp.vec2], out: wp.array[float], any_of: wp.array(dtype=wp.Scalar)):
    first, doubled = parts(v[0])
    out[0] = length_of(doubled) + first
    out[1] = powers(3.0)[1]
    y = float(1.0)
    raise_by(y, 2.0)
    out[2] = y
    out[3] = squared_and(3.0, 1.0)
    for j in range(wp.static(len(OPERATIONS))):
        out[4] += wp.static(OPERATIONS[j])(4.0)
    out[5] = float(any_of[0])


def test_annotations_and_lists_hold_names_that_only_kernels_use():
    out = wp.zeros(6)
    wp.launch(use_names, 1, [wp.array([[3.0, 4.0]], dtype=wp.vec2), out, wp.full(1, 7, dtype=wp.int64)])
    assert out.numpy().tolist() == [13.0, 9.0, 3.0, 10.0, 6.0, 7.0]
    with pytest.raises(TypeError, match="`wp.tid` is for kernels"):
        wp.tid()


# Names that pages show as wrong or use as words, and names that are spelled out elsewhere.
NO_NAMES = {"aray", "normalise", "quaternion", "transformation"}


def test_every_name_that_the_dialects_pages_mention_is_in_python():
    pages = (pathlib.Path(__file__).parents[2] / "docs" / "dialect").rglob("*.md")
    mentioned = {name for page in pages for name in re.findall(r"\bwp\.([A-Za-z_]\w*)", page.read_text())}
    assert len(mentioned) > 60
    assert {name for name in mentioned - NO_NAMES if not hasattr(wp, name)} == set()


@wp.kernel
def scale(x: wp.array(dtype=Any), by: Any):
    i = wp.tid()
    x[i] = x[i] * by


@wp.overload
def scale(x: wp.array(dtype=wp.vec2), by: float): ...  # noqa: F811


@wp.overload
def scale(x: wp.array(dtype=float), by: float): ...  # noqa: F811


def test_an_overload_as_a_decorator_leaves_the_kernel_generic():
    vectors, numbers, doubles = wp.ones(1, dtype=wp.vec2), wp.ones(1), wp.ones(1, dtype=wp.float64)
    for x, by in ((vectors, 2.0), (numbers, 2.0), (doubles, wp.float64(2.0))):
        wp.launch(scale, 1, [x, by])
    assert vectors.numpy().tolist() == [[2.0, 2.0]]
    assert numbers.numpy().tolist() == doubles.numpy().tolist() == [2.0]


@wp.struct
class Turn:
    by: wp.mat22
    of: wp.array(dtype=wp.mat22)


@wp.kernel
def keep(m: wp.mat22, turn: Turn, out: wp.array[wp.mat22]):
    out[0] = m
    out[1] = turn.by
    out[2] = turn.of[0]


def test_a_matrix_is_given_as_its_numbers_in_a_list():
    matrix, out = wp.mat22(1.0, 2.0, 3.0, 4.0), wp.zeros(3, dtype=wp.mat22)
    for given in ([1.0, 2.0, 3.0, 4.0], [[1.0, 2.0], [3.0, 4.0]], matrix):
        turn = Turn(by=given, of=wp.array(np.array([matrix]), dtype=wp.mat22))
        wp.launch(keep, 1, [given, turn, out])
        assert out.numpy().tolist() == [[[1.0, 2.0], [3.0, 4.0]]] * 3
    with pytest.raises(TypeError, match=r"numbers of shape \[3\]"):
        wp.launch(keep, 1, [[1.0, 2.0, 3.0], Turn(), out])


def test_numpy_sees_a_matrix_as_its_numbers_in_one_dimension():
    matrix = wp.mat22(1.0, 2.0, 3.0, 4.0)
    assert np.array(matrix).tolist() == [1.0, 2.0, 3.0, 4.0] and np.array([matrix, matrix]).shape == (2, 4)
    assert wp.full(2, matrix).numpy()[1].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert matrix == [[1.0, 2.0], [3.0, 4.0]] and wp.array(np.array([matrix] * 3), dtype=wp.mat22).shape == (3,)
    matrix[0:1, 0:2] = wp.types.matrix(shape=(1, 2), dtype=float)(5.0, 6.0)
    assert matrix == wp.mat22(5.0, 6.0, 3.0, 4.0)


def test_numbers_of_warps_types_have_arithmetic():
    assert wp.float32(2.5) + 1.0 == 3.5 and 1.0 - wp.float32(2.5) == -1.5 and wp.int32(7) / 2 == 3
    assert wp.uint8(250) + wp.uint8(10) == wp.uint8(4) and wp.int32(7) < 8 and -wp.int64(7) == -7
    assert wp.float32(2.0) * wp.vec2(1.0, 2.0) == wp.vec2(2.0, 4.0)
    with pytest.raises(wp.CompileError, match="isn't defined for `float64` and `int32`"):
        wp.float64(1.0) + 1


def test_a_kernel_is_made_by_its_class_and_a_struct_takes_fields_from_another():
    def body(x: wp.array(dtype=float)):
        x[wp.tid()] += 1.0

    x, one, other = wp.zeros(1), Turn(by=wp.mat22(1.0)), Turn()
    wp.launch(wp.Kernel(func=body), 1, [x])
    other.assign(one)
    one.by[0, 0] = 9.0
    assert x.numpy().tolist() == [1.0] and other.by == wp.mat22(1.0)


@pytest.mark.parametrize("dim, error", [(-1, ValueError), ((2, -1), ValueError), (3.0, TypeError), ("3", TypeError)])
def test_extents_that_are_no_counts_are_refused_by_the_kernels_name(dim, error):
    with pytest.raises(error, match="`dim` of kernel `scale`"):
        wp.launch(scale, dim, [wp.zeros(1), 2.0])


def power_of(number):
    @wp.func
    def raised(x: float):
        return x**number

    return raised


squared, cubed = power_of(2.0), power_of(3.0)
number = 10.0
BY_NAME = {"cubed": cubed}
Wheel = Turn


@wp.func
def apply(f: wp.Function, x: float):
    return f(x)


@wp.kernel
def hide_names(out: wp.array[float], raised_2: float, Turn: float):
    number_2 = 100.0
    number_3 = 1000.0
    raised = squared(3.0)
    wheel = Wheel()
    wheel.by[0, 0] = 7.0
    out[0] = raised + cubed(2.0) + number + number_2 + number_3
    out[1] = wp.static(BY_NAME["cubed"])(raised_2)
    out[2] = apply(cubed, 3.0) + wheel.by[0, 0] + Turn


def test_names_of_a_kernel_hide_nothing_that_it_takes_along():
    out = wp.zeros(3)
    wp.launch(hide_names, 1, [out, 4.0, 0.5])
    assert out.numpy().tolist() == [9.0 + 8.0 + 10.0 + 1100.0, 64.0, 27.0 + 7.0 + 0.5]


@wp.func
def blended(x: float, y: float):
    return 3.0 * x + y


@wp.func_grad(blended)
def adj_blended(x: float, y: float, adj_ret: float):
    wp.adjoint[x] += 42.0 * adj_ret
    wp.adjoint[y] += 10.0 * adj_ret


@wp.func
def blended(x: float):  # noqa: F811
    return 2.0 * x


@wp.func_grad(blended)
def adj_blended(x: float, adj_ret: float):  # noqa: F811
    wp.adjoint[x] += 99.0 * adj_ret


@wp.kernel
def blend(x: wp.array[float], y: wp.array[float]):
    y[0] = blended(x[0], x[0])
    y[1] = blended(x[1])


def test_each_overload_has_its_own_gradient_by_hand():
    x, y = wp.ones(2, requires_grad=True), wp.zeros(2, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(blend, 1, [x, y])
    tape.backward(grads={y: wp.ones(2)})
    assert y.numpy().tolist() == [4.0, 2.0] and x.grad.numpy().tolist() == [52.0, 99.0]


@wp.func
def kind(x: Any):
    return "anything"


@wp.func
def kind(x: float):  # noqa: F811
    return "float"


@wp.func
def kind(x: int):  # noqa: F811
    return "int"


@wp.func
def kind(x: wp.vec3):  # noqa: F811
    return "vector"


@wp.func
def kind(x: Turn):  # noqa: F811
    return "struct"


@wp.func
def kind(x: wp.array[float]):  # noqa: F811
    return "floats"


@wp.func
def kind(x: wp.array(dtype=wp.vec3), y: float = 1.0):  # noqa: F811
    return "vectors"


def test_python_calls_the_overload_that_takes_the_arguments():
    given = [2.0, 2, wp.float32(2.0), wp.vec3(), Turn(), wp.zeros(1), wp.zeros(1, dtype=wp.vec3), wp.vec2()]
    wanted = ["float", "int", "float", "vector", "struct", "floats", "vectors", "anything"]
    assert [kind(each) for each in given] == wanted
    assert kind(x=2) == "int" and kind(wp.zeros(1), y=2.0) == "vectors"
    with pytest.raises(TypeError, match="positional argument"):
        kind()


@wp.struct
class Complex:
    re: float
    im: float


@wp.func
def add(a: Complex, b: Complex):
    return Complex(a.re + b.re, a.im + b.im)


@wp.func
def mul(a: Complex, b: Complex):
    return Complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)


@wp.kernel
def square_plus(z: wp.array(dtype=Complex), out: wp.array(dtype=float)):
    w = z[0] * z[0] + z[1]
    w += z[1]
    out[0] = w.re
    out[1] = w.im


def test_functions_named_like_operators_take_their_places():
    z = wp.zeros(2, dtype=Complex)
    z.numpy()["re"], z.numpy()["im"] = [1.0, 10.0], [2.0, 20.0]
    out = wp.zeros(2, dtype=float)
    wp.launch(square_plus, 1, inputs=[z, out])
    assert out.numpy().tolist() == [1.0 - 4.0 + 20.0, 4.0 + 40.0]


vector_of_three = wp.vec3


@wp.func
def first_of(v: "vector_of_three") -> "float":
    return v[0]


@wp.kernel
def quoted(a: "wp.array(dtype=vector_of_three)", out: "wp.array(dtype=float)"):
    out[0] = first_of(a[0])


def test_annotations_may_be_strings():
    out = wp.zeros(1, dtype=float)
    wp.launch(quoted, 1, inputs=[wp.array(np.full((1, 3), 2.5), dtype=wp.vec3), out])
    assert out.numpy().tolist() == [2.5]


def test_transforms_are_captured():
    raised = wp.transform(wp.vec3(0.0, 0.0, 2.0), wp.quat_identity())

    @wp.kernel
    def lift(out: wp.array(dtype=float)):
        out[0] = wp.transform_point(raised, wp.vec3(1.0, 1.0, 1.0))[2]

    out = wp.zeros(1, dtype=float)
    wp.launch(lift, 1, inputs=[out])
    assert out.numpy().tolist() == [3.0]


def test_a_type_after_dots_makes_values(imported):
    sizes = "vec5 = wp.types.vector(length=5, dtype=wp.int32)\n"
    text = """
import sizes
@wp.kernel
def run(x: wp.array[wp.int32]):
    five = sizes.vec5(1, 2, 3, 4, 5)
    x[wp.tid()] = five[3]
"""
    x = wp.zeros(2, dtype=wp.int32)
    wp.launch(imported(sizes=sizes, program=text).run, 2, [x])
    assert x.numpy().tolist() == [4, 4]


def test_a_fault_of_an_imported_function_is_shown_in_its_file(imported):
    library = "\n\n\n@wp.func\ndef lost(x: float):\n    y = x\n    return y + nowhere\n"
    text = "from library import lost\n@wp.kernel\ndef run(x: wp.array[float]):\n    x[0] = lost(x[0])\n"
    program = imported(library=library, program=text)
    with pytest.raises(wp.CompileError, match=r"nowhere.*\n.*library.py:8:16\n.*\n.*return y \+ nowhere"):
        wp.launch(program.run, 1, [wp.zeros(1)])


def test_a_branch_of_an_unrolled_loop_is_chosen_before_its_indices_are_checked():
    @wp.kernel
    def run(v: wp.array[wp.spatial_vector], x: wp.array[float]):
        total = float(0.0)
        for i in range(8):
            if i < 6 and v[0][i] > 2.0:
                total += v[0][i]
        x[0] = total

    x = wp.zeros(1)
    wp.launch(run, 1, [wp.array([wp.spatial_vector(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)], dtype=wp.spatial_vector), x])
    assert x.numpy()[0] == 18.0


@wp.func_native(
    """
#if defined(__CUDA_ARCH__)
return __ffsll((long long)x) - 1;
#else
return __builtin_ctzll((unsigned long long)x) + 100 * __builtin_popcount((unsigned)x) + 1000 * __builtin_clz(7u);
#endif
"""
)
def bits_of(x: wp.uint64) -> int: ...


def test_a_snippet_counts_bits():
    @wp.kernel
    def run(x: wp.array[wp.uint64], out: wp.array[wp.int32]):
        i = wp.tid()
        out[i] = bits_of(x[i])

    x, out = wp.array([1, 12, 2**40], dtype=wp.uint64), wp.zeros(3, dtype=wp.int32)
    wp.launch(run, 3, [x, out])
    assert out.numpy().tolist() == [29100, 29202, 29040]


@pytest.mark.parametrize("rows, cols, inner", [(8, 8, 8), (3, 5, 7), (6, 4, 3), (2, 6, 5), (1, 4, 4), (4, 1, 2)])
def test_each_element_of_a_product_of_tiles_is_summed_from_first_to_last(rows, cols, inner):
    @wp.kernel
    def multiply(a: wp.array2d[float], b: wp.array2d[float], c: wp.array2d[float]):
        left, right = wp.tile_load(a, shape=(rows, inner)), wp.tile_load(b, shape=(inner, cols))
        total = wp.tile_load(c, shape=(rows, cols))
        wp.tile_matmul(left, right, total, alpha=2.0, beta=0.5)
        wp.tile_store(c, wp.mul(total, 2.0))

    draw = np.random.default_rng(3)
    a, b, c = (draw.random(shape, np.float32) for shape in [(rows, inner), (inner, cols), (rows, cols)])
    out = wp.array(c, dtype=float)
    wp.launch_tiled(multiply, dim=1, inputs=[wp.array(a), wp.array(b), out], block_dim=32)
    total = np.zeros((rows, cols), np.float32)
    for at in range(inner):
        total = total + a[:, at : at + 1] * b[at : at + 1]
    assert np.array_equal(out.numpy(), 2 * (np.float32(2.0) * total + np.float32(0.5) * c))


factor = 2.0


@wp.func
def mobility(x: float):
    return x * factor


@wp.kernel
def _names_before_their_first_binding(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    mobility = mobility(x[i])
    factor = factor + 1.0
    for turn in range(2):
        mobility = mobility + factor
    y[i] = mobility


def test_a_name_is_the_module_s_before_the_function_binds_it():
    x, y = wp.array([1.0, 2.0], dtype=float), wp.zeros(2)
    wp.launch(_names_before_their_first_binding, 2, [x, y])
    assert y.numpy().tolist() == [8.0, 10.0]
