//! The scripted players of the built-in games, each playing a level from where an environment
//! begins it.
//!
//! Who calls it: the Python extension, for the benchmark. The players are files of the games'
//! folders; they see the machine through `crate::console`, which records what they press.

mod console;

use console::Begin;

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

/// A scripted player that plays a level for about a number of frames.
type Player = fn(level: u32, frames: u32) -> PlayedGame;

/// Gives a game's player, whose game is cut to its frames and to its end.
macro_rules! player {
    ($game:ident) => {
        |level, frames| {
            let played = $game::played(frames, Begin::Level(level));
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

/// Plays a level of a game for at most `frames` frames. Returns nothing for a game that has no
/// scripted player.
#[must_use]
pub fn play(game: &str, level: u32, frames: u32) -> Option<PlayedGame> {
    let (_, player) = PLAYERS.iter().find(|(name, _)| *name == game)?;
    Some(player(level, frames))
}

/// Returns the names of the games that have a scripted player.
pub fn games() -> impl Iterator<Item = &'static str> {
    PLAYERS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_is_cut_to_its_frames() {
        let whole = play("LANTERN_WING", 3, 600).expect("a player");
        let cut = play("LANTERN_WING", 3, 599).expect("a player");
        assert_eq!(cut.buttons, whole.buttons[..599]);
        assert!(whole.buttons.len() == 600 && whole.score >= cut.score);
    }

    #[test]
    fn games_without_a_player_are_not_played() {
        assert_eq!(play("PEARL_HEIST", 0, 60), None);
        assert_eq!(games().count(), 7);
    }
}
