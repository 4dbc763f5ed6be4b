//! Simulates an instruction cache that warps share.

/// Bytes of a line.
const LINE_BYTES: usize = 128;
/// Bytes of an instruction.
const INSTRUCTION_BYTES: usize = 16;
/// Greatest number of lines of a set.
const WAYS: usize = 8;

/// A cache of sets of lines. Each set replaces the line whose last use is longest ago.
#[derive(Clone, Debug)]
pub struct InstructionCache {
    /// Lines of each set, the most recently used line first.
    sets: Vec<Vec<u32>>,
    ways: usize,
}

/// Counts of warps that share a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misses {
    /// Instructions of all warps.
    pub issues: u64,
    /// Number of requested lines that were missing.
    pub misses: u64,
}

impl InstructionCache {
    /// Makes an empty cache of this number of bytes, at least one line.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let lines = (bytes / LINE_BYTES).max(1);
        let ways = lines.min(WAYS);
        Self { sets: vec![Vec::with_capacity(ways); lines / ways], ways }
    }

    /// Loads a line; returns true if it was present.
    fn touch(&mut self, line: u32) -> bool {
        let place = line as usize % self.sets.len();
        let set = &mut self.sets[place];
        let position = set.iter().position(|it| *it == line);
        match position {
            Some(at) => set[..=at].rotate_right(1),
            None => {
                set.truncate(self.ways - 1);
                set.insert(0, line);
            }
        }
        position.is_some()
    }

    /// Counts the misses of warps that take turns, one instruction each, until all have ended. A
    /// warp requests a line from the cache when its next instruction lies in another line than
    /// the last one.
    #[must_use]
    pub fn misses(mut self, traces: &[Vec<u32>]) -> Misses {
        let mut counts = Misses::default();
        let mut lines = vec![None; traces.len()];
        let longest = traces.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..longest {
            for (trace, last) in traces.iter().zip(&mut lines) {
                let Some(instruction) = trace.get(at) else { continue };
                let line = instruction / (LINE_BYTES / INSTRUCTION_BYTES) as u32;
                counts.issues += 1;
                if *last != Some(line) {
                    *last = Some(line);
                    counts.misses += u64::from(!self.touch(line));
                }
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::{InstructionCache, Misses};

    /// Returns the instructions of whole lines, one after the other.
    fn lines(numbers: impl IntoIterator<Item = u32>) -> Vec<u32> {
        numbers.into_iter().flat_map(|line| (0..8).map(move |at| line * 8 + at)).collect()
    }

    fn misses(bytes: usize, traces: &[Vec<u32>]) -> u64 {
        InstructionCache::new(bytes).misses(traces).misses
    }

    #[test]
    fn a_loop_that_fits_misses_once_a_line() {
        let trace = lines((0..10).flat_map(|_| 0..64));
        let counts = InstructionCache::new(8 << 10).misses(std::slice::from_ref(&trace));
        assert_eq!(counts, Misses { issues: 10 * 64 * 8, misses: 64 });
        // Of 65 lines nine share a set, and each new line replaces the line that is needed next.
        let trace = lines((0..10).flat_map(|_| 0..65));
        assert_eq!(misses(8 << 10, &[trace]), 65 + 9 * 9);
    }

    #[test]
    fn warps_find_the_lines_of_others() {
        let trace = lines(0..64);
        assert_eq!(misses(16 << 10, &[trace.clone(), trace.clone()]), 64);
        // The warps run different code, so the cache must hold the code of both.
        assert_eq!(misses(16 << 10, &[trace, lines(64..128)]), 128);
        let [one, other] = [0, 64].map(|first| lines((0..10).flat_map(|_| first..first + 64)));
        assert_eq!(misses(8 << 10, std::slice::from_ref(&one)), 64);
        assert_eq!(misses(8 << 10, &[one, other]), 2 * 640);
    }

    #[test]
    fn a_cache_of_one_set_keeps_what_a_list_of_all_uses_says() {
        let mut state = 1_u32;
        let trace: Vec<u32> = (0..5000)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 16) % 160
            })
            .collect();
        // A line is present if fewer than eight other lines were used since its last use.
        let used: Vec<u32> = trace.iter().map(|it| it / 8).collect();
        let is_missed = |at: usize| {
            let mut since: Vec<u32> =
                used[..at].iter().rev().take_while(|it| **it != used[at]).copied().collect();
            since.sort_unstable();
            since.dedup();
            since.len() >= 8 || !used[..at].contains(&used[at])
        };
        let expected = (0..used.len()).filter(|at| is_missed(*at)).count();
        assert_eq!(misses(8 * 128, &[trace]), expected as u64);
    }
}
