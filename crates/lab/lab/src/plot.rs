//! Charts of measured speeds. The chart of a sweep has frames per second on the left and the
//! speed-up over the baseline on the right; the chart of a GPU has the ROMs' speeds by number of
//! machines, and by counted issues.
//!
//! All scales are logarithmic, because numbers of machines, issues and speeds span decades.

use gbxcule_chart::{Canvas, DrawResult, FAINT, FONT, GRID, INK};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::LabError;
use crate::report::{Series, Sweep};

const SIZE: (u32, u32) = (1800, 860);

/// Okabe and Ito's palette, whose colours can be distinguished by colour-blind people and in print.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
];

/// Points with one name: the position on the horizontal axis, and the value with its lowest and
/// highest.
pub(crate) struct Group {
    pub(crate) label: String,
    pub(crate) points: Vec<(f64, [f64; 3])>,
}

/// One panel: its title, its horizontal axis, its lines, and the format of its values.
struct Panel {
    title: &'static str,
    over: &'static str,
    lines: Vec<Line>,
    print: fn(f64) -> String,
}

struct Line {
    label: String,
    colour: RGBColor,
    baseline: bool,
    /// Number of machines, and the value with its lowest and highest.
    points: Vec<(f64, [f64; 3])>,
}

/// Draws all sweeps into one PNG.
pub(crate) fn scaling(sweeps: &[Sweep]) -> Result<Vec<u8>, LabError> {
    gbxcule_chart::png(SIZE, |canvas| draw(canvas, sweeps))
        .map_err(|error| LabError::Plot(error.to_string()))
}

/// Draws speeds by number of machines on the left, and by issues on the right if any were counted.
pub(crate) fn over_machines_and_issues(
    machines: &[Group],
    issues: &[Group],
) -> Result<Vec<u8>, LabError> {
    let panel = |groups: &[Group], over| Panel {
        title: "frames a second",
        over,
        lines: groups.iter().enumerate().map(line).collect(),
        print: compact,
    };
    let machines = panel(machines, "machines");
    let issues = panel(issues, "issues of a machine's frame, counted");
    gbxcule_chart::png(SIZE, |canvas| {
        if issues.lines.is_empty() {
            return draw_panel(canvas, &machines);
        }
        let (left, right) = canvas.split_horizontally(SIZE.0 / 2);
        draw_panel(&left, &machines)?;
        draw_panel(&right, &issues)
    })
    .map_err(|error| LabError::Plot(error.to_string()))
}

fn line((index, group): (usize, &Group)) -> Line {
    let (label, points) = (group.label.clone(), group.points.clone());
    Line { label, colour: COLOURS[index % COLOURS.len()], baseline: false, points }
}

fn draw(canvas: &Canvas<'_>, sweeps: &[Sweep]) -> DrawResult {
    let title: Vec<_> = sweeps.iter().map(|sweep| sweep.title.as_str()).collect();
    let canvas = canvas.margin(18, 0, 0, 0);
    let canvas = canvas.titled(&title.join("   ·   "), (FONT, 34).into_font().color(&INK))?;
    let (left, right) = canvas.split_horizontally(SIZE.0 / 2);
    draw_panel(&left, &panel(sweeps, "frames a second", false, compact))?;
    draw_panel(&right, &panel(sweeps, "speed-up over the baseline's best", true, times))
}

fn panel(sweeps: &[Sweep], title: &'static str, relative: bool, print: fn(f64) -> String) -> Panel {
    let mut lines = Vec::new();
    for sweep in sweeps {
        let unit = if relative { sweep.baseline_frames_per_s().unwrap_or(1.0) } else { 1.0 };
        for series in &sweep.series {
            let colour = COLOURS[lines.len() % COLOURS.len()];
            let several = sweeps.len() > 1;
            let label = if several {
                format!("{} · {}", series.backend, sweep.title)
            } else {
                series.backend.clone()
            };
            let baseline = series.backend == sweep.baseline;
            lines.push(Line { label, colour, baseline, points: points(series, unit) });
        }
    }
    Panel { title, over: "machines", lines, print }
}

