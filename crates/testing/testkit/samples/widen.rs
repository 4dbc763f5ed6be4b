//! A struct of bytes is kept in words.

#[derive(Clone, Copy)]
struct Cpu { a: u8, pc: u16 }
struct Machine { cpu: Cpu }
fn run(machine: &mut Machine, rounds: u32) {
    let mut cpu = machine.cpu;
    for _ in 0..rounds { cpu.a = cpu.a.wrapping_add(3); cpu.pc = cpu.pc.wrapping_sub(1); }
    machine.cpu = cpu;
}

//= widen ir
// struct Cpu { a: u8, pc: u16 }
//
// struct Machine { cpu: Cpu }
//
// func run(machine: mut Machine, rounds: u32) {
//   var cpu: Cpu
//   var cpu_a: u32
//   var cpu_pc: u32
//   %0 = load machine.cpu
//   %1 = %0.a
//   %2 = u32 %1
//   cpu_a = %2
//   %3 = %0.pc
//   %4 = u32 %3
//   cpu_pc = %4
//   %5 = load rounds
//   for turn in range(0u32, %5, 1u32) {
//     %6 = load cpu_a
//     %7 = u8 %6
//     %8 = add %7, 3u8
//     %9 = u32 %8
//     cpu_a = %9
//     %10 = load cpu_pc
//     %11 = u16 %10
//     %12 = sub %11, 1u16
//     %13 = u32 %12
//     cpu_pc = %13
//   }
//   %14 = load cpu_a
//   %15 = u8 %14
//   %16 = load cpu_pc
//   %17 = u16 %16
//   %18 = Cpu { %15, %17 }
//   machine.cpu = %18
// }
