//! From the traces of a run to a verdict.

use raddle_protocol::{Outcome, Results};

use super::heap;
use super::output;
use super::said;
use super::shared_block;
use super::threads::{deadlock_message, ThreadView};
use crate::each_test::c_assertion;
use crate::each_test::failure::{self, Assertion, Ended, Stream};
use crate::os::sys::{signal_name, Ending};
use crate::plan::Expectations;
use raddle_report::FailureKind;

/// All that is left of a run when it is over.
pub struct Traces<'a> {
    /// What the runtime saw.
    pub results: &'a Results,
    /// How the process ended.
    pub ending: Ending,
    /// Whether it was killed for taking too long, and what it did then.
    pub timed_out: Option<TimedOut>,
    /// Its threads when it failed.
    pub threads: &'a [ThreadView],
    /// What it printed; empty for a run that passed, unless its output is expected to be something.
    pub stdout: &'a [u8],
    /// Whether some of that is missing.
    pub stdout_cut: bool,
    /// What it printed on standard error.
    pub stderr: &'a [u8],
}

/// What a run did that took too long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedOut {
    /// The limit, in seconds.
    pub limit: f64,
    /// Seconds since the last schedule point.
    pub silent: f64,
}

/// A failure in short.
#[derive(Clone, Debug, PartialEq)]
pub struct Symptom {
    /// What kind of failure it is.
    pub kind: FailureKind,
    pub message: String,
    pub place: String,
    /// The assertion that did not hold, if there is one.
    pub assertion: Option<Assertion>,
}

impl Symptom {
    /// A failure whose message says where.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Symptom {
        let message = message.into();
        Symptom { kind, place: without_addresses(&message), message, assertion: None }
    }

    /// A failure at a known place.
    pub fn at(place: impl Into<String>, kind: FailureKind, message: impl Into<String>) -> Symptom {
        Symptom { kind, place: place.into(), message: message.into(), assertion: None }
    }

    /// What a test framework or a panic says.
    fn of_assertion(assertion: Assertion) -> Symptom {
        let place = without_addresses(&assertion.place());
        Symptom { assertion: Some(assertion.clone()), ..Symptom::at(place, FailureKind::Assert, assertion.message()) }
    }
}

/// What is wrong with a run, if anything is. The user's check is not asked here.
pub fn classify(traces: &Traces<'_>, expect: &Expectations) -> Option<Symptom> {
    let results = traces.results;
    match Outcome::from_u32(results.outcome) {
        Outcome::Deadlock => return Some(deadlock(traces)),
        Outcome::Livelock => return Some(livelock(traces)),
        Outcome::Assert => {
            let message = shared_block::message(results);
            let assertion = c_assertion::of_libc(&message, 0).map(|said| Assertion { stream: Stream::Stderr, ..said });
            return Some(Symptom { assertion, ..Symptom::new(FailureKind::Assert, message) });
        }
        Outcome::BodyFailed => {
            let message = match shared_block::message(results) {
                text if text.is_empty() => "the check's body says that it failed".to_string(),
                text => text,
            };
            return Some(Symptom::new(FailureKind::Assert, message));
        }
        Outcome::Misuse => return Some(misuse(traces)),
        Outcome::ThreadsLeft => return Some(threads_left(traces)),
        Outcome::StateLeaks => return Some(Symptom::new(FailureKind::Leak, shared_block::message(results))),
        _ => {}
    }
    if let Some(timed_out) = traces.timed_out {
        return Some(time_out(timed_out));
    }
    let stderr = String::from_utf8_lossy(traces.stderr);
    // A signal that only the runtime has seen was a fault, after which the process ended otherwise.
    let seen = expect.signal.is_none() && results.outcome == Outcome::Signal as u32;
    let failing = traces.ending != expect.ending() || seen;
    if failing {
        let said = || failure::read(traces.stdout, traces.stderr, ended(traces)).map(Symptom::of_assertion);
        let symptom = said::sanitizer(&stderr).or_else(said);
        return Some(symptom.unwrap_or_else(|| bare(traces, expect, &stderr)));
    }
    let (file, expected) = expect.output.as_ref()?;
    let difference = difference(expected, traces.stdout, traces.stdout_cut)?;
    Some(Symptom::new(FailureKind::Output, format!("standard output differs from {}: {difference}", file.display())))
}

