//! Scores of the scripted players, which `examples/benchmark.py` sets beside those of learners.

use crate::{
    amber_road, ember_leap, keep_of_keys, lantern_wing, last_beacon_player, pearl_drift, tarn_mason,
};

/// Points and frames of a player's game of at most so many frames, begun so many frames later than
/// others.
type Play = fn(frames: u32, later: u32) -> (u16, u32);

macro_rules! play {
    ($game:ident) => {
        |frames, later| {
            let console = $game::played(frames, later);
            (console.word(0xC000), console.frames)
        }
    };
}

const PLAYERS: [(&str, Play); 7] = [
    ("KEEP_OF_KEYS", play!(keep_of_keys)),
    ("EMBER_LEAP", play!(ember_leap)),
    ("TARN_MASON", play!(tarn_mason)),
    ("LANTERN_WING", play!(lantern_wing)),
    ("LAST_BEACON", play!(last_beacon_player)),
    ("AMBER_ROAD", play!(amber_road)),
    ("PEARL_DRIFT", play!(pearl_drift)),
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
            let (score, played) = play(frames, 3 * episode);
            println!("score {score} in {played} frames of {name}");
            assert!(score > 200, "{score} points in {name}");
        }
    }
}
