//! Fields that a loop works on are kept in variables and written back where the function ends.

struct Timer { count: u32, idle: u32 }
fn run(timer: &mut Timer, by: u32) {
    for _ in 0..by { timer.count = timer.count.wrapping_add(by); }
}

//= promote ir
// struct Timer { count: u32, idle: u32 }
//
// func run(timer: mut Timer, by: u32) {
//   var kept: u32
//   %0 = load timer.count
//   kept = %0
//   %1 = load by
//   for turn in range(0u32, %1, 1u32) {
//     %2 = load kept
//     %3 = load by
//     %4 = add %2, %3
//     kept = %4
//   }
//   %5 = load kept
//   timer.count = %5
// }
