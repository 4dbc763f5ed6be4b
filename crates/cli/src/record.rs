//! `gbxcule record`: chosen machines as an animation or a video, or as a picture of their end.

use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use clap::Args;
use gbxcule_lab::artifact::{RomImage, write_whole};
use gbxcule_runtime::Device;
use gbxcule_sound::{sample_rate, wav};
use gbxcule_swarm::Rom;

use crate::device::DeviceOption;
use crate::driver::{DriveSettings, Driver, REAL_FRAMES_PER_S};
use crate::gif::Animation;
use crate::mp4::Video;
use crate::picture::{Curve, Mosaic, Palette, Screen};
use crate::print::say;
use crate::progress;
use crate::run_options::{LinkOption, ModelOption, RunOptions, StartOption};

/// Steps, at most: days of any swarm.
const MOST_STEPS: u64 = 1_000_000_000;
/// Frames of a film, at most: some five hours of a machine's time.
const MOST_FRAMES: u64 = 1 << 20;

/// Record machines as a GIF or an MP4, their last picture as a PNG, or one machine's sound as a WAV
///
/// Several machines are shown side by side. An MP4 of one machine, run on the CPU, has its sound.
/// Equal ROMs, actions and seeds give equal files, on every device.
#[derive(Args)]
#[command(after_long_help = "\
EXAMPLES
  gbxcule record --out swarm.gif
  gbxcule record --num-envs 64 --envs 0,5,9 --steps 50 --scale 2 --out three.gif
  gbxcule record --every 1 --steps 100 --scale 2 --out smooth.mp4
  gbxcule record --num-envs 1 --steps 100 --out tune.wav
  gbxcule record --num-envs 18 --columns 6 --steps 60 --out mosaic.png")]
pub(crate) struct Record {
    /// A micro-ROM by name (see `gbxcule roms`) or a ROM file
    #[arg(long, value_name = "ROM", default_value = "PEARL_DRIFT")]
    rom: String,

    /// Machines that run; by default as many as --envs needs, else 16
    #[arg(long, value_name = "N")]
    num_envs: Option<usize>,

    /// Machines to show; by default all of them
    #[arg(long, value_name = "N,N,...", value_delimiter = ',')]
    envs: Vec<usize>,

    #[command(flatten)]
    device: DeviceOption,

    #[command(flatten)]
    model: ModelOption,

    #[command(flatten)]
    cable: LinkOption,

    /// Steps to record
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=MOST_STEPS))]
    steps: u64,

    /// Steps that run before, unrecorded
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=MOST_STEPS))]
    skip_steps: u64,

    /// Frames of one step
    #[arg(long, value_name = "N", default_value_t = 24)]
    frames_per_step: u32,

    /// Show one in N frames of the machines: 4 makes 15 pictures a second
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,

    /// Machines in a row
    #[arg(long, value_name = "N")]
    columns: Option<usize>,

    /// Enlarge every pixel
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=8))]
    scale: u32,

    /// The colours of the screens
    #[arg(long, value_enum, default_value_t = Palette::Green)]
    palette: Palette,

    /// Display of a Color's colours
    #[arg(long, value_enum, default_value_t)]
    curve: Curve,

    /// The file, *.gif, *.png, *.wav, or, with ffmpeg installed, *.mp4
    #[arg(long, value_name = "FILE", default_value = "runs/record.gif")]
    out: PathBuf,

    #[command(flatten)]
    run: RunOptions,

    #[command(flatten)]
    begins: StartOption,
}

/// Format of the file.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Still,
    Gif,
    Mp4,
    Wav,
}

