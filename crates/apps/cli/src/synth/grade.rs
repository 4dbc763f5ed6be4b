//! `gbxcule synth tasks` and `grade`: prompts for language models, and verdicts on their answers.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, ensure};
use clap::Args;
use gbxcule_files::{check_writable, is_same_file};
use gbxcule_grading::answer::{self, Answer};
use gbxcule_grading::score::{self, Group, GroupScore};
use gbxcule_grading::stand_in::StandIn;
use gbxcule_grading::task::Task;
use gbxcule_grading::{self as grading, GradeOptions, Grader, Judged};
use gbxcule_lab::artifact::write_whole;
use gbxcule_rows::batch::{check_numbers, read_brief, read_some};
use gbxcule_rows::row::{COMPILER_VERSION, Row};
use gbxcule_rows::shard::BlockResults;
use gbxcule_rows::split::SPLITS;
use gbxcule_rows::structure::digest;
use gbxcule_sandbox::Protection;
use serde_json::{Value, json};

use super::sharding::ShardOption;
use super::{Dataset, WorkersOption};
use crate::print::{self, say};
use crate::progress;

/// Number of problems below which a feature appears only in the JSON.
const MIN_FEATURE_PROBLEMS: usize = 10;

fn task(text: &str) -> Result<Task, String> {
    text.parse()
}

/// Write questions to a language model about each row, as chat messages and as plain text
///
/// One JSON object a line: `custom_id`, `row`, `task`, `family`, `split`, `messages`, `prompt`. A
/// row has only the tasks whose texts it holds: rows made with `--device cpu` have no tasks in
/// CUDA.
#[derive(Args)]
pub(crate) struct Tasks {
    #[command(flatten)]
    dataset: Dataset,

    /// Write only this task; by default all of python-to-cuda, python-to-cpp, python-to-ir,
    /// cuda-to-python, forward-to-backward, description-to-python, description-to-cuda,
    /// repair-python, repair-cuda, find-bug, find-race and predict-value
    #[arg(long, value_name = "TASK", value_parser = task)]
    task: Option<Task>,

    /// Write only tasks about rows of this split; by default all rows
    #[arg(long, value_name = "PART", value_parser = SPLITS)]
    split: Option<String>,

    /// File for the tasks; by default standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Also write answers to this file, made of the rows' own texts, to try `grade` without a model
    #[arg(long, value_name = "FILE")]
    stand_in: Option<PathBuf>,

    /// Make one in N of the stand-in answers from a changed source; `is_right` in an answer tells
    /// whether its results stay right
    #[arg(long, value_name = "N", requires = "stand_in")]
    mutate_every: Option<NonZeroUsize>,
}

impl Tasks {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        if let (Some(out), Some(stand_in)) = (&self.out, &self.stand_in) {
            ensure!(!is_same_file(out, stand_in), "--out and --stand-in name one file: name two");
        }
        for path in self.out.iter().chain(&self.stand_in) {
            check_writable(path).with_context(|| format!("writing {}", path.display()))?;
        }
        let (_, rows) = self.dataset.read()?;
        check_numbers(&self.dataset.folder, &rows)?;
        let bar = progress::late_bar(rows.len() as u64, "rows").with_message("asking");
        let (mut lines, mut stand_ins, mut count) = (String::new(), String::new(), 0_usize);
        for row in &rows {
            progress::advance(&bar, 1);
            if self.split.as_ref().is_some_and(|split| *split != row.split) {
                continue;
            }
            let tasks =
                Task::ALL.into_iter().filter(|&task| self.task.is_none_or(|only| only == task));
            for task in tasks {
                let Some(prompt) = task.prompt(row) else { continue };
                lines += &format!("{prompt}\n");
                count += 1;
                if self.stand_in.is_some() {
                    // Of each `mutate_every` answers the last one is wrong.
                    let is_changed = self.mutate_every.is_some_and(|every| count % every == 0);
                    let unchanged = || StandIn::own(row, task);
                    let changed = is_changed.then(|| StandIn::changed(row, task, row.id)).flatten();
                    stand_ins +=
                        &changed.or_else(unchanged).map_or(String::new(), |answer| answer.line());
                }
            }
        }
        bar.finish_and_clear();
        if let Some(path) = &self.stand_in {
            write_whole(path, stand_ins.as_bytes())?;
        }
        match &self.out {
            Some(out) => {
                write_whole(out, lines.as_bytes())?;
                say!("{count} tasks of {} rows in {}", rows.len(), out.display());
            }
            None => print::bytes(lines.as_bytes()),
        }
        if count == 0 {
            let rows = rows.len();
            print::error(&format!("none of the {rows} rows has such a task or is in such a part"));
        }
        Ok(count > 0)
    }
}

