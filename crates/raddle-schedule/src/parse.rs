//! Reading a schedule file.
//!
//! Every error names the line and the column, what was expected there and what was found. No input
//! makes the parser panic, loop or take more memory than the file and its declared number of
//! decisions.

use std::fmt::Display;
use std::str::FromStr;

use super::line::{File, Line, Result};
use super::{checksum, Late, Schedule, Stdin, MAX_DECISIONS, VERSION};
use raddle_core::decorators::replay::Decision;
use raddle_core::event::EventKind;
use raddle_core::policy::MAX_PARAMETERS;
use raddle_core::thread::MAX_THREADS;
use raddle_core::Delay;
use raddle_protocol::policy_list::LONGEST_NAME;
use raddle_protocol::{Heap, Points, PolicySettings};

/// The most CPUs that a program can be told of.
const MAX_CPUS: u32 = 1024;

/// The most polls that an OS thread can be given before it counts as blocked.
const MAX_YIELDS: u32 = 1_000_000;

/// The most milliseconds that may pass while threads can run: a day.
const MAX_LAG: u64 = 86_400_000;

/// Keys that a file must have.
const REQUIRED: &[&str] = &[
    "raddle",
    "command",
    "directory",
    "build-id",
    "policy",
    "guard",
    "seed",
    "points",
    "profile",
    "cpus",
    "realtime",
    "max-steps",
    "dispatch",
    "own-directory",
    "stdin",
    "expect-exit",
    "failure",
    "message",
    "place",
    "counts",
];

/// Keys that it may have several times.
const REPEATED: &[&str] = &["environment", "file", "sync-function", "identities", "racing", "delay"];

/// Keys that it may have once.
const OPTIONAL: &[&str] = &[
    "raddle-check",
    "expect-signal",
    "expect-output",
    "check",
    "fail-on",
    "suppressions",
    "variables",
    "yields",
    "lag",
    "heap",
    "fair",
];

/// Reads the text of a schedule file.
pub fn parse(bytes: &[u8]) -> Result<Schedule> {
    let mut file = File::new(bytes)?;
    first_line(&mut file)?;
    let mut schedule = Schedule::default();
    // Older files have no line for it: their runs had none.
    schedule.settings.lag = 0;
    let count = header(&mut file, &mut schedule)?;
    let last = decisions(&mut file, count, &mut schedule.decisions)?;
    verify(bytes, last)?;
    if let Some(mut line) = file.next_line() {
        return Err(line.error("the end of the file"));
    }
    Ok(schedule)
}

fn first_line(file: &mut File<'_>) -> Result<()> {
    let mut line = file.line("`raddle schedule 1`")?;
    line.exactly("raddle")?;
    line.exactly("schedule")?;
    let mut version = line.clone();
    if line.number::<u32>("a version")? != VERSION {
        return Err(version.error(&format!("version {VERSION} (another release of raddle wrote this file)")));
    }
    line.end()
}

/// Reads up to the line `decisions N` and returns N.
fn header(file: &mut File<'_>, schedule: &mut Schedule) -> Result<u64> {
    let mut seen: Vec<&str> = Vec::new();
    loop {
        let mut line = file.line("`decisions`")?;
        let mut start = line.clone();
        let key = line.word("a key")?;
        if key == "decisions" {
            if let Some(missing) = REQUIRED.iter().find(|key| !seen.contains(key)) {
                return Err(start.error(&format!("`{missing}` before the decisions")));
            }
            let count = line.clone().number("the number of decisions")?;
            if count > MAX_DECISIONS {
                return Err(line.error(&format!("at most {MAX_DECISIONS} decisions")));
            }
            line.word("the number of decisions")?;
            line.end()?;
            return Ok(count);
        }
        let repeats = REPEATED.contains(&key);
        if !repeats && !REQUIRED.contains(&key) && !OPTIONAL.contains(&key) {
            return Err(start.error("a key of a schedule file"));
        }
        if !repeats && seen.contains(&key) {
            return Err(start.error(&format!("`{key}` only once")));
        }
        seen.push(key);
        value(key, &mut line, schedule)?;
        line.end()?;
    }
}

