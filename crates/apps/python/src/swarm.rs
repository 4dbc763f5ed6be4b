//! The swarm for Python; `gbxcule.vector` makes an environment of it.

// PyO3 passes arguments by value.
#![allow(clippy::needless_pass_by_value)]

pub(crate) mod refusal;
pub(crate) mod seed;
mod settings;
mod sound;

use std::ffi::CString;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use gbxcule_runtime::{Array, Device};
use gbxcule_swarm::{
    Chance, DeviceEngine, Model, Pressed, Rom, ScratchArray, ScratchCell, SwarmConfig, SwarmError,
    TextRole,
};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::array::DeviceArray;
use crate::dlpack::Borrowed;
use crate::view::View;
use refusal::{OrRefuse, refused, try_lock};
use settings::Settings;

/// Machines that are stepped together, on the CPU or on a CUDA device.
#[pyclass(module = "gbxcule._native", frozen)]
pub(crate) struct Swarm {
    inner: RwLock<gbxcule_swarm::Swarm>,
    config: SwarmConfig,
}

/// Returns the bytes of memory that this process may still take.
#[pyfunction]
pub(crate) fn free_memory() -> u64 {
    gbxcule_swarm::free_on_host()
}

/// Reads NumPy's booleans as bytes.
pub(crate) fn as_mask(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().map(|byte| *byte != 0).collect()
}

