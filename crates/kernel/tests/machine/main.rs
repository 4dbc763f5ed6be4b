//! The machine's own sources go through the front end, and what comes out does what rustc's code does.

use gbxcule_gameboy::SOURCES;
use gbxcule_kernel::check;
use gbxcule_kernel::diagnostic::render;
use gbxcule_kernel::front::rust;
use gbxcule_kernel::source::SourceMap;

#[test]
fn all_functions_lower_to_valid_ir() {
    let mut sources = SourceMap::new();
    let entries = rust::functions(SOURCES);
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let began = std::time::Instant::now();
    let module = rust::lower(SOURCES, &entries, &mut sources)
        .unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)));
    println!("{:?}", began.elapsed());
    let module =
        check::module(module).unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)));
    let values: usize = module.functions.iter().map(|(_, it)| it.body.values.len()).sum();
    println!("{} functions, {values} values", module.functions.len());
}
