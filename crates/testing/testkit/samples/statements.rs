//! Statements stand where they were written.

fn run(a: u32, b: u32, cells: &mut [u32; 4]) -> u32 {
    let c = a / b;
    cells[0] = if a > 3 { 5 / c } else { 6 };
    while c < a { cells[1] += 1; if a == 9 { break; } }
    for x in 0..c { if x == b { return x ^ 1; } }
    match b { 1 => g(cells), _ => { return { c + 1 } } }
    { let d = c; d * 2 }
}
fn g(cells: &mut [u32; 4]) { cells[2] = 1; }

//= cuda
// // rust: CUDA C++, by gbxcule. Compile with --fmad=false.
// #include "gbxcule.h"
//
// namespace program {
//
// // statements.rs:11
// static __device__ void g(Fixed<uint32_t, 4>& cells)
// {
//     // 11: fn g(cells: &mut [u32; 4]) { cells[2] = 1; }
//     cells[2u] = 1u;
// }
//
// // statements.rs:3
// static __device__ uint32_t run(uint32_t a, uint32_t b, Fixed<uint32_t, 4>& cells)
// {
//     // 3: fn run(a: u32, b: u32, cells: &mut [u32; 4]) -> u32 {
//     uint32_t chosen = 0u;
//     // 4: let c = a / b;
//     const uint32_t c = gbx::div(a, b);
//     // 5: cells[0] = if a > 3 { 5 / c } else { 6 };
//     if (a > 3u) {
//         chosen = gbx::div(5u, c);
//     } else {
//         chosen = 6u;
//     }
//     cells[0u] = chosen;
//     // 6: while c < a { cells[1] += 1; if a == 9 { break; } }
//     while (c < a) {
//         cells[1u] += 1u;
//         if (a == 9u) {
//             break;
//         }
//     }
//     // 7: for x in 0..c { if x == b { return x ^ 1; } }
//     for (uint32_t x = 0u; x < c; ++x) {
//         if (x == b) {
//             return x ^ 1u;
//         }
//     }
//     // 8: match b { 1 => g(cells), _ => { return { c + 1 } } }
//     switch (b) {
//     case 1: {
//         g(cells);
//         break;
//     }
//     default: {
//         return c + 1u;
//     }
//     }
//     // 9: { let d = c; d * 2 }
//     return c * 2u;
// }
//
// } // namespace program
