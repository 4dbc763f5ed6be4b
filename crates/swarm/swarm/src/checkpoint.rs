//! A whole swarm as bytes, and back, on any device: the restored swarm goes on exactly as the first
//! one would have, bit for bit.
//!
//! A checkpoint holds the ROM, the configuration, the programs' texts, the starts, every env with
//! its programs' scratch, its episodes, its manual buttons and its sound, and the outputs. A caller
//! can add a note with further state.

use std::num::NonZeroUsize;
use std::ops::Range;

use gbxcule_console::MachineSound;
use gbxcule_console::record::{Reader, RecordKind, Writer};
use gbxcule_runtime::Device;

use crate::env_record::{
    read_env, read_episode, read_pictures, read_sound, write_env, write_episode, write_pictures,
};
use crate::{
    Chance, Codec, EnvSnapshot, Episode, Hook, Model, PictureStack, ProgramText, Programs,
    Revision, Rom, Schedule, Swarm, SwarmConfig, SwarmError,
};

const CHECKPOINT: RecordKind =
    RecordKind { name: "checkpoint", magic: b"gbxcule swarm\n", version: 5, oldest: 4 };

/// One env of a checkpoint.
pub(crate) struct SavedEnv {
    pub(crate) snapshot: EnvSnapshot,
    pub(crate) episode: Episode,
    pub(crate) manual_buttons: Option<u8>,
}

/// Outputs of a step.
pub struct StepOutputs {
    pub(crate) rewards: Vec<f32>,
    pub(crate) dones: Vec<bool>,
    pub(crate) observations: Vec<f32>,
}

/// A checkpoint that was read.
///
/// Several processes can step parts of one swarm, each with its checkpoint. [`Checkpoint::only`]
/// takes some envs of a part and [`Checkpoint::append`] joins parts, so the number of parts can
/// change.
pub struct Checkpoint {
    note: Vec<u8>,
    device: String,
    shared: Shared,
    envs: Vec<SavedEnv>,
    outputs: StepOutputs,
}

/// The data that all envs of a swarm share.
struct Shared {
    rom: Rom,
    config: SwarmConfig,
    seed: u64,
    starts: Vec<(u32, EnvSnapshot)>,
}

impl Swarm {
    /// First bytes of every checkpoint.
    pub const CHECKPOINT_MAGIC: &[u8] = CHECKPOINT.magic;
    /// Bytes of the largest checkpoint that is read from a file.
    pub const MAX_CHECKPOINT_BYTES: u64 = 1 << 36;

    /// Returns the whole swarm as bytes, with the caller's note.
    pub fn checkpoint(&self, note: &[u8]) -> Result<Vec<u8>, SwarmError> {
        let state = self.state();
        let shared = Shared {
            rom: self.rom().clone(),
            config: self.config().clone(),
            seed: self.seed(),
            starts: state
                .episodes
                .weights()
                .iter()
                .copied()
                .zip(state.starts.iter().cloned())
                .collect(),
        };
        let envs = self.manual_buttons().into_iter().enumerate().map(|(env, manual_buttons)| {
            let (snapshot, episode) = (self.snapshot(env)?, self.episode(env)?);
            Ok(SavedEnv { snapshot, episode, manual_buttons })
        });
        let mut writer = shared.begin(note, &self.device().to_string())?;
        let sounds = write_saved_envs(&mut writer, &shared.rom, envs)?;
        let (rewards, dones, observations) = (self.rewards()?, self.dones()?, self.observations()?);
        StepOutputs { rewards, dones, observations }.write(&mut writer);
        sounds.iter().for_each(|sound| writer.bytes(&sound.to_bytes()));
        Ok(writer.finish())
    }

    /// Makes the swarm that a checkpoint holds; returns it with the note. `device` and `threads`
    /// take the place of the recorded ones; with `None` the recorded ones are used.
    ///
    /// # Errors
    /// The bytes are no checkpoint or are damaged, or the swarm cannot be made here.
    pub fn from_checkpoint(
        bytes: &[u8],
        device: Option<Device>,
        threads: Option<NonZeroUsize>,
    ) -> Result<(Self, Vec<u8>), SwarmError> {
        let Checkpoint { note, device: recorded, shared, envs, outputs } =
            Checkpoint::from_bytes(bytes)?;
        let Shared { rom, mut config, seed, starts } = shared;
        config.threads = threads.or(config.threads);
        let device = device.map_or_else(|| recorded.parse(), Ok)?;
        let (weights, starts): (Vec<u32>, Vec<EnvSnapshot>) = starts.into_iter().unzip();
        let mut swarm = Self::new(rom, config, device)?;
        swarm.restore_checkpoint((&weights, starts), envs, &outputs, seed)?;
        Ok((swarm, note))
    }
}

