//! Types that do not fit are shown as written.

struct Cpu { a: u8, sp: u16 }
enum Mode { Run, Halt }
fn g(cpu: &mut Cpu, by: u16) {}
fn run(cpu: &Cpu, cells: &[u8; 4]) -> bool {
    let sum = cpu.a + cpu.sp;
    g(cpu, 5);
    g(cpu);
    let byte: u8 = 300;
    let next = cells[cpu.a];
    let mode = match Mode::Run { Mode::Run => 1 };
    let unknown;
    cpu.b == cpu.carry()
}

//= ir
// error[rust-type]: both operands must have one type, found `u8` and `u16`
//  --> refused_types.rs:7:15
//   |
// 7 |     let sum = cpu.a + cpu.sp;
//   |               ^^^^^^^^^^^^^^
//
// error[rust-type]: a `&mut Cpu` is needed here, found a `&Cpu`
//  --> refused_types.rs:8:7
//   |
// 8 |     g(cpu, 5);
//   |       ^^^
//
// error[rust-type]: `g` takes 2 arguments, found 1
//  --> refused_types.rs:9:5
//   |
// 9 |     g(cpu);
//   |     ^^^^^^
//
// error[rust-type]: a `usize` is needed here, found a `u8`
//   --> refused_types.rs:11:22
//    |
// 11 |     let next = cells[cpu.a];
//    |                      ^^^^^
//
// error[rust-name]: a `Cpu` has no such field
//   --> refused_types.rs:14:9
//    |
// 14 |     cpu.b == cpu.carry()
//    |         ^
//
// error[rust-name]: `Cpu` has no such method
//   --> refused_types.rs:14:18
//    |
// 14 |     cpu.b == cpu.carry()
//    |                  ^^^^^
//
// error[rust-type]: nothing says of which type `unknown` is
//   --> refused_types.rs:13:9
//    |
// 13 |     let unknown;
//    |         ^^^^^^^
