//! The audio unit in stored states: the lists of its fields, and the rules that hold in every audio
//! unit. Host side: not translated.
//!
//! A change of a list changes the format of states: raise `gbxcule_chips::state::VERSION`.

use gbxcule_chips::state::{RuleResult, rule};
use gbxcule_chips::{codes, fields};

use crate::apu::{Apu, LastWrites, PowerOnGlitch, Sequencer, Sweep, Wave};
#[cfg(color)]
use crate::apu::{Envelope, Noise, Pulse, Voices};

fields!(Apu {
    synced_at,
    registers,
    wave_ram,
    powered,
    active,
    lengths,
    sequencer,
    sweep,
    wave,
    written,
    #[cfg(color)]
    double_speed,
    #[cfg(color)]
    is_cgb_c,
    #[cfg(color)]
    voices,
});

#[cfg(color)]
fields!(Voices {
    phase,
    pulses,
    envelopes,
    late,
    counts_late,
    count_due,
    noise,
    wave_byte,
    reads_on_bus
});

#[cfg(color)]
fields!(Pulse { left, delay, step, level, silent, just_stepped, has_stepped });

#[cfg(color)]
fields!(Envelope { volume, countdown, armed, ends, ended });

#[cfg(color)]
impl Default for Pulse {
    fn default() -> Pulse {
        Pulse::idle()
    }
}

#[cfg(color)]
impl Default for Envelope {
    fn default() -> Envelope {
        Envelope::idle()
    }
}

#[cfg(color)]
fields!(Noise { due, register, counter, left, runs, just_counted, has_counted });

fields!(LastWrites { count, address, value, previous_address, previous_value });

fields!(Sequencer { clocks, glitch });

codes!(PowerOnGlitch { None, LoseEdge, RepeatClock });

fields!(Sweep {
    shadow,
    change,
    added,
    pace_left,
    reload_ticks,
    trigger_ticks,
    check_wait,
    check_waited,
    check_shifts,
    check_due,
    first_check,
    rewrites,
    has_written,
});

fields!(Wave { countdown_ticks, position, just_read });

/// Checks the rules of an audio unit.
///
/// # Errors
/// A rule doesn't hold.
pub fn check_apu(apu: &Apu) -> RuleResult {
    rule(apu.active & !0x0f == 0, "apu.active has only bits 0 to 3")?;
    rule(apu.powered || apu.active == 0, "apu.active must be 0 while apu.powered is not set")?;
    let longest = [64, 64, 256, 64];
    rule(
        apu.lengths.iter().zip(longest).all(|(&length, longest)| length <= longest),
        "apu.lengths must be at most 64, 64, 256, 64",
    )?;
    rule(apu.sequencer.clocks < 8, "apu.sequencer.clocks must be less than 8")?;
    check_sweep(&apu.sweep)?;
    check_wave(&apu.wave, apu.active & 4 != 0)
}

fn check_sweep(sweep: &Sweep) -> RuleResult {
    rule(
        sweep.shadow <= 0x7ff && sweep.change <= 0x7ff && sweep.added <= 0x7ff,
        "apu.sweep.shadow, change and added must be at most 7ff",
    )?;
    rule(sweep.pace_left < 8, "apu.sweep.pace_left must be less than 8")?;
    rule(sweep.reload_ticks <= 3, "apu.sweep.reload_ticks must be at most 3")?;
    rule(sweep.trigger_ticks <= 5, "apu.sweep.trigger_ticks must be at most 5")?;
    rule(
        sweep.check_wait <= 4 && sweep.check_waited <= sweep.check_wait,
        "apu.sweep.check_wait must be at most 4, and check_waited at most that",
    )?;
    rule(sweep.check_shifts < 8, "apu.sweep.check_shifts must be less than 8")
}

fn check_wave(wave: &Wave, plays: bool) -> RuleResult {
    rule(wave.position < 32, "apu.wave.position must be less than 32")?;
    rule(
        wave.countdown_ticks <= 2048 + 3 && (wave.countdown_ticks != 0) == plays,
        "apu.wave.countdown_ticks must be between 1 and 2051 while channel 3 plays, else 0",
    )
}