fn points(series: &Series, unit: f64) -> Vec<(f64, [f64; 3])> {
    let value = |speed: f64| speed / unit;
    let row = series.points.iter().map(|point| {
        (point.num_envs as f64, [point.frames_per_s, point.slowest, point.fastest].map(value))
    });
    row.collect()
}

fn draw_panel(area: &Canvas<'_>, panel: &Panel) -> DrawResult {
    let machines = panel.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
    let values = panel.lines.iter().flat_map(|line| line.points.iter().flat_map(|point| point.1));
    let (first, last) = bounds(machines);
    let (lowest, highest) = bounds(values);
    let (lowest, highest) = (lowest * 0.5, highest * 2.0);
    let mut chart = ChartBuilder::on(area)
        .caption(panel.title, (FONT, 28).into_font().color(&INK))
        .margin(24)
        .x_label_area_size(64)
        .y_label_area_size(96)
        .build_cartesian_2d(
            (first * 0.8..last * 2.2).log_scale().base(2.0),
            (lowest..highest).log_scale().base(base(lowest, highest)),
        )?;
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(FAINT)
        .label_style((FONT, 20).into_font().color(&FAINT))
        .axis_desc_style((FONT, 22).into_font().color(&INK))
        .x_desc(panel.over)
        .x_label_formatter(&|value| format!("{value:.0}"))
        .y_label_formatter(&|value| (panel.print)(*value))
        .draw()?;
    for line in &panel.lines {
        let style = line.colour.stroke_width(if line.baseline { 2 } else { 4 });
        let path = line.points.iter().map(|(machines, [value, ..])| (*machines, *value));
        chart
            .draw_series(LineSeries::new(path.clone(), style))?
            .label(line.label.clone())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 28, y)], style));
        let whiskers = line.points.iter().map(|(machines, [_, low, high])| {
            PathElement::new([(*machines, *low), (*machines, *high)], line.colour.stroke_width(2))
        });
        chart.draw_series(whiskers)?;
        chart.draw_series(path.map(|point| Circle::new(point, 6, line.colour.filled())))?;
        let anchor = Pos::new(HPos::Left, VPos::Bottom);
        let style = (FONT, 22).into_font().color(&line.colour).pos(anchor);
        let ends = line.points.last().map(|(machines, [value, ..])| {
            let text = (panel.print)(*value);
            EmptyElement::at((*machines, *value)) + Text::new(text, (10, -8), style)
        });
        chart.draw_series(ends)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.9))
        .border_style(GRID)
        .legend_area_size(40)
        .margin(16)
        .label_font((FONT, 22).into_font().color(&INK))
        .draw()?;
    Ok(())
}

fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)))
}

/// Returns the number whose powers label the scale: less than ten for less than two decades, which
/// may contain no power of ten.
fn base(lowest: f64, highest: f64) -> f64 {
    if highest / lowest < 100.0 { 2.0 } else { 10.0 }
}

fn compact(value: f64) -> String {
    match value {
        1e6.. => format!("{}M", trimmed(value / 1e6)),
        1e3.. => format!("{}k", trimmed(value / 1e3)),
        _ => trimmed(value),
    }
}

fn times(value: f64) -> String {
    format!("{}x", trimmed(value))
}

fn trimmed(value: f64) -> String {
    if value >= 10.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}").trim_end_matches(['0']).trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_has_at_least_two_numbers_written_on_it() {
        for range in [4.1, 10.0, 99.0, 101.0, 1e4] {
            for lowest in [0.3, 7.0, 23_000.0] {
                let highest = lowest * range;
                let base = base(lowest, highest);
                let powers = highest.log(base).floor() - lowest.log(base).ceil() + 1.0;
                assert!(powers >= 2.0, "{lowest} to {highest}");
            }
        }
    }
}
