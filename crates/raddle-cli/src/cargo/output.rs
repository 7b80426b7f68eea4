//! What is printed of tests, in the manner of `cargo test`.

use std::fmt::Write;
use std::path::Path;

use console::Style;

use super::outcome::{Outcome, Verdict};
use super::selection::Tests;

/// A test with what became of it; `None`: it was not explored.
pub type Result<'a> = (&'a str, Option<&'a Outcome>);

#[derive(Clone, Copy, Debug)]
pub struct Paint(pub bool);

impl Paint {
    fn word(self, verdict: Verdict) -> String {
        let style = match verdict {
            Verdict::Passed => Style::new().green(),
            Verdict::Failed | Verdict::Broken => Style::new().red(),
            Verdict::NotConcurrent
            | Verdict::NotControlled
            | Verdict::Cut
            | Verdict::NotExplored
            | Verdict::Interrupted => Style::new().yellow(),
        };
        self.apply(style, verdict.word())
    }

    fn apply(self, style: Style, text: &str) -> String {
        if self.0 {
            style.force_styling(true).apply_to(text).to_string()
        } else {
            text.to_string()
        }
    }
}

/// Cargo's line before an executable.
pub fn running(title: &str, path: &Path, paint: Paint) -> String {
    let here = std::env::current_dir().ok();
    let path = here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path);
    format!("{} {title} ({})\n", paint.apply(Style::new().green().bold(), "     Running"), path.display())
}

/// How many tests follow.
pub fn header(tests: usize) -> String {
    format!("\nrunning {tests} test{}\n", if tests == 1 { "" } else { "s" })
}

/// The line of one test.
pub fn line(name: &str, outcome: Option<&Outcome>, paint: Paint) -> String {
    match outcome {
        Some(outcome) => format!("test {name} ... {} ({})\n", paint.word(outcome.verdict), outcome.amount()),
        None => format!("test {name} ... {}\n", paint.word(Verdict::Interrupted)),
    }
}

/// The line of a test that is to be ignored.
pub fn ignored(name: &str, paint: Paint) -> String {
    format!("test {name} ... {}\n", paint.apply(Style::new().yellow(), "ignored"))
}

/// What the tests printed that passed.
pub fn successes(results: &[Result<'_>]) -> String {
    let passed = results.iter().filter_map(|(name, outcome)| Some((name, (*outcome)?)));
    let passed = passed.filter(|(_, outcome)| failed(outcome).is_none() && !outcome.printed.is_empty());
    let sections: String =
        passed.map(|(name, outcome)| format!("\n---- {name} stdout ----\n{}", outcome.printed)).collect();
    if sections.is_empty() {
        return sections;
    }
    format!("\nsuccesses:\n{sections}")
}

/// The reports of failures, and their names again.
pub fn failures(results: &[Result<'_>]) -> String {
    let failed = || results.iter().filter_map(|(name, outcome)| Some((name, failed(outcome.as_ref()?)?)));
    let mut out = String::new();
    if failed().next().is_none() {
        return out;
    }
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\nfailures:");
    for (name, outcome) in failed() {
        let _ = writeln!(out, "\n---- {name} ----\n{}", outcome.text.trim_end());
    }
    let _ = writeln!(out, "\n\nfailures:");
    for (name, _) in failed() {
        let _ = writeln!(out, "    {name}");
    }
    out
}

fn failed<'a>(outcome: &&'a Outcome) -> Option<&'a Outcome> {
    matches!(outcome.verdict, Verdict::Failed | Verdict::Broken).then_some(*outcome)
}

/// The line with the counts.
pub fn result(results: &[Result<'_>], tests: &Tests, seconds: f64, paint: Paint) -> String {
    let count = |verdict| results.iter().filter(|(_, o)| o.is_some_and(|o| o.verdict == verdict)).count();
    let not_begun = results.iter().filter(|(_, outcome)| outcome.is_none()).count();
    let interrupted = count(Verdict::Interrupted) + not_begun;
    let (failed, broken) = (count(Verdict::Failed), count(Verdict::Broken));
    let (cut, not_explored) = (count(Verdict::Cut), count(Verdict::NotExplored));
    let worst = [
        (failed + broken, Verdict::Failed),
        (interrupted, Verdict::Interrupted),
        (not_explored, Verdict::NotExplored),
        (cut, Verdict::Cut),
    ];
    let word = worst.into_iter().find(|(tests, _)| *tests > 0).map_or(Verdict::Passed, |(_, verdict)| verdict);
    let mut line = format!(
        "\ntest result: {}. {} passed; {failed} failed; {} not concurrent; {} ignored; {} filtered out",
        paint.word(word),
        count(Verdict::Passed),
        count(Verdict::NotConcurrent),
        tests.ignored.len(),
        tests.filtered_out,
    );
    let rare = [
        ("errors", broken),
        ("not controlled", count(Verdict::NotControlled)),
        ("cut", cut),
        ("not explored", not_explored),
        ("interrupted", interrupted),
    ];
    for (what, number) in rare.into_iter().filter(|(_, number)| *number > 0) {
        let _ = write!(line, "; {number} {what}");
    }
    let _ = writeln!(line, "; finished in {seconds:.2}s\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(verdict: Verdict) -> Outcome {
        let text = "deadlock found in run 18 of 1,000\n\n  replay it: raddle replay .raddle/a.schedule\n".to_string();
        Outcome { text, ..Outcome::sample(verdict) }
    }

    #[test]
    fn as_cargo_test_prints() {
        let outcomes =
            [Verdict::Passed, Verdict::Failed, Verdict::NotConcurrent, Verdict::Broken].map(|v| (v, outcome(v)));
        let names = ["bank::opens", "bank::transfers", "parses", "starts"];
        let results: Vec<_> = names.iter().zip(&outcomes).map(|(name, (_, outcome))| (*name, Some(outcome))).collect();
        let tests = Tests { selected: names.map(String::from).into(), ignored: vec!["slow".into()], filtered_out: 3 };
        let paint = Paint(false);
        let mut text = header(tests.shown().len());
        for (name, outcome) in &results {
            text += &line(name, *outcome, paint);
        }
        text += &ignored("slow", paint);
        text += &failures(&results);
        text += &result(&results, &tests, 1.234, paint);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_passing_tests_print_has_sections() {
        let printed = Outcome { printed: "one\n".into(), ..outcome(Verdict::Passed) };
        let failed = Outcome { printed: "two\n".into(), ..outcome(Verdict::Failed) };
        let results = [("a", Some(&printed)), ("b", Some(&failed)), ("c", None)];
        assert_eq!(successes(&results), "\nsuccesses:\n\n---- a stdout ----\none\n");
        assert_eq!(successes(&results[1..]), "");
    }
}
