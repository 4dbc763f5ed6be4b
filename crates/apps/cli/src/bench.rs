//! `gbxcule bench`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::Args;
use gbxcule_files::check_writable;
use gbxcule_lab::artifact::{file_part, run_id, write_json};
use gbxcule_lab::bench::{self, BenchPlan};
use gbxcule_lab::{BackendConfig, BackendKind, experiments, report};

use crate::device::DeviceOption;
use crate::print::say;
use crate::run_options::{LinkOption, ModelOption, ProgramOptions, RunOptions, workers};
use crate::{progress, rom_image};

/// Greatest number of windows that a backend gets for one number of machines.
const MAX_REPEATS: i64 = 10_000;

/// Seconds of a day.
const MAX_WINDOW_S: f64 = 86_400.0;

/// Measure frames a second for several numbers of machines
///
/// A *window* is a timed run of some steps; the backends' windows alternate. Opening and the first
/// step are timed separately, and every backend is warmed up before its first window, so no window
/// contains a start or a compile. A window ends when the device has finished. A JSON file, written
/// after each number of machines, holds every window, the configuration and the system; the report
/// beside it has the speed-up table and the plot.
#[derive(Args)]
#[command(after_long_help = footer())]
pub(crate) struct Bench {
    /// A backend to measure; may be given several times, and the first is the baseline. By default
    /// the swarm on `--device`
    #[arg(long, value_name = "BACKEND")]
    backend: Vec<BackendKind>,

    #[command(flatten)]
    device: DeviceOption,

    #[command(flatten)]
    model: ModelOption,

    #[command(flatten)]
    link: LinkOption,

    /// A game or micro-ROM by name (see `gbxcule roms`), or a ROM file
    #[arg(long, value_name = "ROM", default_value = "ALU_LOOP")]
    rom: String,

    /// An experiment, E0 to E4, which sets ROM and stage; E0 also sets the frames of a step
    #[arg(long, value_name = "NAME", conflicts_with_all = ["rom", "stage"], value_parser = experiment)]
    experiment: Option<experiments::Experiment>,

    /// Numbers of machines to measure; by default 1,8,64,512,2048,8192, with `--link pairs` 2 in
    /// place of 1
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', allow_hyphen_values = true)]
    env_counts: Vec<usize>,

    /// Greatest number of machines for PyBoy: each takes megabytes
    #[arg(long, value_name = "N", default_value_t = 64)]
    most_pyboy_envs: usize,

    /// Steps of one window
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,

    /// End a window early after S seconds
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    longest_window: f64,

    /// Steps before the first window
    #[arg(long, value_name = "N", default_value_t = 5)]
    warmup_steps: u64,

    /// Windows of each backend for each number of machines; the median counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=MAX_REPEATS))]
    repeats: u32,

    /// Frames of one step
    #[arg(long, value_name = "N", default_value_t = 24)]
    frames_per_step: u32,

    /// Wait for the device after every K steps, or after fewer if steps are long; 0 waits only at
    /// the end of a window. Has no effect on CPU backends
    #[arg(long, value_name = "K", default_value_t = bench::SYNC_EVERY)]
    sync_every: u64,

    /// Draw the last frame of every step
    #[arg(long)]
    draw_last: bool,

    /// Threads or child processes; by default one for each core
    #[arg(long, value_name = "N", value_parser = workers)]
    workers: Option<NonZeroUsize>,

    /// Folder for artifact and report; by default runs/reports/ followed by the time
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    run: RunOptions,

    #[command(flatten)]
    programs: ProgramOptions,
}

fn experiment(name: &str) -> Result<experiments::Experiment, String> {
    experiments::by_name(name)
        .ok_or_else(|| format!("no experiment `{name}`; there are E0, E1, E2, E3, E4"))
}

/// Returns the first value that occurs twice, as text.
fn repeated<T: PartialEq + ToString>(values: &[T]) -> Option<String> {
    let mut others = values.iter().enumerate();
    let duplicate = others.find(|(at, value)| values[..*at].contains(value));
    duplicate.map(|(_, value)| value.to_string())
}

