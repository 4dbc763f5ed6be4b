//! Reports on the results from a machine with a GPU (`python/packaging/gpu/run.py`): writes
//! `gpu.md` and `gpu.png`, the tables and the picture of `docs/gpu-results.md`.
//!
//! The folder may come from an unknown source, so its numbers are checked like those of artifacts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::artifact::replace;
use crate::plot::{self, Group};
use crate::report::{Report, name, point, thousands};
use crate::{LabError, bench};

/// Lines of artifacts, one for each step that ran `gbxcule bench`.
pub const ROWS: &str = "bench.jsonl";
const PROFILES: &str = "ncu.jsonl";
const STEPS: &str = "steps.txt";
const PYTHON: &str = "python.jsonl";
/// Greatest number of bytes of a result; the greatest number of lines follows.
const MAX_BYTES: u64 = 64 << 20;
const MAX_LINES: usize = 10_000;
/// Instructions that warps issue for a machine's frame, by ROM, from `make gpu-counts`.
type Counts = BTreeMap<String, f64>;

/// One measurement of a number of machines.
struct Row {
    step: String,
    rom: String,
    num_envs: u64,
    frames_per_s: f64,
    slowest: f64,
    fastest: f64,
    /// True if all options except the ROM and the number of machines have their defaults.
    is_plain: bool,
    /// Card and build, from the artifact.
    origin: String,
}

/// Writes the report on a folder that `run.py` filled; `counts` is a page with the table of `make
/// gpu-counts`.
///
/// # Errors
/// There are no results, they are damaged, or the folder cannot be written to.
pub fn write(folder: &Path, counts: Option<&Path>) -> Result<Report, LabError> {
    let rows = rows(folder)?;
    let Some(first) = rows.first() else { return Err(LabError::NothingToReport(folder.into())) };
    let counts = counts.map_or_else(|| Ok(Counts::new()), read_counts)?;
    let mut text = format!("# On a GPU\n\n{}\n", first.origin);
    text.push_str("\n![frames a second over machines, and over counted issues](gpu.png)\n");
    verdicts(&mut text, &read(&folder.join(STEPS))?);
    speeds(&mut text, &rows, &counts);
    others(&mut text, &rows);
    for profile in lines(&folder.join(PROFILES))? {
        bound(&mut text, &profile, &counts);
    }
    python(&mut text, &lines(&folder.join(PYTHON))?);
    let points = plot::over_machines_and_issues(&groups(&rows), &over_issues(&rows, &counts))?;
    let plot = replace(folder, "gpu.png", &points)?;
    let summary = replace(folder, "gpu.md", text.as_bytes())?;
    Ok(Report { summary, plot, text })
}

