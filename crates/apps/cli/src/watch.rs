//! `gbxcule watch`, with the live view that `gbxcule play` and learners in Python share.
//!
//! The page is part of the binary, and views are sent over a WebSocket on the same port. The swarm
//! runs on the main thread (`session`; `live_view` for learners) and never waits for a browser.
//! Each browser has a thread (`viewer`), which asks for the next view when the browser has drawn
//! the last one. `viewers` serves the threads in turn, `server_message` defines the messages,
//! `server` decides who may connect, `tile` makes small pictures.

pub(crate) mod battery_file;
mod connection;
mod deadline_stream;
pub(crate) mod game_level;
pub(crate) mod game_record;
pub(crate) mod heatmap;
mod http;
pub(crate) mod memory_filter;
pub(crate) mod memory_search;
pub(crate) mod meter;
mod page;
mod queued_pieces;
pub(crate) mod request;
pub(crate) mod server;
pub(crate) mod server_message;
mod session;
pub(crate) mod sound_queue;
pub(crate) mod statistics;
pub(crate) mod swarm_channel;
mod tile;
pub(crate) mod viewer;
pub(crate) mod viewers;

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use gbxcule_runtime::Device;
use gbxcule_swarm::Swarm;

use crate::device::DeviceOption;
use crate::driver::{DriveSettings, Driver};
use crate::picture::Curve;
use crate::print::{self, say};
use crate::rom_image;
use crate::run_options::{
    ConsoleOption, LinkOption, ProgramOptions, RunOptions, StartOption, SymbolsOption,
};
use game_level::LevelOption;
use game_record::Kept;
use heatmap::Coordinates;
use request::Rights;
pub(crate) use server_message::Mode;
use server_message::SwarmDescription;
pub(crate) use session::Start;
use viewer::FirstMessage;

/// Watch a swarm in the browser while it runs
///
/// The command prints an address and opens no browser. Click a machine to enlarge it, pause, step,
/// change the speed, take its controls. The swarm runs at its own pace; a slow browser only sees
/// fewer pictures.
#[derive(Args)]
#[command(mut_arg("stage", |stage| stage.default_value("reward_only")), after_long_help = "\
EXAMPLES
  gbxcule watch
  gbxcule watch --num-envs 4096 --port 9000
  gbxcule watch --num-envs 16384 --device cuda
  gbxcule watch --rom game.gb --frames-per-step 4 --action-gen hold:RIGHT
  gbxcule watch --reward task.py --obs task.py
  gbxcule watch --rom game.gb --state town.state
  gbxcule watch --rom EMBER_LEAP --level 200 --record games.jsonl && gbxcule judge games.jsonl
  gbxcule watch --checkpoint swarm.ckpt --speed 1")]
pub(crate) struct Watch {
    /// A game or micro-ROM by name (see `gbxcule roms`), or a ROM file
    #[arg(long, value_name = "ROM", default_value = "PEARL_DRIFT")]
    rom: String,

    /// Number of machines
    #[arg(long, value_name = "N", default_value_t = 64)]
    num_envs: usize,

    /// Frames of one step; by default 24, or the number of a built-in game's environments
    #[arg(long, value_name = "N")]
    frames_per_step: Option<u32>,

    #[command(flatten)]
    device: DeviceOption,

    #[command(flatten)]
    model: ConsoleOption,

    #[command(flatten)]
    link: LinkOption,

    /// How a Color's colours are shown
    #[arg(long, value_enum, default_value_t)]
    curve: Curve,

    /// Speed at the start, as a multiple of a real machine's; 0 for full speed
    #[arg(long, value_name = "TIMES", default_value_t = 0.0, value_parser = speed)]
    speed: f64,

    /// Begin paused, until a viewer presses run
    #[arg(long)]
    paused: bool,

    /// Show a map of the places that machines reach, by the addresses of x and y (one or two bytes
    /// each), such as a hero's coordinates in C006,C007
    #[arg(long, value_name = "X,Y")]
    heatmap: Option<Coordinates>,

    #[command(flatten)]
    place: PageAddress,

    #[command(flatten)]
    symbols: SymbolsOption,

    #[command(flatten)]
    run: RunOptions,

    #[command(flatten)]
    programs: ProgramOptions,

    #[command(flatten)]
    start: StartOption,

    #[command(flatten)]
    level: LevelOption,

    /// Record each game in which somebody takes the controls, from its level's beginning to its
    /// end, as buttons in this file, for `gbxcule judge`; the game includes what the actions press
    /// before and after
    #[arg(long, value_name = "FILE", requires = "level")]
    record: Option<PathBuf>,

    /// Continue a swarm that `env.checkpoint` saved, with its ROM, machines, codec, frames and
    /// programs
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "rom", "num_envs", "link", "frames_per_step", "release_after_frames", "codec", "stage", "reward", "obs", "state", "model",
        "no_recompile", "boot_rom", "level",
    ])]
    checkpoint: Option<PathBuf>,
}