fn value(key: &str, line: &mut Line<'_>, s: &mut Schedule) -> Result<()> {
    match key {
        "raddle" => s.raddle = line.word("a version of raddle")?.to_string(),
        "command" => {
            s.command.push(line.string("the program, quoted")?);
            while !line.at_end() {
                s.command.push(line.string("an argument, quoted")?);
            }
        }
        "directory" => s.directory = line.string("a directory, quoted")?,
        "environment" => {
            let name = line.string("a variable's name, quoted")?;
            s.environment.push((name, line.string("a variable's value, quoted")?));
        }
        "variables" => {
            let mut variables = Vec::new();
            while !line.at_end() {
                let name = line.string("a variable's name, quoted")?;
                variables.push((name, line.hexadecimal("a hash of its value")?));
            }
            s.variables = Some(variables);
        }
        "file" => {
            let path = line.string("a file, quoted")?;
            s.files.push((path, line.hexadecimal("a hash of its contents")?));
        }
        "build-id" => s.build_id = line.word("a build-id")?.to_string(),
        "policy" => s.settings.policy = policy(line)?,
        "guard" => {
            s.settings.guard.override_probability = probability(line, "override")?;
            s.settings.guard.lower_probability = probability(line, "lower")?;
        }
        "seed" => {
            s.settings.seed = line.number("a seed")?;
            line.exactly("run")?;
            s.run = line.number("a run's number")?;
            line.exactly("stream")?;
            s.run_seed = line.hexadecimal("the run's seed")?;
        }
        "points" => s.settings.points = points(line)?,
        "fair" => s.fair_from = line.assigned("from")?,
        "delay" => s.delays.push(late(line)?),
        "racing" => {
            let file = line.string("a file's name, quoted")?;
            s.racing.push((file, line.hexadecimal("an address in the file")?));
        }
        "fail-on" => {
            line.exactly("race")?;
            s.settings.fail_on_race = true;
        }
        "suppressions" => s.suppressions = Some(line.string("a file, quoted")?),
        "profile" => {
            s.profile.steps = line.assigned("steps")?;
            s.profile.threads = line.assigned("threads")?;
            // Older files end here.
            if !line.at_end() {
                s.profile.points = line.assigned("points")?;
                s.profile.phase = line.assigned("phase")?;
            }
            if !line.at_end() {
                s.profile.first = line.assigned("first")?;
            }
            if !line.at_end() {
                s.profile.delay_points = line.assigned("delay-points")?;
            }
        }
        "cpus" => s.settings.cpus = within(line, "a number of CPUs", 1, MAX_CPUS)?,
        "realtime" => s.settings.realtime = line.number("nanoseconds since 1970")?,
        "max-steps" => s.settings.max_steps = within(line, "a number of steps", 1, MAX_DECISIONS)?,
        // Files of raddle 0.1.0 do not have it: their runs had the usual number.
        "yields" => s.settings.yields = within(line, "a number of polls", 1, MAX_YIELDS)?,
        "lag" => s.settings.lag = within(line, "a number of milliseconds", 0, MAX_LAG)?,
        "dispatch" => s.settings.dispatch = line.on_off()?,
        "heap" => s.settings.heap = heap(line)?,
        "own-directory" => s.own_directory = line.on_off()?,
        "sync-function" => s.sync_functions.push(line.text("a function's name, quoted")?),
        "raddle-check" => s.check = line.number("a check's number")?,
        "identities" => s.identities.push([line.assigned("stack")?, line.assigned("guard")?, line.assigned("count")?]),
        "stdin" => s.stdin = stdin(line)?,
        "expect-exit" => s.expect.exit = line.number("an exit status")?,
        "expect-signal" => s.expect.signal = within(line, "a signal's number", 1, 64)?,
        "expect-output" => s.expect.output = Some(line.string("a file, quoted")?),
        "check" => s.expect.check = Some(line.string("a command, quoted")?),
        "failure" => s.failure.kind = line.word("a kind of failure")?.to_string(),
        "message" => s.failure.message = line.text("a message, quoted")?,
        "place" => s.failure.place = line.text("a place, quoted")?,
        "counts" => {
            s.counts.steps = line.assigned("steps")?;
            s.counts.points = line.assigned("points")?;
            s.counts.switches = line.assigned("switches")?;
            s.counts.threads = line.assigned("threads")?;
        }
        // invariant: the caller has checked the key against the two lists.
        _ => return Err(line.error("a key of a schedule file")),
    }
    Ok(())
}

fn late(line: &mut Line<'_>) -> Result<Late> {
    let (point, nanoseconds) = (line.assigned("point")?, line.assigned("nanoseconds")?);
    let delay = Delay { point, nanoseconds, thread: line.assigned("thread")? };
    let place = if line.at_end() { None } else { Some(line.text("a place, quoted")?) };
    Ok(Late { delay, place })
}

fn stdin(line: &mut Line<'_>) -> Result<Stdin> {
    const EXPECTED: &str = "`null`, `file`, `bytes` or `beside`";
    let mut start = line.clone();
    match line.word(EXPECTED)? {
        "null" => Ok(Stdin::Null),
        "file" => Ok(Stdin::File(line.string("a file, quoted")?)),
        "bytes" => Ok(Stdin::Bytes(line.string("the input, quoted")?)),
        "beside" => Ok(Stdin::Beside(line.string("a file's name, quoted")?)),
        _ => Err(start.error(EXPECTED)),
    }
}

fn policy(line: &mut Line<'_>) -> Result<PolicySettings> {
    let name = name(line, "a policy's name")?;
    let mut parameters = Vec::new();
    while !line.at_end() {
        if parameters.len() == MAX_PARAMETERS {
            return Err(line.error(&format!("at most {MAX_PARAMETERS} parameters")));
        }
        parameters.push(parameter(line)?);
    }
    Ok(PolicySettings::new(&name, parameters.iter().map(|(name, value)| (name.as_str(), *value))))
}

