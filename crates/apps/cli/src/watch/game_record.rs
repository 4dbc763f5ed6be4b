//! Records the games that people play, frame by frame, in a file that `gbxcule judge` replays.
//!
//! A machine's game begins at power-on or in a level, and ends by the game's own rules; the next
//! one begins with a reset. `play` records every game; `watch`, and Python's environments, record
//! the games in which somebody takes the controls, with the buttons of the swarm's actions before
//! and after. A level counts once in a file: its first recorded game.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use gbxcule_lab::LabError;
use gbxcule_lab::game_log::{Buttons, GameLog, Header, LoggedGame, replay};
use gbxcule_swarm::{Swarm, SwarmConfig, SwarmError};

use crate::driver::Driver;
use crate::live_view::Outcome;
use crate::print;

/// Time between two writes of the file, which is the time of play that can be lost when the program
/// ends.
const WRITE_INTERVAL: Duration = Duration::from_secs(1);

/// Games that are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// All games.
    All,
    /// Games in which somebody takes the controls.
    Driven,
}

/// The game of a machine.
#[derive(Debug, Default)]
struct MachineGame {
    level: Option<u32>,
    /// Buttons of each frame.
    buttons: Buttons,
    /// True until the game ends.
    is_played: bool,
    /// True if the file has this game.
    is_kept: bool,
}

/// The file of games.
#[derive(Debug)]
pub(crate) struct GameRecord {
    path: PathBuf,
    /// Header, and earlier games of the file.
    log: GameLog,
    kept: Kept,
    /// Number of frames without buttons that precede a level's first step, besides the one that a
    /// replay runs by itself.
    idle_frames: usize,
    /// The present game of each machine.
    games: Vec<MachineGame>,
    /// Address of the byte that is set at a game's end.
    over: u32,
    /// Number of frames of the longest game.
    most_frames: usize,
    is_written: bool,
    next_write: Instant,
    /// True if the last attempt to write failed, and the user was told.
    has_failed: bool,
}

impl GameRecord {
    /// Opens a file for games of a swarm with this header, the first ones from a level on, or from
    /// power-on or any levels; games of an existing file are kept. `begin` begins the games.
    pub(crate) fn open(
        path: &Path,
        header: &Header,
        first_level: Option<u32>,
        kept: Kept,
        config: &SwarmConfig,
    ) -> anyhow::Result<Self> {
        let rom = &header.game;
        let built_in = gbxcule_assembler::by_name(rom);
        let over = built_in.and_then(|it| it.rom().address("GameOver"));
        let over =
            over.with_context(|| format!("games of a built-in game are recorded, found {rom}"))?;
        let most_frames = header.most_steps()?;
        let log = if path.symlink_metadata().is_ok() {
            GameLog::read(path)?
        } else {
            GameLog { header: header.clone(), games: Vec::new() }
        };
        ensure!(
            log.header == *header,
            "it has games of {}, not of this {}",
            described(&log.header),
            described(header)
        );
        let levels = log.games.iter().filter_map(|game| game.level);
        let most = levels.max().filter(|most| first_level.is_some_and(|level| level <= *most));
        if let Some(most) = most {
            bail!(
                "it has games of levels up to {most}, and a level counts once: give `--level {}`, or another file",
                most + 1
            );
        }
        gbxcule_files::check_writable(path)?;
        Ok(Self {
            path: path.to_owned(),
            log,
            kept,
            idle_frames: config.schedule.frames_per_step() as usize - 1,
            games: (0..config.num_envs).map(|_| MachineGame::default()).collect(),
            over: u32::from(over),
            most_frames,
            is_written: true,
            next_write: Instant::now() + WRITE_INTERVAL,
            has_failed: false,
        })
    }

    /// Begins a game on each machine, in its level or at power-on.
    pub(crate) fn begin(&mut self, levels: &[Option<u32>]) {
        self.write();
        for (env, level) in levels.iter().enumerate() {
            self.begin_one(env, *level);
        }
    }

    /// Begins a machine's next game, in a level or at power-on.
    pub(crate) fn begin_one(&mut self, env: usize, level: Option<u32>) {
        let mut buttons = Buttons::default();
        if level.is_some() {
            buttons.push(0, self.idle_frames);
        }
        let begun =
            MachineGame { level, buttons, is_played: true, is_kept: self.kept == Kept::All };
        let ended = std::mem::replace(&mut self.games[env], begun);
        self.log.games.extend(ended.line());
    }

    /// Ends a machine's game, because a replay would not repeat a change of memory by hand.
    pub(crate) fn end(&mut self, env: usize) {
        if let Some(game) = self.games.get_mut(env) {
            game.is_played = false;
        }
    }

