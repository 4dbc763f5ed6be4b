//! ROMs that the Color fails.

use super::Group;

pub(super) const GROUPS: &[Group] = &[
    (
        "blargg",
        "at double speed its wait for VBlank gives up after half a frame; the text, which says that it passed, is written while video RAM is closed",
        &["cpu_instrs/individual/03-op sp,hl"],
    ),
    (
        "gambatte digits",
        "the window switched off two dots after it began, beside a fine scroll of 5: mode 3 takes a dot less there",
        &["window/late_disable_scx5_1_dmg08_out3_cgb04c_out0"],
    ),
    (
        "gbc-hw-tests",
        "waits in STOP for a button that somebody pressed",
        &[
            "dma/dma_halt_stop_speedchange/dma_halt_stop_speedchange",
            "dma/hdma_halt/hdma_halt",
            "interrupts/joy_interrupt_manual_delay/joy_interrupt_manual_delay",
        ],
    ),
    (
        "gbc-hw-tests",
        "the flash cartridge with which it was recorded answers at E000 to FFFF",
        &[
            "dma/dma_valid_sources_dmg_mode/dma_valid_sources_dmg",
            "dma/dma_valid_sources_gbc_mode/dma_valid_sources_gbc",
            "dma/hdma_valid_sources/hdma_valid_sources",
        ],
    ),
    (
        "gbc-hw-tests",
        "recorded on a later chip: line 153 and its LY, bytes behind OAM",
        &[
            "interrupts/vbl_irq_delay_timer_dmg_mode/vbl_irq_delay_timer_dmg_mode",
            "interrupts/vbl_irq_delay_timer_gbc_mode/vbl_irq_delay_timer_gbc_mode",
            "lcd/last_ly_ly_change/last_ly_ly_change",
            "lcd/lcd_frame_timings/ly_equals_lyc/stat_timings_lyc_0_dmg_mode/lcd_frame_timings_dmg_mode",
            "lcd/lcd_frame_timings/ly_equals_lyc/stat_timings_lyc_152_153_dmg_mode/lcd_frame_timings_dmg_mode",
            "lcd/lcd_frame_timings/ly_equals_lyc/stat_timings_lyc_2_144_dmg_mode/lcd_frame_timings_dmg_mode",
            "memory/oam_echo_ram_lcd_on/oam_echo_ram_lcd_on",
            "memory/oam_echo_ram_read/oam_echo_ram_read",
            "memory/oam_echo_ram_read_2/oam_echo_ram_read_2",
            "memory/oam_echo_ram_read_gbc_in_dmg_mode/oam_echo_ram_read_gbc_dmg_mode",
        ],
    ),
    (
        "gbc-hw-tests",
        "TAC; the serial clock's rate changed within a bit; not looked into",
        &["serial/sc_change_freq_gbc/sc_change_freq_gbc", "timers/tac_set_enabled/tac_set_enabled"],
    ),
    (
        "samesuite",
        "a clock two M-cycles after a trigger starts no check, but DocBoy's \
         `ch1_period_sweep_change_period_nr14_during_recalc_*delay14284*` want one; SameBoy fails those",
        &["apu/channel_1/channel_1_sweep_restart_2"],
    ),
];
