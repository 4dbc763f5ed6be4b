//! The most recent samples of a machine's sound, for viewers that read them at their own pace.

use std::collections::VecDeque;

/// Greatest number of samples that are kept: half a second. A slower viewer misses older ones.
const MAX_SAMPLES: usize = 24_000;

/// Samples of a machine, counted from the beginning of the session.
#[derive(Debug, Default)]
pub(crate) struct SoundQueue {
    samples: VecDeque<[i16; 2]>,
    end: u64,
}

impl SoundQueue {
    pub(crate) fn push(&mut self, samples: &[[i16; 2]]) {
        self.samples.extend(samples);
        self.end += samples.len() as u64;
        let excess = self.samples.len().saturating_sub(MAX_SAMPLES);
        self.samples.drain(..excess);
    }

    /// Returns the number of the next sample.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Returns the stored samples from a number on.
    pub(crate) fn since(&self, begin: u64) -> impl ExactSizeIterator<Item = [i16; 2]> + '_ {
        let count = self.end.saturating_sub(begin).min(self.samples.len() as u64) as usize;
        self.samples.range(self.samples.len() - count..).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_viewer_gets_every_sample_once_or_misses_the_oldest() {
        let mut queue = SoundQueue::default();
        let sample = |number: usize| [number as i16, -(number as i16)];
        let mut numbers = 0..;
        let mut push = |queue: &mut SoundQueue, count: usize| {
            queue.push(&numbers.by_ref().take(count).map(sample).collect::<Vec<_>>());
        };
        push(&mut queue, 10);
        assert_eq!(queue.since(0).collect::<Vec<_>>(), (0..10).map(sample).collect::<Vec<_>>());
        let begin = queue.end();
        assert_eq!(queue.since(begin).len(), 0);
        push(&mut queue, 3);
        assert_eq!(
            queue.since(begin).collect::<Vec<_>>(),
            (10..13).map(sample).collect::<Vec<_>>()
        );
        push(&mut queue, MAX_SAMPLES);
        let samples: Vec<_> = queue.since(begin).collect();
        assert_eq!((samples.len(), samples[0]), (MAX_SAMPLES, sample(13)));
    }
}
