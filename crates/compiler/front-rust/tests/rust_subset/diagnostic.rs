//! Refusals: code outside the subset, or with types that don't fit, is refused at its line.

use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;

/// Compares the rendered diagnostics of a text whose entry point is `f` with a snapshot.
macro_rules! assert_refused {
    ($text:expr) => {
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(refused($text));
        });
    };
}

fn refused(text: &str) -> String {
    let mut sources = SourceMap::new();
    match gbxcule_front_rust::lower(&[("src/lib.rs", text)], &["f"], &mut sources) {
        Ok(_) => panic!("taken: {text}"),
        Err(faults) => render(&faults, &sources),
    }
}

#[test]
fn constructs_outside_the_subset_are_named_at_their_line() {
    assert_refused!(
        "trait Chip {}\n\
         #[derive(Clone, Copy)]\n\
         pub struct Timer<T> { tima: T, next: &'static u8 }\n\
         pub fn f(x: u8, rom: &[u8]) -> u8 {\n    \
             let double = |y: u8| y * 2;\n    \
             for byte in rom.iter() {}\n    \
             'outer: loop { break 'outer; }\n    \
             if let 3 = x { assert!(x > 2); }\n    \
             match x { n if n > 1 => 1, _ => 2 }\n\
         }\n"
    );
}

#[test]
fn types_that_do_not_fit_are_shown_as_written() {
    assert_refused!(
        "struct Cpu { a: u8, sp: u16 }\n\
         enum Mode { Run, Halt }\n\
         fn g(cpu: &mut Cpu, by: u16) {}\n\
         fn f(cpu: &Cpu, cells: &[u8; 4]) -> bool {\n    \
             let sum = cpu.a + cpu.sp;\n    \
             g(cpu, 5);\n    \
             g(cpu);\n    \
             let byte: u8 = 300;\n    \
             let next = cells[cpu.a];\n    \
             let mode = match Mode::Run { Mode::Run => 1 };\n    \
             let unknown;\n    \
             cpu.b == cpu.carry()\n\
         }\n"
    );
}

#[test]
fn literals_and_matches_are_checked_when_types_are_known() {
    assert_refused!(
        "fn f(a: u8) -> u8 {\n    \
             let b: u8 = 300;\n    \
             let c = -129;\n    \
             let d: i8 = c;\n    \
             match a { 0..=99 => b, 101.. => 2 }\n\
         }\n"
    );
}

#[test]
fn constants_are_worked_out_or_refused() {
    assert_refused!(
        "const A: u8 = B + 1;\n\
         const B: u8 = A;\n\
         const C: u8 = 200 + 100;\n\
         const D: [u8; 2] = [1, 2];\n\
         const E: u8 = D[2];\n\
         fn f(x: u8) -> u8 { match x { A => 1, C => 2, E => 3, _ => 4 } }\n"
    );
}

#[test]
fn a_constant_without_end_is_given_up() {
    assert_refused!(
        "const F: u32 = endless();\n\
         const fn endless() -> u32 { let mut x = 0; while true { x ^= 1; } x }\n\
         fn f() -> u32 { F }\n"
    );
}

#[test]
fn names_paths_and_circles_are_followed() {
    assert_refused!(
        "use crate::chip::Timer;\n\
         mod inner { pub use super::inner::twice; }\n\
         fn g(x: u8) -> u8 { if x > 1 { h(x) } else { 0 } }\n\
         fn h(x: u8) -> u8 { g(x - 1) }\n\
         fn f(x: u8) -> u8 { g(x) + missing::call(x) + LIMIT + inner::twice(x) + x.checked_add(1) }\n"
    );
}

#[test]
fn text_that_is_no_rust_says_where() {
    assert_refused!("fn f() {\n    let x = ;\n}\n");
}

#[test]
fn an_unknown_entry_point_is_named() {
    assert_refused!("fn g() {}\n");
}
