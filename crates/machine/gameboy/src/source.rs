//! The texts of the translated files, for the kernel compiler. Host side: not translated.
//!
//! `tests/subset` compares the list with the folder: each file must be in the list or be marked as
//! the host's.

/// Flags with which the files are compiled.
pub const FLAGS: &[&str] = if cfg!(color) { &["color"] } else { &[] };

/// Flags for machines of the usual revision alone.
pub const USUAL_FLAGS: &[&str] =
    if cfg!(color) { &["color", "usual_revision"] } else { &["usual_revision"] };

/// Path and text of every translated file. Files of the crates `apu`, `chips` and `link` have the
/// paths that their modules have there.
pub const SOURCES: &[(&str, &str)] = &[
    ("src/apu.rs", include_str!("../../apu/src/apu.rs")),
    ("src/apu/envelope.rs", include_str!("../../apu/src/apu/envelope.rs")),
    ("src/apu/length.rs", include_str!("../../apu/src/apu/length.rs")),
    ("src/apu/noise.rs", include_str!("../../apu/src/apu/noise.rs")),
    ("src/apu/sequencer.rs", include_str!("../../apu/src/apu/sequencer.rs")),
    ("src/apu/sweep.rs", include_str!("../../apu/src/apu/sweep.rs")),
    ("src/apu/voice.rs", include_str!("../../apu/src/apu/voice.rs")),
    ("src/apu/wave.rs", include_str!("../../apu/src/apu/wave.rs")),
    ("src/boot_control.rs", include_str!("boot_control.rs")),
    ("src/bus.rs", include_str!("bus.rs")),
    ("src/cart.rs", include_str!("../../chips/src/cart.rs")),
    ("src/cart/huc1.rs", include_str!("../../chips/src/cart/huc1.rs")),
    ("src/cart/huc3.rs", include_str!("../../chips/src/cart/huc3.rs")),
    ("src/cart/mbc1.rs", include_str!("../../chips/src/cart/mbc1.rs")),
    ("src/cart/mbc2.rs", include_str!("../../chips/src/cart/mbc2.rs")),
    ("src/cart/mbc3.rs", include_str!("../../chips/src/cart/mbc3.rs")),
    ("src/cart/mbc5.rs", include_str!("../../chips/src/cart/mbc5.rs")),
    ("src/cart/mbc7.rs", include_str!("../../chips/src/cart/mbc7.rs")),
    ("src/cart/registers.rs", include_str!("../../chips/src/cart/registers.rs")),
    ("src/cart/rtc.rs", include_str!("../../chips/src/cart/rtc.rs")),
    ("src/color.rs", include_str!("color.rs")),
    ("src/cpu.rs", include_str!("cpu.rs")),
    ("src/cpu/alu.rs", include_str!("cpu/alu.rs")),
    ("src/cpu/families.rs", include_str!("cpu/families.rs")),
    ("src/cpu/interrupt_dispatch.rs", include_str!("cpu/interrupt_dispatch.rs")),
    ("src/cpu/opcode.rs", include_str!("cpu/opcode.rs")),
    ("src/cpu/prefix.rs", include_str!("cpu/prefix.rs")),
    ("src/dma.rs", include_str!("dma.rs")),
    ("src/hblank_interrupt.rs", include_str!("hblank_interrupt.rs")),
    ("src/hdma.rs", include_str!("hdma.rs")),
    ("src/hook.rs", include_str!("hook.rs")),
    ("src/interrupts.rs", include_str!("../../chips/src/interrupts.rs")),
    ("src/joypad.rs", include_str!("../../chips/src/joypad.rs")),
    ("src/link.rs", include_str!("../../link/src/link.rs")),
    ("src/link/end.rs", include_str!("../../link/src/link/end.rs")),
    ("src/link/look.rs", include_str!("../../link/src/link/look.rs")),
    ("src/machine.rs", include_str!("machine.rs")),
    ("src/pair.rs", include_str!("../../link/src/pair.rs")),
    ("src/ppu.rs", include_str!("ppu.rs")),
    ("src/ppu/color_fetcher.rs", include_str!("ppu/color_fetcher.rs")),
    ("src/ppu/color_line.rs", include_str!("ppu/color_line.rs")),
    ("src/ppu/color_palette.rs", include_str!("ppu/color_palette.rs")),
    ("src/ppu/color_pixel.rs", include_str!("ppu/color_pixel.rs")),
    ("src/ppu/color_timing.rs", include_str!("ppu/color_timing.rs")),
    ("src/ppu/color_write.rs", include_str!("ppu/color_write.rs")),
    ("src/ppu/eight_dots.rs", include_str!("ppu/eight_dots.rs")),
    ("src/ppu/fetcher.rs", include_str!("ppu/fetcher.rs")),
    ("src/ppu/whole_or_by_dots.rs", include_str!("ppu/whole_or_by_dots.rs")),
    ("src/ppu/oam_bug.rs", include_str!("ppu/oam_bug.rs")),
    ("src/ppu/packed_line.rs", include_str!("ppu/packed_line.rs")),
    ("src/ppu/pipeline.rs", include_str!("ppu/pipeline.rs")),
    ("src/ppu/registers.rs", include_str!("ppu/registers.rs")),
    ("src/ppu/rest_of_line.rs", include_str!("ppu/rest_of_line.rs")),
    ("src/ppu/scan.rs", include_str!("ppu/scan.rs")),
    ("src/ppu/shade.rs", include_str!("ppu/shade.rs")),
    ("src/ppu/stat.rs", include_str!("ppu/stat.rs")),
    ("src/ppu/timing.rs", include_str!("ppu/timing.rs")),
    ("src/ppu/whole_line.rs", include_str!("ppu/whole_line.rs")),
    ("src/serial.rs", include_str!("../../chips/src/serial.rs")),
    ("src/speed.rs", include_str!("speed.rs")),
    ("src/step.rs", include_str!("../../chips/src/step.rs")),
    ("src/stop.rs", include_str!("stop.rs")),
    ("src/super_game_boy.rs", include_str!("../../chips/src/super_game_boy.rs")),
    (
        "src/super_game_boy/attribute.rs",
        include_str!("../../chips/src/super_game_boy/attribute.rs"),
    ),
    ("src/super_game_boy/memory.rs", include_str!("../../chips/src/super_game_boy/memory.rs")),
    ("src/kernel_call.rs", include_str!("kernel_call.rs")),
    ("src/timer.rs", include_str!("../../chips/src/timer.rs")),
    ("src/view.rs", include_str!("view.rs")),
];
