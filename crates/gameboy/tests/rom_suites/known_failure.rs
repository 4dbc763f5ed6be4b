//! ROMs that fail, each with what is known about why.

/// Suite, ROM, reason.
const ROWS: [(&str, &str, &str); 18] = [
    ("age", "oam/oam-write-dmgC", "a write to OAM on the edge of a mode; not looked into"),
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
        "sprites/10spritesPrLine_10xposA7_m0irq_2_dmg08_cgb04c_out2",
        "objects at X = A7, the last column but one: when HBlank follows their fetch (0 instead of 2)",
    ),
    (
        "gambatte digits",
        "window/m2int_wxA6_spxA7_m0irq_2_dmg08_cgb04c_out2",
        "objects at X = A7, the last column but one: when HBlank follows their fetch (0 instead of 2)",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/dmgpalette_during_m3_3",
        "the pixel on which BGP changes shows the new palette there, but old and new ORed in AGE's and mealybug's photographs",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/dmgpalette_during_m3_4",
        "the pixel on which BGP changes shows the new palette there, but old and new ORed in AGE's and mealybug's photographs",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/dmgpalette_during_m3_5",
        "the pixel on which BGP changes shows the new palette there, but old and new ORed in AGE's and mealybug's photographs",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/dmgpalette_during_m3_scx1_4",
        "the pixel on which BGP changes shows the new palette there, but old and new ORed in AGE's and mealybug's photographs",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/lycint_dmgpalette_during_m3_3",
        "the pixel on which BGP changes shows the new palette there, but old and new ORed in AGE's and mealybug's photographs",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/lycint_dmgpalette_during_m3_4",
        "the pixel on which BGP changes shows the new palette there, but old and new ORed in AGE's and mealybug's photographs",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/scx3/dmgpalette_during_m3_4",
        "the pixel on which BGP changes shows the new palette there, but old and new ORed in AGE's and mealybug's photographs",
    ),
    (
        "gambatte pictures",
        "dmgpalette_during_m3/scx3/dmgpalette_during_m3_5",
        "the pixel on which BGP changes shows the new palette there, but old and new ORed in AGE's and mealybug's photographs",
    ),
    (
        "gambatte pictures",
        "window/on_screen/wxA6_weoff_at_xposA6",
        "the window at WX = A6, disabled where its last column is put out: its line counts on as if it were not (4096 pixels)",
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
];

/// Why a ROM fails, if it is known to.
pub(crate) fn reason(suite: &str, name: &str) -> Option<&'static str> {
    ROWS.iter().find(|row| row.0 == suite && row.1 == name).map(|row| row.2)
}

/// The ROMs of a suite that are known to fail.
pub(crate) fn names(suite: &str) -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter(move |row| row.0 == suite).map(|row| row.1)
}
