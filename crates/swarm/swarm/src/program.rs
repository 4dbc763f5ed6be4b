//! Reward and observation written by the user in the Warp dialect, run after each step
//! (docs/programs.md).
//!
//! [`ProgramText`] is one source text. [`Programs`] is the checked pair of texts that a swarm runs,
//! for the reward and for the observation. `compile` lowers them into any module that has the
//! machine; `native_programs` runs them for the native swarm.

mod compile;
mod native_programs;
mod optional_param;
mod program_call;
mod scratch;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use gbxcule_front_warp::{FileText, Program, Texts};
use gbxcule_ir::FunctionId;
use gbxcule_ir::builtin::nearest_of;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_runtime::ProgramFiles;
use sha2::{Digest, Sha256};

pub(crate) use compile::view_module_of;
pub use compile::{Fused, view_module};
pub(crate) use compile::{KERNEL_VIEW_ENTRIES, MAX_WRITES, PROGRAM_ENTRIES, machine_params};
pub(crate) use native_programs::{NativePrograms, Outputs, ProgramInputs};
pub(crate) use program_call::ProgramCalls;
pub use scratch::{ScratchArray, ScratchCell};
pub(crate) use scratch::{ScratchSize, widened};

use crate::{Codec, Hook, OBS_V0_DIM, Stage, SwarmError};

/// The text of `reward_v0` and `obs_v0`.
const BUILT_IN: &str = include_str!("program/v0.py");
const BUILT_IN_NAMES: [&str; 2] = ["reward_v0", "obs_v0"];

/// The observation of tiles and objects: its name and text.
const TILES: (&str, &str) = ("tiles_v1", include_str!("program/tiles.py"));

/// Sizes that the built-in text asks for. With this constant a swarm that has only the built-in
/// text needs no compiler before its first step.
const BUILT_IN_SIZES: Sizes = Sizes {
    scratch: [ScratchSize { numbers: 0, ints: 0, bytes: 0 }; 2],
    obs_dim: OBS_V0_DIM,
    weights: 0,
    has_done: false,
    has_begin: [false; 2],
    reads_pixels: false,
    has_settled: false,
    mask: None,
    is_called: [false; 2],
    writes: false,
};

/// The name in messages for a text without a file.
const TEXT_NAME: &str = "program";

/// Names and texts of the programs that need no file.
pub fn built_in() -> impl Iterator<Item = (&'static str, &'static str)> {
    BUILT_IN_NAMES.map(|name| (name, BUILT_IN)).into_iter().chain([TILES]).chain(games())
}

/// The built-in games: the ROM's name, which is the program's as well, and the program's text.
pub fn games() -> impl Iterator<Item = (&'static str, &'static str)> {
    gbxcule_games::GAMES.iter().map(|game| (game.name, game.program))
}

/// A program's text, with its name and digest for artifacts.
#[derive(Clone, PartialEq, Eq)]
pub struct ProgramText {
    name: Arc<str>,
    text: Arc<str>,
    sha256: Arc<str>,
    files: Arc<[(String, String)]>,
    labels: Arc<[(String, u32)]>,
}

impl ProgramText {
    /// Makes a text with a name for messages.
    #[must_use]
    pub fn new(name: &str, text: &str) -> Self {
        Self::with_files(name, text, Vec::new())
    }

    /// Makes a text that imports from other files, which are given by path and text.
    #[must_use]
    pub fn with_files(name: &str, text: &str, files: Vec<(String, String)>) -> Self {
        let mut hash = Sha256::new_with_prefix(text.as_bytes());
        for (_, text) in &files {
            // Python text has no zero byte, so a zero byte marks the end of each text.
            hash.update([0]);
            hash.update(text.as_bytes());
        }
        let sha256 = gbxcule_files::hex(&hash.finalize()).into();
        let labels = Arc::new([]);
        Self { name: name.into(), text: text.into(), sha256, files: files.into(), labels }
    }

