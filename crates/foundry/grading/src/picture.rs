//! Draws pass@1 of one task: families on the left, features on the right, each with its interval.

use crate::score::{Group, GroupScore};
use gbxcule_chart::{Canvas, DrawResult, FAINT, FONT, GRID, INK};
use gbxcule_rows::error::SynthError;
use gbxcule_rows::table::write_whole;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

const MARK: RGBColor = RGBColor(0x00, 0x72, 0xB2);
/// Number of features shown, the most frequent ones.
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
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 24).into_font().color(&INK))
        .margin(16)
        .margin_right(90)
        .x_label_area_size(36)
        .y_label_area_size(220)
        .build_cartesian_2d(0.0..100.0, 0.0..scores.len().max(1) as f64)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT)
        .label_style((FONT, 18).into_font().color(&FAINT))
        .x_label_formatter(&|value| format!("{value:.0}"))
        .draw()?;
    let style = |size: i32, colour: &RGBColor, side| {
        (FONT, size).into_font().color(colour).pos(Pos::new(side, VPos::Center))
    };
    for (at, score) in scores.iter().enumerate() {
        let Some(first) = score.pass.first() else { continue };
        let (middle, colour) = ((scores.len() - at) as f64 - 0.5, MARK);
        let at = |share: f64| (100.0 * share, middle);
        chart.draw_series(LineSeries::new(
            [at(first.low), at(first.high)],
            colour.stroke_width(2),
        ))?;
        chart.draw_series([Circle::new(at(first.pass), 5, colour.filled())])?;
        let name = Text::new(score.group.name().to_owned(), (-8, 0), style(18, &INK, HPos::Right));
        chart.draw_series([EmptyElement::at(at(0.0)) + name])?;
        let count = Text::new(
            format!("{:.1} of {}", 100.0 * first.pass, score.problems),
            (8, 0),
            style(14, &FAINT, HPos::Left),
        );
        chart.draw_series([EmptyElement::at(at(1.0)) + count])?;
    }
    Ok(())
}
