//! One interface for all programs that can run Game Boys.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::str::FromStr;

use gbxcule_runtime::worker_count;
use gbxcule_swarm::{
    Codec, CpuState, Frame, LinkMode, Model, Programs, Recompile, Rom, Schedule, Stage,
    SwarmConfig, SwarmError,
};
use serde_json::Value;

use crate::LabError;
use crate::artifact::RomImage;

#[cfg(feature = "mgba")]
mod mgba;
mod pyboy;
mod stub_bad;
mod swarm;

gbxcule_swarm::named! {
    /// The backends by name, as artifacts and command lines write it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum BackendKind {
        /// PyBoy in one child process, one machine: the trusted reference.
        PyboySingle = "pyboy_single",
        /// PyBoy in as many child processes as there are cores: the CPU baseline.
        PyboyVecMp = "pyboy_vec_mp",
        /// The swarm on CPU threads.
        SwarmCpu = "warp_vec_cpu",
        /// The swarm on CPU threads, without recompiling the ROM.
        SwarmInterpreted = "warp_vec_interpreted",
        /// The swarm on a CUDA device.
        SwarmCuda = "warp_vec_cuda",
        /// A backend whose reports are wrong, which tests the failure path.
        StubBad = "stub_bad",
        /// libmgba in this process, the second reference.
        Libmgba = "libmgba",
    }
}

impl BackendKind {
    /// Returns true for an emulator written by others.
    pub fn is_emulator_of_others(self) -> bool {
        matches!(self, Self::PyboySingle | Self::PyboyVecMp | Self::Libmgba)
    }

    /// Returns the device on which it runs, as `--device` spells it.
    pub fn device(self) -> &'static str {
        if self == Self::SwarmCuda { "cuda" } else { "cpu" }
    }

    /// Returns true if the backend runs PyBoy.
    pub fn is_pyboy(self) -> bool {
        matches!(self, Self::PyboySingle | Self::PyboyVecMp)
    }

    /// Starts a backend of this kind.
    ///
    /// # Errors
    /// The backend is not in this build, or cannot run this configuration.
    pub fn open(self, config: &BackendConfig) -> Result<Box<dyn Backend>, LabError> {
        if config.num_envs == 0 {
            return Err(SwarmError::NoEnvs.into());
        }
        let is_reference = self.is_pyboy() || self == Self::Libmgba;
        if is_reference && config.stage != Stage::EmulateOnly && !config.programs.is_built_in() {
            return Err(LabError::BuiltInProgramsOnly { backend: self });
        }
        if is_reference && config.link != LinkMode::Open {
            return Err(LabError::NoCable { backend: self });
        }
        Ok(match self {
            Self::PyboySingle | Self::PyboyVecMp => Box::new(pyboy::Pyboy::open(self, config)?),
            Self::SwarmCpu | Self::SwarmInterpreted | Self::SwarmCuda => {
                Box::new(swarm::SwarmBackend::open(self, config)?)
            }
            Self::StubBad => Box::new(stub_bad::StubBad::open(config)?),
            #[cfg(feature = "mgba")]
            Self::Libmgba => Box::new(mgba::Mgba::open(config)?),
            #[cfg(not(feature = "mgba"))]
            Self::Libmgba => {
                let why = "install libmgba-dev and build with `--features mgba`";
                return Err(LabError::NotInThisBuild { backend: self, why });
            }
        })
    }
}

impl fmt::Display for BackendKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for BackendKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        // The short name of the swarm on CPU threads.
        let name = if name == "warp_vec" { Self::SwarmCpu.name() } else { name };
        let names = || Self::ALL.map(Self::name).join(", ");
        Self::named(name).ok_or_else(|| format!("no backend `{name}`; there are {}", names()))
    }
}

/// Configuration that every backend gets: the ROM, the number of machines and how they step.
#[derive(Debug, Clone)]
pub struct BackendConfig {
    /// ROM that all machines run.
    pub rom: RomImage,
    /// Number of machines.
    pub num_envs: usize,
    /// Meaning of an action's number.
    pub codec: Codec,
    /// Length of a step.
    pub schedule: Schedule,
    /// Outputs that a step computes besides emulation.
    pub stage: Stage,
    /// Programs that compute rewards and observations.
    pub programs: Programs,
    /// True if the last frame of every step is drawn.
    pub draw_last: bool,
    /// True if frames must end at the same times as the frames of all other backends, even if this
    /// is slow.
    pub lockstep: bool,
    /// Number of threads or child processes; `None` stands for all cores.
    pub workers: Option<NonZeroUsize>,
    /// Number of the CUDA device, for the backend that takes one.
    pub cuda: u32,
    /// Use of code made for the ROM, for the backend that has it.
    pub recompile: Recompile,
    /// Model of the machines; `None` lets the program decide.
    pub model: Option<Model>,
    /// Cables between machines, for backends that have them.
    pub link: LinkMode,
}