    /// Adds the places ([`crate::in_bank`]) of the labels that the text quotes. For misspelt labels
    /// it adds similar ones, which messages suggest.
    #[must_use]
    pub fn with_labels<'l>(self, labels: impl IntoIterator<Item = (&'l str, u32)>) -> Self {
        let places: BTreeMap<&str, u32> = labels.into_iter().collect();
        let texts =
            std::iter::once(&*self.text).chain(self.files.iter().map(|(_, text)| &text[..]));
        let quoted = texts.flat_map(|text| text.split(['"', '\'']));
        let mut used: Vec<(String, u32)> = quoted
            .filter(|word| !word.is_empty() && !word.contains(char::is_whitespace))
            .filter_map(|word| match places.contains_key(word) {
                true => Some(word),
                false => nearest_of(word, places.keys().copied()),
            })
            .map(|label| (label.to_owned(), places[label]))
            .collect();
        if used.is_empty() {
            return self;
        }
        used.sort();
        used.dedup();
        let mut hash = Sha256::new_with_prefix(self.sha256.as_bytes());
        hash.update(format!("{used:?}"));
        let sha256 = gbxcule_files::hex(&hash.finalize()).into();
        Self { labels: used.into(), sha256, ..self }
    }

    /// Finds a program by its built-in name, by the path of its file, or by its text, if the
    /// argument has several lines.
    ///
    /// # Errors
    /// No program and no file has this name, or the file cannot be read.
    pub fn find(name_or_path: &str) -> Result<Self, SwarmError> {
        if let Some((name, text)) = built_in().find(|(name, _)| *name == name_or_path) {
            return Ok(Self::new(name, text));
        }
        if name_or_path.contains('\n') {
            return Ok(Self::new(TEXT_NAME, name_or_path));
        }
        if Path::new(name_or_path).extension().is_none_or(|extension| extension != "py") {
            return Err(SwarmError::NoSuchProgram { name: name_or_path.to_owned() });
        }
        let text = ProgramFiles::of(Path::new(name_or_path))
            .text(Path::new(name_or_path))
            .map_err(|error| SwarmError::ProgramFile { path: name_or_path.to_owned(), error })?;
        let files = imported(name_or_path, &text);
        Ok(Self::with_files(name_or_path, &text, files))
    }

    /// The name or path by which the text was found.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text itself.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Paths and texts of the imported files.
    pub fn files(&self) -> &[(String, String)] {
        &self.files
    }

    /// Labels that the text quotes, and their places.
    pub fn labels(&self) -> &[(String, u32)] {
        &self.labels
    }

    /// The SHA-256 of the text and its imported files, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }
}

/// Returns the files that a text imports from; empty if the text can't be parsed, which the
/// compiler reports later.
fn imported(path: &str, text: &str) -> Vec<(String, String)> {
    let mut sources = SourceMap::new();
    let id = sources.add(path, text);
    let files = RefCell::new(Vec::new());
    let allowed = ProgramFiles::of(Path::new(path));
    let read = |path: &Path| {
        let file = allowed.find(path);
        if let FileText::Text(text) = &file {
            files.borrow_mut().push((path.display().to_string(), text.clone()));
        }
        file
    };
    let parsed = Program::load(&mut Texts::default(), &mut sources, id, Some(&read));
    if parsed.is_ok() { files.into_inner() } else { Vec::new() }
}

impl fmt::Debug for ProgramText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.name, &self.sha256[..12])
    }
}

/// The programs of a swarm: `reward`, and `done` if the reward's text has one; `observe`; `begin`
/// of each text that has one; `settled` and `action_mask` of either; and the swarm's hooks, with
/// the functions that they call. Cheap to clone.
///
/// ```
/// use gbxcule_swarm::{NativeSwarm, Programs, ProgramText, Rom, Stage, SwarmConfig};
///
/// let text = "\
/// import gbxcule as gb
/// import warp as wp
///
/// SCRATCH = 0
/// OBS_DIM = 1
///
/// @wp.func
/// def reward(machine: gb.Machine, scratch: wp.array(dtype=wp.float32)) -> wp.float32:
///     return wp.float32(gb.read(machine, 0xFF44)) + 1.0
///
/// @wp.func
/// def observe(
///     machine: gb.Machine,
///     scratch: wp.array(dtype=wp.float32),
///     obs: wp.array(dtype=wp.float32),
/// ):
///     obs[0] = wp.float32(gb.read(machine, 0xC000))
/// ";
/// let task = ProgramText::new("task.py", text);
/// let programs = Programs::new(task.clone(), task).expect("a program for both");
/// let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("a built-in ROM");
/// let rom = Rom::new(rom.bytes()).expect("a good header");
/// let config = SwarmConfig { programs, stage: Stage::FullStep, ..SwarmConfig::new(2) };
/// let mut swarm = NativeSwarm::new(rom, config).expect("a swarm");
/// swarm.step(&[0, 1]).expect("an action for each env");
/// assert!(swarm.rewards().iter().all(|&reward| reward >= 1.0));
/// assert_eq!(swarm.observations().len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Programs(Arc<ProgramPair>);

