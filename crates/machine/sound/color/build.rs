//! Sets the flag that makes the sources of sound those of a Game Boy Color.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=color");
}
