//! Scores of the scripted players, which `examples/benchmark.py` sets beside those of learners.

use crate::console::Console;
use crate::{ember_leap, game, keep_of_keys, lantern_wing, last_beacon_player, tarn_mason};

/// A player's game of at most so many frames, begun so many frames later than others.
type Play = fn(frames: u32, later: u32) -> Console;

const PLAYERS: [(&str, Play); 6] = [
    ("KEEP_OF_KEYS", keep_of_keys::played),
    ("EMBER_LEAP", ember_leap::played),
    ("TARN_MASON", tarn_mason::played),
    ("LANTERN_WING", lantern_wing::played),
    ("LAST_BEACON", last_beacon_player::played),
    ("PEARL_DRIFT", game::played),
];

fn told<Value: std::str::FromStr>(name: &str) -> Option<Value> {
    std::env::var(name).ok()?.parse().ok()
}

/// Prints `score`, points and frames of each game. Without `GBXCULE_GAME` all of them play.
#[test]
#[ignore = "plays many long games for examples/benchmark.py"]
fn scripted_players_earn_points() {
    let frames = told("GBXCULE_FRAMES").unwrap_or(18_000);
    let episodes = told("GBXCULE_EPISODES").unwrap_or(1);
    let only: String = told("GBXCULE_GAME").unwrap_or_default();
    for (name, play) in PLAYERS.iter().filter(|player| player.0.contains(&only)) {
        for episode in 0..episodes {
            let console = play(frames, 3 * episode);
            let score = console.word(0xC000);
            println!("score {score} in {} frames of {name}", console.frames);
            assert!(score > 200, "{score} points in {name}");
        }
    }
}
