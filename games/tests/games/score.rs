//! Scores of the scripted players, which `examples/benchmark.py` compares with those of learners.

use crate::PLAYERS;

/// A scripted player that plays at most a number of frames, begins a number of frames later than
/// others, and returns the points and the frames of the game.
pub(crate) type Play = fn(frames: u32, later: u32) -> (u16, u32);

fn told<Value: std::str::FromStr>(name: &str) -> Option<Value> {
    std::env::var(name).ok()?.parse().ok()
}

/// Prints `score`, points and frames of each game, or only of the game that `GBXCULE_GAME` names.
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