impl Checkpoint {
    /// Returns the caller's note.
    pub fn note(&self) -> &[u8] {
        &self.note
    }

    /// Returns the checkpoint as bytes, with another note.
    ///
    /// # Errors
    /// A machine cannot be written.
    pub fn with_note(self, note: &[u8]) -> Result<Vec<u8>, SwarmError> {
        let mut writer = self.shared.begin(note, &self.device)?;
        let envs = self.envs.into_iter().map(Ok);
        let sounds = write_saved_envs(&mut writer, &self.shared.rom, envs)?;
        self.outputs.write(&mut writer);
        sounds.iter().for_each(|sound| writer.bytes(&sound.to_bytes()));
        Ok(writer.finish())
    }

    /// Reduces the checkpoint to these envs.
    ///
    /// # Errors
    /// The range is empty or goes beyond the last env.
    pub fn only(mut self, envs: Range<usize>) -> Result<Self, SwarmError> {
        if envs.is_empty() || envs.end > self.envs.len() {
            return Err(SwarmError::NoSuchPart { envs, num_envs: self.envs.len() });
        }
        let numbers = self.shared.config.programs.obs_dim();
        self.envs.truncate(envs.end);
        self.envs.drain(..envs.start);
        let StepOutputs { rewards, dones, observations } = &mut self.outputs;
        *rewards = rewards[envs.clone()].to_vec();
        *dones = dones[envs.clone()].to_vec();
        *observations = observations[envs.start * numbers..envs.end * numbers].to_vec();
        self.shared.config.num_envs = self.envs.len();
        Ok(self)
    }

    /// Adds the envs of another part of the same swarm. The data that all envs share are taken from
    /// `self`.
    ///
    /// # Errors
    /// The two parts have different ROMs, configurations or starts.
    pub fn append(&mut self, other: Self) -> Result<(), SwarmError> {
        if self.shared.without_envs()? != other.shared.without_envs()? {
            return Err(SwarmError::PartOfAnother);
        }
        self.envs.extend(other.envs);
        self.outputs.rewards.extend(other.outputs.rewards);
        self.outputs.dones.extend(other.outputs.dones);
        self.outputs.observations.extend(other.outputs.observations);
        self.shared.config.num_envs = self.envs.len();
        Ok(())
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// The bytes are no checkpoint or are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SwarmError> {
        let mut reader = Reader::new(CHECKPOINT, bytes)?;
        let (note, device) = (reader.bytes()?.to_vec(), reader.text()?.to_owned());
        let bytes = reader.bytes()?;
        let kind = reader.u8()?;
        let model = [Model::Original, Model::Color][usize::from(kind & 1)];
        let revision = Revision::by_code(model, kind >> 2);
        let revision = revision.ok_or_else(|| CHECKPOINT.damaged("its model is unknown"))?;
        let mut rom = Rom::for_model(bytes, Some(model))?.with_revision(revision);
        if kind & 2 != 0 {
            rom = rom.with_boot_rom(reader.bytes()?)?;
        }
        let config = read_config(&mut reader)?;
        let seed = reader.u64()?;
        let mut starts = Vec::new();
        for _ in 0..reader.u64()? {
            starts.push((reader.u32()?, read_env(&mut reader, &rom)?.into_start()));
        }
        if starts.is_empty() {
            return Err(CHECKPOINT.damaged("it has no start of episodes").into());
        }
        let mut envs = Vec::new();
        for _ in 0..config.num_envs {
            envs.push(read_saved_env(&mut reader, &rom, &config)?);
        }
        let outputs = StepOutputs {
            rewards: reader.floats()?,
            dones: reader.bytes()?.iter().map(|done| *done != 0).collect(),
            observations: reader.floats()?,
        };
        // Earlier checkpoints hold no sound.
        if config.sound && !reader.is_at_end() {
            envs.iter_mut().try_for_each(|env| read_sound(&mut reader, &mut env.snapshot))?;
        }
        reader.finish()?;
        let numbers = config.num_envs * config.programs.obs_dim();
        if [outputs.rewards.len(), outputs.dones.len()] != [config.num_envs; 2]
            || outputs.observations.len() != numbers
        {
            return Err(CHECKPOINT.damaged("its outputs do not fit its programs").into());
        }
        let shared = Shared { rom, config, seed, starts };
        Ok(Self { note, device, shared, envs, outputs })
    }
}

