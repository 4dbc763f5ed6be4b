//! Statistics of a dataset as charts: families, features beside the features of NVIDIA Warp's
//! tests, and structures against rows.

use crate::error::SynthError;
use crate::feature_count::Usage;
use crate::leak::curve;
use crate::row::Row;
use crate::table::write_whole;
use gbxcule_chart::{Canvas, DrawResult, FAINT, FONT, GRID, INK};
use gbxcule_grammar::Family;
use plotters::prelude::*;
use std::path::Path;

/// The picture of families and features, in the dataset's folder.
pub(crate) const SHARES: &str = "statistics/shares.png";
/// The picture of structures against rows.
pub(crate) const STRUCTURES: &str = "statistics/structures.png";

const OURS: RGBColor = RGBColor(0x00, 0x72, 0xB2);
const WARPS: RGBColor = RGBColor(0xE6, 0x9F, 0x00);
/// Number of features shown, the most frequent in Warp's tests.
const FEATURES: usize = 36;

/// A group of bars that belong to one name.
struct Bars<'a> {
    name: &'a str,
    shares: Vec<(f64, RGBColor)>,
}

/// Draws both pictures.
pub(crate) fn draw(folder: &Path, rows: &[Row], warp: &Usage) -> Result<(), SynthError> {
    let shares = |canvas: &Canvas<'_>| shares(canvas, rows, warp);
    write(folder, SHARES, (1600, 1520), shares)?;
    let structures = |canvas: &Canvas<'_>| structures(canvas, rows);
    write(folder, STRUCTURES, (900, 640), structures)
}

fn write(
    folder: &Path,
    name: &str,
    size: (u32, u32),
    draw: impl FnOnce(&Canvas<'_>) -> DrawResult,
) -> Result<(), SynthError> {
    let bytes = gbxcule_chart::png(size, draw)
        .map_err(|error| SynthError::data(&folder.join(name), error))?;
    write_whole(folder, name, &bytes)
}

fn shares(canvas: &Canvas<'_>, rows: &[Row], warp: &Usage) -> DrawResult {
    let (left, right) = canvas.split_horizontally(620);
    let families: Vec<_> = Family::names()
        .map(|name| {
            let of_family = rows.iter().filter(|row| row.family == name).count();
            Bars { name, shares: vec![(100.0 * of_family as f64 / rows.len().max(1) as f64, OURS)] }
        })
        .collect();
    bars(&left, "families, % of rows", &families)?;
    let ours = Usage::of_rows(rows);
    let features: Vec<_> = warp
        .by_share()
        .into_iter()
        .filter(|name| *name != "wp.kernel")
        .take(FEATURES)
        .map(|name| Bars {
            name,
            shares: vec![(ours.share(name), OURS), (warp.share(name), WARPS)],
        })
        .collect();
    bars(
        &right,
        "features, % of rows (blue) and of the kernels of Warp's tests (yellow)",
        &features,
    )
}

fn bars(area: &Canvas<'_>, title: &str, groups: &[Bars<'_>]) -> DrawResult {
    let most = groups.iter().flat_map(|group| &group.shares).map(|it| it.0).fold(1.0, f64::max);
    let names: Vec<&str> = groups.iter().map(|group| group.name).collect();
    let mut chart = gbxcule_chart::named_lines(area, title, most, &names)?;
    for (at, group) in groups.iter().enumerate() {
        let top = (groups.len() - at) as f64 - 0.1;
        let height = 0.8 / group.shares.len() as f64;
        for (place, &(share, colour)) in group.shares.iter().enumerate() {
            let upper = top - place as f64 * height;
            let corners = [(0.0, upper), (share, upper - height)];
            chart.draw_series([Rectangle::new(corners, colour.filled())])?;
            let middle = (share, upper - height / 2.0);
            gbxcule_chart::note(&mut chart, middle, format!("{share:.1}"))?;
        }
    }
    Ok(())
}

fn structures(canvas: &Canvas<'_>, rows: &[Row]) -> DrawResult {
    let points: Vec<(f64, f64)> =
        curve(rows).into_iter().map(|(rows, distinct)| (rows as f64, distinct as f64)).collect();
    let (all, distinct) = points.last().copied().unwrap_or((1.0, 1.0));
    let title = format!("{distinct:.0} structures in {all:.0} rows");
    let mut chart = ChartBuilder::on(canvas)
        .caption(title, (FONT, 26).into_font().color(&INK))
        .margin(24)
        .x_label_area_size(56)
        .y_label_area_size(90)
        .build_cartesian_2d(0.0..all * 1.05, 0.0..all * 1.05)?;
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT)
        .label_style((FONT, 18).into_font().color(&FAINT))
        .axis_desc_style((FONT, 20).into_font().color(&INK))
        .x_desc("rows")
        .y_desc("structures; grey: one for each row")
        .x_label_formatter(&|value| format!("{value:.0}"))
        .y_label_formatter(&|value| format!("{value:.0}"))
        .draw()?;
    chart.draw_series(LineSeries::new([(0.0, 0.0), (all, all)], FAINT.stroke_width(1)))?;
    chart.draw_series(LineSeries::new(
        std::iter::once((0.0, 0.0)).chain(points.iter().copied()),
        OURS.stroke_width(3),
    ))?;
    chart.draw_series(points.iter().map(|&point| Circle::new(point, 4, OURS.filled())))?;
    Ok(())
}
