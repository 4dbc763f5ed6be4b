//! The micro-ROMs, the files that games share, and the registry.

#[expect(dead_code, reason = "tests of the games use the rest")]
#[path = "../../../../../games/tests/games/console.rs"]
mod console;
mod game_text;
mod library;
mod logo;
mod micro_roms;
mod own_game;
mod registry;
mod sound;
