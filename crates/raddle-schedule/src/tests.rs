//! Round trips, damaged files and the words of the errors.

use super::*;
use raddle_core::decorators::guard;
use raddle_core::event::EventKind;
use raddle_core::rng::Rng;
use raddle_core::thread::ThreadId;
use raddle_protocol::{Heap, Points};

fn small() -> Schedule {
    let step = |t, kind| Decision::new(ThreadId(t), kind);
    Schedule {
        raddle: "0.1.0".into(),
        command: vec![b"./bank".to_vec(), b"a \"b\"\n\xff".to_vec()],
        directory: b"/home/ada/bank".to_vec(),
        environment: vec![(b"LANG".to_vec(), b"C.UTF-8".to_vec())],
        build_id: "6f1c0e".into(),
        settings: RunSettings {
            seed: 42,
            realtime: 1_700_000_000_000_000_000,
            max_steps: 1000,
            ..RunSettings::of(PolicySettings::new("pct", [("d", 3.0), ("k", 0.0)]))
        },
        run: 17,
        run_seed: 7,
        delays: vec![Late {
            delay: Delay { point: 7, nanoseconds: 10_000_000, thread: 1 },
            place: Some("bank.c:31".into()),
        }],
        sync_functions: vec!["commit".into()],
        stdin: Stdin::Bytes(b"1\n2\n".to_vec()),
        failure: Failure {
            kind: "deadlock".into(),
            message: "t1 waits for t2".into(),
            place: "lock in deposit (bank.c:31)".into(),
        },
        counts: Counts { steps: 6, points: 9, switches: 3, threads: 3 },
        decisions: vec![
            step(0, EventKind::Create),
            step(1, EventKind::Start),
            step(1, EventKind::Lock),
            step(2, EventKind::Lock),
            step(2, EventKind::Lock),
            step(2, EventKind::Unlock),
        ],
        ..Schedule::default()
    }
}

#[test]
fn looks_like_this() {
    let text = write(&small());
    let expected = r#"raddle schedule 1
raddle 0.1.0
command "./bank" "a \"b\"\n\xff"
directory "/home/ada/bank"
environment "LANG" "C.UTF-8"
build-id 6f1c0e
policy pct d=3 k=0
guard override=0.001 lower=0.1
seed 42 run 17 stream 0x0000000000000007
points sync
cpus 4
realtime 1700000000000000000
max-steps 1000
yields 10
lag 100
dispatch on
heap mixed
delay point=7 nanoseconds=10000000 thread=1 "bank.c:31"
profile steps=0 threads=0 points=0 phase=0 first=0 delay-points=0
own-directory off
sync-function "commit"
stdin bytes "1\n2\n"
expect-exit 0
failure deadlock
message "t1 waits for t2"
place "lock in deposit (bank.c:31)"
counts steps=6 points=9 switches=3 threads=3
decisions 6
t0 create
t1 start lock
t2 lock*2 unlock
"#;
    let (body, last) = text.split_at(expected.len());
    assert_eq!(body, expected);
    assert_eq!(last, format!("checksum {:#018x}\n", checksum(expected.as_bytes())));
}

#[test]
fn what_a_run_depends_on() {
    let mut schedule = small();
    schedule.variables = Some(vec![(b"HOME".to_vec(), 0x1f), (b"LANG".to_vec(), 0xabcd)]);
    schedule.files = vec![(b"accounts.txt".to_vec(), 0x1234), (b"\xff".to_vec(), u64::MAX)];
    let text = write(&schedule);
    let expected = "variables \"HOME\" 0x001f \"LANG\" 0xabcd\nfile \"accounts.txt\" 0x0000000000001234\n\
                    file \"\\xff\" 0xffffffffffffffff\n";
    assert!(text.contains(expected), "{text}");
    assert_eq!(parse(text.as_bytes()).expect("is right"), schedule);
    // No variable at all is not the same as none recorded.
    for variables in [None, Some(Vec::new())] {
        schedule.variables = variables;
        assert_eq!(parse(write(&schedule).as_bytes()).expect("is right"), schedule);
    }
}

/// Random schedules, from a fixed seed.
struct Generator(Rng);

