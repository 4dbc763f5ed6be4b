//! Records the games that people play, frame by frame, in a file that `gbxcule judge` replays.
//!
//! A machine's game begins at power-on or in a level, and ends by the game's own rules; the next
//! one begins with a reset. `play` records every game; `watch` records the games in which somebody
//! takes the controls, with the buttons of the swarm's actions before and after.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use gbxcule_lab::game_log::{Buttons, GameLog, Header, LoggedGame};
use gbxcule_swarm::SwarmError;

use crate::driver::Driver;
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
#[derive(Debug)]
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
    /// Opens a file for games with this header, the first ones from a level on or from power-on;
    /// games of an existing file are kept. `begin` begins the games.
    pub(crate) fn open(
        path: &Path,
        header: &Header,
        first_level: Option<u32>,
        kept: Kept,
        driver: &Driver,
    ) -> anyhow::Result<Self> {
        let shown = || format!("--record {}", path.display());
        let rom = &header.game;
        let built_in = gbxcule_assembler::by_name(rom);
        let over = built_in.and_then(|it| it.rom().address("GameOver"));
        let over = over.with_context(|| {
            format!("{}: games of a built-in game are recorded, found {rom}", shown())
        })?;
        let most_frames = header.most_steps().with_context(shown)?;
        let log = if path.symlink_metadata().is_ok() {
            GameLog::read(path).with_context(shown)?
        } else {
            GameLog { header: header.clone(), games: Vec::new() }
        };
        ensure!(
            log.header == *header,
            "{}: has games of {}, not of this {}",
            shown(),
            described(&log.header),
            described(header)
        );
        let levels = log.games.iter().filter_map(|game| game.level);
        let most = levels.max().filter(|most| first_level.is_some_and(|level| level <= *most));
        if let Some(most) = most {
            bail!(
                "{}: has games of levels up to {most}, and a level counts once: give `--level {}`, or another file",
                shown(),
                most + 1
            );
        }
        gbxcule_files::check_writable(path).with_context(shown)?;
        Ok(Self {
            path: path.to_owned(),
            log,
            kept,
            idle_frames: driver.config().schedule.frames_per_step() as usize - 1,
            games: Vec::new(),
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
        let ended = self.kept_games();
        self.log.games.extend(ended);
        let begun = |&level: &Option<u32>| {
            let mut buttons = Buttons::default();
            if level.is_some() {
                buttons.push(0, self.idle_frames);
            }
            MachineGame { level, buttons, is_played: true, is_kept: self.kept == Kept::All }
        };
        self.games = levels.iter().map(begun).collect();
    }

    /// Ends a machine's game, because a replay would not repeat a change of memory by hand.
    pub(crate) fn end(&mut self, env: usize) {
        if let Some(game) = self.games.get_mut(env) {
            game.is_played = false;
        }
    }

    /// Records each machine's last frame, and writes the file if a second has passed.
    pub(crate) fn record_frame(&mut self, driver: &Driver) -> Result<(), SwarmError> {
        for (env, game) in self.games.iter_mut().enumerate().filter(|(_, game)| game.is_played) {
            game.buttons.push(driver.held(env), 1);
            game.is_kept |= driver.is_driven(env);
            let over = driver.swarm().read_memory(env, self.over..self.over + 1)?;
            game.is_played = over == [0] && game.buttons.steps() < self.most_frames;
            self.is_written &= !game.is_kept;
        }
        if Instant::now() >= self.next_write {
            self.write();
        }
        Ok(())
    }

    /// Returns the lines of the present games that the file has.
    fn kept_games(&self) -> Vec<LoggedGame> {
        let kept = self.games.iter().filter(|game| game.is_kept && game.buttons.steps() > 0);
        let line = |game: &MachineGame| LoggedGame {
            seed: None,
            episode: 0,
            level: game.level,
            buttons: game.buttons.clone(),
            claim: None,
        };
        kept.map(line).collect()
    }

    /// Writes the file. A failure is reported once, and the next call tries again.
    pub(crate) fn write(&mut self) {
        self.next_write = Instant::now() + WRITE_INTERVAL;
        if self.is_written {
            return;
        }
        let ended = self.log.games.len();
        let present = self.kept_games();
        self.log.games.extend(present);
        let written = self.log.write(&self.path);
        self.log.games.truncate(ended);
        match written {
            Ok(()) => (self.is_written, self.has_failed) = (true, false),
            Err(error) => {
                if !self.has_failed {
                    print::error(&format!("warning: --record: {error}; play goes on\n"));
                }
                self.has_failed = true;
            }
        }
    }
}

/// Returns the game of a header, with its variant and difficulty.
fn described(header: &Header) -> String {
    let options = [&header.variant, &header.difficulty].into_iter().flatten();
    options.fold(header.game.clone(), |name, option| format!("{name} {option}"))
}
