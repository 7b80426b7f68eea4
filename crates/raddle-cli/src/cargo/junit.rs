//! The results as JUnit XML, as CI systems read it: a suite for each executable, a case for each test.

use std::fmt::Write;

use super::outcome::{Outcome, Verdict};

/// The tests of an executable.
#[derive(Debug, Default)]
pub struct Suite {
    pub name: String,
    pub cases: Vec<Case>,
    /// How long it took.
    pub seconds: f64,
}

#[derive(Debug)]
pub struct Case {
    pub name: String,
    /// What became of it.
    pub result: Result,
}

/// What became of a test.
#[derive(Debug)]
pub enum Result {
    Explored(Box<Outcome>),
    /// It was not, because of this.
    Skipped(&'static str),
}

const NOT_CONCURRENT: &str = "not concurrent: it never had two threads of its own, so it has only one schedule";
const NOT_CONTROLLED: &str = "not controlled: no schedule point was seen while two threads were alive";
const NOT_EXPLORED: &str = "not explored: time ran out before the first run finished; --time allows more";
const CUT: &str = "cut: every run was cut at the step limit; --max-steps allows more";

impl Case {
    fn seconds(&self) -> f64 {
        match &self.result {
            Result::Explored(outcome) => outcome.seconds,
            Result::Skipped(_) => 0.0,
        }
    }

    fn has(&self, verdict: Verdict) -> bool {
        matches!(&self.result, Result::Explored(outcome) if outcome.verdict == verdict)
    }

    fn skipped(&self) -> Option<&'static str> {
        match &self.result {
            Result::Skipped(reason) => Some(reason),
            Result::Explored(outcome) => match outcome.verdict {
                Verdict::NotConcurrent => Some(NOT_CONCURRENT),
                Verdict::NotControlled => Some(NOT_CONTROLLED),
                Verdict::Cut => Some(CUT),
                Verdict::NotExplored => Some(NOT_EXPLORED),
                Verdict::Interrupted => Some("interrupted"),
                Verdict::Passed | Verdict::Failed | Verdict::Broken => None,
            },
        }
    }
}

pub fn document(suites: &[Suite]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all = || suites.iter().flat_map(|suite| &suite.cases);
    let seconds = suites.iter().map(|suite| suite.seconds).sum();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "<testsuites name=\"cargo raddle\" {}>", counts(all(), seconds));
    for suite in suites {
        let name = escaped(&suite.name);
        let _ = writeln!(out, "  <testsuite name=\"{name}\" {}>", counts(suite.cases.iter(), suite.seconds));
        for case in &suite.cases {
            write_case(&mut out, &name, case);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn counts<'a>(cases: impl Iterator<Item = &'a Case> + Clone, seconds: f64) -> String {
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\"",
        cases.clone().count(),
        cases.clone().filter(|case| case.has(Verdict::Failed)).count(),
        cases.clone().filter(|case| case.has(Verdict::Broken)).count(),
        cases.filter(|case| case.skipped().is_some()).count(),
    )
}

fn write_case(out: &mut String, suite: &str, case: &Case) {
    let name = escaped(&case.name);
    let _ = write!(out, "    <testcase name=\"{name}\" classname=\"{suite}\" time=\"{:.3}\"", case.seconds());
    let Result::Explored(outcome) = &case.result else {
        let _ = writeln!(out, "><skipped message=\"{}\"/></testcase>", escaped(case.skipped().unwrap_or_default()));
        return;
    };
    out.push_str(">\n");
    if let Some(reason) = case.skipped() {
        let _ = writeln!(out, "      <skipped message=\"{}\"/>", escaped(reason));
    }
    let element = match outcome.verdict {
        Verdict::Failed => Some("failure"),
        Verdict::Broken => Some("error"),
        _ => None,
    };
    if let (Some(element), Some((kind, message))) = (element, &outcome.failure) {
        let (kind, message) = (escaped(kind), escaped(message));
        let text = in_element(&console::strip_ansi_codes(&outcome.text));
        let _ = writeln!(out, "      <{element} type=\"{kind}\" message=\"{message}\">{text}</{element}>");
    }
    let _ = writeln!(out, "      <system-out>{}</system-out>", in_element(&outcome.amount()));
    out.push_str("    </testcase>\n");
}

/// Text as it may stand in an attribute, where the ends of lines would become blanks.
fn escaped(text: &str) -> String {
    in_element(text).replace('\n', "&#10;").replace('\t', "&#9;")
}

/// Text as it may stand in an element. Characters that XML cannot have at all are replaced.
fn in_element(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' | '\t' => out.push(c),
            '\r' => out.push_str("&#13;"),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_escaped() {
        assert_eq!(escaped("a<b> & \"c\"\n\u{1b}[1m'"), "a&lt;b&gt; &amp; &quot;c&quot;&#10;\u{fffd}[1m&apos;");
    }

    #[test]
    fn a_document() {
        let failed = Outcome {
            failure: Some(("assert".into(), "left < right".into())),
            text: "assertion failure: left < right\n  run 3, step 7\n".into(),
            ..Outcome::sample(Verdict::Failed)
        };
        let case = |name: &str, result| Case { name: name.to_string(), result };
        let suite = Suite {
            name: "bank".into(),
            cases: vec![
                case("opens", Result::Explored(Box::new(Outcome::sample(Verdict::Passed)))),
                case("transfers", Result::Explored(Box::new(failed))),
                case("parses", Result::Explored(Box::new(Outcome::sample(Verdict::NotConcurrent)))),
                case("slow", Result::Skipped("ignored")),
            ],
            seconds: 1.25,
        };
        insta::assert_snapshot!(document(&[suite]));
    }
}
