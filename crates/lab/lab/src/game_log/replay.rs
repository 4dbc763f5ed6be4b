//! Replay of logged games: many games at once in one swarm, each to its end.

use gbxcule_games::{GAMES, Game};
use gbxcule_runtime::Device;
use gbxcule_swarm::game_start::Title;
use gbxcule_swarm::{
    Action, Chance, Codec, Episode, FrameRange, PowerOnChoice, Rom, Schedule, Stage, Swarm,
    SwarmConfig,
};

use super::{End, Header, LoggedGame};
use crate::LabError;
use crate::artifact::sha256;

/// Games that are played at once.
const TOGETHER: usize = 1024;
const WORK_RAM: std::ops::Range<u32> = 0xC000..0xE000;

/// End and score of a game that was played again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// Number of steps until the end.
    pub steps: usize,
    /// The end.
    pub end: End,
    /// The score at the end.
    pub score: u16,
    /// SHA-256 of work RAM at the end.
    pub memory_sha256: String,
}

/// Finds a built-in game for one player.
fn game(name: &str) -> Result<&'static Game, String> {
    let singles = || GAMES.iter().filter(|game| game.players == 1);
    singles().find(|game| game.name == name).ok_or_else(|| {
        let names: Vec<&str> = singles().map(|game| game.name).collect();
        format!("no built-in game for one player `{name}`; there are {}", names.join(", "))
    })
}

/// Returns a built-in game's ROM.
fn rom_of(game: &Game) -> &'static gbxcule_assembler::Rom {
    let built_in = gbxcule_assembler::by_name(game.name);
    built_in.unwrap_or_else(|| unreachable!("the assembler has {}", game.name)).rom()
}

fn place(game: &Game, label: &str) -> u32 {
    let address = rom_of(game).address(label);
    u32::from(address.unwrap_or_else(|| unreachable!("{} has the label {label}", game.name)))
}

/// Returns the bits of a header's variant and difficulty.
fn variant_bits(game: &Game, header: &Header) -> Result<u8, String> {
    let names_in_header = [&header.variant, &header.difficulty].into_iter().flatten();
    let bits = names_in_header.filter(|name| *name != "normal").map(|name| {
        let bit = game.variants.iter().position(|variant| variant.0 == name);
        bit.map(|bit| 1 << bit).ok_or_else(|| {
            let names: Vec<&str> = game.variants.iter().map(|variant| variant.0).collect();
            format!("{} has no variant `{name}`; it has {}", game.name, names.join(", "))
        })
    });
    bits.reduce(|one, two| Ok(one? | two?)).unwrap_or(Ok(0))
}

/// Plays games again, and calls `done` with the number of finished games after each batch.
///
/// # Errors
/// This gbxcule has no such game, or another version of its ROM.
pub fn replay(
    header: &Header,
    games: &[LoggedGame],
    done: &mut dyn FnMut(usize),
) -> Result<Vec<Replayed>, LabError> {
    let refused = |found| LabError::GameLog { found };
    let game = game(&header.game).map_err(refused)?;
    if sha256(&rom_of(game).bytes) != header.rom_sha256 {
        return Err(refused(format!(
            "another {} than this gbxcule has: its ROM has the SHA-256 {}, found {}; take the gbxcule that wrote it",
            game.name, game.sha256, header.rom_sha256
        )));
    }
    let title = header.title()?;
    let is_from_power_on = |game: &LoggedGame| game.seed.is_none() && game.level.is_none();
    if title.is_variant() && games.iter().any(is_from_power_on) {
        return Err(refused(
            "a game from power-on is no variant: give each game a seed or a level".to_owned(),
        ));
    }
    // A game without a title and variants begins at power-on, and so does the swarm.
    let begins_at_power_on = !game.has_title && !title.is_variant();
    let starts = if begins_at_power_on { Vec::new() } else { title.starts()? };
    // Games of similar length are played together, because a swarm is as slow as its longest game.
    let mut order: Vec<usize> = (0..games.len()).collect();
    let kind = |place: usize| (games[place].level.is_some(), games[place].seed.is_some());
    order.sort_by_key(|&place| (kind(place), games[place].buttons.steps()));
    let mut outcomes = vec![None; games.len()];
    for alike in order.chunk_by(|&one, &two| kind(one) == kind(two)) {
        for places in alike.chunks(TOGETHER) {
            let together: Vec<&LoggedGame> = places.iter().map(|&place| &games[place]).collect();
            let levels: Vec<u32> = together.iter().filter_map(|game| game.level).collect();
            let mut table = Table::new(header, game, &together, &starts)?;
            if !levels.is_empty() {
                table.begin_levels(&title.level_starts(&levels)?)?;
            }
            for (place, outcome) in places.iter().zip(table.play(&together)?) {
                outcomes[*place] = Some(outcome);
            }
            done(outcomes.iter().flatten().count());
        }
    }
    Ok(outcomes.into_iter().flatten().collect())
}

/// Returns the number of steps of the longest game under a header.
fn most_steps(header: &Header, game: &Game) -> usize {
    game.episode_frames().div_ceil(header.frames_per_step) as usize
}

