//! A text that is not Rust says where.

fn run() {
    let x = ;
}

//= ir
// error[rust-syntax]: expected an expression
//  --> no_rust.rs:4:13
//   |
// 4 |     let x = ;
//   |             ^