impl BackendConfig {
    /// Makes a configuration of defaults: one machine, which only emulates.
    #[must_use]
    pub fn new(rom: RomImage) -> Self {
        Self {
            rom,
            num_envs: 1,
            codec: Codec::default(),
            schedule: Schedule::default(),
            stage: Stage::EmulateOnly,
            programs: Programs::default(),
            draw_last: false,
            lockstep: false,
            workers: None,
            cuda: 0,
            recompile: Recompile::default(),
            model: None,
            link: LinkMode::Open,
        }
    }

    /// Makes a configuration of defaults with steps of one frame.
    #[must_use]
    pub fn of_single_frames(rom: RomImage) -> Self {
        Self { schedule: Schedule::new(1, 8).unwrap_or_default(), ..Self::new(rom) }
    }

    /// Returns the ROM for the model of the machines.
    ///
    /// # Errors
    /// The header is damaged, or the program does not run on that model.
    pub fn rom(&self) -> Result<Rom, LabError> {
        Ok(Rom::for_model(&self.rom.bytes, self.model)?)
    }

    /// Returns the number of workers to start.
    pub fn workers(&self) -> usize {
        worker_count(self.workers)
    }

    /// Converts this configuration to a swarm's.
    pub(crate) fn swarm(&self) -> SwarmConfig {
        SwarmConfig {
            num_envs: self.num_envs,
            codec: self.codec.clone(),
            schedule: self.schedule,
            stage: self.stage,
            programs: self.programs.clone(),
            draw_last: self.draw_last,
            threads: self.workers,
            recompile: self.recompile,
            link: self.link,
            ..SwarmConfig::new(self.num_envs)
        }
    }
}

/// Registers and, where a backend counts them, cycles and frames since reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EnvState {
    /// The registers.
    pub cpu: CpuState,
    /// T-cycles since PC=0x0100.
    pub tcycles: Option<u64>,
    /// Frames since reset.
    pub frames: Option<u64>,
}

/// Returns the name of a model on command lines and in artifacts; `auto` if the program decides.
pub fn model_name(model: Option<Model>) -> &'static str {
    match model {
        None => "auto",
        Some(Model::Original) => "dmg",
        Some(Model::Color) => "cgb",
    }
}

/// Returns the bytes of a frame in the form of [`Backend::frame`].
pub(crate) fn frame_bytes(frame: Frame<'_>) -> Vec<u8> {
    match frame {
        Frame::Shades(shades) => shades.to_vec(),
        Frame::Colors(colors) => colors.to_vec(),
    }
}

/// Machines that can be stepped and read. A device backend only queues work until
/// [`Backend::sync`]. Each call fails if the backend failed.
pub trait Backend {
    /// Returns the kind of this backend.
    fn kind(&self) -> BackendKind;

    /// Versions and settings that an artifact should record.
    fn details(&self) -> Value;

    /// Returns the number of machines.
    fn num_envs(&self) -> usize;

    /// Puts all machines back to their start.
    fn reset(&mut self, seed: u64) -> Result<(), LabError>;

    /// Steps every machine by its action.
    ///
    /// # Errors
    /// Wrong actions, or the backend failed.
    fn step(&mut self, actions: &[u8]) -> Result<(), LabError>;

    /// Waits until all queued work is done.
    fn sync(&mut self) -> Result<(), LabError> {
        Ok(())
    }

    /// Returns the state of every machine.
    fn states(&mut self) -> Result<Vec<EnvState>, LabError>;

    /// Returns one machine's memory as a debugger sees it.
    ///
    /// # Errors
    /// No such env or range, or the backend failed.
    fn read_memory(&mut self, env: usize, range: Range<u32>) -> Result<Vec<u8>, LabError>;

    /// Returns one machine's last drawn frame: for the original packed as
    /// [`gbxcule_swarm::FRAME_BYTES`] describes, for the Color two bytes a pixel, RGB555 with the
    /// lower byte first.
    ///
    /// # Errors
    /// No such env, or the backend failed.
    fn frame(&mut self, env: usize) -> Result<Vec<u8>, LabError>;

    /// Returns each machine's reward after its last whole step; zeros if the stage computes none.
    fn rewards(&self) -> Result<Vec<f32>, LabError>;

    /// Returns the observations after the last whole step, one env after the other.
    fn observations(&self) -> Result<Vec<f32>, LabError>;
}
