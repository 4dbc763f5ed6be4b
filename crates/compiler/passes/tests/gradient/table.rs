//! Patterns and their verdicts, as the table of docs/gradients.md has them.

use crate::oracle::{Verdict, compare};
use gbxcule_testkit::pattern::patterns;

/// Patterns that are refused, each with its code. All others are right.
const REFUSED: [(&str, &str); 3] = [
    ("overwritten_needed", "grad-overwritten"),
    ("multiplied_in_place", "grad-overwritten"),
    ("atomic_old_value", "grad-atomic"),
];

#[test]
fn every_pattern_is_right_or_refused_as_the_document_says() {
    for pattern in patterns() {
        let refused = REFUSED.iter().find(|(name, _)| *name == pattern.name);
        match (compare(&pattern.case), refused) {
            (Verdict::Right, None) => {}
            (Verdict::Refused(faults), Some((_, code))) => assert_eq!(faults[0].code, *code),
            (verdict, _) => panic!("{}: {verdict:?}", pattern.name),
        }
    }
}