impl Shared {
    /// Begins a checkpoint.
    fn begin(&self, note: &[u8], device: &str) -> Result<Writer, SwarmError> {
        let mut writer = Writer::new(CHECKPOINT);
        writer.bytes(note);
        writer.text(device);
        writer.bytes(self.rom.chip());
        let boot_rom = self.rom.boot_rom();
        let has_boot_rom = u8::from(boot_rom.is_some()) << 1;
        let revision = (self.rom.revision() as u8) << 2;
        writer.u8(u8::from(self.rom.model() == Model::Color) | has_boot_rom | revision);
        boot_rom.into_iter().for_each(|boot_rom| writer.bytes(boot_rom));
        write_config(&mut writer, &self.config);
        writer.u64(self.seed);
        writer.u64(self.starts.len() as u64);
        for (weight, start) in &self.starts {
            writer.u32(*weight);
            write_env(&mut writer, start, &self.rom)?;
        }
        Ok(writer)
    }

    /// Returns the shared data as bytes, without the number of envs, the number of threads and the
    /// seed: equal for all parts of one swarm.
    fn without_envs(&self) -> Result<Vec<u8>, SwarmError> {
        let config = SwarmConfig { num_envs: 0, threads: None, ..self.config.clone() };
        let (rom, starts) = (self.rom.clone(), self.starts.clone());
        Ok(Self { rom, config, seed: 0, starts }.begin(&[], "")?.finish())
    }
}

impl StepOutputs {
    fn write(&self, writer: &mut Writer) {
        writer.floats(&self.rewards);
        let dones: Vec<u8> = self.dones.iter().map(|done| u8::from(*done)).collect();
        writer.bytes(&dones);
        writer.floats(&self.observations);
    }
}

/// Writes envs, and returns their sounds, which come last in a checkpoint.
fn write_saved_envs(
    writer: &mut Writer,
    rom: &Rom,
    envs: impl Iterator<Item = Result<SavedEnv, SwarmError>>,
) -> Result<Vec<MachineSound>, SwarmError> {
    let mut sounds = Vec::new();
    for env in envs {
        let SavedEnv { snapshot, episode, manual_buttons } = env?;
        write_env(writer, &snapshot, rom)?;
        write_pictures(writer, &snapshot);
        write_episode(writer, episode);
        // Manual buttons are a byte, so `u16::MAX` stands for no manual buttons.
        writer.u16(manual_buttons.map_or(u16::MAX, u16::from));
        sounds.extend(snapshot.sound);
    }
    Ok(sounds)
}

fn read_saved_env(
    reader: &mut Reader<'_>,
    rom: &Rom,
    config: &SwarmConfig,
) -> Result<SavedEnv, SwarmError> {
    let mut snapshot = read_env(reader, rom)?;
    if reader.version() > 4 {
        read_pictures(reader, &mut snapshot)?;
    }
    snapshot.check(rom, config)?;
    let (episode, manual_buttons) = (read_episode(reader)?, reader.u16()?);
    Ok(SavedEnv { snapshot, episode, manual_buttons: u8::try_from(manual_buttons).ok() })
}

