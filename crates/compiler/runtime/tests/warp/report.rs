//! The table of results.

use crate::comparison::Worst;
use crate::explained::{EXPLAINED, NOW_AND_THEN};
use crate::input::Refusal;
use crate::subject::Tree;
use gbxcule_testkit::switch::shows;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Ways of running, in the order of all reports.
const WAYS: [&str; 3] = ["interpreter", "machine code", "C++ text"];

#[derive(Default)]
pub(crate) struct Report {
    found: usize,
    compiled: usize,
    pub(crate) compared: usize,
    idle: usize,
    racing: usize,
    agree: [usize; 3],
    equal: [usize; 3],
    explained: usize,
    left_out: BTreeMap<String, Vec<String>>,
    pub(crate) surprises: Vec<String>,
}

/// A kernel that ran in all ways.
pub(crate) struct Comparison<'a> {
    pub(crate) title: &'a str,
    pub(crate) transcendental: bool,
    pub(crate) writes: bool,
    pub(crate) races: bool,
    /// Distance of each way of running from Warp.
    pub(crate) verdicts: &'a [Worst; 3],
}

impl Report {
    pub(crate) fn new(tree: &Tree) -> Self {
        Self { found: tree.found, compiled: tree.compiled.len(), ..Self::default() }
    }

    /// Reports a kernel for which no inputs were found.
    pub(crate) fn cannot(&mut self, title: &str, refusal: &Refusal) {
        let reason = match refusal {
            Refusal::Handles => "takes structs that hold arrays".to_string(),
            Refusal::NoArray => "takes no array, so leaves nothing".to_string(),
            Refusal::Faults(failure) => {
                let fault = failure.diagnostic();
                format!("faults on all inputs: {}", fault.code)
            }
        };
        self.left_out.entry(reason).or_default().push(title.to_string());
    }

    /// Reports a kernel that Warp doesn't run.
    pub(crate) fn refused_by_warp(&mut self, title: &str, error: &str) {
        let reason = match error {
            _ if error.contains("defined only when") => "is defined only when its file is run",
            _ if error.starts_with("the warp process") => "ends Warp's process",
            _ => "is refused by Warp",
        };
        let error = error.lines().next().unwrap_or_default();
        self.left_out.entry(reason.into()).or_default().push(format!("{title}: {error}"));
    }

    pub(crate) fn compared(&mut self, comparison: &Comparison<'_>) {
        let &Comparison { title, transcendental, verdicts, .. } = comparison;
        self.compared += 1;
        self.idle += usize::from(!comparison.writes);
        self.racing += usize::from(comparison.races);
        let mut problems = Vec::new();
        for (way, verdict) in verdicts.iter().enumerate() {
            let agrees = verdict.agrees(transcendental);
            self.agree[way] += usize::from(agrees);
            self.equal[way] += usize::from(verdict.ulps == 0.0);
            if !agrees {
                problems.push(format!("{}: {:.0} ULP, {}", WAYS[way], verdict.ulps, verdict.what));
            }
        }
        let reason = EXPLAINED.iter().find(|(begin, _)| title.starts_with(begin));
        let now_and_then = NOW_AND_THEN.iter().any(|begin| title.starts_with(begin));
        let surprises = self.surprises.len();
        match (problems.is_empty(), reason) {
            (true, None) => {}
            (false, Some(_)) => self.explained += 1,
            (false, None) if now_and_then => self.explained += 1,
            (true, Some((_, reason))) => {
                self.surprises.push(format!("{title} agrees, though: {reason}"));
            }
            (false, None) => self.surprises.push(format!("{title}: {}", problems.join("; "))),
        }
        self.surprises[surprises..].iter().for_each(|surprise| println!("{surprise}"));
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let mut row = |name: &str, count: usize| _ = writeln!(text, "{name:<58} {count:>6}");
        row("kernels", self.found);
        row("compiled", self.compiled);
        row("compared with NVIDIA Warp", self.compared);
        row("  of them leave their arrays as they were", self.idle);
        row("  of them have threads that race: alone in machine code", self.racing);
        for (way, name) in WAYS.iter().enumerate() {
            row(&format!("  {name} agrees"), self.agree[way]);
            row(&format!("  {name} leaves the same bits"), self.equal[way]);
        }
        row("  differ, explained", self.explained);
        row("  differ otherwise, or agree unexpectedly", self.surprises.len());
        row("not compared", self.left_out.values().map(Vec::len).sum());
        for (reason, titles) in &self.left_out {
            row(&format!("  {reason}"), titles.len());
        }
        if shows() {
            for (reason, titles) in &self.left_out {
                _ = writeln!(text, "\n{reason}");
                titles.iter().for_each(|title| _ = writeln!(text, "  {title}"));
            }
        }
        text
    }
}
