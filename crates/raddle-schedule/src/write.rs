//! Writing a schedule file.

use std::fmt::{self, Write};

use super::{checksum, Schedule, Stdin, VERSION};
use raddle_core::decorators::replay::Decision;
use raddle_core::policy::Profile;
use raddle_core::Delay;
use raddle_protocol::Setting;

/// A stretch of one thread goes on in a new line after so many columns.
const WIDTH: usize = 100;

/// The text of a schedule file.
pub fn write(schedule: &Schedule) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = header(&mut text, schedule);
    let _ = decisions(&mut text, &schedule.decisions);
    let _ = writeln!(text, "checksum {:#018x}", checksum(text.as_bytes()));
    text
}

fn header(out: &mut String, s: &Schedule) -> fmt::Result {
    writeln!(out, "raddle schedule {VERSION}")?;
    writeln!(out, "raddle {}", s.raddle)?;
    out.push_str("command");
    for argument in &s.command {
        write!(out, " {}", Quoted(argument))?;
    }
    writeln!(out, "\ndirectory {}", Quoted(&s.directory))?;
    for (name, value) in &s.environment {
        writeln!(out, "environment {} {}", Quoted(name), Quoted(value))?;
    }
    if let Some(variables) = &s.variables {
        out.push_str("variables");
        for (name, hash) in variables {
            write!(out, " {} {hash:#06x}", Quoted(name))?;
        }
        out.push('\n');
    }
    for (path, hash) in &s.files {
        writeln!(out, "file {} {hash:#018x}", Quoted(path))?;
    }
    writeln!(out, "build-id {}", s.build_id)?;
    for &which in Setting::ALL {
        setting(out, which, s)?;
    }
    if s.fair_from != 0 {
        writeln!(out, "fair from={}", s.fair_from)?;
    }
    for late in &s.delays {
        let Delay { point, nanoseconds, thread } = late.delay;
        write!(out, "delay point={point} nanoseconds={nanoseconds} thread={thread}")?;
        match &late.place {
            Some(place) => writeln!(out, " {}", Quoted(place.as_bytes()))?,
            None => writeln!(out)?,
        }
    }
    for (file, address) in &s.racing {
        writeln!(out, "racing {} {address:#x}", Quoted(file))?;
    }
    if let Some(path) = &s.suppressions {
        writeln!(out, "suppressions {}", Quoted(path))?;
    }
    let Profile { steps, threads, points, phase, first, delay_points } = s.profile;
    write!(out, "profile steps={steps} threads={threads} points={points} phase={phase} first={first}")?;
    writeln!(out, " delay-points={delay_points}")?;
    writeln!(out, "own-directory {}", on_off(s.own_directory))?;
    for name in &s.sync_functions {
        writeln!(out, "sync-function {}", Quoted(name.as_bytes()))?;
    }
    if s.check != 0 {
        writeln!(out, "raddle-check {}", s.check)?;
    }
    for [size, guard, count] in &s.identities {
        writeln!(out, "identities stack={size} guard={guard} count={count}")?;
    }
    match &s.stdin {
        Stdin::Null => writeln!(out, "stdin null")?,
        Stdin::File(path) => writeln!(out, "stdin file {}", Quoted(path))?,
        Stdin::Bytes(bytes) => writeln!(out, "stdin bytes {}", Quoted(bytes))?,
        Stdin::Beside(name) => writeln!(out, "stdin beside {}", Quoted(name))?,
    }
    writeln!(out, "expect-exit {}", s.expect.exit)?;
    if s.expect.signal != 0 {
        writeln!(out, "expect-signal {}", s.expect.signal)?;
    }
    if let Some(path) = &s.expect.output {
        writeln!(out, "expect-output {}", Quoted(path))?;
    }
    if let Some(command) = &s.expect.check {
        writeln!(out, "check {}", Quoted(command))?;
    }
    writeln!(out, "failure {}", s.failure.kind)?;
    writeln!(out, "message {}", Quoted(s.failure.message.as_bytes()))?;
    writeln!(out, "place {}", Quoted(s.failure.place.as_bytes()))?;
    let c = s.counts;
    writeln!(out, "counts steps={} points={} switches={} threads={}", c.steps, c.points, c.switches, c.threads)
}

/// The line of one setting.
fn setting(out: &mut String, setting: Setting, s: &Schedule) -> fmt::Result {
    let settings = &s.settings;
    match setting {
        Setting::Policy => {
            write!(out, "policy {}", settings.policy.name.as_str())?;
            for (name, value) in settings.policy.parameters() {
                write!(out, " {name}={value}")?;
            }
            writeln!(out)
        }
        Setting::Guard => {
            let guard = settings.guard;
            writeln!(out, "guard override={} lower={}", guard.override_probability, guard.lower_probability)
        }
        Setting::Seed => writeln!(out, "seed {} run {} stream {:#018x}", settings.seed, s.run, s.run_seed),
        Setting::Points => writeln!(out, "points {}", settings.points.name()),
        Setting::FailOnRace if settings.fail_on_race => writeln!(out, "fail-on race"),
        Setting::FailOnRace => Ok(()),
        Setting::Cpus => writeln!(out, "cpus {}", settings.cpus),
        Setting::Realtime => writeln!(out, "realtime {}", settings.realtime),
        Setting::MaxSteps => writeln!(out, "max-steps {}", settings.max_steps),
        Setting::Yields => writeln!(out, "yields {}", settings.yields),
        Setting::Lag => writeln!(out, "lag {}", settings.lag),
        Setting::Dispatch => writeln!(out, "dispatch {}", on_off(settings.dispatch)),
        Setting::Heap => writeln!(out, "heap {}", settings.heap.name()),
    }
}

fn decisions(out: &mut String, decisions: &[Decision]) -> fmt::Result {
    writeln!(out, "decisions {}", decisions.len())?;
    let mut line = 0;
    let mut thread = None;
    for equal in decisions.chunk_by(|a, b| a == b) {
        let step = equal[0];
        let mut word = kind_name(step);
        if equal.len() > 1 {
            write!(word, "*{}", equal.len())?;
        }
        if thread != Some(step.thread()) || out.len() - line + 1 + word.len() > WIDTH {
            if thread.is_some() {
                out.push('\n');
            }
            line = out.len();
            thread = Some(step.thread());
            write!(out, "{}", step.thread())?;
        }
        write!(out, " {word}")?;
    }
    if thread.is_some() {
        out.push('\n');
    }
    Ok(())
}

fn kind_name(decision: Decision) -> String {
    match decision.kind() {
        Some(kind) => kind.name().to_string(),
        None => format!("kind-{}", (decision.0 >> 16) as u8),
    }
}

fn on_off(value: bool) -> &'static str {
    if value {
        "on"
    } else {
        "off"
    }
}

/// Any bytes as a quoted string: text stays text.
struct Quoted<'a>(&'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '"' => f.write_str("\\\"")?,
                    '\\' => f.write_str("\\\\")?,
                    '\n' => f.write_str("\\n")?,
                    '\r' => f.write_str("\\r")?,
                    '\t' => f.write_str("\\t")?,
                    c if c.is_control() => {
                        let mut utf8 = [0; 4];
                        for byte in c.encode_utf8(&mut utf8).bytes() {
                            write!(f, "\\x{byte:02x}")?;
                        }
                    }
                    c => f.write_char(c)?,
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        f.write_char('"')
    }
}
