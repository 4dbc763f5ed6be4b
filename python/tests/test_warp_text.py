"""What kernels of `gbxcule.warp` take along from the Python around them."""

import importlib
import sys
from typing import Any

import numpy as np
import pytest

import gbxcule.warp as wp
from gbxcule.kernel import from_file, from_text


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """Writes files into one folder, and imports the last of them."""
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
