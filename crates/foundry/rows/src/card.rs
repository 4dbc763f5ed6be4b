//! The dataset card: front matter that hubs read, then a description of the rows and their numbers
//! by kind.

use crate::batch::Manifest;
use crate::data_file::{Format, files};
use crate::error::SynthError;
use crate::feature_count::Usage;
use crate::harvested::{self, Harvest, UNMARKED};
use crate::leak::{Leakage, curve, leakage};
use crate::picture::{self, SHARES, STRUCTURES};
use crate::row::{COMPILER_VERSION, Row};
use crate::split::SPLITS;
use crate::table::write_whole;
use gbxcule_grammar::Family;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// File names of the card: gbxcule's name, and the name that hubs and the `datasets` library
/// expect.
const NAMES: [&str; 2] = ["dataset_card.md", "README.md"];

/// A feature that no row has is listed if at least this percentage of the kernels of Warp's tests
/// has it.
const MIN_SHARE: f64 = 1.0;

/// Rows of a split whose neighbours the card looks for.
const LEAK_ROWS: usize = 1000;

/// Function that gets the number of rows for which the slow search for neighbours has just
/// finished.
pub type ReportProgress<'a> = &'a (dyn Fn(usize) + Sync);

/// Writes the card of some rows and its pictures into a folder.
pub fn write(
    folder: &Path,
    manifest: &Manifest,
    rows: &[Row],
    warp: &Usage,
    seen: ReportProgress<'_>,
) -> Result<(), SynthError> {
    picture::draw(folder, rows, warp)?;
    let text = card(manifest, rows, warp, files(folder)?.0, seen);
    NAMES.iter().try_for_each(|name| write_whole(folder, name, text.as_bytes()))
}

/// Returns the card of some rows. The card depends on the rows alone.
fn card(
    manifest: &Manifest,
    rows: &[Row],
    warp: &Usage,
    format: Format,
    seen: ReportProgress<'_>,
) -> String {
    let mut text = front_matter(manifest, rows, format);
    text += "# Kernels in NVIDIA Warp's dialect, compiled and run\n\n";
    origin(&mut text, manifest, rows);
    if let Some(harvest) = &manifest.harvest {
        harvested(&mut text, harvest, rows.len());
    }
    gradients(&mut text, rows);
    checks(&mut text, rows);
    families(&mut text, manifest, rows);
    splits(&mut text, rows);
    leaks(&mut text, rows, seen);
    text += "\n";
    text += include_str!("card/columns.md");
    citation(&mut text, manifest);
    structures(&mut text, rows);
    features(&mut text, rows, warp);
    text
}

/// Returns the settings that hubs read, between two lines of `---`.
fn front_matter(manifest: &Manifest, rows: &[Row], format: Format) -> String {
    let licences = match &manifest.harvest {
        // Hubs know only single licences, so the whole expression follows in the card's text.
        Some(harvest) => format!(" {}", harvest.license.to_lowercase()),
        None => manifest.licences().to_owned(),
    };
    let (folder, extension) = (format.folder(), format.extension());
    // Loaders refuse a split whose files are all empty.
    let is_used = |split: &&str| rows.iter().any(|row| row.split == *split);
    let path = |split| format!("  - split: {split}\n    path: {folder}/{split}-*.{extension}\n");
    let splits: String = SPLITS.into_iter().filter(is_used).map(path).collect();
    let size = match rows.len() {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        _ => "1M<n<10M",
    };
    format!(
        "---\nlicense:{licences}\npretty_name: Kernels in NVIDIA Warp's dialect, compiled and run\ntags:\n- code\n- cuda\n- \
         autodiff\nsize_categories:\n- {size}\nconfigs:\n- config_name: default\n  data_files:\n{splits}---\n\n"
    )
}

/// Writes the command that makes the rows, the tools' licences, and how many rows there are.
fn origin(text: &mut String, manifest: &Manifest, rows: &[Row]) {
    _ = writeln!(
        text,
        "Made by `{COMPILER_VERSION}`, generator version {}, schema version {}:\n\n```\n{} --out DIR\n```\n",
        manifest.generator_version,
        manifest.schema_version,
        manifest.command(),
    );
    *text += &manifest.credits();
    let distinct = curve(rows).last().map_or(0, |point| point.1);
    let in_warp = rows.iter().filter(|row| row.in_warp).count();
    _ = writeln!(
        text,
        "{} rows, {distinct} structures: a structure is a text with its names and literals erased. Apart from names and \
         literals, {in_warp} rows are kernels of NVIDIA Warp's own package (`in_warp`).\n",
        rows.len()
    );
}

