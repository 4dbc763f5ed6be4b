"""Arrays of `gbxcule.warp`: sources of their numbers, views, copies, and gradients beside them."""

import numpy as np
import pytest

import gbxcule.warp as wp


@wp.kernel
def square(a: wp.array[float], b: wp.array[float]):
    i = wp.tid()
    b[i] = a[i] * a[i]


@wp.kernel
def triple(a: wp.array[float]):
    i = wp.tid()
    a[i] = a[i] * 3.0


def followed(*numbers, **options):
    return wp.array(numbers, dtype=float, requires_grad=True, **options)


def numbers(count, *shape):
    return np.arange(count, dtype=np.float32).reshape(shape or count)


def test_a_tape_reverses_what_is_assigned_from_an_array():
    x, y, z = followed(1.0, 2.0), followed(0.0, 0.0), followed(0.0, 0.0)
    with wp.Tape() as tape:
        wp.launch(square, 2, [x], [y])
        z.assign(y)
    tape.backward(grads={z: wp.ones(2)})
    assert x.grad.numpy().tolist() == [2.0, 4.0] and z.grad.numpy().tolist() == [0.0, 0.0]


def test_an_array_lends_its_memory_once_for_all_launches():
    x = wp.array([1.0, 2.0], dtype=float)
    lent = x.lent()
    wp.launch(triple, 2, [x])
    x.numpy()[0] = 5.0
    wp.launch(triple, 2, [x])
    assert x.lent() is lent and x.numpy().tolist() == [15.0, 18.0]


def test_a_tape_reverses_copies_without_gaps():
    x, y = wp.array(numbers(6, 2, 3), requires_grad=True), wp.zeros(6, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(square, 6, [x.transpose().contiguous().flatten()], [y])
    tape.backward(grads={y: wp.ones(6)})
    assert x.grad.numpy().tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]


def test_a_retained_gradient_stays_and_others_are_exact():
    x, y, z = followed(1.0, 2.0), wp.zeros(2, requires_grad=True, retain_grad=True), followed(0.0, 0.0)
    with wp.Tape() as tape:
        wp.launch(square, 2, [x], [y])
        wp.launch(square, 2, [y], [z])
        # Written again: only the gradient of this step may reach it.
        wp.copy(y, x)
        wp.launch(square, 2, [y], [z])
    tape.backward(grads={z: wp.ones(2)})
    assert x.grad.numpy().tolist() == y.grad.numpy().tolist() == [2.0, 4.0]
    y.retain_grad = False
    tape.zero()
    tape.backward(grads={z: wp.ones(2)})
    assert x.grad.numpy().tolist() == [2.0, 4.0] and not y.grad.numpy().any()


def test_gradients_that_cannot_be_retained_are_refused():
    x = followed(1.0, retain_grad=True)
    with wp.Tape() as tape:
        wp.launch(triple, 1, [x])
    with pytest.raises(NotImplementedError, match="`triple` does more with `a`"):
        tape.backward(grads={x: wp.ones(1)})
    with pytest.raises(ValueError, match="`retain_grad` needs `requires_grad`"):
        wp.zeros(1, retain_grad=True)


def test_a_recorded_launch_of_a_reverse_takes_other_gradients():
    x, y, adj_x, adj_y = followed(1.0, 2.0), wp.zeros(2), wp.zeros(2), wp.ones(2)
    command = wp.launch(square, 2, [x], [y], adj_inputs=[adj_x], adj_outputs=[adj_y], adjoint=True, record_cmd=True)
    assert command.adjoint and not adj_x.numpy().any()
    command.launch()
    other = wp.zeros(2)
    command.set_param_by_name("a", other, True)
    command.launch()
    command.set_param_at_index(1, wp.full(2, 3.0), adjoint=True)
    command.launch()
    assert adj_x.numpy().tolist() == [2.0, 4.0] and other.numpy().tolist() == [8.0, 16.0]
    assert not y.numpy().any() and adj_y.numpy().tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="no gradients"):
        wp.launch(square, 2, [x], [y], record_cmd=True).set_param_at_index(0, other, True)


