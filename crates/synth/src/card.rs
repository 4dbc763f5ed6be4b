//! The dataset card: front matter that hubs read, then what the rows are and how many of which kind.

use crate::batch::Manifest;
use crate::grammar::family::Family;
use crate::leak::curve;
use crate::row::{COMPILER_VERSION, Row};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What the card is called.
pub const CARD: &str = "dataset_card.md";

/// The card of some rows: the same rows, the same text.
pub fn card(manifest: &Manifest, rows: &[Row]) -> String {
    let size = match rows.len() {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        _ => "100K<n<1M",
    };
    let mut text = format!(
        "---\nlicense: mit\npretty_name: Kernels in NVIDIA Warp's dialect, compiled and run\ntags:\n- code\n- cuda\n- \
         autodiff\nsize_categories:\n- {size}\nconfigs:\n- config_name: default\n  data_files: data/*.parquet\n---\n\n\
         # Kernels in NVIDIA Warp's dialect, compiled and run\n\n"
    );
    let plan = manifest.plan;
    _ = writeln!(
        text,
        "Made by `{COMPILER_VERSION}`, generator version {}, schema version {}:\n\n```\ngbxcule synth batch --count {} \
         --seed {} --device {} --mode {} --out DIR\n```\n",
        manifest.generator_version,
        manifest.schema_version,
        manifest.count,
        plan.seed,
        format!("{:?}", plan.device).to_lowercase(),
        format!("{:?}", plan.mode).to_lowercase(),
    );
    let distinct = curve(rows).last().map_or(0, |point| point.1);
    let refused = rows.iter().filter(|row| row.gradient_refused.is_some()).count();
    _ = writeln!(
        text,
        "{} rows, {distinct} structures (names and literals erased), {refused} without a gradient.\n",
        rows.len()
    );
    _ = writeln!(text, "## Checks\n\n| check | verdict | rows |\n|---|---|---:|");
    let mut checks: BTreeMap<(String, String), usize> = BTreeMap::new();
    for check in rows.iter().flat_map(Row::checks) {
        *checks.entry((check.check, check.verdict)).or_default() += 1;
    }
    for ((check, verdict), count) in checks {
        _ = writeln!(text, "| {check} | {verdict} | {count} |");
    }
    _ = writeln!(text, "\n## Families\n\n| family | rows | structures |\n|---|---:|---:|");
    for name in Family::names() {
        let own: Vec<&Row> = rows.iter().filter(|row| row.family == name).collect();
        let structures: std::collections::HashSet<_> =
            own.iter().map(|row| &row.structure).collect();
        _ = writeln!(text, "| {name} | {} | {} |", own.len(), structures.len());
    }
    _ = writeln!(text, "\n## Splits\n\n| split | rows |\n|---|---:|");
    for split in ["train", "valid", "test"] {
        _ = writeln!(
            text,
            "| {split} | {} |",
            rows.iter().filter(|row| row.split == split).count()
        );
    }
    _ = writeln!(text, "\n## Structures against rows\n\n| rows | structures |\n|---:|---:|");
    curve(rows)
        .into_iter()
        .for_each(|(rows, structures)| _ = writeln!(text, "| {rows} | {structures} |"));
    _ = writeln!(text, "\n## Features\n\n| feature | share of rows |\n|---|---:|");
    for (feature, count) in feature_counts(rows.iter().map(|row| row.features.as_slice())) {
        _ = writeln!(
            text,
            "| `{feature}` | {:.1} % |",
            100.0 * count as f64 / rows.len().max(1) as f64
        );
    }
    text
}

/// How often each feature occurs, most frequent first.
fn feature_counts<'a>(rows: impl Iterator<Item = &'a [String]>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    rows.flatten().for_each(|feature| *counts.entry(feature).or_default() += 1);
    let mut counts: Vec<_> =
        counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    counts.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    counts
}
