//! The games as their pages promise them: each game's `tests.rs`, their scripted players, and what
//! holds for all of them.

mod console;
mod page;
mod row;
mod score;

/// The function `played` of a game's scripted player.
macro_rules! play {
    ($game:ident) => {
        |frames, later| {
            let console = $game::player::played(frames, later);
            (console.word(0xC000), console.frames)
        }
    };
}

// Made by the build script: the modules of the games, and `PLAYERS`.
include!(concat!(env!("OUT_DIR"), "/tests.rs"));
