//! The summary of a campaign for a person: the verdict first, then how it was reached, then each
//! failure with the one command that replays it.

use std::fmt::{self, Write};

use raddle_core::decorators::guard;
use raddle_protocol::Points;

use raddle_engine::campaign::{End, Finding};
use raddle_engine::report::search::{exhausted, lacks_so_far};
use raddle_engine::report::{racing as places, worth as value, Summary};
use raddle_engine::run::lateness::are_least;
use raddle_engine::run::said::Said;
use raddle_engine::run::threads::ThreadView;
use raddle_report::words::{count, number};

use super::screen::Screen;
use super::search::bound_text;
use super::{command_line, late, racing, search, worth};

/// The most threads that are shown.
const THREADS: usize = 32;

/// The column of the facts' values.
const VALUES: usize = 15;

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Failures only.
    Quiet,
    /// What a person wants to know.
    Normal,
    /// Each place that was seen to race, too.
    Verbose,
}

/// The summary of a campaign.
pub fn summary(summary: &Summary<'_>, amount: Amount, screen: Screen) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_summary(&mut out, summary, amount, screen);
    out
}

fn write_summary(out: &mut String, s: &Summary<'_>, amount: Amount, screen: Screen) -> fmt::Result {
    let failed = !s.campaign.findings.is_empty();
    if amount == Amount::Quiet && !failed {
        return Ok(());
    }
    writeln!(out, "{}", verdict(s, screen))?;
    if amount != Amount::Quiet {
        writeln!(out)?;
        facts(out, s, amount, screen)?;
    }
    for finding in &s.campaign.findings {
        writeln!(out)?;
        write_finding(out, s, finding, screen)?;
    }
    Ok(())
}

fn verdict(s: &Summary<'_>, screen: Screen) -> String {
    let tally = &s.campaign.tally;
    let planned = count(s.plan.runs, "run");
    let runs = match s.campaign.end {
        End::Complete => count(tally.runs, "run"),
        End::Interrupted => format!("{} of {planned} (interrupted)", number(tally.runs)),
        End::Time => format!("{} of {planned} (time ran out)", number(tally.runs)),
        End::Broken(_) => format!("{} of {planned} (then an error ended it)", number(tally.runs)),
    };
    match &s.campaign.findings[..] {
        [] if tally.runs == 0 => {
            let why = if s.campaign.end == End::Interrupted { "interrupted" } else { "time ran out" };
            screen.yellow(&format!("nothing was explored: {why} before the first run finished"))
        }
        [] if tally.all_cut() => screen.yellow(&format!("nothing was explored: no run finished in {runs}")),
        [] if tally.nothing_controlled().is_some() => screen.yellow(&format!("nothing was under control in {runs}")),
        [] => match exhausted(s).filter(|exhausted| exhausted.proof) {
            Some(exhausted) => {
                screen.green(&format!("no failure: {}", search::title(&exhausted, s.plan.policy.descriptor.name)))
            }
            None => screen.green(&format!("no failure in {runs}")),
        },
        [one] if one.count == 1 => {
            let title = one.failure.kind.title();
            let found = format!("{title} found in run {} of {}", number(one.first_run), number(s.plan.runs));
            let all = if s.plan.keep_going { format!("; {runs} in all") } else { String::new() };
            screen.red(&format!("{found}{all}"))
        }
        findings => {
            let failing = number(tally.failing_runs);
            let kinds = match findings.len() {
                1 => format!("always the same {}", findings[0].failure.kind.title()),
                n => format!("{} different failures", number(n as u64)),
            };
            screen.red(&format!("{failing} of {runs} failed: {kinds}"))
        }
    }
}