fn write_config(writer: &mut Writer, config: &SwarmConfig) {
    writer.u64(config.num_envs as u64);
    writer.text(&config.codec.name);
    writer.u32(config.schedule.frames_per_step());
    writer.u32(config.schedule.release_after_frames());
    writer.text(config.stage.name());
    writer.u8(u8::from(config.draw_last));
    writer.text(config.power_on.name());
    writer.u8(u8::from(config.sound));
    writer.text(config.recompile.name());
    writer.text(config.link.name());
    let Chance { low, width_bytes } = config.chance.unwrap_or(NO_CHANCE);
    // Six bits can hold the number of every bank that can be written.
    writer.u16(low as u16);
    writer.u8(width_bytes | ((low >> 16) as u8) << 2);
    let threads = config.threads.map_or(0, NonZeroUsize::get);
    writer.u16(u16::try_from(threads).unwrap_or(u16::MAX));
    for text in [config.programs.reward_text(), config.programs.observation_text()] {
        writer.text(text.name());
        writer.text(text.text());
        writer.u64(text.files().len() as u64);
        for (path, text) in text.files() {
            writer.text(path);
            writer.text(text);
        }
        writer.u64(text.labels().len() as u64);
        for (label, place) in text.labels() {
            writer.text(label);
            writer.u32(*place);
        }
    }
    writer.u64(config.programs.hooks().len() as u64);
    for Hook { bank, address, ends_step, calls } in config.programs.hooks() {
        writer.u16(*bank);
        writer.u16(*address);
        writer.u8(u8::from(*ends_step));
        // The empty name stands for no function.
        writer.text(calls.as_deref().unwrap_or_default());
    }
    writer.floats(&config.weights);
    writer.u64(config.sticky.to_bits());
    writer.u32(config.noop_max);
    writer.u8(u8::from(config.pictures.is_some()));
    if let Some(pictures) = config.pictures {
        pictures.write(writer);
    }
}

/// Number of 0 bytes, which stands for no chance.
const NO_CHANCE: Chance = Chance { low: 0, width_bytes: 0 };

fn read_config(reader: &mut Reader<'_>) -> Result<SwarmConfig, SwarmError> {
    let num_envs = usize::try_from(reader.u64()?)
        .map_err(|_| CHECKPOINT.damaged("it has too many machines"))?;
    let codec = Codec::by_name(reader.text()?)?;
    let schedule = Schedule::new(reader.u32()?, reader.u32()?)?;
    let stage = reader.text()?.parse();
    let stage = stage.map_err(|_| CHECKPOINT.damaged("its stage is unknown"))?;
    let draw_last = reader.flag()?;
    let power_on = reader.text()?.parse();
    let power_on = power_on.map_err(|_| CHECKPOINT.damaged("its memory at power-on is unknown"))?;
    let sound = reader.flag()?;
    let recompile = reader.text()?.parse();
    let recompile = recompile.map_err(|_| CHECKPOINT.damaged("its use of blocks is unknown"))?;
    let link = reader.text()?.parse();
    let link = link.map_err(|_| CHECKPOINT.damaged("its link is unknown"))?;
    let (address, width) = (reader.u16()?, reader.u8()?);
    let chance =
        Chance { low: u32::from(width >> 2) << 16 | u32::from(address), width_bytes: width & 3 };
    let threads = NonZeroUsize::new(usize::from(reader.u16()?));
    let (reward, obs, count) = (read_text(reader)?, read_text(reader)?, reader.u64()?);
    let mut hooks = Vec::new();
    for _ in 0..count {
        let (bank, address) = (reader.u16()?, reader.u16()?);
        let (ends_step, calls) = (reader.flag()?, reader.text()?);
        let calls = (!calls.is_empty()).then(|| calls.to_owned());
        hooks.push(Hook { bank, address, ends_step, calls });
    }
    let programs = Programs::with_hooks(reward, obs, hooks)?;
    let chance = (chance != NO_CHANCE).then_some(chance);
    let (mut sticky, mut noop_max, mut pictures, mut weights) = (0.0, 0, None, Vec::new());
    if reader.version() > 4 {
        weights = reader.floats()?;
        (sticky, noop_max) = (f64::from_bits(reader.u64()?), reader.u32()?);
        pictures = reader.flag()?.then(|| PictureStack::read(reader)).transpose()?;
    }
    Ok(SwarmConfig {
        num_envs,
        codec,
        schedule,
        stage,
        programs,
        draw_last,
        weights,
        pictures,
        sticky,
        noop_max,
        chance,
        power_on,
        sound,
        threads,
        recompile,
        link,
    })
}

fn read_text(reader: &mut Reader<'_>) -> Result<ProgramText, SwarmError> {
    let (name, text, count) = (reader.text()?, reader.text()?, reader.u64()?);
    let mut files = Vec::new();
    for _ in 0..count {
        files.push((reader.text()?.to_owned(), reader.text()?.to_owned()));
    }
    let program = ProgramText::with_files(name, text, files);
    let mut labels = Vec::new();
    let count = if reader.version() > 4 { reader.u64()? } else { 0 };
    for _ in 0..count {
        labels.push((reader.text()?, reader.u32()?));
    }
    Ok(program.with_labels(labels))
}
