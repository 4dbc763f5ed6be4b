//! Scores: the fraction of right answers, and pass@k with intervals, for all rows, by family and by
//! feature.
//!
//! A problem is one row and one task. If `c` of `n` answers to a problem are right, `1 - C(n - c,
//! k) / C(n, k)` estimates without bias the chance that at least one of `k` drawn answers is right.
//! pass@k is the mean over problems. Its interval is Wilson's, at 95 %, with one trial for each
//! problem: estimates lie between 0 and 1, so their mean varies no more than a fraction of
//! successes.

use crate::answer::Answer;
use crate::picture;
use crate::task::Task;
use crate::{Costs, Grade, GradeOptions, Judged};
use gbxcule_gpu_check::cost::Cost;
use gbxcule_rows::error::SynthError;
use gbxcule_rows::row::{COMPILER_VERSION, Row};
use gbxcule_rows::table::write_whole;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Values of `k` for pass@k; values above the number of answers to some problem are left out.
const TRIES: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];
/// Values of `p` for fast_p.
const FACTORS: [f64; 5] = [0.5, 0.8, 1.0, 1.5, 2.0];
/// Speed below which a right answer is called slow.
const SLOW: f64 = 0.5;
/// Quantile of the normal distribution for intervals of 95 %.
const QUANTILE: f64 = 1.959_964;

/// Property that the problems of a group have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(tag = "group", content = "name", rename_all = "lowercase")]
pub enum Group {
    /// All problems of the task.
    All,
    /// A family of rows.
    Family(String),
    /// A construct in the row's source.
    Feature(String),
}

impl Group {
    /// Text for tables and pictures.
    pub fn name(&self) -> &str {
        match self {
            Self::All => "all",
            Self::Family(name) | Self::Feature(name) => name,
        }
    }
}

/// pass@k.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PassAtK {
    /// Number of tries.
    pub k: usize,
    /// Estimate.
    pub pass: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// fast_p.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct FastAtP {
    /// Factor `p`.
    pub p: f64,
    /// Fraction of problems whose answer is right and at least `p` times as cheap as our compiler's
    /// text.
    pub share: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Score of some problems.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GroupScore {
    /// Name of the task.
    pub task: &'static str,
    /// Problems that were scored.
    #[serde(flatten)]
    pub group: Group,
    /// Problems with an answer that was graded.
    pub problems: usize,
    /// Answers by verdict, in the order of [`Grade::NAMES`].
    pub verdicts: [usize; Grade::NAMES.len()],
    /// pass@k.
    pub pass: Vec<PassAtK>,
    /// fast_p, if answers have costs.
    pub fast: Vec<FastAtP>,
}

/// Estimates without bias the probability that at least one of `k` answers is right, given `n`
/// answers of which `right` are right.
pub fn pass_at_k(n: usize, right: usize, k: usize) -> f64 {
    if n - right < k {
        return 1.0;
    }
    // The product of (1 - k / i) for the `right` largest i.
    1.0 - (n - right + 1..=n).map(|i| 1.0 - k as f64 / i as f64).product::<f64>()
}

