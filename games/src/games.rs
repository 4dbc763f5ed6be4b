//! The built-in games as data: sources, programs, and what makes environments of them.
//!
//! A game is one folder beside this crate's manifest. The build script finds it; the assembler,
//! swarms, the Python package and the tests take it from [`GAMES`].

/// A game as its folder has it.
#[derive(Debug)]
pub struct Game {
    /// The name of its ROM and its program: `KEEP_OF_KEYS`.
    pub name: &'static str,
    /// The name in Gymnasium's ids: `KeepOfKeys`.
    pub title: &'static str,
    /// Kind of game, in some words.
    pub kind: &'static str,
    /// Difficulty for a learner.
    pub difficulty: &'static str,
    /// One line about it for the list of ROMs.
    pub purpose: &'static str,
    /// Bytes of work RAM that say how the game stands.
    pub memory: &'static str,
    /// True for a game that only a Game Boy Color runs.
    pub is_for_color: bool,
    /// Machines that play it together, at most.
    pub players: u8,
    /// True for a game that begins on a title, which START leaves.
    pub has_title: bool,
    /// The actions of its environments, as a codec's name or its spelling.
    pub actions: &'static str,
    /// Frames of a step.
    pub frames_per_step: u32,
    /// Frames of a step in which its action is pressed.
    pub release_after_frames: u32,
    /// Mean score of random play (docs/benchmark.md).
    pub random_score: Option<u32>,
    /// Mean score of the scripted player (docs/benchmark.md).
    pub scripted_score: Option<u32>,
    /// SHA-256 of the ROM.
    pub sha256: &'static str,
    /// The name of the source that the assembler begins with.
    pub entry: &'static str,
    /// Sources by the names under which they are included, [`Game::entry`] among them.
    pub sources: &'static [(&'static str, &'static str)],
    /// The program for reward and observation.
    pub program: &'static str,
    /// The text of `game.json`.
    pub row: &'static str,
}

/// All games, in order of their names.
pub const GAMES: &[Game] = include!(concat!(env!("OUT_DIR"), "/games.rs"));
