//! Builds the kernels with the command `gbxcule`, and links them.

use std::{env, path::Path, process::Command};

fn main() {
    let out = Path::new(&env::var_os("OUT_DIR").expect("Cargo names it")).join("heat");
    let built = Command::new("gbxcule").args(["build", "../heat.py", "--out"]).arg(&out).status();
    assert!(built.expect("`gbxcule` is in PATH").success(), "gbxcule build failed");
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::rustc-link-lib=static=heat");
    println!("cargo::rustc-link-lib=stdc++");
    println!("cargo::rerun-if-changed=../heat.py");
}
