//! Settings of a swarm, read from the keyword arguments of its constructor in Python.
//!
//! A keyword that is not a setting, or a value of another type, is refused as Python refuses the
//! arguments of a function.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use gbxcule_swarm::{
    Codec, Hook, PictureStack, ProgramText, Programs, Recompile, Schedule, Stage, SwarmConfig,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{OrRefuse, drawn_at};
use crate::view::View;

/// Bank and address of a hook, whether it ends the step, and the function that it calls.
type HookTuple = (u16, u16, bool, Option<String>);

/// Settings, one keyword argument for each field.
pub(super) struct Settings {
    codec: String,
    frames_per_step: u32,
    release_after_frames: u32,
    stage: String,
    reward: String,
    obs: String,
    draw_last: bool,
    pictures: Option<PictureStack>,
    labels: HashMap<String, u32>,
    weights: Vec<f32>,
    sticky: f64,
    noop_max: u32,
    chance: Option<(u32, u32)>,
    power_on: String,
    sound: bool,
    threads: Option<NonZeroUsize>,
    recompile: bool,
    pub(super) device: String,
    hooks: Vec<HookTuple>,
    pub(super) model: String,
    pub(super) boot_rom: Option<Vec<u8>>,
    link: String,
}

impl Settings {
    pub(super) fn read(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut keywords = Keywords::new(keywords)?;
        let settings = Self {
            codec: keywords.text("codec", "full_v1")?,
            frames_per_step: keywords.take("frames_per_step", 24)?,
            release_after_frames: keywords.take("release_after_frames", 8)?,
            stage: keywords.text("stage", "emulate_only")?,
            reward: keywords.text("reward", "reward_v0")?,
            obs: keywords.text("obs", "obs_v0")?,
            draw_last: keywords.take("draw_last", false)?,
            pictures: keywords
                .take::<Option<Py<View>>>("pictures", None)?
                .and_then(|view| view.get().stack()),
            labels: keywords.take("labels", HashMap::new())?,
            weights: keywords.take("weights", Vec::new())?,
            sticky: keywords.take("sticky", 0.0)?,
            noop_max: keywords.take("noop_max", 0)?,
            chance: keywords.take("chance", None)?,
            power_on: keywords.text("power_on", "zero")?,
            sound: keywords.take("sound", false)?,
            threads: keywords.take("threads", None)?,
            recompile: keywords.take("recompile", true)?,
            device: keywords.text("device", "cpu")?,
            hooks: keywords.take("hooks", Vec::new())?,
            model: keywords.text("model", "auto")?,
            boot_rom: keywords.take("boot_rom", None)?,
            link: keywords.text("link", "open")?,
        };
        keywords.refuse_rest()?;
        Ok(settings)
    }

    pub(super) fn config(self, num_envs: usize) -> PyResult<SwarmConfig> {
        let hooks = self.hooks.into_iter().map(|(bank, address, ends_step, calls)| Hook {
            bank,
            address,
            ends_step,
            calls,
        });
        let [reward, obs] =
            [&self.reward, &self.obs].map(|name| ProgramText::find(name).or_refuse());
        let labels = || self.labels.iter().map(|(label, place)| (&**label, *place));
        let schedule = Schedule::new(self.frames_per_step, self.release_after_frames);
        Ok(SwarmConfig {
            codec: Codec::by_name(&self.codec).or_refuse()?,
            schedule: schedule.or_refuse()?,
            stage: self.stage.parse::<Stage>().map_err(PyValueError::new_err)?,
            programs: Programs::with_hooks(
                reward?.with_labels(labels()),
                obs?.with_labels(labels()),
                hooks.collect(),
            )
            .or_refuse()?,
            draw_last: self.draw_last,
            weights: self.weights,
            pictures: self.pictures,
            sticky: self.sticky,
            noop_max: self.noop_max,
            chance: self.chance.map(drawn_at),
            power_on: self.power_on.parse().map_err(PyValueError::new_err)?,
            sound: self.sound,
            threads: self.threads,
            recompile: if self.recompile { Recompile::default() } else { Recompile::Off },
            link: self.link.parse().map_err(PyValueError::new_err)?,
            ..SwarmConfig::new(num_envs)
        })
    }
}

/// Keyword arguments that have not been read yet.
struct Keywords<'py>(Option<Bound<'py, PyDict>>);

impl<'py> Keywords<'py> {
    fn new(keywords: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        Ok(Self(keywords.map(|keywords| keywords.copy()).transpose()?))
    }

    /// Takes an argument out, or the default if it was not given.
    fn take<T>(&mut self, name: &str, default: T) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let Some(keywords) = &self.0 else { return Ok(default) };
        let Some(value) = keywords.get_item(name)? else { return Ok(default) };
        keywords.del_item(name)?;
        value.extract::<T>().map_err(|error| {
            let error: PyErr = error.into();
            let py = value.py();
            if !error.is_instance_of::<PyTypeError>(py) {
                return error;
            }
            PyTypeError::new_err(format!("argument '{name}': {}", error.value(py)))
        })
    }

    fn text(&mut self, name: &str, default: &str) -> PyResult<String> {
        self.take(name, default.to_owned())
    }

    fn refuse_rest(&self) -> PyResult<()> {
        match self.0.iter().flatten().next() {
            None => Ok(()),
            Some((name, _)) => Err(PyTypeError::new_err(format!(
                "Swarm.__new__() got an unexpected keyword argument '{name}'"
            ))),
        }
    }
}
