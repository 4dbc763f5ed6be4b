//! Files of played games: a header line, then a line for each game with its seed and the buttons of
//! every step (docs/judge.md).
//!
//! [`replay`] plays the games again, bit for bit, and [`LoggedGame::check`] compares the outcome
//! with the claim in the line.

mod buttons;
mod replay;

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use gbxcule_swarm::game_start::LEVELS;
use serde::{Deserialize, Serialize};

pub use buttons::Buttons;
pub use replay::{Replayed, replay};

use crate::LabError;
use crate::artifact::{sha256, write_whole};

/// The name of the format, which stands in the first line.
const FORMAT: &str = "gbxcule games";
/// The version of the format.
const VERSION: u32 = 1;
/// Greatest number of bytes of a file.
const MAX_BYTES: u64 = 1 << 30;
/// First bytes of a gzip file.
const GZIP: &[u8] = b"\x1f\x8b";

/// The first line of a file: the game, and the length of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The name of a built-in game.
    pub game: String,
    /// SHA-256 of the game's ROM.
    pub rom_sha256: String,
    /// Frames of a step.
    pub frames_per_step: u32,
    /// Frames of a step in which its buttons are pressed.
    pub release_after_frames: u32,
    /// The variant of the game that is played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The game's difficulty, `easy`, which goes with every variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<String>,
}

/// The end of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// The game says that it is over.
    Over,
    /// The game reached the benchmark's greatest length.
    Limit,
    /// The player stopped before the game's end and the limit.
    Stopped,
}

/// One game: its beginning, the buttons of its steps, and its writer's claim about the outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedGame {
    /// The env's seed; a game with neither seed nor level begins at power-on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The level, for a game without a seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// Number of earlier games of the env since it got the seed.
    #[serde(default)]
    pub episode: u64,
    /// The buttons of each step.
    pub buttons: Buttons,
    /// The claim about the outcome; [`LoggedGame::sealed`] fills it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
}

/// Score and end of a game, as its line claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The score at the end.
    pub score: u16,
    /// The end.
    pub end: End,
    /// SHA-256 of work RAM at the end.
    pub memory_sha256: String,
    /// SHA-256 of the header and of the rest of this line.
    pub sha256: String,
}

/// A file of games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameLog {
    /// The first line.
    pub header: Header,
    /// All other lines.
    pub games: Vec<LoggedGame>,
}

impl Header {
    /// Makes the first line of a file of this game.
    #[must_use]
    pub fn new(game: &str, rom: &[u8], frames_per_step: u32, release_after_frames: u32) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            game: game.to_owned(),
            rom_sha256: sha256(rom),
            frames_per_step,
            release_after_frames,
            variant: None,
            difficulty: None,
        }
    }

    /// Reads the first line.
    fn read(line: &str) -> Result<Self, String> {
        let named: serde_json::Value = serde_json::from_str(line)
            .map_err(|_| no_log(&line.chars().take(40).collect::<String>()))?;
        if named["format"] != FORMAT {
            return Err(no_log(&named["format"].to_string()));
        }
        if named["version"] != VERSION {
            return Err(format!(
                "version {} of the format, this gbxcule reads version {VERSION}",
                named["version"]
            ));
        }
        serde_json::from_str(line).map_err(|error| format!("line 1: {error}"))
    }
}

/// Returns a file's text, uncompressed if it is a gzip file.
fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    let mut text = String::new();
    if bytes.starts_with(GZIP) {
        GzDecoder::new(&bytes[..])
            .take(MAX_BYTES + 1)
            .read_to_string(&mut text)
            .map_err(|error| format!("the gzip file can't be unpacked: {error}"))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(format!("unpacked, it has more than {MAX_BYTES} bytes, the most allowed"));
        }
        return Ok(text);
    }
    String::from_utf8(bytes)
        .map_err(|_| "it is neither text nor packed by gzip; unpack it first".to_owned())
}

fn no_log(found: &str) -> String {
    format!(
        "the first line is no header of a file of games, found {found}; docs/judge.md has the format"
    )
}

impl LoggedGame {
    /// Returns the SHA-256 of a header, a game and its outcome.
    fn sha256(&self, header: &Header, outcome: &Replayed) -> String {
        let Replayed { score, end, memory_sha256, .. } = outcome;
        let start = (self.seed, self.level, self.episode);
        sha256(
            format!("{header:?}\n{start:?}\n{}\n{score} {end:?}\n{memory_sha256}", self.buttons)
                .as_bytes(),
        )
    }