/// Compile and run the answers of a language model, and print how many are right
///
/// Each answer runs on its row's stored inputs and on fresh inputs of other shapes. NVRTC compiles
/// CUDA, and a simulator that finds races runs it; C++ runs in the sandbox; Python is read and
/// never executed. The command writes `grades.json`, `grades.jsonl` and a picture of each task, and
/// uses no network. A command that was stopped goes on when it is given again.
#[derive(Args)]
#[command(after_long_help = "\
EXAMPLES
  gbxcule synth grade answers.jsonl --dataset runs/kernels                      all answers of a model
  gbxcule synth grade answers.jsonl --dataset runs/kernels --tasks tasks.jsonl  a question without an answer counts as wrong
  gbxcule synth grade answers.jsonl --dataset runs/kernels --task python-to-ir  without a C++ compiler and NVRTC

EXIT STATUS
  0  all answers were graded, right or wrong
  1  some answers are `not graded`; their verdicts have the reason
  2  no answer was graded: a missing file or tool, an answer to a row that the dataset doesn't have")]
pub(crate) struct Grade {
    /// The answers: JSON lines with `row`, `task` and `answer`, or the output of an OpenAI batch
    /// with the `custom_id`s that `tasks` writes
    #[arg(value_name = "ANSWERS.jsonl")]
    answers: PathBuf,

    /// The dataset's folder
    #[arg(long, value_name = "DIR")]
    dataset: PathBuf,

    /// Grade only answers to this task, and take lines without a task as answers to it; by default
    /// all tasks
    #[arg(long, value_name = "TASK", value_parser = task)]
    task: Option<Task>,

    /// The file of questions that `tasks` wrote; by default all rows of the dataset, for each task
    /// that an answer names. A question without an answer counts as wrong
    #[arg(long, value_name = "TASKS.jsonl")]
    tasks: Option<PathBuf>,

    /// Seed of the fresh inputs
    #[arg(long, default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    workers: WorkersOption,

    /// Compile CUDA as C++ and run it on the host, without NVRTC, warps and races: a wrong answer
    /// may pass, and CUDA that needs a GPU's compiler is refused
    #[arg(long)]
    cuda_on_host: bool,

    #[command(flatten)]
    shard: ShardOption,

    /// Folder for the verdicts and scores
    #[arg(long, value_name = "DIR", default_value = "runs/grade")]
    out: PathBuf,

    /// Parent folder of the compiler's scratch folder, which is removed at the end
    #[arg(long, value_name = "DIR", default_value = "runs/synth-host")]
    work: PathBuf,
}

