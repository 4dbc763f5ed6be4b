"""Functions over whole arrays in `gbxcule.warp`: `map`, operators, `utils`, `optim`, and arrays of other libraries.

Expected numbers were computed by NVIDIA Warp 1.19 where they aren't exact.
"""

import numpy as np
import pytest

import gbxcule.warp as wp

OFFSET = 10.0


@wp.func
def both(x: float, y: float):
    return x + y, x - y


@wp.func
def value(x: float):
    return x * OFFSET


@wp.func
def nested(x: float):
    return value(x) + 1.0


def array(*numbers, dtype=float, **options):
    return wp.array(numbers, dtype=dtype, **options)


def test_map_takes_functions_lambdas_and_builtins():
    x, factor = array(1.0, 2.0), 3.0
    assert wp.map(wp.sqrt, array(4.0, 9.0)).numpy().tolist() == [2.0, 3.0]
    assert wp.map(lambda a: a * factor + OFFSET, x).numpy().tolist() == [13.0, 16.0]
    # Two on one line are told apart.
    results = [wp.map(f, x).numpy().tolist() for f in (lambda a: a + 1.0, lambda a: a + 2.0)]
    assert results == [[2.0, 3.0], [3.0, 4.0]]
    assert wp.map(nested, x).numpy().tolist() == [11.0, 21.0]

    def twice(a):
        return a * 2.0

    assert wp.map(twice, x).numpy().tolist() == [2.0, 4.0]
    sums, differences = wp.map(both, x, 1.0)
    assert sums.numpy().tolist() == [2.0, 3.0] and differences.numpy().tolist() == [0.0, 1.0]


def test_map_broadcasts_writes_to_given_arrays_and_sees_vectors():
    row, column = wp.array([[1.0, 2.0]], dtype=float), wp.array([[10.0], [20.0]], dtype=float)
    assert wp.map(wp.add, row, column).numpy().tolist() == [[11.0, 12.0], [21.0, 22.0]]
    x = array(-1.0, 0.0, 1.0)
    assert wp.map(wp.clamp, x, -0.5, 0.5, out=x) is x
    assert x.numpy().tolist() == [-0.5, 0.0, 0.5]
    move = wp.transform(wp.vec3(1.0, 2.0, 3.0), wp.quat_identity())
    assert wp.map(wp.transform_point, move, wp.ones(2, dtype=wp.vec3)).numpy().tolist() == [[2.0, 3.0, 4.0]] * 2
    with pytest.raises(TypeError, match="takes 2 arguments, found 1"):
        wp.map(both, x)
    with pytest.raises(ValueError, match="at least one array"):
        wp.map(wp.sqrt, 1.0)
    with pytest.raises(TypeError, match=r"an array of \(3,\) and `float32`"):
        wp.map(wp.sqrt, x, out=wp.zeros(2))


def test_map_is_on_tapes():
    x = array(1.0, 2.0, requires_grad=True)
    with wp.Tape() as tape:
        y = wp.map(lambda a: a * a, x)
    tape.backward(grads={y: wp.ones(2)})
    assert y.requires_grad and x.grad.numpy().tolist() == [2.0, 4.0]


