//! MP4 files, made by an installed `ffmpeg` that gets the pictures while they come.
//!
//! The file appears under its name when it is whole. What ffmpeg says goes into our message.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

use crate::picture::{Mosaic, Palette};

/// One a frame of the machine, in 4,194,304ths of a second.
const FRAME_TICKS: u32 = 70_224;
const TICKS_PER_S: u32 = 4_194_304;

/// A file under way.
pub(crate) struct Video {
    ffmpeg: Child,
    colours: [u8; 15],
    out: PathBuf,
    part: PathBuf,
}

impl Video {
    /// Pictures of this size, one in so many frames of the machines.
    pub(crate) fn start(
        out: &Path,
        (width, height): (usize, usize),
        palette: Palette,
        every: u32,
    ) -> anyhow::Result<Self> {
        if let Some(folder) = out.parent() {
            fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        let part = out.with_extension("mp4.part");
        let rate = format!("{TICKS_PER_S}/{}", u64::from(FRAME_TICKS) * u64::from(every));
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.args(["-hide_banner", "-loglevel", "error", "-y", "-f", "rawvideo"]);
        ffmpeg.args(["-pixel_format", "rgb24", "-video_size", &format!("{width}x{height}")]);
        ffmpeg.args(["-framerate", &rate, "-i", "-"]);
        // Players want halved colours, and these want even sides.
        ffmpeg.args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"]);
        ffmpeg.args(["-c:v", "libx264", "-crf", "16", "-movflags", "+faststart", "-f", "mp4"]);
        ffmpeg.arg(&part).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let ffmpeg = match ffmpeg.spawn() {
            Ok(ffmpeg) => ffmpeg,
            Err(error) if error.kind() == ErrorKind::NotFound => bail!(
                "`ffmpeg` makes .mp4 files, and it is not installed (Debian: `apt-get install ffmpeg`); .gif and .png \
                 need nothing"
            ),
            Err(error) => return Err(error).context("starting ffmpeg"),
        };
        Ok(Self { ffmpeg, colours: palette.rgb(), out: out.to_owned(), part })
    }

    /// The next picture.
    pub(crate) fn push(&mut self, picture: &Mosaic) -> anyhow::Result<()> {
        let colour = |pixel: &u8| self.colours[usize::from(*pixel) * 3..][..3].to_vec();
        let pixels: Vec<u8> = picture.pixels.iter().flat_map(colour).collect();
        let pipe = self.ffmpeg.stdin.as_mut().context("ffmpeg's input is open until the end")?;
        match pipe.write_all(&pixels) {
            Ok(()) => Ok(()),
            // It has ended, and says itself why.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.end(),
            Err(error) => Err(error).context("giving ffmpeg a picture"),
        }
    }

    /// The file, whole; how many bytes it has.
    pub(crate) fn finish(mut self) -> anyhow::Result<u64> {
        self.end()?;
        fs::rename(&self.part, &self.out)
            .with_context(|| format!("writing {}", self.out.display()))?;
        Ok(fs::metadata(&self.out).with_context(|| format!("{}", self.out.display()))?.len())
    }

    fn end(&mut self) -> anyhow::Result<()> {
        drop(self.ffmpeg.stdin.take());
        let mut said = String::new();
        if let Some(mut stderr) = self.ffmpeg.stderr.take() {
            // What is no text is no message either.
            let _ = std::io::Read::read_to_string(&mut stderr, &mut said);
        }
        let status = self.ffmpeg.wait().context("waiting for ffmpeg")?;
        if status.success() && said.trim().is_empty() {
            return Ok(());
        }
        bail!("ffmpeg made no video ({status}): {}", said.trim())
    }
}

impl Drop for Video {
    fn drop(&mut self) {
        // Nothing of it is left if it was given up; if it is whole there is nothing left to end.
        let _ = self.ffmpeg.kill();
        let _ = self.ffmpeg.wait();
        let _ = fs::remove_file(&self.part);
    }
}
