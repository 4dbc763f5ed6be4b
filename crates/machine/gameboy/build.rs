//! Sets the flag of code that the kernel compiler does not read.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(host)");
    println!("cargo::rustc-cfg=host");
}
