//! `gbxcule play`: one machine in the browser, its buttons on the keyboard (keys:
//! `watch/page/buttons.js`).

use std::path::PathBuf;

use clap::Args;
use gbxcule_lab::action_source::ActionSource;
use gbxcule_runtime::Device;
use gbxcule_swarm::{Codec, Programs, Recompile, Schedule, Stage};

use crate::device::DeviceOption;
use crate::driver::DriveSettings;
use crate::picture::Curve;
use crate::run_options::{LinkOption, ModelOption, ProgramOptions, StartOption};
use crate::watch::battery_file::BatteryFile;
use crate::watch::{Mode, PageAddress, Start, driver, show};

/// Play one machine in the browser, at the speed of a real one
///
/// Arrows steer, X is A, Z or Y is B, Enter is START, Backspace is SELECT; there are buttons to
/// touch as well, and one for sound. It is the page of `gbxcule watch` with one machine.
///
/// With `--link pairs` two play, each on a machine and a page of its own; a cable joins them.
#[derive(Args)]
#[command(after_long_help = "\
EXAMPLES
  gbxcule play
  gbxcule play --rom game.gb --port 9000
  gbxcule play --rom game.gb --state town.state
  gbxcule play --rom game.gb --battery game.sav
  gbxcule play --link pairs
  gbxcule play --reward task.py --frames-per-step 24")]
pub(crate) struct Play {
    /// A micro-ROM by name (see `gbxcule roms`) or a ROM file
    #[arg(long, value_name = "ROM", default_value = "PEARL_DRIFT")]
    rom: String,

    /// Wait until a viewer presses run
    #[arg(long)]
    paused: bool,

    /// Frames of one step, after which the programs run
    #[arg(long, value_name = "N", default_value_t = 1)]
    frames_per_step: u32,

    #[command(flatten)]
    device: DeviceOption,

    #[command(flatten)]
    model: ModelOption,

    #[command(flatten)]
    cable: LinkOption,

    /// Display of a Color's colours
    #[arg(long, value_enum, default_value_t)]
    curve: Curve,

    #[command(flatten)]
    place: PageAddress,

    #[command(flatten)]
    programs: ProgramOptions,

    #[command(flatten)]
    begins: StartOption,

    /// Keep what the cartridge keeps by its battery: read from this file if it is there, written to
    /// it while you play
    #[arg(long, value_name = "FILE.sav", conflicts_with_all = ["state", "link"])]
    battery: Option<PathBuf>,
}

impl Play {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let drive = DriveSettings {
            codec: Codec::FULL_V1,
            schedule: Schedule::new(self.frames_per_step, self.frames_per_step)?,
            action_gen: ActionSource::Hold("NOOP".to_owned()),
            seed: 0,
            stage: Stage::RewardOnly,
            programs: Programs::default(),
            sound: false,
            recompile: Recompile::default(),
            link: self.cable.link,
        };
        let drive = drive.with(self.programs.programs()?);
        let is_paired = self.cable.is_paired();
        let sound = self.device.device == Device::Cpu
            && !is_paired
            && !drive.programs.needs_single_frames();
        let drive = DriveSettings { sound, ..drive };
        let Self { curve, paused, .. } = self;
        let num_envs = if is_paired { 2 } else { 1 };
        let (name, mut driver) =
            driver(&self.rom, &self.model, num_envs, drive, self.device.device)?;
        self.begins.put(&mut driver)?;
        let battery = self.battery.map(|path| BatteryFile::inserted(&path, &mut driver));
        let battery = battery.transpose()?;
        let (running, mode) = (!paused, Mode::Play);
        let start = Start { speed: 1.0, running, mode, curve, heatmap: None, battery };
        show(&name, driver, start, &self.place)
    }
}
