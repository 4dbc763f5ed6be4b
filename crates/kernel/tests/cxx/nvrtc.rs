//! NVRTC and ptxas take all CUDA text, for each generation of GPUs. No GPU, no driver.

use crate::{document, host, sample};
use gbxcule_kernel::arbitrary;
use gbxcule_kernel::back::cxx::{self, Dialect, HEADER_NAME, Options};
use gbxcule_kernel::check::Valid;
use gbxcule_kernel::ir::Module;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles texts for sm_80, sm_90 and sm_100.
fn compile(name: &str, texts: impl IntoIterator<Item = String>) {
    let place =
        std::env::var_os("GBXCULE_NVRTC").expect("GBXCULE_NVRTC: where libnvrtc.so and ptxas are");
    let folder = host::folder(name);
    let files: Vec<PathBuf> = texts
        .into_iter()
        .enumerate()
        .map(|(number, text)| {
            let file = folder.join(format!("text_{number}.cu"));
            host::write(&file, &text);
            file
        })
        .collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cxx/nvrtc.py");
    let python = std::env::var_os("PYTHON").unwrap_or("python3".into());
    let mut command = Command::new(python);
    let run = command
        .arg(script)
        .arg(place)
        .arg(folder.join(HEADER_NAME))
        .arg("80,90,100")
        .args(files)
        .output();
    let run = run.expect("python3 starts");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}\n{}", String::from_utf8_lossy(&run.stderr));
}

/// Texts in one: NVRTC reads the header once.
fn joined(modules: &[Valid<Module>]) -> String {
    let mut all = String::new();
    for (number, module) in modules.iter().enumerate() {
        let text = cxx::write(module, &Options::new(Dialect::Cuda)).source;
        all += &format!(
            "#define program program_{number}\n#define kernel kernel_{number}\n{text}#undef kernel\n#undef program\n"
        );
    }
    all
}

#[test]
#[ignore = "needs NVRTC"]
fn samples_compile() {
    let options = Options::new(Dialect::Cuda);
    let samples = sample::all();
    let by_hand = samples.iter().map(|sample| cxx::write(&sample.module, &options).source);
    compile("nvrtc_samples", by_hand.chain(document::cuda()));
}

#[test]
#[ignore = "needs NVRTC"]
fn embedded_and_unchecked_text_compiles() {
    let options = Options { embed_header: true, checked: false, ..Options::new(Dialect::Cuda) };
    compile(
        "nvrtc_unchecked",
        sample::all().iter().map(|sample| cxx::write(&sample.module, &options).source),
    );
}

#[test]
#[ignore = "needs NVRTC"]
fn random_programs_compile() {
    let programs: Vec<Valid<Module>> =
        (0..60).map(|seed| arbitrary::program(seed).module).collect();
    compile("nvrtc_random", programs.chunks(10).map(joined));
}

#[test]
#[ignore = "needs NVRTC"]
fn every_builtin_compiles_for_every_type() {
    let modules: Vec<Valid<Module>> =
        arbitrary::cases().iter().map(|case| case.program(1).module).collect();
    compile("nvrtc_rows", modules.chunks(100).map(joined));
}