impl Generator {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = self.below(20);
        (0..length)
            .map(|_| match self.below(4) {
                0 => b"\"\\\n\r\t \0\x7f\x80\xc3\xff"[self.0.below(11) as usize],
                _ => self.below(256) as u8,
            })
            .collect()
    }

    fn text(&mut self) -> String {
        let length = self.below(12);
        (0..length).map(|_| char::from_u32(self.below(0x3000) as u32).unwrap_or('x')).collect()
    }

    fn word(&mut self) -> String {
        let length = 1 + self.below(8);
        (0..length).map(|_| (b'a' + self.below(26) as u8) as char).collect()
    }

    fn number(&mut self) -> u64 {
        let bits = self.below(64);
        self.0.next_u64() >> bits
    }

    fn real(&mut self) -> f64 {
        self.number() as f64 / 1e6
    }

    fn share(&mut self) -> f64 {
        self.below(1_000_001) as f64 / 1e6
    }

    fn many<T>(&mut self, most: u64, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let length = self.below(most + 1);
        (0..length).map(|_| one(self)).collect()
    }

    fn decision(&mut self) -> Decision {
        Decision((self.below(9) | self.below(256) << 16) as u32)
    }

    fn settings(&mut self) -> RunSettings {
        let (policy, parameters) = (self.word(), self.many(4, |g| (g.word(), g.real())));
        RunSettings {
            policy: PolicySettings::new(&policy, parameters.iter().map(|(name, value)| (name.as_str(), *value))),
            guard: guard::Settings { override_probability: self.share(), lower_probability: self.share() },
            seed: self.number(),
            points: Points::ALL[self.below(4) as usize],
            fail_on_race: self.below(2) == 1,
            cpus: 1 + self.below(1024) as u32,
            realtime: self.number(),
            max_steps: 1 + self.number() % MAX_DECISIONS,
            yields: 1 + self.below(1_000_000) as u32,
            lag: self.below(1_000),
            dispatch: self.below(2) == 0,
            heap: Heap::ALL[self.below(4) as usize],
        }
    }

    fn schedule(&mut self) -> Schedule {
        let stdin = match self.below(4) {
            0 => Stdin::Null,
            1 => Stdin::File(self.bytes()),
            2 => Stdin::Bytes(self.bytes()),
            _ => Stdin::Beside(self.bytes()),
        };
        let mut decisions = self.many(40, Self::decision);
        for i in 1..decisions.len() {
            if self.below(2) == 0 {
                decisions[i] = decisions[i - 1];
            }
        }
        let mut command = self.many(3, Self::bytes);
        command.push(self.bytes());
        Schedule {
            raddle: self.word(),
            command,
            directory: self.bytes(),
            environment: self.many(3, |g| (g.bytes(), g.bytes())),
            variables: (self.below(2) == 0).then(|| self.many(3, |g| (g.bytes(), g.below(1 << 16)))),
            files: self.many(3, |g| (g.bytes(), g.below(u64::MAX))),
            build_id: self.word(),
            settings: self.settings(),
            run: self.number(),
            run_seed: self.number(),
            profile: Profile {
                steps: self.number(),
                threads: self.number(),
                points: self.number(),
                phase: self.number(),
                first: self.number(),
                delay_points: self.number(),
            },
            own_directory: self.below(2) == 0,
            sync_functions: self.many(3, Self::text),
            fair_from: self.number(),
            delays: self.many(3, |g| {
                let delay = Delay { point: g.number(), nanoseconds: g.number(), thread: g.number() };
                Late { delay, place: g.many(1, Self::text).pop() }
            }),
            racing: self.many(3, |some| (some.bytes(), some.number())),
            suppressions: (self.below(2) == 1).then(|| self.bytes()),
            check: self.number() as u32,
            identities: self.many(3, |g| [g.number(), g.number(), g.number()]),
            stdin,
            expect: Expect {
                exit: self.number() as i32,
                signal: self.below(65) as i32,
                output: self.many(1, Self::bytes).pop(),
                check: self.many(1, Self::bytes).pop(),
            },
            failure: Failure { kind: self.word(), message: self.text(), place: self.text() },
            counts: Counts {
                steps: self.number(),
                points: self.number(),
                switches: self.number(),
                threads: self.number(),
            },
            decisions,
        }
    }
}

/// How many inputs a test makes: as many as it says itself, or as RADDLE_FUZZ_CASES says.
fn cases(usual: u64) -> u64 {
    let asked = std::env::var("RADDLE_FUZZ_CASES").ok();
    asked.map_or(usual, |text| text.parse().expect("RADDLE_FUZZ_CASES is a number"))
}

#[test]
fn every_schedule_survives_a_round_trip() {
    let mut generator = Generator(Rng::new(1));
    for _ in 0..cases(2_000) {
        let schedule = generator.schedule();
        let text = write(&schedule);
        match parse(text.as_bytes()) {
            Ok(read) => assert_eq!(read, schedule, "{text}"),
            Err(error) => panic!("{error}\n{text}"),
        }
    }
}

/// Changes, drops or doubles some bytes.
fn damage(generator: &mut Generator, text: &[u8]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..=generator.below(4) {
        let at = generator.below(bytes.len() as u64) as usize;
        match generator.below(4) {
            0 => bytes[at] = generator.below(256) as u8,
            1 => bytes[at] = b" \n\"\\*=0t9"[generator.below(9) as usize],
            2 => bytes.truncate(at.max(1)),
            _ => {
                let end = (at + generator.below(40) as usize).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = generator.below(bytes.len() as u64) as usize;
                bytes.splice(to..to, piece);
            }
        }
    }
    bytes
}

