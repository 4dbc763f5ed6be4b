//! Levels and variants of a built-in game for `gbxcule play` and `watch`: a game begins as an
//! environment's episode in that level does, and each reset begins the next levels.

use std::path::Path;

use anyhow::{Context, ensure};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use gbxcule_lab::game_log::Header;
use gbxcule_swarm::SwarmError;
use gbxcule_swarm::game_start::{LEVELS, Title};

use crate::driver::Driver;
use crate::watch::game_record::{GameRecord, Kept};

/// The options that choose a level.
#[derive(Args)]
pub(crate) struct LevelOption {
    /// Begin in this level of a built-in game, and each further machine in the next one; a reset on
    /// the page begins the levels after them (docs/games.md)
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u32>::new().range(..u64::from(LEVELS)),
        conflicts_with_all = ["state", "boot_rom", "link", "model"])]
    level: Option<u32>,

    /// Variant of the game, such as fast
    #[arg(long, value_name = "NAME", requires = "level")]
    variant: Option<String>,

    /// Difficulty of the game: normal or easy
    #[arg(long, value_name = "normal|easy", requires = "level", value_parser = ["normal", "easy"])]
    difficulty: Option<String>,
}

impl LevelOption {
    /// Puts each machine to the beginning of its level, if a level is chosen, and begins to record
    /// games in the file `record`.
    pub(crate) fn begin(
        &self,
        rom: &str,
        record: Option<&Path>,
        kept: Kept,
        driver: &mut Driver,
    ) -> anyhow::Result<(Option<Levels>, Option<GameRecord>)> {
        let mut levels = self.levels(rom, driver.num_envs())?;
        let first = match &mut levels {
            Some(levels) => levels.begin(driver)?,
            None => vec![None; driver.num_envs()],
        };
        let opened = |path: &Path| {
            let opened =
                GameRecord::open(path, &self.header(rom)?, self.level, kept, driver.config());
            opened.with_context(|| format!("--record {}", path.display()))
        };
        let mut record = record.map(opened).transpose()?;
        if let Some(record) = &mut record {
            record.begin(&first);
        }
        Ok((levels, record))
    }

    /// Returns the header of a file of such games, whose steps are frames.
    fn header(&self, rom: &str) -> anyhow::Result<Header> {
        header(rom, self.variant.clone(), self.difficulty.clone()).context("--record and --level")
    }

    /// Returns the levels to play on a number of machines; `None` for games from their titles.
    fn levels(&self, rom: &str, num_envs: usize) -> anyhow::Result<Option<Levels>> {
        let Some(next) = self.level else { return Ok(None) };
        ensure!(
            num_envs <= LEVELS as usize,
            "--level: each machine plays another of {LEVELS} levels, and there are {num_envs} machines"
        );
        let title = self.header(rom)?.title().context("--level")?;
        Ok(Some(Levels { title, next }))
    }
}

/// Returns the header of a file of a built-in game's games, whose steps are frames.
pub(crate) fn header(
    rom: &str,
    variant: Option<String>,
    difficulty: Option<String>,
) -> anyhow::Result<Header> {
    let built_in = gbxcule_assembler::by_name(rom);
    let built_in = built_in.with_context(|| format!("give a built-in game, found {rom}"))?;
    let difficulty = difficulty.filter(|difficulty| difficulty != "normal");
    Ok(Header { variant, difficulty, ..Header::new(rom, built_in.bytes(), 1, 1) })
}

/// The levels that are still to be played.
pub(crate) struct Levels {
    title: Title,
    next: u32,
}

impl Levels {
    /// Puts each machine to the beginning of a level, and returns the levels' numbers.
    pub(crate) fn begin(&mut self, driver: &mut Driver) -> Result<Vec<Option<u32>>, SwarmError> {
        let levels = (self.next..).take(driver.num_envs()).map(|level| level % LEVELS);
        let levels: Vec<u32> = levels.collect();
        let starts = self.title.level_starts(&levels)?;
        let starts: Vec<&[u8]> = starts.iter().map(Vec::as_slice).collect();
        // Environments run a step without buttons first, too.
        driver.restart_each_from(&starts, 1)?;
        self.next = levels.last().map_or(self.next, |last| (last + 1) % LEVELS);
        Ok(levels.into_iter().map(Some).collect())
    }
}
