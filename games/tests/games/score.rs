//! Scores of the scripted players, which `examples/benchmark.py` sets beside those of learners.

use crate::PLAYERS;

/// Points and frames of a player's game of at most so many frames, begun so many frames later than
/// others.
pub(crate) type Play = fn(frames: u32, later: u32) -> (u16, u32);

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
            let (score, played) = play(frames, 3 * episode);
            println!("score {score} in {played} frames of {name}");
            assert!(score > 200, "{score} points in {name}");
        }
    }
}