fn deadlock(traces: &Traces<'_>) -> Symptom {
    let waiting = traces.threads.iter().filter(|t| t.waits() && !t.is_harness);
    let mut places: Vec<_> =
        waiting.map(|t| format!("{} in {}", t.event, t.place.as_deref().unwrap_or("unknown code"))).collect();
    places.sort();
    places.dedup();
    let message = match shared_block::message(traces.results) {
        text if text.is_empty() => deadlock_message(traces.threads),
        text => text,
    };
    let place = if places.is_empty() { without_addresses(&message) } else { places.join("; ") };
    Symptom::at(place, FailureKind::Deadlock, message)
}

/// A thread used a destroyed or overwritten object, or freed memory. Which one is not known when freed memory was found
/// to have changed.
fn misuse(traces: &Traces<'_>) -> Symptom {
    let mut message = shared_block::message(traces.results);
    let culprit = traces.threads.iter().find(|t| u32::from(t.id) == traces.results.thread);
    let origin = traces.threads.iter().find_map(|t| t.origin.as_deref());
    let freed = || traces.threads.iter().find(|t| t.state == heap::FREED)?.place.as_deref();
    let place = match culprit {
        Some(culprit) => culprit.place.as_ref().map(|place| format!("{message} in {place}")),
        None => freed().map(|place| format!("{message}, freed in {place}")),
    };
    let place = place.unwrap_or_else(|| message.clone());
    if let Some(origin) = origin {
        message = format!("{message}; {origin}");
    }
    Symptom { kind: FailureKind::Misuse, message, place: without_addresses(&place), assertion: None }
}

/// The body of a check is over, and threads of it are not.
fn threads_left(traces: &Traces<'_>) -> Symptom {
    let left = traces.threads.iter().filter(|t| t.id != 0);
    let named: Vec<_> = left
        .map(|t| {
            let waits = t.waits_for.as_ref().map_or(String::new(), |what| format!(" waits for {what}"));
            let place = t.place.as_ref().map_or(String::new(), |place| format!(" in {place}"));
            format!("t{} ({}){waits}{place}", t.id, t.name)
        })
        .collect();
    Symptom::new(
        FailureKind::Threads,
        format!("the check's body returned and left threads behind: {}", named.join("; ")),
    )
}

fn livelock(traces: &Traces<'_>) -> Symptom {
    let message = match shared_block::message(traces.results) {
        text if text.is_empty() => format!("no progress up to step {}", traces.results.steps),
        text => text,
    };
    let mut places: Vec<_> = traces.threads.iter().filter_map(|t| t.place.clone()).collect();
    places.sort();
    places.dedup();
    let place = if places.is_empty() { without_addresses(&message) } else { places.join("; ") };
    Symptom::at(place, FailureKind::Livelock, message)
}

fn time_out(TimedOut { limit, silent }: TimedOut) -> Symptom {
    let (place, message) = if silent > limit / 2.0 {
        let place = "no schedule point: blocked outside control or computing";
        (place, format!("still running after {limit} s; {place} (for {silent:.1} s)"))
    } else {
        let place = "still making progress";
        (place, format!("still running after {limit} s; {place} (--run-timeout gives it more time)"))
    };
    Symptom::at(place, FailureKind::Timeout, message)
}

/// The signal that the runtime saw.
fn seen(traces: &Traces<'_>) -> Option<i32> {
    (traces.results.outcome == Outcome::Signal as u32).then_some(traces.results.signal).filter(|&signal| signal > 0)
}

/// How a run ended that has no outcome of its own.
fn ended(traces: &Traces<'_>) -> Ended {
    match (seen(traces), traces.ending) {
        (Some(libc::SIGABRT), _) | (None, Ending::Signal(libc::SIGABRT)) => Ended::Abort,
        (Some(_), _) | (None, Ending::Signal(_)) => Ended::Signal,
        (None, Ending::Exit(status)) => Ended::Exit(status),
    }
}