impl Header {
    /// Returns the number of steps of the longest game.
    ///
    /// # Errors
    /// No built-in game for one player has the header's name.
    pub fn most_steps(&self) -> Result<usize, LabError> {
        let game = game(&self.game).map_err(|found| LabError::GameLog { found })?;
        Ok(most_steps(self, game))
    }

    /// Switches the header's game on, in its variant and difficulty, and returns the game on its
    /// title.
    ///
    /// # Errors
    /// No built-in game for one player has the header's name, or the game has no such variant.
    pub fn title(&self) -> Result<Title, LabError> {
        let refused = |found| LabError::GameLog { found };
        let game = game(&self.game).map_err(refused)?;
        let bits = variant_bits(game, self).map_err(refused)?;
        Ok(Title::new(game, Rom::new(&rom_of(game).bytes)?, PowerOnChoice::Zero, bits)?)
    }
}

/// Games that are played at once.
struct Table {
    swarm: Swarm,
    /// Addresses of the score, and of the byte that is set at the game's end.
    score: u32,
    over: u32,
    most_steps: usize,
}

impl Table {
    fn new(
        header: &Header,
        game: &Game,
        games: &[&LoggedGame],
        starts: &[Vec<u8>],
    ) -> Result<Self, LabError> {
        let is_seeded = games.iter().all(|game| game.seed.is_some());
        let config = SwarmConfig {
            codec: all_buttons(),
            schedule: Schedule::new(header.frames_per_step, header.release_after_frames)?,
            stage: Stage::EmulateOnly,
            chance: is_seeded.then_some(Chance { low: place(game, "Random"), width_bytes: 2 }),
            ..SwarmConfig::new(games.len())
        };
        let mut swarm = Swarm::new(Rom::new(&rom_of(game).bytes)?, config, Device::Cpu)?;
        let starts: Vec<&[u8]> =
            if is_seeded { starts.iter().map(Vec::as_slice).collect() } else { Vec::new() };
        // Python's environments do the same with `start_steps=1`.
        swarm.restart_from(&starts, u32::from(is_seeded))?;
        for (env, game) in games.iter().enumerate() {
            let episode = Episode { seed: game.seed.unwrap_or_default(), count: game.episode };
            swarm.set_episode(env, episode)?;
        }
        swarm.reset_masked(&vec![true; games.len()])?;
        Ok(Self {
            swarm,
            score: place(game, "Score"),
            over: place(game, "GameOver"),
            most_steps: most_steps(header, game),
        })
    }

    /// Loads the beginning of each env's level, and runs the step without buttons with which
    /// Python's environments begin an episode.
    fn begin_levels(&mut self, starts: &[Vec<u8>]) -> Result<(), LabError> {
        for (env, start) in starts.iter().enumerate() {
            self.swarm.load_state(env, start)?;
        }
        self.swarm.step(&vec![0; starts.len()])?;
        Ok(())
    }

    fn play(&mut self, games: &[&LoggedGame]) -> Result<Vec<Replayed>, LabError> {
        let mut buttons: Vec<_> = games.iter().map(|game| game.buttons.iter()).collect();
        let mut outcomes = vec![None; games.len()];
        let mut plays = vec![true; games.len()];
        let mut actions = vec![0; games.len()];
        let frames = 0..self.swarm.config().schedule.frames_per_step();
        let range = FrameRange { frames, draw_last: false };
        for steps in 1.. {
            for (env, buttons) in buttons.iter_mut().enumerate().filter(|(env, _)| plays[*env]) {
                actions[env] = buttons.next().unwrap_or_default();
            }
            self.swarm.step_frames_masked(&actions, &plays, &range)?;
            for env in (0..games.len()).filter(|&env| plays[env]).collect::<Vec<_>>() {
                if let Some(end) = self.end(env, steps, games[env].buttons.steps())? {
                    plays[env] = false;
                    outcomes[env] = Some(self.outcome(env, steps, end)?);
                }
            }
            if !plays.contains(&true) {
                break;
            }
        }
        Ok(outcomes.into_iter().flatten().collect())
    }

    /// Returns the game's end if the last step ended it, or `None` while it goes on.
    fn end(&self, env: usize, steps: usize, logged: usize) -> Result<Option<End>, LabError> {
        let over = self.swarm.read_memory(env, self.over..self.over + 1)?;
        Ok(match () {
            () if over != [0] => Some(End::Over),
            () if steps >= self.most_steps => Some(End::Limit),
            () if steps >= logged => Some(End::Stopped),
            () => None,
        })
    }

    fn outcome(&self, env: usize, steps: usize, end: End) -> Result<Replayed, LabError> {
        let score = self.swarm.read_memory(env, self.score..self.score + 2)?;
        let memory = self.swarm.read_memory(env, WORK_RAM)?;
        let score = u16::from_le_bytes([score[0], score[1]]);
        Ok(Replayed { steps, end, score, memory_sha256: sha256(&memory) })
    }
}

/// Returns the codec in which an action's number is the byte of its buttons.
fn all_buttons() -> Codec {
    let action = |buttons| Action { name: "buttons".to_owned(), buttons, frames: None };
    Codec { name: "all_buttons".to_owned(), actions: (0..=255).map(action).collect() }
}
