//! `gbxcule demo`: the first ten minutes. Measures speeds, draws a picture, and suggests the next
//! commands.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use gbxcule_files::check_writable;
use gbxcule_lab::action_source::ActionSource;
use gbxcule_lab::artifact::{RomImage, write_json, write_whole};
use gbxcule_lab::bench::{self, BenchPlan};
use gbxcule_lab::{BackendConfig, report};
use gbxcule_runtime::Device;
use gbxcule_swarm::{Model, Rom, Schedule, Stage, SwarmConfig, program};
use serde_json::Value;

use crate::device::DeviceOption;
use crate::driver::{DriveSettings, Driver};
use crate::film::REAL_FRAMES_PER_S;
use crate::picture::{Mosaic, Palette};
use crate::print::say;
use crate::run_options::ModelOption;
use crate::{progress, rom_image};

/// Greatest number of machines in the picture; fewer if they would leave its last row unfilled.
const MAX_SHOWN: usize = 48;
/// Steps before the picture, after which all machines look different.
const STEPS_TO_PICTURE: u64 = 45;

/// Commands that the demo suggests at its end, each with its purpose.
const NEXT: [(&str, &str); 4] = [
    ("play", "the game in the browser, with your keyboard"),
    ("watch", "the swarm live: click a machine, pause, step, take its controls"),
    ("record --out runs/swarm.gif", "an animation of sixteen machines"),
    ("doctor", "what else this computer can run, and what is missing for it"),
];

/// Run the swarm on a built-in game for some seconds; print a throughput table, and draw machines
/// that play the built-in games: seven on the original, all eight on a Color
#[derive(Args)]
#[command(
    after_long_help = "FILES\n  mosaic.png, scaling.png, summary.md and demo.json in the folder"
)]
pub(crate) struct Demo {
    /// A game or micro-ROM by name (see `gbxcule roms`), or a ROM file
    #[arg(long, value_name = "ROM", default_value = "PEARL_DRIFT")]
    rom: String,

    #[command(flatten)]
    device: DeviceOption,

    #[command(flatten)]
    model: ModelOption,

    /// Numbers of machines to measure; by default 1,8,64,512, on a GPU 64,1024,8192,32768
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', allow_hyphen_values = true)]
    env_counts: Vec<usize>,

    /// Folder for pictures and tables
    #[arg(long, value_name = "DIR", default_value = "runs/demo")]
    out: PathBuf,
}

impl Demo {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let rom = rom_image::find(&self.rom)?;
        let schedule = Schedule::default();
        self.device.check()?;
        let figures = self.out.join("demo.json");
        check_writable(&figures).with_context(|| format!("--out: {}", figures.display()))?;
        let device = self.device.device;
        let place = match device {
            Device::Cpu => "this computer's CPU".to_owned(),
            Device::Cuda(_) => format!("the GPU `{device}`"),
        };
        say!(
            "A swarm of Game Boys plays {}: random buttons, {} frames a step, on {place}.\n",
            rom.name,
            schedule.frames_per_step()
        );
        let artifact = self.measure(&rom, schedule)?;
        write_json(&figures, &artifact)?;
        let report = report::write(&self.out)?;
        let mosaic = self.out.join("mosaic.png");
        let (shown, picture) = self.picture(&rom, schedule)?;
        write_whole(&mosaic, &picture)?;

