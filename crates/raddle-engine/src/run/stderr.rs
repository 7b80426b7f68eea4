//! What a program says on standard error when it fails.

use super::classify::{without_addresses, Symptom};
use super::output;
use crate::os::sys::Ending;
use raddle_report::FailureKind;

/// Lines of standard error that are kept with a failure.
const STDERR_LINES: usize = 20;

/// What a Rust panic says.
const PANIC: &str = "panicked at";

/// The lines of standard error that say most: the start of a panic's message or of a sanitizer's
/// report, else the end.
pub fn telling_lines(kind: FailureKind, stderr: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stderr);
    let starts = |line: &&str| match kind {
        FailureKind::Sanitizer => is_sanitizer_report(line),
        FailureKind::Assert => line.contains(PANIC),
        _ => false,
    };
    match text.lines().position(|line| starts(&line)) {
        Some(at) => text.lines().skip(at).take(STDERR_LINES).map(str::to_string).collect(),
        None => output::tail(stderr, STDERR_LINES),
    }
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
    Some(Symptom { kind: FailureKind::Sanitizer, message: message.to_string(), place })
}

fn is_sanitizer_report(line: &str) -> bool {
    let headline = line.contains("ERROR: ") || line.contains("WARNING: ");
    headline && line.contains("Sanitizer: ") || line.contains(": runtime error: ")
}

/// A Rust panic that ended the process: by status 101, or by an abort.
pub fn panic(stderr: &str, ending: Ending) -> Option<Symptom> {
    let deadly = matches!(ending, Ending::Exit(101) | Ending::Signal(_));
    let lines: Vec<_> = stderr.lines().collect();
    let at = lines.iter().position(|line| line.contains(PANIC)).filter(|_| deadly)?;
    let mut message = without_thread_number(lines[at]);
    // The text of the panic is on the next line.
    if let Some(text) = lines.get(at + 1).filter(|text| !text.is_empty() && !text.starts_with("note: ")) {
        message = format!("{} {text}", message.trim_end());
    }
    Some(Symptom::new(FailureKind::Assert, message))
}

/// `thread 'x' (1234) panicked at` becomes `thread 'x' panicked at`.
fn without_thread_number(line: &str) -> String {
    let Some((before, after)) = line.split_once(" panicked at") else {
        return line.to_string();
    };
    let number = |text: &str| text.len() > 2 && text[1..text.len() - 1].bytes().all(|b| b.is_ascii_digit());
    let before = match before.rsplit_once(' ') {
        Some((name, last)) if last.starts_with('(') && last.ends_with(')') && number(last) => name,
        _ => before,
    };
    format!("{before} panicked at{after}")
}

/// What libstdc++ or glibc say before they abort.
pub fn last_words(stderr: &str) -> Option<String> {
    const WORDS: &[&str] = &[
        "terminate called",
        "pure virtual method called",
        "*** ",
        "free(): ",
        "malloc(): ",
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

    #[test]
    fn the_telling_lines_start_where_it_went_wrong() {
        let text = format!("log\nthread 'x' panicked at a.rs:1:\nbad\n{}", "frame\n".repeat(99));
        let lines = telling_lines(FailureKind::Assert, text.as_bytes());
        assert_eq!((lines.len(), lines[0].as_str()), (20, "thread 'x' panicked at a.rs:1:"));
        assert_eq!(telling_lines(FailureKind::Exit, b"a\nb\n"), ["a", "b"]);
    }
}
