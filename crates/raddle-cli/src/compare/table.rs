//! A comparison as a table on a terminal.

use std::fmt::Write;

use comfy_table::{presets, Cell as Box, CellAlignment, ContentArrangement, Table};
use console::Style;

use super::cell::{Cell, Quartiles};
use super::{Compared, Comparison};
use raddle_report::words::percent;
use raddle_report::words::{count, number};

/// Marks the best policy of a program.
const BEST: &str = "★";

/// The whole report: the table, what it means, and what was left out.
pub fn report(comparison: &Comparison, width: u16, colors: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = match &comparison.programs[..] {
        [] => writeln!(out, "nothing was compared"),
        [one] => writeln!(out, "{}\n\n{}", heading(one), one_program(one, width, colors)),
        many => writeln!(out, "{}", many_programs(comparison, many, width, colors)),
    };
    let _ = notes(&mut out, comparison);
    out
}

fn heading(program: &Compared) -> String {
    let depth = program.depth.map(|depth| format!(", a bug of depth {depth}")).unwrap_or_default();
    format!("{}: points {}{depth}", program.name, program.points)
}

fn new_table(width: u16) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table
}

fn one_program(program: &Compared, width: u16, colors: bool) -> Table {
    let mut table = new_table(width);
    table.set_header([
        "policy",
        "failing (95%)",
        "first failure",
        "seconds to it",
        "runs/s",
        "steps",
        "schedules",
        "unseen",
    ]);
    for cell in &program.cells {
        if let Some(error) = &cell.error {
            table.add_row([cell.policy.as_str(), &format!("not measured: {}", first_line(error))]);
            continue;
        }
        let mut share = marked(cell, program, colors);
        if let Some([low, high]) = cell.share_interval {
            share.push_str(&format!(" ({}–{})", percent(low), percent(high)));
        }
        let seen = cell.worth.as_ref().and_then(|worth| worth.of_one());
        let row = [
            cell.policy.clone(),
            share,
            quartiles(&cell.first_failure, cell, |runs| number(runs as u64)),
            quartiles(&cell.seconds_to_first_failure, cell, seconds),
            number(cell.runs_per_second as u64),
            format!("{} ({:.0})", number(cell.steps_max), cell.steps_mean),
            number(cell.distinct_schedules),
            seen.and_then(|seen| seen.unseen).map_or("–".to_string(), percent),
        ];
        table.add_row(row);
    }
    table
}

fn many_programs(comparison: &Comparison, programs: &[Compared], width: u16, colors: bool) -> Table {
    let mut table = new_table(width);
    let header = ["program", "n", "k"].map(str::to_string).into_iter().chain(comparison.policies.iter().cloned());
    table.set_header(header);
    for program in programs {
        let mut row = vec![
            Box::new(&program.name),
            Box::new(number(program.threads_max())).set_alignment(CellAlignment::Right),
            Box::new(number(program.steps_max())).set_alignment(CellAlignment::Right),
        ];
        row.extend(program.cells.iter().map(|cell| {
            let text = match &cell.error {
                Some(_) => "–".to_string(),
                None => format!("{}{}", marked(cell, program, colors), first(cell)),
            };
            Box::new(text).set_alignment(CellAlignment::Right)
        }));
        table.add_row(row);
    }
    let mut last = vec![Box::new("found"), Box::new(""), Box::new("")];
    last.extend((0..comparison.policies.len()).map(|policy| {
        let score = comparison.score(policy);
        let cut = if score.undecided > 0 { format!(", {} cut", score.undecided) } else { String::new() };
        Box::new(format!("{} of {}{cut}", score.found, score.decided())).set_alignment(CellAlignment::Right)
    }));
    table.add_row(last);
    table
}

/// The failing share, with a mark when no other policy's is larger; without a share, whether it was found.
fn marked(cell: &Cell, program: &Compared, colors: bool) -> String {
    let text = match (cell.share, cell.failing_runs, cell.found) {
        (_, 0, false) if cell.cut_short => format!("cut at {}", number(cell.runs)),
        (_, 0, false) => "none".to_string(),
        (None, _, _) => "found".to_string(),
        (Some(_), 0, true) => format!("<{}", percent(1.0 / cell.runs.max(1) as f64)),
        (Some(share), _, _) => percent(share),
    };
    let several = program.cells.iter().filter(|cell| cell.measured()).count() > 1;
    if !several || cell.share.is_none() || program.best() != cell.share {
        return text;
    }
    let text = format!("{BEST} {text}");
    if !colors {
        return text;
    }
    Style::new().green().bold().force_styling(true).apply_to(text).to_string()
}