/// Returns Wilson's interval at 95 % for a fraction of successes in some trials.
pub fn wilson(share: f64, trials: usize) -> (f64, f64) {
    let (n, z) = (trials.max(1) as f64, QUANTILE);
    let centre = share + z * z / (2.0 * n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    // Rounding may move an end beyond the share, or beyond 0 or 1.
    let (low, high) = ((centre - half) / scale, (centre + half) / scale);
    (low.clamp(0.0, share), high.clamp(share, 1.0))
}

/// Counts of a problem's answers: graded, right, and by verdict.
#[derive(Clone, Copy, Default)]
struct ProblemScore {
    graded: usize,
    right: usize,
    verdicts: [usize; Grade::NAMES.len()],
    /// Number of right answers that are cheaper than our compiler's text by each of [`FACTORS`].
    fast: [usize; FACTORS.len()],
    has_costs: bool,
}

/// Scores answers: for each task first all problems, then each family, then each feature.
pub fn score(rows: &BTreeMap<u64, Row>, answers: &[Answer], judged: &[Judged]) -> Vec<GroupScore> {
    let mut problems: BTreeMap<(Task, u64), ProblemScore> = BTreeMap::new();
    for (answer, Judged { grade, costs }) in answers.iter().zip(judged) {
        let problem = problems.entry((answer.task, answer.row)).or_default();
        problem.verdicts[grade.kind()] += 1;
        problem.graded += usize::from(!matches!(grade, Grade::NotGraded(_)));
        problem.right += usize::from(*grade == Grade::Right);
        problem.has_costs |= costs.is_some();
        let speed = costs.and_then(|costs| costs.speed());
        for (count, factor) in problem.fast.iter_mut().zip(FACTORS) {
            *count += usize::from(speed.is_some_and(|speed| speed >= factor));
        }
    }
    let mut groups: BTreeMap<(Task, Group), Vec<ProblemScore>> = BTreeMap::new();
    for ((task, row), problem) in &problems {
        let mut put = |group| groups.entry((*task, group)).or_default().push(*problem);
        put(Group::All);
        if let Some(row) = rows.get(row) {
            put(Group::Family(row.family.clone()));
            row.features.iter().for_each(|feature| put(Group::Feature(feature.clone())));
        }
    }
    groups.into_iter().map(|((task, group), problems)| of_group(task, group, &problems)).collect()
}

fn of_group(task: Task, group: Group, problems: &[ProblemScore]) -> GroupScore {
    let mut verdicts = [0; Grade::NAMES.len()];
    for problem in problems {
        verdicts.iter_mut().zip(problem.verdicts).for_each(|(all, own)| *all += own);
    }
    let graded: Vec<&ProblemScore> = problems.iter().filter(|it| it.graded > 0).collect();
    let least = graded.iter().map(|it| it.graded).min().unwrap_or(0);
    let at = |k: usize| {
        let estimates = graded.iter().map(|it| pass_at_k(it.graded, it.right, k));
        let pass = estimates.sum::<f64>() / graded.len() as f64;
        let (low, high) = wilson(pass, graded.len());
        PassAtK { k, pass, low, high }
    };
    let pass = TRIES.into_iter().filter(|&k| k <= least).map(at).collect();
    let fast_at = |(number, p): (usize, f64)| {
        let shares = graded.iter().map(|it| it.fast[number] as f64 / it.graded as f64);
        let share = shares.sum::<f64>() / graded.len() as f64;
        let (low, high) = wilson(share, graded.len());
        FastAtP { p, share, low, high }
    };
    let has_costs = problems.iter().any(|it| it.has_costs);
    let fast = FACTORS.into_iter().enumerate().filter(|_| has_costs).map(fast_at).collect();
    GroupScore { task: task.name(), group, problems: graded.len(), verdicts, pass, fast }
}

/// Names of the files of the verdicts and of the scores.
pub const FILES: [&str; 2] = ["grades.jsonl", "grades.json"];

/// Writes `grades.jsonl` (one line for each answer), `grades.json` (the scores) and a chart of each
/// task into a folder.
pub fn write(
    folder: &Path,
    answers: &[Answer],
    judged: &[Judged],
    scores: &[GroupScore],
    options: &GradeOptions,
) -> Result<(), SynthError> {
    let mut lines = String::new();
    let best = best(answers, judged);
    for (answer, Judged { grade, costs }) in answers.iter().zip(judged) {
        let mut line = json!({
            "row": answer.row, "task": answer.task.name(), "line": answer.line,
            "verdict": Grade::NAMES[grade.kind()], "reason": grade.reason(),
        });
        if let Some(costs) = costs {
            line["cost"] = cost(&costs.answer);
            line["own_cost"] = costs.own.as_ref().map_or(Value::Null, cost);
            line["speed"] = json!(costs.speed());
            line["best_cycles"] = json!(best[&(answer.task, answer.row)]);
            line["note"] = json!(note(costs));
        }
        lines += &line.to_string();
        lines.push('\n');
    }
    let tasks: BTreeSet<&str> = scores.iter().map(|score| score.task).collect();
    for task in tasks {
        let of_task: Vec<&GroupScore> = scores.iter().filter(|score| score.task == task).collect();
        picture::draw(folder, task, &of_task)?;
    }
    write_whole(folder, FILES[0], lines.as_bytes())?;
    let path = folder.join(FILES[1]);
    let summary = json!({
        "schema_version": 3,
        "compiler": COMPILER_VERSION,
        // Readers whose numbers are doubles would round it.
        "seed": options.seed.to_string(),
        "fresh_inputs": super::FRESH_INPUTS,
        "interval": "Wilson, 95 %, of the problems",
        "verdicts": Grade::NAMES,
        "scores": scores,
    });
    let text =
        serde_json::to_string_pretty(&summary).map_err(|error| SynthError::data(&path, error))?;
    write_whole(folder, FILES[1], format!("{text}\n").as_bytes())
}

/// Returns the cycles of the cheapest right answer to each problem.
fn best(answers: &[Answer], judged: &[Judged]) -> BTreeMap<(Task, u64), f64> {
    let mut best = BTreeMap::new();
    for (answer, judged) in answers.iter().zip(judged) {
        let Some(costs) = &judged.costs else { continue };
        let least = best.entry((answer.task, answer.row)).or_insert(f64::INFINITY);
        *least = least.min(costs.answer.cycles());
    }
    best
}

fn cost(cost: &Cost) -> Value {
    let mut value = json!(cost);
    value["cycles"] = json!(cost.cycles());
    value
}

/// Returns a remark on a right answer that is slow.
pub fn note(costs: &Costs) -> Option<String> {
    let speed = costs.speed().filter(|speed| *speed < SLOW)?;
    let least = if costs.answer.is_whole { "" } else { "at least " };
    Some(format!("right and slow: {least}{:.0} times the cost of our own text", 1.0 / speed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of all choices of `k` answers that contain a right one.
    fn counted(n: usize, right: usize, k: usize) -> f64 {
        let choices = (0..1u32 << n).filter(|choice| choice.count_ones() as usize == k);
        let (mut all, mut some) = (0, 0);
        for choice in choices {
            all += 1;
            some += i32::from(choice & ((1 << right) - 1) != 0);
        }
        f64::from(some) / f64::from(all)
    }

    #[test]
    fn the_estimate_is_the_share_of_choices_with_a_right_answer() {
        for n in 1..=8 {
            for right in 0..=n {
                for k in 1..=n {
                    let (found, wanted) = (pass_at_k(n, right, k), counted(n, right, k));
                    assert!((found - wanted).abs() < 1e-12, "{n} {right} {k}: {found} {wanted}");
                }
            }
        }
    }

    #[test]
    fn an_unknown_form_counts_as_not_right_and_a_row_that_does_not_run_as_nothing() {
        let answer = |row| Answer::new(row, Task::PythonToCuda, String::new(), 1);
        let answers = [answer(1), answer(1), answer(2)];
        let (form, row) = (Grade::UnknownForm("LDGSTS".into()), Grade::NotGraded("row".into()));
        let judged = [Grade::Right, form, row].map(|grade| Judged { grade, costs: None });
        let scores = score(&BTreeMap::new(), &answers, &judged);
        assert_eq!((scores[0].problems, scores[0].pass[0].pass), (1, 0.5));
        assert_eq!(scores[0].verdicts, [1, 0, 0, 0, 2]);
        assert!(scores[0].fast.is_empty());
    }

    #[test]
    fn a_right_answer_is_fast_by_its_cost_and_slow_says_so() {
        let cost = |issues, is_whole| Cost {
            issues,
            sectors: 0,
            lanes: 1.0,
            registers: 16,
            occupancy: 1.0,
            is_whole,
        };
        let answer = |row| Answer::new(row, Task::PythonToCuda, String::new(), 1);
        let costs = |issues| Costs { answer: cost(issues, true), own: Some(cost(4000, true)) };
        let right = |issues| Judged { grade: Grade::Right, costs: Some(costs(issues)) };
        let wrong = Judged { grade: Grade::WrongResult(String::new()), costs: None };
        let answers = [answer(1), answer(1), answer(2), answer(3), answer(4)];
        let judged = [right(4000), right(1000), right(6000), wrong, right(400_000)];
        let scores = score(&BTreeMap::new(), &answers, &judged);
        let shares: Vec<f64> = scores[0].fast.iter().map(|it| it.share).collect();
        // Of the first problem both answers are as cheap, one is twice as cheap; of the second the
        // answer is two thirds as cheap.
        assert_eq!(shares, [0.5, 0.25, 0.25, 0.125, 0.125]);
        assert_eq!(best(&answers, &judged)[&(Task::PythonToCuda, 1)], 250.0);
        assert_eq!(note(&costs(4000)), None);
        let idle = Costs { answer: cost(4_000_000, false), own: Some(cost(4000, true)) };
        let said = "right and slow: at least 1000 times the cost of our own text";
        assert_eq!(note(&idle).as_deref(), Some(said));
    }

    #[test]
    fn intervals_solve_wilsons_equation() {
        for trials in [1, 3, 10, 500] {
            for successes in 0..=trials.min(10) {
                let share = successes as f64 / trials as f64;
                let (low, high) = wilson(share, trials);
                assert!(0.0 <= low && low <= share && share <= high && high <= 1.0);
                // At an end of the interval the share is just one quantile away.
                for end in [low, high].into_iter().filter(|end| *end > 0.0 && *end < 1.0) {
                    let deviation = (end * (1.0 - end) / trials as f64).sqrt();
                    assert!(((share - end).abs() / deviation - QUANTILE).abs() < 1e-6);
                }
            }
        }
    }
}
