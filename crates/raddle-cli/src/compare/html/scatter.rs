//! The steps of each program against how often it fails under the random walk, as the stride paper's figure 5 has it.

use super::super::Comparison;
use super::svg::{c, escape, open, short, LogScale};
use raddle_report::words::number;
use raddle_report::words::percent;

/// The policy that the chart is about.
const RANDOM: &str = "random";

/// The chart; nothing when the random walk was not compared.
pub fn chart(comparison: &Comparison) -> String {
    let Some(policy) = comparison.policies.iter().position(|policy| policy == RANDOM) else { return String::new() };
    let cells = comparison.programs.iter().filter_map(|program| Some((program, program.cells.get(policy)?)));
    let points: Vec<_> = cells.filter_map(|(program, cell)| Some((program, cell, cell.share?))).collect();
    if points.len() < 2 {
        return String::new();
    }
    let (left, right, top, bottom) = (60.0, 560.0, 34.0, 320.0);
    let steps =
        |limit: fn(f64, f64) -> f64, from: f64| points.iter().map(|(_, c, _)| c.steps_max as f64).fold(from, limit);
    let (low, high) = (steps(f64::min, f64::MAX).max(1.0), steps(f64::max, 1.0));
    // What was never found stands apart at the left.
    let x = LogScale::new(0.5 / comparison.runs.max(1) as f64, 1.0, left + 30.0, right);
    let y = LogScale::new(low, high.max(low * 2.0), bottom, top);
    let mut out = format!(
        "<figure>\n{}",
        open("scatter-chart", "Steps of each program against its failing share under the random walk", 700.0, 360.0)
    );
    for tick in x.ticks() {
        let at = c(x.at(tick));
        out.push_str(&format!(
            "<line class=\"axis\" x1=\"{at}\" y1=\"{}\" x2=\"{at}\" y2=\"{}\"/><text class=\"faint\" x=\"{at}\" y=\"{}\" \
             text-anchor=\"middle\">{}</text>\n",
            c(top),
            c(bottom),
            c(bottom + 16.0),
            short(tick)
        ));
    }
    for tick in y.ticks() {
        let at = c(y.at(tick));
        out.push_str(&format!(
            "<line class=\"axis\" x1=\"{}\" y1=\"{at}\" x2=\"{}\" y2=\"{at}\"/><text class=\"faint\" x=\"{}\" y=\"{at}\" \
             dy=\"4\" text-anchor=\"end\">{}</text>\n",
            c(left),
            c(right),
            c(left - 6.0),
            short(tick)
        ));
    }
    out.push_str(&format!(
        "<text class=\"faint\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">0</text><text class=\"faint\" x=\"{}\" y=\"{}\" \
         text-anchor=\"end\">failing share</text><text class=\"faint\" x=\"4\" y=\"14\">steps</text>\n",
        c(left),
        c(bottom + 16.0),
        c(right),
        c(bottom + 34.0)
    ));
    let mut labels: Vec<(f64, f64, f64)> = Vec::new();
    for (program, cell, share) in &points {
        let at = if cell.failing_runs == 0 { left } else { x.at(*share) };
        let (up, name) = (y.at(cell.steps_max as f64), escape(&program.name));
        let label = place(&mut labels, at + 6.0, up, 7.0 * program.name.chars().count() as f64);
        out.push_str(&format!(
            "<circle class=\"dot s0\" cx=\"{}\" cy=\"{}\" r=\"4\"><title>{name}: {} in at most {} steps</title></circle><text \
             x=\"{}\" y=\"{}\">{name}</text>\n",
            c(at),
            c(up),
            percent(*share),
            number(cell.steps_max),
            c(at + 6.0),
            c(label)
        ));
    }
    out.push_str("</svg>\n</figure>\n");
    out
}

/// Where a label of this width goes: above its point, or where no other label is.
fn place(labels: &mut Vec<(f64, f64, f64)>, x: f64, point: f64, width: f64) -> f64 {
    let free = |y: f64| labels.iter().all(|&(from, at, to)| (at - y).abs() > 11.0 || from > x + width || to < x);
    let y = [-5.0, 14.0, -17.0, 26.0].map(|offset| point + offset).into_iter().find(|&y| free(y));
    let y = y.unwrap_or(point - 5.0);
    labels.push((x, y, x + width));
    y
}