impl Record {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let kind = self.kind()?;
        self.check_envs()?;
        self.check_length(kind)?;
        let image = RomImage::find(&self.rom)
            .context("--rom takes a micro-ROM's name (see `gbxcule roms`) or a ROM file")?;
        let shown = if self.envs.is_empty() { self.num_envs() } else { self.envs.len() };
        let has_sound = self.has_sound(kind, shown)?;
        let rom = Rom::for_model(&image.bytes, self.model.model())?;
        let drive = DriveSettings::new(&self.run, self.frames_per_step)?;
        let drive = DriveSettings { sound: has_sound, link: self.cable.link, ..drive };
        let mut mosaic = Mosaic::new(shown, self.columns, self.scale as usize)?;
        let mut driver = Driver::new(rom, self.num_envs(), drive, self.device.device)?;
        self.begins.put(&mut driver)?;
        let envs = self.shown_envs();
        let screen = Screen { palette: self.palette, curve: self.curve };
        let bytes = match kind {
            Kind::Still => {
                self.run_to_end(&mut driver)?;
                draw(&mut mosaic, &driver, &envs)?;
                self.write(&mosaic.png(screen)?)?
            }
            Kind::Gif => self.write_gif(&mut driver, &mut mosaic, &envs, screen)?,
            Kind::Mp4 => {
                let size = (mosaic.width, mosaic.height);
                let mut video = Video::start(&self.out, size, screen, self.every)?;
                let mut samples = Vec::new();
                let sound = has_sound.then_some(&mut samples);
                self.show(&mut driver, &mut mosaic, &envs, sound, |picture, _| {
                    video.push(picture)
                })?;
                video.finish(has_sound.then(|| wav(&samples)).as_deref())?
            }
            Kind::Wav => {
                let samples = self.listen(&mut driver, envs[0])?;
                let bytes = self.write(&wav(&samples))?;
                let seconds = samples.len() as f64 / f64::from(sample_rate());
                say!("{}: {seconds:.1} s, {} KiB", self.out.display(), bytes.div_ceil(1024));
                return Ok(true);
            }
        };
        say!(
            "{}: {} x {} pixels, {} KiB",
            self.out.display(),
            mosaic.width,
            mosaic.height,
            bytes.div_ceil(1024)
        );
        Ok(true)
    }

    /// The format that the file's name asks for.
    fn kind(&self) -> anyhow::Result<Kind> {
        Ok(match self.out.extension().and_then(|extension| extension.to_str()) {
            Some("gif") if self.every == 1 => {
                bail!(
                    "a GIF shows 50 pictures a second at most; give it --every 2, or make an .mp4"
                )
            }
            Some("gif") => Kind::Gif,
            Some("mp4") => Kind::Mp4,
            Some("png") => Kind::Still,
            Some("wav") => Kind::Wav,
            _ => bail!("--out takes a .gif, an .mp4, a .png or a .wav, not {}", self.out.display()),
        })
    }

    /// Returns true if the file has sound: that of one machine on the CPU.
    fn has_sound(&self, kind: Kind, shown: usize) -> anyhow::Result<bool> {
        match kind {
            Kind::Wav => {
                ensure!(
                    shown == 1,
                    "a .wav is the sound of one machine; choose it by --envs, such as --envs 0"
                );
                ensure!(
                    !self.cable.is_paired(),
                    "machines with a cable have no sound, for now; a .wav needs --link open"
                );
                Ok(true)
            }
            Kind::Mp4 => {
                Ok(shown == 1 && self.device.device == Device::Cpu && !self.cable.is_paired())
            }
            Kind::Still | Kind::Gif => Ok(false),
        }
    }

    fn write_gif(
        &self,
        driver: &mut Driver,
        mosaic: &mut Mosaic,
        envs: &[usize],
        screen: Screen,
    ) -> anyhow::Result<u64> {
        let mut animation = None;
        let frames = self.show(driver, mosaic, envs, None, |picture, at_s| {
            match &mut animation {
                None => animation = Some(Animation::new(picture, screen)?),
                Some(animation) => animation.push(picture, at_s)?,
            }
            Ok(())
        })?;
        let animation = animation.context("a picture was shown")?;
        self.write(&animation.finish(moment(frames))?)
    }

    fn num_envs(&self) -> usize {
        let needed = self.envs.iter().max().map_or(16, |last| last.saturating_add(1));
        let needed = if self.cable.is_paired() { needed.next_multiple_of(2) } else { needed };
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

    /// A still picture may be of any moment.
    fn check_length(&self, kind: Kind) -> anyhow::Result<()> {
        let frames = self.steps * u64::from(self.frames_per_step);
        ensure!(
            matches!(kind, Kind::Still) || frames <= MOST_FRAMES,
            "{} steps of {} frames would make a film of {frames} frames, and at most {MOST_FRAMES} are recorded",
            self.steps,
            self.frames_per_step
        );
        Ok(())
    }

    fn shown_envs(&self) -> Vec<usize> {
        if self.envs.is_empty() { (0..self.num_envs()).collect() } else { self.envs.clone() }
    }

    fn run_to_end(&self, driver: &mut Driver) -> anyhow::Result<()> {
        let end = self.skip_steps + self.steps;
        let bar = progress::bar(end, "steps");
        while driver.step() < end {
            driver.finish_step(driver.step() + 1 == end)?;
            bar.set_position(driver.step());
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// The sound of a machine from the first step that is recorded to the last.
    fn listen(&self, driver: &mut Driver, env: usize) -> anyhow::Result<Vec<[i16; 2]>> {
        let end = self.skip_steps + self.steps;
        let bar = progress::bar(end, "steps");
        let mut samples = Vec::new();
        while driver.step() < end {
            driver.finish_step(false)?;
            if driver.step() > self.skip_steps {
                samples.extend_from_slice(driver.samples(env)?);
            }
            bar.set_position(driver.step());
        }
        bar.finish_and_clear();
        Ok(samples)
    }

    /// Passes each picture and its moment to a function, and adds the first machine's samples to
    /// `sound`; returns the frame after which the last picture ends.
    fn show(
        &self,
        driver: &mut Driver,
        mosaic: &mut Mosaic,
        envs: &[usize],
        mut sound: Option<&mut Vec<[i16; 2]>>,
        mut see: impl FnMut(&Mosaic, f64) -> anyhow::Result<()>,
    ) -> anyhow::Result<u32> {
        let end = self.skip_steps + self.steps;
        let bar = progress::bar(end, "steps");
        while driver.step() < self.skip_steps {
            driver.finish_step(false)?;
            bar.set_position(driver.step());
        }
        let mut frames = 0;
        while driver.step() < end {
            frames += driver.advance(self.every - frames % self.every, true)?;
            bar.set_position(driver.step());
            // A step's samples are whole where the next one begins.
            if let (Some(sound), 0) = (&mut sound, driver.frame()) {
                sound.extend_from_slice(driver.samples(envs[0])?);
            }
            if frames.is_multiple_of(self.every) {
                draw(mosaic, driver, envs)?;
                see(mosaic, moment(frames - self.every))?;
            }
        }
        bar.finish_and_clear();
        ensure!(
            frames >= self.every,
            "{} steps end before the first picture; lower --every",
            self.steps
        );
        Ok(frames)
    }

    fn write(&self, bytes: &[u8]) -> anyhow::Result<u64> {
        write_whole(&self.out, bytes)?;
        Ok(bytes.len() as u64)
    }
}

/// Returns the moment at which the picture after so many frames appears; the first one appears at
/// once.
fn moment(frames: u32) -> f64 {
    f64::from(frames) / REAL_FRAMES_PER_S
}

/// All shown machines' present pictures.
fn draw(mosaic: &mut Mosaic, driver: &Driver, envs: &[usize]) -> anyhow::Result<()> {
    let mut place = 0;
    driver.pictures(envs, |picture| {
        mosaic.place(place, picture);
        place += 1;
    })?;
    Ok(())
}
