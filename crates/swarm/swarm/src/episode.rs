//! State of the envs' episodes: which envs begin an episode with the next step, and the chance of
//! each episode.
//!
//! A Game Boy has no source of chance. Sixteen bits for each episode are derived from the env's
//! seed and the episode's number alone, so an env plays the same games whatever other envs do.
//! [`env_seed`] mixes the envs' seeds from the swarm's seed, so swarms with different seeds have no
//! env's seed in common.

use gbxcule_console::banked_address;
use gbxcule_ir::splitmix;

use crate::{LinkMode, Rom, SwarmError};

/// A number in memory that is drawn anew when an episode begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chance {
    /// The number's place: its address, or [`crate::in_bank`].
    pub low: u32,
    /// The number's size in bytes, 1 or 2; the low byte comes first.
    pub width_bytes: u8,
}

impl Chance {
    /// Refuses another size, and places outside of the address space.
    pub(crate) fn check(self, rom: &Rom) -> Result<(), SwarmError> {
        if !(1..=2).contains(&self.width_bytes) {
            return Err(SwarmError::ChanceWidth { found: self.width_bytes });
        }
        banked_address::check_write(self.low, usize::from(self.width_bytes), rom)?;
        let (_, address) = banked_address::split(self.low);
        if address < 0x8000 {
            return Err(SwarmError::ChanceInRom { address });
        }
        Ok(())
    }

    /// The bytes of a drawn number.
    pub(crate) fn bytes(self, drawn: u16) -> Vec<u8> {
        drawn.to_le_bytes()[..usize::from(self.width_bytes)].to_vec()
    }
}

/// An env's place in the sequence of its episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Episode {
    /// The env's seed.
    pub seed: u64,
    /// Number of episodes that began since the env was seeded.
    pub count: u64,
}

impl Episode {
    /// Chooses this episode's start by the weights.
    fn start(self, weights: &[u32]) -> usize {
        let all: u64 = weights.iter().copied().map(u64::from).sum();
        // A separate random number: the chance in memory must not depend on the number of starts.
        let mut drawn = splitmix64(self.bits()) % all.max(1);
        let falls_here = |&weight: &u32| {
            let falls = drawn < u64::from(weight);
            drawn = drawn.wrapping_sub(u64::from(weight));
            falls
        };
        weights.iter().position(falls_here).unwrap_or(0)
    }

    fn bits(self) -> u64 {
        splitmix64(splitmix64(self.seed).wrapping_add(self.count.wrapping_mul(splitmix::STEP)))
    }

    /// Random bits for a frame of this episode, independent of those for its start.
    pub(crate) fn bits_at(self, frame: u64) -> u64 {
        splitmix64(self.bits().wrapping_add(frame.wrapping_add(1).wrapping_mul(splitmix::STEP)))
    }

    /// Begins the next episode and draws its chance, 1 to 65,535: 0 would stay 0 in the generators
    /// of games.
    pub(crate) fn draw(&mut self) -> u16 {
        self.count = self.count.wrapping_add(1);
        (self.bits() % 65535 + 1) as u16
    }
}

/// The episodes of all envs.
#[derive(Debug, Clone)]
pub(crate) struct Episodes {
    pub(crate) by_env: Vec<Episode>,
    /// True for envs that were put to a start and whose programs have yet to run `begin`, before
    /// the next step.
    pub(crate) awaits_begin: Vec<bool>,
    /// Weight of each start.
    weights: Vec<u32>,
}

impl Episodes {
    /// The episodes of envs that were just switched on, with `starts` starts.
    pub(crate) fn new(num_envs: usize, starts: usize) -> Self {
        let (by_env, awaits_begin) = (vec![Episode::default(); num_envs], vec![true; num_envs]);
        Self { by_env, awaits_begin, weights: vec![1; starts] }
    }

    /// Returns the start of an env's episode; both envs of a pair take the first env's start.
    pub(crate) fn start(&self, env: usize, link: LinkMode) -> usize {
        let chooses = if link == LinkMode::Pairs { env & !1 } else { env };
        self.by_env[chooses].start(&self.weights)
    }

    pub(crate) fn weights(&self) -> &[u32] {
        &self.weights
    }

    /// Sets one weight for each start, unchecked.
    pub(crate) fn set_start_weights_unchecked(&mut self, weights: Vec<u32>) {
        self.weights = weights;
    }

    /// Sets weights, each of which applies to `each` consecutive starts.
    pub(crate) fn set_start_weights(
        &mut self,
        weights: &[u32],
        each: usize,
    ) -> Result<(), SwarmError> {
        let (starts, found) = (self.weights.len() / each, weights.len());
        if found != starts {
            return Err(SwarmError::WrongWeights { starts, found });
        }
        if weights.iter().all(|weight| *weight == 0) {
            return Err(SwarmError::NoStart);
        }
        let spread = weights.iter().flat_map(|&weight| std::iter::repeat_n(weight, each));
        self.set_start_weights_unchecked(spread.collect());
        Ok(())
    }

