//! The configuration of a swarm.

use std::num::NonZeroUsize;
use std::ops::Range;

use gbxcule_recompiler::Recompile;

use crate::program::ScratchSize;
use crate::{
    Chance, Codec, LinkMode, PictureStack, PowerOnChoice, Programs, Schedule, Stage, SwarmError,
};

/// Maximum of `noop_max`: each number of frames without buttons is a separate start.
const MAX_NOOPS: u32 = 240;

/// The configuration of a swarm.
///
/// ```
/// use gbxcule_swarm::{Codec, Schedule, SwarmConfig};
///
/// let schedule = Schedule::new(4, 4).expect("a schedule"); // frames of a step, frames held
/// let codec = Codec::by_name("NOOP,A,A+RIGHT").expect("a codec");
/// let config = SwarmConfig { schedule, codec, ..SwarmConfig::new(64) };
/// assert_eq!(config.num_envs, 64);
/// ```
#[derive(Debug, Clone)]
pub struct SwarmConfig {
    /// Number of machines.
    pub num_envs: usize,
    /// The meaning of action numbers.
    pub codec: Codec,
    /// Frames of a step, and the frame at which buttons are released.
    pub schedule: Schedule,
    /// Outputs that a step computes.
    pub stage: Stage,
    /// The user's programs, and the hooks.
    pub programs: Programs,
    /// True if the last frame of every step is drawn even if no program reads it.
    pub draw_last: bool,
    /// Numbers that the programs' functions read in `weights`; callers may change them between
    /// steps.
    pub weights: Vec<f32>,
    /// Pictures that the swarm keeps of each env for its learner.
    pub pictures: Option<PictureStack>,
    /// Probability, 0 to 1, that an env repeats its last action in a step instead of its new one.
    pub sticky: f64,
    /// Maximum of frames without buttons at the beginning of an episode. The number is drawn from 1
    /// to `noop_max` together with the episode's start; 0 runs no such frames.
    pub noop_max: u32,
    /// Number in memory that gets a random value when an episode begins.
    pub chance: Option<Chance>,
    /// Contents of memory at power-on.
    pub power_on: PowerOnChoice,
    /// True if each step makes sound samples; [`crate::NativeSwarm`] only. Machines then run one
    /// instruction at a time.
    pub sound: bool,
    /// Threads to use; all cores when absent.
    pub threads: Option<NonZeroUsize>,
    /// Use of code made for the ROM. Machines with hooks, sound or a cable never run it. On CUDA,
    /// Color machines and machines whose programs have `settled` do not run it either. With
    /// [`Recompile::WhereItWins`] CUDA machines run it only if hot code is a large part of the
    /// ROM's execution.
    pub recompile: Recompile,
    /// Link cables: none, or one between envs 2i and 2i + 1. Machines with a cable are interpreted,
    /// on every device.
    pub link: LinkMode,
}

impl SwarmConfig {
    /// Describes a swarm of `num_envs` machines, with defaults for everything else.
    #[must_use]
    pub fn new(num_envs: usize) -> Self {
        Self {
            num_envs,
            codec: Codec::default(),
            schedule: Schedule::default(),
            stage: Stage::default(),
            programs: Programs::default(),
            draw_last: false,
            weights: Vec::new(),
            pictures: None,
            sticky: 0.0,
            noop_max: 0,
            chance: None,
            power_on: PowerOnChoice::default(),
            sound: false,
            threads: None,
            recompile: Recompile::default(),
            link: LinkMode::default(),
        }
    }

    /// Returns true if the last frame of every step is drawn: the configuration asks for it, or a
    /// program or a stack of pictures looks at it.
    pub fn draws(&self) -> bool {
        self.draw_last || self.looks_at_pixels()
    }

    /// Returns true if a program or a stack of pictures reads the pixels after each step.
    pub(crate) fn looks_at_pixels(&self) -> bool {
        self.programs.reads_pixels() || self.pictures.is_some()
    }

