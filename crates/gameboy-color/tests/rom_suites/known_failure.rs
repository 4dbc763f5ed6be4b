//! ROMs that fail, in groups, each with what is known about why.

/// Suite, reason, ROMs.
type Group = (&'static str, &'static str, &'static [&'static str]);

const GROUPS: [Group; 11] = [
    (
        "blargg",
        "at double speed its wait for VBlank gives up after half a frame; the text, which says that it passed, is written while video RAM is closed",
        &["cpu_instrs/individual/03-op sp,hl"],
    ),
    (
        "age",
        "LY where the LCD's dots do not fall on the CPU's M-cycles; not looked into",
        &["lcd-align-ly/lcd-align-ly-cgbBC"],
    ),
    (
        "age",
        "an interrupt during a change of speed; not looked into",
        &["speed-switch/caution/spsw-interrupts-cgbBC"],
    ),
    (
        "age",
        "a length counter across a change of speed; not looked into",
        &["speed-switch/spsw-ch2-lc-delay-cgbBCE"],
    ),
    (
        "gambatte digits",
        "HDMA that meets HALT or a change of speed, and the opcode that is fetched before it",
        &[
            "dma/hdma_late_m3halt_m2unhalt_inc_scx1_2_cgb04c_out02",
            "dma/hdma_late_m3halt_m2unhalt_inc_scx2_2_cgb04c_out02",
            "dma/hdma_late_m3speedchange_hdma5_scx1_1_cgb04c_out00",
            "dma/hdma_late_m3speedchange_hdma5_scx2_1_cgb04c_out00",
            "dma/hdma_late_m3speedchange_inc_scx1_2_cgb04c_out02",
            "dma/hdma_late_m3speedchange_ly_scx1_4_cgb04c_out93",
            "dma/hdma_late_m3speedchange_read_hdmadst00_scx1_1_cgb04c_out00",
            "dma/hdma_late_m3speedchange_read_hdmadst00_scx2_1_cgb04c_out00",
            "dma/hdma_late_speedchange_inc_scx1_ds_2_cgb04c_out02",
            "dma/hdma_m0halt_late_m3unhalt_scx1_2_cgb04c_out00",
            "dma/hdma_pc_7ffe_cgb04c_out02",
            "dma/hdma_transition_7fffhalt_inc_m3unhalt_cgb04c_out01",
            "dma/hdma_transition_ei_halt_late_unhalt_ldaaimm_hdma_scx1_1_cgb04c_out00",
            "dma/hdma_transition_ei_halt_late_unhalt_scx1_1_cgb04c_out00",
            "dma/hdma_transition_halt_late_unhalt_ldaaimm_hdma_scx1_1_cgb04c_out00",
            "dma/hdma_transition_halt_late_unhalt_scx1_1_cgb04c_out00",
            "dma/hdma_transition_halt_m0unhalt_ldaaimm_scx1_cgb04c_out02",
            "dma/hdma_transition_speedchange_7fffstop_inc_cgb04c_out02",
            "dma/hdma_transition_speedchange_ldaaimm_scx1_cgb04c_outFF",
            "dma/hdma_transition_speedchange_ldaaimm_scx1_ds_cgb04c_out03",
            "dma/late_gdma_pc_7ffe_1_cgb04c_out02",
        ],
    ),
    (
        "gambatte digits",
        "OAM DMA while HDMA or a change of speed has the bus; not looked into",
        &[
            "dma/hdma_transition_oamdma_1_cgb04c_out509E529C",
            "dma/hdma_transition_speedchange_oamdma_cgb04c_out71",
            "oamdma/oamdma_late_speedchange_stat_1_cgb04c_out0",
            "oamdma/oamdma_src8000_srcchange0000_busyinc_dmg08_cgb04c_out0",
            "oamdma/oamdmasrcC000_hdmasrc0000_cgb04c_out0A940C0D",
            "oamdma/oamdmasrcC0_speedchange_readC000_cgb04c_out11",
        ],
    ),
    (
        "gambatte digits",
        "STAT, LYC or SCX written on the edge of a line or of mode 3; not looked into",
        &[
            "lycEnable/lyc153_late_enable_m1disable_2_dmg08_outE2_cgb04c_outE0",
            "lycEnable/lyc153_late_ff45_enable_2_dmg08_outE2_cgb04c_outE0",
            "lycEnable/lyc153_late_ff45_enable_ds_2_cgb04c_outE0",
            "lycEnable/lyc153_late_ff45_enable_ds_3_cgb04c_outE0",
            "lycEnable/lyc153_late_m1disable_2_dmg08_outE2_cgb04c_outE0",
            "m0enable/lycdisable_ff45_2_dmg08_out2_cgb04c_out0",
            "m1/m1irq_m0disable_2_dmg08_out3_cgb04c_out1",
            "m1/m1irq_m2disable_lycdisable_2_dmg08_out3_cgb04c_out1",
            "m2enable/m2_late_m1disable_ly0_ds_2_cgb04c_out0",
            "miscmstatirq/lycstatwirq_trigger_ly00_10_50_ds_lcdoffset1_2_cgb04c_outE2",
            "miscmstatirq/lycstatwirq_trigger_ly00_10_50_lcdoffset3_2_cgb04c_outE2",
            "miscmstatirq/lycwirq_trigger_m0_late_ly44_ds_1_cgb04c_outE0",
            "scx_during_m3/scx_m3_extend_ds_1_cgb04c_out3",
        ],
    ),
    (
        "gambatte digits",
        "a length counter across a change of speed; not looked into",
        &[
            "speedchange/speedchange2_ch2_nr52_ds_1a_cgb04c_outF2",
            "speedchange/speedchange2_ch2_nr52_ds_2a_cgb04c_outF2",
            "speedchange/speedchange5_ch2_nr52_1a_cgb04c_outF2",
            "speedchange/speedchange5_ch2_nr52_2a_cgb04c_outF2",
            "speedchange/speedchange_ch2_nr52_1a_cgb04c_outF2",
            "speedchange/speedchange_ch2_nr52_2a_cgb04c_outF2",
        ],
    ),
    (
        "gambatte digits",
        "the window, WY or LCDC written within the line that it begins on; not looked into",
        &[
            "window/arg/late_enable_afterVblank_4_dmg08_out3_cgb04c_out0",
            "window/arg/late_wy_FFto2_ly2_scx2_2_dmg08_out3_cgb04c_out0",
            "window/arg/late_wy_FFto2_ly2_scx3_2_dmg08_out3_cgb04c_out0",
            "window/arg/late_wy_FFto2_ly2_scx5_ds_2_cgb04c_out0",
            "window/late_disable_scx5_1_dmg08_out3_cgb04c_out0",
            "window/late_enable_afterVblank_2_dmg08_out3_cgb04c_out0",
            "window/late_enable_afterVblank_ds_2_cgb04c_out0",
            "window/late_enable_afterVblank_ds_lcdoffset1_2_cgb04c_out0",
            "window/late_enable_ly0_ds_2_cgb04c_out0",
            "window/late_reenable_ds_2_cgb04c_out0",
            "window/late_reenable_scx3_2_dmg08_out3_cgb04c_out0",
        ],
    ),
    (
        "gambatte pictures",
        "LCDC written within a line, beside objects or at double speed; not looked into",
        &[
            "bgen/bgoff_bgon_sprite_above_window",
            "bgen/bgoff_bgon_sprite_below_window",
            "bgtiledata/bgtiledata_spx08_1",
            "bgtiledata/bgtiledata_spx08_2",
            "bgtiledata/bgtiledata_spx08_3",
            "bgtiledata/bgtiledata_spx08_4",
            "bgtiledata/bgtiledata_spx08_ds_3",
            "bgtiledata/bgtiledata_spx08_ds_4",
            "bgtiledata/bgtiledata_spx09_1",
            "bgtiledata/bgtiledata_spx09_3",
            "bgtiledata/bgtiledata_spx09_ds_1",
            "bgtiledata/bgtiledata_spx09_ds_3",
            "bgtiledata/bgtiledata_spx09_ds_4",
        ],
    ),
    (
        "gambatte pictures",
        "SCY or SCX written within a line: some column shows the other value; not looked into",
        &[
            "scx_during_m3/scx_attrib_during_m3_spx1_ds",
            "scx_during_m3/scx_attrib_during_m3_spx2_ds",
            "scx_during_m3/scx_during_m3_spx2",
            "scx_during_m3/scx_during_m3_spx2_ds",
            "scy/scx3/scy_during_m3_2",
            "scy/scx3/scy_during_m3_4",
            "scy/scx3/scy_during_m3_6",
            "scy/scy_during_m3_2",
            "scy/scy_during_m3_4",
            "scy/scy_during_m3_6",
            "scy/scy_during_m3_ds_3",
            "scy/scy_during_m3_ds_7",
            "scy/scy_during_m3_spx08_1",
            "scy/scy_during_m3_spx08_2",
            "scy/scy_during_m3_spx08_3",
            "scy/scy_during_m3_spx08_4",
            "scy/scy_during_m3_spx08_ds_1",
            "scy/scy_during_m3_spx08_ds_4",
            "scy/scy_during_m3_spx09_1",
            "scy/scy_during_m3_spx09_3",
            "scy/scy_during_m3_spx09_4",
            "scy/scy_during_m3_spx09_ds_1",
            "scy/scy_during_m3_spx09_ds_4",
            "scy/scy_during_m3_spx0A_1",
            "scy/scy_during_m3_spx0A_3",
            "scy/scy_during_m3_spx0A_4",
            "scy/scy_during_m3_spx0B_1",
            "scy/scy_during_m3_spx0B_3",
            "scy/scy_during_m3_spx0B_4",
        ],
    ),
];

/// Why a ROM fails, if it is known to.
pub(crate) fn reason(suite: &str, name: &str) -> Option<&'static str> {
    GROUPS.iter().find(|group| group.0 == suite && group.2.contains(&name)).map(|group| group.1)
}

/// The ROMs of a suite that are known to fail.
pub(crate) fn names(suite: &str) -> impl Iterator<Item = &'static str> {
    GROUPS.iter().filter(move |group| group.0 == suite).flat_map(|group| group.2).copied()
}
