//! The ROM suite, its game, and its registry.

mod console;
mod game;
mod micro_roms;
mod registry;
