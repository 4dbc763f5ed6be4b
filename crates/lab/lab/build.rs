//! Records the commit and the compiler, and builds the C shim over libmgba when asked to.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=GBXCULE_COMMIT={}", commit());
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    println!(
        "cargo:rustc-env=GBXCULE_RUSTC={}",
        output(&rustc, &["--version"]).unwrap_or_default()
    );
    #[cfg(feature = "mgba")]
    build_mgba_shim();
}

/// Returns the commit of the working tree. Git's log of the head changes with every commit, so
/// cargo watches that file.
fn commit() -> String {
    if let Some(log) =
        output("git", &["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])
    {
        println!("cargo:rerun-if-changed={log}");
    }
    output("git", &["rev-parse", "HEAD"]).unwrap_or_else(|| "unknown".to_owned())
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(feature = "mgba")]
fn build_mgba_shim() {
    println!("cargo:rerun-if-changed=src/backend/mgba_shim.c");
    cc::Build::new().file("src/backend/mgba_shim.c").compile("gbxcule_mgba_shim");
    println!("cargo:rustc-link-lib=mgba");
}
