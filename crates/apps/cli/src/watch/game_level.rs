//! Levels and variants of a built-in game for `gbxcule play`: a game begins as an environment's
//! episode in that level does, and each reset begins the next level.

use anyhow::Context;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use gbxcule_lab::game_log::Header;
use gbxcule_swarm::SwarmError;
use gbxcule_swarm::game_start::{LEVELS, Title};

use crate::driver::Driver;

/// The options that choose a level.
#[derive(Args)]
pub(crate) struct LevelOption {
    /// Play this level of a built-in game instead of its title; a reset on the page begins the next
    /// level (docs/games.md)
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u32>::new().range(..u64::from(LEVELS)),
        conflicts_with_all = ["state", "boot_rom", "link", "battery", "model"])]
    level: Option<u32>,

    /// Variant of the game, such as fast
    #[arg(long, value_name = "NAME", requires = "level")]
    variant: Option<String>,

    /// Difficulty of the game: normal or easy
    #[arg(long, value_name = "normal|easy", requires = "level", value_parser = ["normal", "easy"])]
    difficulty: Option<String>,
}

impl LevelOption {
    pub(crate) fn level(&self) -> Option<u32> {
        self.level
    }

    /// Returns the header of a file of such games, whose steps are frames.
    pub(crate) fn header(&self, rom: &str) -> anyhow::Result<Header> {
        let built_in = gbxcule_assembler::by_name(rom);
        let built_in = built_in
            .with_context(|| format!("--record and --level: give a built-in game, found {rom}"))?;
        let difficulty = self.difficulty.clone().filter(|difficulty| difficulty != "normal");
        let header = Header::new(rom, built_in.bytes(), 1, 1);
        Ok(Header { variant: self.variant.clone(), difficulty, ..header })
    }

    /// Returns the levels to play; `None` for a game from its title.
    pub(crate) fn levels(&self, rom: &str) -> anyhow::Result<Option<Levels>> {
        let Some(next) = self.level else { return Ok(None) };
        let title = self.header(rom)?.title().context("--level")?;
        Ok(Some(Levels { title, next }))
    }
}

/// The levels that are still to be played.
pub(crate) struct Levels {
    title: Title,
    next: u32,
}

impl Levels {
    /// Puts all machines to the beginning of the next level, and returns its number.
    pub(crate) fn begin(&mut self, driver: &mut Driver) -> Result<u32, SwarmError> {
        let level = self.next;
        let start = self.title.level_starts(&[level])?;
        // Environments run a step without buttons first, too.
        driver.restart_from(&[&start[0]], 1)?;
        self.next = (level + 1) % LEVELS;
        Ok(level)
    }
}
