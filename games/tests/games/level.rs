//! Levels by seed: what `make_vec(levels=..)` begins, and that scripted players win all of them.

use gbxcule_games::{GAMES, Game};

use crate::PLAYERS;
use crate::console::Begin;
use crate::score::told;

/// Levels of the share that each test run plays, one for training and one held out.
const SHARE: [u32; 2] = [0, 399];

fn game(name: &str) -> &'static Game {
    GAMES.iter().find(|game| game.name == name).expect("players are of games")
}

/// Plays levels and returns those that are lost, each with its points.
fn lost(levels: &[u32], only: &str, prints: bool) -> Vec<String> {
    let mut lost = Vec::new();
    for (name, play) in PLAYERS.iter().filter(|player| player.0.contains(only)) {
        let episode = game(name).episode_frames();
        for &level in levels {
            let (score, frames, is_good) = play(episode, Begin::Level(level));
            // The player's last step may go beyond the episode.
            let is_won = is_good && frames < episode + 4;
            let line = format!("{name} level {level}: {score} points in {frames} frames");
            if prints {
                println!("{}: {line}", if is_won { "won" } else { "lost" });
            }
            if !is_won {
                lost.push(line);
            }
        }
    }
    lost
}

#[test]
fn scripted_players_win_levels_of_both_halves() {
    let lost = lost(&SHARE, "", false);
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn scripted_players_score_in_every_variant() {
    let mut failed = Vec::new();
    for (name, play) in PLAYERS {
        let game = game(name);
        for (bit, (variant, _)) in game.variants.iter().enumerate() {
            let (score, _, is_won) = play(game.episode_frames(), Begin::Variant(1, 1 << bit));
            println!("{name} {variant}: {score} points, won: {is_won}");
            if score < 40 {
                failed.push(format!("{name} {variant}: {score} points"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
#[ignore = "plays hours of games: `make levels`"]
fn scripted_players_win_every_level() {
    let (first, end) = (told("GBXCULE_FIRST").unwrap_or(0), told("GBXCULE_END").unwrap_or(400));
    let only: String = told("GBXCULE_GAME").unwrap_or_default();
    let lost = lost(&(first..end).collect::<Vec<_>>(), &only, true);
    assert!(lost.is_empty(), "{lost:#?}");
}