/// A signal or a status of which nothing else is known.
fn bare(traces: &Traces<'_>, expect: &Expectations, stderr: &str) -> Symptom {
    let (results, seen) = (traces.results, seen(traces));
    let signal = match traces.ending {
        Ending::Signal(signal) => Some(seen.unwrap_or(signal)),
        Ending::Exit(_) => seen,
    };
    match (signal, traces.ending) {
        (Some(signal), _) => {
            let message = signal_message(signal, seen.map(|_| results.address), stderr);
            let culprit = traces.threads.iter().find(|t| u32::from(t.id) == results.thread);
            let place = match culprit.and_then(|t| t.place.as_deref()) {
                Some(place) if seen.is_some() => format!("{} in {place}", signal_name(signal)),
                _ => without_addresses(&message),
            };
            Symptom::at(place, FailureKind::Signal, message)
        }
        (None, ending) => {
            let expected = expect.signal.map_or(expect.exit.to_string(), signal_name);
            Symptom::new(FailureKind::Exit, format!("{ending}, expected {expected}"))
        }
    }
}

fn signal_message(signal: i32, address: Option<u64>, stderr: &str) -> String {
    let name = signal_name(signal);
    match signal {
        libc::SIGSEGV | libc::SIGBUS => match address {
            Some(address) => format!("{name} at address {address:#x}"),
            // Not even the runtime's handler could run.
            None => format!("{name}, perhaps because a stack overflowed"),
        },
        libc::SIGABRT => match said::last_words(stderr) {
            Some(words) => format!("{name}: {words}"),
            None => name,
        },
        libc::SIGKILL => format!("{name}: killed from outside, perhaps because memory ran out"),
        _ => name,
    }
}

/// The first line in which an output is not what it should be.
fn difference(expected: &[u8], found: &[u8], cut: bool) -> Option<String> {
    if cut {
        return Some(format!("it is longer than {} MiB, which is the most that raddle keeps", output::LIMIT >> 20));
    }
    if expected == found {
        return None;
    }
    let mut wanted = expected.split_inclusive(|&b| b == b'\n');
    let mut got = found.split_inclusive(|&b| b == b'\n');
    let mut line = 1;
    loop {
        match (wanted.next(), got.next()) {
            (Some(a), Some(b)) if a == b => line += 1,
            (a, b) => {
                let show = |text: Option<&[u8]>| match text {
                    None => "the end".to_string(),
                    Some(text) => format!("{:?}", shortened(text)),
                };
                return Some(format!("line {line} is {}, expected {}", show(b), show(a)));
            }
        }
    }
}

fn shortened(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    match text.char_indices().nth(120) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.into_owned(),
    }
}

