//! A function gets a single exit.

fn run(a: u8) -> u8 {
    if a > 3 {
        return a - 3;
    }
    let mut rest = a;
    while rest > 0 {
        if rest == 2 {
            return 7;
        }
        rest -= 1;
    }
    rest
}

//= exit ir
// func run(a: u8) -> u8 {
//   var rest: u8
//   var result: u8
//   var done: bool
//   %0 = load a
//   %1 = gt %0, 3u8
//   if %1 {
//     %2 = load a
//     %3 = sub %2, 3u8
//     result = %3
//     done = true
//   } else {
//     %4 = load a
//     rest = %4
//     while {
//       %5 = load rest
//       %6 = gt %5, 0u8
//     } test %6 {
//       %7 = load rest
//       %8 = eq %7, 2u8
//       if %8 {
//         result = 7u8
//         done = true
//         break
//       }
//       %9 = load rest
//       %10 = sub %9, 1u8
//       rest = %10
//     }
//     %11 = load done
//     %12 = not %11
//     if %12 {
//       %13 = load rest
//       result = %13
//       done = true
//     }
//   }
//   %14 = load result
//   return %14
// }
