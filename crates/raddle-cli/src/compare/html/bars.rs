//! The failing share of each program under each policy, as NeedlePoint's figures 1 and 2 have it, with intervals. The
//! axis is logarithmic, because the shares of one bug differ by orders of magnitude.

use super::super::{Compared, Comparison};
use super::svg::{c, escape, open, series_class, short, LogScale};
use raddle_report::words::percent;

/// A chart for each program.
pub fn charts(comparison: &Comparison) -> String {
    let programs = comparison.programs.iter().enumerate();
    let has_shares = |program: &Compared| program.cells.iter().any(|cell| cell.share.is_some());
    programs.filter(|(_, program)| has_shares(program)).map(|(i, p)| chart(i, p)).collect()
}

fn chart(index: usize, program: &Compared) -> String {
    const ROW: f64 = 22.0;
    let (left, right, top) = (170.0, 520.0, 8.0);
    let bottom = top + ROW * program.cells.len() as f64;
    let runs = program.cells.iter().map(|cell| cell.runs).max().unwrap_or(1).max(10);
    let x = LogScale::new(0.5 / runs as f64, 1.0, left, right);
    let title = format!("Failing share of {} under each policy, logarithmic", program.name);
    let mut out = format!("<figure>\n<figcaption>{}</figcaption>\n", escape(&program.name));
    out.push_str(&open(&format!("bars-{index}"), &title, 640.0, bottom + 24.0));
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
    for (row, cell) in program.cells.iter().enumerate() {
        let (y, middle) = (top + ROW * row as f64 + 3.0, top + ROW * (row as f64 + 0.5));
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{}\" dy=\"4\" text-anchor=\"end\">{}</text>",
            c(left - 8.0),
            c(middle),
            escape(&cell.policy)
        ));
        let (text, at) = if !cell.measured() {
            ("not measured".to_string(), left)
        } else if cell.failing_runs == 0 {
            ("none".to_string(), left)
        } else if let (Some(share), Some(interval)) = (cell.share, cell.share_interval) {
            let [low, high] = interval.map(|share| x.at(share));
            out.push_str(&format!(
                "<rect class=\"bar {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/><line class=\"whisker\" x1=\"{}\" \
                 y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
                series_class(row),
                c(left),
                c(y),
                c(x.at(share) - left),
                c(ROW - 6.0),
                c(low),
                c(middle),
                c(high),
                c(middle)
            ));
            (percent(share), high.max(x.at(share)))
        } else {
            ("found, its share was not measured".to_string(), left)
        };
        out.push_str(&format!("<text x=\"{}\" y=\"{}\" dy=\"4\">{text}</text>\n", c(at + 6.0), c(middle)));
    }
    out.push_str("</svg>\n</figure>\n");
    out
}
