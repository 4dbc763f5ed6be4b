//! Sets the flag of `ppu/kept_line.rs`. The kernel compiler doesn't set it: devices draw all lines.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(keeps_lines)");
    println!("cargo::rustc-cfg=keeps_lines");
}