fn facts(out: &mut String, s: &Summary<'_>, amount: Amount, screen: Screen) -> fmt::Result {
    let (plan, campaign) = (s.plan, s.campaign);
    let tally = &campaign.tally;
    let mut fact = |name: &str, value: String| writeln!(out, "  {name:<12} {}", screen.wrap(&value, VALUES, VALUES));
    fact("seed", plan.settings.seed.to_string())?;
    fact("policy", format!("{}, {}", plan.policy, guard_text(plan.settings.guard)))?;
    fact("points", points_text(s))?;
    if amount == Amount::Verbose {
        let mut places: Vec<_> = places::places(s).iter().map(racing::line).collect();
        // The read and the write of one statement.
        places.dedup();
        for (i, place) in places.into_iter().enumerate() {
            fact(if i == 0 { "racing" } else { "" }, place)?;
        }
    }
    let rate = tally.runs as f64 / campaign.seconds.max(1e-9);
    fact("runs", format!("{} in {:.2} s, {} runs/s", number(tally.runs), campaign.seconds, number(rate as u64)))?;
    let value = value::of(s);
    let unseen = worth::unseen_text(&value).map(|text| format!(", {text}")).unwrap_or_default();
    fact("schedules", format!("{} distinct{unseen}", number(tally.distinct_schedules())))?;
    for text in worth::unseen_of_members(&value, amount == Amount::Verbose) {
        fact("", text)?;
    }
    if plan.searches() {
        for (i, text) in search_texts(s).into_iter().enumerate() {
            fact(if i == 0 { "search" } else { "" }, text)?;
        }
    }
    if let Some(pairs) = worth::pairs_text(&value) {
        fact("orders", pairs)?;
    }
    // Who has a failure in hand does not ask what was missed.
    let asks = campaign.findings.is_empty() || plan.keep_going;
    if let Some(bound) = worth::bound_text(&value).filter(|_| asks) {
        fact("worth", bound)?;
    }
    fact("threads", format!("at most {}", number(tally.threads_max)))?;
    fact("steps", format!("at most {}, {} on average", number(tally.steps_max), one_decimal(tally.steps_mean())))?;
    if amount == Amount::Verbose {
        let (points, phase) = (number(tally.points_max), number(tally.phase_max));
        fact(
            "",
            format!("of at most {points} schedule points; at most {phase} steps between two sequential stretches"),
        )?;
    }
    if tally.cut_runs > 0 {
        let (cut, limit) = (count(tally.cut_runs, "run"), count(plan.settings.max_steps, "step"));
        fact("cut", format!("{cut} at {limit}, which is not a failure (--max-steps allows more)"))?;
    }
    if tally.fair_runs > 0 {
        let runs = count(tally.fair_runs, "run");
        fact("fair", format!("a fair schedule took over in {runs} that seemed to make no progress"))?;
    }
    if tally.delayed_runs > 0 {
        let (runs, lag) = (count(tally.delayed_runs, "run"), plan.settings.lag);
        fact("late", format!("threads that could run were late in {runs}, by {lag} ms in all at most (--lag)"))?;
    }
    if tally.guard_fired > 0 {
        fact("guard", format!("stepped in {}", count(tally.guard_fired, "time")))?;
    }
    if tally.unreplayable_runs > 0 {
        let (lost, failing) = (number(tally.unreplayable_runs), count(tally.failing_runs, "failing run"));
        fact("replay", format!("{lost} of {failing} could not be replayed serially"))?;
    }
    for (i, text) in s.uncontrolled().iter().enumerate() {
        fact(if i == 0 { "uncontrolled" } else { "" }, (*text).to_string())?;
    }
    for reason in &campaign.fallback {
        fact("note", format!("the program falls back to --exec because {reason}"))?;
    }
    for reason in &campaign.os_threads {
        fact("note", format!("threads are switched as OS threads, not as fibers, because {reason}"))?;
    }
    if tally.output_cut_runs > 0 {
        fact("note", format!("the output of {} was cut at 64 MiB", count(tally.output_cut_runs, "run")))?;
    }
    if let Some(nothing) = tally.nothing_controlled().filter(|_| campaign.findings.is_empty()) {
        writeln!(out, "\n{}", screen.wrap(nothing.text(), 0, 0))?;
        if let Some(command) = &tally.child_command {
            writeln!(out, "A child process started `{command}`; to control that: raddle test -- {command}")?;
        }
    }
    Ok(())
}

/// With the separators of [`number`].
fn one_decimal(value: f64) -> String {
    let tenths = (value * 10.0).round() as u64;
    format!("{}.{}", number(tenths / 10), tenths % 10)
}

