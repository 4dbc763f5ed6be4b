//! The live view as people use it: the binary serves, and a WebSocket client or a real browser
//! looks.
//!
//! The pictures of the view are held against a swarm of the test's own that is given the same
//! actions.

mod battery;
mod browser;
mod charts;
mod chromium;
mod client;
mod misbehaving_viewers;
mod serving;
mod socket;
