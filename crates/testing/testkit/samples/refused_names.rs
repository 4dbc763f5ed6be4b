//! Names, paths and circles are followed.

use crate::chip::Timer;
mod inner { pub use super::inner::twice; }
fn g(x: u8) -> u8 { if x > 1 { h(x) } else { 0 } }
fn h(x: u8) -> u8 { g(x - 1) }
fn run(x: u8) -> u8 { g(x) + missing::call(x) + LIMIT + inner::twice(x) + x.checked_add(1) }

//= ir
// error[rust-name]: this name is defined in none of the texts
//  --> refused_names.rs:7:30
//   |
// 7 | fn run(x: u8) -> u8 { g(x) + missing::call(x) + LIMIT + inner::twice(x) + x.checked_add(1) }
//   |                              ^^^^^^^^^^^^^
//
// error[rust-name]: this name is defined in none of the texts
//  --> refused_names.rs:7:49
//   |
// 7 | fn run(x: u8) -> u8 { g(x) + missing::call(x) + LIMIT + inner::twice(x) + x.checked_add(1) }
//   |                                                 ^^^^^
//
// error[rust-name]: this name is defined in none of the texts
//  --> refused_names.rs:7:57
//   |
// 7 | fn run(x: u8) -> u8 { g(x) + missing::call(x) + LIMIT + inner::twice(x) + x.checked_add(1) }
//   |                                                         ^^^^^^^^^^^^
//
// error[rust-name]: there is no method `checked_add` of `u8`
//  --> refused_names.rs:7:77
//   |
// 7 | fn run(x: u8) -> u8 { g(x) + missing::call(x) + LIMIT + inner::twice(x) + x.checked_add(1) }
//   |                                                                             ^^^^^^^^^^^
//
// error[rust-recursion]: `g` comes to call itself here; recursion is not translated
//  --> refused_names.rs:6:21
//   |
// 6 | fn h(x: u8) -> u8 { g(x - 1) }
//   |                     ^^^^^^^^