/// The runs to the first failure, for a narrow column.
fn first(cell: &Cell) -> String {
    match cell.first_failure.median {
        Some(runs) => format!(" / {}", number(runs as u64)),
        None if cell.found => format!(" / >{}", number(cell.runs)),
        None => String::new(),
    }
}

fn quartiles(quartiles: &Quartiles, cell: &Cell, show: impl Fn(f64) -> String) -> String {
    let one = |value: Option<f64>| value.map(&show);
    match (one(quartiles.median), one(quartiles.lower), one(quartiles.upper)) {
        (Some(median), Some(lower), Some(upper)) if cell.repetitions.len() > 1 => format!("{median} ({lower}–{upper})"),
        (Some(median), Some(lower), None) => format!("{median} ({lower}–?)"),
        (Some(median), _, _) => median,
        (None, _, _) if cell.found => {
            let found = cell.repetitions.iter().filter(|r| r.first_failing_run.is_some()).count();
            format!("in {found} of {}", cell.repetitions.len())
        }
        _ => "–".to_string(),
    }
}

fn seconds(value: f64) -> String {
    match value {
        s if s < 0.01 => format!("{s:.4}"),
        s if s < 1.0 => format!("{s:.3}"),
        s if s < 100.0 => format!("{s:.1}"),
        s => format!("{s:.0}"),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn notes(out: &mut String, comparison: &Comparison) -> std::fmt::Result {
    let several = comparison.programs.len() > 1;
    if !comparison.programs.is_empty() {
        let repetitions = match comparison.repeat {
            1 => String::new(),
            n => format!("; first failures over {}", count(n, "repetition")),
        };
        let explained = if several { " Cells: failing share / runs to the first failure, the median." } else { "" };
        let cells = || comparison.programs.iter().flat_map(|program| &program.cells).filter(|cell| cell.measured());
        let shares = match cells().all(|cell| cell.first_only) {
            true => "all stop at their first failure, so there is no share.".to_string(),
            false => format!("{BEST} is the largest share."),
        };
        let some = cells().any(|cell| cell.first_only) && cells().any(|cell| !cell.first_only);
        let some = if some { " Cells without a share stopped at their first failure." } else { "" };
        writeln!(
            out,
            "seed {}, {}{repetitions}; {shares}{explained}{some}",
            comparison.seed,
            count(comparison.runs, "run")
        )?;
    }
    for program in &comparison.programs {
        let others = program.other_kinds();
        if !others.is_empty() {
            let kind = program.kind.unwrap_or_default();
            writeln!(out, "note: {} should fail by {kind}, but failed by {}, too", program.name, others.join(", "))?;
        }
        for cell in program.cells.iter().filter(|_| several) {
            if let Some(error) = &cell.error {
                writeln!(out, "note: {} under {}: {}", program.name, cell.policy, first_line(error))?;
            }
        }
    }
    for skipped in &comparison.skipped_policies {
        writeln!(out, "note: the policy {} is left out: {}", skipped.program, skipped.reason)?;
    }
    for skipped in &comparison.skipped {
        writeln!(out, "note: {} is left out: {}", skipped.program, skipped.reason)?;
    }
    match comparison.end {
        "interrupted" => writeln!(out, "interrupted: these are the results so far"),
        "time" => writeln!(out, "time ran out: these are the results so far"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::sample;

    #[test]
    fn several_programs() {
        insta::assert_snapshot!(report(&sample::comparison(), 120, false));
    }

    #[test]
    fn first_failures_have_no_share_and_no_mark() {
        let mut comparison = sample::comparison();
        comparison.programs.truncate(1);
        for cell in &mut comparison.programs[0].cells {
            *cell = sample::first_only(cell.clone());
        }
        let one = report(&comparison, 140, false);
        let several = {
            comparison.programs.push(comparison.programs[0].clone());
            report(&comparison, 140, false)
        };
        assert!(several.contains("found / 2") && several.contains("there is no share"), "{several}");
        for text in [one, several] {
            assert!(!text.contains('%') || text.contains("failing (95%)"), "{text}");
            assert!(!text.contains("100") && !text.contains("is the largest share"), "{text}");
            assert!(!text.contains(&format!("{BEST} ")), "{text}");
        }
    }

    #[test]
    fn one_program_in_detail() {
        let mut comparison = sample::comparison();
        comparison.programs.truncate(1);
        comparison.skipped.clear();
        comparison.end = "complete";
        insta::assert_snapshot!(report(&comparison, 140, false));
    }

    #[test]
    fn nothing_at_all() {
        let mut comparison = sample::comparison();
        comparison.programs.clear();
        comparison.skipped.truncate(1);
        let text = report(&comparison, 100, false);
        assert!(text.starts_with("nothing was compared\n"), "{text}");
    }
}
