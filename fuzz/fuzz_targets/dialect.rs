//! Takes any bytes as a kernel's source: it is refused with diagnostics that can be shown, or
//! compiled to the same text twice. After an even first byte the other bytes are a source; after an
//! odd one they change a valid source, four bytes a change, so that the fuzzer gets behind the
//! parser quickly.
#![no_main]

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_front_warp::Program;
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use libfuzzer_sys::fuzz_target;

const SEED: &str = include_str!("../../crates/compiler/front-warp/tests/front_python/seed.py");

/// Replaces, repeats or removes a few characters of the seed at a time.
fn changed(bytes: &[u8]) -> String {
    let mut text = SEED.as_bytes().to_vec();
    for change in bytes.chunks_exact(4) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % text.len().max(1);
        let len = usize::from(change[2] >> 4).min(text.len() - at);
        match change[2] % 3 {
            0 => text[at] = change[3],
            1 => _ = text.drain(at..at + len),
            _ => {
                let from = usize::from(change[3]) * 7 % (text.len() - len).max(1);
                let piece = text[from..from + len].to_vec();
                _ = text.splice(at..at, piece);
            }
        }
        if text.is_empty() {
            break;
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns both texts of each kernel that compiles.
fn texts(source: &str) -> Vec<String> {
    let mut sources = SourceMap::new();
    let id = sources.add("fuzzed.py", source);
    let mut texts = Vec::new();
    let program = match Program::parse(&sources, id) {
        Ok(program) => program,
        Err(faults) => return vec![render(&faults, &sources)],
    };
    let reader = program.reader();
    for kernel in reader.kernels() {
        match reader.lower(kernel.position, "fuzzed").and_then(check::module) {
            Ok(module) => texts.extend([Dialect::Host, Dialect::Cuda].map(|dialect| {
                let options = Options { sources: Some(&sources), ..Options::new(dialect) };
                cxx::write(&module, &options).source
            })),
            Err(faults) => {
                assert!(
                    faults.iter().all(|fault| !fault.code.name().starts_with("ir-")),
                    "{faults:#?}"
                );
                texts.push(render(&faults, &sources));
            }
        }
    }
    texts
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let source =
        if first % 2 == 0 { String::from_utf8_lossy(rest).into_owned() } else { changed(rest) };
    assert_eq!(texts(&source), texts(&source));
});