#[test]
fn damaged_files_are_errors() {
    let mut generator = Generator(Rng::new(2));
    for i in 0..cases(20_000) {
        let schedule = generator.schedule();
        let text = write(&schedule);
        let bad = damage(&mut generator, text.as_bytes());
        if let Ok(read) = parse(&bad) {
            // Only a missing last newline or spaces at the end change nothing.
            assert_eq!(read, schedule, "damage {i} was not noticed");
        }
    }
}

#[test]
fn damaged_files_without_a_checksum_do_not_panic() {
    let mut generator = Generator(Rng::new(3));
    for _ in 0..cases(20_000) {
        let text = write(&generator.schedule());
        let body = &text[..text.rfind("checksum").expect("has one")];
        let mut bad = damage(&mut generator, body.as_bytes());
        bad.extend_from_slice(b"\nchecksum edited\n");
        let _ = parse(&bad);
    }
}

#[test]
fn every_truncation_is_an_error() {
    let text = write(&small());
    for length in 0..text.len() - 1 {
        assert!(parse(&text.as_bytes()[..length]).is_err(), "the first {length} bytes were accepted");
    }
}

#[test]
fn an_edited_file_is_accepted() {
    let text = write(&small());
    let edited = text.replace("t2 lock*2 unlock", "t2 lock*3").replace("checksum 0x", "checksum edited ");
    let edited = format!("{} edited\n", &edited[..edited.rfind("checksum").expect("has one") + 8]);
    let schedule = parse(edited.as_bytes()).expect("is accepted");
    assert_eq!(schedule.decisions[5], schedule.decisions[3]);
}

/// The error for a file in which one text is replaced by another.
fn error(from: &str, to: &str) -> String {
    let text = write(&small());
    assert!(text.contains(from));
    parse(text.replacen(from, to, 1).as_bytes()).expect_err("is wrong").to_string()
}

#[test]
fn errors_name_the_place_and_what_was_expected() {
    let cases = [
        ("raddle schedule 1", "ELF", "line 1, column 1: expected `raddle`, found `ELF`"),
        (
            "raddle schedule 1",
            "raddle schedule 9",
            "line 1, column 17: expected version 1 (another release of raddle wrote this file), found `9`",
        ),
        ("policy pct", "polcy pct", "line 7, column 1: expected a key of a schedule file, found `polcy`"),
        ("cpus 4", "cpus four", "line 11, column 6: expected a number of CPUs, found `four`"),
        ("cpus 4", "cpus 0", "line 11, column 6: expected a number of CPUs from 1 to 1024, found `0`"),
        ("lag 100", "lag much", "line 15, column 5: expected a number of milliseconds, found `much`"),
        ("point=7", "step=7", "line 18, column 7: expected `point=` and a number, found `step=7`"),
        ("yields 10", "yields 0", "line 14, column 8: expected a number of polls from 1 to 1000000, found `0`"),
        (
            "heap mixed",
            "heap all",
            "line 17, column 6: expected what becomes of freed memory (mixed, hold, reuse, off), found `all`",
        ),
        (
            "override=0.001",
            "override=NaN",
            "line 8, column 7: expected `override=` and a number from 0 to 1, found `override=NaN`",
        ),
        ("d=3", "d=x", "line 7, column 12: expected a parameter such as `d=3`, found `d=x`"),
        ("\"C.UTF-8\"", "\"C.UTF-8", "line 5, column 28: expected a closing quote, found the end of the line"),
        ("points sync\n", "", "line 27, column 1: expected `points` before the decisions, found `decisions`"),
        ("t1 start lock", "t1 start lok", "line 30, column 10: expected an event's kind such as `lock`, found `lok`"),
        ("t1 start lock", "tx start lock", "line 30, column 1: expected a thread such as `t0`, found `tx`"),
        ("lock*2", "lock*0", "line 31, column 4: expected a repetition such as `lock*3`, found `lock*0`"),
        ("lock*2", "lock*9", "line 31, column 4: expected no more than 6 decisions in all, found `lock*9`"),
        ("t2 lock*2 unlock\n", "", "line 31, column 1: expected 3 more decisions, found `checksum`"),
    ];
    for (from, to, message) in cases {
        assert_eq!(error(from, to), message);
    }
}

#[test]
fn a_wrong_checksum_is_an_error() {
    let message = error("t1 start lock", "t1 start read");
    assert!(message.starts_with("line 32, column 10: expected 0x"), "{message}");
    assert!(message.contains("the file is damaged"), "{message}");
}

#[test]
fn bytes_that_are_not_text_are_an_error() {
    let mut bytes = write(&small()).into_bytes();
    bytes[20] = 0xff;
    let error = parse(&bytes).expect_err("is wrong");
    assert_eq!((error.line, error.column), (2, 3));
}