fn footer() -> String {
    let experiments = experiments::EXPERIMENTS
        .map(|experiment| format!("  {}  {}\n", experiment.name, experiment.question));
    format!(
        "EXPERIMENTS\n{}\nFILES\n  sweep-ROM-STAGE.json, summary.md, scaling.png in the report's folder\n\nEXAMPLES\n  \
         PyBoy at its best beside the swarm:\n    gbxcule bench --backend pyboy_vec_mp --backend warp_vec_cpu --rom \
         MEM_RWB --env-counts 1,8,64,512\n  The swarm on a GPU:\n    gbxcule bench --device cuda --env-counts \
         1,64,8192 --sync-every 64",
        experiments.concat()
    )
}

impl Bench {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let plan = self.plan()?;
        self.device.check_for(&plan.backends)?;
        let folder = self.out.clone();
        let folder = folder.unwrap_or_else(|| PathBuf::from("runs/reports").join(run_id("bench")));
        let name = plan.experiment.unwrap_or("sweep");
        let artifact_path = folder.join(format!(
            "{name}-{}-{}.json",
            file_part(&plan.config.rom.name),
            plan.config.stage
        ));
        ensure!(
            !artifact_path.exists(),
            "{} is there already: remove it, or name another folder by --out",
            artifact_path.display()
        );
        ensure!(
            folder.is_dir() || !folder.exists(),
            "--out names a folder, but {} is a file",
            folder.display()
        );
        check_writable(&artifact_path)
            .with_context(|| format!("--out: {}", artifact_path.display()))?;
        let bar = progress::bar(0, "windows");
        let mut show = |progress: bench::Progress| {
            bar.set_length(progress.of as u64);
            bar.set_position(progress.done as u64);
            bar.set_message(format!("{} x {}", progress.backend, progress.num_envs));
        };
        bench::run(&plan, &mut show, &mut |artifact| write_json(&artifact_path, artifact))?;
        bar.finish_and_clear();
        let report = report::write(&folder)?;
        say!("{}", report.text);
        say!("report: {}", folder.display());
        Ok(true)
    }

    fn env_counts(&self) -> Vec<usize> {
        if !self.env_counts.is_empty() {
            return self.env_counts.clone();
        }
        let fewest = if self.link.is_paired() { 2 } else { 1 };
        vec![fewest, 8, 64, 512, 2048, 8192]
    }

    fn plan(&self) -> anyhow::Result<BenchPlan> {
        let backends = if self.backend.is_empty() {
            vec![self.device.backend()]
        } else {
            self.backend.clone()
        };
        let rom = self.experiment.map_or(self.rom.as_str(), |experiment| experiment.rom);
        let frames = self.experiment.and_then(|experiment| experiment.frames_per_step);
        ensure!(
            (0.0..=MAX_WINDOW_S).contains(&self.longest_window),
            "--longest-window takes 0 to {MAX_WINDOW_S} seconds, not {}",
            self.longest_window
        );
        let env_counts = self.env_counts();
        let twice = repeated(&env_counts).or_else(|| repeated(&backends));
        if let Some(twice) = twice {
            bail!("{twice} is named twice: each backend and number of machines is measured once");
        }
        let longest_window = Duration::from_secs_f64(self.longest_window);
        let stage = self.experiment.map_or(self.run.stage, |experiment| experiment.stage);
        let (codec, schedule) = self.run.steps(frames.unwrap_or(self.frames_per_step))?;
        let config = BackendConfig {
            codec,
            schedule,
            stage,
            programs: self.programs.of_stage(stage)?,
            draw_last: self.draw_last,
            workers: self.workers,
            cuda: self.device.cuda(),
            recompile: self.run.recompile(),
            model: self.model.model_of(rom)?,
            link: self.link.link,
            ..BackendConfig::new(rom_image::find(rom)?)
        };
        Ok(BenchPlan {
            backends,
            config,
            env_counts,
            most_pyboy_envs: self.most_pyboy_envs,
            steps: self.steps,
            longest_window,
            warmup_steps: self.warmup_steps,
            repeats: self.repeats,
            sync_every: self.sync_every,
            action_gen: self.run.action_gen.clone(),
            actions_seed: self.run.actions_seed,
            experiment: self.experiment.map(|experiment| experiment.name),
        })
    }
}
