"""Values of `gbxcule.warp` in Python: transforms, vectors, structs, scalars and builtins."""

import copy
import ctypes

import numpy as np
import pytest

import gbxcule.warp as wp


@wp.struct
class Point:
    at: wp.vec3
    count: int


@wp.struct
class Body:
    point: Point
    mass: float
    pose: wp.transform
    marks: wp.array(dtype=float)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: wp.transform(), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        (lambda: wp.transform(p=(1.0, 2.0, 3.0), q=(1.0, 0.0, 0.0, 0.0)), [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]),
        (lambda: wp.transform(p=wp.vec3(1.0, 2.0, 3.0)), [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]),
        (lambda: wp.transform(q=wp.quat(1.0, 0.0, 0.0, 0.0)), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
        (lambda: wp.transform(wp.vec3(1.0, 2.0, 3.0)), [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]),
        (lambda: wp.transform((1, 2, 3)), [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]),
        (lambda: wp.transform(1.5), [1.5] * 7),
        (lambda: wp.quat(1.0), [1.0] * 4),
        (lambda: copy.copy(wp.transform(0.0)), [0.0] * 7),
    ],
)
def test_transforms_are_made_of_what_is_given(made, expected):
    assert list(made()) == expected


@pytest.mark.parametrize(
    "made",
    [
        lambda: wp.quat(x=0.0, w=1.0),
        lambda: wp.vec3(x=1.0),
        lambda: wp.transform(x=1.0),
        lambda: wp.transform((1.0, 2.0, 3.0), p=(1.0, 2.0, 3.0)),
    ],
)
def test_parts_of_unknown_names_are_refused(made):
    with pytest.raises(TypeError, match="unexpected keyword|one `p` and one `q`"):
        made()


def test_parts_of_a_transform_are_set_by_builtins_too():
    pose = wp.transform_identity()
    wp.transform_set_translation(pose, wp.vec3(1.0, 2.0, 3.0))
    wp.transform_set_rotation(pose, wp.quat(1.0, 0.0, 0.0, 0.0))
    assert list(pose) == [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]


def test_numbers_work_on_each_component():
    v = wp.vec3(1.0, 2.0, 3.0)
    assert v + 1.0 == wp.vec3(2.0, 3.0, 4.0) and 1.0 - v == wp.vec3(0.0, -1.0, -2.0)
    assert wp.vec3i(7, -7, 3) % 2 == wp.vec3i(1, -1, 1) and +v == v and +v is not v
    m = wp.mat22(1.0, 2.0, 3.0, 4.0)
    m.set_row(0, wp.vec2(5.0, 6.0))
    m.set_col(1, (7.0, 8.0))
    assert m == wp.mat22(5.0, 7.0, 3.0, 8.0) and +wp.int64(3) == wp.int64(3)
    with pytest.raises(wp.CompileError, match="isn't defined for `float32` and `int32`"):
        v + 1


def test_builtins_take_arguments_by_name():
    assert wp.max(1.0, b=1.5) == 1.5 and wp.rand_init(seed=3) == wp.rand_init(3)
    turn = wp.quat_from_axis_angle(angle=0.5, axis=wp.vec3(0.0, 0.0, 1.0))
    assert turn == wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), 0.5)
    with pytest.raises(wp.CompileError, match="no parameters of these names"):
        wp.sin(y=1.0)


def test_fields_hold_values_of_their_own():
    body, point, v = Body(), Point(count=3), wp.vec3(1.0, 2.0, 3.0)
    body.point = point
    point.count = 4
    body.point.at = v
    v[0] = 9.0
    assert body.point.count == 3 and body.point.at == wp.vec3(1.0, 2.0, 3.0)
    body.point.at = wp.vec3d(4.0, 5.0, 6.0)
    assert body.point.at == wp.vec3(4.0, 5.0, 6.0) and type(body.point.at) is wp.vec3
    assert Point((7.0, 8.0, 9.0), 2).at == wp.vec3(7.0, 8.0, 9.0) and Point((7.0, 8.0, 9.0), 2).count == 2
    body.mass = body.pose = None
    assert body.mass == 0.0 and list(body.pose) == [0.0] * 7


def test_fields_refuse_what_they_cannot_hold():
    body = Body()
    with pytest.raises(TypeError, match=r"`Body.marks` are `float32`, found `int32`"):
        body.marks = wp.zeros(2, dtype=int)
    with pytest.raises(TypeError, match=r"`Body.marks` has 1 dimensions, found 2"):
        body.marks = wp.zeros((2, 2))
    with pytest.raises(TypeError, match="a `Point` has 2 fields, found 3 values"):
        Point((0.0, 0.0, 0.0), 1, 2)
    with pytest.raises(RuntimeError, match="takes the fields of another such struct"):
        body.point = body


def test_structs_of_an_array_have_no_arrays():
    (body,) = wp.array([Body(mass=2.0, pose=(1, 2, 3))], dtype=Body).list()
    assert body.marks is None and body.mass == 2.0 and list(body.pose)[:3] == [1.0, 2.0, 3.0]
    assert wp.array([body], dtype=Body).numpy()["mass"] == 2.0


