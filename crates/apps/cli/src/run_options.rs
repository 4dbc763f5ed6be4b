//! Options of all verbs that step machines.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use gbxcule_lab::action_source::ActionSource;
use gbxcule_lab::artifact::RomImage;
use gbxcule_swarm::game_start::{self, Title};
use gbxcule_swarm::{
    Codec, LinkMode, Model, PowerOnChoice, ProgramText, Programs, Recompile, Revision, Rom,
    Schedule, Stage, in_bank,
};

use crate::driver::Driver;
use crate::watch::memory_search;

/// Options about how machines are driven.
#[derive(Args)]
#[command(next_help_heading = "How machines are driven")]
pub(crate) struct RunOptions {
    /// Frames for which a step presses the action's buttons; its other frames run without buttons.
    /// By default 8; `watch` and `record` take a built-in game's own number
    #[arg(long, value_name = "N")]
    release_after_frames: Option<u32>,

    /// Buttons of each action: full_v1, pokemonred_puffer_v1, pad_v1, buttons_v1, or your own
    /// table, such as A,B,A+RIGHT,NOOP; A:4 presses A for 4 frames (docs/python.md). By default
    /// full_v1; `watch` and `record` take a built-in game's own table
    #[arg(long, value_name = "NAME|TABLE", value_parser = codec)]
    codec: Option<Codec>,

    /// Source of the actions: random, cycle, noop, or hold:ACTION
    #[arg(long, value_name = "SOURCE", default_value = "random")]
    pub(crate) action_gen: ActionSource,

    /// Seed of the actions; equal seeds give equal actions on every backend
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) actions_seed: u64,

    /// Outputs that a step computes: none (emulate_only), the reward (reward_only), the observation
    /// (obs_only), or both (full_step)
    #[arg(long, value_name = "STAGE", default_value = "emulate_only")]
    pub(crate) stage: Stage,

    /// Interpret every instruction instead of compiling the ROM's frequent code
    #[arg(long)]
    pub(crate) no_recompile: bool,
}

impl RunOptions {
    /// Returns the setting for code made for the ROM.
    pub(crate) fn recompile(&self) -> Recompile {
        if self.no_recompile { Recompile::Off } else { Recompile::default() }
    }

    /// Returns the codec and the schedule of steps of `frames_per_step` frames, for all ROMs alike.
    pub(crate) fn steps(&self, frames_per_step: u32) -> anyhow::Result<(Codec, Schedule)> {
        let codec = self.codec.clone().unwrap_or_default();
        self.action_gen.check(&codec).map_err(anyhow::Error::msg)?;
        let press = self.release_after_frames.unwrap_or(Schedule::default().release_after_frames());
        Ok((codec, Schedule::new(frames_per_step, press)?))
    }

    /// Returns the codec and the schedule for a ROM: what was left out is as in the environments of
    /// a built-in game. The press keeps its share of the step.
    pub(crate) fn steps_of(
        &self,
        rom: &str,
        frames_per_step: Option<u32>,
    ) -> anyhow::Result<(Codec, Schedule)> {
        let Some(game) = game_start::game(rom) else {
            return self.steps(frames_per_step.unwrap_or(Schedule::default().frames_per_step()));
        };
        let codec = self.codec.clone().map_or_else(|| Codec::by_name(game.actions), Ok)?;
        self.action_gen.check(&codec).map_err(anyhow::Error::msg)?;
        let frames = frames_per_step.unwrap_or(game.frames_per_step);
        let share = u64::from(game.release_after_frames) * u64::from(frames);
        let share = share.div_ceil(game.frames_per_step.into()) as u32;
        let press = self.release_after_frames.unwrap_or(share);
        Ok((codec, Schedule::new(frames, press)?))
    }
}

/// The model of the machines.
#[derive(Args)]
pub(crate) struct ModelOption {
    /// Model of the machines: the original (dmg), the Color (cgb), or auto: the Color only for
    /// programs that need it
    #[arg(long, value_enum, default_value_t)]
    model: ModelChoice,
}

