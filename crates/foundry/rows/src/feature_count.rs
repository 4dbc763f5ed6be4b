//! Counts of kernels that use each feature of the language, for a dataset and for NVIDIA Warp's
//! tests.
//!
//! The three tables of a folder's kernels read the text alone, so they count kernels that don't
//! compile, too: features here, lines and constructs in `construct_table`, outlines in `skeleton`.
//! The crate `survey` compiles the kernels.
//!
//! `warp_usage.csv` was measured from the tests in the wheel of Warp 1.19.0. Of Warp's kernels only
//! the kernel's own text counts, without the functions that it calls; of a row the whole text
//! counts.

use crate::error::SynthError;
use crate::row::Row;
use crate::structure::{Token, features, tokens};
use gbxcule_files::python_files;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

/// Counts of kernels.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Number of all kernels.
    pub kernels: usize,
    /// Number of kernels that use each feature.
    pub counts: BTreeMap<String, usize>,
}

impl Usage {
    /// Returns the features of the tests of Warp 1.19.0.
    pub fn of_warp() -> Self {
        let mut lines = include_str!("warp_usage.csv").lines().filter_map(|line| {
            let (name, count) = line.rsplit_once(',')?;
            Some((name.to_owned(), count.parse().ok()?))
        });
        let kernels = lines.next().map_or(0, |first| first.1);
        Self { kernels, counts: lines.collect() }
    }

    /// Counts the features of a folder of Python files: of every function marked `@wp.kernel`.
    pub fn of_folder(folder: &Path) -> Result<Self, SynthError> {
        let mut usage = Self::default();
        for path in python_files(folder)? {
            let text = gbxcule_files::read_text(&path, gbxcule_files::MAX_TEXT_BYTES)
                .map_err(SynthError::file(&path))?;
            let tokens = tokens(&text);
            kernels(&tokens).into_iter().for_each(|kernel| usage.add(&features(&tokens[kernel])));
        }
        Ok(usage)
    }

    /// Counts the features of rows.
    pub fn of_rows(rows: &[Row]) -> Self {
        let mut usage = Self::default();
        rows.iter().for_each(|row| usage.add(&row.features));
        usage
    }

    fn add(&mut self, features: &[String]) {
        self.kernels += 1;
        for feature in features {
            *self.counts.entry(feature.clone()).or_default() += 1;
        }
    }

    /// Returns the share of kernels that use a feature, in percent.
    pub fn share(&self, feature: &str) -> f64 {
        let count = self.counts.get(feature).copied().unwrap_or(0);
        100.0 * count as f64 / self.kernels.max(1) as f64
    }

    /// Returns the features, the most frequent first.
    pub fn by_share(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.counts.iter().collect();
        names.sort_by(|left, right| right.1.cmp(left.1).then_with(|| left.0.cmp(right.0)));
        names.into_iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Writes the table that [`Usage::of_warp`] reads.
    pub fn to_csv(&self) -> String {
        let mut text = format!("kernels,{}\n", self.kernels);
        for name in self.by_share() {
            _ = writeln!(text, "{name},{}", self.counts[name]);
        }
        text
    }
}

/// Returns the tokens of each kernel, from the decorator to the end of the body.
pub(crate) fn kernels(tokens: &[(usize, Token<'_>)]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for (at, &(_, token)) in tokens.iter().enumerate() {
        let Token::Line(margin) = token else { continue };
        let marks = tokens[at + 1..].iter().map(|it| it.1).take(4);
        let wanted = [
            Token::Mark("@"),
            Token::Name("wp", false),
            Token::Mark("."),
            Token::Name("kernel", true),
        ];
        if !marks.eq(wanted) {
            continue;
        }
        let mut body = false;
        let end = tokens[at + 1..].iter().position(|(_, token)| match *token {
            Token::Line(other) if other > margin => {
                body = true;
                false
            }
            Token::Line(_) => body,
            _ => false,
        });
        ranges.push(at..end.map_or(tokens.len(), |end| at + 1 + end));
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_end_where_their_bodies_do() {
        let text = "x = 1\nclass A:\n    @wp.kernel(module=\"unique\")\n    def f(\n        a: int,\n    ):\n        if a:\n            wp.printf(\"@wp.kernel\")\n\n    y = wp.sin(1.0)\n\n@wp.kernel\ndef g():\n    wp.tid()\n";
        let tokens = tokens(text);
        let ranges = kernels(&tokens);
        assert_eq!(ranges.len(), 2);
        let [first, second] = [0, 1].map(|at| features(&tokens[ranges[at].clone()]));
        assert!(first.contains(&"if".to_owned()) && !first.contains(&"wp.sin".to_owned()));
        assert!(second.contains(&"wp.tid".to_owned()), "{second:?}");
    }

    #[test]
    fn the_table_of_warp_reads_back() {
        let warp = Usage::of_warp();
        assert_eq!(warp.to_csv(), include_str!("warp_usage.csv"));
        assert!(warp.kernels > 1000 && warp.share("wp.tid") > 50.0, "{}", warp.kernels);
    }
}
