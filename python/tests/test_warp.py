"""`gbxcule.warp`: the part of NVIDIA Warp's Python API that programs around kernels use."""

from typing import Any

import numpy as np
import pytest

import gbxcule.warp as wp

SCALE = wp.vec3(1.0, 2.0, 3.0)


@wp.struct
class Body:
    mass: float
    at: wp.vec3
    marks: wp.array(dtype=int)


@wp.struct
class Point:
    at: wp.vec3
    mass: wp.float64


@wp.func
def weigh(x: Any, v: wp.vec3):
    return x * wp.dot(v, SCALE)


@wp.kernel
def move(body: Body, x: wp.array(dtype=Any), v: wp.array[wp.vec3], missing: wp.array2d[float]):
    i = wp.tid()
    x[i] = weigh(x[i], v[i] * body.at[2]) + wp.static(wp.length(wp.vec3(3.0, 4.0, 0.0)))
    body.marks[i] = i
    if missing:
        x[i] = missing[0, 0]


@wp.kernel
def square(a: wp.array[float], b: wp.array[float]):
    i = wp.tid()
    b[i] = a[i] * a[i]


@wp.kernel
def total(a: wp.array[float], out: wp.array[float]):
    wp.atomic_add(out, 0, a[wp.tid()])


@wp.kernel
def fall(points: wp.array[Point], dt: float):
    i = wp.tid()
    points[i].at = points[i].at - wp.vec3(0.0, dt, 0.0)


@wp.kernel
def fill(x: wp.array(dtype=Any), value: Any):
    x[wp.tid()] = value


def test_a_kernel_takes_structs_vectors_constants_and_missing_arrays():
    body = Body(mass=1.0, at=(0.0, 0.0, 2.0), marks=wp.zeros(3, dtype=int))
    x, v = wp.ones(3), wp.ones(3, dtype=wp.vec3)
    wp.launch(move, dim=3, inputs=[body, x, v], outputs=[None])
    assert x.numpy().tolist() == [17.0, 17.0, 17.0]
    assert body.marks.numpy().tolist() == [0, 1, 2]


def test_arrays_take_what_warps_take():
    assert wp.array([[1.0, 2.0, 3.0]], dtype=wp.vec3).shape == (1,)
    assert wp.array([wp.vec3(1, 2, 3)], dtype=wp.vec3).numpy().tolist() == [[1.0, 2.0, 3.0]]
    assert wp.array([1.0, 2.0]).dtype is wp.float64
    assert wp.array(np.zeros((3, 2, 2)), dtype=wp.mat22).shape == (3,)
    assert wp.array(np.arange(12.0), dtype=float, shape=(3, 4)).strides == (16, 4)
    assert wp.full(2, wp.vec2(1.0, 2.0)).numpy().tolist() == [[1.0, 2.0], [1.0, 2.0]]
    a = wp.zeros((4, 3), requires_grad=True)
    row = a[1]
    row.fill_(2.0)
    row.grad.fill_(3.0)
    assert a.numpy()[1].tolist() == [2.0, 2.0, 2.0] and a.grad.numpy()[1].tolist() == [3.0, 3.0, 3.0]
    assert a[1:3, ::2].shape == (2, 2) and a.transpose().shape == (3, 4) and a.flatten().size == 12
    assert wp.ones(2, dtype=wp.vec2).list() == [wp.vec2(1.0, 1.0)] * 2
    with pytest.raises(RuntimeError, match="single element"):
        a[1, 2]
    with pytest.raises(ValueError, match="cuda:0"):
        wp.zeros(3, device="cuda:0")


