"""`warp.autograd`: matrices of derivatives, and checks of gradients; reverses of functions that use arrays."""

import numpy as np
import pytest

import gbxcule.warp as wp


@wp.kernel
def _both(x: wp.array(dtype=wp.vec3), s: float, y: wp.array(dtype=float), z: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    y[i] = wp.dot(x[i], x[i]) * s
    z[i] = wp.vec2(x[i][0] * x[i][1], wp.sin(x[i][2]))


@wp.func
def _rounded(x: float):
    return x * x


@wp.func_grad(_rounded)
def _adj_rounded(x: float, adj_ret: float):
    wp.adjoint[x] += adj_ret


@wp.kernel
def _wrong(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = _rounded(x[i])


def _arguments():
    x = wp.array(np.arange(6, dtype=np.float32).reshape(2, 3) / 2, dtype=wp.vec3, requires_grad=True)
    return [x, 2.0], [wp.zeros(2, requires_grad=True), wp.zeros(2, dtype=wp.vec2, requires_grad=True)]


def test_matrices_have_a_row_for_each_number_of_an_output():
    inputs, outputs = _arguments()
    found = wp.autograd.jacobian(_both, 2, inputs, outputs)
    assert {at: of.shape for at, of in found.items()} == {(0, 0): (2, 2), (0, 1): (4, 2)}
    assert found[0, 0].numpy().tolist() == [[[0.0, 2.0, 4.0], [0.0] * 3], [[0.0] * 3, [6.0, 8.0, 10.0]]]
    assert not outputs[0].numpy().any()
    differences = wp.autograd.jacobian_fd(_both, 2, inputs, outputs, eps=1e-2)
    for at, of in found.items():
        np.testing.assert_allclose(of.numpy(), differences[at].numpy(), atol=1e-3)
    (one,) = wp.autograd.jacobian(_both, 2, inputs, outputs, [("x", "z")], max_outputs_per_var=1).values()
    assert one.numpy()[0].tolist() == [[0.5, 0.0, 0.0], [0.0] * 3] and np.isnan(one.numpy()[1:]).all()


def test_a_function_that_changes_its_input_gets_it_back():
    inputs, outputs = _arguments()

    def changes(x):
        made = [wp.zeros_like(each, requires_grad=True) for each in outputs]
        wp.launch(_both, 2, [x, 2.0], made)
        x.zero_()
        return made

    before = inputs[0].numpy().copy()
    assert wp.autograd.gradcheck(changes, inputs=inputs[:1], eps=1e-2, show_summary=False)
    assert (inputs[0].numpy() == before).all()


def test_a_wrong_gradient_is_found(capsys):
    x, y = wp.array([3.0], dtype=float, requires_grad=True), wp.zeros(1, requires_grad=True)
    with pytest.raises(ValueError, match="input 0, output 0: the largest difference is 5"):
        wp.autograd.gradcheck(_wrong, 1, [x], [y], eps=1e-2)
    assert "FAIL" in capsys.readouterr().out
    assert not wp.autograd.gradcheck(_wrong, 1, [x], [y], raise_exception=False, show_summary=False)
    for missing in ({"inputs": None}, {"inputs": [x]}):
        with pytest.raises(ValueError, match="is missing: give the arguments"):
            wp.autograd.jacobian(_wrong, 1, **missing)
    with pytest.raises(NotImplementedError, match="leave out the `plot_..` options"):
        wp.autograd.jacobian(_wrong, 1, [x], [y], plot_jacobians=True)


@wp.func
def _stepped(history: wp.array(dtype=float), x: float):
    history[0] = x
    for i in range(3):
        history[i + 1] = history[i] * history[i] - x
    return history[3]


@wp.kernel
def _steps_of_a_function(x: wp.array(dtype=float), history: wp.array(dtype=float), y: wp.array(dtype=float)):
    y[0] = _stepped(history, x[0])


def test_a_function_that_steps_through_an_array_has_a_reverse():
    x, history, y = (wp.array(of, dtype=float, requires_grad=True) for of in ([0.5], [0.0] * 4, [0.0]))
    tape = wp.Tape()
    with tape:
        wp.launch(_steps_of_a_function, 1, [x, history, y])
    tape.backward(y)
    # y = c(b(a(x))), where a = x * x - x, b = a * a - x and c = b * b - x.
    a = 0.5 * 0.5 - 0.5
    b = a * a - 0.5
    assert y.numpy()[0] == np.float32(b * b - 0.5)
    assert x.grad.numpy()[0] == np.float32(2 * b * (2 * a * (2 * 0.5 - 1) - 1) - 1)
