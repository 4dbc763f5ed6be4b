//! `survey DIR [CODE]`: compiles every kernel below a directory and counts what is refused; with a code,
//! shows what was refused under it.

use gbxcule_kernel::diagnostic::render;
use gbxcule_kernel::front::python::survey::survey;
use std::path::{Path, PathBuf};

fn main() {
    let mut args = std::env::args().skip(1);
    let directories: Vec<String> = args.by_ref().take_while(|arg| arg != "--").collect();
    let code = args.next();
    let mut paths = Vec::new();
    for directory in &directories {
        collect(Path::new(directory), &mut paths);
    }
    paths.sort();
    let files: Vec<(String, String)> = paths
        .iter()
        .filter_map(|path| Some((path.display().to_string(), std::fs::read_to_string(path).ok()?)))
        .collect();
    let start = std::time::Instant::now();
    let result = survey(files);
    let seconds = start.elapsed().as_secs_f64();
    println!("{result}");
    println!("{:.0} kernels/s", result.entries.len() as f64 / seconds);
    if let Some(code) = code {
        for entry in &result.entries {
            if entry.faults.first().is_some_and(|fault| code == "all" || fault.code == code) {
                println!("{}:{} {}", entry.path, entry.line, entry.kernel);
                println!("{}", render(&entry.faults[..1], &result.sources));
            }
        }
    }
}

fn collect(directory: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            paths.push(path);
        }
    }
}