def test_vectors_have_arithmetic():
    v, m = wp.vec3(1.0, 2.0, 3.0), wp.mat33(*range(9))
    assert v + v == wp.vec3(2.0, 4.0, 6.0) and 2.0 * v == v / 0.5 and -v == v * -1.0
    assert m @ v == m * v == wp.vec3(8.0, 26.0, 44.0)
    assert m[1] == wp.vec3(3.0, 4.0, 5.0) and m[1, 2] == 5.0 and v[0:2] == wp.vec2(1.0, 2.0)
    turn = wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), wp.pi / 2.0)
    moved = wp.transform(v, turn) * wp.transform(v, wp.quat_identity())
    assert np.allclose(moved.p, [-1.0, 3.0, 6.0]) and np.allclose(moved.q, turn)
    assert wp.dot(v, v) == 14.0 and wp.rand_init(3) == 2131687100 and wp.clamp(3, 0, 2) == 2
    with pytest.raises(wp.CompileError, match="isn't defined for `vec3f` and `vec3f`"):
        v * v
    v.x = 5.0
    assert v[0] == 5.0
    with pytest.raises(AttributeError, match="a `vec2f` has no `z`"):
        wp.vec2(1.0, 2.0).z  # noqa: B018


def test_a_tape_reverses_launches_and_copies():
    x, y = wp.array([1.0, 2.0, 3.0], dtype=float, requires_grad=True), wp.zeros(3, requires_grad=True)
    z, loss = wp.zeros_like(y), wp.zeros(1, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(square, 3, inputs=[x], outputs=[y])
        wp.copy(z, y)
        wp.launch(total, 3, inputs=[z], outputs=[loss])
    tape.backward(loss)
    assert x.grad.numpy().tolist() == tape.gradients[x].numpy().tolist() == [2.0, 4.0, 6.0]
    tape.zero()
    assert not x.grad.numpy().any()


def test_a_launch_with_given_adjoints_reverses_a_kernel():
    x, y = wp.array([1.0, 2.0], dtype=float), wp.zeros(2)
    adj_x, adj_y = wp.zeros(2), wp.ones(2)
    wp.launch(square, 2, inputs=[x, y], adj_inputs=[adj_x, adj_y], adjoint=True)
    assert adj_x.numpy().tolist() == [2.0, 4.0]
    for given, message in (
        ({}, r"`adjoint=True` needs 2 gradients for kernel `square` \(a, b\), found 0; give one for each argument"),
        ({"adj_inputs": [adj_x]}, "found 1; give one"),
        ({"adj_inputs": [1.0, adj_y]}, "gradient of `a` is an array or `None`, found 1.0; give one"),
        ({"adj_inputs": [wp.zeros(3), adj_y]}, r"shape and type, \(2,\) of float32, found \(3,\) of float32"),
        ({"adj_inputs": [wp.zeros(2, dtype=int), adj_y]}, r"found \(2,\) of int32"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            wp.launch(square, 2, inputs=[x, y], adjoint=True, **given)


def test_captures_keep_work_and_do_it_later():
    x = wp.ones(2)
    y = wp.zeros(2)
    with wp.ScopedCapture() as capture:
        wp.launch(square, 2, [x, y])
        wp.copy(x, y)
        y.fill_(7.0)
    assert not y.numpy().any()
    x.fill_(3.0)
    wp.capture_launch(capture.graph)
    assert x.numpy().tolist() == [9.0, 9.0] and y.numpy().tolist() == [7.0, 7.0]


def test_arrays_of_structs_hold_records():
    points = wp.array([Point(at=(0.0, 1.0, 2.0), mass=3.0), Point()], dtype=Point)
    wp.launch(fall, 2, [points, 0.5])
    assert points.numpy()["at"].tolist() == [[0.0, 0.5, 2.0], [0.0, -0.5, 0.0]]
    assert points.list()[0].mass == 3.0
    with pytest.raises(AttributeError, match="a `Point` has no field `speed`"):
        Point().speed = 1.0


def test_generic_kernels_take_the_types_of_arguments_or_of_an_overload():
    vectors, doubles = wp.zeros(2, dtype=wp.vec2), wp.zeros(2, dtype=wp.float64)
    wp.launch(fill, 2, [vectors, wp.vec2(1.0, 2.0)])
    wp.launch(wp.overload(fill, [wp.array(dtype=wp.float64), wp.float64]), 2, [doubles, 2.0])
    assert vectors.numpy().tolist() == [[1.0, 2.0]] * 2 and doubles.numpy().tolist() == [2.0, 2.0]


def test_recorded_launches_run_again_with_other_arguments():
    x, y = wp.full(2, 3.0), wp.zeros(2)
    command = wp.launch(square, 2, [x, y], record_cmd=True)
    assert not y.numpy().any()
    command.launch()
    assert y.numpy().tolist() == [9.0, 9.0]
    command.set_param_by_name("a", y)
    command.launch()
    assert y.numpy().tolist() == [81.0, 81.0]


def test_functions_run_in_python_too():
    assert weigh(2.0, wp.vec3(1.0, 1.0, 1.0)) == 12.0


@wp.kernel
def neighbours(grid: wp.uint64, x: wp.array[wp.vec3], radius: float, out: wp.array2d[int]):
    i = wp.tid()
    for index in wp.hash_grid_query(grid, x[i], radius):
        if wp.length(x[index] - x[i]) <= radius:
            out[i, 0] += 1
    query = wp.hash_grid_query(grid, x[i], radius)
    index = int(0)
    while wp.hash_grid_query_next(query, index):
        if wp.length(x[index] - x[i]) <= radius:
            out[i, 1] += 1
    out[i, 2] = wp.hash_grid_point_id(grid, i)


def test_a_hash_grid_finds_all_neighbours():
    points = np.random.default_rng(1).uniform(-4.0, 4.0, (300, 3)).astype(np.float32)
    x, out, grid = wp.array(points, dtype=wp.vec3), wp.zeros((300, 3), dtype=int), wp.HashGrid(11, 12, 13)
    grid.build(x, 0.9)
    wp.launch(neighbours, 300, [grid.id, x, 0.8, out])
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    expected = (apart <= np.float32(0.8)).sum(axis=1)
    assert (out.numpy()[:, 0] == expected).all() and (out.numpy()[:, 1] == expected).all()
    assert sorted(out.numpy()[:, 2]) == list(range(300))


CUBE = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
SIDES = [
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
]  # fmt: skip


def cube(**options):
    points = wp.array(np.array(CUBE), dtype=wp.vec3, requires_grad=True)
    return wp.Mesh(points, wp.array(np.array(SIDES).ravel(), dtype=int), **options)


@wp.kernel
def look(mesh: wp.uint64, x: wp.array[wp.vec3], out: wp.array2d[float]):
    i = wp.tid()
    found = wp.mesh_query_point(mesh, x[i], 10.0)
    out[i, 0] = wp.length(wp.mesh_eval_position(mesh, found.face, found.u, found.v) - x[i])
    out[i, 1] = found.sign
    out[i, 2] = wp.mesh_query_point_sign_normal(mesh, x[i], 10.0).sign
    out[i, 3] = wp.mesh_query_point_sign_parity(mesh, x[i], 10.0).sign
    out[i, 4] = wp.mesh_query_point_sign_winding_number(mesh, x[i], 10.0).sign
    ray = wp.mesh_query_ray(mesh, x[i], wp.vec3(0.1, 0.15, 1.0), 10.0)
    if ray.result:
        out[i, 5] = ray.t
    out[i, 6] = float(wp.mesh_query_ray_count_intersections(mesh, x[i], wp.vec3(0.1, 0.15, 1.0)))
    for face in wp.mesh_query_aabb(mesh, x[i], x[i] + wp.vec3(0.1, 0.1, 0.1)):
        out[i, 7] += 1.0
    sign = float(0.0)
    face = int(0)
    u = float(0.0)
    v = float(0.0)
    if wp.mesh_query_point(mesh, x[i], 10.0, sign, face, u, v):
        out[i, 8] = wp.length(wp.mesh_eval_position(mesh, face, u, v) - x[i])


def test_a_mesh_is_asked_from_inside_and_outside():
    points = np.array([(0.5, 0.4, 0.8), (0.3, 0.4, -2.0), (2.0, 2.0, 2.0), (0.6, 0.95, 0.97)], np.float32)
    x, out = wp.array(points, dtype=wp.vec3), wp.zeros((4, 9))
    mesh = cube(support_winding_number=True)
    wp.launch(look, 4, [mesh.id, x, out])
    distance = [0.2, 2.0, np.sqrt(3.0), 0.03]
    assert np.allclose(out.numpy()[:, 0], distance) and np.allclose(out.numpy()[:, 8], distance)
    for column in range(1, 5):
        assert out.numpy()[:, column].tolist() == [-1.0, 1.0, 1.0, -1.0]
    assert np.allclose(out.numpy()[:, 5], [0.2, 2.0, 0.0, 0.03]) and out.numpy()[:, 6].tolist() == [1.0, 2.0, 0.0, 1.0]
    assert out.numpy()[:, 7].tolist() == [0.0, 0.0, 0.0, 4.0]
    mesh.points.assign(np.array(CUBE) + 5.0)
    mesh.refit()
    wp.launch(look, 4, [mesh.id, x, out])
    assert np.allclose(out.numpy()[2, 0], 3.0 * np.sqrt(3.0))


@wp.kernel
def distance(mesh: wp.uint64, x: wp.array[wp.vec3], out: wp.array[float]):
    i = wp.tid()
    found = wp.mesh_query_point_no_sign(mesh, x[i], 10.0)
    out[i] = wp.length(wp.mesh_eval_position(mesh, found.face, found.u, found.v) - x[i])


def test_distances_to_a_mesh_have_gradients():
    mesh, x = cube(), wp.array([(0.3, 0.4, 3.0)], dtype=wp.vec3, requires_grad=True)
    out = wp.zeros(1, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(distance, 1, [mesh.id, x, out])
    tape.backward(out)
    assert np.allclose(x.grad.numpy(), [[0.0, 0.0, 1.0]], atol=1e-6)
    assert np.allclose(mesh.points.grad.numpy().sum(axis=0), [0.0, 0.0, -1.0], atol=1e-6)


def test_an_id_that_means_nothing_is_a_fault():
    with pytest.raises(wp.LaunchError, match="index 77 where there are"):
        wp.launch(distance, 1, [wp.uint64(77), wp.zeros(1, dtype=wp.vec3), wp.zeros(1)])


@wp.kernel
def meet(bvh: wp.uint64, low: wp.vec3, high: wp.vec3, out: wp.array2d[int]):
    query = wp.bvh_query_aabb(bvh, low, high)
    index = int(0)
    while wp.bvh_query_next(query, index):
        out[0, index] = 1
    for other in wp.bvh_query_ray(bvh, low, high - low):
        out[1, other] = 1


def test_a_hierarchy_finds_the_boxes_that_a_box_and_a_ray_meet():
    low = np.random.default_rng(2).uniform(-3.0, 3.0, (200, 3)).astype(np.float32)
    high = low + np.float32(0.5)
    bvh, out = wp.Bvh(wp.array(low, dtype=wp.vec3), wp.array(high, dtype=wp.vec3)), wp.zeros((2, 200), dtype=int)
    a, b = np.array([-1.0, -0.5, 0.0]), np.array([1.0, 2.0, 1.5])
    wp.launch(meet, 1, [bvh.id, wp.vec3(*a), wp.vec3(*b), out])
    assert (out.numpy()[0] == ((low <= b) & (high >= a)).all(axis=1)).all()
    at = np.stack([(low - a) / (b - a), (high - a) / (b - a)])
    enters, leaves = at.min(axis=0).max(axis=1), at.max(axis=0).min(axis=1)
    assert (out.numpy()[1] == ((leaves >= enters) & (leaves >= 0.0))).all()


def test_names_of_gpus_that_do_nothing_on_warp_s_cpu(capsys):
    wp.timing_begin(cuda_filter=wp.TIMING_KERNEL | wp.TIMING_MEMCPY)
    with wp.ScopedCudaProfiler():
        wp.timing_print(wp.timing_end())
    assert capsys.readouterr().out == "No activity\n"
    tape = wp.Tape()
    with tape:
        tape.record_scope_begin("part")
        tape.record_scope_end()
    assert tape.launches == []


def test_errors_of_the_compiler_are_caught_by_warp_s_names():
    @wp.kernel
    def spam(x: wp.array(dtype=float)):
        x[0] = eggs  # noqa: F821

    with pytest.raises(wp.WarpCodegenError):
        wp.launch(spam, 1, [wp.zeros(1)])


def test_missing_names_are_refused_by_name():
    with pytest.raises(AttributeError, match="gbxcule.warp has no `from_jax`: exchange arrays by `wp.from_dlpack`"):
        wp.from_jax  # noqa: B018
    for name, help in (("get_stream", "is_cuda"), ("Event", "is_cuda"), ("ScopedMempool", "is_cuda"),
                       ("Texture2D", "wp.Volume")):  # fmt: skip
        with pytest.raises(NotImplementedError, match=rf"gbxcule.warp has no `warp.{name}`: .*{help}"):
            getattr(wp, name)()
    with pytest.raises(AttributeError, match="gbxcule.warp has no `Device.default_allocator`"):
        wp.get_device().default_allocator  # noqa: B018
    with pytest.raises(AttributeError, match="gbxcule.warp has no `Tape.visualize`"):
        wp.Tape().visualize()
    with pytest.raises(AttributeError, match="`UsdRenderer` needs `gbxcule.warp.stand_in"):
        wp.render.UsdRenderer  # noqa: B018
    with pytest.raises(TypeError, match=r"takes 2 arguments \(a, b\), found 1"):
        wp.launch(square, 1, [wp.zeros(1)])
    with pytest.raises(TypeError, match="`wp.launch` takes a function decorated"):
        wp.launch(weigh, 1, [])


def test_a_timer_measures_a_block(capsys):
    times = {}
    with wp.ScopedTimer("outer", dict=times):
        with wp.ScopedTimer("inner", print=False) as inner:
            pass
    assert capsys.readouterr().out.startswith("outer took ")
    assert times["outer"][0] >= inner.elapsed >= 0.0


def test_missing_names_may_be_mentioned_and_are_refused_when_they_are_used():
    assert wp.Texture2D.UNUSED is not None and wp.indexedarray(dtype=wp.float32, ndim=2) is not None
    with pytest.raises(NotImplementedError, match=r"warp\.Texture2D\.allocate"):
        wp.Texture2D.allocate(1)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = wp.no_such_name


def test_arrays_without_elements_take_the_dimensions_that_are_asked_for():
    assert wp.array([], dtype=wp.transform).shape == (0,)
    assert wp.array(np.array([]), dtype=wp.int32, ndim=2).shape == (0, 0)

    @wp.struct
    class Holder:
        values: wp.array(dtype=float)  # type: ignore[valid-type]

    assert len(wp.array([], dtype=Holder)) == 0
    holder = Holder()
    holder.values = wp.zeros(3)
    with pytest.raises(NotImplementedError, match="Holder.values"):
        wp.array([holder], dtype=Holder)


def test_options_of_a_module_are_kept():
    wp.set_module_options({"fast_math": True}, module=np)
    assert wp.get_module_options(module=np)["fast_math"] is True
    assert wp.get_module_options(module="another")["fast_math"] is False


def test_a_kernel_may_be_made_by_a_call():
    def double(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = 2.0 * x[i]

    x = wp.array([1.0, 2.5], dtype=float)
    wp.launch(wp.kernel(double), 2, [x])
    assert x.numpy().tolist() == [2.0, 5.0]


def test_a_tiled_launch_runs_once_for_each_tile():
    @wp.kernel
    def total(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
        i, thread = wp.tid()
        row = wp.tile_load(x[i], shape=4)
        wp.tile_store(out, wp.tile_sum(row), offset=i)
        out[i] += float(thread)

    x, out = wp.array(np.arange(12.0).reshape(3, 4), dtype=float), wp.zeros(3)
    wp.launch_tiled(total, dim=[3], inputs=[x], outputs=[out], block_dim=32)
    assert out.numpy().tolist() == [6.0, 22.0, 38.0]
    with pytest.raises(ValueError, match="at least one thread"):
        wp.launch_tiled(total, dim=[3], inputs=[x], outputs=[out], block_dim=0)


def test_the_files_of_warps_examples_are_in_its_wheel(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    with pytest.raises(FileNotFoundError, match="pip install warp-lang"):
        wp.examples.get_asset_directory()
    (tmp_path / "warp").mkdir()
    (tmp_path / "warp" / "__init__.py").touch()
    assert wp.examples.get_asset_directory() == str(tmp_path.resolve() / "warp" / "examples" / "assets")