#[pymethods]
impl Swarm {
    #[new]
    #[pyo3(signature = (rom, num_envs, **settings))]
    fn new(
        py: Python<'_>,
        rom: &[u8],
        num_envs: usize,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let Settings { config, device, model, boot_rom } = Settings::read(num_envs, settings)?;
        let device = device_of(&device)?;
        let mut rom = Rom::for_console(rom, &model).or_refuse()?;
        if let Some(boot_rom) = &boot_rom {
            rom = rom.with_boot_rom(boot_rom).or_refuse()?;
        }
        if let Some(warning) = rom.warning() {
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(warning)?, 2)?;
        }
        let inner = py.detach(|| gbxcule_swarm::Swarm::new(rom, config, device)).or_refuse()?;
        Ok(Self::of(inner))
    }

    /// Makes the swarm of a checkpoint, and returns it with the checkpoint's note. It has the
    /// checkpoint's device and number of threads unless the arguments name others.
    #[staticmethod]
    #[pyo3(signature = (checkpoint, *, device = None, threads = None))]
    fn restored<'py>(
        py: Python<'py>,
        checkpoint: &[u8],
        device: Option<&str>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<(Self, Bound<'py, PyBytes>)> {
        let device = device.map(device_of).transpose()?;
        let made = py.detach(|| gbxcule_swarm::Swarm::from_checkpoint(checkpoint, device, threads));
        let (inner, note) = made.or_refuse()?;
        Ok((Self::of(inner), PyBytes::new(py, &note)))
    }

    /// Returns the whole swarm as bytes, with a note.
    fn checkpoint<'py>(&self, py: Python<'py>, note: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.read(py, |swarm| swarm.checkpoint(note))?))
    }

    /// Writes the whole swarm as a file, which is complete or doesn't exist, with a note.
    fn write_checkpoint(&self, py: Python<'_>, path: PathBuf, note: &[u8]) -> PyResult<()> {
        let named = |error: std::io::Error, path: &Path| {
            std::io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
        };
        // A misspelt folder is an error, not a new folder.
        if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
            std::fs::metadata(folder).map_err(|error| match error.kind() {
                ErrorKind::NotFound => {
                    let folder = folder.display();
                    let path = path.display();
                    let message = format!("{path}: there is no folder {folder}, make it first");
                    std::io::Error::new(ErrorKind::NotFound, message)
                }
                _ => named(error, folder),
            })?;
        }
        let bytes = self.read(py, |swarm| swarm.checkpoint(note))?;
        Ok(py
            .detach(|| gbxcule_files::write(&path, &bytes))
            .map_err(|error| named(error, &path))?)
    }

    /// Device of the swarm.
    #[getter]
    fn device(&self) -> PyResult<String> {
        Ok(try_lock(self.inner.try_read())?.device().to_string())
    }

    /// Number of machines.
    #[getter]
    fn num_envs(&self) -> usize {
        self.config.num_envs
    }

    /// Names of the actions; an action is a position in this list.
    #[getter]
    fn action_names(&self) -> Vec<String> {
        self.config.codec.actions.iter().map(|action| action.name.to_string()).collect()
    }

    /// Names of the actions to choose from, in each of the codec's tables. An action's number is
    /// its position in the first, plus its position in the second times the length of the first,
    /// and so on.
    #[getter]
    fn action_choices(&self) -> Vec<Vec<String>> {
        self.config.codec.choices()
    }

    /// Name of the codec, which artifacts record.
    #[getter]
    fn codec(&self) -> &str {
        &self.config.codec.name
    }

    /// Presses each env's action, one byte for each, and runs a step. Draws the last frame if
    /// `draw` is true or the swarm draws every step's. Envs that the mask does not mark don't run.
    #[pyo3(signature = (actions, draw = false, mask = None))]
    fn step(
        &self,
        py: Python<'_>,
        actions: &[u8],
        draw: bool,
        mask: Option<&[u8]>,
    ) -> PyResult<()> {
        let mask = mask.map(as_mask);
        let pressed = match &mask {
            Some(mask) => Pressed::Masked { actions, mask },
            None => Pressed::Actions(actions),
        };
        self.change_or_stop(py, |swarm, go_on| swarm.step_while(pressed, draw, go_on))
    }

    /// Resets every env to the start of its next episode.
    fn reset(&self, py: Python<'_>, seed: u64) -> PyResult<()> {
        self.change(py, |swarm| swarm.reset(seed))
    }

    /// Waits until all queued work is done.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |swarm| swarm.sync())
    }

    /// Resets the envs marked by bytes that are not 0.
    fn reset_masked(&self, py: Python<'_>, mask: &[u8]) -> PyResult<()> {
        let mask = as_mask(mask);
        self.change(py, |swarm| swarm.reset_masked(&mask))
    }

    /// Changes the weights that the programs read from the next step on.
    fn set_weights(&self, py: Python<'_>, weights: Vec<f32>) -> PyResult<()> {
        self.change(py, |swarm| swarm.set_weights(&weights))
    }

    /// Begins new episodes of the marked envs in their machines' present states.
    fn begin_again(&self, py: Python<'_>, mask: &[u8]) -> PyResult<()> {
        let mask = as_mask(mask);
        self.change(py, |swarm| swarm.begin_again(&mask))
    }

    /// Makes an env's present state the only start of later episodes.
    fn start_from_env(&self, py: Python<'_>, env: usize) -> PyResult<()> {
        self.change(py, |swarm| swarm.start_from_env(env))
    }

    /// Sets the starts of episodes: these states, or power-on for an empty list, each advanced by a
    /// number of steps without buttons. All envs are put to the first start.
    fn restart_from(&self, py: Python<'_>, states: Vec<Vec<u8>>, steps: u32) -> PyResult<()> {
        let states: Vec<&[u8]> = states.iter().map(Vec::as_slice).collect();
        self.change_or_stop(py, |swarm, go_on| swarm.restart_from_while(&states, steps, go_on))
    }

    /// Makes later episodes begin in one of some states; the present episodes continue.
    fn set_starts(&self, py: Python<'_>, states: Vec<Vec<u8>>) -> PyResult<()> {
        let states: Vec<&[u8]> = states.iter().map(Vec::as_slice).collect();
        self.change(py, |swarm| swarm.set_starts(&states))
    }

    /// Sets the weight of each start: a start of weight 3 is chosen three times as often as one of
    /// weight 1. Affects later episodes only.
    fn set_start_weights(&self, py: Python<'_>, weights: Vec<u32>) -> PyResult<()> {
        self.change(py, |swarm| swarm.set_start_weights(&weights))
    }

    /// Seeds the envs whose seed isn't `None`.
    fn seed_envs(&self, py: Python<'_>, seeds: Vec<Option<u64>>) -> PyResult<()> {
        self.change(py, |swarm| swarm.seed_envs(&seeds))
    }

    /// Writes a view of every env, or only of the marked ones, into `out`, any array on the CPU
    /// that speaks DLPack.
    #[pyo3(signature = (view, out, mask = None))]
    fn show(
        &self,
        py: Python<'_>,
        view: &View,
        out: &Bound<'_, PyAny>,
        mask: Option<&[u8]>,
    ) -> PyResult<()> {
        let mut out = Borrowed::of(out)?;
        let bytes = out.bytes_mut()?;
        let mask = mask.map(as_mask);
        self.read(py, |swarm| swarm.fill_view(&view.inner, mask.as_deref(), bytes))
    }

    /// Writes a picture of every env into `out`: of its last frame, or, in a swarm that draws no
    /// frames, of the next one.
    fn show_pictures(&self, py: Python<'_>, view: &View, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut out = Borrowed::of(out)?;
        let bytes = out.bytes_mut()?;
        self.read(py, |swarm| {
            if swarm.config().draws() {
                swarm.fill_view(&view.inner, None, bytes)
            } else {
                swarm.fill_view_ahead(&view.inner, bytes)
            }
        })
    }

    /// Writes the rewards of the last step into `out`, one float32 for each env.
    fn rewards_into(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let rewards = self.read(py, gbxcule_swarm::Swarm::rewards)?;
        Borrowed::of(out)?.copy_from(bytemuck::cast_slice(&rewards))
    }

    /// Writes the observations of the last step into `out`, `obs_dim` float32 for each env.
    fn observations_into(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let observations = self.read(py, gbxcule_swarm::Swarm::observations)?;
        Borrowed::of(out)?.copy_from(bytemuck::cast_slice(&observations))
    }

    /// Writes the samples of the last step into `out`, the same number for each env, left and right
    /// as int16: the newest ones, after zeros if there are fewer. Only marked envs are written.
    #[pyo3(signature = (out, mask = None))]
    fn sound_into(
        &self,
        py: Python<'_>,
        out: &Bound<'_, PyAny>,
        mask: Option<&[u8]>,
    ) -> PyResult<()> {
        let mut out = Borrowed::of(out)?;
        let bytes = out.bytes_mut()?;
        sound::check(&self.config, bytes.len())?;
        self.read(py, |swarm| sound::fill(swarm, bytes, mask))
    }

    /// Returns one byte for each env: 1 if its episode is over, by the programs.
    fn dones<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let dones = self.read(py, gbxcule_swarm::Swarm::dones)?;
        let dones: Vec<u8> = dones.into_iter().map(u8::from).collect();
        Ok(PyBytes::new(py, &dones))
    }

    /// Writes the number of times that each env came to each hook into `out`, two uint32 for each:
    /// since its episode began, and in the last step.
    fn hook_counts_into(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let counts = self.read(py, gbxcule_swarm::Swarm::hook_counts)?;
        let counts: Vec<u32> =
            counts.into_iter().flat_map(|it| [it.in_episode, it.in_step]).collect();
        Borrowed::of(out)?.copy_from(bytemuck::cast_slice(&counts))
    }

    /// Writes a byte for each env and action into `out`: 1 if `action_mask` allows it.
    fn action_masks_into(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let masks = self.read(py, gbxcule_swarm::Swarm::action_masks)?;
        let masks: Vec<u8> = masks.into_iter().map(u8::from).collect();
        Borrowed::of(out)?.copy_from(&masks)
    }

    /// Writes a cell of a scratch array of the reward's or the observation's program into `out`,
    /// one float64 for each env.
    fn kept_into(
        &self,
        py: Python<'_>,
        of_obs: bool,
        array: &str,
        cell: usize,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let text = if of_obs { TextRole::Observation } else { TextRole::Reward };
        let arrays = [ScratchArray::Numbers, ScratchArray::Ints, ScratchArray::Bytes];
        let array = arrays.into_iter().find(|it| it.name() == array);
        let array = array.ok_or_else(|| PyValueError::new_err("no such array of programs"))?;
        let cell = ScratchCell { text, array, cell };
        let values = self.read(py, |swarm| swarm.scratch_values(cell))?;
        Borrowed::of(out)?.copy_from(bytemuck::cast_slice(&values))
    }

    /// Number of actions in the programs' mask; 0 without a mask.
    #[getter]
    fn mask_len(&self) -> usize {
        self.config.programs.mask_len()
    }

    /// Rewards in place on the device, `[num_envs]`; `None` on the CPU.
    #[getter]
    fn reward_array(&self) -> PyResult<Option<DeviceArray>> {
        self.array(DeviceEngine::reward_array)
    }

    /// Ends of the envs' episodes in place on the device, `[num_envs]`; `None` on the CPU.
    #[getter]
    fn done_array(&self) -> PyResult<Option<DeviceArray>> {
        self.array(DeviceEngine::done_array)
    }

    /// Observations of the programs in place on the device, `[num_envs, obs_dim]`; `None` on the
    /// CPU.
    #[getter]
    fn observation_array(&self) -> PyResult<Option<DeviceArray>> {
        self.array(DeviceEngine::observation_array)
    }

    /// Last drawn frames in place on the device, `[num_envs, 5760]`, four pixels to a byte, or a
    /// Color's, `[num_envs, 46080]`, two bytes a pixel; `None` on the CPU.
    #[getter]
    fn frame_array(&self) -> PyResult<Option<DeviceArray>> {
        self.array(DeviceEngine::frame_array)
    }

    /// Stacks of pictures in place on the device, a row of bytes for each env; `None` on the CPU,
    /// and for a swarm without stacks.
    #[getter]
    fn picture_array(&self) -> PyResult<Option<DeviceArray>> {
        let swarm = try_lock(self.inner.try_read())?;
        let array = swarm.as_device().and_then(DeviceEngine::picture_array);
        Ok(array.cloned().map(DeviceArray::new))
    }

    /// Number of bytes of a frame in `frame_array`.
    #[getter]
    fn frame_bytes(&self) -> PyResult<usize> {
        let model = try_lock(self.inner.try_read())?.rom().model();
        Ok(if model == Model::Color { 2 * 160 * 144 } else { gbxcule_swarm::FRAME_BYTES })
    }

    /// Number of values in one observation of the programs.
    #[getter]
    fn obs_dim(&self) -> usize {
        self.config.programs.obs_dim()
    }

    /// True if the last frame of every step is drawn.
    #[getter]
    fn draws(&self) -> bool {
        self.config.draws()
    }

    /// True if the programs decide when an episode is over.
    #[getter]
    fn has_done(&self) -> bool {
        self.config.programs.has_done()
    }

    /// Returns the bytes at `low..high` of an env.
    fn read_memory<'py>(
        &self,
        py: Python<'py>,
        env: usize,
        low: u32,
        high: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.read(py, |swarm| swarm.read_memory(env, low..high))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Changes memory of an env directly, without the effects of a program's write.
    fn write_memory(&self, py: Python<'_>, env: usize, low: u32, bytes: &[u8]) -> PyResult<()> {
        self.change(py, |swarm| swarm.write_memory(env, low, bytes))
    }

    /// Changes memory of the envs marked by bytes that are not 0, with a row of bytes for each of
    /// them.
    fn write_memories(&self, py: Python<'_>, mask: &[u8], low: u32, rows: &[u8]) -> PyResult<()> {
        let mask = as_mask(mask);
        self.change(py, |swarm| swarm.write_memories(&mask, low, rows))
    }

    /// Returns an env as bytes in gbxcule's versioned format, with a picture even if the swarm
    /// draws none.
    fn save_state<'py>(&self, py: Python<'py>, env: usize) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.read(py, |swarm| {
            if swarm.config().draws() { swarm.save_state(env) } else { swarm.save_drawn_state(env) }
        })?;
        Ok(PyBytes::new(py, &state))
    }

    /// Returns an env as a BESS state, which other emulators read.
    fn export_bess<'py>(&self, py: Python<'py>, env: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.read(py, |swarm| swarm.export_bess(env))?))
    }

    /// Returns an env as a state that PyBoy 2.8 reads.
    fn export_pyboy<'py>(&self, py: Python<'py>, env: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.read(py, |swarm| swarm.export_pyboy(env))?))
    }

    /// Puts an env into a saved state of gbxcule, PyBoy or BESS. With `with_seed`, a state of
    /// gbxcule also sets the seed and the episode of the saved env.
    #[pyo3(signature = (env, state, with_seed = false))]
    fn load_state(
        &self,
        py: Python<'_>,
        env: usize,
        state: &[u8],
        with_seed: bool,
    ) -> PyResult<()> {
        self.change(py, |swarm| {
            if with_seed { swarm.resume_state(env, state) } else { swarm.import_state(env, state) }
        })
    }

    /// Puts the envs marked by bytes that are not 0 into states, one for all of them or one for
    /// each.
    fn load_states(&self, py: Python<'_>, mask: &[u8], states: Vec<Vec<u8>>) -> PyResult<()> {
        let mask = as_mask(mask);
        let states: Vec<&[u8]> = states.iter().map(Vec::as_slice).collect();
        self.change(py, |swarm| swarm.load_states(&mask, &states))
    }

    /// Returns an env's seed, the number of episodes begun since the seed was set, and the number
    /// of the episode's start by the present weights.
    fn episode(&self, py: Python<'_>, env: usize) -> PyResult<(u64, u64, usize)> {
        self.read(py, |swarm| {
            let episode = swarm.episode(env)?;
            Ok((episode.seed, episode.count, swarm.start_of(env)?))
        })
    }

    /// Returns the battery-backed memory of an env's cartridge.
    fn save_battery<'py>(&self, py: Python<'py>, env: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.read(py, |swarm| swarm.save_battery(env))?))
    }

    /// Loads a `.sav` file into an env's cartridge.
    fn load_battery(&self, py: Python<'_>, env: usize, file: &[u8]) -> PyResult<()> {
        self.change(py, |swarm| swarm.load_battery(env, file))
    }

    /// Plays an episode again, from a state and with a byte for each action, into a `.gif` or an
    /// `.mp4`: one in `every` frames, enlarged `scale` times.
    fn film(
        &self,
        py: Python<'_>,
        path: PathBuf,
        state: &[u8],
        actions: &[u8],
        every: u32,
        scale: usize,
    ) -> PyResult<()> {
        let episode = gbxcule_cli::episode_film::Episode { state, actions };
        let mut raised = None;
        let mut go_on = || {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_none()
        };
        let filmed = self.read(py, |swarm| {
            Ok(gbxcule_cli::episode_film::write(swarm, episode, &path, every, scale, &mut go_on))
        })?;
        raised.map_or(Ok(()), Err)?;
        filmed.map(drop).map_err(|error| match error.downcast_ref() {
            Some(error) => refused(error),
            // The message of a file's error needs no context.
            None if error.root_cause().is::<std::io::Error>() => {
                PyOSError::new_err(error.to_string())
            }
            None => PyRuntimeError::new_err(format!("{error:#}")),
        })
    }

    /// Copies one env's state to all marked envs.
    fn copy_state(&self, py: Python<'_>, source: usize, mask: &[u8]) -> PyResult<()> {
        let mask = as_mask(mask);
        self.change(py, |swarm| swarm.copy_state(source, &mask))
    }

    /// Returns an env's registers by name.
    fn cpu_state<'py>(&self, py: Python<'py>, env: usize) -> PyResult<Bound<'py, PyDict>> {
        let cpu = self.read(py, |swarm| swarm.cpu_state(env))?;
        let registers = PyDict::new(py);
        let bytes = [cpu.a, cpu.f, cpu.b, cpu.c, cpu.d, cpu.e, cpu.h, cpu.l];
        for (name, value) in ["a", "f", "b", "c", "d", "e", "h", "l"].into_iter().zip(bytes) {
            registers.set_item(name, value)?;
        }
        registers.set_item("sp", cpu.sp)?;
        registers.set_item("pc", cpu.pc)?;
        Ok(registers)
    }

    /// Returns the number of frames and T-cycles that an env has run since its reset.
    fn counters(&self, py: Python<'_>, env: usize) -> PyResult<(u64, u64)> {
        let counters = self.read(py, |swarm| swarm.counters(env))?;
        Ok((counters.frames, counters.tcycles))
    }
}