    /// Sizes of an env's scratch: the cells of the programs, and one more number for the last
    /// action if actions are sticky.
    pub(crate) fn scratch_size(&self) -> ScratchSize {
        let size = self.programs.scratch_size();
        ScratchSize { numbers: size.numbers + usize::from(self.sticky > 0.0), ..size }
    }

    /// Number of scratch cells of an env: cells for integers and bytes first, then the floats.
    pub(crate) fn cells(&self) -> usize {
        let size = self.scratch_size();
        size.words() + size.numbers
    }

    /// The cells of one env that hold the weights.
    pub(crate) fn weight_cells(&self) -> Range<usize> {
        let (first, cells) = (self.scratch_size().words(), self.programs.weight_cells());
        first + cells.start..first + cells.end
    }

    /// Puts the weights into an env's cells.
    pub(crate) fn put_weights(&self, cells: &mut [f32]) {
        cells[self.weight_cells()].copy_from_slice(&self.weights);
    }

    /// Checks the rules that hold on every device.
    pub(crate) fn check(&self) -> Result<(), SwarmError> {
        if self.num_envs == 0 {
            return Err(SwarmError::NoEnvs);
        }
        if !(0.0..=1.0).contains(&self.sticky) {
            return Err(SwarmError::NoProbability { found: self.sticky });
        }
        if self.noop_max > MAX_NOOPS {
            return Err(SwarmError::ManyNoops { found: self.noop_max, most: MAX_NOOPS });
        }
        self.pictures.map_or(Ok(()), |pictures| self.check_pictures(pictures))?;
        self.programs.check_codec(&self.codec)?;
        self.programs.check_weights(&self.weights)?;
        self.check_link()
    }

    /// Checks that a form of pictures is possible, and fits the rest of the configuration.
    fn check_pictures(&self, pictures: PictureStack) -> Result<(), SwarmError> {
        pictures.check().map_err(|message| SwarmError::PictureStack { message })?;
        let beside = match () {
            () if !pictures.max_pool => return Ok(()),
            () if self.link == LinkMode::Pairs => "the cable of link=\"pairs\"",
            () if self.programs.can_end_steps_early() => {
                "hooks with ends_step or a program's `settled`"
            }
            () if self.schedule.frames_per_step() < 2 => "frames_per_step=1",
            () => return Ok(()),
        };
        Err(SwarmError::PictureStack {
            message: format!(
                "`max_pool` takes the last two frames of each step, which steps with {beside} do not have: leave one of the two out"
            ),
        })
    }

    /// Checks that a cable fits the rest of the configuration.
    pub(crate) fn check_link(&self) -> Result<(), SwarmError> {
        if self.link == LinkMode::Open {
            return Ok(());
        }
        let what = match () {
            () if self.sound => "sound",
            () if !self.programs.hooks().is_empty() => "hooks",
            () if self.programs.needs_single_frames() => "programs with `settled`",
            () => "",
        };
        match self.num_envs {
            num_envs if num_envs % 2 != 0 => Err(SwarmError::OddPairs { num_envs }),
            _ if what.is_empty() => Ok(()),
            _ => Err(SwarmError::BesideLink { what }),
        }
    }

    /// Checks that the mask of a reset marks both machines of each pair, or neither of them.
    pub(crate) fn check_pairs(&self, mask: &[bool]) -> Result<(), SwarmError> {
        if self.link == LinkMode::Open {
            return Ok(());
        }
        let alone = (0..mask.len()).find(|env| mask[*env] && !mask[env ^ 1]);
        alone.map_or(Ok(()), |env| Err(SwarmError::HalfPair { env }))
    }

    /// Checks that a list of `what` has one entry for each env.
    pub(crate) fn check_length(&self, what: &'static str, found: usize) -> Result<(), SwarmError> {
        let num_envs = self.num_envs;
        let fits = found == num_envs;
        fits.then_some(()).ok_or(SwarmError::WrongLength { what, num_envs, found })
    }

    /// Checks that the env exists.
    pub(crate) fn check_env(&self, env: usize) -> Result<(), SwarmError> {
        let last = self.num_envs - 1;
        if env > last { Err(SwarmError::NoSuchEnv { env, last }) } else { Ok(()) }
    }
}
