//! The built-in games as data: their sources, their programs, and the fields of their environments.
//!
//! A game is one folder beside this crate's manifest. The build script finds it; the assembler,
//! swarms, the Python package and the tests take it from [`GAMES`].

/// A game, read from its folder.
#[derive(Debug)]
pub struct Game {
    /// The name of the game's ROM and program, such as `KEEP_OF_KEYS`.
    pub name: &'static str,
    /// The name in Gymnasium's ids, such as `KeepOfKeys`.
    pub title: &'static str,
    /// Kind of game in a few words.
    pub kind: &'static str,
    /// Difficulty for a learner.
    pub difficulty: &'static str,
    /// One line about the game for the list of ROMs.
    pub purpose: &'static str,
    /// Bytes of work RAM that hold the state of play.
    pub memory: &'static str,
    /// True for a game that only a Game Boy Color runs.
    pub is_for_color: bool,
    /// The most machines that play the game together.
    pub players: u8,
    /// True for a game that begins with a title, which START leaves.
    pub has_title: bool,
    /// Variants, each with what is different, in the order of their bits of the byte at `Variant`;
    /// `easy` is first.
    pub variants: &'static [(&'static str, &'static str)],
    /// The actions of the game's environments: a codec's name or its spelling.
    pub actions: &'static str,
    /// Number of frames of a step.
    pub frames_per_step: u32,
    /// Number of frames of a step in which its action is pressed.
    pub release_after_frames: u32,
    /// SHA-256 of the ROM.
    pub sha256: &'static str,
    /// The name of the source that the assembler begins with.
    pub entry: &'static str,
    /// Sources, each by the name under which it is included; [`Game::entry`] is among them.
    pub sources: &'static [(&'static str, &'static str)],
    /// The program for reward and observation.
    pub program: &'static str,
    /// The text of `game.json`.
    pub row: &'static str,
}

/// Steps of an episode, at most.
const EPISODE_STEPS: u32 = 4500;

impl Game {
    /// Returns the number of frames of the longest episode.
    #[must_use]
    pub const fn episode_frames(&self) -> u32 {
        EPISODE_STEPS * self.frames_per_step
    }
}

/// All games, in order of their names.
pub const GAMES: &[Game] = include!(concat!(env!("OUT_DIR"), "/games.rs"));
