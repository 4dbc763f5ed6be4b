//! `gbxcule judge`: replays games from a file and prints their scores.

use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Args;
use gbxcule_lab::game_log::{End, GameLog, LoggedGame, Replayed, replay};

use crate::print::say;
use crate::progress;

/// Replay games from a file of seeds and buttons, and print their scores
///
/// Every game is played again, bit for bit: the replay's score counts, not the file's claim. Games
/// that were stopped before their end are replayed but not counted. docs/judge.md has the format.
#[derive(Args)]
#[command(after_long_help = FOOTER)]
pub(crate) struct Judge {
    /// File of games
    file: PathBuf,

    /// Write the games into this file, with their scores and digests, and without steps after a
    /// game's end
    #[arg(long, value_name = "FILE")]
    seal: Option<PathBuf>,

    /// Also print each game's score
    #[arg(long)]
    each: bool,

    /// Require a finished game of each of these levels, and no other game, as leaderboards must:
    /// else a player leaves out bad games
    #[arg(long, value_name = "FIRST..END", value_parser = levels)]
    levels: Option<Range<u32>>,
}

const FOOTER: &str = "\
EXIT STATUS
  0  every claim of the file is right
  1  a claim is wrong, or a game of --levels is missing: the command prints the reason
  2  no result: the file does not hold games, or they are games of another ROM

EXAMPLES
  gbxcule judge games.jsonl
  gbxcule judge games.jsonl --levels 200..400
  gbxcule judge games.jsonl --seal sealed.jsonl";

/// Reads levels such as `200..400`.
fn levels(text: &str) -> Result<Range<u32>, String> {
    let ends =
        text.split_once("..").and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    ends.filter(|levels: &Range<u32>| !levels.is_empty())
        .ok_or_else(|| "write the first level and the one after the last: 200..400".to_owned())
}

impl Judge {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let log = GameLog::read(&self.file)?;
        ensure!(!log.games.is_empty(), "{}: no game after the first line", self.file.display());
        let header = &log.header;
        let bar = progress::bar(log.games.len() as u64, "games");
        let outcomes = replay(header, &log.games, &mut |games| bar.set_position(games as u64))
            .with_context(|| self.file.display().to_string())?;
        bar.finish_and_clear();
        if let Some(path) = &self.seal {
            let sealed = log.games.iter().zip(&outcomes);
            let games =
                sealed.map(|(game, outcome)| game.clone().sealed(header, outcome)).collect();
            GameLog { header: header.clone(), games }.write(path)?;
            say!("{}: {} games, sealed", path.display(), outcomes.len());
        }
        Ok(self.print_scores(&log, &outcomes))
    }

    /// Refuses what `--levels` does not ask for.
    fn check_level(&self, game: &LoggedGame, outcome: &Replayed) -> Result<(), String> {
        let Some(levels) = &self.levels else { return Ok(()) };
        if !game.level.is_some_and(|level| levels.contains(&level)) {
            return Err(format!("it has none of the levels {}..{}", levels.start, levels.end));
        }
        if outcome.end == End::Stopped {
            return Err("it was stopped before its end: play it to its end".to_owned());
        }
        Ok(())
    }

    /// Prints the scores. Returns true if all claims of the file hold.
    fn print_scores(&self, log: &GameLog, outcomes: &[Replayed]) -> bool {
        let header = &log.header;
        let (mut refused, mut counted) = (0, Vec::new());
        for ((number, game), outcome) in (1..).zip(&log.games).zip(outcomes) {
            let checked = if self.seal.is_some() { Ok(()) } else { game.check(header, outcome) };
            match checked.and_then(|()| self.check_level(game, outcome)) {
                Err(reason) => {
                    refused += 1;
                    say!("refused  game {number}: {reason}");
                    continue;
                }
                Ok(()) if outcome.end != End::Stopped => counted.push(f64::from(outcome.score)),
                Ok(()) => {}
            }
            if self.each {
                let start = match (game.level, game.seed) {
                    (Some(level), _) => format!("level {level}"),
                    (None, Some(seed)) => format!("seed {seed} episode {}", game.episode),
                    (None, None) => "power-on".to_owned(),
                };
                let end = format!("{:?}", outcome.end).to_lowercase();
                say!("{:6}  {end:7}  {} steps  {start}", outcome.score, outcome.steps);
            }
        }
        let stopped = outcomes.len() - counted.len() - refused;
        let mut missing = self.levels.clone().unwrap_or_default();
        let has_game = |level: &u32| log.games.iter().any(|game| game.level == Some(*level));
        if let Some(level) = missing.find(|level| !has_game(level)) {
            refused += 1;
            say!("refused  the file: it has no game of level {level}");
        }
        let options = [&header.variant, &header.difficulty].into_iter().flatten();
        say!(
            "{}{}: {}, {} frame{} a step",
            header.game,
            options.map(|option| format!(" {option}")).collect::<String>(),
            summary(&mut counted),
            header.frames_per_step,
            if header.frames_per_step == 1 { "" } else { "s" }
        );
        if stopped > 0 {
            say!("{stopped} games were stopped before their end and do not count");
        }
        refused == 0
    }
}

/// Describes scores by number, mean, interquartile mean and extremes.
fn summary(scores: &mut [f64]) -> String {
    scores.sort_by(f64::total_cmp);
    let (count, quarter) = (scores.len(), scores.len() / 4);
    if count == 0 {
        return "no finished game".to_owned();
    }
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    let middle = &scores[quarter..count - quarter];
    format!(
        "{count} games, mean score {:.1}, interquartile mean {:.1}, {} to {}",
        mean(scores),
        mean(middle),
        scores[0],
        scores[count - 1]
    )
}
