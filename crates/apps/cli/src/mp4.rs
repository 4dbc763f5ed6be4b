//! Writer of MP4 files by an installed `ffmpeg`, to which each picture is passed at once.
//!
//! The file appears under its name when it is complete. An error message contains ffmpeg's output.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use gbxcule_files::NewFile;
use gbxcule_sandbox::ChildGroup;

use crate::film::{FRAME_TCYCLES, TCYCLES_PER_S};
use crate::picture::{Mosaic, Screen};

/// Video that is being written.
pub(crate) struct Video {
    ffmpeg: ChildGroup,
    screen: Screen,
    out: PathBuf,
    /// Temporary file, removed when this value is dropped.
    file: NewFile,
}

impl Video {
    /// Starts a film of pictures of this size, one in `every` frames of the machines.
    pub(crate) fn start(
        out: &Path,
        (width, height): (usize, usize),
        screen: Screen,
        every: u32,
    ) -> anyhow::Result<Self> {
        let file = NewFile::create(out).with_context(|| format!("writing {}", out.display()))?;
        let rate = format!("{TCYCLES_PER_S}/{}", u64::from(FRAME_TCYCLES) * u64::from(every));
        let size = format!("{width}x{height}");
        let input = ["-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", &size];
        let mut ffmpeg = ffmpeg();
        ffmpeg.args(input).args(["-framerate", &rate, "-i", "-"]);
        // Players need yuv420p, which needs even sides.
        ffmpeg.args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"]);
        ffmpeg.args(["-c:v", "libx264", "-crf", "16"]);
        let ffmpeg = start(ffmpeg, &file)?;
        Ok(Self { ffmpeg, screen, out: out.to_owned(), file })
    }

    /// Adds the next picture.
    pub(crate) fn push(&mut self, picture: &Mosaic) -> anyhow::Result<()> {
        let color = |pixel: &u16| self.screen.color(*pixel);
        let pixels: Vec<u8> = picture.pixels.iter().flat_map(color).collect();
        self.give(&pixels).context("giving ffmpeg a picture")
    }

    /// Writes to ffmpeg's input.
    fn give(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let pipe =
            self.ffmpeg.child().stdin.as_mut().context("ffmpeg's input is open until the end")?;
        match pipe.write_all(bytes) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                // ffmpeg has ended; its message says why.
                self.end()?;
                bail!("ffmpeg ended before its input was complete")
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Completes the file, with the sound of a WAV file if there is one; returns its size in bytes.
    pub(crate) fn finish(mut self, wav: Option<&[u8]>) -> anyhow::Result<u64> {
        self.end()?;
        if let Some(wav) = wav {
            self.add_sound(wav)?;
        }
        self.file.commit().with_context(|| format!("writing {}", self.out.display()))?;
        Ok(fs::metadata(&self.out).with_context(|| format!("{}", self.out.display()))?.len())
    }

    /// Copies the pictures and adds the sound in another file, which replaces the first.
    fn add_sound(&mut self, wav: &[u8]) -> anyhow::Result<()> {
        let whole = NewFile::create(&self.out)
            .with_context(|| format!("writing {}", self.out.display()))?;
        let mut ffmpeg = ffmpeg();
        ffmpeg.arg("-i").arg(self.file.path());
        ffmpeg.args(["-f", "wav", "-i", "-", "-c:v", "copy", "-c:a", "aac", "-b:a", "160k"]);
        self.ffmpeg = start(ffmpeg, &whole)?;
        self.give(wav).context("giving ffmpeg the sound")?;
        self.end()?;
        self.file = whole;
        Ok(())
    }

    fn end(&mut self) -> anyhow::Result<()> {
        drop(self.ffmpeg.child().stdin.take());
        let mut complaint = String::new();
        if let Some(mut stderr) = self.ffmpeg.child().stderr.take() {
            // An unreadable message is left out.
            let _ = std::io::Read::read_to_string(&mut stderr, &mut complaint);
        }
        let status = self.ffmpeg.wait().context("waiting for ffmpeg")?;
        if status.success() && complaint.trim().is_empty() {
            return Ok(());
        }
        bail!("ffmpeg made no video ({status}): {}", complaint.trim())
    }
}

/// Returns the command with the arguments of all of its calls.
fn ffmpeg() -> Command {
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-hide_banner", "-loglevel", "error", "-y"]);
    ffmpeg
}

/// Starts the command, which writes an MP4 to this file.
fn start(mut ffmpeg: Command, file: &NewFile) -> anyhow::Result<ChildGroup> {
    ffmpeg.args(["-movflags", "+faststart", "-f", "mp4"]).arg(file.path());
    ffmpeg.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    match ChildGroup::spawn(&mut ffmpeg) {
        Ok(ffmpeg) => Ok(ffmpeg),
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "`ffmpeg` makes .mp4 files, and it is not installed (Debian: `apt-get install ffmpeg`); .gif and .png \
             need nothing"
        ),
        Err(error) => Err(error).context("starting ffmpeg"),
    }
}
