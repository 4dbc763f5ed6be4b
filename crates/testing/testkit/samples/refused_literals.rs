//! Literals and matches are checked when types are known.

fn run(a: u8) -> u8 {
    let b: u8 = 300;
    let c = -129;
    let d: i8 = c;
    match a { 0..=99 => b, 101.. => 2 }
}

//= ir
// error[rust-type]: 300 doesn't fit into `u8`
//  --> refused_literals.rs:4:17
//   |
// 4 |     let b: u8 = 300;
//   |                 ^^^
//
// error[rust-type]: -129 doesn't fit into `i8`
//  --> refused_literals.rs:5:13
//   |
// 5 |     let c = -129;
//   |             ^^^^
//
// error[rust-type]: this `match` leaves values out
//  --> refused_literals.rs:7:5
//   |
// 7 |     match a { 0..=99 => b, 101.. => 2 }
//   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