/// How far a search came, and what that is worth.
fn search_texts(s: &Summary<'_>) -> Vec<String> {
    let not_over = |text: &str| {
        let lacks = lacks_so_far(s).into_iter().map(|lack| format!("and it would not be a proof: {lack}"));
        std::iter::once(text.to_string()).chain(lacks).collect()
    };
    let Some(exhausted) = exhausted(s) else {
        return match s.campaign.end {
            // It stopped because it found something.
            End::Complete if !s.plan.keep_going && !s.campaign.findings.is_empty() => Vec::new(),
            End::Complete => not_over("the end was not reached; --runs allows more"),
            _ => not_over("the end was not reached"),
        };
    };
    let mut texts = vec![search::title(&exhausted, s.plan.policy.descriptor.name)];
    texts.extend(search::reduction(&exhausted));
    if exhausted.proof {
        let verdict = if s.campaign.findings.is_empty() { "none can fail" } else { "no other one can fail" };
        texts.push(format!("{verdict}, {}", exhausted.scope.unwrap_or_default()));
    } else {
        texts.extend(exhausted.lacks.iter().map(|lack| format!("but that is not a proof: {lack}")));
    }
    texts
}

fn points_text(s: &Summary<'_>) -> String {
    let (plan, racing) = (s.plan, s.campaign.racing.len() as u64);
    let name = plan.settings.points.name();
    if let Some(lack) = plan.target.program.lacks(plan.settings.points) {
        return format!("{name}, but {lack}");
    }
    match plan.settings.points {
        Points::Race if racing == 0 => format!("{name}; no place was seen to race"),
        Points::Race => format!("{name}; {} seen to race", count(racing, "place")),
        _ => name.to_string(),
    }
}

fn guard_text(guard: guard::Settings) -> String {
    if guard == guard::Settings::OFF {
        return "without starvation guard".to_string();
    }
    format!("starvation guard {}", guard.override_probability)
}

fn write_finding(out: &mut String, s: &Summary<'_>, finding: &Finding, screen: Screen) -> fmt::Result {
    let failure = &finding.failure;
    let message = format!("{}: {}", screen.bold(failure.kind.title()), failure.message);
    writeln!(out, "{}", screen.wrap(&message, 0, 2))?;
    write!(out, "  run {}, step {}", number(finding.first_run), number(failure.step))?;
    if let Some(bound) = failure.bound {
        write!(out, ", found with {}", bound_text(s.plan.policy.descriptor.name, bound))?;
    }
    if failure.heap.held_back != 0 {
        write!(out, ", {} held back", count(failure.heap.held_back, "freed block"))?;
    }
    if finding.count > 1 {
        write!(out, "; {} failed like this", count(finding.count, "run"))?;
    }
    writeln!(out)?;
    let are_least = are_least(s.plan.policy.descriptor, s.plan.check.is_some(), failure.kind);
    if let Some(text) = late::text(&failure.delays, are_least) {
        writeln!(out, "  {text}")?;
    }
    write_threads(out, &failure.threads)?;
    write_said(out, &failure.said)?;
    match &finding.schedule {
        Ok(path) => writeln!(out, "\n  replay it: {}", screen.bold(&command_line::replay(path))),
        Err(reason) => {
            writeln!(out, "\n  there is no schedule file: {reason}")?;
            let command = command_line::explore_again(s.plan, finding.first_run);
            writeln!(out, "  find it again: {}", screen.bold(&command))
        }
    }
}

/// What a run printed, as far as it tells something.
pub fn write_said(out: &mut String, said: &Said) -> fmt::Result {
    for (name, lines) in [("standard output", &said.stdout), ("standard error", &said.stderr)] {
        if !lines.is_empty() {
            writeln!(out, "\n  {name}:")?;
        }
        for line in lines {
            writeln!(out, "{}", format!("    {line}").trim_end())?;
        }
    }
    Ok(())
}

