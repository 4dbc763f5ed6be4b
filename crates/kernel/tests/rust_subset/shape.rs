//! What the IR of a program looks like: nothing is computed, copied or branched upon that needn't be.

use gbxcule_kernel::check;
use gbxcule_kernel::diagnostic::render;
use gbxcule_kernel::front::rust;
use gbxcule_kernel::ir::print;
use gbxcule_kernel::source::SourceMap;

fn printed(text: &str) -> String {
    let mut sources = SourceMap::new();
    let module = rust::lower(&[("src/lib.rs", text)], &["f"], &mut sources);
    match module.and_then(check::module) {
        Ok(module) => print::module(&module),
        Err(faults) => panic!("{}", render(&faults, &sources)),
    }
}

#[test]
fn what_is_cheap_is_not_branched_upon() {
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(printed(
            "struct P { x: u8, cells: [u8; 4] }\n\
             const LIMIT: u8 = 9;\n\
             fn f(a: u8, b: u8, p: &P) -> u8 {\n    \
                 let most = if a > b { a } else { p.x };\n    \
                 let mut late = if !(most == LIMIT) && b < 4 { -(a as i8) as u8 } else { { 1 } };\n    \
                 late = if a < 3 || true { late } else { b ^ a };\n    \
                 late = if a < 3 { b / 3 } else { late };\n    \
                 if b > 3 && p.cells[(b & 3) as usize] == 7 { return late; }\n    \
                 if a > 99 { a + b + a + late } else { a + b + late }\n\
             }\n"
        ));
    });
}

#[test]
fn places_and_literals_are_used_as_they_stand() {
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(printed(
            "#[derive(Clone, Copy)]\n\
             struct P { x: u8, cells: [u8; 4] }\n\
             const TABLE: [u8; 2] = [3, 4];\n\
             fn both(a: u8) -> (u8, u8) { (a, 1) }\n\
             fn f(a: u8, p: &mut P) -> u64 {\n    \
                 let cells = [0u8; 4];\n    \
                 p.cells = [1; 4];\n    \
                 let fixed = cells[1] as u32 + (both(a).1 as u32) << 35 as u32;\n    \
                 for x in 0..=6 { p.x = p.cells[x]; }\n    \
                 for _ in 0..TABLE.len() { p.x = TABLE[(a & 1) as usize]; }\n    \
                 p.x = match a { 0..=9 | 20 => 1, 15 => return 2, _ => { p.cells[0] = 3; 4 } };\n    \
                 fixed as u64 + (1 << 3) as u64 + a.rotate_left(3) as u64\n\
             }\n"
        ));
    });
}

/// A dense choice among these is one jump; more labels than that would only be long.
#[test]
fn a_match_on_up_to_1024_numbers_is_a_switch() {
    let of = |last: u32| {
        printed(&format!("fn f(a: u16) -> u8 {{ match a {{ 7 => 1, 0..={last} => 2, _ => 3 }} }}"))
    };
    assert!(of(1023).contains("switch"));
    assert!(!of(1024).contains("switch"));
}
