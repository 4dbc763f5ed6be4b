//! Draws a chart of pass@1 for one task: families on the left, features on the right, each with its
//! interval.

use crate::score::{Group, GroupScore};
use gbxcule_chart::{Canvas, DrawResult};
use gbxcule_rows::error::SynthError;
use gbxcule_rows::table::write_whole;
use plotters::prelude::*;
use std::path::Path;

const MARK: RGBColor = RGBColor(0x00, 0x72, 0xB2);
/// Number of features in the chart, which are the most frequent ones.
const FEATURES: usize = 24;
/// Height of a line in pixels.
const LINE: u32 = 26;
/// Pixels above and below the lines.
const FRAME: u32 = 130;

/// Draws the picture of a task.
pub(crate) fn draw(folder: &Path, task: &str, scores: &[&GroupScore]) -> Result<(), SynthError> {
    let of = |wanted: fn(&Group) -> bool| -> Vec<&GroupScore> {
        scores.iter().copied().filter(|it| wanted(&it.group) && !it.pass.is_empty()).collect()
    };
    let families = of(|group| !matches!(group, Group::Feature(_)));
    let mut features = of(|group| matches!(group, Group::Feature(_)));
    features.sort_by_key(|score| std::cmp::Reverse(score.problems));
    features.truncate(FEATURES);
    let lines = families.len().max(features.len()).max(4) as u32;
    let bytes = gbxcule_chart::png((1500, FRAME + LINE * lines), |canvas| {
        let (left, right) = canvas.split_horizontally(750);
        panel(&left, &format!("{task}: pass@1 by family, %"), &families)?;
        panel(&right, "by feature, %; lines are intervals of 95 %", &features)
    })
    .map_err(|error| SynthError::data(folder, error))?;
    write_whole(folder, &format!("{task}.png"), &bytes)
}

fn panel(area: &Canvas<'_>, title: &str, scores: &[&GroupScore]) -> DrawResult {
    let names: Vec<&str> = scores.iter().map(|score| score.group.name()).collect();
    let mut chart = gbxcule_chart::named_lines(area, title, 100.0, &names)?;
    for (at, score) in scores.iter().enumerate() {
        let Some(first) = score.pass.first() else { continue };
        let middle = (scores.len() - at) as f64 - 0.5;
        let at = |share: f64| (100.0 * share, middle);
        let interval = [at(first.low), at(first.high)];
        chart.draw_series(LineSeries::new(interval, MARK.stroke_width(2)))?;
        chart.draw_series([Circle::new(at(first.pass), 5, MARK.filled())])?;
        let count = format!("{:.1} of {}", 100.0 * first.pass, score.problems);
        gbxcule_chart::note(&mut chart, at(1.0), count)?;
    }
    Ok(())
}
