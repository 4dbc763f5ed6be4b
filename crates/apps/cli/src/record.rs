//! `gbxcule record`: writes chosen machines as an animation, a video, or a picture of their end.

use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use clap::Args;
use gbxcule_files::check_writable;
use gbxcule_lab::artifact::write_whole;
use gbxcule_runtime::Device;
use gbxcule_sound::{sample_rate, wav};
use gbxcule_swarm::{BORDERED_HEIGHT, BORDERED_WIDTH, HEIGHT, WIDTH};

use crate::device::DeviceOption;
use crate::driver::{DriveSettings, Driver};
use crate::film::{FilmClock, check_gif_rate};
use crate::gif::Animation;
use crate::mp4::Video;
use crate::picture::{Curve, Mosaic, Palette, Screen};
use crate::print::say;
use crate::run_options::{ConsoleOption, LinkOption, RunOptions, StartOption};
use crate::{progress, rom_image};

/// Greatest number of steps, which take days.
const MAX_STEPS: u64 = 1_000_000_000;
/// Greatest number of frames of a film: some five hours of a machine's time.
const MAX_FRAMES: u64 = 1 << 20;

/// Record machines as a GIF or an MP4, their last picture as a PNG, or one machine's sound as a WAV
///
/// Several machines are shown side by side. An MP4 of one machine on the CPU has sound. Equal ROMs,
/// actions and seeds give equal files on every device.
#[derive(Args)]
#[command(after_long_help = "\
EXAMPLES
  gbxcule record --out swarm.gif
  gbxcule record --num-envs 64 --envs 0,5,9 --steps 50 --scale 2 --out three.gif
  gbxcule record --every 1 --steps 100 --scale 2 --out smooth.mp4
  gbxcule record --num-envs 1 --steps 100 --out tune.wav
  gbxcule record --num-envs 1 --rom game.gb --model sgb --border --steps 60 --out border.png
  gbxcule record --num-envs 18 --columns 6 --steps 60 --out mosaic.png")]
pub(crate) struct Record {
    /// A game or micro-ROM by name (see `gbxcule roms`), or a ROM file
    #[arg(long, value_name = "ROM", default_value = "PEARL_DRIFT")]
    rom: String,

    /// Number of machines; by default as many as `--envs` needs, without `--envs` 16
    #[arg(long, value_name = "N")]
    num_envs: Option<usize>,

    /// Machines to show, by number from 0; by default all
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', allow_hyphen_values = true)]
    envs: Vec<usize>,

    #[command(flatten)]
    device: DeviceOption,

    #[command(flatten)]
    model: ConsoleOption,

    #[command(flatten)]
    link: LinkOption,

    /// Steps to record
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=MAX_STEPS))]
    steps: u64,

    /// Steps that run before the recording
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MAX_STEPS))]
    skip_steps: u64,

    /// Frames of one step; by default 24, or the number of a built-in game's environments
    #[arg(long, value_name = "N")]
    frames_per_step: Option<u32>,

    /// Show one in N frames; by default one in 4, which makes 15 pictures a second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    every: Option<u32>,

    /// Machines in a row of the picture; by default the picture is nearly square
    #[arg(long, value_name = "N")]
    columns: Option<usize>,

    /// Enlarge every pixel to this number of pixels in both directions; by default 1
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..=8))]
    scale: Option<u32>,

    /// Colours of the original's screens; by default green
    #[arg(long, value_enum)]
    palette: Option<Palette>,

    /// How a Color's colours are shown; by default raw
    #[arg(long, value_enum)]
    curve: Option<Curve>,

    /// Draw a Super Game Boy's border around each picture
    #[arg(long)]
    border: bool,

    /// The file, *.gif, *.png, *.wav, or, with ffmpeg installed, *.mp4
    #[arg(long, value_name = "FILE", default_value = "runs/record.gif")]
    out: PathBuf,

    #[command(flatten)]
    run: RunOptions,

    #[command(flatten)]
    start: StartOption,
}

/// Format of the file.
#[derive(Debug, Clone, Copy)]
enum FileFormat {
    Png,
    Gif,
    Mp4,
    Wav,
}

