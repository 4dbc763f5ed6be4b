//! The ROM suite, its game, and its registry.

mod amber_road;
mod console;
mod ember_leap;
mod game_page;
mod game_picture;
mod game_text;
mod keep_of_keys;
mod lantern_wing;
mod last_beacon;
mod last_beacon_player;
mod library;
mod logo;
mod micro_roms;
mod own_game;
mod pearl_drift;
mod pearl_heist;
mod registry;
mod score;
mod sound;
mod tarn_mason;
