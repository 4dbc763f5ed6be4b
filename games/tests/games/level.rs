//! Levels by seed: what `make_vec(levels=..)` begins, and that scripted players win all of them.

use gbxcule_games::GAMES;

use crate::PLAYERS;
use crate::console::Begin;
use crate::score::told;

/// Levels of the share that each test run plays, one for training and one held out.
const SHARE: [u32; 2] = [0, 399];

/// Returns the number of frames of the longest episode, of 4,500 steps.
fn episode_frames(name: &str) -> u32 {
    let game = GAMES.iter().find(|game| game.name == name).expect("players are of games");
    4500 * game.frames_per_step
}

/// A game whose island is the same in all levels. Its player, which can't go back, fights by
/// chance.
const OTHER: &str = "LAST_BEACON";

/// Plays levels and returns those that are lost, each with its points.
fn lost(levels: &[u32], only: &str, prints: bool) -> Vec<String> {
    let mut lost = Vec::new();
    let is_played = |name: &str| name != OTHER && name.contains(only);
    for (name, play) in PLAYERS.iter().filter(|player| is_played(player.0)) {
        for &level in levels {
            let (score, frames, is_won) = play(episode_frames(name), Begin::Level(level));
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
#[ignore = "plays hours of games: `make levels`"]
fn scripted_players_win_every_level() {
    let (first, end) = (told("GBXCULE_FIRST").unwrap_or(0), told("GBXCULE_END").unwrap_or(400));
    let only: String = told("GBXCULE_GAME").unwrap_or_default();
    let lost = lost(&(first..end).collect::<Vec<_>>(), &only, true);
    assert!(lost.is_empty(), "{lost:#?}");
}
