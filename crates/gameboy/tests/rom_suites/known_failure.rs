//! ROMs that fail, each with what is known about why.

/// Suite, ROM, reason.
const ROWS: [(&str, &str, &str); 32] = [
    ("age", "m3-bg-bgp/m3-bg-bgp", "2 pixels: as gambatte's dmgpalette_during_m3"),
    ("age", "oam/oam-write-dmgC", "a write to OAM on the edge of a mode; not looked into"),
    (
        "gambatte digits",
        "enable_display/ly0_late_scx7_m3stat_scx3_2_dmg08_cgb04c_out84",
        "SCX written while the fine scroll is being matched (87 instead of 84)",
    ),
    (
        "gambatte digits",
        "ly0/lycint152_lyc153irq_late_retrigger_2_dmg08_cgb04c_outE0",
        "LYC 153 rises within the M-cycle that acknowledges; one dot earlier it would be lost (E2 instead of E0)",
    ),
    (
        "gambatte digits",
        "miscmstatirq/lycstatwirq_trigger_m0_late_ly44_lyc44_08_40_4_dmg08_cgb04c_outE0",
        "the order of a write to STAT and a source's edge on one dot (E2 instead of E0)",
    ),
    (
        "gambatte digits",
        "oamdma/oamdma_src8000_srcchange0000_busyinc_dmg08_cgb04c_out0",
        "a read and a write of one instruction while OAM DMA takes the bus of neither (1 instead of 0)",
    ),
    (
        "gambatte digits",
        "scx_during_m3/scx_m3_extend_1_dmg08_cgb04c_out3",
        "SCX written while the fine scroll is being matched (0 instead of 3)",
    ),
    (
        "gambatte digits",
        "sound/ch1_init_reset_sweep_counter_timing_nr52_1_dmg08_cgb04c_out1",
        "the square channels' counters when NR52 or a trigger comes within the same M-cycle (0 instead of 1)",
    ),
    (
        "gambatte digits",
        "sound/ch2_late_reset_nr52_2b_dmg08_cgb04c_out0",
        "the square channels' counters when NR52 or a trigger comes within the same M-cycle (2 instead of 0)",
    ),
    (
        "gambatte digits",
        "sprites/10spritesPrLine_10xposA7_m0irq_2_dmg08_cgb04c_out2",
        "objects at X = A7, the last column but one: when HBlank follows their fetch (0 instead of 2)",
    ),
    (
        "gambatte digits",
        "window/arg/late_wy_FFto2_ly2_scx2_3_dmg08_cgb04c_out0",
        "WY written on the first dots of the next line, with a fine scroll (3 instead of 0)",
    ),
    (
        "gambatte digits",
        "window/arg/late_wy_FFto2_ly2_scx3_3_dmg08_cgb04c_out0",
        "WY written on the first dots of the next line, with a fine scroll (3 instead of 0)",
    ),
    (
        "gambatte digits",
        "window/m2int_wxA6_spxA7_m0irq_2_dmg08_cgb04c_out2",
        "objects at X = A7, the last column but one: when HBlank follows their fetch (0 instead of 2)",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/dmgpalette_during_m3_3",
        "which of the palettes, old, new or both ORed, the first and last pixel of a line shows (1 pixels differ)",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/dmgpalette_during_m3_4",
        "which of the palettes, old, new or both ORed, the first and last pixel of a line shows (144 pixels differ)",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/dmgpalette_during_m3_5",
        "which of the palettes, old, new or both ORed, the first and last pixel of a line shows (144 pixels differ)",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/dmgpalette_during_m3_scx1_4",
        "which of the palettes, old, new or both ORed, the first and last pixel of a line shows (144 pixels differ)",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/lycint_dmgpalette_during_m3_3",
        "which of the palettes, old, new or both ORed, the first and last pixel of a line shows (143 pixels differ)",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/lycint_dmgpalette_during_m3_4",
        "which of the palettes, old, new or both ORed, the first and last pixel of a line shows (143 pixels differ)",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/scx3/dmgpalette_during_m3_4",
        "which of the palettes, old, new or both ORed, the first and last pixel of a line shows (1 pixels differ)",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/scx3/dmgpalette_during_m3_5",
        "which of the palettes, old, new or both ORed, the first and last pixel of a line shows (144 pixels differ)",
    ),
    (
        "gambatte pictures",
        "scx_during_m3/scx_0761c0/scx_during_m3_2",
        "SCX written while the fine scroll is being matched (15 pixels differ)",
    ),
    (
        "gambatte pictures",
        "scx_during_m3/scx_0761c0/scx_during_m3_3",
        "SCX written while the fine scroll is being matched (2145 pixels differ)",
    ),
    (
        "gambatte pictures",
        "window/on_screen/wxA6_weoff_at_xposA6",
        "the window at WX = A6, disabled where its last column is put out: its line counts on as if it were not (4096 pixels)",
    ),
    (
        "gambatte sound",
        "sound/ch1_init_reset_sweep_counter_timing_4_dmg08_outaudio1_cgb04c_outaudio0",
        "the sweep's check switches the channel off one M-cycle later than here",
    ),
    (
        "gambatte sound",
        "sound/ch2_init_reset_env_counter_timing_11_dmg08_outaudio0_cgb04c_outaudio1",
        "a trigger on the very M-cycle of the sequencer's step before the envelopes' clock",
    ),
    (
        "gambatte sound",
        "sound/ch2_init_reset_env_counter_timing_5_dmg08_outaudio0_cgb04c_outaudio1",
        "a trigger on the very M-cycle of the sequencer's step before the envelopes' clock",
    ),
    (
        "gbmicrotest",
        "halt_op_dupe_delay",
        "HALT with an interrupt that comes on the M-cycle of the fetch behind it",
    ),
    (
        "gbmicrotest",
        "line_153_lyc_b",
        "LYC written as 153 between the dots on which line 153 is compared",
    ),
    ("gbmicrotest", "stat_write_glitch_l154_d", "a write to STAT in the last M-cycle of line 153"),
    (
        "mealybug",
        "m3_lcdc_bg_en_change",
        "4 pixels: the first one after the bit falls, on revision B",
    ),
    (
        "mealybug",
        "m3_lcdc_win_en_change_multiple_wx",
        "40 pixels: a window switched off while it starts",
    ),
];

/// Why a ROM fails, if it is known to.
pub(crate) fn reason(suite: &str, name: &str) -> Option<&'static str> {
    ROWS.iter().find(|row| row.0 == suite && row.1 == name).map(|row| row.2)
}

/// The ROMs of a suite that are known to fail.
pub(crate) fn names(suite: &str) -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter(move |row| row.0 == suite).map(|row| row.1)
}
