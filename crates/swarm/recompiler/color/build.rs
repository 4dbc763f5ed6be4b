//! Sets the flag with which the sources of the recompiler are those of a Game Boy Color.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=color");
}