/// Returns the setting that draws the number at these addresses at random.
fn drawn_at((low, high): (u32, u32)) -> Chance {
    Chance { low, width_bytes: u8::try_from(high.saturating_sub(low)).unwrap_or(u8::MAX) }
}

fn device_of(name: &str) -> PyResult<Device> {
    name.parse().map_err(|error: gbxcule_runtime::Error| PyValueError::new_err(error.to_string()))
}

impl Swarm {
    fn of(inner: gbxcule_swarm::Swarm) -> Self {
        Self { config: inner.config().clone(), inner: RwLock::new(inner) }
    }

    /// Calls a function that leaves the swarm unchanged; other Python threads run meanwhile.
    pub(crate) fn read<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&gbxcule_swarm::Swarm) -> Result<T, SwarmError> + Send,
    ) -> PyResult<T> {
        let guard = try_lock(self.inner.try_read())?;
        let swarm = &*guard;
        py.detach(|| call(swarm)).or_refuse()
    }

    /// Calls a function that changes the swarm; other Python threads run meanwhile.
    pub(crate) fn change<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut gbxcule_swarm::Swarm) -> Result<T, SwarmError> + Send,
    ) -> PyResult<T> {
        let mut guard = try_lock(self.inner.try_write())?;
        let swarm = &mut *guard;
        py.detach(|| call(swarm)).or_refuse()
    }

    /// Calls a function that a signal can interrupt between two frames of a step, if Python's
    /// handler raises an exception.
    fn change_or_stop(
        &self,
        py: Python<'_>,
        call: impl FnOnce(
            &mut gbxcule_swarm::Swarm,
            &mut dyn FnMut() -> bool,
        ) -> Result<bool, SwarmError>
        + Send,
    ) -> PyResult<()> {
        let mut raised = None;
        let mut go_on = || {
            raised = Python::attach(|py| py.check_signals()).err();
            raised.is_none()
        };
        self.change(py, |swarm| call(swarm, &mut go_on))?;
        raised.map_or(Ok(()), Err)
    }

    pub(crate) fn envs(&self) -> usize {
        self.config.num_envs
    }

    fn array(&self, of: impl FnOnce(&DeviceEngine) -> &Array) -> PyResult<Option<DeviceArray>> {
        let swarm = try_lock(self.inner.try_read())?;
        Ok(swarm.as_device().map(|swarm| DeviceArray::new(of(swarm).clone())))
    }
}