impl Record {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let format = self.format()?;
        self.check_envs()?;
        self.check_pictures(format)?;
        let steps = self.run.steps_of(&self.rom, self.frames_per_step)?;
        self.check_length(format, steps.1.frames_per_step())?;
        let image = rom_image::find(&self.rom)?;
        let shown = if self.envs.is_empty() { self.num_envs() } else { self.envs.len() };
        let has_sound = self.check_sound(format, shown)?;
        let rom = self.start.boot(self.model.rom(&image)?)?;
        let mut drive = DriveSettings::new(&self.run, self.num_envs(), steps);
        (drive.config.sound, drive.config.link) = (has_sound, self.link.link);
        let tile = if self.border { [BORDERED_WIDTH, BORDERED_HEIGHT] } else { [WIDTH, HEIGHT] };
        let scale = self.scale.unwrap_or(1) as usize;
        let mut mosaic = Mosaic::of_tiles(tile, shown, self.columns, scale)?;
        let mut driver = Driver::new(rom, drive, self.device.device)?;
        self.start.load_state(&mut driver)?;
        self.start.begin_game(&self.rom, &self.model, &mut driver)?;
        let envs = self.shown_envs();
        let screen = Screen {
            palette: self.palette.unwrap_or(Palette::Green),
            curve: self.curve.unwrap_or_default(),
        };
        check_writable(&self.out).with_context(|| format!("writing {}", self.out.display()))?;
        let mut text = format!("{} x {} pixels", mosaic.width, mosaic.height);
        let bytes = match format {
            FileFormat::Png => {
                self.run_to_end(&mut driver)?;
                draw(&mut mosaic, &driver, &envs)?;
                self.write(&mosaic.png(screen)?)?
            }
            FileFormat::Gif => self.write_gif(&mut driver, &mut mosaic, &envs, screen)?,
            FileFormat::Mp4 => {
                let size = (mosaic.width, mosaic.height);
                let mut video = Video::start(&self.out, size, screen, self.every())?;
                let mut samples = Vec::new();
                let sound = has_sound.then_some(&mut samples);
                self.show(&mut driver, &mut mosaic, &envs, sound, |picture, _| {
                    video.push(picture)
                })?;
                video.finish(has_sound.then(|| wav(&samples)).as_deref())?
            }
            FileFormat::Wav => {
                let samples = self.listen(&mut driver, envs[0])?;
                text = format!("{:.1} s", samples.len() as f64 / f64::from(sample_rate()));
                self.write(&wav(&samples))?
            }
        };
        say!("{}: {text}, {} KiB", self.out.display(), bytes.div_ceil(1024));
        Ok(true)
    }

    /// Returns the format of the file, by its name.
    fn format(&self) -> anyhow::Result<FileFormat> {
        Ok(match self.out.extension().and_then(|extension| extension.to_str()) {
            Some("gif") => {
                check_gif_rate(self.every())?;
                FileFormat::Gif
            }
            Some("mp4") => FileFormat::Mp4,
            Some("png") => FileFormat::Png,
            Some("wav") => FileFormat::Wav,
            _ => bail!("--out takes a .gif, an .mp4, a .png or a .wav, not {}", self.out.display()),
        })
    }

    /// Returns true if the file gets the sound of one machine on the CPU. Refuses a .wav of several
    /// machines, or of a device.
    fn check_sound(&self, format: FileFormat, shown: usize) -> anyhow::Result<bool> {
        match format {
            FileFormat::Wav => {
                ensure!(
                    shown == 1,
                    "a .wav is the sound of one machine; choose it by --envs, such as --envs 0"
                );
                ensure!(
                    !self.link.is_paired(),
                    "machines with a cable have no sound, for now; a .wav needs --link open"
                );
                Ok(true)
            }
            FileFormat::Mp4 => {
                Ok(shown == 1 && self.device.device == Device::Cpu && !self.link.is_paired())
            }
            FileFormat::Png | FileFormat::Gif => Ok(false),
        }
    }

    fn write_gif(
        &self,
        driver: &mut Driver,
        mosaic: &mut Mosaic,
        envs: &[usize],
        screen: Screen,
    ) -> anyhow::Result<u64> {
        let mut animation = Animation::new((mosaic.width, mosaic.height), screen)?;
        let end_s =
            self.show(driver, mosaic, envs, None, |picture, at_s| animation.push(picture, at_s))?;
        self.write(&animation.finish(end_s)?)
    }

    fn num_envs(&self) -> usize {
        let needed = self.envs.iter().max().map_or(16, |last| last.saturating_add(1));
        let needed = if self.link.is_paired() { needed.next_multiple_of(2) } else { needed };
        self.num_envs.unwrap_or(needed)
    }

    fn check_envs(&self) -> anyhow::Result<()> {
        let num_envs = self.num_envs();
        ensure!(num_envs > 0, "--num-envs takes at least one machine");
        if let Some(env) = self.envs.iter().find(|env| **env >= num_envs) {
            bail!(
                "--envs names env {env}; {num_envs} machines have the envs 0 to {}",
                num_envs - 1
            );
        }
        Ok(())
    }

    fn every(&self) -> u32 {
        self.every.unwrap_or(4)
    }

    /// Refuses options about pictures for a file without pictures.
    fn check_pictures(&self, format: FileFormat) -> anyhow::Result<()> {
        let of_films = [("--every", self.every.is_some())];
        let of_pictures = [
            ("--columns", self.columns.is_some()),
            ("--scale", self.scale.is_some()),
            ("--palette", self.palette.is_some()),
            ("--curve", self.curve.is_some()),
            ("--border", self.border),
        ];
        let is_given = |options: &[(&'static str, bool)]| {
            options.iter().find(|(_, given)| *given).map(|(name, _)| *name)
        };
        match format {
            FileFormat::Gif | FileFormat::Mp4 => {}
            FileFormat::Png => {
                if let Some(name) = is_given(&of_films) {
                    bail!("{name} is for films, and a .png is the last picture: leave it out");
                }
            }
            FileFormat::Wav => {
                if let Some(name) = is_given(&of_films).or(is_given(&of_pictures)) {
                    bail!("{name} is for pictures, and a .wav is sound: leave it out");
                }
            }
        }
        Ok(())
    }

    /// Refuses films of more than `MAX_FRAMES` frames; a still may come after any number of frames.
    fn check_length(&self, format: FileFormat, frames_per_step: u32) -> anyhow::Result<()> {
        let frames = self.steps * u64::from(frames_per_step);
        ensure!(
            matches!(format, FileFormat::Png) || frames <= MAX_FRAMES,
            "{} steps of {} frames would make a film of {frames} frames, and at most {MAX_FRAMES} are recorded",
            self.steps,
            frames_per_step
        );
        let is_film = matches!(format, FileFormat::Gif | FileFormat::Mp4);
        ensure!(
            !is_film || frames == 0 || frames >= self.every().into(),
            "{} steps of {} frames end before the first picture, which is that of frame {}: lower --every",
            self.steps,
            frames_per_step,
            self.every()
        );
        Ok(())
    }

    fn shown_envs(&self) -> Vec<usize> {
        if self.envs.is_empty() { (0..self.num_envs()).collect() } else { self.envs.clone() }
    }

    fn run_to_end(&self, driver: &mut Driver) -> anyhow::Result<()> {
        let end = self.skip_steps + self.steps;
        run_steps(driver, end, |driver| {
            driver.finish_step(driver.steps_done() + 1 == end)?;
            Ok(())
        })
    }

    /// Returns the sound of a machine from the first recorded step to the last.
    fn listen(&self, driver: &mut Driver, env: usize) -> anyhow::Result<Vec<[i16; 2]>> {
        let mut samples = Vec::new();
        run_steps(driver, self.skip_steps + self.steps, |driver| {
            driver.finish_step(false)?;
            if driver.steps_done() > self.skip_steps {
                samples.extend_from_slice(driver.samples(env)?);
            }
            Ok(())
        })?;
        Ok(samples)
    }

    /// Passes each picture, with its time in seconds, to a function, and adds the first machine's
    /// samples to `sound`; returns the time at which the film ends.
    fn show(
        &self,
        driver: &mut Driver,
        mosaic: &mut Mosaic,
        envs: &[usize],
        mut sound: Option<&mut Vec<[i16; 2]>>,
        mut see: impl FnMut(&Mosaic, f64) -> anyhow::Result<()>,
    ) -> anyhow::Result<f64> {
        let mut clock = FilmClock::new(self.every());
        run_steps(driver, self.skip_steps + self.steps, |driver| {
            if driver.steps_done() < self.skip_steps {
                driver.finish_step(false)?;
                return Ok(());
            }
            let frames = driver.advance(clock.frames_to_picture(), true)?;
            // A step's samples are complete at its end.
            if let (Some(sound), 0) = (&mut sound, driver.frames_done()) {
                sound.extend_from_slice(driver.samples(envs[0])?);
            }
            if let Some(at_s) = clock.add(frames) {
                draw(mosaic, driver, envs)?;
                see(mosaic, at_s)?;
            }
            Ok(())
        })?;
        Ok(clock.end_s())
    }

    fn write(&self, bytes: &[u8]) -> anyhow::Result<u64> {
        write_whole(&self.out, bytes)?;
        Ok(bytes.len() as u64)
    }
}

/// Calls a function, which runs a step or a part of one, until `steps` steps are done.
fn run_steps(
    driver: &mut Driver,
    steps: u64,
    mut advance: impl FnMut(&mut Driver) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let bar = progress::bar(steps, "steps");
    while driver.steps_done() < steps {
        advance(driver)?;
        bar.set_position(driver.steps_done());
    }
    bar.finish_and_clear();
    Ok(())
}

/// Draws the present pictures of all shown machines.
fn draw(mosaic: &mut Mosaic, driver: &Driver, envs: &[usize]) -> anyhow::Result<()> {
    if mosaic.has_borders() {
        for (place, &env) in envs.iter().enumerate() {
            mosaic.place_colors(place, &driver.bordered_picture(env)?);
        }
        return Ok(());
    }
    let mut place = 0;
    driver.pictures(envs, |picture| {
        mosaic.place(place, picture);
        place += 1;
    })?;
    Ok(())
}
