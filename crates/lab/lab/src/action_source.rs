//! Sources of a run's actions: seeded, so that a run can be repeated to the byte.

use std::fmt;
use std::str::FromStr;

use gbxcule_swarm::{Codec, splitmix64};

/// A rule that gives every env an action at every step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ActionSource {
    /// Uniform over the codec's actions, independent for each step and env.
    #[default]
    Random,
    /// One action after the other; neighbouring envs are one action apart.
    Cycle,
    /// Always the same action, by name.
    Hold(String),
}

impl ActionSource {
    /// Checks that this rule works with a codec.
    ///
    /// # Errors
    /// The action to hold is not in the codec.
    pub fn check(&self, codec: &Codec) -> Result<(), String> {
        match self {
            Self::Hold(name) if codec.action(name).is_none() => {
                let names: Vec<&str> = codec.actions.iter().map(|action| &*action.name).collect();
                Err(format!(
                    "codec {} has no action `{name}`; it has {}",
                    codec.name,
                    names.join(", ")
                ))
            }
            _ => Ok(()),
        }
    }

    /// Sets the actions of all envs at one step.
    pub fn fill(&self, codec: &Codec, seed: u64, step: u64, actions: &mut [u8]) {
        let count = codec.actions.len() as u64;
        for (env, action) in (0_u64..).zip(actions) {
            // A codec has at most 256 actions, so the number fits a byte.
            *action = match self {
                Self::Random => {
                    let of_step = splitmix64(splitmix64(seed) ^ step);
                    (splitmix64(of_step ^ env) % count) as u8
                }
                Self::Cycle => (step.wrapping_add(env) % count) as u8,
                Self::Hold(name) => codec.action(name).unwrap_or(0),
            };
        }
    }
}

impl fmt::Display for ActionSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => formatter.write_str("random"),
            Self::Cycle => formatter.write_str("cycle"),
            Self::Hold(name) => write!(formatter, "hold:{name}"),
        }
    }
}

impl FromStr for ActionSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            None if text == "random" => Ok(Self::Random),
            None if text == "cycle" => Ok(Self::Cycle),
            None if text == "noop" => Ok(Self::Hold("NOOP".to_owned())),
            Some(("hold", name)) => Ok(Self::Hold(name.to_owned())),
            _ => Err(format!(
                "no action source `{text}`; there are random, cycle, noop, hold:ACTION"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(source: &ActionSource, seed: u64, step: u64) -> Vec<u8> {
        let mut actions = vec![0; 64];
        source.fill(&Codec::default(), seed, step, &mut actions);
        actions
    }

    #[test]
    fn random_actions_depend_on_seed_step_and_env_alone() {
        let source = ActionSource::Random;
        assert_eq!(actions(&source, 7, 3), actions(&source, 7, 3));
        assert_ne!(actions(&source, 7, 3), actions(&source, 8, 3));
        assert_ne!(actions(&source, 7, 3), actions(&source, 7, 4));
    }

    #[test]
    fn random_actions_reach_every_action_of_the_codec() {
        let mut seen: Vec<_> =
            (0..16).flat_map(|step| actions(&ActionSource::Random, 0, step)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (0..9).collect::<Vec<u8>>());
    }

    #[test]
    fn sources_read_back_as_they_print() {
        for text in ["random", "cycle", "hold:START"] {
            assert_eq!(
                text.parse::<ActionSource>().map(|source| source.to_string()),
                Ok(text.to_owned())
            );
        }
        assert_eq!("noop".parse(), Ok(ActionSource::Hold("NOOP".to_owned())));
        let without_noop = Codec::by_name("A,B").expect("a table");
        assert!(ActionSource::Hold("NOOP".to_owned()).check(&without_noop).is_err());
    }
}