/// A text in which all addresses are the same, so that it says where and not when.
pub fn without_addresses(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("0x") {
        result.push_str(&rest[..at]);
        let digits = &rest[at + 2..];
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        result.push_str(if end == 0 { "0x" } else { "0x…" });
        rest = &digits[end..];
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_protocol::results::MESSAGE;

    /// A run to be judged, with nothing wrong until a test changes something.
    struct Case {
        results: Results,
        ending: Ending,
        timed_out: Option<TimedOut>,
        threads: Vec<ThreadView>,
        stdout: &'static str,
        stderr: &'static str,
        expect: Expectations,
    }

    impl Case {
        fn new(outcome: Outcome) -> Case {
            // SAFETY: zero bytes are valid results.
            let mut results: Results = unsafe { std::mem::zeroed() };
            results.outcome = outcome as u32;
            Case {
                results,
                ending: Ending::Exit(0),
                timed_out: None,
                threads: Vec::new(),
                stdout: "",
                stderr: "",
                expect: Expectations::default(),
            }
        }

        fn message(mut self, text: &str) -> Case {
            assert!(text.len() <= MESSAGE);
            self.results.message[..text.len()].copy_from_slice(text.as_bytes());
            self.results.message_len = text.len() as u32;
            self
        }

        fn ending(mut self, ending: Ending) -> Case {
            self.ending = ending;
            self
        }

        fn stderr(mut self, text: &'static str) -> Case {
            self.stderr = text;
            self
        }

        fn symptom(&self) -> Option<Symptom> {
            let traces = Traces {
                results: &self.results,
                ending: self.ending,
                timed_out: self.timed_out,
                threads: &self.threads,
                stdout: self.stdout.as_bytes(),
                stdout_cut: false,
                stderr: self.stderr.as_bytes(),
            };
            classify(&traces, &self.expect)
        }

        fn is(&self, kind: FailureKind, message: &str) {
            let symptom = self.symptom().expect("a failure");
            assert_eq!((symptom.kind, symptom.message.as_str()), (kind, message));
        }
    }

    fn blocked(id: u16, event: &str, place: &str) -> ThreadView {
        ThreadView {
            id,
            state: "blocked".into(),
            waits_for: Some(event.into()),
            event: event.into(),
            place: Some(place.into()),
            ..ThreadView::default()
        }
    }

    #[test]
    fn a_good_run_is_good() {
        assert_eq!(Case::new(Outcome::Exited).symptom(), None);
        assert_eq!(Case::new(Outcome::Unknown).symptom(), None);
    }

    #[test]
    fn a_deadlock_is_where_its_threads_are() {
        let mut case = Case::new(Outcome::Deadlock).ending(Ending::Signal(9));
        case.threads =
            vec![blocked(2, "lock", "b (x.c:2)"), blocked(1, "lock", "a (x.c:1)"), blocked(3, "lock", "a (x.c:1)")];
        let symptom = case.symptom().expect("a failure");
        assert_eq!(symptom.kind, FailureKind::Deadlock);
        assert_eq!(symptom.place, "lock in a (x.c:1); lock in b (x.c:2)");
    }

    #[test]
    fn a_misuse_is_where_the_object_is_used_and_says_who_destroyed_it() {
        let mut case = Case::new(Outcome::Misuse).message("use of a destroyed mutex (lock)");
        case.is(FailureKind::Misuse, "use of a destroyed mutex (lock)");
        case.results.thread = 2;
        case.threads = vec![ThreadView {
            state: "failed".into(),
            origin: Some("t1 (main) destroyed it in cleanup (x.c:9)".into()),
            ..blocked(2, "lock", "worker (x.c:4)")
        }];
        case.is(FailureKind::Misuse, "use of a destroyed mutex (lock); t1 (main) destroyed it in cleanup (x.c:9)");
        assert_eq!(case.symptom().expect("fails").place, "use of a destroyed mutex (lock) in worker (x.c:4)");
    }

    #[test]
    fn an_assertion_has_its_message() {
        let case = Case::new(Outcome::Assert).message("x.c:7: main: Assertion `p == 0x7f01` failed");
        case.is(FailureKind::Assert, "x.c:7: main: Assertion `p == 0x7f01` failed");
        assert_eq!(case.symptom().expect("fails").place, "x.c:7: main: Assertion `p == 0x…` failed");
    }

    #[test]
    fn a_signal_has_its_address_and_the_frame_of_its_thread() {
        let mut case = Case::new(Outcome::Signal).ending(Ending::Signal(libc::SIGSEGV));
        case.results.signal = libc::SIGSEGV;
        case.results.address = 0x10;
        case.results.thread = 2;
        case.threads = vec![blocked(2, "unlock", "reader (x.c:9)")];
        case.is(FailureKind::Signal, "SIGSEGV at address 0x10");
        assert_eq!(case.symptom().expect("fails").place, "SIGSEGV in reader (x.c:9)");
    }

    #[test]
    fn a_kill_from_outside_is_a_signal() {
        Case::new(Outcome::Unknown)
            .ending(Ending::Signal(libc::SIGKILL))
            .is(FailureKind::Signal, "SIGKILL: killed from outside, perhaps because memory ran out");
    }

    #[test]
    fn a_fault_that_the_runtime_could_not_see_has_no_address() {
        Case::new(Outcome::Unknown)
            .ending(Ending::Signal(libc::SIGSEGV))
            .is(FailureKind::Signal, "SIGSEGV, perhaps because a stack overflowed");
    }

    #[test]
    fn an_abort_has_its_last_words() {
        Case::new(Outcome::Signal)
            .ending(Ending::Signal(libc::SIGABRT))
            .stderr("terminate called after throwing an instance of 'E'\n  what():  empty\n")
            .is(FailureKind::Signal, "SIGABRT: terminate called after throwing an instance of 'E':  empty");
    }

    #[test]
    fn a_panic_is_an_assertion_without_a_thread_number() {
        let text = "thread 'worker' (4711) panicked at src/main.rs:3:5:\nleft != right\nnote: run with…\n";
        let case = Case::new(Outcome::Exited).ending(Ending::Exit(101)).stderr(text);
        assert_eq!(case.symptom().expect("fails").place, "main.rs:3:5");
        let message = "thread 'worker' panicked at src/main.rs:3:5: left != right";
        Case::new(Outcome::Exited).ending(Ending::Exit(101)).stderr(text).is(FailureKind::Assert, message);
        Case::new(Outcome::Signal).ending(Ending::Signal(libc::SIGABRT)).stderr(text).is(FailureKind::Assert, message);
        // A panic that was caught does not make another failure an assertion.
        Case::new(Outcome::Exited)
            .ending(Ending::Exit(3))
            .stderr(text)
            .is(FailureKind::Exit, "exit status 3, expected 0");
    }

    #[test]
    fn sanitizers_are_heard() {
        let text = "=====\n==77==ERROR: AddressSanitizer: heap-use-after-free on address 0x602 at pc 0x55 bp\n\
                    SUMMARY: AddressSanitizer: heap-use-after-free x.c:12 in reader\n";
        let case = Case::new(Outcome::Exited).ending(Ending::Exit(1)).stderr(text);
        case.is(FailureKind::Sanitizer, "AddressSanitizer: heap-use-after-free on address 0x602");
        assert_eq!(case.symptom().expect("fails").place, "AddressSanitizer: heap-use-after-free x.c:12 in reader");
        assert_eq!(Case::new(Outcome::Exited).stderr(text).symptom(), None);
    }

    #[test]
    fn assertions_of_a_framework_are_told_from_each_other() {
        let place = |text| {
            let mut case = Case::new(Outcome::Exited).ending(Ending::Exit(1));
            case.stdout = text;
            let symptom = case.symptom().expect("a failure");
            (symptom.kind, symptom.place)
        };
        let first = place("[ RUN      ] A.B\nsrc/t.cc:3: Failure\nValue of: x\n[  FAILED  ] A.B (0 ms)\n");
        let second = place("[ RUN      ] A.C\nsrc/t.cc:9: Failure\nValue of: x\n[  FAILED  ] A.C (0 ms)\n");
        assert_eq!(first, (FailureKind::Assert, "t.cc:3".to_string()));
        assert_eq!(second, (FailureKind::Assert, "t.cc:9".to_string()));
    }

    #[test]
    fn the_expected_status_is_good() {
        let mut case = Case::new(Outcome::Exited).ending(Ending::Exit(3));
        case.is(FailureKind::Exit, "exit status 3, expected 0");
        case.expect.exit = 3;
        assert_eq!(case.symptom(), None);
    }

    #[test]
    fn the_expected_signal_is_good() {
        let mut case = Case::new(Outcome::Unknown).ending(Ending::Signal(libc::SIGTERM));
        case.is(FailureKind::Signal, "SIGTERM");
        case.expect.signal = Some(libc::SIGTERM);
        assert_eq!(case.symptom(), None);
        case.ending(Ending::Exit(0)).is(FailureKind::Exit, "exit status 0, expected SIGTERM");
        let mut aborted = Case::new(Outcome::Signal).ending(Ending::Signal(libc::SIGABRT));
        aborted.expect.signal = Some(libc::SIGABRT);
        assert_eq!(aborted.symptom(), None);
    }

    #[test]
    fn a_time_out_says_how() {
        let mut case = Case::new(Outcome::Unknown).ending(Ending::Signal(9));
        case.timed_out = Some(TimedOut { limit: 10.0, silent: 9.96 });
        case.is(
            FailureKind::Timeout,
            "still running after 10 s; no schedule point: blocked outside control or computing (for 10.0 s)",
        );
        case.timed_out = Some(TimedOut { limit: 10.0, silent: 0.0 });
        case.is(
            FailureKind::Timeout,
            "still running after 10 s; still making progress (--run-timeout gives it more time)",
        );
    }

    #[test]
    fn wrong_output_names_the_line() {
        let mut case = Case::new(Outcome::Exited);
        case.expect.output = Some(("good.txt".into(), b"one\ntwo\n".to_vec()));
        case.stdout = "one\nthree\n";
        case.is(FailureKind::Output, r#"standard output differs from good.txt: line 2 is "three\n", expected "two\n""#);
        case.stdout = "one\n";
        case.is(FailureKind::Output, r#"standard output differs from good.txt: line 2 is the end, expected "two\n""#);
        case.stdout = "one\ntwo\n";
        assert_eq!(case.symptom(), None);
    }

    #[test]
    fn addresses_are_made_equal() {
        assert_eq!(without_addresses("at 0x7ffe12 and 0x0x0"), "at 0x… and 0x…x0");
        assert_eq!(without_addresses("0x"), "0x");
    }
}
