//! Verdicts of checks, and the reasons why a check has none.
//!
//! A row stores the verdicts of checks that were made. A check that was not run has no verdict and
//! is never stored: it is a [`Skipped`], which reports count.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Verdict of a check that was made, stored as its text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Verdict {
    /// The checked part of the row is right.
    Pass,
    /// The checked part of the row is wrong.
    Fail,
    /// NVIDIA Warp's gradient differs from the row's, which differences confirm.
    Wrong,
    /// Differences find no direction in which the kernel is smooth.
    Rough,
    /// A harvested row fails a check that only sampled rows must pass; the row is kept.
    Waived,
    /// Our compiler refused a reverse, or NVIDIA Warp a source, with the reason, which may be
    /// empty.
    Refused(String),
}

impl From<Verdict> for String {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => "pass".into(),
            Verdict::Fail => "fail".into(),
            Verdict::Wrong => "wrong".into(),
            Verdict::Rough => "rough".into(),
            Verdict::Waived => "waived".into(),
            Verdict::Refused(reason) if reason.is_empty() => "refused".into(),
            Verdict::Refused(reason) => format!("refused: {reason}"),
        }
    }
}

impl TryFrom<String> for Verdict {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Ok(match text.as_str() {
            "pass" => Self::Pass,
            "fail" => Self::Fail,
            "wrong" => Self::Wrong,
            "rough" => Self::Rough,
            "waived" => Self::Waived,
            "refused" => Self::Refused(String::new()),
            other => match other.strip_prefix("refused: ") {
                Some(reason) => Self::Refused(reason.into()),
                None => return Err(format!("`{other}` is no verdict")),
            },
        })
    }
}

/// Result of a check that was made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Check {
    /// Name of the check.
    pub check: String,
    /// Verdict.
    pub verdict: Verdict,
    /// The number that the check measured.
    pub number: Option<f64>,
    /// Wrong columns or checks, for reports; rows don't store them.
    #[serde(skip)]
    pub detail: String,
}

impl Check {
    pub(crate) fn new(check: &str, verdict: Verdict, number: Option<f64>) -> Self {
        Self { check: check.into(), verdict, number, detail: String::new() }
    }

    /// Makes a check that passed, without a number.
    pub(crate) fn passed(check: &str) -> Self {
        Self::new(check, Verdict::Pass, None)
    }

    /// Makes a check that failed, without a number.
    pub(crate) fn failed(check: &str) -> Self {
        Self::new(check, Verdict::Fail, None)
    }

    /// Makes a check that passes if `holds` is true.
    pub(crate) fn holds(check: &str, holds: bool, number: Option<f64>) -> Self {
        Self::new(check, if holds { Verdict::Pass } else { Verdict::Fail }, number)
    }
}

/// Reason why a check was not run to its end.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotRun {
    /// The option that asks for the check was not given.
    #[error("no option asks for it")]
    NotAsked,
    /// The row is wrong already, and the check takes long.
    #[error("another check of the row fails")]
    Failing,
    /// Rows of other versions can't be made again.
    #[error("another version of the program made the row")]
    OtherVersion,
    /// The compiler refuses the row's source, or its inputs don't fit.
    #[error("the row's source or inputs are not readable")]
    Unreadable,
    /// The text may be hostile.
    #[error("the text is not what the compiler prints")]
    Altered,
    /// The row has no text of that kind.
    #[error("the row has no text")]
    NoText,
    /// The row stores nothing to compare with.
    #[error("the row stores nothing to compare with")]
    NothingStored,
    /// NVIDIA's assembler is missing.
    #[error("there is no `ptxas`")]
    NoAssembler,
    /// The kernel reads the bits of a float.
    #[error("the kernel can't be computed in 64 bits")]
    NotWide,
    /// Results differ, but a change of a function by a unit in the last place changes the row's
    /// results as much.
    #[error("rounding in the last digit decides the results")]
    LastDigit,
    /// NVIDIA Warp builds its own trees and cells, and their ids are addresses.
    #[error("the kernel queries geometry, which NVIDIA Warp builds for itself")]
    Geometry,
    /// NVIDIA Warp did not take the source.
    #[error("NVIDIA Warp refuses the source")]
    RefusedByWarp,
    /// Another version of NVIDIA Warp than the installed one wrote the row's text.
    #[error(
        "NVIDIA Warp {stored} wrote the text, and {installed} is installed: install `warp-lang=={stored}`"
    )]
    OtherWarp {
        /// Version that the row names.
        stored: String,
        /// Version that is installed.
        installed: String,
    },
    /// Differences confirm no gradient.
    #[error("differences do not confirm the gradient")]
    Unconfirmed,
    /// A limit was reached, or the machine lacked memory or disk.
    #[error("{0}")]
    Limit(String),
}

/// A check that was not run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Skipped {
    /// Name of the check.
    pub check: String,
    /// Reason.
    pub reason: NotRun,
}

/// A check that was made, or one that was not run.
pub type CheckOutcome = Result<Check, Skipped>;

/// A check that was not run.
pub(crate) fn skipped(check: &str, reason: NotRun) -> CheckOutcome {
    Err(Skipped { check: check.into(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_stored_as_their_texts_and_nothing_else_is_one() {
        let refused = |reason: &str| Verdict::Refused(reason.into());
        for (verdict, text) in [
            (Verdict::Pass, "pass"),
            (Verdict::Fail, "fail"),
            (Verdict::Wrong, "wrong"),
            (Verdict::Rough, "rough"),
            (Verdict::Waived, "waived"),
            (refused(""), "refused"),
            (refused("no: overload"), "refused: no: overload"),
        ] {
            assert_eq!(String::from(verdict.clone()), text);
            assert_eq!(Verdict::try_from(text.to_owned()), Ok(verdict));
        }
        for text in ["", "not run", "not run: no option asks for it", "passed"] {
            assert!(Verdict::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
