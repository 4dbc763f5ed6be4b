//! Reports on a folder of bench artifacts: writes `summary.md` and `scaling.png`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::artifact::{entries, read_foreign_json, read_json, replace};
use crate::{LabError, bench, plot};

/// Greatest number of an artifact's results, and of characters of a name.
const MAX_RESULTS: usize = 10_000;
const MAX_NAME_CHARACTERS: usize = 80;
/// Largest number that a bench can measure, and smallest speed that is drawn.
const MAX_MEASURED: f64 = 1e18;
const MIN_SPEED: f64 = 1e-9;

/// Paths and text of a report that was written.
#[derive(Debug)]
pub struct Report {
    /// Path of the summary.
    pub summary: PathBuf,
    /// Path of the plot beside it.
    pub plot: PathBuf,
    /// Text of the summary.
    pub text: String,
}

/// One measured point.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) num_envs: u64,
    pub(crate) frames_per_s: f64,
    pub(crate) slowest: f64,
    pub(crate) fastest: f64,
    spread: f64,
    steps_per_s_per_env: f64,
    env_steps_per_s: f64,
    scaling_efficiency: f64,
    distinct_pcs: u64,
    open_s: f64,
    first_step_s: f64,
}

/// One line of the plot: a backend within one sweep.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) backend: String,
    pub(crate) points: Vec<Point>,
}

/// One artifact.
#[derive(Debug)]
pub(crate) struct Sweep {
    pub(crate) title: String,
    pub(crate) baseline: String,
    pub(crate) series: Vec<Series>,
    artifact: Value,
}

impl Sweep {
    /// Returns the baseline's best speed with any number of machines, to which speed-ups refer.
    pub(crate) fn baseline_frames_per_s(&self) -> Option<f64> {
        let series = self.series.iter().find(|series| series.backend == self.baseline)?;
        series.points.iter().map(|point| point.frames_per_s).max_by(f64::total_cmp)
    }

    fn read(path: &Path) -> Result<Option<Self>, LabError> {
        if read_foreign_json(path)?["kind"] != bench::KIND {
            return Ok(None);
        }
        let artifact = read_json(path)?;
        let say = |found: &str| LabError::Artifact { path: path.into(), found: found.to_owned() };
        let broken = || say("results are missing, or are not numbers that a bench can measure");
        let mut series: Vec<Series> = Vec::new();
        let results = artifact["results"].as_array().ok_or_else(broken)?;
        if results.is_empty() || results.len() > MAX_RESULTS {
            let count = results.len();
            return Err(say(&format!("{count} results, and a report has 1 to {MAX_RESULTS}")));
        }
        for result in results {
            let backend = name(&result["backend"]);
            let point = point(result).ok_or_else(broken)?;
            match series.iter_mut().find(|series| series.backend == backend) {
                Some(series) => series.points.push(point),
                None => series.push(Series { backend, points: vec![point] }),
            }
        }
        let config = &artifact["config"];
        let title = format!(
            "{} · {} frames a step · {}{}",
            name(&config["rom"]["name"]),
            config["frames_per_step"].as_u64().unwrap_or(0),
            name(&config["stage"]),
            if config["draw_last"] == true { " · last frame drawn" } else { "" },
        );
        let baseline = name(&config["baseline"]);
        Ok(Some(Self { title, baseline, series, artifact }))
    }
}

/// Returns a name in an artifact, shortened for a picture.
pub(crate) fn name(value: &Value) -> String {
    let text = value.as_str().unwrap_or("?");
    text.chars().filter(|it| !it.is_control()).take(MAX_NAME_CHARACTERS).collect()
}

/// Returns a result, or `None` if no bench can have measured its numbers or a scale can't show
/// them.
pub(crate) fn point(result: &Value) -> Option<Point> {
    let measured = |value: &Value| value.as_f64().filter(|it| (0.0..=MAX_MEASURED).contains(it));
    let number = |field: &str| measured(&result[field]);
    let speed = |field: &str| number(field).filter(|it| *it >= MIN_SPEED);
    Some(Point {
        num_envs: result["num_envs"].as_u64().filter(|it| (1..=1 << 40).contains(it))?,
        frames_per_s: speed("frames_per_s")?,
        slowest: speed("slowest_frames_per_s")?,
        fastest: speed("fastest_frames_per_s")?,
        spread: number("spread")?,
        steps_per_s_per_env: number("steps_per_s_per_env")?,
        env_steps_per_s: number("env_steps_per_s")?,
        scaling_efficiency: number("scaling_efficiency")?,
        distinct_pcs: result["distinct_pcs_at_end"].as_u64()?,
        open_s: measured(&result["warm_start"]["open_s"])?,
        first_step_s: measured(&result["warm_start"]["first_step_s"])?,
    })
}

