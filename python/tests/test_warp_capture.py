"""Captures of `gbxcule.warp`, launches with given adjoints, and arrays without elements."""

import numpy as np
import pytest

import gbxcule.warp as wp


@wp.kernel
def square(a: wp.array[float], b: wp.array[float]):
    i = wp.tid()
    b[i] = a[i] * a[i]


@wp.kernel
def descend(a: wp.array[float], gradient: wp.array[float]):
    i = wp.tid()
    a[i] -= 0.25 * gradient[i]


@wp.kernel
def triple(a: wp.array[float]):
    i = wp.tid()
    a[i] = a[i] * 3.0


@wp.kernel
def add_to(a: wp.array[float], v: wp.vec2):
    a[wp.tid()] += v[0]


def captured(work):
    with wp.ScopedCapture(device="cpu") as capture:
        kept = work()
    return capture.graph, kept


def test_a_tape_in_a_capture_is_reversed_at_each_launch_of_it():
    a, b = wp.array([1.0, 2.0], dtype=float, requires_grad=True), wp.zeros(2, requires_grad=True)
    copied, calls = wp.zeros_like(b), []

    def step():
        with wp.Tape() as tape:
            wp.launch(square, 2, [a, b])
            wp.copy(copied, b)
        tape.record_func(lambda: calls.append(1), [a])
        tape.backward(grads={copied: wp.ones(2)})
        wp.launch(descend, 2, [a, a.grad])
        tape.zero()

    graph, _ = captured(step)
    # Python's own part runs while the capture is on, as in Warp.
    assert calls == [1] and a.numpy().tolist() == [1.0, 2.0]
    for _ in range(2):
        wp.capture_launch(graph)
    assert calls == [1] and a.numpy().tolist() == [0.25, 0.5] and not a.grad.numpy().any()


def test_a_recorded_launch_in_a_capture_is_kept_with_its_arguments():
    a, v = wp.zeros(2), wp.vec2(1.0, 0.0)
    command = wp.launch(add_to, 2, [a, v], record_cmd=True)
    graph, _ = captured(command.launch)
    assert not a.numpy().any()
    v[0] = 100.0
    command.set_param_by_name("v", wp.vec2(50.0, 0.0))
    wp.capture_launch(graph)
    wp.capture_launch(graph)
    assert a.numpy().tolist() == [2.0, 2.0]


def test_an_array_of_zeros_in_a_capture_is_one_at_each_launch_of_it():
    def step():
        made = wp.zeros(2)
        wp.launch(add_to, 2, [made, wp.vec2(1.0, 0.0)])
        return made

    graph, made = captured(step)
    for _ in range(3):
        wp.capture_launch(graph)
    assert made.numpy().tolist() == [1.0, 1.0]


@wp.kernel
def count_down(left: wp.array[int], done: wp.array[int]):
    left[0] -= 1
    done[0] += 1


def test_branches_and_loops_of_a_capture_are_decided_at_each_launch_of_it():
    left, done, other = wp.array([3], dtype=int), wp.zeros(1, dtype=int), wp.zeros(1, dtype=int)

    def step():
        wp.capture_while(left, lambda: wp.launch(count_down, 1, [left, done]))
        wp.capture_if(done, on_true=lambda amount: other.fill_(amount), amount=5)

    step()
    assert (left.numpy()[0], done.numpy()[0], other.numpy()[0]) == (0, 3, 5)
    done.zero_()
    other.zero_()
    graph, _ = captured(step)
    wp.capture_launch(graph)
    assert (done.numpy()[0], other.numpy()[0]) == (0, 0)
    left.fill_(4)
    wp.capture_launch(graph)
    assert (left.numpy()[0], done.numpy()[0], other.numpy()[0]) == (0, 4, 5)
    with pytest.raises(TypeError, match="a condition is an array of one `int32`"):
        wp.capture_if(wp.zeros(1), on_true=step)


@wp.kernel
def count(grid: wp.uint64, x: wp.array[wp.vec3], out: wp.array[int]):
    i = wp.tid()
    found = int(0)
    for other in wp.hash_grid_query(grid, x[i], 0.5):
        if wp.length(x[i] - x[other]) < 0.5:
            found += 1
    out[i] = found


@wp.kernel
def shrink(x: wp.array[wp.vec3]):
    i = wp.tid()
    x[i] = 0.5 * x[i]


def test_a_hash_grid_that_is_built_in_a_capture_is_built_at_each_launch_of_it():
    x, out, grid = wp.array(np.eye(3), dtype=wp.vec3), wp.zeros(3, dtype=int), wp.HashGrid(8, 8, 8)

    def step():
        grid.build(x, 0.5)
        wp.launch(count, 3, [grid.id, x, out])
        wp.launch(shrink, 3, [x])

    graph, _ = captured(step)
    found = []
    for _ in range(3):
        wp.capture_launch(graph)
        found.append(out.numpy().tolist())
    assert found == [[1, 1, 1], [1, 1, 1], [3, 3, 3]]


def test_given_adjoints_of_what_a_kernel_writes_stay_as_they_are():
    a, b = wp.array([1.0, 2.0], dtype=float), wp.zeros(2)
    for inputs, outputs in (([a], [b]), ([a, b], [])):
        adj_a, adj_b = wp.zeros(2), wp.ones(2)
        given = {"adj_inputs": [adj_a, adj_b][: len(inputs)], "adj_outputs": [adj_a, adj_b][len(inputs) :]}
        wp.launch(square, 2, inputs, outputs, adjoint=True, **given)
        assert adj_a.numpy().tolist() == [2.0, 4.0] and adj_b.numpy().tolist() == [1.0, 1.0]


def test_given_adjoints_of_what_a_kernel_reads_and_writes_are_those_before_it():
    for inputs, outputs in ((1, 0), (0, 1)):
        a, adj_a = wp.ones(2), wp.ones(2)
        wp.launch(
            triple, 2, [a] * inputs, [a] * outputs, [adj_a] * inputs, [adj_a] * outputs, adjoint=True
        )
        assert adj_a.numpy().tolist() == [3.0, 3.0]


def test_given_adjoints_in_a_capture_are_those_of_its_launch():
    a, adj_a, adj_b = wp.array([1.0, 2.0], dtype=float), wp.zeros(2), wp.ones(2)
    graph, _ = captured(
        lambda: wp.launch(square, 2, [a], [wp.zeros(2)], adj_inputs=[adj_a], adj_outputs=[adj_b], adjoint=True)
    )
    adj_b.fill_(2.0)
    wp.capture_launch(graph)
    assert adj_a.numpy().tolist() == [4.0, 8.0] and adj_b.numpy().tolist() == [2.0, 2.0]


@wp.struct
class Options:
    weights: wp.array[float]


@wp.kernel
def tell(a: wp.array[float], b: wp.array2d[float], options: Options, out: wp.array[int]):
    if a:
        out[0] += 1
    if b:
        out[1] += 1
    if options.weights:
        out[2] += 1


def test_an_array_without_elements_is_false_in_a_kernel():
    out, options = wp.zeros(3, dtype=int), Options()
    options.weights = wp.zeros(0)
    for a, b in ((wp.zeros(0), wp.zeros((0, 3))), (wp.array([], dtype=float), wp.zeros((3, 0))), (None, None)):
        wp.launch(tell, 1, [a, b, options, out])
    assert out.numpy().tolist() == [0, 0, 0]
    # A slice points into its array, as in Warp.
    options.weights = wp.zeros(1)
    wp.launch(tell, 1, [wp.zeros(3)[0:0], wp.zeros((2, 3))[0:0], options, out])
    assert out.numpy().tolist() == [1, 1, 1]