def test_numbers_of_numpy_are_vectors_and_matrices_without_a_type():
    assert wp.from_numpy(numbers(6, 2, 3)).dtype is wp.vec3 and wp.from_numpy(numbers(8, 2, 2, 2)).dtype is wp.mat22
    assert wp.from_numpy(numbers(6, 2, 3)).shape == (2,) and wp.from_numpy(numbers(6)).dtype is wp.float32


def test_vectors_without_a_type_are_rows_of_numbers():
    rows = wp.array([wp.vec3(1.0, 2.0, 3.0)])
    assert rows.dtype is wp.float32 and rows.shape == (1, 3) and wp.array([wp.mat22(1.0)]).shape == (1, 4)


def test_arrays_are_made_with_an_older_name_of_the_shape_and_no_unknown_one():
    assert wp.zeros(n=3).shape == wp.empty(n=3).shape == (3,)
    assert wp.ones(n=2).numpy().tolist() == [1.0, 1.0] and wp.full(n=1, value=3).numpy().tolist() == [3]
    with pytest.raises(TypeError, match="dtyp"):
        wp.zeros(3, dtyp=int)


@pytest.mark.parametrize(
    ("shape", "dtype", "expected"),
    [
        ((4, 6), wp.vec3, (4, 2)), ((2, 8), wp.mat22, (2, 2)), ((2, 4), wp.mat22, (2,)), ((5, 2, 1), wp.vec2, (5,)),
        ((12,), wp.vec3, (4,)), ((4,), wp.mat22, (1,)), ((2, 2, 3), wp.vec3, (2, 2)),
    ],
)  # fmt: skip
def test_rows_of_numbers_hold_elements(shape, dtype, expected):
    count = int(np.prod(shape))
    made = wp.array(numbers(count, *shape), dtype=dtype)
    assert made.shape == expected and made.numpy().ravel().tolist() == list(range(count))


def test_a_copy_of_numbers_in_another_order_has_no_gaps():
    made = wp.array(np.asfortranarray(numbers(6, 2, 3)), requires_grad=True)
    assert made.is_contiguous and made.strides == made.grad.strides == (12, 4)
    assert made.flatten().numpy().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert made.transpose().is_transposed and not made.transpose().transpose().is_transposed


def test_a_shorter_source_fills_the_first_part():
    x = wp.zeros(4)
    wp.copy(x, wp.ones(2))
    assert x.numpy().tolist() == [1.0, 1.0, 0.0, 0.0]
    x.assign([5.0])
    x.assign(wp.array([7.0, 8.0, 9.0], dtype=float))
    assert x.numpy().tolist() == [7.0, 8.0, 9.0, 0.0]
    with pytest.raises(RuntimeError, match="has fewer than 5 elements"):
        x.assign([0.0] * 5)
    with pytest.raises(RuntimeError, match="found `5.0`"):
        x.assign(5.0)


def test_vectors_are_seen_as_numbers_and_back():
    vectors = wp.array(numbers(12, 4, 3), dtype=wp.vec3)
    flat = vectors.view(float)
    assert flat.shape == (4, 3) and flat.view(wp.vec3).shape == (4,)
    flat.fill_(2.0)
    assert vectors.numpy()[3].tolist() == [2.0, 2.0, 2.0]
    assert wp.ones(4)[::2].view(int).numpy().tolist() == [1065353216] * 2
    assert wp.zeros(2, dtype=wp.uint64).view(wp.vec2).shape == (2,)
    for dtype, error in ((wp.vec3, RuntimeError), (wp.float64, TypeError)):
        with pytest.raises(error, match="another size"):
            wp.zeros(12).view(dtype)