        print_table(&artifact);
        let (command, words) = gbxcule_lab::command::typed();
        let command = format!("{} {words}", gbxcule_files::shell_word(command.as_ref()));
        let command = command.trim_end();
        say!("\npicture of {shown} machines   {}", mosaic.display());
        say!("speed as a plot          {}", report.plot.display());
        say!("all figures              {}", report.summary.display());
        say!("\nNow try");
        for (verb, what) in NEXT {
            say!("  {command} {verb:27}  {what}");
        }
        Ok(true)
    }

    fn env_counts(&self) -> Vec<usize> {
        match self.device.device {
            _ if !self.env_counts.is_empty() => self.env_counts.clone(),
            Device::Cpu => vec![1, 8, 64, 512],
            Device::Cuda(_) => vec![64, 1024, 8192, 32768],
        }
    }

    fn measure(&self, rom: &RomImage, schedule: Schedule) -> anyhow::Result<Value> {
        let config = BackendConfig {
            cuda: self.device.cuda(),
            schedule,
            stage: Stage::FullStep,
            model: self.model.model_of(&rom.name)?,
            ..BackendConfig::new(rom.clone())
        };
        let plan = BenchPlan {
            backends: vec![self.device.backend()],
            config,
            env_counts: self.env_counts(),
            most_pyboy_envs: 0,
            steps: 1_000_000,
            longest_window: Duration::from_millis(500),
            warmup_steps: 2,
            repeats: 3,
            sync_every: bench::SYNC_EVERY,
            action_gen: ActionSource::Random,
            actions_seed: 0,
            experiment: None,
        };
        let bar = progress::bar(0, "windows");
        let mut show = |progress: bench::Progress| {
            bar.set_length(progress.of as u64);
            bar.set_position(progress.done as u64);
            bar.set_message(format!("{} machines", progress.num_envs));
        };
        let mut whole = Value::Null;
        bench::run(&plan, &mut show, &mut |artifact| {
            whole = artifact.clone();
            Ok(())
        })?;
        bar.finish_and_clear();
        Ok(whole)
    }

    /// Returns the number and the picture of machines that play the ROM. If the ROM is a game, the
    /// picture has all games for the model, with a column for each.
    fn picture(&self, rom: &RomImage, schedule: Schedule) -> anyhow::Result<(usize, Vec<u8>)> {
        let model = self.model.model_of(&rom.name)?;
        let is_shown = |name: &&str| {
            model == Some(Model::Color)
                || gbxcule_assembler::all().iter().any(|rom| rom.name == *name)
        };
        let games: Vec<&str> = program::games().map(|game| game.0).filter(is_shown).collect();
        let roms: Vec<RomImage> = match games.contains(&rom.name.as_str()) {
            true => games.into_iter().map(RomImage::find).collect::<Result<_, _>>()?,
            false => vec![rom.clone()],
        };
        let count = MAX_SHOWN / roms.len();
        // The kernel of this stage is compiled already, for the table.
        let config = SwarmConfig { schedule, stage: Stage::FullStep, ..SwarmConfig::new(count) };
        let drive = DriveSettings { config, action_source: ActionSource::Random, seed: 0 };
        let columns = (roms.len() > 1).then_some(roms.len());
        let shown = count * roms.len();
        let mut mosaic = Mosaic::new(shown, columns, 1)?;
        for (column, rom) in roms.iter().enumerate() {
            let rom = Rom::for_model(&rom.bytes, model)?;
            let mut driver = Driver::new(rom, drive.clone(), self.device.device)?;
            while driver.steps_done() < STEPS_TO_PICTURE {
                driver.finish_step(driver.steps_done() + 1 == STEPS_TO_PICTURE)?;
            }
            let mut place = column;
            driver.pictures(&(0..count).collect::<Vec<_>>(), |picture| {
                mosaic.place(place, picture);
                place += roms.len();
            })?;
        }
        Ok((shown, mosaic.png(Palette::Green.into())?))
    }
}

fn print_table(artifact: &Value) {
    say!("{:>9}  {:>13}  {:>13}  {:>12}", "machines", "frames/s", "x real time", "env-steps/s");
    for result in artifact["results"].as_array().into_iter().flatten() {
        let number = |field: &str| result[field].as_f64().unwrap_or(f64::NAN);
        say!(
            "{:>9}  {:>13}  {:>13}  {:>12}",
            report::thousands(number("num_envs")),
            report::thousands(number("frames_per_s")),
            report::thousands(number("frames_per_s") / REAL_FRAMES_PER_S),
            report::thousands(number("env_steps_per_s")),
        );
    }
}
