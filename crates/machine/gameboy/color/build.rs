//! Sets the flags with which the machine's sources are a Game Boy Color, and that of
//! `ppu/kept_color_line.rs`. The kernel compiler doesn't set the latter: devices draw all lines.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(keeps_lines)");
    println!("cargo::rustc-cfg=color");
    println!("cargo::rustc-cfg=keeps_lines");
}
