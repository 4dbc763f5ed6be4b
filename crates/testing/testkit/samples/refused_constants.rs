//! Constants are worked out or refused.

const A: u8 = B + 1;
const B: u8 = A;
const C: u8 = 200 + 100;
const D: [u8; 2] = [1, 2];
const E: u8 = D[2];
fn run(x: u8) -> u8 { match x { A => 1, C => 2, E => 3, _ => 4 } }

//= ir
// error[rust-const]: `A` is defined by itself
//  --> refused_constants.rs:4:15
//   |
// 4 | const B: u8 = A;
//   |               ^
//
// error[rust-const]: this overflows
//  --> refused_constants.rs:5:15
//   |
// 5 | const C: u8 = 200 + 100;
//   |               ^^^^^^^^^
//
// error[rust-const]: this index lies outside
//  --> refused_constants.rs:7:15
//   |
// 7 | const E: u8 = D[2];
//   |               ^^^^