/// Threads with what they wait for and where they stand.
pub fn write_threads(out: &mut String, threads: &[ThreadView]) -> fmt::Result {
    if threads.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let width = threads.iter().map(|t| t.name.chars().count()).max().unwrap_or(0);
    for thread in threads.iter().take(THREADS) {
        let id = format!("t{}", thread.id);
        let waits_for = thread.waits_for.as_deref().unwrap_or("");
        let line = format!("  {id:<4} {:<width$}  {:<8} {waits_for}", thread.name, thread.state);
        writeln!(out, "{}", line.trim_end())?;
        for frame in thread.backtrace() {
            writeln!(out, "         {frame}")?;
        }
    }
    if threads.len() > THREADS {
        writeln!(out, "  … and {} (--json has all)", count((threads.len() - THREADS) as u64, "more thread"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_engine::campaign::tally::Tally;
    use raddle_engine::report::sample;
    use raddle_engine::run::report::Verdict;
    use raddle_inspect::elf::Language;
    use raddle_protocol::hooks::offers;

    const PLAIN: Screen = Screen { colors: false, width: None };

    #[test]
    fn no_failure() {
        let (mut plan, mut campaign) = (sample::plan(), sample::campaign(1000));
        plan.target.program.language = Language::Rust;
        campaign.tally.escapes = 1 << 9;
        campaign.tally.cut_runs = 2;
        campaign.tally.guard_fired = 1200;
        campaign.fallback = vec!["it starts threads before main".into()];
        let text = summary(&Summary { plan: &plan, campaign: &campaign }, Amount::Normal, PLAIN);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn places_that_race() {
        let (mut plan, mut campaign) = (sample::plan(), sample::campaign(1000));
        plan.settings.points = Points::Race;
        plan.target.program.offers = offers::ATOMICS | offers::MEMORY;
        campaign.racing = sample::racing();
        let text = summary(&Summary { plan: &plan, campaign: &campaign }, Amount::Verbose, PLAIN);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn points_that_are_not_there() {
        let (mut plan, campaign) = (sample::plan(), sample::campaign(1));
        plan.settings.points = Points::Race;
        assert_eq!(
            points_text(&Summary { plan: &plan, campaign: &campaign }),
            "race, but the program is not instrumented: build it with raddle cc, raddle c++ or cargo raddle"
        );
        plan.target.program.offers = offers::ATOMICS;
        assert_eq!(
            points_text(&Summary { plan: &plan, campaign: &campaign }),
            "race, but only the program's atomics are visible: build it without RADDLE_VISIBLE=atomics, or with cargo \
             raddle --memory"
        );
    }

    #[test]
    fn a_deadlock() {
        let (plan, mut campaign) = (sample::plan(), sample::campaign(17));
        campaign.findings = vec![sample::deadlock()];
        let text = summary(&Summary { plan: &plan, campaign: &campaign }, Amount::Normal, PLAIN);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn several_failures_of_which_one_could_not_be_stored() {
        let (mut plan, mut campaign) = (sample::plan(), sample::campaign(996));
        plan.keep_going = true;
        let failure = sample::deadlock().failure;
        for run in 997..=1000 {
            campaign.tally.add(&sample::report(run, Verdict::Failed(Box::new(failure.clone()))));
        }
        let full = ".raddle/assert-9a8b7c6d.schedule could not be written: No space left on device";
        campaign.findings = vec![sample::deadlock(), sample::assertion(Err(full.into()))];
        let text = summary(&Summary { plan: &plan, campaign: &campaign }, Amount::Quiet, PLAIN);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn nothing_under_control() {
        let (plan, mut campaign) = (sample::plan(), sample::campaign(0));
        let mut report = sample::report(1, Verdict::Passed);
        report.counts.threads = 1;
        campaign.tally = Tally::default();
        campaign.tally.add(&report);
        campaign.end = End::Interrupted;
        let text = summary(&Summary { plan: &plan, campaign: &campaign }, Amount::Normal, PLAIN);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn quiet_means_failures_only() {
        let (plan, campaign) = (sample::plan(), sample::campaign(5));
        assert_eq!(summary(&Summary { plan: &plan, campaign: &campaign }, Amount::Quiet, PLAIN), "");
    }

    #[test]
    fn colours_are_for_terminals() {
        let (plan, campaign) = (sample::plan(), sample::campaign(5));
        let text = summary(
            &Summary { plan: &plan, campaign: &campaign },
            Amount::Normal,
            Screen { colors: true, width: None },
        );
        assert!(text.starts_with("\u{1b}["), "{text:?}");
    }
}