/// Returns the text of a result, or an empty text if no step wrote it.
fn read(path: &Path) -> Result<String, LabError> {
    if !path.exists() {
        return Ok(String::new());
    }
    let bytes = gbxcule_files::read(path, MAX_BYTES).map_err(LabError::file(path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the JSON of a result, one value a line. An incomplete last line is ignored, because the
/// machine may have gone during the write.
fn lines(path: &Path) -> Result<Vec<Value>, LabError> {
    let text = read(path)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let json = |line| {
        serde_json::from_str(line).map_err(|source| LabError::Json { path: path.into(), source })
    };
    whole.lines().take(MAX_LINES).map(json).collect()
}

fn rows(folder: &Path) -> Result<Vec<Row>, LabError> {
    let path = folder.join(ROWS);
    let broken = |found: &str| LabError::Artifact { path: path.clone(), found: found.to_owned() };
    let mut rows = Vec::new();
    for line in lines(&path)? {
        let artifact = &line["artifact"];
        if artifact["kind"] != bench::KIND {
            return Err(broken("a line without an artifact of `gbxcule bench`"));
        }
        let (config, system) = (&artifact["config"], &artifact["system"]);
        let is_plain = line["variant"].as_str().is_none_or(str::is_empty)
            && config["draw_last"] == false
            && config["stage"] == "emulate_only"
            && config["recompile"] == "where_it_wins"
            && config["experiment"].is_null();
        for result in artifact["results"].as_array().into_iter().flatten() {
            let measured = point(result).ok_or_else(|| broken("results that no bench measures"))?;
            rows.push(Row {
                step: name(&line["step"]),
                rom: name(&config["rom"]["name"]),
                num_envs: measured.num_envs,
                frames_per_s: measured.frames_per_s,
                slowest: measured.slowest,
                fastest: measured.fastest,
                is_plain,
                origin: format!(
                    "{}, driver {}, {}; gbxcule {}; run {}",
                    name(&system["gpus"][0]["name"]),
                    name(&system["gpus"][0]["driver"]),
                    name(&system["cpu"]),
                    name(&system["gbxcule"]["commit"]),
                    name(&artifact["run_id"]),
                ),
            });
        }
    }
    Ok(rows)
}

/// Returns the rows of a table whose first two columns are a ROM and the issues of a machine's
/// frame.
fn read_counts(path: &Path) -> Result<Counts, LabError> {
    let text = read(path)?;
    let rows =
        text.lines().skip_while(|line| !line.starts_with("| ROM | issues of a machine's frame"));
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let (rom, issues) = (cells.next()?, cells.next()?);
        // "AMBER_ROAD, on the Color" is a ROM's row; "MEM_RWB, without its blocks" isn't.
        let rom = rom.strip_suffix(", on the Color").unwrap_or(rom);
        Some((rom.to_owned(), issues.replace(',', "").parse().ok()?))
    };
    Ok(rows.skip(2).take_while(|line| line.starts_with('|')).filter_map(row).collect())
}

/// Adds the steps that report success or failure of a check.
fn verdicts(text: &mut String, steps: &str) {
    let is_verdict = |line: &&str| {
        ["equal_", "gate_", "tests_", "memcheck", "initcheck", "foundry", "torch"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    text.push_str("\n## Is it right?\n```\n");
    for line in steps.lines().filter(is_verdict).take(MAX_LINES) {
        let shown: String = line.chars().filter(|it| !it.is_control()).take(160).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", shown.replace('`', "'"));
    }
    text.push_str("```\n");
}

/// Adds frames a second of each ROM, with a column for each number of machines and the counted
/// issues.
fn speeds(text: &mut String, rows: &[Row], counts: &Counts) {
    let plain = || rows.iter().filter(|row| row.is_plain);
    let machines: BTreeSet<u64> = plain().map(|row| row.num_envs).collect();
    text.push_str(
        "\n## How fast?\nMillion frames a second of all machines.\n\n| ROM | counted issues |",
    );
    for count in &machines {
        let _ = write!(text, " {} |", thousands(*count as f64));
    }
    let _ = write!(text, "\n|---|---:|{}\n", "---:|".repeat(machines.len()));
    for rom in names(rows) {
        let issues = counts.get(rom).map_or_else(String::new, |issues| thousands(*issues));
        let _ = write!(text, "| {rom} | {issues} |");
        for count in &machines {
            let row = plain().rfind(|row| row.rom == rom && row.num_envs == *count);
            let _ = match row {
                Some(row) => write!(text, " {} |", millions(row.frames_per_s)),
                None => write!(text, " |"),
            };
        }
        text.push('\n');
    }
}

/// Adds the measurements with other options, by step.
fn others(text: &mut String, rows: &[Row]) {
    if rows.iter().all(|row| row.is_plain) {
        return;
    }
    text.push_str("\n| step | ROM | machines | million frames a second |\n|---|---|---:|---:|\n");
    for row in rows.iter().filter(|row| !row.is_plain) {
        let (machines, speed) = (thousands(row.num_envs as f64), millions(row.frames_per_s));
        let _ = writeln!(text, "| {} | {} | {machines} | {speed} |", row.step, row.rom);
    }
}

/// Adds the limits of a step, from NVIDIA's profiler.
fn bound(text: &mut String, profile: &Value, counts: &Counts) {
    let config = &profile["config"];
    let rom = name(&config["rom"]["name"]);
    let machines = config["env_counts"][0].as_u64().unwrap_or(0);
    let frames = machines * config["frames_per_step"].as_u64().unwrap_or(0);
    let figures = &profile["figures"];
    let number = |metric: &str| {
        figures[metric][0].as_str().and_then(|text| text.replace(',', "").parse::<f64>().ok())
    };
    let with_unit = |metric: &str| {
        number(metric).map(|it| format!("{} {}", significant(it), name(&figures[metric][1])))
    };
    let ratio = |part: &str, whole: &str| Some(100.0 * number(part)? / number(whole)?);
    let percent = |value: Option<f64>| value.map(|it| format!("{} %", significant(it)));
    let _ = write!(
        text,
        "\n## What bounds {rom} at {} machines?\n| | measured |\n|---|---:|\n",
        thousands(machines as f64)
    );
    let mut line = |what: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(text, "| {what} | {value} |");
        }
    };
    line("issues of a machine's frame, counted before", counts.get(&rom).map(|it| thousands(*it)));
    let issues = number("smsp__inst_executed.sum").filter(|_| frames > 0);
    line("issues of a machine's frame", issues.map(|it| thousands(it / frames as f64)));
    let lanes = number("smsp__thread_inst_executed_per_inst_executed.ratio");
    line("lanes at work", lanes.map(significant));
    let latency = number("smsp__average_warp_latency_per_inst_issued.ratio");
    line("cycles of a warp between two issues", latency.map(significant));
    for (stall, cycles) in stalls(figures) {
        line(&format!("of these `{stall}`"), Some(significant(cycles)));
    }
    line(
        "issue slots used",
        percent(number("smsp__issue_active.avg.pct_of_peak_sustained_active")),
    );
    let hits = ratio("sm__icc_requests_lookup_hit.sum", "sm__icc_requests.sum");
    line("hits in the multiprocessor's cache of instructions", percent(hits));
    let (requests, lookup_hits) = (
        "gcc__cache_requests_type_instruction.sum",
        "gcc__cache_requests_type_instruction_lookup_hit.sum",
    );
    line("hits in the next cache of instructions", percent(ratio(lookup_hits, requests)));
    line("hits in L1", percent(number("l1tex__t_sector_hit_rate.pct")));
    line("hits in L2", percent(number("lts__t_sector_hit_rate.pct")));
    line("read from memory", with_unit("dram__bytes_read.sum"));
    line("written to memory", with_unit("dram__bytes_write.sum"));
    line("registers of a thread", number("launch__registers_per_thread").map(significant));
    line("duration", with_unit("gpu__time_duration.sum"));
}

/// Returns the five reasons for which warps wait longest, in cycles between two issues.
fn stalls(figures: &Value) -> Vec<(String, f64)> {
    let stall = |(metric, figure): (&String, &Value)| {
        let reason = metric.strip_prefix("smsp__average_warps_issue_stalled_")?;
        let reason = reason.strip_suffix("_per_issue_active.ratio")?;
        let cycles = figure[0].as_str()?.replace(',', "").parse::<f64>().ok()?;
        let is_word = reason.chars().all(|it| it.is_ascii_lowercase() || it == '_');
        (is_word && cycles.is_finite() && cycles > 0.0).then(|| (reason.to_owned(), cycles))
    };
    let mut all: Vec<_> = figures.as_object().into_iter().flatten().filter_map(stall).collect();
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    all.truncate(5);
    all
}

/// Adds the measurements of programs in Python.
fn python(text: &mut String, measurements: &[Value]) {
    if measurements.is_empty() {
        return;
    }
    text.push_str(
        "\n## In Python\n| what | machines | ms | frames a second |\n|---|---:|---:|---:|\n",
    );
    for line in measurements {
        let number = |field: &str, print: fn(f64) -> String| {
            line[field].as_f64().map_or_else(String::new, print)
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            name(&line["what"]),
            number("envs", thousands),
            number("ms", significant),
            number("frames_per_s", thousands),
        );
    }
}

/// Returns the ROMs of plain rows, in the order of measurement.
fn names(rows: &[Row]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.is_plain) {
        if !names.contains(&row.rom.as_str()) {
            names.push(&row.rom);
        }
    }
    names
}

/// Returns speeds by number of machines, a line for each ROM.
fn groups(rows: &[Row]) -> Vec<Group> {
    let group = |rom: &str| {
        let of_rom = rows.iter().filter(|row| row.is_plain && row.rom == rom);
        let mut points: Vec<_> = of_rom
            .map(|row| (row.num_envs as f64, [row.frames_per_s, row.slowest, row.fastest]))
            .collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        Group { label: rom.to_owned(), points }
    };
    names(rows).into_iter().map(group).collect()
}

/// Returns each ROM's best speed over its counted issues.
fn over_issues(rows: &[Row], counts: &Counts) -> Vec<Group> {
    let best = |group: Group| {
        let issues = *counts.get(&group.label)?;
        let (_, speeds) =
            group.points.into_iter().max_by(|one, other| one.1[0].total_cmp(&other.1[0]))?;
        Some(Group { label: group.label, points: vec![(issues, speeds)] })
    };
    groups(rows).into_iter().filter_map(best).collect()
}

fn millions(frames_per_s: f64) -> String {
    significant(frames_per_s / 1e6)
}

/// Formats a number with three digits, or with all digits before the point.
fn significant(value: f64) -> String {
    match value {
        100.0.. => thousands(value),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    fn artifact(rom: &str, draw_last: bool, machines: u64, speed: f64) -> Value {
        json!({
            "kind": bench::KIND,
            "run_id": "20261127T014556Z-bench",
            "config": {
                "rom": { "name": rom }, "draw_last": draw_last, "stage": "emulate_only",
                "recompile": "where_it_wins", "experiment": null
            },
            "system": { "gpus": [{ "name": "H100", "driver": "580" }], "cpu": "a CPU" },
            "results": [{
                "num_envs": machines, "frames_per_s": speed, "slowest_frames_per_s": speed,
                "fastest_frames_per_s": speed, "spread": 0.0, "steps_per_s_per_env": 1.0,
                "env_steps_per_s": 1.0, "scaling_efficiency": 1.0, "distinct_pcs_at_end": 1,
                "warm_start": { "open_s": 0.1, "first_step_s": 0.1 }
            }]
        })
    }

    #[test]
    fn a_run_becomes_tables_of_speeds_beside_counted_issues_and_of_what_bounds_a_step() {
        let folder = tempfile::tempdir().expect("a folder");
        let line = |step: &str, artifact: Value| {
            format!("{}\n", json!({ "step": step, "variant": "", "artifact": artifact }))
        };
        let rows = line("a", artifact("PEARL_DRIFT", false, 50_688, 6.94e6))
            + &line("b", artifact("ALU_LOOP", false, 50_688, 48e6))
            + &line("last_frame_drawn", artifact("PEARL_DRIFT", true, 50_688, 4.5e6))
            + "{ \"step\": \"cut o";
        fs::write(folder.path().join(ROWS), rows).expect("a file");
        fs::write(folder.path().join(STEPS), "gate_ALU_LOOP rc 0\nPEARL rc 0\n").expect("a file");
        let figures = json!({
            "smsp__inst_executed.sum": ["8,192,230,955", "inst"],
            "sm__icc_requests.sum": ["200", ""], "sm__icc_requests_lookup_hit.sum": ["50", ""],
            "dram__bytes_read.sum": ["941.04", "Mbyte"],
            "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio": ["50.25", "inst"],
            "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": ["2.99", "inst"]
        });
        let config = json!({
            "rom": { "name": "PEARL_DRIFT" }, "env_counts": [50_688], "frames_per_step": 24
        });
        let profile = json!({ "step": "profile", "config": config, "figures": figures });
        fs::write(folder.path().join(PROFILES), format!("{profile}\n")).expect("a file");
        let counts = folder.path().join("counts.md");
        let table = "| ROM | issues of a machine's frame | lanes |\n|---|---:|---:|\n\
                     | PEARL_DRIFT | 6377 | 11.8 |\n| MEM_RWB, without its blocks | 9 | 1 |\n";
        fs::write(&counts, table).expect("a file");

        let report = write(folder.path(), Some(&counts)).expect("a report");
        for expected in [
            "H100, driver 580",
            "gate_ALU_LOOP rc 0\n```",
            "| PEARL_DRIFT | 6,377 | 6.94 |\n| ALU_LOOP |  | 48.0 |\n",
            "| last_frame_drawn | PEARL_DRIFT | 50,688 | 4.50 |",
            "| issues of a machine's frame, counted before | 6,377 |\n| issues of a machine's frame | 6,734 |",
            "| of these `no_instruction` | 50.2 |\n| of these `wait` | 2.99 |",
            "| hits in the multiprocessor's cache of instructions | 25.0 % |",
            "| read from memory | 941 Mbyte |",
        ] {
            assert!(report.text.contains(expected), "no {expected:?} in\n{}", report.text);
        }
        assert!(fs::read(report.plot).expect("a picture").starts_with(b"\x89PNG"));
    }

    #[test]
    fn numbers_that_no_bench_measures_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut artifact = artifact("PEARL_DRIFT", false, 1, 1.0);
        artifact["results"][0]["frames_per_s"] = json!(1e300);
        let line = json!({ "step": "a", "variant": "", "artifact": artifact });
        fs::write(folder.path().join(ROWS), format!("{line}\n")).expect("a file");
        let message = write(folder.path(), None).expect_err("no speed").to_string();
        assert!(message.contains("no bench measures"), "{message}");
    }
}