/// Reads every bench artifact in `folder` and writes the summary and the plot beside them.
///
/// # Errors
/// No artifacts, or the folder cannot be written to.
pub fn write(folder: &Path) -> Result<Report, LabError> {
    let mut paths = entries(folder)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut sweeps = Vec::new();
    for path in paths {
        sweeps.extend(Sweep::read(&path)?);
    }
    let Some(first) = sweeps.first() else {
        return Err(LabError::NothingToReport(folder.into()));
    };
    let plot = replace(folder, "scaling.png", &plot::scaling(&sweeps)?)?;
    let text = summary(first, &sweeps);
    let summary = replace(folder, "summary.md", text.as_bytes())?;
    Ok(Report { summary, plot, text })
}

fn summary(first: &Sweep, sweeps: &[Sweep]) -> String {
    let mut text = String::from("# Bench\n\n");
    host(&mut text, &first.artifact);
    text.push_str("\n![frames a second and speed-up over the number of machines](scaling.png)\n");
    for sweep in sweeps {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n## {}\n", sweep.title);
        settings(&mut text, &sweep.artifact);
        speed_table(&mut text, sweep);
        detail_table(&mut text, sweep);
    }
    text
}

fn host(text: &mut String, artifact: &Value) {
    let system = &artifact["system"];
    let word = |value: &Value| value.as_str().map_or_else(|| "unknown".to_owned(), str::to_owned);
    let gibibytes = system["memory_bytes"].as_f64().unwrap_or(0.0) / f64::from(1 << 30);
    let gpus = system["gpus"].as_array().map_or(0, Vec::len);
    let gpu = if gpus == 0 { "none".to_owned() } else { word(&system["gpus"][0]["name"]) };
    let _ = writeln!(
        text,
        "Run `{}` · {} · {} cores · {gibibytes:.0} GiB · {} · GPU: {gpu} · commit {} · {}",
        word(&artifact["run_id"]),
        word(&system["cpu"]),
        system["cpus"],
        word(&system["os"]),
        word(&system["gbxcule"]["commit"]),
        word(&system["gbxcule"]["rustc"]),
    );
}

fn settings(text: &mut String, artifact: &Value) {
    let config = &artifact["config"];
    let _ = writeln!(
        text,
        "Windows of up to {} steps or {} s, {} of each, median shown; ± is half of fastest minus slowest. {} warm-up \
         steps. `sync_every` at most {}. Actions: {} with codec {}, seed {}, released after {} frames. ROM SHA-256 `{}`.\n",
        config["steps"],
        config["longest_window_s"],
        config["repeats"],
        config["warmup_steps"],
        config["sync_every"],
        config["action_gen"].as_str().unwrap_or("?"),
        config["codec"].as_str().unwrap_or("?"),
        config["actions_seed"],
        config["release_after_frames"],
        config["rom"]["sha256"].as_str().unwrap_or("?"),
    );
}

/// Adds frames a second side by side, each with its factor over the baseline's best.
fn speed_table(text: &mut String, sweep: &Sweep) {
    let best = sweep.baseline_frames_per_s();
    let names = sweep.series.iter().map(|series| {
        let what = if series.backend == sweep.baseline { "baseline" } else { "frames/s" };
        format!(" {} ({what}) | speed-up |", series.backend)
    });
    let _ = writeln!(text, "| machines |{}", names.collect::<String>());
    let _ = writeln!(text, "|---:|{}", "---:|---:|".repeat(sweep.series.len()));
    let mut counts: Vec<_> =
        sweep.series.iter().flat_map(|series| &series.points).map(|point| point.num_envs).collect();
    counts.sort_unstable();
    counts.dedup();
    for count in counts {
        let _ = write!(text, "| {count} |");
        for series in &sweep.series {
            let point = series.points.iter().find(|point| point.num_envs == count);
            let cells = point.map_or_else(
                || " | |".to_owned(),
                |point| {
                    let factor =
                        best.map_or_else(String::new, |best| factor(point.frames_per_s / best));
                    let plus_minus = point.spread * 50.0;
                    format!(" {} ± {plus_minus:.0} % | {factor} |", thousands(point.frames_per_s))
                },
            );
            text.push_str(&cells);
        }
        text.push('\n');
    }
    if let Some(best) = best {
        let best = thousands(best);
        let _ = writeln!(text, "\nSpeed-up is over {}'s best of {best} frames/s.", sweep.baseline);
    }
}

fn factor(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}x") } else { format!("{value:.0}x") }
}

fn detail_table(text: &mut String, sweep: &Sweep) {
    text.push_str(
        "\n| backend | machines | env-steps/s | steps/s of each | scaling efficiency | opened in | first step | \
         distinct PCs at the end |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for series in &sweep.series {
        for point in &series.points {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.1} | {:.0} % | {:.3} s | {:.4} s | {} |",
                series.backend,
                point.num_envs,
                thousands(point.env_steps_per_s),
                point.steps_per_s_per_env,
                point.scaling_efficiency * 100.0,
                point.open_s,
                point.first_step_s,
                point.distinct_pcs,
            );
        }
    }
}

/// Formats 1234567.8 as `1,234,568`.
pub fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) && digit.is_ascii_digit() {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(thousands(999.4), "999");
        assert_eq!(thousands(1234.5), "1,234");
        assert_eq!(thousands(1_234_567.8), "1,234,568");
    }
}
