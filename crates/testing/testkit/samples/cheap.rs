//! Work that is cheap is done without a branch.

struct P { x: u8, cells: [u8; 4] }
const LIMIT: u8 = 9;
fn run(a: u8, b: u8, p: &P) -> u8 {
    let flag = if a > b { a > 1 && b > 2 } else { true };
    let mut dear = a > 1 && (b > 1 || p.cells[0] == 3);
    let far = { let c = a; if c > 5 { c / 5 } else { 5 } };
    dear &= flag & (far > 1);
    dear = if a > 9 { flag && dear } else { dear };
    if dear { return 1; }
    let most = if a > b { a } else { p.x };
    let mut late = if !(most == LIMIT) && b < 4 { -(a as i8) as u8 } else { { 1 } };
    late = if a < 3 || true { late } else { b ^ a };
    late = if a < 3 { b / 3 } else { late };
    if b > 3 && p.cells[(b & 3) as usize] == 7 { return late; }
    if a > 99 { a + b + a + late } else { a + b + late }
}

//= ir
// struct P { x: u8, cells: [u8; 4] }
//
// func run(a: u8, b: u8, p: ref P) -> u8 {
//   var flag: bool
//   var holds: bool
//   var holds.1: bool
//   var dear: bool
//   var far: u8
//   var late: u8
//   var holds.2: bool
//   var chosen: u8
//   %0 = load a
//   %1 = load b
//   %2 = gt %0, %1
//   if %2 {
//     %3 = load a
//     %4 = gt %3, 1u8
//     %5 = load b
//     %6 = gt %5, 2u8
//     %7 = and %4, %6
//     flag = %7
//   } else {
//     flag = true
//   }
//   %8 = load a
//   %9 = gt %8, 1u8
//   if %9 {
//     %10 = load b
//     %11 = gt %10, 1u8
//     if %11 {
//       holds.1 = true
//     } else {
//       %12 = load p.cells[0u64]
//       %13 = eq %12, 3u8
//       holds.1 = %13
//     }
//     %14 = load holds.1
//     holds = %14
//   } else {
//     holds = false
//   }
//   %15 = load holds
//   dear = %15
//   c = load a
//   %16 = gt c, 5u8
//   if %16 {
//     %17 = div c, 5u8
//     far = %17
//   } else {
//     far = 5u8
//   }
//   %18 = load flag
//   %19 = load far
//   %20 = gt %19, 1u8
//   %21 = and %18, %20
//   %22 = load dear
//   %23 = and %22, %21
//   dear = %23
//   %24 = load a
//   %25 = gt %24, 9u8
//   %26 = load flag
//   %27 = load dear
//   %28 = and %26, %27
//   %29 = load dear
//   %30 = select %25, %28, %29
//   dear = %30
//   %31 = load dear
//   if %31 {
//     return 1u8
//   }
//   %32 = load a
//   %33 = load b
//   %34 = gt %32, %33
//   %35 = load a
//   %36 = load p.x
//   most = select %34, %35, %36
//   %37 = eq most, 9u8
//   %38 = not %37
//   %39 = load b
//   %40 = lt %39, 4u8
//   %41 = and %38, %40
//   %42 = load a
//   %43 = i8 %42
//   %44 = neg %43
//   %45 = u8 %44
//   %46 = select %41, %45, 1u8
//   late = %46
//   %47 = load a
//   %48 = lt %47, 3u8
//   %49 = or %48, true
//   %50 = load late
//   %51 = load b
//   %52 = load a
//   %53 = xor %51, %52
//   %54 = select %49, %50, %53
//   late = %54
//   %55 = load a
//   %56 = lt %55, 3u8
//   if %56 {
//     %57 = load b
//     %58 = div %57, 3u8
//     late = %58
//   } else {
//     %59 = load late
//     late = %59
//   }
//   %60 = load b
//   %61 = gt %60, 3u8
//   if %61 {
//     %62 = load b
//     %63 = and %62, 3u8
//     %64 = u64 %63
//     %65 = load p.cells[%64]
//     %66 = eq %65, 7u8
//     holds.2 = %66
//   } else {
//     holds.2 = false
//   }
//   %67 = load holds.2
//   if %67 {
//     %68 = load late
//     return %68
//   }
//   %69 = load a
//   %70 = gt %69, 99u8
//   if %70 {
//     %71 = load a
//     %72 = load b
//     %73 = add %71, %72
//     %74 = load a
//     %75 = add %73, %74
//     %76 = load late
//     %77 = add %75, %76
//     chosen = %77
//   } else {
//     %78 = load a
//     %79 = load b
//     %80 = add %78, %79
//     %81 = load late
//     %82 = add %80, %81
//     chosen = %82
//   }
//   %83 = load chosen
//   return %83
// }
