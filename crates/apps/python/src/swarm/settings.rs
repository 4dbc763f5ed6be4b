//! Settings of a swarm, read from the keyword arguments of its constructor in Python.
//!
//! A keyword that is not a setting, or a value of another type, is refused as Python refuses the
//! arguments of a function.

use std::collections::HashMap;
use std::str::FromStr;

use gbxcule_swarm::{Codec, Hook, ProgramText, Programs, Recompile, Schedule, SwarmConfig};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{OrRefuse, drawn_at};
use crate::view::View;

/// Bank and address of a hook, whether it ends the step, and the function that it calls.
type HookTuple = (u16, u16, bool, Option<String>);

/// Settings: the swarm's configuration, and what its ROM and its engine need.
pub(super) struct Settings {
    pub(super) config: SwarmConfig,
    pub(super) device: String,
    pub(super) model: String,
    pub(super) boot_rom: Option<Vec<u8>>,
}

impl Settings {
    pub(super) fn read(num_envs: usize, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut keywords = Keywords::new(keywords)?;
        let labels: HashMap<String, u32> = keywords.take("labels", HashMap::new())?;
        let mut program = |name, default| -> PyResult<ProgramText> {
            let text = ProgramText::find(&keywords.text(name, default)?).or_refuse()?;
            Ok(text.with_labels(labels.iter().map(|(label, place)| (&**label, *place))))
        };
        let (reward, obs) = (program("reward", "reward_v0")?, program("obs", "obs_v0")?);
        let hooks = keywords.take("hooks", Vec::<HookTuple>::new())?.into_iter();
        let hooks =
            hooks.map(|(bank, address, ends_step, calls)| Hook { bank, address, ends_step, calls });
        let frames_per_step = keywords.take("frames_per_step", 24)?;
        let schedule = Schedule::new(frames_per_step, keywords.take("release_after_frames", 8)?);
        let pictures = keywords.take::<Option<Py<View>>>("pictures", None)?;
        let recompiles = keywords.take("recompile", true)?;
        let config = SwarmConfig {
            codec: Codec::by_name(&keywords.text("codec", "full_v1")?).or_refuse()?,
            schedule: schedule.or_refuse()?,
            stage: keywords.parse("stage", "emulate_only")?,
            programs: Programs::with_hooks(reward, obs, hooks.collect()).or_refuse()?,
            draw_last: keywords.take("draw_last", false)?,
            weights: keywords.take("weights", Vec::new())?,
            pictures: pictures.and_then(|view| view.get().stack()),
            sticky: keywords.take("sticky", 0.0)?,
            noop_max: keywords.take("noop_max", 0)?,
            chance: keywords.take::<Option<_>>("chance", None)?.map(drawn_at),
            power_on: keywords.parse("power_on", "zero")?,
            sound: keywords.take("sound", false)?,
            threads: keywords.take("threads", None)?,
            recompile: if recompiles { Recompile::default() } else { Recompile::Off },
            link: keywords.parse("link", "open")?,
            ..SwarmConfig::new(num_envs)
        };
        let settings = Self {
            config,
            device: keywords.text("device", "cpu")?,
            model: keywords.text("model", "auto")?,
            boot_rom: keywords.take("boot_rom", None)?,
        };
        keywords.refuse_rest()?;
        Ok(settings)
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

    /// Takes the name of a choice.
    fn parse<T: FromStr<Err = String>>(&mut self, name: &str, default: &str) -> PyResult<T> {
        self.text(name, default)?.parse().map_err(PyValueError::new_err)
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
