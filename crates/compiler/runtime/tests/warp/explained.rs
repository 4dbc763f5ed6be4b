//! Differences from NVIDIA Warp, and their reasons. A kernel of this list that agrees is an error.

const BEYOND: &str =
    "coordinates beyond the integers: Warp's conversion to lattice points is undefined there";

// Warp's results for 1,280 elements of random products are all those of fused operations in this
// order.
const FUSED: &str = "sums of products: Warp fuses each product with the sum, here both are rounded";
const OVERFLOW: &str = "triangular systems whose products overflow: Warp fuses them with the sum";
const NEGATIVE_READ: &str =
    "a negative offset: Warp reads before the array, here it counts from the end, as indices do";
const NEGATIVE_WRITE: &str =
    "a negative offset: Warp writes before the array, here it counts from the end, as indices do";

/// Titles of kernels that agree when run alone and differ after others: for an offset outside of
/// its tile Warp seems to return the bytes that happen to lie in memory.
pub(crate) const NOW_AND_THEN: &[&str] = &["tests/tile/test_tile_view.py:838 "];

/// The beginning of a kernel's title, and the reason.
pub(crate) const EXPLAINED: &[(&str, &str)] = &[
    (
        "tests/deterministic/test_deterministic_counter.py:1161 ",
        "threads race: each reads the counter that all change, and machine code runs four at once",
    ),
    (
        "tests/deterministic/test_deterministic_counter.py:1167 ",
        "threads race: each clears the counter that all change, and machine code runs four at once",
    ),
    (
        "tests/test_codegen.py:1701 ",
        "threads race: each moves the index that all read, and machine code runs four at once",
    ),
    (
        "tests/test_compile_consts.py:246 ",
        "a constant is bound anew after the launch: we read the binding next to the kernel, here Warp the last",
    ),
    ("tests/test_noise.py:253 ", BEYOND),
    (
        "tests/test_intersect.py:13 ",
        "infinite and absent coordinates: which side of a plane they are on has no answer",
    ),
    ("tests/test_apic.py:98 ", FUSED),
    (
        "tests/test_closest_point_edge_edge.py:15 ",
        "edges that are nearly parallel: products that nearly cancel are subtracted in double precision here",
    ),
    (
        "tests/test_fast_math.py:76 ",
        "numbers near the largest, whose products overflow here in another step than in Warp",
    ),
    ("tests/test_grad_customs.py:711 ", FUSED),
    ("tests/test_noise.py:155 ", BEYOND),
    ("tests/test_noise.py:328 ", BEYOND),
    (
        "tests/test_unique_module.py:513 ",
        "a factory makes several kernels of one name, of other numbers: each side runs another one",
    ),
    (
        "tests/tile/test_tile_cholesky.py:470 ",
        "a matrix of random numbers whose solutions grow: roundings on the way grow with them",
    ),
    ("tests/tile/test_tile_large_offsets.py:118 ", NEGATIVE_READ),
    ("tests/tile/test_tile_large_offsets.py:138 ", NEGATIVE_READ),
    ("tests/tile/test_tile_large_offsets.py:180 ", NEGATIVE_WRITE),
    ("tests/tile/test_tile_large_offsets.py:190 ", NEGATIVE_WRITE),
    ("tests/tile/test_tile_large_offsets.py:210 ", NEGATIVE_WRITE),
    ("tests/tile/test_tile_matmul.py:35 ", FUSED),
    ("tests/tile/test_tile_matmul.py:75 ", FUSED),
    ("tests/tile/test_tile_matmul.py:183 ", FUSED),
    ("tests/tile/test_tile_matmul.py:204 ", FUSED),
    ("tests/tile/test_tile_matmul.py:393 ", FUSED),
    ("tests/tile/test_tile_matmul.py:437 ", FUSED),
    ("tests/tile/test_tile_matmul.py:552 ", FUSED),
    ("tests/tile/test_tile_matmul.py:579 ", FUSED),
    ("tests/tile/test_tile_matmul.py:660 ", FUSED),
    ("tests/tile/test_tile_matmul.py:671 ", FUSED),
    ("tests/tile/test_tile_matmul.py:855 ", FUSED),
    ("tests/tile/test_tile_matmul.py:862 ", FUSED),
    ("tests/tile/test_tile_matmul.py:872 ", FUSED),
    ("tests/tile/test_tile_matmul.py:1003 ", FUSED),
    ("tests/tile/test_tile_matmul.py:1042 ", FUSED),
    ("tests/tile/test_tile_matmul.py:1068 ", FUSED),
    ("tests/tile/test_tile_matmul.py:1167 ", FUSED),
    ("tests/tile/test_tile_matmul_no_mathdx.py:34 ", FUSED),
    ("tests/tile/test_tile_matmul_no_mathdx.py:74 ", FUSED),
    ("tests/tile/test_tile_matmul_no_mathdx.py:161 ", FUSED),
    ("tests/tile/test_tile_matmul_no_mathdx.py:223 ", FUSED),
    ("tests/tile/test_tile_matmul_no_mathdx.py:292 ", FUSED),
    ("tests/tile/test_tile_matmul_no_mathdx.py:304 ", FUSED),
    ("tests/tile/test_tile_matmul_no_mathdx.py:400 ", FUSED),
    ("tests/tile/test_tile_matmul_no_mathdx.py:468 ", FUSED),
    ("tests/tile/test_tile_matmul_strides.py:21 ", FUSED),
    ("tests/tile/test_tile_matmul_strides.py:121 ", FUSED),
    ("tests/tile/test_tile_oob.py:51 ", NEGATIVE_READ),
    ("tests/tile/test_tile_solve.py:144 ", OVERFLOW),
    ("tests/tile/test_tile_solve.py:363 ", OVERFLOW),
    (
        "examples/fem/utils.py:547 ",
        "a matrix that is nearly singular is inverted: roundings on the way grow",
    ),
    ("tests/tile/test_tile_matmul_no_mathdx.py:439 ", FUSED),
    ("tests/tile/test_tile_matmul_no_mathdx.py:280 ", FUSED),
    ("tests/tile/test_tile_large_offsets.py:170 ", NEGATIVE_WRITE),
];