/// A name that a block has room for.
fn name(line: &mut Line<'_>, expected: &str) -> Result<String> {
    let mut start = line.clone();
    let name = line.word(expected)?;
    match name.len() <= LONGEST_NAME {
        true => Ok(name.to_string()),
        false => Err(start.error(&format!("{expected} of at most {LONGEST_NAME} bytes"))),
    }
}

/// A number that makes sense: what the command line takes.
fn within<T: FromStr + PartialOrd + Display>(line: &mut Line<'_>, expected: &str, least: T, most: T) -> Result<T> {
    let mut start = line.clone();
    let number = line.number::<T>(expected)?;
    match number >= least && number <= most {
        true => Ok(number),
        false => Err(start.error(&format!("{expected} from {least} to {most}"))),
    }
}

fn probability(line: &mut Line<'_>, name: &str) -> Result<f64> {
    let mut start = line.clone();
    let value = line.assigned(name)?;
    match (0.0..=1.0).contains(&value) {
        true => Ok(value),
        false => Err(start.error(&format!("`{name}=` and a number from 0 to 1"))),
    }
}

fn points(line: &mut Line<'_>) -> Result<Points> {
    let mut start = line.clone();
    let names = Points::ALL.map(Points::name).join(", ");
    Points::from_name(line.word("a level of points")?)
        .ok_or_else(|| start.error(&format!("a level of points ({names})")))
}

fn heap(line: &mut Line<'_>) -> Result<Heap> {
    let mut start = line.clone();
    let names = Heap::ALL.map(Heap::name).join(", ");
    Heap::from_name(line.word("what becomes of freed memory")?)
        .ok_or_else(|| start.error(&format!("what becomes of freed memory ({names})")))
}

fn parameter(line: &mut Line<'_>) -> Result<(String, f64)> {
    let mut start = line.clone();
    let word = line.word("a parameter")?;
    let parsed = word.split_once('=').and_then(|(name, value)| {
        let value = value.parse().ok().filter(|v: &f64| v.is_finite())?;
        (1..=LONGEST_NAME).contains(&name.len()).then(|| (name.to_string(), value))
    });
    parsed.ok_or_else(|| start.error("a parameter such as `d=3`"))
}

/// Reads `count` decisions and returns the line that follows them.
fn decisions<'a>(file: &mut File<'a>, count: u64, into: &mut Vec<Decision>) -> Result<Line<'a>> {
    loop {
        let mut line = file.line(&format!("{} more decisions and `checksum`", count - into.len() as u64))?;
        if line.clone().word("a thread such as `t0`")? == "checksum" {
            let missing = count - into.len() as u64;
            if missing > 0 {
                return Err(line.error(&format!("{missing} more decisions")));
            }
            return Ok(line);
        }
        let thread = thread(&mut line)?;
        loop {
            let mut start = line.clone();
            let word = line.word("an event's kind")?;
            let (name, times) = match word.split_once('*') {
                None => (word, Some(1)),
                Some((name, times)) => (name, times.parse().ok().filter(|&n: &u64| n > 0)),
            };
            let kind = kind(name).ok_or_else(|| start.error("an event's kind such as `lock`"))?;
            let times = times.ok_or_else(|| start.error("a repetition such as `lock*3`"))?;
            if times > count - into.len() as u64 {
                return Err(start.error(&format!("no more than {count} decisions in all")));
            }
            let decision = Decision(u32::from(thread) | u32::from(kind) << 16);
            into.extend(std::iter::repeat_n(decision, times as usize));
            if line.at_end() {
                break;
            }
        }
    }
}

fn thread(line: &mut Line<'_>) -> Result<u16> {
    let mut start = line.clone();
    let word = line.word("a thread such as `t0`")?;
    let number = word.strip_prefix('t').and_then(|n| n.parse().ok());
    number.filter(|&n: &u16| (n as usize) < MAX_THREADS).ok_or_else(|| start.error("a thread such as `t0`"))
}

fn kind(name: &str) -> Option<u8> {
    match name.strip_prefix("kind-") {
        Some(number) => number.parse().ok(),
        None => EventKind::ALL.iter().find(|k| k.name() == name).map(|k| *k as u8),
    }
}

/// Compares the checksum line with what stands before it.
fn verify(bytes: &[u8], mut line: Line<'_>) -> Result<()> {
    line.exactly("checksum")?;
    let mut value = line.clone();
    if value.word("a checksum")? != "edited" {
        let actual = checksum(&bytes[..line.offset]);
        value = line.clone();
        if value.hexadecimal("a checksum or `edited`")? != actual {
            return Err(line.error(&format!(
                "{actual:#018x}, the checksum of the lines above (the file is damaged; \
                 write `edited` here if you changed it on purpose)"
            )));
        }
    }
    value.end()
}
