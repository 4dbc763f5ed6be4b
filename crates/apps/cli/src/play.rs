//! `gbxcule play`: one machine in the browser, its buttons on the keyboard (keys:
//! `watch/page/buttons.js`).

use std::path::PathBuf;

use clap::Args;
use gbxcule_lab::action_source::ActionSource;
use gbxcule_runtime::Device;
use gbxcule_swarm::{Schedule, Stage, SwarmConfig};

use crate::device::DeviceOption;
use crate::driver::DriveSettings;
use crate::picture::Curve;
use crate::run_options::{ConsoleOption, LinkOption, ProgramOptions, StartOption, SymbolsOption};
use crate::watch::battery_file::BatteryFile;
use crate::watch::game_level::LevelOption;
use crate::watch::game_record::Kept;
use crate::watch::{Mode, PageAddress, Start, driver, show};

/// Play one machine in the browser, at the speed of a real one
///
/// Arrows steer, X is A, Z or Y is B, Enter is START, Backspace is SELECT; the page also has
/// buttons for touch screens, and a switch for sound. It is the page of `gbxcule watch` with one
/// machine.
///
/// With `--link pairs` two people play on two machines with a cable, each on a separate page.
#[derive(Args)]
#[command(after_long_help = "\
EXAMPLES
  gbxcule play
  gbxcule play --rom game.gb --port 9000
  gbxcule play --rom game.gb --state town.state
  gbxcule play --rom game.gb --battery game.sav
  gbxcule play --rom EMBER_LEAP --record games.jsonl && gbxcule judge games.jsonl
  gbxcule play --rom EMBER_LEAP --level 200 --record games.jsonl
  gbxcule play --link pairs
  gbxcule play --reward task.py --frames-per-step 24")]
pub(crate) struct Play {
    /// A game or micro-ROM by name (see `gbxcule roms`), or a ROM file
    #[arg(long, value_name = "ROM", default_value = "PEARL_DRIFT")]
    rom: String,

    /// Begin paused, until a viewer presses run
    #[arg(long)]
    paused: bool,

    /// Frames of one step, after which the programs run
    #[arg(long, value_name = "N", default_value_t = 1)]
    frames_per_step: u32,

    #[command(flatten)]
    device: DeviceOption,

    #[command(flatten)]
    model: ConsoleOption,

    #[command(flatten)]
    link: LinkOption,

    /// How a Color's colours are shown
    #[arg(long, value_enum, default_value_t)]
    curve: Curve,

    #[command(flatten)]
    place: PageAddress,

    #[command(flatten)]
    symbols: SymbolsOption,

    #[command(flatten)]
    programs: ProgramOptions,

    #[command(flatten)]
    start: StartOption,

    /// File for the cartridge's battery-backed memory: read at the start if it exists, written
    /// while you play
    #[arg(long, value_name = "FILE.sav", conflicts_with_all = ["state", "link", "level"])]
    battery: Option<PathBuf>,

    #[command(flatten)]
    level: LevelOption,

    /// Record each game of a built-in game, from power-on or its level's beginning to its end, as
    /// buttons in this file, for `gbxcule judge`; a reset on the page begins the next game
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "state", "boot_rom", "link", "battery", "frames_per_step", "model",
    ])]
    record: Option<PathBuf>,
}

impl Play {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let is_paired = self.link.is_paired();
        let config = SwarmConfig {
            schedule: Schedule::new(self.frames_per_step, self.frames_per_step)?,
            stage: Stage::RewardOnly,
            link: self.link.link,
            ..SwarmConfig::new(if is_paired { 2 } else { 1 })
        };
        let action_source = ActionSource::Hold("NOOP".to_owned());
        let drive = DriveSettings { config, action_source, seed: 0 };
        let symbols = self.symbols.text(Some(&self.rom))?;
        let mut drive = drive.with_programs(self.programs.programs_with(&symbols)?);
        drive.config.sound = self.device.device == Device::Cpu
            && !is_paired
            && !drive.config.programs.needs_single_frames();
        let Self { curve, paused, .. } = self;
        let device = self.device.device;
        let (name, mut driver) = driver(&self.rom, &self.model, &self.start, drive, device)?;
        let battery = self.battery.map(|path| BatteryFile::inserted(&path, &mut driver));
        let battery = battery.transpose()?;
        let record = self.record.as_deref();
        let (levels, record) = self.level.begin(&self.rom, record, Kept::All, &mut driver)?;
        let (running, mode) = (!paused, Mode::Play);
        let start =
            Start { speed: 1.0, running, mode, curve, heatmap: None, battery, record, levels };
        show(&name, driver, start, &symbols, &self.place)
    }
}
