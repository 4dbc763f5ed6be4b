//! Takes any bytes as a kernel's source and the files beside it that it imports from: they are
//! refused with diagnostics that can be shown, or compiled to the same text twice. A zero byte ends
//! a file; the first file is the source, the others are `a.py`, `b.py` and so on.
#![no_main]

use std::path::Path;

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_front_warp::{Program, Texts};
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 4] = ["a.py", "b.py", "c.py", "d.py"];
/// Opening of the source: it imports names of the other files, so that kernels get behind the
/// parser quickly.
const OPENING: &str = "import warp as wp\nfrom a import *\nfrom b import f\nimport c\n";

fn text(source: &str, files: &[String]) -> String {
    let mut sources = SourceMap::new();
    let id = sources.add("main.py", source);
    let read = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str());
        let position = NAMES.iter().position(|known| Some(*known) == name);
        position.and_then(|position| files.get(position)).cloned().into()
    };
    let program = match Program::load(&mut Texts::default(), &mut sources, id, Some(&read)) {
        Ok(program) => program,
        Err(faults) => return render(&faults, &sources),
    };
    match program.reader().compile("fuzzed").and_then(check::module) {
        Ok(module) => {
            let options = Options { sources: Some(&sources), ..Options::new(Dialect::Cuda) };
            cxx::write(&module, &options).source
        }
        Err(faults) => {
            assert!(
                faults.iter().all(|fault| !fault.code.name().starts_with("ir-")),
                "{faults:#?}"
            );
            render(&faults, &sources)
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let mut files =
        rest.split(|byte| *byte == 0).map(|file| String::from_utf8_lossy(file).into_owned());
    let source = files.next().unwrap_or_default();
    let source = if first % 2 == 0 { source } else { format!("{OPENING}{source}") };
    let files: Vec<String> = files.collect();
    assert_eq!(text(&source, &files), text(&source, &files));
});
