//! Scores of the scripted players.

use crate::PLAYERS;
use crate::console::Begin;

/// A scripted player that plays at most a number of frames, and returns the points and the frames
/// of the game, and whether the game is won.
pub(crate) type Play = fn(frames: u32, begin: Begin) -> (u16, u32, bool);

pub(crate) fn told<Value: std::str::FromStr>(name: &str) -> Option<Value> {
    std::env::var(name).ok()?.parse().ok()
}

/// Prints `score`, points and frames of each game, or only of the game that `GBXCULE_GAME` names.
#[test]
#[ignore = "plays many long games"]
fn scripted_players_earn_points() {
    let frames = told("GBXCULE_FRAMES").unwrap_or(18_000);
    let episodes = told("GBXCULE_EPISODES").unwrap_or(1);
    let only: String = told("GBXCULE_GAME").unwrap_or_default();
    for (name, play) in PLAYERS.iter().filter(|player| player.0.contains(&only)) {
        for episode in 0..episodes {
            let (score, played, _) = play(frames, Begin::Later(3 * episode));
            println!("score {score} in {played} frames of {name}");
            assert!(score > 200, "{score} points in {name}");
        }
    }
}
