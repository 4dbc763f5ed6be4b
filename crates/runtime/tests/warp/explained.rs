//! Differences from NVIDIA Warp, and their reasons. A kernel that agrees though it stands here is
//! an error.

const BEYOND: &str =
    "coordinates beyond the integers: Warp's conversion to lattice points is undefined there";

/// The begin of a kernel's title, and the reason.
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
    (
        "tests/test_fast_math.py:108 ",
        "Warp inverts 4 by 4 matrices in double precision, we in the matrix's own: sums of the parts show it",
    ),
    (
        "tests/test_ctypes.py:118 ",
        "Warp inverts 4 by 4 matrices in double precision, we in the matrix's own, where a determinant overflows",
    ),
    (
        "tests/test_rounding.py:16 ",
        "floats beyond the integers: Warp's conversion is undefined there and gives the least integer, ours the nearest",
    ),
    (
        "tests/tile/test_tile_matmul_no_mathdx.py:439 ",
        "sums of products whose terms nearly cancel, up to 48 units: in which order Warp adds them was not found out",
    ),
    (
        "tests/tile/test_tile_matmul_no_mathdx.py:280 ",
        "sums of products, 6 units of the largest number: in which order Warp adds them was not found out",
    ),
    (
        "tests/tile/test_tile_solve.py:164 ",
        "a matrix of random numbers whose solutions grow: 10 units of the largest number, from roundings on the way",
    ),
    (
        "tests/tile/test_tile_large_offsets.py:170 ",
        "a negative offset: Warp writes before the array, here it counts from the array's end, as indices do",
    ),
    ("tests/test_noise.py:137 ", BEYOND),
    ("tests/test_noise.py:253 ", BEYOND),
    (
        "tests/test_closest_point_edge_edge.py:292 ",
        "edges that are nearly parallel: products that nearly cancel are subtracted in double precision here",
    ),
    (
        "tests/test_intersect.py:13 ",
        "infinite and absent coordinates: which side of a plane they are on has no answer",
    ),
];