    /// Fills the game's claim from its outcome, and drops the steps after the game's end.
    #[must_use]
    pub fn sealed(mut self, header: &Header, outcome: &Replayed) -> Self {
        self.buttons.truncate(outcome.steps);
        let Replayed { score, end, ref memory_sha256, .. } = *outcome;
        let (memory_sha256, sha256) = (memory_sha256.clone(), self.sha256(header, outcome));
        self.claim = Some(Claim { score, end, memory_sha256, sha256 });
        self
    }

    /// Compares the game's claim with its outcome.
    ///
    /// # Errors
    /// The claim differs from the outcome, or the line has steps after the game's end.
    pub fn check(&self, header: &Header, outcome: &Replayed) -> Result<(), String> {
        let left = self.buttons.steps() - outcome.steps;
        if left > 0 {
            return Err(format!(
                "{left} steps after the game's end, which came with step {}",
                outcome.steps
            ));
        }
        let Some(claim) = &self.claim else { return Ok(()) };
        if claim.score != outcome.score {
            return Err(format!(
                "claims the score {}, replaying gives {}",
                claim.score, outcome.score
            ));
        }
        if claim.end != outcome.end {
            return Err(format!(
                "claims the end {:?}, replaying gives {:?}",
                claim.end, outcome.end
            )
            .to_lowercase());
        }
        if claim.memory_sha256 != outcome.memory_sha256 {
            return Err(
                "ends with other memory than it claims: its steps, or its start, were changed"
                    .to_owned(),
            );
        }
        if claim.sha256 != self.sha256(header, outcome) {
            return Err(
                "was changed after it was written: its `sha256` is that of other steps".to_owned()
            );
        }
        Ok(())
    }
}

impl GameLog {
    /// Reads a file, which may be packed by gzip.
    ///
    /// # Errors
    /// The file can't be read, or is no file of games.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        let bytes = gbxcule_files::read(path, MAX_BYTES).map_err(LabError::file(path))?;
        text_of(bytes)
            .and_then(|text| Self::parse(&text))
            .map_err(|found| LabError::Artifact { path: path.to_owned(), found })
    }

    /// Reads a file's text.
    fn parse(text: &str) -> Result<Self, String> {
        let mut lines = (1..).zip(text.lines());
        let header =
            lines.next().map_or_else(|| Err(no_log("nothing")), |(_, line)| Header::read(line))?;
        let (mut starts, mut levels) = (HashSet::new(), HashSet::new());
        let mut from_power_on = HashSet::new();
        let mut games = Vec::new();
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let game: LoggedGame =
                serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))?;
            if game.buttons.steps() == 0 {
                return Err(format!("line {number}: a game without steps"));
            }
            if game.level.is_some() && (game.seed.is_some() || game.episode > 0) {
                return Err(format!("line {number}: a game has a level, or a seed and an episode"));
            }
            if game.level.is_some_and(|level| level >= LEVELS) {
                return Err(format!("line {number}: levels are 0 to {}", LEVELS - 1));
            }
            if game.level.is_some_and(|level| !levels.insert(level)) {
                return Err(format!(
                    "line {number}: a second game of this level; a level counts once"
                ));
            }
            if game.seed.is_some_and(|seed| !starts.insert((seed, game.episode))) {
                return Err(format!(
                    "line {number}: a second game of this seed and episode; a seed counts once"
                ));
            }
            if game.level.is_none()
                && game.seed.is_none()
                && !from_power_on.insert(game.buttons.to_string())
            {
                return Err(format!(
                    "line {number}: a second game from power-on with these buttons; it counts once"
                ));
            }
            games.push(game);
        }
        Ok(Self { header, games })
    }

    /// Writes a complete file.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write(&self, path: &Path) -> Result<(), LabError> {
        let unwritable = |source| LabError::Json { path: path.to_owned(), source };
        let mut text = serde_json::to_string(&self.header).map_err(unwritable)? + "\n";
        for game in &self.games {
            text += &(serde_json::to_string(game).map_err(unwritable)? + "\n");
        }
        write_whole(path, text.as_bytes())
    }
}

#[cfg(test)]
mod tests;
