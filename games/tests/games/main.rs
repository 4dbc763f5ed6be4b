//! Tests of what the pages of the games promise: each game's `tests.rs`, their scripted players,
//! and rules that hold for all games.

mod chance;
mod console;
mod level;
mod page;
mod row;
mod score;
mod variant;

/// Gives the function `played` of a game's scripted player.
macro_rules! play {
    ($game:ident) => {
        |frames, begin| {
            let console = $game::player::played(frames, begin);
            (console.word(0xC000), console.frames, $game::player::is_won(&console))
        }
    };
}

// The build script writes this file: the modules of the games, and `PLAYERS`.
include!(concat!(env!("OUT_DIR"), "/tests.rs"));