/// Refuses an original Game Boy for a built-in game that needs a Color.
fn check_color_game(rom: &str, is_original: bool) -> anyhow::Result<()> {
    let needs_color = game_start::game(rom).is_some_and(|game| game.is_for_color);
    ensure!(!(needs_color && is_original), "{rom} is a Color game: leave --model out");
    Ok(())
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ModelChoice {
    #[default]
    Auto,
    Dmg,
    Cgb,
}

impl ModelOption {
    /// Returns the model for a ROM; `None` lets the program decide.
    pub(crate) fn model_of(&self, rom: &str) -> anyhow::Result<Option<Model>> {
        check_color_game(rom, self.model == ModelChoice::Dmg)?;
        Ok(match self.model {
            ModelChoice::Auto => None,
            ModelChoice::Dmg => Some(Model::Original),
            ModelChoice::Cgb => Some(Model::Color),
        })
    }
}

/// The console of watched machines: a model, or a revision of one.
#[derive(Args)]
pub(crate) struct ConsoleOption {
    /// Console of the machines: an original (dmg, dmg-b, mgb, sgb, sgb2), a Color (cgb, cgb-c,
    /// cgb-e), or auto: the Color only for programs that need it (docs/cartridges.md)
    #[arg(long, default_value = "auto", value_parser = console_names())]
    model: String,
}

fn console_names() -> PossibleValuesParser {
    PossibleValuesParser::new(std::iter::once("auto").chain(Revision::names()))
}

impl ConsoleOption {
    /// Reads a program for the console.
    pub(crate) fn rom(&self, image: &RomImage) -> anyhow::Result<Rom> {
        let is_original = self.model != "auto" && !self.model.starts_with("cgb");
        check_color_game(&image.name, is_original)?;
        Ok(Rom::for_console(&image.bytes, &self.model)?)
    }
}

/// Cables between the machines.
#[derive(Args)]
pub(crate) struct LinkOption {
    /// Cables: none (open), or one between machines 2i and 2i + 1 (pairs), without sound
    /// (docs/link.md)
    #[arg(long, value_name = "open|pairs", default_value = "open")]
    pub(crate) link: LinkMode,
}

impl LinkOption {
    /// Returns true if each machine has a partner.
    pub(crate) fn is_paired(&self) -> bool {
        self.link == LinkMode::Pairs
    }
}

/// Options about the start of the machines.
#[derive(Args)]
pub(crate) struct StartOption {
    /// Begin in this boot ROM, at 0000, instead of at its end; the file has 256 bytes, for a Color
    /// 2304
    #[arg(long, value_name = "FILE", conflicts_with = "state")]
    boot_rom: Option<PathBuf>,

    /// Begin in this saved state instead of at power-on: a file of gbxcule, of PyBoy, or in the
    /// format BESS
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
}

impl StartOption {
    /// Puts the boot ROM before a program.
    pub(crate) fn boot(&self, rom: Rom) -> anyhow::Result<Rom> {
        let Some(path) = &self.boot_rom else { return Ok(rom) };
        let shown = || format!("--boot-rom {}", path.display());
        let bytes = gbxcule_files::read(path, MAX_BOOT_ROM_BYTES).with_context(shown)?;
        rom.with_boot_rom(&bytes).with_context(shown)
    }

    /// Sets all machines to the start.
    pub(crate) fn load_state(&self, driver: &mut Driver) -> anyhow::Result<()> {
        let Some(path) = &self.state else { return Ok(()) };
        let shown = || format!("--state {}", path.display());
        let state = gbxcule_files::read(path, MAX_STATE_BYTES).with_context(shown)?;
        driver.restart_from(&[&state], 0).with_context(shown)
    }

    /// Sets machines with a built-in game behind its title, as its environments begin, unless an
    /// option says where they begin, or a cable lets the title call the other machine.
    pub(crate) fn begin_game(
        &self,
        rom: &str,
        console: &ConsoleOption,
        driver: &mut Driver,
    ) -> anyhow::Result<()> {
        let is_elsewhere = self.state.is_some() || self.boot_rom.is_some();
        let is_paired = driver.config().link == LinkMode::Pairs;
        match game_start::game(rom) {
            Some(game) if game.has_title && !is_elsewhere && !is_paired => {
                let built_in = gbxcule_assembler::by_name(game.name).context("no such ROM")?;
                let rom = Rom::for_console(built_in.bytes(), &console.model)?;
                let title = Title::new(game, rom, PowerOnChoice::default(), 0)?;
                let starts = title.starts()?;
                let starts: Vec<&[u8]> = starts.iter().map(Vec::as_slice).collect();
                Ok(driver.restart_from(&starts, 0)?)
            }
            _ => Ok(()),
        }
    }
}

/// Greatest size in bytes at which a file is read as a boot ROM; the ROM's own check of its size
/// follows.
const MAX_BOOT_ROM_BYTES: u64 = 1 << 16;

/// Option about the labels of the search of memory.
#[derive(Args)]
pub(crate) struct SymbolsOption {
    /// Labels for the search of memory and for programs; by default the labels of a built-in ROM,
    /// or of the .sym file beside the ROM
    #[arg(long, value_name = "FILE.sym")]
    symbols: Option<PathBuf>,
}

impl SymbolsOption {
    /// Returns the text with the labels of a ROM, given by a built-in name or a file.
    pub(crate) fn text(&self, rom: Option<&str>) -> anyhow::Result<String> {
        let read = |path: &Path| {
            let bytes = gbxcule_files::read(path, MAX_SYMBOLS_BYTES);
            let bytes = bytes.with_context(|| format!("the labels of {}", path.display()))?;
            anyhow::Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        if let Some(path) = &self.symbols {
            return read(path);
        }
        let Some(rom) = rom else { return Ok(String::new()) };
        if let Some(rom) = gbxcule_assembler::by_name(rom) {
            return Ok(rom.rom().symbol_listing());
        }
        let beside = Path::new(rom).with_extension("sym");
        if beside.is_file() { read(&beside) } else { Ok(String::new()) }
    }
}

/// Greatest size of a file of labels in bytes.
const MAX_SYMBOLS_BYTES: u64 = 1 << 24;

/// Greatest size of a saved state in bytes: more than any machine has.
const MAX_STATE_BYTES: u64 = 1 << 24;

/// Options about the programs that run after each step, in stages that compute a reward or an
/// observation.
#[derive(Args)]
#[command(next_help_heading = "Reward and observation")]
pub(crate) struct ProgramOptions {
    /// The reward: reward_v0, a built-in game's name, or your own program with `reward` and an
    /// optional `done` (docs/programs.md)
    #[arg(long, value_name = "NAME|FILE.py", default_value = "reward_v0")]
    reward: String,

    /// The observation: obs_v0, a built-in game's name, or your own program with `observe`
    #[arg(long, value_name = "NAME|FILE.py", default_value = "obs_v0")]
    obs: String,
}

impl ProgramOptions {
    pub(crate) fn programs(&self) -> anyhow::Result<Programs> {
        Ok(Programs::find(&self.reward, &self.obs)?)
    }

    /// Returns the programs, which may write the labels of a `.sym` text in quotes.
    pub(crate) fn programs_with(&self, symbols: &str) -> anyhow::Result<Programs> {
        let place = |(bank, address, label)| {
            let has_banks = matches!(address, 0x4000..0xC000 | 0xD000..0xE000);
            // Some linkers write bank 0 for all of a ROM of 32 KiB.
            let is_mapped = !has_banks || bank == 0 && address < 0x8000;
            (label, if is_mapped { u32::from(address) } else { in_bank(bank, address) })
        };
        let text = |name: &str| {
            let labels = memory_search::symbols(symbols).map(place);
            anyhow::Ok(ProgramText::find(name)?.with_labels(labels))
        };
        Ok(Programs::new(text(&self.reward)?, text(&self.obs)?)?)
    }

    /// Returns the programs; the stage must run them.
    pub(crate) fn of_stage(&self, stage: Stage) -> anyhow::Result<Programs> {
        let programs = self.programs()?;
        ensure!(
            stage != Stage::EmulateOnly || programs.is_built_in(),
            "--reward and --obs run in the stages reward_only, obs_only and full_step: add --stage full_step"
        );
        Ok(programs)
    }
}

/// Greatest number of threads or processes: more than any computer has cores.
const MAX_WORKERS: usize = 1024;

/// Reads a number of threads or processes.
pub(crate) fn workers(text: &str) -> Result<NonZeroUsize, String> {
    let wrong = || format!("it is not between 1 and {MAX_WORKERS}");
    let workers: NonZeroUsize = text.parse().map_err(|_| wrong())?;
    if workers.get() <= MAX_WORKERS { Ok(workers) } else { Err(wrong()) }
}

fn codec(name: &str) -> Result<Codec, String> {
    Codec::by_name(name).map_err(|error| error.to_string())
}