def test_arrays_have_the_operators_of_their_elements():
    a, b = array(7.0, -2.0), array(2.0, 4.0)
    assert (a + b).numpy().tolist() == [9.0, 2.0] and (1.0 - a).numpy().tolist() == [-6.0, 3.0]
    assert (a * 2.0).numpy().tolist() == [14.0, -4.0] and (2.0 / b).numpy().tolist() == [1.0, 0.5]
    assert (a % b).numpy().tolist() == [1.0, -2.0] and (b**2.0).numpy().tolist() == [4.0, 16.0]
    assert (-a).numpy().tolist() == [-7.0, 2.0] and (a // b).numpy().tolist() == [3.0, -1.0]
    same = a
    a += b
    a *= 2.0
    assert same is a and a.numpy().tolist() == [18.0, 4.0]
    doubled = wp.ones(2, dtype=wp.vec2) * 2.0
    assert doubled.dtype is wp.vec2 and doubled.numpy().tolist() == [[2.0, 2.0]] * 2
    assert (array(1.0, 2.0, 3.0)[[2, 0]] + 1.0).numpy().tolist() == [4.0, 2.0]
    with pytest.raises(wp.CompileError, match="isn't defined for `float32` and `int32`"):
        a + 1


def noise(count):
    return np.random.default_rng(0).normal(size=count).astype(np.float32)


def test_sums_are_those_of_one_element_after_the_other():
    x = wp.array(noise(1001))
    y = wp.array(np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32), dtype=wp.vec3)
    assert wp.utils.array_sum(x) == np.cumsum(x.numpy())[-1] == np.float32(-46.84437)
    assert wp.utils.array_inner(x, x) == np.cumsum(x.numpy() * x.numpy())[-1]
    assert (wp.utils.array_sum(y) == np.cumsum(y.numpy(), axis=0)[-1]).all()
    assert wp.utils.array_inner(y, y) == np.cumsum((y.numpy() * y.numpy()).ravel())[-1]
    table = wp.array(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    assert wp.utils.array_sum(table, axis=0).numpy().tolist() == [[3.0, 5.0, 7.0]]
    assert wp.utils.array_sum(table, value_count=4) == 6.0 and wp.utils.array_sum(wp.zeros(0)) == 0.0
    out = wp.zeros(1)
    assert wp.utils.array_sum(table, out=out) is out and out.numpy().tolist() == [15.0]
    with pytest.raises(RuntimeError, match="sums are of `float32` and `float64`"):
        wp.utils.array_sum(array(1, dtype=int))


def test_scans_include_each_element_or_not():
    x, out = array(3, 1, 4, dtype=int), wp.zeros(3, dtype=int)
    wp.utils.array_scan(x, out)
    assert out.numpy().tolist() == [3, 4, 8]
    wp.utils.array_scan(x, out, inclusive=False)
    assert out.numpy().tolist() == [0, 3, 4]


def test_pairs_are_sorted_by_keys_or_some_of_their_bits():
    def sorted_pairs(keys, dtype, *bits):
        pair = wp.array(keys * 2, dtype=dtype), wp.array(np.arange(2 * len(keys)), dtype=int)
        wp.utils.radix_sort_pairs(*pair, len(keys), *bits)
        return [each.numpy()[: len(keys)].tolist() for each in pair]

    assert sorted_pairs([3.5, -1.0, 2.0, -7.0], float) == [[-7.0, -1.0, 2.0, 3.5], [3, 1, 2, 0]]
    assert sorted_pairs([19, -5, 17, -3], int) == [[-5, -3, 17, 19], [1, 3, 2, 0]]
    assert sorted_pairs([19, 33, 17, 3], int, 0, 4) == [[33, 17, 19, 3], [1, 2, 0, 3]]
    keys, values = wp.array([3, -5, 1, -3, 9, 7, 8, 2] * 2, dtype=int), wp.array(np.arange(16), dtype=int)
    wp.utils.segmented_sort_pairs(keys, values, 8, array(0, 3, 8, dtype=int))
    assert keys.numpy()[:8].tolist() == [-5, 1, 3, -3, 2, 7, 8, 9]
    assert values.numpy()[:8].tolist() == [1, 2, 0, 3, 7, 5, 6, 4]


def test_runs_are_counted_and_elements_converted():
    values, runs, lengths = array(1, 1, 2, 2, 2, 3, dtype=int), wp.zeros(6, dtype=int), wp.zeros(6, dtype=int)
    assert wp.utils.runlength_encode(values, runs, lengths) == 3
    assert runs.numpy()[:3].tolist() == [1, 2, 3] and lengths.numpy()[:3].tolist() == [2, 3, 1]
    whole, numbers = wp.zeros(2, dtype=int), wp.zeros((2, 3), dtype=wp.float64)
    wp.utils.array_cast(array(1.75, -2.75), whole)
    wp.utils.array_cast(wp.ones(2, dtype=wp.vec3), numbers)
    assert whole.numpy().tolist() == [1, -2] and numbers.numpy().tolist() == [[1.0] * 3] * 2


def test_optimizers_take_the_steps_of_warps():
    target = np.array([[1.0, 2.0, 3.0]] * 2, np.float32)
    x = wp.zeros(2, dtype=wp.vec3)
    adam = wp.optim.Adam([x], lr=0.1)
    for _ in range(10):
        adam.step([wp.array(2.0 * (x.numpy() - target), dtype=wp.vec3)])
    assert x.numpy()[0].tolist() == ADAM
    y = array(1.0, -2.0)
    descent = wp.optim.SGD([y], lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True)
    for _ in range(5):
        descent.step([wp.array(2.0 * y.numpy())])
    assert y.numpy().tolist() == SGD
    with pytest.raises(TypeError, match="gradient of its parameter's type"):
        adam.step([wp.zeros(2)])
    with pytest.raises(RuntimeError, match="Adam takes arrays of"):
        wp.optim.Adam([wp.zeros(1, dtype=wp.float64)])


# As Warp 1.19 printed them.
ADAM = [0.9237502813339233, 0.9754125475883484, 0.9858109354972839]
SGD = [-0.4163600504398346, 0.8327201008796692]


@wp.kernel
def double(x: wp.array[wp.bfloat16], out: wp.array[float]):
    i = wp.tid()
    out[i] = float(x[i])
    x[i] = x[i] + x[i]


def test_arrays_of_bfloat16_hold_bits():
    x, out = array(1.0, 2.5, -3.14159, dtype=wp.bfloat16), wp.zeros(3)
    assert x.numpy().tolist() == [16256, 16416, 49225]
    wp.launch(double, 3, [x, out])
    assert out.numpy().tolist() == [1.0, 2.5, -3.140625]
    assert [each.value for each in x.list()] == [2.0, 5.0, -6.28125]
    assert wp.full(1, 1.5, dtype=wp.bfloat16).numpy().tolist() == [16320]
    assert wp.array(np.array([16256], np.uint16), dtype=wp.bfloat16).list() == [wp.bfloat16(1.0)]


def test_arrays_of_other_libraries_are_shared():
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    shared = wp.from_dlpack(numbers, dtype=wp.vec3)
    shared.fill_(wp.vec3(7.0, 8.0, 9.0))
    assert numbers.tolist() == [[7.0, 8.0, 9.0]] * 2 and np.from_dlpack(shared)[1, 1] == 8.0
    assert wp.dtype_from_numpy(np.dtype("float64")) is wp.float64 and wp.dtype_to_numpy(wp.bool) is np.bool_
    with pytest.raises(TypeError, match="complex64"):
        wp.dtype_from_numpy(np.complex64)


@wp.kernel
def twice(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 2.0 * x[i]


def test_tensors_are_shared_with_their_gradients():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(3, dtype=torch.float32, requires_grad=True)
    x = wp.from_torch(tensor)
    y = x * 2.0
    with wp.Tape() as tape:
        squared = wp.map(lambda a: a * a, x)
    tape.backward(grads={squared: wp.ones(3)})
    assert tensor.grad.tolist() == [0.0, 2.0, 4.0]
    back = wp.to_torch(x)
    x.fill_(5.0)
    assert back.requires_grad and tensor.tolist() == back.tolist() == [5.0, 5.0, 5.0]
    assert wp.to_torch(y, requires_grad=False).tolist() == [0.0, 2.0, 4.0]
    dlpack = wp.from_dlpack(tensor.detach())
    dlpack.fill_(6.0)
    assert tensor.tolist() == [6.0, 6.0, 6.0]
    doubled = torch.zeros(3)
    wp.launch(twice, 3, [wp.from_torch(tensor, return_ctype=True), wp.from_torch(doubled, return_ctype=True)])
    assert doubled.tolist() == [12.0, 12.0, 12.0]
    half = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    wp.from_torch(half).fill_(3.0)
    assert half.tolist() == [3.0, 3.0] and wp.to_torch(wp.from_torch(half)).dtype is torch.bfloat16


def test_functions_that_load_modules_do_nothing():
    assert wp.__version__ == wp.config.version == "1.19.0"
    assert wp.is_device_available("cpu") and not wp.is_device_available("cuda:0") and not wp.is_mempool_supported("cpu")
    assert wp.get_module("program").name == "program"
    for nothing in (wp.load_module(device="cpu"), wp.force_load("cpu"), wp.clear_kernel_cache()):
        assert nothing is None
    with wp.ScopedStream(None) as stream:
        assert stream is None
    with pytest.raises(NotImplementedError, match="no streams"):
        wp.ScopedStream("stream")
    with pytest.raises(NotImplementedError, match=r"warp\.optim\.linear\.FSAI"):
        wp.optim.linear.FSAI()


def test_a_logger_gets_messages(capsys):
    from gbxcule.warp.internal import log_error, log_info

    class Log:
        def __init__(self):
            self.seen = []

        def info(self, message):
            self.seen.append(message)

        debug = warning = error = info

    log = Log()
    with wp.ScopedLogger(log):
        log_info("inside")
        log_error("wrong")
        assert wp.get_logger() is log
    log_info("outside")
    assert log.seen == ["inside", "wrong"] and capsys.readouterr().out == "outside\n"
    with pytest.raises(TypeError, match="a logger has"):
        wp.set_logger("log")


def test_a_tape_returns_gradients_of_arguments():
    @wp.struct
    class Pair:
        x: wp.array[float]
        k: float

    pair = Pair()
    pair.x = wp.ones(2, requires_grad=True)
    tape = wp.Tape()
    assert tape.get_adjoint(pair.x) is pair.x.grad and tape.get_adjoint(pair).x is pair.x.grad
    assert tape.get_adjoint(1.0) is None and pair.x in tape.gradients


EDGES = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [1, 5], [5, 6], [6, 7], [7, 1], [8, 9], [0, 6]]


@pytest.mark.parametrize("algorithm", list(wp.utils.GraphColoringAlgorithm))
def test_nodes_that_an_edge_connects_get_different_colors(algorithm):
    edges, colors = wp.array(EDGES, dtype=wp.int32), wp.zeros(10, dtype=wp.int32)
    count = wp.utils.graph_coloring_assign(edges, colors, algorithm)
    ratio = wp.utils.graph_coloring_balance(edges, colors, count, 1.1)
    found = colors.numpy()
    assert all(found[one] != found[other] for one, other in EDGES)
    groups = wp.utils.graph_coloring_get_groups(colors, count, return_wp_array=False)
    sizes = [len(group) for group in groups]
    assert sum(sizes) == 10 and ratio == pytest.approx(max(sizes) / min(sizes))
    with pytest.raises(RuntimeError, match="below 2"):
        wp.utils.graph_coloring_assign(edges, wp.zeros(2, dtype=wp.int32))


def test_colors_are_those_of_warp():
    edges, colors = wp.array(EDGES, dtype=wp.int32), wp.zeros(10, dtype=wp.int32)
    assert wp.utils.graph_coloring_assign(edges, colors) == 3
    assert colors.numpy().tolist() == [0, 1, 0, 2, 1, 0, 1, 0, 0, 1]
    assert wp.utils.graph_coloring_balance(edges, colors, 3, 1.1) == 2.0
    assert colors.numpy().tolist() == [2, 1, 0, 2, 1, 0, 1, 0, 0, 1]