def test_one_element_fills_an_array():
    assert wp.zeros(1, dtype=wp.mat22).fill_([1, 2, 3, 4]).numpy().tolist() == [[[1.0, 2.0], [3.0, 4.0]]]
    assert wp.full(2, (1, 2, 3)).numpy().tolist() == [[1, 2, 3]] * 2
    assert wp.full(1, [[1.0, 2.0], [3.0, 4.0]]).dtype is wp.mat22d
    assert wp.full(1, wp.transform()).numpy().tolist() == [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]
    assert not wp.ones(1, dtype=wp.transform).zero_().numpy().any()
    with pytest.raises(ValueError, match="`mat22f` has 4 components"):
        wp.zeros(1, dtype=wp.mat22).fill_([1, 2])
    with pytest.raises(ValueError, match="one `float32` fills an array, found 3"):
        wp.zeros(3).fill_((1, 2, 3))


def test_axes_beyond_an_array_are_refused():
    assert wp.utils.array_sum(wp.ones((2, 3)), axis=-1).numpy().tolist() == [[3.0], [3.0]]
    for axis in (2, -3):
        with pytest.raises(IndexError, match=f"axis {axis} is beyond"):
            wp.utils.array_sum(wp.ones((2, 3)), axis=axis)


def test_others_see_the_memory_of_arrays():
    x = wp.ones((2, 3))
    assert x.__array_interface__["strides"] == (12, 4) and np.shares_memory(np.asarray(x), x.numpy())
    shared = wp.from_dlpack(wp.to_dlpack(x))
    shared.fill_(4.0)
    assert x.numpy().tolist() == [[4.0] * 3] * 2 and not x.pinned
    picked = x[[1, 0]]
    assert str(picked) == str(picked.numpy()) and not picked.is_contiguous


