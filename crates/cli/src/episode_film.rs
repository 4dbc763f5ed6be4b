//! Films of episodes that have been played: a machine of the same swarm plays them once more.
//!
//! A machine is determined by its state and its actions, so only these are kept while a swarm
//! trains, and nothing is drawn.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use gbxcule_lab::artifact::write_whole;
use gbxcule_runtime::Device;
use gbxcule_swarm::{EnvStates, FrameRange, Swarm, SwarmConfig};

use crate::driver::REAL_FRAMES_PER_S;
use crate::gif::Animation;
use crate::mp4::Video;
use crate::picture::{Mosaic, Palette};

/// Enlargements, at most.
const MOST_TIMES: usize = 8;

/// An episode of one machine.
#[derive(Debug, Clone, Copy)]
pub struct Episode<'a> {
    /// The machine's state as the episode began.
    pub state: &'a [u8],
    /// The action of each step.
    pub actions: &'a [u8],
}

/// Plays an episode once more and writes it as a `.gif` or, with ffmpeg installed, as an `.mp4`:
/// one in `every` frames, each pixel enlarged `scale` times. Calls `go_on` after each step of the
/// episode; if it returns false, nothing is written, and the result is false.
///
/// # Errors
/// The file cannot be written, ffmpeg is missing, or the state is none of this swarm's machines.
pub fn write(
    swarm: &Swarm,
    episode: Episode<'_>,
    out: &Path,
    every: u32,
    scale: usize,
    go_on: &mut dyn FnMut() -> bool,
) -> anyhow::Result<bool> {
    ensure!((1..=MOST_TIMES).contains(&scale), "pixels are enlarged 1 to {MOST_TIMES} times");
    ensure!(every > 0, "a film shows one in so many frames: 1 or more");
    let mut mosaic = Mosaic::new(1, None, scale)?;
    let size = (mosaic.width, mosaic.height);
    match out.extension().and_then(|extension| extension.to_str()) {
        Some("gif") => {
            ensure!(every > 1, "a GIF shows 50 pictures a second at most: one in 2 frames");
            let (mut animation, mut shown) = (None, 0);
            let is_whole = replay(swarm, episode, every, &mut mosaic, go_on, &mut |picture| {
                match &mut animation {
                    None => animation = Some(Animation::new(picture, Palette::Grey.into())?),
                    Some(animation) => animation.push(picture, moment(shown, every))?,
                }
                shown += 1;
                Ok(())
            })?;
            if !is_whole {
                return Ok(false);
            }
            let animation = animation.context("the episode has a step")?;
            write_whole(out, &animation.finish(moment(shown, every))?)?;
        }
        Some("mp4") => {
            let mut video = Video::start(out, size, Palette::Grey.into(), every)?;
            let see = &mut |picture: &Mosaic| video.push(picture);
            if !replay(swarm, episode, every, &mut mosaic, go_on, see)? {
                return Ok(false);
            }
            video.finish(None)?;
        }
        _ => bail!("a film is a .gif or an .mp4, not {}", out.display()),
    }
    Ok(true)
}

fn moment(shown: u32, every: u32) -> f64 {
    f64::from(shown) * f64::from(every) / REAL_FRAMES_PER_S
}

/// Passes one in `every` frames to a function, the last frame of each step among them, as long as
/// `go_on` returns true. Returns true if it played the whole episode.
fn replay(
    swarm: &Swarm,
    Episode { state, actions }: Episode<'_>,
    every: u32,
    mosaic: &mut Mosaic,
    go_on: &mut dyn FnMut() -> bool,
    see: &mut dyn FnMut(&Mosaic) -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    let config = SwarmConfig { num_envs: 1, threads: None, sound: false, ..swarm.config().clone() };
    let frames_per_step = config.schedule.frames_per_step();
    let mut one = Swarm::new(swarm.rom().clone(), config, Device::Cpu)?;
    one.import_state(0, state)?;
    for action in actions {
        if !go_on() {
            return Ok(false);
        }
        let mut first = 0;
        while first < frames_per_step {
            let end = (first + every).min(frames_per_step);
            one.step_frames(&[*action], &FrameRange { frames: first..end, draw_last: true })?;
            one.frames(&[0], |picture| mosaic.place(0, picture))?;
            see(mosaic)?;
            first = end;
        }
    }
    Ok(true)
}