def test_structs_are_copied_with_all_they_hold():
    body = Body(point=Point(count=1), marks=wp.zeros(1))
    shallow, deep, taken = copy.copy(body), copy.deepcopy(body), Body()
    taken.assign(body)
    body.point.count = 2
    body.marks.fill_(5.0)
    assert [each.point.count for each in (shallow, deep, taken)] == [1, 1, 1]
    assert shallow.marks is taken.marks is body.marks and deep.marks.numpy().tolist() == [0.0]
    assert Point(count=4).numpy_value() == ([0.0, 0.0, 0.0], 4) and Point(count=4).to("cpu").count == 4


def test_scalar_types_are_types_of_numpy():
    assert np.dtype(wp.float32) == np.float32 and np.dtype(wp.bool) == np.bool_
    assert np.zeros(2, dtype=wp.uint8).dtype == np.uint8 and np.arange(2).astype(wp.float64).dtype == np.float64


def test_types_and_devices_answer():
    assert wp.types.types_equal(float, wp.float32) and wp.types.types_equal((int, wp.vec3), [wp.int32, wp.vec3f])
    assert not wp.types.types_equal(wp.vec3, wp.vec4) and not wp.types.types_equal(float, [float])
    assert wp.types.type_is_int(int) and wp.types.type_is_float(wp.float16) and not wp.types.type_is_float(wp.vec3)
    assert not wp.is_peer_access_supported("cpu", "cpu") and not wp.is_mempool_access_enabled("cpu", "cpu")
    assert wp.device_to_torch("cpu") == "cpu" and wp.device_from_torch("cpu") == wp.get_device("cpu")
    assert wp.get_cuda_driver_version() is None and wp.get_cuda_supported_archs() == []
    assert wp.synchronize_stream() is None


def test_diagnostics_are_printed_and_given(capsys):
    found = wp.print_diagnostics()
    assert f"numpy: {np.__version__}\n" in capsys.readouterr().out and found["warp_python"] == wp.__version__


@wp.struct
class Batch:
    x: wp.array(dtype=float)
    scale: float


@wp.kernel
def scaled_squares(batch: Batch, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = batch.scale * batch.x[i] * batch.x[i]


def test_a_tape_has_the_gradients_of_a_struct():
    batch = Batch(x=wp.array([1.0, 2.0], dtype=float, requires_grad=True), scale=3.0)
    out = wp.zeros(2, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(scaled_squares, 2, inputs=[batch, out])
    tape.backward(grads={out: wp.ones(2, dtype=float)})
    assert tape.gradients[batch].x.numpy().tolist() == [6.0, 12.0]
    tape.zero()
    assert not tape.gradients[batch].x.numpy().any()


def test_a_value_is_a_buffer_and_an_argument_of_c():
    point, matrix = wp.vec3(1.0, 2.0, 3.0), wp.mat22(1.0, 2.0, 3.0, 4.0)
    assert b"".join([point, point]) == np.array([1, 2, 3, 1, 2, 3], np.float32).tobytes()
    assert bytes(matrix) == np.array([1, 2, 3, 4], np.float32).tobytes()
    np.asarray(point)[1] = 7.0
    assert point == wp.vec3(1.0, 7.0, 3.0)
    pairs = (wp.vec2i * 2).from_buffer_copy(np.arange(4, dtype=np.int32))
    assert list(pairs) == [wp.vec2i(0, 1), wp.vec2i(2, 3)]
    address = ctypes.cast(ctypes.byref(point), ctypes.POINTER(ctypes.c_float))
    assert [address[at] for at in range(3)] == [1.0, 7.0, 3.0]


def test_types_of_values_are_told_apart():
    assert wp.types.is_vector(wp.vec3()) and not wp.types.is_vector(wp.vec3)
    assert wp.types.is_float(1.5) and wp.types.is_int(wp.uint8(3)) and not wp.types.is_float(3)
    assert wp.types.is_matrix(wp.mat22()) and wp.types.is_quaternion(wp.quat()) and wp.types.is_struct(Body())
    assert wp.types.type_is_struct(Body) and wp.types.type_length(Point) == 2 and wp.types.type_length(wp.mat22) == 4
    assert wp.handle is wp.uint64


@wp.kernel
def doubled_halves(v: wp.vec2h, out: wp.array(dtype=wp.vec2h)):
    out[0] = v + v


def test_halves_reach_kernels_and_builtins_as_numbers():
    out = wp.zeros(1, dtype=wp.vec2h)
    wp.launch(doubled_halves, 1, [wp.vec2h(0.5, 0.25)], [out])
    assert out.numpy().tolist() == [[1.0, 0.5]]
    assert list(wp.min(wp.vec2h(0.5, 0.25), wp.vec2h(0.25, 0.5))) == [0.25, 0.25]
    assert wp.min(wp.bfloat16(0.5), wp.bfloat16(0.25)) == 0.25


def test_numbers_of_64_bits_without_a_sign_stay_whole():
    vec3ul = wp.types.vector(length=3, dtype=wp.uint64)
    assert list(wp.cross(vec3ul(1, 2, 3), vec3ul(4, 5, 6))) == [2**64 - 3, 6, 2**64 - 3]


@wp.kernel
def _bits_as_floats(out: wp.array(dtype=float)):
    out[0] = wp.float32(0xFFFFFFFF)
    out[1] = float(0x80000000)


def test_a_number_of_32_bits_is_an_int32_before_it_is_a_float():
    out = wp.zeros(2)
    wp.launch(_bits_as_floats, 1, [out])
    assert out.numpy().tolist() == [-1.0, -2147483648.0]
