//! A call becomes the body of its function.

struct Timer { count: u32 }
impl Timer {
    fn advance(&mut self, by: u32) -> u32 {
        self.count = self.count.wrapping_add(by);
        self.count
    }
}
fn run(timer: &mut Timer) -> u32 { timer.advance(1) ^ timer.advance(2) }

//= exit inline ir
// struct Timer { count: u32 }
//
// func run(timer: mut Timer) -> u32 {
//   var by: u32
//   var by.1: u32
//   by = 1u32
//   %0 = load timer.count
//   %1 = add %0, 1u32
//   timer.count = %1
//   %2 = load timer.count
//   by.1 = 2u32
//   %3 = load timer.count
//   %4 = add %3, 2u32
//   timer.count = %4
//   %5 = load timer.count
//   %6 = xor %2, %5
//   return %6
// }
//
// func Timer::advance(self: mut Timer, by: u32) -> u32 {
//   %0 = load self.count
//   %1 = load by
//   %2 = add %0, %1
//   self.count = %2
//   %3 = load self.count
//   return %3
// }
