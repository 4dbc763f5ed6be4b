//! Manual buttons: an env holds these instead of its action's buttons.

use gbxcule_runtime::Array;

use super::memory::Memory;
use super::step::{NO_MANUAL_BUTTONS, RESTS};
use crate::SwarmError;

/// The manual buttons of all envs, on the host and on the device.
pub(super) struct ManualButtons {
    /// The buttons of each env, or [`NO_MANUAL_BUTTONS`].
    on_host: Vec<i16>,
    /// A copy of `on_host`.
    on_device: Array,
    /// The numbers for a step that presses nothing: every env holds no button.
    of_idle_step: Array,
    /// The numbers for a step in which some envs rest.
    of_masked_step: Array,
}

impl ManualButtons {
    pub(super) fn new(envs: usize, memory: &Memory) -> Result<Self, SwarmError> {
        let on_host = vec![NO_MANUAL_BUTTONS; envs];
        Ok(Self {
            on_device: memory.copy_of(&on_host)?,
            of_idle_step: memory.copy_of(&vec![0_i16; envs])?,
            of_masked_step: memory.copy_of(&on_host)?,
            on_host,
        })
    }

    /// Holds these buttons down in an env; `None` returns to the actions' buttons.
    pub(super) fn hold(&mut self, env: usize, buttons: Option<u8>) -> Result<(), SwarmError> {
        let buttons = buttons.map_or(NO_MANUAL_BUTTONS, i16::from);
        self.on_device.slice(0, env..env + 1, 1)?.write(&[buttons])?;
        self.on_host[env] = buttons;
        Ok(())
    }

    /// The buttons that each env holds.
    pub(super) fn by_env(&self) -> Vec<Option<u8>> {
        self.on_host.iter().map(|&held| u8::try_from(held).ok()).collect()
    }

    /// The array of a step in which every env runs.
    pub(super) fn array(&self) -> &Array {
        &self.on_device
    }

    /// The array of a step that presses nothing.
    pub(super) fn of_idle_step(&self) -> &Array {
        &self.of_idle_step
    }

    /// The array of a step in which envs that are not marked rest.
    pub(super) fn of_masked_step(&self, mask: &[bool]) -> Result<&Array, SwarmError> {
        let held = self.on_host.iter().zip(mask);
        let held = held.map(|(&held, &steps)| if steps { held } else { RESTS });
        self.of_masked_step.write(&held.collect::<Vec<_>>())?;
        Ok(&self.of_masked_step)
    }
}
