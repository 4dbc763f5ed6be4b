//! Shape of a program's IR. Samples of the testkit show more (`cheap.rs`, `places.rs`).

use gbxcule_ir::check;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::print;
use gbxcule_ir::source::SourceMap;

fn printed(text: &str) -> String {
    let mut sources = SourceMap::new();
    let module = gbxcule_front_rust::lower(&[("src/lib.rs", text)], &["f"], &mut sources);
    let module = module.and_then(check::module);
    print::module(&module.unwrap_or_else(|faults| panic!("{}", render(&faults, &sources))))
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