/// Options about the address of the page.
#[derive(Args)]
pub(crate) struct PageAddress {
    /// Port of the page; 0 takes a free one
    #[arg(long, value_name = "P", default_value_t = 8117)]
    port: u16,

    /// Address to listen on. With 127.0.0.1 only this computer can connect; with others, viewers
    /// need the token in the printed address
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
}

fn speed(text: &str) -> Result<f64, String> {
    let times = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    request::check_speed(times)?;
    Ok(times)
}

impl Watch {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let heatmap = self.heatmap.clone();
        let Self { speed, curve, .. } = self;
        let (running, mode, battery) = (!self.paused, Mode::Watch, None);
        let mut start =
            Start { speed, running, mode, curve, heatmap, battery, record: None, levels: None };
        if let Some(path) = &self.checkpoint {
            let (name, driver) = self.restored(path)?;
            let labels = self.symbols.text(None)?;
            return show(&name, driver, start, &labels, &self.place);
        }
        let steps = self.run.steps_of(&self.rom, self.frames_per_step)?;
        let drive = DriveSettings::new(&self.run, self.num_envs, steps);
        let symbols = self.symbols.text(Some(&self.rom))?;
        let mut drive = drive.with_programs(self.programs.programs_with(&symbols)?);
        drive.config.link = self.link.link;
        let device = self.device.device;
        let (name, mut driver) = driver(&self.rom, &self.model, &self.start, drive, device)?;
        self.start.begin_game(&self.rom, &self.model, &mut driver)?;
        let record = self.record.as_deref();
        (start.levels, start.record) =
            self.level.begin(&self.rom, record, Kept::Driven, &mut driver)?;
        show(&name, driver, start, &symbols, &self.place)
    }

    /// Returns the swarm of a checkpoint, and the file's name.
    fn restored(&self, path: &Path) -> anyhow::Result<(String, Driver)> {
        let shown = || format!("--checkpoint {}", path.display());
        let (magic, most) = (Swarm::CHECKPOINT_MAGIC, Swarm::MAX_CHECKPOINT_BYTES);
        let bytes = gbxcule_files::read_record(path, magic, most).with_context(shown)?;
        let RunOptions { action_gen, actions_seed, .. } = &self.run;
        let device = self.device.device;
        let driver = Driver::restored(&bytes, action_gen.clone(), *actions_seed, device);
        let driver = driver.with_context(shown)?;
        action_gen.check(&driver.config().codec).map_err(anyhow::Error::msg)?;
        Ok((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), driver))
    }
}

/// Makes the swarm at its start, and returns it with its ROM's name.
pub(crate) fn driver(
    rom: &str,
    model: &ConsoleOption,
    start: &StartOption,
    drive: DriveSettings,
    device: Device,
) -> anyhow::Result<(String, Driver)> {
    let image = rom_image::find(rom)?;
    let rom = start.boot(model.rom(&image)?)?;
    let mut driver = Driver::new(rom, drive, device)?;
    start.load_state(&mut driver)?;
    Ok((image.name, driver))
}

/// Serves the page, with the labels of a `.sym` text, and runs the swarm until Ctrl-C.
pub(crate) fn show(
    name: &str,
    driver: Driver,
    start: Start,
    labels: &str,
    place: &PageAddress,
) -> anyhow::Result<bool> {
    let (num_envs, device) = (driver.num_envs(), driver.device());
    let config = driver.config();
    let hello = SwarmDescription {
        mode: start.mode,
        rom: name,
        num_envs,
        device,
        schedule: config.schedule,
        codec: &config.codec,
        actions: driver.action_source().to_string(),
        seed: driver.seed(),
        sound: config.sound,
        has_map: start.heatmap.is_some(),
        hands: true,
        labels: &memory_search::labels(labels, driver.swarm().rom()),
    };
    let welcome = FirstMessage { hello: hello.text(), rights: Rights::All };
    let server = server::Server::bind(place.host, place.port)?;
    let what = match start.mode {
        _ if num_envs == 1 && start.mode != Mode::Play => {
            format!("watching one machine with {name}")
        }
        Mode::Play => format!("playing {name}"),
        _ => format!("watching {num_envs} machines with {name}"),
    };
    let place = if device == Device::Cpu { String::new() } else { format!(" on {device}") };
    say!("{what}{place}: {}   (Ctrl-C ends)", server.url());
    let is_super = driver.swarm().rom().revision().is_super();
    if start.mode == Mode::Play && (num_envs == 2 || is_super) {
        say!("the other player: {}", server.other_players_url());
    }
    print::output_failure().context("telling where the page is")?;
    let (from_viewers, _open) = server.start(welcome)?;
    session::Session::new(driver, start).run(&from_viewers)?;
    Ok(true)
}
