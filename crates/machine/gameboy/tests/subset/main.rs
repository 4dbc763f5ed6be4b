//! The translated sources keep to the subset of Rust that the kernel compiler reads
//! (`crates/compiler/front-rust/README.md`). Leaving it fails here, at the line.

mod rules;

use std::path::{Path, PathBuf};

/// Files that run on the host only and may use all of Rust.
const HOST_FILES: [&str; 12] = [
    "boot_rom.rs",
    "compatibility_palette.rs",
    "header.rs",
    "kept_color_line.rs",
    "kept_line.rs",
    "lib.rs",
    "power_on.rs",
    "power_on_memory.rs",
    "revision.rs",
    "step_with.rs",
    "source.rs",
    "state.rs",
];
/// Folders of the same kind.
const HOST_FOLDERS: [&str; 1] = ["state"];

/// Crates whose files are the machine's sources.
const CRATES: [&str; 4] = ["apu", "chips", "gameboy", "link"];

/// Returns the translated sources of each crate: the crate's folder, and the files.
fn translated_sources() -> Vec<(PathBuf, Vec<PathBuf>)> {
    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the machine's folder");
    let crates = CRATES.map(|name| {
        let (root, mut files) = (machine.join(name), Vec::new());
        collect(&root.join("src"), &mut files);
        (root, files)
    });
    crates.into()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the source folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && !HOST_FOLDERS.contains(&name.as_str()) {
            collect(&path, found);
        } else if path.is_file() && !HOST_FILES.contains(&name.as_str()) {
            found.push(path);
        }
    }
}

#[test]
fn the_texts_for_the_kernel_compiler_are_the_translated_sources() {
    let sources = translated_sources();
    let paths = sources.iter().flat_map(|(root, files)| {
        files.iter().map(move |path| path.strip_prefix(root).expect("a path in the crate"))
    });
    let mut paths: Vec<&Path> = paths.collect();
    paths.sort();
    let mut listed: Vec<&Path> =
        gbxcule_gameboy::SOURCES.iter().map(|(path, _)| Path::new(path)).collect();
    listed.sort();
    assert_eq!(listed, paths);
}

#[test]
fn every_translated_source_keeps_to_the_subset() {
    let sources: Vec<(PathBuf, syn::File)> = translated_sources()
        .into_iter()
        .flat_map(|(_, files)| files)
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a source file");
            let file = syn::parse_file(&text).expect("Rust that compiles");
            (path, file)
        })
        .collect();
    assert!(sources.len() > 20, "only {} sources found", sources.len());
    let own_methods = rules::methods_of(sources.iter().map(|(_, file)| file));
    let mut violations = Vec::new();
    for (path, file) in &sources {
        for violation in rules::check(file, &own_methods) {
            violations.push(format!("{}:{violation}", path.display()));
        }
    }
    assert!(violations.is_empty(), "outside the subset:\n{}", violations.join("\n"));
}

/// Programs that each leave the subset in one way, and the rule that must say so.
const OUTSIDE: [(&str, &str); 22] = [
    ("fn f<T>(x: T) {}", "generics"),
    ("struct S<'a> { x: &'a u8 }", "generics"),
    ("struct S { x: &'static u8 }", "references in structs"),
    ("trait T {}", "traits"),
    ("struct S; impl Clone for S { fn clone(&self) -> S { S } }", "traits"),
    ("enum E { A(u8) }", "enums with payload"),
    ("fn f() { let g = |x: u8| x; }", "closures"),
    ("fn f() { assert!(true); }", "macros"),
    ("fn f() { unsafe {} }", "unsafe"),
    ("unsafe fn f() {}", "unsafe"),
    ("fn f(x: u8) { match x { y => {} } }", "patterns that bind"),
    ("fn f(x: u8) { match x { 1 if x > 0 => {} _ => {} } }", "match guards"),
    ("fn f(x: u8) { if let 1 = x {} }", "let in conditions"),
    ("fn f(xs: &[u8]) { for x in xs {} }", "loops over anything but ranges"),
    ("fn f(xs: &[u8]) { for x in (0..3).rev() {} }", "loops over anything but ranges"),
    ("fn f(x: f32) {}", "type `f32`"),
    ("fn f() -> Option<u8> { g() }", "type `Option`"),
    ("fn f(x: u8) { x.checked_add(1); }", "method `checked_add`"),
    ("fn f() { 'a: loop { break 'a; } }", "labels"),
    ("fn f() { let x = \"text\"; }", "strings"),
    ("fn f() { let x = 1.5; }", "floats"),
    ("static X: u8 = 0;", "statics"),
];

#[test]
fn everything_that_leaves_the_subset_is_refused_by_its_own_rule() {
    for (program, rule) in OUTSIDE {
        let file = syn::parse_file(program).expect("Rust that parses");
        let found = rules::check(&file, &rules::methods_of([&file]));
        assert!(found.iter().any(|it| it.contains(rule)), "{program}: {found:?} lacks {rule:?}");
    }
}

#[test]
fn constructs_of_the_subset_are_not_refused() {
    let program = "
        const TABLE: [u8; 4] = [8, 2, 4, 6];
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mode { A = 0, B = 1 }
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct S { x: u8, mode: Mode }
        impl S {
            #[inline(always)]
            pub fn add(&mut self, by: u8, from: &[u8]) -> (u8, bool) {
                let mut sum = self.x;
                for index in 0..from.len() { sum = sum.wrapping_add(from[index] ^ by); }
                while sum > 9 { sum >>= 1; if sum == 3 { break; } }
                self.x = match sum { 0 | 2..=4 => 1, _ => TABLE[(sum & 3) as usize] };
                let value = if by > 1 { -1i16 as u16 as u8 } else { self.x.min(3) };
                loop { return (value, self.mode == Mode::A); }
            }
        }";
    let file = syn::parse_file(program).expect("Rust that parses");
    assert_eq!(rules::check(&file, &rules::methods_of([&file])), Vec::<String>::new());
}
