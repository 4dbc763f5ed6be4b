"""Volumes of `gbxcule.warp`; `test_warp_programs.py` compares them with Warp."""

import io

import numpy as np
import pytest

import gbxcule.warp as wp

SLOPE = np.array([0.5, -2.0, 3.0], np.float32)


@wp.kernel
def sample(volume: wp.uint64, points: wp.array[wp.vec3], out: wp.array[float]):
    i = wp.tid()
    out[i] = wp.volume_sample_f(volume, wp.volume_world_to_index(volume, points[i]), wp.Volume.LINEAR)


@wp.kernel
def moved(volume: wp.uint64, points: wp.array[wp.vec3], weights: wp.vec3, out: wp.array[float]):
    i = wp.tid()
    out[i] = wp.dot(weights, wp.volume_index_to_world(volume, points[i]))


def of_a_linear_field(background=0.0):
    field = np.moveaxis(np.indices((10, 9, 12)), 0, -1) @ SLOPE
    return wp.Volume.load_from_numpy(field.astype(np.float32), (1.0, 2.0, 3.0), (0.5, 0.25, 1.0), background)


def launched(kernel, volume, points, *more):
    points = wp.array(points, dtype=wp.vec3, requires_grad=True)
    out = wp.zeros(len(points), requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernel, len(points), [volume.id, points, *more, out])
    tape.backward(grads={out: wp.ones(len(points))})
    return out.numpy(), points.grad.numpy()


def test_a_sample_between_voxels_is_interpolated_and_has_a_gradient():
    volume = of_a_linear_field()
    at = np.random.default_rng(1).uniform(0.0, 7.9, (50, 3)).astype(np.float32)
    values, gradients = launched(sample, volume, at * (0.5, 0.25, 1.0) + (1.0, 2.0, 3.0))
    np.testing.assert_allclose(values, at @ SLOPE, atol=2e-5)
    np.testing.assert_allclose(gradients, np.tile(SLOPE / (0.5, 0.25, 1.0), (50, 1)), rtol=1e-4)


def test_the_gradient_of_a_transform_is_its_transposed_matrix():
    turn = np.array([[0.0, 0.0, 0.1], [0.3, 0.0, 0.0], [0.0, -0.2, 0.0]], np.float32)
    points = wp.array([[1, 2, 3]], dtype=int)
    volume = wp.Volume.allocate_by_voxels(points, transform=turn, translation=(1.0, 2.0, 3.0))
    values, gradients = launched(moved, volume, [[1.0, 2.0, 3.0]], wp.vec3(1.0, 10.0, 100.0))
    np.testing.assert_allclose(values, [np.dot([1.0, 10.0, 100.0], turn @ [1, 2, 3] + [1, 2, 3])], rtol=1e-6)
    np.testing.assert_allclose(gradients, [turn.T @ [1.0, 10.0, 100.0]], rtol=1e-6)
    assert volume.get_voxels().numpy().tolist() == [[1, 2, 3]] and volume.is_index and volume.dtype is None


@pytest.mark.parametrize("codec", ["none", "zip"])
def test_a_saved_volume_is_read_as_it_was(codec, tmp_path):
    volume = of_a_linear_field(7.0)
    volume.save_to_nvdb(tmp_path / "field.nvdb", codec)
    with open(tmp_path / "field.nvdb", "rb") as file:
        read = wp.Volume.load_from_nvdb(file)
    assert np.array_equal(read.array().numpy(), volume.array().numpy())
    assert read.load_next_grid() is None and read.dtype is wp.float32


def test_files_without_a_grid_are_refused(tmp_path):
    of_a_linear_field().save_to_nvdb(tmp_path / "field.nvdb")
    data = (tmp_path / "field.nvdb").read_bytes()
    other = data[:193] + b"y" + data[194:]
    for broken, message in [(b"x" * 900, "signature"), (data[:-32], "structure"), (other, "on grid")]:
        with pytest.raises(RuntimeError, match=message):
            wp.Volume.load_from_nvdb(io.BytesIO(broken))
    with pytest.raises(TypeError, match="Vec4d"):
        wp.Volume.allocate([0, 0, 0], [1, 1, 1], 1.0, bg_value=wp.uint8(1))


def test_a_volume_is_rebuilt_in_place_unless_its_capacity_is_exceeded():
    points, status = wp.array([[0, 0, 0], [8, 0, 0]], dtype=int), wp.zeros(1, dtype=wp.uint32)
    volume = wp.Volume.allocate_by_tiles(points, 1.0, bg_value=2.0, rebuildable=True)
    before = volume.id
    assert volume.rebuild(wp.array([[64, 0, 0], [0, 9, 0]], dtype=int), status, wp.array([1, 0], dtype=int)) is status
    assert status.numpy()[0] == wp.Volume.REBUILD_SUCCESS and volume.id == before
    assert volume.get_tiles().numpy().tolist() == [[64, 0, 0]] and volume.get_active_stats() == (512, 1, 1, 1)
    volume.rebuild(wp.array([[0, 0, 0], [8, 8, 8], [0, 8, 0]], dtype=int), status)
    assert status.numpy()[0] == wp.Volume.REBUILD_LEAF_CAPACITY_EXCEEDED | wp.Volume.REBUILD_VOXEL_CAPACITY_EXCEEDED
    assert volume.get_tiles().numpy().tolist() == [[64, 0, 0]]
    with wp.ScopedCapture() as capture:
        volume.rebuild(points, point_mask=wp.zeros(2, dtype=int))
    assert volume.get_tile_count() == 1
    wp.capture_launch(capture.graph)
    assert volume.get_tile_count() == 0
    assert launched(sample, volume, [[0.5, 0.5, 0.5]])[0].tolist() == [2.0]
    with pytest.raises(RuntimeError, match="not rebuildable"):
        of_a_linear_field().rebuild(points)
    with pytest.raises(ValueError, match="max_tiles must be positive, got 0"):
        wp.Volume.allocate_by_tiles(points, 1.0, max_tiles=0)
