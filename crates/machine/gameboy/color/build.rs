//! Sets the flag with which the machine's sources are a Game Boy Color.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(keeps_lines)");
    println!("cargo::rustc-cfg=color");
}
