//! Places and literals are used as they stand.

#[derive(Clone, Copy)]
struct P { x: u8, cells: [u8; 4], low: Q, many: [Q; 2] }
#[derive(Clone, Copy)]
struct Q { y: u8, z: (u8, u16) }
const ORIGIN: Q = Q { y: 1, z: (2, 3) };
const TABLE: [u8; 2] = [3, 4];
fn both(a: u8) -> (u8, u8) { (a, 1) }
fn run(a: u8, p: &mut P) -> u64 {
    let cells = [0u8; 4];
    p.cells = [1; 4];
    let fixed = cells[1] as u32 + (both(a).1 as u32) << 35 as u32;
    for x in 0..=6 { p.x = p.cells[x]; }
    for _ in 0..TABLE.len() { p.x = TABLE[(a & 1) as usize]; }
    p.low.y = p.many[a as usize & 1].z.0 ^ p.low.y ^ ORIGIN.y ^ ORIGIN.z.0;
    p.low = if a > 3 { p.many[1] } else { p.low };
    let (q, r) = (p.many[0], p.low);
    let chosen = if a > 4 { q } else { r };
    p.x = chosen.y;
    p.x = match a { 0..=9 | 20 => 1, 15 => return 2, _ => { p.cells[0] = 3; if a > 30 { 4 } else { 5 } } };
    fixed as u64 + (1 << 3) as u64 + a.rotate_left(3) as u64
}

//= ir
// struct tuple_u8_u16 { item0: u8, item1: u16 }
//
// struct Q { y: u8, z: tuple_u8_u16 }
//
// struct P { x: u8, cells: [u8; 4], low: Q, many: [Q; 2] }
//
// struct tuple_u8_u8 { item0: u8, item1: u8 }
//
// struct tuple_Q_Q { item0: Q, item1: Q }
//
// table TABLE: [u8; 2] = 2 bytes
//
// table ORIGIN: Q = 6 bytes
//
// func run(a: u8, p: mut P) -> u64 {
//   var cells: [u8; 4]
//   var q: Q
//   var r: Q
//   var chosen: Q
//   %0 = zero [u8; 4]
//   cells = %0
//   %1 = splat [u8; 4] 1u8
//   p.cells = %1
//   %2 = load cells[1u64]
//   %3 = u32 %2
//   %4 = load a
//   %5 = both(%4)
//   %6 = %5.item1
//   %7 = u32 %6
//   %8 = add %3, %7
//   fixed = shl %8, 3u32
//   for x in range(0u64, 7u64, 1u64) {
//     %9 = load p.cells[x]
//     p.x = %9
//   }
//   for turn in range(0u64, 2u64, 1u64) {
//     %10 = load a
//     %11 = and %10, 1u8
//     %12 = u64 %11
//     %13 = load TABLE[%12]
//     p.x = %13
//   }
//   %14 = load a
//   %15 = u64 %14
//   %16 = and %15, 1u64
//   %17 = load p.many[%16].z.item0
//   %18 = load p.low.y
//   %19 = xor %17, %18
//   %20 = load ORIGIN.y
//   %21 = xor %19, %20
//   %22 = load ORIGIN.z.item0
//   %23 = xor %21, %22
//   p.low.y = %23
//   %24 = load a
//   %25 = gt %24, 3u8
//   if %25 {
//     %26 = load p.many[1u64]
//     p.low = %26
//   } else {
//     %27 = load p.low
//     p.low = %27
//   }
//   %28 = load p.many[0u64]
//   %29 = load p.low
//   %30 = tuple_Q_Q { %28, %29 }
//   %31 = %30.item0
//   q = %31
//   %32 = %30.item1
//   r = %32
//   %33 = load a
//   %34 = gt %33, 4u8
//   if %34 {
//     %35 = load q
//     chosen = %35
//   } else {
//     %36 = load r
//     chosen = %36
//   }
//   %37 = load chosen.y
//   p.x = %37
//   %38 = load a
//   switch %38 {
//   case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20:
//     p.x = 1u8
//   case 15:
//     return 2u64
//   default:
//     p.cells[0u64] = 3u8
//     %39 = load a
//     %40 = gt %39, 30u8
//     %41 = select %40, 4u8, 5u8
//     p.x = %41
//   }
//   %42 = u64 fixed
//   %43 = shl 1i32, 3i32
//   %44 = u64 %43
//   %45 = add %42, %44
//   %46 = load a
//   %47 = sub 0u8, 3u8
//   %48 = and %47, 7u8
//   %49 = shl %46, 3u8
//   %50 = shr %46, %48
//   %51 = or %49, %50
//   %52 = u64 %51
//   %53 = add %45, %52
//   return %53
// }
//
// func both(a: u8) -> tuple_u8_u8 {
//   %0 = load a
//   %1 = tuple_u8_u8 { %0, 1u8 }
//   return %1
// }
