"""Names that have a meaning only in kernels; Python may use them in annotations and lists."""

from typing import Any

from gbxcule.kernel_text import Names

TYPES: dict[str, Any] = {
    name: Names("wp", f".{name}")
    for name in (
        "BvhQuery", "BvhQueryTiled", "Float", "HashGridQuery", "Int", "MeshQuery", "MeshQueryAABB",
        "MeshQueryAABBTiled", "MeshQueryPoint", "MeshQueryRay", "Scalar", "adjoint", "fixedarray", "ref", "tile",
    )
}  # fmt: skip
"""Types, and names that make a type when they are indexed or called: `wp.ref[float]`."""

FUNCTIONS = frozenset(
    """
    atomic_add atomic_and atomic_cas atomic_exch atomic_max atomic_min atomic_or atomic_sub atomic_xor block_dim
    bvh_get_group_root bvh_query_aabb bvh_query_aabb_tiled bvh_query_capsule bvh_query_next bvh_query_next_tiled
    bvh_query_ray bvh_query_ray_tiled bvh_query_sphere cast grad hash_grid_point_id hash_grid_query
    hash_grid_query_next mesh_eval_face_normal mesh_eval_position mesh_eval_velocity mesh_get mesh_get_bvh
    mesh_get_group_root mesh_get_index mesh_get_point mesh_get_velocity mesh_query_aabb mesh_query_aabb_next
    mesh_query_aabb_next_tiled mesh_query_aabb_tiled mesh_query_furthest_point_no_sign mesh_query_next mesh_query_point
    mesh_query_point_no_sign mesh_query_point_sign_normal mesh_query_point_sign_parity
    mesh_query_point_sign_winding_number mesh_query_ray mesh_query_ray_anyhit mesh_query_ray_count_intersections
    mesh_query_sphere printf select tid tile_arange tile_argmax tile_argmin tile_assign tile_astype tile_atomic_add
    tile_atomic_add_indexed tile_axpy tile_broadcast tile_bvh_query_aabb tile_bvh_query_next tile_bvh_query_ray
    tile_cholesky tile_cholesky_inplace tile_cholesky_solve tile_cholesky_solve_inplace tile_diag_add tile_dot
    tile_empty tile_extract tile_fft tile_from_thread tile_full tile_ifft tile_load tile_load_indexed tile_lower_solve
    tile_lower_solve_inplace tile_map tile_matmul tile_max tile_mesh_query_aabb tile_mesh_query_aabb_next tile_min
    tile_ones tile_query_valid tile_randf tile_randi tile_reduce tile_reshape tile_scan_exclusive tile_scan_inclusive
    tile_scan_max_inclusive tile_scan_min_inclusive tile_scatter_add tile_scatter_masked tile_sort tile_squeeze
    tile_stack tile_stack_clear tile_stack_count tile_stack_pop tile_stack_push tile_store tile_store_indexed tile_sum
    tile_transpose tile_upper_solve tile_upper_solve_inplace tile_view tile_zeros untile volume_index_to_world
    volume_index_to_world_dir volume_lookup volume_lookup_f volume_lookup_i volume_lookup_index volume_lookup_v
    volume_sample volume_sample_f volume_sample_grad volume_sample_grad_f volume_sample_grad_index volume_sample_i
    volume_sample_index volume_sample_v volume_store volume_store_f volume_store_i volume_store_v volume_voxel_count
    volume_world_to_index volume_world_to_index_dir
    """.split()
)
"""Builtins that Python can't call."""