#[derive(Debug)]
struct ProgramPair {
    reward: ProgramText,
    obs: ProgramText,
    hooks: Vec<Hook>,
    sizes: Sizes,
}

/// Sizes and properties of the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sizes {
    /// Scratch of the reward's text and of the observation's. If both are one text, they share it.
    scratch: [ScratchSize; 2],
    obs_dim: usize,
    /// Number of weights that the caller gives: the larger count of both texts.
    weights: usize,
    has_done: bool,
    /// True for the reward's text and for the observation's if they have a `begin`. If both are one
    /// text, only the first is true.
    has_begin: [bool; 2],
    reads_pixels: bool,
    has_settled: bool,
    /// The text with `action_mask`, and the number of actions that the mask covers.
    mask: Option<(TextRole, usize)>,
    /// True for the reward's text and for the observation's if hooks call their functions.
    is_called: [bool; 2],
    /// True if a program calls `gb.write`.
    writes: bool,
}

/// One of the two texts of a swarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// The text of `reward`, or the one text for both.
    Reward,
    /// The text of `observe`.
    Observation,
}

impl TextRole {
    pub(crate) const ALL: [Self; 2] = [Self::Reward, Self::Observation];

    /// Returns the role's number in kernels and its index in pairs of texts.
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

impl Programs {
    /// Checks a text for the reward and one for the observation. If both are one text, its
    /// functions share one scratch.
    ///
    /// # Errors
    /// [`SwarmError::Program`] says everything that is wrong with the texts.
    pub fn new(reward: ProgramText, obs: ProgramText) -> Result<Self, SwarmError> {
        Self::with_hooks(reward, obs, Vec::new())
    }

    /// Checks a text for the reward, a text for the observation, and hooks, which may call
    /// functions of both.
    ///
    /// # Errors
    /// As [`Programs::new`], or the texts lack a function that a hook calls.
    pub fn with_hooks(
        reward: ProgramText,
        obs: ProgramText,
        hooks: Vec<Hook>,
    ) -> Result<Self, SwarmError> {
        let is_built_in = [&reward, &obs].iter().all(|program| program.text() == BUILT_IN)
            && hooks.iter().all(|hook| hook.calls.is_none());
        let sizes =
            if is_built_in { BUILT_IN_SIZES } else { compile::check(&reward, &obs, &hooks)? };
        Ok(Self(Arc::new(ProgramPair { reward, obs, hooks, sizes })))
    }

    /// Finds and checks programs by names or paths.
    ///
    /// # Errors
    /// As [`ProgramText::find`] and [`Programs::new`].
    pub fn find(reward: &str, obs: &str) -> Result<Self, SwarmError> {
        Self::new(ProgramText::find(reward)?, ProgramText::find(obs)?)
    }

    /// The text of `reward` and `done`.
    pub fn reward_text(&self) -> &ProgramText {
        &self.0.reward
    }

    /// The text of `observe`.
    pub fn observation_text(&self) -> &ProgramText {
        &self.0.obs
    }

    /// Numbers in one observation.
    pub fn obs_dim(&self) -> usize {
        self.0.sizes.obs_dim
    }

    /// Returns true if the reward's text says when an episode is over.
    pub fn has_done(&self) -> bool {
        self.0.sizes.has_done
    }

    /// The hooks, in the order of their numbers.
    pub fn hooks(&self) -> &[Hook] {
        &self.0.hooks
    }

    /// Returns true if one of the texts says when a step is over.
    pub fn has_settled(&self) -> bool {
        self.0.sizes.has_settled
    }

    /// Returns true if a step may end before all of its frames have run.
    pub fn can_end_steps_early(&self) -> bool {
        self.has_settled() || self.hooks().iter().any(|hook| hook.ends_step)
    }

    /// Returns true if one of the programs changes memory.
    pub fn writes_memory(&self) -> bool {
        self.0.sizes.writes
    }

    /// Returns true if hooks or `settled` make a step run frame by frame. Such machines make no
    /// sound.
    pub fn needs_single_frames(&self) -> bool {
        self.has_settled() || !self.hooks().is_empty()
    }

    /// Returns the number of actions that `action_mask` covers; 0 without an `action_mask`.
    pub fn mask_len(&self) -> usize {
        self.0.sizes.mask.map_or(0, |(_, len)| len)
    }

    /// Checks that `action_mask` covers exactly the codec's actions.
    pub(crate) fn check_codec(&self, codec: &Codec) -> Result<(), SwarmError> {
        let (found, expected) = (self.mask_len(), codec.actions.len());
        if found == 0 || found == expected {
            return Ok(());
        }
        Err(SwarmError::OtherActions { found, expected, codec: codec.name.to_string() })
    }