fn checks(text: &mut String, rows: &[Row]) {
    _ = writeln!(text, "## Checks\n\n| check | verdict | rows |\n|---|---|---:|");
    let mut checks: BTreeMap<(String, String), usize> = BTreeMap::new();
    for check in rows.iter().flat_map(Row::checks) {
        *checks.entry((check.check, check.verdict.into())).or_default() += 1;
    }
    for ((check, verdict), count) in checks {
        _ = writeln!(text, "| {check} | {verdict} | {count} |");
    }
    *text += include_str!("card/checks.md");
}

fn families(text: &mut String, manifest: &Manifest, rows: &[Row]) {
    _ = writeln!(text, "\n## Families\n\n| family | rows | structures |\n|---|---:|---:|");
    let sampled = Family::names().filter(|_| manifest.harvest.is_none());
    for name in sampled.chain(manifest.harvest.iter().map(|_| harvested::FAMILY)) {
        let of_family: Vec<&Row> = rows.iter().filter(|row| row.family == name).collect();
        let structures: std::collections::HashSet<_> =
            of_family.iter().map(|row| &row.structure).collect();
        _ = writeln!(text, "| {name} | {} | {} |", of_family.len(), structures.len());
    }
}

fn splits(text: &mut String, rows: &[Row]) {
    _ = writeln!(text, "\n## Splits\n\n| split | rows |\n|---|---:|");
    for split in SPLITS {
        let count = rows.iter().filter(|row| row.split == split).count();
        _ = writeln!(text, "| {split} | {count} |");
    }
}

fn structures(text: &mut String, rows: &[Row]) {
    _ = writeln!(text, "\n## Structures against rows\n\n| rows | structures |\n|---:|---:|");
    for (rows, structures) in curve(rows) {
        _ = writeln!(text, "| {rows} | {structures} |");
    }
    text.push('\n');
    _ = writeln!(text, "![Structures against rows]({STRUCTURES})\n");
}

/// Writes the share of rows that use each feature, beside the share of Warp's own kernels.
fn features(text: &mut String, rows: &[Row], warp: &Usage) {
    _ = writeln!(
        text,
        "## Features\n\nThe last column is for the {} kernels of NVIDIA Warp's own tests. Of such a kernel only its own \
         text counts, of a row the whole text: don't compare shares of `wp.func`, `wp.launch` and \
         `wp.constant`.\n\n![Families and features]({SHARES})\n\n| feature | % of rows | % of Warp's kernels \
         |\n|---|---:|---:|",
        warp.kernels
    );
    let ours = Usage::of_rows(rows);
    let missing = warp
        .by_share()
        .into_iter()
        .filter(|name| warp.share(name) >= MIN_SHARE && !ours.counts.contains_key(*name));
    for name in ours.by_share().into_iter().chain(missing) {
        _ = writeln!(text, "| `{name}` | {:.1} | {:.1} |", ours.share(name), warp.share(name));
    }
}

/// Writes the origin of harvested rows, and the reasons why other kernels gave no rows.
fn harvested(text: &mut String, harvest: &Harvest, rows: usize) {
    let commit = harvest.commit.as_ref().map_or(String::new(), |it| format!(" at commit `{it}`"));
    _ = writeln!(
        text,
        "The kernels of `{}`{commit}, under `{}`: {} files, {} kernels, {rows} rows, of which {} have a structure that an \
         earlier row has (`origin_json` has file, line and that row). Inputs were drawn until a kernel ran on three draws \
         and its results depended on them.\n\n| kernels that gave no row, by reason | kernels |\n|---|---:|",
        harvest.folder, harvest.license, harvest.files, harvest.kernels, harvest.repeated
    );
    for (reason, count) in &harvest.refused {
        _ = writeln!(text, "| {reason} | {count} |");
    }
    if harvest.unmarked > 0 {
        let unmarked = harvest.unmarked;
        _ = writeln!(text, "\n{unmarked} more functions may be kernels: each {UNMARKED}.");
    }
    text.push('\n');
}

