//! The numbers of all charts.

use super::super::cell::Cell;
use super::super::{Compared, Comparison};
use super::escape;
use raddle_report::words::number;
use raddle_report::words::percent;

/// The table of all programs and policies.
pub fn table(comparison: &Comparison) -> String {
    if comparison.programs.is_empty() {
        return "<p>Nothing was compared.</p>\n".to_string();
    }
    let mut out = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Results\">\n<table>\n<caption>Failing \
                   share with its 95% interval; below it the median of the runs to the first failure. The largest share \
                   of a program is bold.</caption>\n<thead><tr><th scope=\"col\">program</th><th scope=\"col\">threads</th>\
                   <th scope=\"col\">steps</th>"
        .to_string();
    for policy in &comparison.policies {
        out.push_str(&format!("<th scope=\"col\">{}</th>", escape(policy)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for program in &comparison.programs {
        out.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>",
            escape(&program.name),
            number(program.threads_max()),
            number(program.steps_max())
        ));
        for policy in 0..comparison.policies.len() {
            out.push_str(&program.cells.get(policy).map_or("<td>–</td>".to_string(), |cell| data(cell, program)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    out
}

fn data(cell: &Cell, program: &Compared) -> String {
    if !cell.measured() {
        return "<td>–<small>not measured</small></td>".to_string();
    }
    let best = cell.failing_runs > 0 && cell.share.is_some() && program.best() == cell.share;
    let class = if best { " class=\"best\"" } else { "" };
    let first = match cell.first_failure.median {
        Some(runs) => format!("first in {}", number(runs as u64)),
        None if cell.found => format!("first in more than {}", number(cell.runs)),
        None => "not found".to_string(),
    };
    let share = match (cell.share, cell.share_interval) {
        (Some(share), Some([low, high])) => {
            format!("{}<small>{}–{}</small>", percent(share), percent(low), percent(high))
        }
        _ if cell.found => "found".to_string(),
        _ => "none".to_string(),
    };
    format!("<td{class}>{share}<small>{first}</small></td>")
}