    /// Returns true if the programs compute something in a stage.
    pub(crate) fn has_work_in(&self, stage: Stage) -> bool {
        stage != Stage::EmulateOnly || self.has_settled() || self.0.sizes.is_called.contains(&true)
    }

    /// Returns true if the programs compute something at the beginning of an episode: the
    /// observation before its first step, the mask of its first action, or the work of `begin`.
    pub(crate) fn has_begin_work_in(&self, stage: Stage) -> bool {
        let begins = self.runs_begin_in(stage).contains(&true);
        begins || stage.owns_observation() || self.mask_text_in(stage).is_some()
    }

    /// Returns for each text whether a stage owns one of its outputs.
    fn texts_in(&self, stage: Stage) -> [bool; 2] {
        let observes = stage.owns_observation();
        [stage.owns_reward() || observes && self.is_one_text(), observes]
    }

    /// Returns for each text whether its `begin` runs in a stage.
    pub(crate) fn runs_begin_in(&self, stage: Stage) -> [bool; 2] {
        let Sizes { has_begin, is_called, .. } = self.0.sizes;
        let run = self.texts_in(stage);
        [0, 1].map(|text| has_begin[text] && (run[text] || is_called[text]))
    }

    /// Returns the text whose `action_mask` runs in a stage, if one does.
    pub(crate) fn mask_text_in(&self, stage: Stage) -> Option<TextRole> {
        let (text, _) = self.0.sizes.mask?;
        self.texts_in(stage)[text.index()].then_some(text)
    }

    /// Returns the `begin`s that run in a stage, in the order of the texts.
    pub(crate) fn begin_calls(
        &self,
        begin: [Option<FunctionId>; 2],
        stage: Stage,
    ) -> Vec<(TextRole, FunctionId)> {
        let runs = self.runs_begin_in(stage);
        let run = |text: TextRole| {
            let function = begin[text.index()].filter(|_| runs[text.index()])?;
            Some((text, function))
        };
        TextRole::ALL.into_iter().filter_map(run).collect()
    }

    /// Returns true if one of the programs reads pixels, so that the last frame of a step must be
    /// drawn.
    pub fn reads_pixels(&self) -> bool {
        self.0.sizes.reads_pixels
    }

    /// Returns true if these are the built-in programs.
    pub fn is_built_in(&self) -> bool {
        [self.reward_text(), self.observation_text()]
            .into_iter()
            .all(|program| program.text() == BUILT_IN)
    }

    /// Returns the number of weights that the texts ask for.
    pub fn weights(&self) -> usize {
        self.0.sizes.weights
    }

    /// Checks the number of weights against the number that the texts ask for.
    pub(crate) fn check_weights(&self, weights: &[f32]) -> Result<(), SwarmError> {
        let (found, expected) = (weights.len(), self.weights());
        let fits = found == expected;
        fits.then_some(()).ok_or(SwarmError::OtherWeights { found, expected })
    }

    fn is_one_text(&self) -> bool {
        self.reward_text().text() == self.observation_text().text()
    }
}

impl Default for Programs {
    /// `reward_v0` and `obs_v0`.
    fn default() -> Self {
        static BUILT: OnceLock<Programs> = OnceLock::new();
        let new = || {
            let [reward, obs] = BUILT_IN_NAMES.map(|name| ProgramText::new(name, BUILT_IN));
            let hooks = Vec::new();
            Self(Arc::new(ProgramPair { reward, obs, hooks, sizes: BUILT_IN_SIZES }))
        };
        BUILT.get_or_init(new).clone()
    }
}

impl PartialEq for Programs {
    fn eq(&self, other: &Self) -> bool {
        self.reward_text() == other.reward_text()
            && self.observation_text() == other.observation_text()
            && self.hooks() == other.hooks()
    }
}

/// The error for a program's faults, rendered with the lines of its text.
fn refused(faults: &[gbxcule_ir::diagnostic::Diagnostic], sources: &SourceMap) -> SwarmError {
    SwarmError::Program { message: render(faults, sources).trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_text_asks_for_what_is_known_of_it() {
        let [reward, obs] = BUILT_IN_NAMES.map(|name| ProgramText::new(name, BUILT_IN));
        assert_eq!(compile::check(&reward, &obs, &[]).expect("v0 is right"), BUILT_IN_SIZES);
    }
}