/// Writes the counts of rows with a gradient, and of NVIDIA Warp's gradients that are right.
fn gradients(text: &mut String, rows: &[Row]) {
    let count = |wanted: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count();
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    for code in rows.iter().filter_map(|row| row.gradient_refused.as_deref()) {
        *refused.entry(code).or_default() += 1;
    }
    _ = writeln!(text, "## Gradients\n\n| gradient | rows |\n|---|---:|");
    _ = writeln!(text, "| made | {} |", count(&|row| row.gradient_refused.is_none()));
    for (code, count) in refused {
        _ = writeln!(text, "| refused by this compiler: `{code}` | {count} |");
    }
    let labelled = |label: &str| count(&|row| row.warp_gradient.as_deref() == Some(label));
    if rows.iter().any(|row| row.warp_gradient.is_some()) {
        let (right, wrong) = (labelled("right"), labelled("wrong"));
        _ = writeln!(text, "| NVIDIA Warp's agrees (`warp_gradient` is `right`) | {right} |");
        _ = writeln!(text, "| NVIDIA Warp's is another: `wrong`, say differences | {wrong} |");
    }
    text.push('\n');
}

/// Writes how to name the dataset in a paper.
fn citation(text: &mut String, manifest: &Manifest) {
    let Manifest { count, generator_version, schema_version, compiler, .. } = manifest;
    let seed = manifest.plan.seed;
    _ = writeln!(
        text,
        "## Citation\n\n```bibtex\n@misc{{gbxcule_kernels,\n  title = {{Kernels in NVIDIA Warp's dialect, compiled, run and \
         differentiated}},\n  author = {{The authors of gbxcule}},\n  note = {{{compiler}, generator version \
         {generator_version}, schema version {schema_version}, {count} rows of seed {seed}}}\n}}\n```\n"
    );
    if let Some(Harvest { folder, license, .. }) = &manifest.harvest {
        _ = writeln!(
            text,
            "Cite also the authors of `{folder}`, whose kernels these are, under `{license}`.\n"
        );
    }
}

/// Writes the nearness of test rows to training rows.
fn leaks(text: &mut String, rows: &[Row], seen: ReportProgress<'_>) {
    _ = writeln!(
        text,
        "\n## Nearest training rows\n\nFor each row, the share of its sequences of five tokens (names and literals \
         erased) that its nearest training row has, too. At most {LEAK_ROWS} rows of a split are \
         compared.\n\n| split | rows | median | at least 0.8 | at least 0.9 | all |\n|---|---:|---:|---:|---:|---:|"
    );
    for leakage in leakage(rows, LEAK_ROWS, seen) {
        let [most, nearly, all] = Leakage::LEVELS.map(|least| leakage.share(least));
        _ = writeln!(
            text,
            "| {} | {} | {:.2} | {most:.2} % | {nearly:.2} % | {all:.2} % |",
            leakage.split,
            leakage.nearest.len(),
            leakage.median()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external_column::Tools;
    use crate::row::{Mode, Plan, Texts};

    #[test]
    fn the_card_describes_every_column_and_nothing_else() {
        let table = include_str!("card/columns.md").lines().filter(|line| line.starts_with("| `"));
        let names = table.filter_map(|line| line.split('|').nth(1)).flat_map(|it| it.split(','));
        let mut described: Vec<&str> = names.map(|name| name.trim().trim_matches('`')).collect();
        let row = serde_json::to_value(Row::default()).expect("JSON");
        let mut columns: Vec<&str> =
            row.as_object().expect("a row").keys().map(|it| &**it).collect();
        columns.sort_unstable();
        described.sort_unstable();
        assert_eq!(described, columns);
    }

    #[test]
    fn text_of_warp_is_under_its_own_licence() {
        let plan =
            Plan { seed: 0, mode: Mode::Text, device: Texts::Both, host_every: 0, sampled: 100 };
        let begins = |warp: Option<serde_json::Value>, head: &str| {
            let manifest = Manifest { warp, ..Manifest::new(0, plan, &Tools::default()) };
            let text = card(&manifest, &[], &Usage::default(), Format::Parquet, &|_| ());
            assert!(text.starts_with(head), "{text}");
            text
        };
        begins(None, "---\nlicense: mit\npretty_name: ");
        let warp = Some(serde_json::json!({ "version": "1.19.0" }));
        let text = begins(warp, "---\nlicense:\n- mit\n- apache-2.0\npretty_name: ");
        assert!(text.contains("`warp_cuda`") && text.contains("Apache-2.0"), "{text}");
    }
}
