//! Running statistics of a swarm's episodes, for the page.

use std::collections::VecDeque;

/// Number of episodes over which means are taken.
const MEAN_OVER: usize = 100;

/// Returns of present episodes, and results of the last ones.
#[derive(Debug, Default)]
pub(crate) struct Statistics {
    envs: Vec<Running>,
    /// Return and number of steps of the last episodes.
    last: VecDeque<(f64, u64)>,
    episodes: u64,
    best: Option<f64>,
}

/// Present episode of an env.
#[derive(Debug, Clone, Default)]
struct Running {
    total: f64,
    steps: u64,
    is_over: bool,
}

/// Summary of all episodes so far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Summary {
    pub(crate) episodes: u64,
    /// Means of return and length over the last 100 episodes.
    pub(crate) mean_return: Option<f64>,
    pub(crate) mean_steps: Option<f64>,
    /// Highest return of all episodes that ended.
    pub(crate) best_return: Option<f64>,
    /// The env whose present episode has the highest return, and that return.
    pub(crate) leader: Option<(usize, f64)>,
}

impl Statistics {
    /// Counts a step of all envs. After the end of its episode an env isn't counted while it
    /// `is_between` episodes; its next episode begins with the step after that.
    pub(crate) fn count(
        &mut self,
        rewards: &[f32],
        over: &[bool],
        is_between: impl Fn(usize) -> bool,
    ) {
        self.envs.resize(rewards.len(), Running::default());
        for (env, running) in self.envs.iter_mut().enumerate() {
            let was_over = std::mem::replace(&mut running.is_over, over[env]);
            if was_over {
                (running.total, running.steps) = (0.0, 0);
                if is_between(env) {
                    continue;
                }
            }
            running.total += f64::from(rewards[env]);
            running.steps += 1;
            if over[env] {
                self.episodes += 1;
                self.best = Some(self.best.map_or(running.total, |best| best.max(running.total)));
                self.last.push_back((running.total, running.steps));
            }
        }
        let excess = self.last.len().saturating_sub(MEAN_OVER);
        self.last.drain(..excess);
    }

    /// Restarts the present episodes of some envs.
    pub(crate) fn begin(&mut self, begins: impl Fn(usize) -> bool) {
        for (env, running) in self.envs.iter_mut().enumerate() {
            if begins(env) {
                *running = Running::default();
            }
        }
    }

    /// Returns the return of an env's present episode, or of an episode that has just ended.
    pub(crate) fn return_of(&self, env: usize) -> f32 {
        self.envs.get(env).map_or(0.0, |running| running.total as f32)
    }

    /// Returns a summary; `None` before the first step.
    pub(crate) fn summary(&self) -> Option<Summary> {
        let leader =
            self.envs.iter().enumerate().max_by(|(_, a), (_, b)| a.total.total_cmp(&b.total));
        let (leader, running) = leader?;
        let mean = |sum: f64| (!self.last.is_empty()).then(|| sum / self.last.len() as f64);
        Some(Summary {
            episodes: self.episodes,
            mean_return: mean(self.last.iter().map(|(total, _)| total).sum()),
            mean_steps: mean(self.last.iter().map(|(_, steps)| *steps as f64).sum()),
            best_return: self.best,
            leader: Some((leader, running.total)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn episodes_are_counted_and_the_step_between_two_is_not() {
        let mut statistics = Statistics::default();
        assert_eq!(statistics.summary(), None);
        let nobody = |_| false;
        statistics.count(&[1.0, 2.0], &[false, false], nobody);
        statistics.count(&[1.0, 3.0], &[true, false], nobody);
        // Env 0 is between its episodes, so its reward there counts for no episode.
        statistics.count(&[7.0, 0.0], &[false, true], |env| env == 0);
        statistics.count(&[4.0, 1.0], &[true, false], nobody);
        let summary = statistics.summary().expect("some steps");
        assert_eq!((summary.episodes, summary.best_return), (3, Some(5.0)));
        assert_eq!((summary.mean_return, summary.mean_steps), (Some(11.0 / 3.0), Some(2.0)));
        assert_eq!(summary.leader, Some((0, 4.0)));
        assert_eq!([statistics.return_of(0), statistics.return_of(1)], [4.0, 1.0]);
        statistics.begin(|env| env == 0);
        assert_eq!([statistics.return_of(0), statistics.return_of(1)], [0.0, 1.0]);
    }

    #[test]
    fn means_are_of_the_last_hundred() {
        let mut statistics = Statistics::default();
        for episode in 0..150 {
            statistics.count(&[episode as f32], &[true], |_| false);
        }
        let summary = statistics.summary().expect("some steps");
        assert_eq!((summary.episodes, summary.mean_return), (150, Some(99.5)));
    }
}
