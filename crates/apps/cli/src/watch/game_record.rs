//! Records the games that a person plays on machine 0, frame by frame, in a file that `gbxcule
//! judge` replays.
//!
//! A game begins at power-on or in a level, and ends by the game's own rules; the next one begins
//! with a reset.

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

/// The file of games.
#[derive(Debug)]
pub(crate) struct GameRecord {
    path: PathBuf,
    log: GameLog,
    /// Address of the byte that is set at a game's end.
    over: u32,
    /// Number of frames of the longest game.
    most_frames: usize,
    /// True while the last game of the log is played.
    is_played: bool,
    is_written: bool,
    next_write: Instant,
    /// True if the last attempt to write failed, and the user was told.
    has_failed: bool,
}

impl GameRecord {
    /// Begins to record games with this header, the first one in this level or at power-on; games
    /// of an existing file are kept.
    pub(crate) fn new(path: &Path, header: &Header, level: Option<u32>) -> anyhow::Result<Self> {
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
        if let Some(most) = levels.max().filter(|most| level.is_some_and(|level| level <= *most)) {
            bail!(
                "{}: has games of levels up to {most}, and a level counts once: give `--level {}`, or another file",
                shown(),
                most + 1
            );
        }
        gbxcule_files::check_writable(path).with_context(shown)?;
        let mut record = Self {
            path: path.to_owned(),
            log,
            over: u32::from(over),
            most_frames,
            is_played: false,
            is_written: true,
            next_write: Instant::now() + WRITE_INTERVAL,
            has_failed: false,
        };
        record.begin(level);
        Ok(record)
    }

    /// Begins a game in a level, or at power-on.
    pub(crate) fn begin(&mut self, level: Option<u32>) {
        self.write();
        self.end();
        let buttons = Buttons::default();
        self.log.games.push(LoggedGame { seed: None, episode: 0, level, buttons, claim: None });
        self.is_played = true;
    }

    /// Ends the current game, because a replay would not repeat a change of memory by hand.
    pub(crate) fn end(&mut self) {
        let is_empty = |game: &LoggedGame| game.buttons.steps() == 0;
        if self.log.games.last().is_some_and(is_empty) {
            self.log.games.pop();
        }
        self.is_played = false;
    }

    /// Records machine 0's last frame, and writes the file if a second has passed.
    pub(crate) fn record_frame(&mut self, driver: &Driver) -> Result<(), SwarmError> {
        if let Some(game) = self.log.games.last_mut().filter(|_| self.is_played) {
            game.buttons.push(driver.held(0), 1);
            let over = driver.swarm().read_memory(0, self.over..self.over + 1)?;
            self.is_played = over == [0] && game.buttons.steps() < self.most_frames;
            self.is_written = false;
        }
        if Instant::now() >= self.next_write {
            self.write();
        }
        Ok(())
    }

    /// Writes the file. A failure is reported once, and the next call tries again.
    pub(crate) fn write(&mut self) {
        self.next_write = Instant::now() + WRITE_INTERVAL;
        if self.is_written || self.log.games.is_empty() {
            return;
        }
        match self.log.write(&self.path) {
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