@wp.kernel
def doubled_squares(a: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = 2.0 * a[i, j] * a[i, j]


@pytest.mark.parametrize("part", ["[:, ::2]", ".T", "[::-1, 1:3]"])
def test_parts_of_an_array_have_gradients_of_their_own(part):
    numbers = np.arange(12, dtype=np.float32).reshape(3, 4)
    a = wp.array(eval(f"numbers{part}"), dtype=float, copy=False, requires_grad=True)
    out = wp.zeros(a.shape, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(doubled_squares, a.shape, inputs=[a, out])
    tape.backward(grads={out: wp.ones(a.shape, dtype=float)})
    assert np.array_equal(a.grad.numpy(), 4.0 * eval(f"numbers{part}"))


def test_an_annotation_notes_a_shape_and_elements_that_are_missing():
    noted = wp.array(ndim=2, dtype=float)
    noted.shape = ("*", 3)
    assert noted.shape == ("*", 3) and noted.ndim == 2
    assert wp.array(ndim=1, dtype=wp.Texture2D).ndim == 1
    with pytest.raises(AttributeError, match="reshape"):
        wp.zeros(4).shape = (2, 2)


def test_an_array_may_lie_at_an_address():
    source = wp.array(np.arange(12, dtype=np.float32), dtype=float)
    triple_of = wp.array(ptr=source.ptr + 4, shape=(3,), dtype=float)
    triple_of.fill_(7.0)
    assert source.numpy().tolist() == [0, 7, 7, 7, *range(4, 12)]
    columns = wp.array(ptr=source.ptr, shape=(3, 2), strides=(16, 8), dtype=float)
    wp.launch(triple, 3, [columns[:, 1]])
    assert source.numpy()[[2, 6, 10]].tolist() == [21, 18, 30]
    points = wp.array(ptr=source.ptr, shape=4, dtype=wp.vec3)
    assert points.numpy().shape == (4, 3)
    freed = []
    wp.array(ptr=source.ptr, shape=2, dtype=float, deleter=lambda *told: freed.append(told))
    assert freed == [(source.ptr, 8)]
    with pytest.raises(ValueError, match="at no address"):
        wp.array(ptr=0, shape=2, dtype=float)


def test_empty_takes_the_options_of_an_array():
    assert wp.empty((2, 3), dtype=wp.vec3, ndim=2).shape == (2, 3)


@wp.kernel
def within(x: wp.array[float]):
    all_of = wp.zeros(shape=(6,), dtype=wp.vec2)
    last = wp.array(ptr=all_of.ptr + wp.uint64(4 * 8), shape=(2,), dtype=wp.vec2)
    last[1] = wp.vec2(3.0, 4.0)
    x[wp.tid()] = all_of[5][1] + all_of[3][1]


@wp.kernel
def beyond(x: wp.array[float]):
    part = wp.array(ptr=x.ptr + wp.uint64(8), shape=(4,), dtype=float)
    part[0] = 1.0


def test_an_array_of_a_kernel_may_begin_within_another():
    x = wp.zeros(4)
    wp.launch(within, 1, [x])
    assert x.numpy()[0] == 4.0
    with pytest.raises(wp.LaunchError):
        wp.launch(beyond, 1, [x])


@wp.kernel
def trade(a: wp.array[float], b: wp.array[float]):
    i = wp.tid()
    first, second = a[i], b[i]
    a[i] = first * second
    b[i] = wp.sin(first) + second


@wp.kernel
def divide(mass: wp.array[float], total: wp.array2d[wp.vec3], mean: wp.array2d[wp.vec3]):
    world, body = wp.tid()
    mean[world, body] = total[world, body] / mass[body]


@wp.kernel
def triple_squared(a: wp.array[float]):
    i = wp.tid()
    a[i] = a[i] * a[i] * 3.0


@wp.kernel
def square_next(a: wp.array[float]):
    i = wp.tid()
    a[i] = a[i] * a[i + 1]


def test_a_tape_copies_elements_that_a_launch_overwrites_before_its_reverse_reads_them():
    a, b = [wp.array(each, dtype=float, requires_grad=True) for each in ([2.0, 3.0], [0.5, 4.0])]
    with wp.Tape() as tape:
        wp.launch(trade, 2, [a, b])
        wp.launch(trade, 2, [a, b])
    first, second = np.float32([2.0, 3.0]), np.float32([0.5, 4.0])
    product, other = first * second, np.sin(first) + second
    tape.backward(grads={a: wp.ones(2), b: wp.ones(2)})
    to_product, to_other = other + np.cos(product), product + 1.0
    np.testing.assert_allclose(a.grad.numpy(), to_product * second + to_other * np.cos(first), rtol=1e-5)
    np.testing.assert_allclose(b.grad.numpy(), to_product * first + to_other, rtol=1e-5)


def test_a_tape_reverses_a_kernel_that_reads_and_writes_one_array_by_two_parameters():
    mass, total = wp.array([2.0, 4.0], dtype=float, requires_grad=True), wp.full((1, 2), wp.vec3(1.0, 2.0, 3.0))
    total.requires_grad = True
    with wp.Tape() as tape:
        wp.launch(divide, (1, 2), [mass, total], [total])
    tape.backward(grads={total: wp.ones((1, 2), dtype=wp.vec3)})
    assert total.grad.numpy()[0].tolist() == [[0.5] * 3, [0.25] * 3]
    assert mass.grad.numpy().tolist() == [-1.5, -0.375]


@pytest.mark.parametrize("kernel, dim", [(square_next, 3), (triple_squared, (3, 2))])
def test_a_tape_refuses_elements_that_other_threads_overwrite(kernel, dim):
    a = wp.ones(4, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernel, dim, [a])
    with pytest.raises(wp.CompileError, match="overwritten"):
        tape.backward(grads={a: wp.ones(4)})


def test_a_tape_refuses_two_views_that_share_other_elements():
    a = wp.ones(4, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(trade, 3, [a[:3], a[1:]])
    with pytest.raises(wp.CompileError, match="overwritten"):
        tape.backward(grads={a: wp.ones(4)})


def test_a_tape_refuses_an_array_whose_elements_share_memory():
    number = np.full(1, 2.0, np.float32)
    a = wp.array(ptr=number.ctypes.data, shape=(4,), strides=(0,), dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(triple_squared, 4, [a])
    with pytest.raises(wp.CompileError, match="overwritten"):
        tape.backward(grads={a: wp.ones(4)})
