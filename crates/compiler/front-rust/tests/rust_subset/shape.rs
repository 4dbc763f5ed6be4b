//! Shape of a program's IR: it has no needless computations, copies or branches.

use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Module, StmtKind, print};

fn lowered(text: &str) -> Valid<Module> {
    let mut sources = SourceMap::new();
    let module = gbxcule_front_rust::lower(&[("src/lib.rs", text)], &["f"], &mut sources);
    module.and_then(check::module).unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)))
}

fn printed(text: &str) -> String {
    print::module(&lowered(text))
}

#[test]
fn what_is_cheap_is_not_branched_upon() {
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(printed(
            "struct P { x: u8, cells: [u8; 4] }\n\
             const LIMIT: u8 = 9;\n\
             fn f(a: u8, b: u8, p: &P) -> u8 {\n    \
                 let flag = if a > b { a > 1 && b > 2 } else { true };\n    \
                 let mut dear = a > 1 && (b > 1 || p.cells[0] == 3);\n    \
                 let far = { let c = a; if c > 5 { c / 5 } else { 5 } };\n    \
                 dear &= flag & (far > 1);\n    \
                 dear = if a > 9 { flag && dear } else { dear };\n    \
                 if dear { return 1; }\n    \
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
             struct P { x: u8, cells: [u8; 4], low: Q, many: [Q; 2] }\n\
             #[derive(Clone, Copy)]\n\
             struct Q { y: u8, z: (u8, u16) }\n\
             const ORIGIN: Q = Q { y: 1, z: (2, 3) };\n\
             const TABLE: [u8; 2] = [3, 4];\n\
             fn both(a: u8) -> (u8, u8) { (a, 1) }\n\
             fn f(a: u8, p: &mut P) -> u64 {\n    \
                 let cells = [0u8; 4];\n    \
                 p.cells = [1; 4];\n    \
                 let fixed = cells[1] as u32 + (both(a).1 as u32) << 35 as u32;\n    \
                 for x in 0..=6 { p.x = p.cells[x]; }\n    \
                 for _ in 0..TABLE.len() { p.x = TABLE[(a & 1) as usize]; }\n    \
                 p.low.y = p.many[a as usize & 1].z.0 ^ p.low.y ^ ORIGIN.y ^ ORIGIN.z.0;\n    \
                 p.low = if a > 3 { p.many[1] } else { p.low };\n    \
                 let (q, r) = (p.many[0], p.low);\n    \
                 let chosen = if a > 4 { q } else { r };\n    \
                 p.x = chosen.y;\n    \
                 p.x = match a { 0..=9 | 20 => 1, 15 => return 2, _ => { p.cells[0] = 3; if a > 30 { 4 } else { 5 } } };\n    \
                 fixed as u64 + (1 << 3) as u64 + a.rotate_left(3) as u64\n\
             }\n"
        ));
    });
}

/// A dense choice among up to 1024 numbers is one jump; with more labels the table would be too
/// long.
#[test]
fn a_match_on_up_to_1024_numbers_is_a_switch() {
    let of = |last: u32| {
        printed(&format!("fn f(a: u16) -> u8 {{ match a {{ 7 => 1, 0..={last} => 2, _ => 3 }} }}"))
    };
    assert!(of(1023).contains("switch"));
    assert!(!of(1024).contains("switch"));
}

/// Lists every statement of a function, by the text at which a fault in it points.
#[test]
fn statements_stand_where_they_were_written() {
    let text = "fn f(a: u32, b: u32, cells: &mut [u32; 4]) -> u32 {\n    \
            let c = a / b;\n    \
            cells[0] = if a > 3 { 5 / c } else { 6 };\n    \
            while c < a { cells[1] += 1; if a == 9 { break; } }\n    \
            for x in 0..c { if x == b { return x ^ 1; } }\n    \
            match b { 1 => g(cells), _ => { return { c + 1 } } }\n    \
            { let d = c; d * 2 }\n\
        }\n\
        fn g(cells: &mut [u32; 4]) { cells[2] = 1; }\n";
    let module = lowered(text);
    let function = &module.functions[module.find("f").expect("lowered")];
    let stmts = function.body.blocks.iter().flat_map(|(_, block)| &block.stmts);
    let mut places: Vec<String> = Vec::new();
    for stmt in stmts {
        let kind = match &stmt.kind {
            StmtKind::Let(_) => continue,
            StmtKind::Store { .. } => "store",
            StmtKind::If { .. } => "if",
            StmtKind::Switch { .. } => "switch",
            StmtKind::For { .. } => "for",
            StmtKind::While { .. } => "while",
            StmtKind::Return(_) => "return",
            _ => "other",
        };
        let place = stmt.span.start as usize..stmt.span.end as usize;
        places.push(format!("{kind}: {}", &text[place]));
    }
    places.sort_unstable();
    let operations = function.body.values.iter().map(|(_, value)| &value.span);
    let mut operations: Vec<&str> =
        operations.map(|span| &text[span.start as usize..span.end as usize]).collect();
    operations.sort_unstable();
    operations.dedup();
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(format!("{}\n\noperations of\n{}", places.join("\n"), operations.join("\n")));
    });
}