impl Grade {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let ids: BTreeSet<u64> =
            read_brief(&self.dataset, &|_| ())?.iter().map(|row| row.id).collect();
        let mut answers = answer::read(&self.answers, self.task, &ids)?;
        for name in score::FILES {
            let path = self.out.join(name);
            check_writable(&path).with_context(|| format!("--out: writing {}", path.display()))?;
        }
        let rows = read_some(&self.dataset, &|_| true)?;
        let named: BTreeSet<Task> = answers.iter().map(|answer| answer.task).collect();
        let asked: BTreeSet<(Task, u64)> = match &self.tasks {
            Some(path) => answer::questions(path)?,
            None => {
                let of_row = |row: &Row| {
                    let tasks = named.iter().filter(|task| task.is_of(row));
                    tasks.map(|task| (*task, row.id)).collect::<Vec<_>>()
                };
                rows.values().flat_map(of_row).collect()
            }
        };
        let is_asked =
            |it: &(Task, u64)| self.task.is_none_or(|task| task == it.0) && ids.contains(&it.1);
        answer::complete(&mut answers, &asked.into_iter().filter(is_asked).collect());
        if let Some(warning) = Protection::here().warning() {
            print::error(&format!("{warning}\n"));
        }
        let options = GradeOptions {
            seed: self.seed,
            work: self.work.clone(),
            workers: self.workers.count(),
            limits: GradeOptions::LIMITS,
            cuda_on_host: self.cuda_on_host,
        };
        let blocks = blocks(&answers);
        let results = self.block_results(&rows, &answers, blocks.len())?;
        let judged = self.judged((&rows, &answers), (&blocks, &results), &options)?;
        let Some(judged) = judged else { return Ok(true) };
        let scores = score::score(&rows, &answers, &judged);
        score::write(&self.out, &answers, &judged, &scores, &options)?;
        if !self.shard.is_shared() {
            results.remove()?;
        }
        print_scores(&rows, &answers, &judged, &scores);
        print_costs(&judged, &scores);
        say!("\nverdicts, scores and pictures are in {}", self.out.display());
        Ok(!judged.iter().any(|it| matches!(it.grade, grading::Grade::NotGraded(_))))
    }
}

/// Greatest number of rows whose answers are a block, and of its answers, unless one row has more.
const BLOCK_ROWS: usize = 16;
const BLOCK_ANSWERS: usize = 64;

/// Divides answers, by their places, into blocks of whole rows.
fn blocks(answers: &[Answer]) -> Vec<Vec<usize>> {
    let mut by_row: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    (0..answers.len()).for_each(|at| by_row.entry(answers[at].row).or_default().push(at));
    let (mut blocks, mut rows): (Vec<Vec<usize>>, _) = (Vec::new(), BLOCK_ROWS);
    for row in by_row.into_values() {
        match blocks.last_mut() {
            Some(block) if rows < BLOCK_ROWS && block.len() + row.len() <= BLOCK_ANSWERS => {
                block.extend(row);
                rows += 1;
            }
            _ => {
                blocks.push(row);
                rows = 1;
            }
        }
    }
    blocks
}

impl Grade {
    /// Claims the folder for the verdicts on these answers.
    fn block_results(
        &self,
        rows: &BTreeMap<u64, Row>,
        answers: &[Answer],
        blocks: usize,
    ) -> anyhow::Result<BlockResults> {
        let texts: Vec<(u64, &str, &str)> =
            answers.iter().map(|it| (it.row, it.task.name(), &*it.text)).collect();
        let of_row =
            |it: &Row| json!([it.id, &it.source, &it.launch_dims, &it.inputs_json, it.input_seed]);
        let rows: Vec<Value> = rows.values().map(of_row).collect();
        let work = json!({
            "verb": "grade", "rows": digest(&json!(rows).to_string(), 16),
            "answers": digest(&json!(texts).to_string(), 16),
            "seed": self.seed, "cuda_on_host": self.cuda_on_host, "compiler": COMPILER_VERSION,
        });
        Ok(BlockResults::begin(&self.out, &work, blocks as u64)?)
    }

    /// Judges the answers of this process's blocks, and writes each block as soon as it is judged;
    /// returns the verdicts on all answers, unless verdicts of other processes are missing.
    fn judged(
        &self,
        (rows, answers): (&BTreeMap<u64, Row>, &[Answer]),
        (blocks, results): (&[Vec<usize>], &BlockResults),
        options: &GradeOptions,
    ) -> anyhow::Result<Option<Vec<Judged>>> {
        // A failure of this computer may not recur.
        let is_final =
            |(_, it): &(usize, Judged)| !matches!(it.grade, grading::Grade::NotGraded(_));
        let missing = results.unfinished(self.shard.blocks(), is_final)?;
        let in_block = |block: u64| blocks[block as usize].iter().map(move |at| (block, *at));
        let places: Vec<(u64, usize)> = missing.into_iter().flat_map(in_block).collect();
        let chosen: Vec<Answer> = places.iter().map(|(_, at)| answers[*at].clone()).collect();
        let bar = progress::late_bar(chosen.len() as u64, "answers").with_message("grading");
        let parts: Mutex<BTreeMap<u64, Vec<(usize, Judged)>>> = Mutex::default();
        let judged = |place: usize, judged: &Judged| {
            let (block, at) = places[place];
            let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
            let part = parts.entry(block).or_default();
            part.push((at, judged.clone()));
            let is_whole = part.len() == blocks[block as usize].len();
            let whole = if is_whole { parts.remove(&block) } else { None };
            drop(parts);
            progress::advance(&bar, 1);
            whole.map_or(Ok(()), |mut whole| {
                whole.sort_by_key(|(at, _)| *at);
                results.write(block, &whole)
            })
        };
        Grader::new(rows, options.clone()).judge(&chosen, &judged)?;
        bar.finish_and_clear();
        let all = self.shard.merged(results, blocks.len() as u64)?;
        Ok(all.map(|mut all: Vec<(usize, Judged)>| {
            all.sort_by_key(|(at, _)| *at);
            all.into_iter().map(|(_, judged)| judged).collect()
        }))
    }
}