    /// Records each machine's last frame, and writes the file if a second has passed.
    pub(crate) fn record_frame(&mut self, driver: &Driver) -> Result<(), SwarmError> {
        for env in 0..self.games.len() {
            self.push(env, [(driver.held(env), 1)], driver.is_driven(env));
            self.notice_end(env, driver.swarm())?;
        }
        self.write_if_due();
        Ok(())
    }

    /// Records a learner's step. `held` has the buttons of each env that somebody drove in it.
    pub(crate) fn record_step(
        &mut self,
        swarm: &Swarm,
        outcome: &Outcome<'_>,
        held: &[Option<u8>],
    ) -> Result<(), SwarmError> {
        let config = swarm.config();
        let frames = config.schedule.frames_per_step();
        for env in (0..self.games.len()).filter(|&env| !outcome.between[env]) {
            let pressed = match held[env] {
                Some(buttons) => [(buttons, frames), (0, 0)],
                None => {
                    let action = config.codec.get(env, outcome.actions[env])?;
                    let first = action.frames_held(config.schedule).min(frames);
                    [(action.buttons, first), (0, frames - first)]
                }
            };
            self.push(env, pressed, held[env].is_some());
            self.notice_end(env, swarm)?;
        }
        self.write_if_due();
        Ok(())
    }

    /// Appends buttons, each for a number of frames, to the game of a machine, if it is played.
    fn push<const N: usize>(&mut self, env: usize, pressed: [(u8, u32); N], is_driven: bool) {
        let game = &self.games[env];
        if !game.is_played {
            return;
        }
        if is_driven && !game.is_kept {
            let level = game.level;
            let has_level = |other: Option<u32>| level.is_some() && other == level;
            let is_recorded = self.log.games.iter().any(|game| has_level(game.level))
                || self.games.iter().any(|game| game.is_kept && has_level(game.level));
            self.games[env].is_kept = !is_recorded;
            self.games[env].is_played = !is_recorded;
        }
        for (buttons, frames) in pressed {
            self.games[env].buttons.push(buttons, frames as usize);
        }
        self.is_written &= !self.games[env].is_kept;
    }

    /// Notes that the game of a machine is over, if it is. A replay finds the frame of its end.
    fn notice_end(&mut self, env: usize, swarm: &Swarm) -> Result<(), SwarmError> {
        let game = &mut self.games[env];
        let is_over =
            || Ok::<_, SwarmError>(swarm.read_memory(env, self.over..self.over + 1)? != [0]);
        if !game.is_played || (game.buttons.steps() < self.most_frames && !is_over()?) {
            return Ok(());
        }
        game.is_played = false;
        if let Some(line) = game.line().filter(|_| self.idle_frames > 0) {
            match replay(&self.log.header, &[line], &mut |_| ()).as_deref() {
                Ok([replayed, ..]) => game.buttons.truncate(replayed.steps),
                Ok([]) => {}
                Err(error) => warn(&self.path, error),
            }
        }
        Ok(())
    }

    fn write_if_due(&mut self) {
        if Instant::now() >= self.next_write {
            self.write();
        }
    }

    /// Writes the file. A failure is reported once, and the next call tries again.
    pub(crate) fn write(&mut self) {
        self.next_write = Instant::now() + WRITE_INTERVAL;
        if self.is_written {
            return;
        }
        let ended = self.log.games.len();
        let present: Vec<LoggedGame> = self.games.iter().filter_map(MachineGame::line).collect();
        self.log.games.extend(present);
        let written = self.log.write(&self.path);
        self.log.games.truncate(ended);
        match written {
            Ok(()) => (self.is_written, self.has_failed) = (true, false),
            Err(error) => {
                if !self.has_failed {
                    warn(&self.path, &error);
                }
                self.has_failed = true;
            }
        }
    }
}

impl MachineGame {
    /// Returns the game's line of the file, if the file has this game.
    fn line(&self) -> Option<LoggedGame> {
        let is_kept = self.is_kept && self.buttons.steps() > 0;
        is_kept.then(|| LoggedGame {
            seed: None,
            episode: 0,
            level: self.level,
            buttons: self.buttons.clone(),
            claim: None,
        })
    }
}

fn warn(path: &Path, error: &LabError) {
    print::error(&format!("warning: {}: {error}; play goes on\n", path.display()));
}

/// Returns the game of a header, with its variant and difficulty.
fn described(header: &Header) -> String {
    let options = [&header.variant, &header.difficulty].into_iter().flatten();
    options.fold(header.game.clone(), |name, option| format!("{name} {option}"))
}
