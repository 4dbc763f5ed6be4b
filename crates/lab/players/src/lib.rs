//! The scripted players of the built-in games. A player plays a level from the state in which an
//! environment begins it.
//!
//! The Python extension calls the players for the benchmark. They are files in the games' folders,
//! and use the machine through `crate::console`, which records their buttons.

mod console;

use console::Begin;
use gbxcule_games::GAMES;

/// A game that a scripted player played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedGame {
    /// The score at the end.
    pub score: u16,
    /// True if the player won.
    pub is_won: bool,
    /// The buttons of each frame, from the beginning of the level on.
    pub buttons: Vec<u8>,
}

/// A scripted player. It plays a level for about `episode` frames; its game is cut at `frames`
/// frames or at its end.
type Player = fn(level: u32, episode: u32, frames: u32) -> PlayedGame;

macro_rules! player {
    ($game:ident) => {
        |level, episode, frames| {
            let played = $game::played(episode, Begin::Level(level));
            let console = played.replayed(stringify!($game), level, frames);
            PlayedGame {
                score: console.word(0xC000),
                is_won: $game::is_won(&console),
                buttons: console.into_buttons(),
            }
        }
    };
}

// The build script writes this file: the modules of the players, and `PLAYERS`.
include!(concat!(env!("OUT_DIR"), "/players.rs"));

/// Plays a level of a game for at most `frames` frames, or returns `None` for a game without a
/// scripted player. A shorter game is the beginning of a longer one.
#[must_use]
pub fn play(game: &str, level: u32, frames: u32) -> Option<PlayedGame> {
    let (_, player) = PLAYERS.iter().find(|(name, _)| *name == game)?;
    let episode = GAMES.iter().find(|it| it.name == game)?.episode_frames();
    Some(player(level, episode, frames))
}

/// Returns the names of the games that have a scripted player.
pub fn games() -> impl Iterator<Item = &'static str> {
    PLAYERS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_game_is_the_beginning_of_the_whole_one() {
        for game in ["LANTERN_WING", "KEEP_OF_KEYS", "LAST_BEACON"] {
            let whole = play(game, 201, u32::MAX).expect("a player");
            let cut = play(game, 201, 300).expect("a player");
            assert!(whole.is_won && !cut.is_won && whole.score > cut.score, "{game}");
            assert_eq!(cut.buttons, whole.buttons[..300], "{game}");
        }
    }

    #[test]
    fn games_without_a_player_are_not_played() {
        assert_eq!(play("PEARL_HEIST", 0, 60), None);
        assert_eq!(games().count(), 7);
    }
}
