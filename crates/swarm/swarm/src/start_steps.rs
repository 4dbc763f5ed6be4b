//! Starts of episodes: states of any format, or power-on, each advanced by some steps without
//! buttons (`start_steps` in Python). `episode` chooses a start when an episode begins.

use gbxcule_gameboy::Step;

use crate::{EnvSnapshot, Rom, SwarmConfig, SwarmError};

/// Frames of one machine between two calls of `go_on`: a small part of a second.
const FRAMES_BETWEEN: u32 = 64;

impl EnvSnapshot {
    /// Makes starts from states of any format, or from power-on for an empty list, and advances
    /// each by some steps without buttons. Returns `None` if `go_on` ended the work.
    pub(crate) fn starts_of(
        states: &[&[u8]],
        steps: u32,
        rom: &Rom,
        config: &SwarmConfig,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<Self>>, SwarmError> {
        let mut starts = match states {
            [] => Self::power_on(rom, config.power_on),
            _ => {
                let read = |bytes: &&[u8]| Self::imported(bytes, rom, config);
                let starts = states.iter().map(|bytes| read(bytes).map(Self::into_start));
                starts.collect::<Result<_, _>>()?
            }
        };
        let came_to_end =
            starts.iter_mut().all(|start| start.run_without_buttons(rom, config, steps, go_on));
        Ok(came_to_end.then_some(starts))
    }

    /// Makes starts from one state or more.
    pub(crate) fn later_starts(
        states: &[&[u8]],
        rom: &Rom,
        config: &SwarmConfig,
    ) -> Result<Vec<Self>, SwarmError> {
        if states.is_empty() {
            return Err(SwarmError::NoStart);
        }
        let starts = Self::starts_of(states, 0, rom, config, &mut || true)?;
        Ok(starts.unwrap_or_default())
    }

    /// Makes a start for each given start and each possible number of frames without buttons.
    pub(crate) fn with_noops(starts: Vec<Self>, rom: &Rom, config: &SwarmConfig) -> Vec<Self> {
        if config.noop_max == 0 {
            return starts;
        }
        let step = Step { frames: 1, release_after: u32::MAX, draw_last: config.draws() };
        let mut all = Vec::new();
        for mut start in starts {
            for _ in 0..config.noop_max {
                start.machine.run_step(rom.bytes(), &mut start.cart_ram, 0, step);
                all.push(start.clone());
            }
        }
        all
    }

    /// Runs some steps without buttons, without counting their frames. Calls `go_on` several times
    /// a second, and stops when `go_on` returns false. Returns true if all steps ran.
    fn run_without_buttons(
        &mut self,
        rom: &Rom,
        config: &SwarmConfig,
        steps: u32,
        go_on: &mut dyn FnMut() -> bool,
    ) -> bool {
        let draw_last = config.draws();
        for _ in 0..steps {
            let mut left = config.schedule.frames_per_step();
            while left > 0 {
                if !go_on() {
                    return false;
                }
                let frames = left.min(FRAMES_BETWEEN);
                left -= frames;
                let draw_last = draw_last && left == 0;
                let step = Step { frames, release_after: u32::MAX, draw_last };
                self.machine.run_step(rom.bytes(), &mut self.cart_ram, 0, step);
            }
        }
        true
    }
}
