//! Films of finished episodes, which a new machine replays.
//!
//! A machine's state and actions determine its episode, so a training swarm stores only these, and
//! draws no pictures.

use std::path::Path;

use anyhow::{bail, ensure};
use gbxcule_lab::artifact::write_whole;
use gbxcule_runtime::Device;
use gbxcule_swarm::{FrameRange, Swarm, SwarmConfig};

use crate::film::{FilmClock, check_gif_rate};
use crate::gif::Animation;
use crate::mp4::Video;
use crate::picture::{Mosaic, Palette};

/// Greatest enlargement of a pixel.
const MAX_SCALE: usize = 8;

/// An episode of one machine.
#[derive(Debug, Clone, Copy)]
pub struct Episode<'a> {
    /// The machine's state as the episode began.
    pub state: &'a [u8],
    /// The action of each step.
    pub actions: &'a [u8],
}

/// Plays an episode again and writes it as a `.gif` or, with ffmpeg installed, as an `.mp4`: one in
/// `every` frames, each pixel enlarged `scale` times. Calls `go_on` after each step of the episode;
/// if it returns false, nothing is written, and the result is false.
///
/// # Errors
/// The file cannot be written, ffmpeg is missing, or the state belongs to another machine.
pub fn write(
    swarm: &Swarm,
    episode: Episode<'_>,
    out: &Path,
    every: u32,
    scale: usize,
    go_on: &mut dyn FnMut() -> bool,
) -> anyhow::Result<bool> {
    ensure!((1..=MAX_SCALE).contains(&scale), "pixels are enlarged 1 to {MAX_SCALE} times");
    ensure!(every > 0, "a film shows one in `every` frames: 1 or more");
    let mut mosaic = Mosaic::new(1, None, scale)?;
    let size = (mosaic.width, mosaic.height);
    match out.extension().and_then(|extension| extension.to_str()) {
        Some("gif") => {
            check_gif_rate(every)?;
            let mut animation = Animation::new(size, Palette::Grey.into())?;
            let see = &mut |picture: &Mosaic, at_s: f64| animation.push(picture, at_s);
            let Some(end_s) = replay(swarm, episode, every, &mut mosaic, go_on, see)? else {
                return Ok(false);
            };
            write_whole(out, &animation.finish(end_s)?)?;
        }
        Some("mp4") => {
            let mut video = Video::start(out, size, Palette::Grey.into(), every)?;
            let see = &mut |picture: &Mosaic, _| video.push(picture);
            if replay(swarm, episode, every, &mut mosaic, go_on, see)?.is_none() {
                return Ok(false);
            }
            video.finish(None)?;
        }
        _ => bail!("a film is a .gif or an .mp4, not {}", out.display()),
    }
    Ok(true)
}

/// Passes one in `every` frames of the episode, with its time in seconds, to `see`, as long as
/// `go_on` returns true. An episode that ends before the first picture shows its last frame.
/// Returns the time at which the film ends, or `None` if it was stopped.
fn replay(
    swarm: &Swarm,
    Episode { state, actions }: Episode<'_>,
    every: u32,
    mosaic: &mut Mosaic,
    go_on: &mut dyn FnMut() -> bool,
    see: &mut dyn FnMut(&Mosaic, f64) -> anyhow::Result<()>,
) -> anyhow::Result<Option<f64>> {
    ensure!(!actions.is_empty(), "the episode has no step");
    let config = SwarmConfig { num_envs: 1, threads: None, sound: false, ..swarm.config().clone() };
    let frames_per_step = config.schedule.frames_per_step();
    let mut one = Swarm::new(swarm.rom().clone(), config, Device::Cpu)?;
    one.import_state(0, state)?;
    let mut clock = FilmClock::new(every);
    for action in actions {
        if !go_on() {
            return Ok(None);
        }
        let mut first = 0;
        while first < frames_per_step {
            let end = frames_per_step.min(first.saturating_add(clock.frames_to_picture()));
            one.step_frames(&[*action], &FrameRange { frames: first..end, draw_last: true })?;
            one.frames(&[0], |picture| mosaic.place(0, picture))?;
            if let Some(at_s) = clock.add(end - first) {
                see(mosaic, at_s)?;
            }
            first = end;
        }
    }
    if clock.is_before_first_picture() {
        see(mosaic, 0.0)?;
    }
    Ok(Some(clock.end_s()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_swarm::{Rom, Schedule};

    /// Returns the centiseconds of a film of six steps of 24 frames, of which one in `every` frames
    /// is shown.
    fn length_of_film(every: u32) -> u32 {
        let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game").bytes();
        let schedule = Schedule::new(24, 8).expect("a schedule");
        let config = SwarmConfig { schedule, ..SwarmConfig::new(1) };
        let rom = Rom::new(rom).expect("a ROM");
        let swarm = Swarm::new(rom, config, Device::Cpu).expect("a swarm");
        let state = swarm.save_state(0).expect("a state");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("film.gif");
        let episode = Episode { state: &state, actions: &[4; 6] };
        assert!(write(&swarm, episode, &path, every, 1, &mut || true).expect("a film"));
        let bytes = std::fs::read(&path).expect("the film");
        let mut decoder = gif::DecodeOptions::new().read_info(bytes.as_slice()).expect("a GIF");
        let mut centiseconds = 0;
        while let Some(frame) = decoder.read_next_frame().expect("a picture") {
            centiseconds += u32::from(frame.delay);
        }
        centiseconds
    }

    #[test]
    fn a_film_lasts_as_long_as_its_episode_whatever_part_of_the_frames_it_shows() {
        // The film has 144 frames at 59.73 a second.
        for every in [4, 5, 7, 16, 200] {
            assert_eq!(length_of_film(every), 241, "one in {every} frames");
        }
    }
}
