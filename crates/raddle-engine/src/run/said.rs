//! What a program says when it fails, apart from what test frameworks say.

use super::classify::{without_addresses, Symptom};
use crate::each_test::failure::Stream;
use crate::each_test::{self, is_of_harness};
use raddle_report::FailureKind;

/// Lines of an output that are kept with a failure, from the place that tells most.
const TELLING: usize = 20;

/// As many with a backtrace among them.
const WITH_BACKTRACE: usize = 60;

/// Lines of an output that are kept of its end.
const TAIL: usize = 10;

/// The lines of both outputs that say most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub stdout: Vec<String>,
    pub stderr: Vec<String>,
}

impl Said {
    /// Of a failure: the text of an assertion or the start of a sanitizer's report, else the end.
    pub fn of(symptom: &Symptom, stdout: &[u8], stderr: &[u8]) -> Said {
        let at = |stream| symptom.assertion.as_ref().filter(|said| said.stream == stream).map(|said| said.at);
        let report = || String::from_utf8_lossy(stderr).lines().position(is_sanitizer_report);
        let begin = match symptom.kind {
            FailureKind::Sanitizer => report(),
            _ => at(Stream::Stderr),
        };
        // These have their own way to say what was printed, or a run that is otherwise good.
        let silent = matches!(symptom.kind, FailureKind::Output | FailureKind::Race | FailureKind::Leak);
        Said {
            stdout: if silent { Vec::new() } else { telling(stdout, at(Stream::Stdout), TAIL) },
            stderr: telling(stderr, begin, TELLING),
        }
    }
}

/// The report has the stack that the standard library offers.
const OFFER: &str = "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace";

fn telling(output: &[u8], begin: Option<usize>, tail: usize) -> Vec<String> {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<_> = text.lines().collect();
    let Some(begin) = begin else {
        if is_of_harness(&lines) {
            let own = each_test::without_harness(&lines);
            return own[own.len().saturating_sub(tail)..].to_vec();
        }
        let lines: Vec<_> = lines.into_iter().filter(|line| *line != OFFER).collect();
        return kept(&lines[lines.len().saturating_sub(tail)..]);
    };
    // The names of the tests that failed follow in a list of the harness.
    let has_list = is_of_harness(&lines);
    let ends = |line: &&str| has_list && *line == "failures:";
    let told = lines.iter().copied().skip(begin).take_while(|line| !ends(line));
    let lines: Vec<_> = told.filter(|line| *line != OFFER).collect();
    let has_backtrace = lines.iter().take(TELLING).any(|line| *line == "stack backtrace:");
    kept(&lines[..lines.len().min(if has_backtrace { WITH_BACKTRACE } else { TELLING })])
}

/// Lines without the empty ones at both ends.
fn kept(lines: &[&str]) -> Vec<String> {
    let is_text = |line: &&str| !line.trim().is_empty();
    let begin = lines.iter().position(is_text).unwrap_or(lines.len());
    let end = lines.iter().rposition(is_text).map_or(begin, |last| last + 1);
    lines[begin..end].iter().map(|line| (*line).to_string()).collect()
}

/// AddressSanitizer, ThreadSanitizer and so on have their own way of saying it.
pub fn sanitizer(stderr: &str) -> Option<Symptom> {
    let line = stderr.lines().find(|line| is_sanitizer_report(line))?;
    // "==1234==ERROR: AddressSanitizer: heap-use-after-free on address 0x… at pc 0x… …".
    let message = line.trim_start_matches('=').trim_start_matches(|c: char| c.is_ascii_digit());
    let message = message.trim_start_matches('=').trim_start_matches("ERROR: ").trim_start_matches("WARNING: ");
    let message = message.split(" at pc ").next().unwrap_or(message);
    let summary = stderr.lines().find_map(|line| line.strip_prefix("SUMMARY: "));
    let place = without_addresses(summary.unwrap_or(message));
    Some(Symptom::at(place, FailureKind::Sanitizer, message))
}

fn is_sanitizer_report(line: &str) -> bool {
    let headline = line.contains("ERROR: ") || line.contains("WARNING: ");
    headline && line.contains("Sanitizer: ") || line.contains(": runtime error: ")
}

/// What libstdc++ or glibc say before they abort.
pub fn last_words(stderr: &str) -> Option<String> {
    const WORDS: &[&str] = &[
        "terminate called",
        "pure virtual method called",
        "*** ",
        "free(): ",
        "malloc(): ",
        "tcache_thread_shutdown(): ",
        "mremap_chunk(): ",
        "malloc_consolidate(): ",
        "double free or corruption",
        "corrupted ",
        "realloc(): ",
        "munmap_chunk(): ",
        "munmap(): ",
        "Fatal glibc error",
    ];
    let mut lines = stderr.lines();
    let line = lines.by_ref().find(|line| WORDS.iter().any(|words| line.starts_with(words)))?;
    let what = lines.next().and_then(|next| next.trim_start().strip_prefix("what():"));
    Some(match what {
        Some(what) => format!("{line}:{what}"),
        None => line.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::each_test::failure::Assertion;

    #[test]
    fn the_telling_lines_start_where_it_went_wrong() {
        let text = format!("log\nthread 'x' panicked at a.rs:1:\nbad\n{}", "frame\n".repeat(99));
        let assertion = Assertion { stream: Stream::Stderr, at: 1, ..Assertion::default() };
        let symptom = Symptom { assertion: Some(assertion), ..Symptom::new(FailureKind::Assert, "") };
        let said = Said::of(&symptom, b"a\nb\n", text.as_bytes());
        assert_eq!((said.stderr.len(), said.stderr[0].as_str()), (20, "thread 'x' panicked at a.rs:1:"));
        assert_eq!(said.stdout, ["a", "b"]);
        let said = Said::of(&symptom, b"", text.replace("bad", "stack backtrace:").as_bytes());
        assert_eq!(said.stderr.len(), 60);
        assert_eq!(Said::of(&Symptom::new(FailureKind::Output, ""), b"a", b"b").stdout, [""; 0]);
    }
}
