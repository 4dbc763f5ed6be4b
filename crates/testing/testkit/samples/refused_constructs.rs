//! Constructs outside the subset are named at their line.

trait Chip {}
#[derive(Clone, Copy)]
pub struct Timer<T> { tima: T, next: &'static u8 }
pub fn run(x: u8, rom: &[u8]) -> u8 {
    let double = |y: u8| y * 2;
    for byte in rom.iter() {}
    'outer: loop { break 'outer; }
    if let 3 = x { assert!(x > 2); }
    match x { n if n > 1 => 1, _ => 2 }
}

//= ir
// error[rust-subset]: a trait is outside the subset of Rust that is translated
//  --> refused_constructs.rs:3:1
//   |
// 3 | trait Chip {}
//   | ^^^^^^^^^^^^^
//
// error[rust-subset]: a generic item is outside the subset of Rust that is translated
//  --> refused_constructs.rs:5:17
//   |
// 5 | pub struct Timer<T> { tima: T, next: &'static u8 }
//   |                 ^^^
//
// error[rust-name]: this type is defined in none of the texts
//  --> refused_constructs.rs:5:29
//   |
// 5 | pub struct Timer<T> { tima: T, next: &'static u8 }
//   |                             ^
//
// error[rust-subset]: this type is outside the subset of Rust that is translated
//  --> refused_constructs.rs:5:38
//   |
// 5 | pub struct Timer<T> { tima: T, next: &'static u8 }
//   |                                      ^^^^^^^^^^^
//
// error[rust-subset]: a closure is outside the subset of Rust that is translated
//  --> refused_constructs.rs:7:18
//   |
// 7 |     let double = |y: u8| y * 2;
//   |                  ^^^^^^^^^^^^^
//
// error[rust-subset]: a loop over anything but a range is outside the subset of Rust that is translated
//  --> refused_constructs.rs:8:17
//   |
// 8 |     for byte in rom.iter() {}
//   |                 ^^^^^^^^^^
//
// error[rust-subset]: a label is outside the subset of Rust that is translated
//  --> refused_constructs.rs:9:5
//   |
// 9 |     'outer: loop { break 'outer; }
//   |     ^^^^^^^
//
// error[rust-subset]: `let` in a condition is outside the subset of Rust that is translated
//   --> refused_constructs.rs:10:8
//    |
// 10 |     if let 3 = x { assert!(x > 2); }
//    |        ^^^^^^^^^
//
// error[rust-subset]: a macro is outside the subset of Rust that is translated
//   --> refused_constructs.rs:10:20
//    |
// 10 |     if let 3 = x { assert!(x > 2); }
//    |                    ^^^^^^^^^^^^^^^
//
// error[rust-subset]: a guard of a `match` arm is outside the subset of Rust that is translated
//   --> refused_constructs.rs:11:15
//    |
// 11 |     match x { n if n > 1 => 1, _ => 2 }
//    |               ^^^^^^^^^^
