//! The live view as people use it: the binary serves, and a WebSocket client or a real browser
//! connects.
//!
//! The pictures of the view are compared with a swarm of the test's own that gets the same actions.

mod battery;
mod browser;
mod charts;
mod chromium;
mod client;
mod finder;
mod game_record;
mod misbehaving_viewers;
mod serving;
mod socket;
mod super_game_boy;
