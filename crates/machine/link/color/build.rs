//! Sets the flag with which the cable's sources are a Game Boy Color's.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=color");
}