fn print_scores(
    rows: &BTreeMap<u64, Row>,
    answers: &[Answer],
    judged: &[Judged],
    scores: &[GroupScore],
) {
    let mut failures: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for it in judged {
        let (what, reason) = match &it.grade {
            grading::Grade::NotGraded(reason) => ("were not graded", reason),
            grading::Grade::UnknownForm(reason) => {
                ("were not graded, and count as not right", reason)
            }
            _ => continue,
        };
        *failures.entry((what, reason)).or_default() += 1;
    }
    for ((what, reason), count) in failures {
        say!("{count} answers {what}: {reason}");
    }
    say!("{} answers about {} rows", answers.len(), rows.len());
    let mut task = "";
    for score in scores {
        if matches!(score.group, Group::Feature(_)) && score.problems < MIN_FEATURE_PROBLEMS {
            continue;
        }
        if task != score.task {
            task = score.task;
            let [right, wrong, compile, parse, none] = grading::Grade::NAMES;
            let cells = ["problems", "answers", right, wrong, compile, parse, none];
            let cells = cells.map(str::to_owned);
            say!("\n{}pass@k, % [95 %]", table_row(task, cells));
        }
        let [right, wrong, compile, parse, none] = score.verdicts;
        let pass = score.pass.iter().map(|pass_at_k| {
            let shares = [pass_at_k.pass, pass_at_k.low, pass_at_k.high];
            let [pass, low, high] = shares.map(|share| 100.0 * share);
            format!("@{} {pass:.1} [{low:.1}, {high:.1}]", pass_at_k.k)
        });
        let pass: Vec<String> = pass.collect();
        let answers = score.verdicts.iter().sum();
        let counts = [score.problems, answers, right, wrong, compile, parse, none];
        let cells = counts.map(|count| count.to_string());
        say!("{}{}", table_row(score.group.name(), cells), pass.join("  "));
    }
}

/// Prints the costs of right answers in CUDA, compared with our compiler's texts.
fn print_costs(judged: &[Judged], scores: &[GroupScore]) {
    let of_all = scores.iter().filter(|it| it.group == Group::All && !it.fast.is_empty());
    for (at, score) in of_all.enumerate() {
        if at == 0 {
            say!("\nright and at least p times as cheap as our own text, by executed machine code");
        }
        let shares = score.fast.iter().map(|it| {
            let [share, low, high] = [it.share, it.low, it.high].map(|share| 100.0 * share);
            format!("fast_{} {share:.1} [{low:.1}, {high:.1}]", it.p)
        });
        say!("{:<20} {}", score.task, shares.collect::<Vec<_>>().join("  "));
    }
    let costs = judged.iter().filter_map(|it| it.costs.as_ref());
    let slow = costs.filter(|costs| score::note(costs).is_some()).count();
    if slow > 0 {
        say!("{slow} answers are right and cost more than twice our own text");
    }
}

/// Formats a row of the table of scores, up to its last column.
fn table_row(name: &str, cells: [String; 7]) -> String {
    let [problems, answers, right, wrong, compile, parse, form] = cells;
    format!(
        "{name:<20} {problems:>8} {answers:>8} {right:>7} {wrong:>13} {compile:>17} {parse:>15} \
         {form:>13}   "
    )
}
