//! The number of programs in which a policy found nothing, as the stride paper's figure 7 has it.

use super::super::Comparison;
use super::svg::{c, escape, open, series_class};

pub fn chart(comparison: &Comparison) -> String {
    const ROW: f64 = 22.0;
    if comparison.programs.len() < 2 {
        return String::new();
    }
    let (left, right, top) = (170.0, 520.0, 4.0);
    let policies = comparison.policies.len();
    let title = "Programs in which each policy found nothing";
    let mut out = format!("<figure>\n{}", open("missed-chart", title, 640.0, top + ROW * policies as f64 + 4.0));
    for (row, policy) in comparison.policies.iter().enumerate() {
        let score = comparison.score(row);
        let missed = score.missed;
        let cut = if score.undecided > 0 { format!(", {} ran out of time", score.undecided) } else { String::new() };
        let (y, middle) = (top + ROW * row as f64 + 3.0, top + ROW * (row as f64 + 0.5));
        let width = (right - left) * missed as f64 / comparison.programs.len() as f64;
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{}\" dy=\"4\" text-anchor=\"end\">{}</text><rect class=\"bar {}\" x=\"{}\" y=\"{}\" \
             width=\"{}\" height=\"{}\"/><text x=\"{}\" y=\"{}\" dy=\"4\">{missed} of {}{cut}</text>\n",
            c(left - 8.0),
            c(middle),
            escape(policy),
            series_class(row),
            c(left),
            c(y),
            c(width),
            c(ROW - 6.0),
            c(left + width + 6.0),
            c(middle),
            score.decided()
        ));
    }
    out.push_str("</svg>\n</figure>\n");
    out
}
