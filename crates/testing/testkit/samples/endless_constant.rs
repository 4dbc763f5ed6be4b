//! A constant without an end is given up.

const F: u32 = endless();
const fn endless() -> u32 { let mut x = 0; while true { x ^= 1; } x }
fn run() -> u32 { F }

//= ir
// error[rust-const]: this constant takes too long to work out
//  --> endless_constant.rs:4:44
//   |
// 4 | const fn endless() -> u32 { let mut x = 0; while true { x ^= 1; } x }
//   |                                            ^^^^^^^^^^^^^^^^^^^^^^