    /// Begins anew with one seed, from which [`env_seed`] mixes each env's.
    pub(crate) fn seed_all(&mut self, seed: u64) {
        for (episode, env) in self.by_env.iter_mut().zip(0..) {
            *episode = Episode { seed: env_seed(seed, env), count: 0 };
        }
    }

    /// Seeds the envs that have an entry in `seeds`.
    pub(crate) fn seed_some(&mut self, seeds: &[Option<u64>]) {
        for (episode, seed) in self.by_env.iter_mut().zip(seeds) {
            if let Some(seed) = *seed {
                *episode = Episode { seed, count: 0 };
            }
        }
    }

    /// Returns the envs whose programs have not begun, if there are any, and clears their marks.
    pub(crate) fn take_awaiting_begin(&mut self) -> Option<Vec<bool>> {
        let any = self.awaits_begin.contains(&true);
        any.then(|| {
            let none = vec![false; self.awaits_begin.len()];
            std::mem::replace(&mut self.awaits_begin, none)
        })
    }

    /// Copies the source's `awaits_begin` to the marked envs.
    pub(crate) fn copy(&mut self, source: usize, mask: &[bool]) {
        let awaits_begin = self.awaits_begin[source];
        for (own, _) in self.awaits_begin.iter_mut().zip(mask).filter(|(_, marked)| **marked) {
            *own = awaits_begin;
        }
    }
}

/// Returns the seed of an env in a swarm with this seed. The first env has the swarm's seed, so
/// that it plays the games of a single env. All other seeds depend on every bit of the swarm's seed
/// and of the env's number; with `seed + env` neighbouring seeds would give swarms the same games.
pub fn env_seed(seed: u64, env: u64) -> u64 {
    if env == 0 { seed } else { splitmix64(splitmix64(seed).wrapping_add(env)) }
}

/// Returns the output of Sebastiano Vigna's splitmix64 for a state: every bit of the output depends
/// on every bit of the state.
pub fn splitmix64(bits: u64) -> u64 {
    splitmix::mix(bits.wrapping_add(splitmix::STEP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::in_bank;

    #[test]
    fn chance_takes_numbers_of_one_or_two_bytes() {
        let rom = gbxcule_assembler::by_name("COLOR_BANKS").expect("a built-in ROM");
        let rom = Rom::new(rom.bytes()).expect("a good header");
        for width_bytes in [0, 3] {
            let refused = Chance { low: 0xC000, width_bytes }.check(&rom);
            assert!(
                matches!(refused, Err(SwarmError::ChanceWidth { found }) if found == width_bytes)
            );
        }
        for width_bytes in [1, 2] {
            let chance = Chance { low: 0xC000, width_bytes };
            chance.check(&rom).expect("a number");
            assert_eq!(chance.bytes(0x1234), [0x34, 0x12][..usize::from(width_bytes)]);
        }
        for low in [0xFFFF, 0x7FFE, in_bank(1, 0x4000), in_bank(9, 0xD000)] {
            assert!(Chance { low, width_bytes: 2 }.check(&rom).is_err(), "{low:x}");
        }
    }

    #[test]
    fn starts_are_chosen_as_often_as_they_weigh() {
        let weights = [3, 0, 1, 4];
        let mut chosen = [0_u32; 4];
        for seed in 0..8000 {
            chosen[Episode { seed, count: 5 }.start(&weights)] += 1;
        }
        for (chosen, weight) in chosen.into_iter().zip(weights) {
            assert!(chosen.abs_diff(1000 * weight) < 150 * weight + 1, "{chosen} for {weight}");
        }
        let even = |seed, starts| Episode { seed, count: 1 }.start(&vec![1; starts]);
        assert!(
            (0..100).any(|seed| even(seed, 3) != even(seed, 2))
                && (0..9).all(|it| even(it, 1) == 0)
        );
    }

    #[test]
    fn chance_depends_on_the_seed_and_the_episode_alone() {
        let mut swarm = Episodes::new(4, 1);
        swarm.seed_all(7);
        let mut single = Episodes::new(1, 1);
        let seed = env_seed(7, 2);
        single.seed_some(&[Some(seed)]);
        let first: Vec<u16> = (0..3).map(|_| single.by_env[0].draw()).collect();
        assert_eq!((0..3).map(|_| swarm.by_env[2].draw()).collect::<Vec<_>>(), first);
        assert_ne!(first[0], first[1]);
        swarm.seed_some(&[None, None, Some(seed), None]);
        assert_eq!(swarm.by_env[2].draw(), first[0]);
        assert_eq!(swarm.by_env[1], Episode { seed: env_seed(7, 1), count: 0 });
    }

    #[test]
    fn swarms_of_two_seeds_share_no_env() {
        let seeds = [0, 1, 2, 3, 64, 9_999, 10_000, 10_001, 10_002, u64::MAX];
        let mut all: Vec<u64> =
            seeds.iter().flat_map(|&seed| (0..4096).map(move |env| env_seed(seed, env))).collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(seeds.iter().all(|&seed| env_seed(seed, 0) == seed));
    }
}
