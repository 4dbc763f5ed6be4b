//! ROMs that the original fails.

use super::Group;

pub(super) const GROUPS: &[Group] = &[
    (
        "gambatte digits",
        "LYC 153 rises within the M-cycle that acknowledges; one dot earlier it would be lost (E2 instead of E0)",
        &["ly0/lycint152_lyc153irq_late_retrigger_2_dmg08_cgb04c_outE0"],
    ),
    (
        "gambatte digits",
        "the order of a write to STAT and a source's edge on one dot (E2 instead of E0)",
        &["miscmstatirq/lycstatwirq_trigger_m0_late_ly44_lyc44_08_40_4_dmg08_cgb04c_outE0"],
    ),
    (
        "gambatte digits",
        "objects at X = A7, the last column but one: when HBlank follows their fetch (0 instead of 2)",
        &[
            "sprites/10spritesPrLine_10xposA7_m0irq_2_dmg08_cgb04c_out2",
            "window/m2int_wxA6_spxA7_m0irq_2_dmg08_cgb04c_out2",
        ],
    ),
    (
        "gambatte pictures",
        "the pixel on which BGP changes shows the new palette there, but old and new ORed in AGE's and mealybug's photographs",
        &[
            "dmgpalette_during_m3/dmgpalette_during_m3_3",
            "dmgpalette_during_m3/dmgpalette_during_m3_4",
            "dmgpalette_during_m3/dmgpalette_during_m3_5",
            "dmgpalette_during_m3/dmgpalette_during_m3_scx1_4",
            "dmgpalette_during_m3/lycint_dmgpalette_during_m3_3",
            "dmgpalette_during_m3/lycint_dmgpalette_during_m3_4",
            "dmgpalette_during_m3/scx3/dmgpalette_during_m3_4",
            "dmgpalette_during_m3/scx3/dmgpalette_during_m3_5",
        ],
    ),
    (
        "gambatte pictures",
        "the window at WX = A6, disabled where its last column is put out: its line counts on as if it were not (4096 pixels)",
        &["window/on_screen/wxA6_weoff_at_xposA6"],
    ),
    (
        "gbmicrotest",
        "HALT with an interrupt that comes on the M-cycle of the fetch behind it",
        &["halt_op_dupe_delay"],
    ),
    (
        "gbmicrotest",
        "LYC written as 153 between the dots on which line 153 is compared",
        &["line_153_lyc_b"],
    ),
    (
        "gbmicrotest",
        "a write to STAT in the last M-cycle of line 153",
        &["stat_write_glitch_l154_d"],
    ),
    (
        "gbc-hw-tests",
        "waits in STOP for a button that somebody pressed",
        &[
            "cpu/corrupted_stop/stop_corrupted",
            "dma/dma_halt_stop_speedchange/dma_halt_stop_speedchange",
            "interrupts/joy_interrupt_manual_delay/joy_interrupt_manual_delay",
        ],
    ),
    (
        "gbc-hw-tests",
        "the flash cartridge with which it was recorded answers at E000 to FFFF",
        &[
            "dma/dma_valid_sources_dmg_mode/dma_valid_sources_dmg",
            "memory/echo_ram_read/echo_ram_read",
            "memory/echo_ram_write/echo_ram_write",
        ],
    ),
    (
        "gbc-hw-tests",
        "reads OAM while the LCD does; a Game Boy Pocket recorded something else, too",
        &["dma/dma_timing_lcd_on/dma_timing_lcd_on"],
    ),
    (
        "gbc-hw-tests",
        "recorded with another version of the ROM, which goes on for longer",
        &["timers/tma_set/tma_set"],
    ),
];
