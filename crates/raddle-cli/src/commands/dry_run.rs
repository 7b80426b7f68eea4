//! `raddle test --dry-run`: what would and would not be controlled, without running anything.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use super::print;
use crate::error::Error;
use crate::exit_code;
use crate::inspect::elf::{Language, Program};
use crate::runtime_library;

/// Functions that are known to stay outside control, by the beginnings of their names, with the
/// reason.
const UNCONTROLLED: &[(&str, &str)] = &[
    ("timer_create", "timers run on the real clock"),
    ("timer_settime", "timers run on the real clock"),
    ("timerfd_", "timers run on the real clock"),
    ("io_uring_", "io_uring completes behind the program's back"),
    ("aio_", "asynchronous input and output uses threads of its own"),
    ("lio_listio", "asynchronous input and output uses threads of its own"),
    ("mq_", "message queues are shared between processes"),
    ("msgrcv", "System V message queues are shared between processes"),
    ("msgsnd", "System V message queues are shared between processes"),
    ("semop", "System V semaphores are shared between processes"),
    ("semtimedop", "System V semaphores are shared between processes"),
    ("process_vm_", "other processes' memory is outside"),
    ("clone", "threads made by clone itself run outside control"),
    ("setcontext", "user contexts switch stacks behind the scheduler's back"),
    ("swapcontext", "user contexts switch stacks behind the scheduler's back"),
];

/// Prints what would be controlled.
pub fn run(program: &Program, runtime: &Path) -> Result<u8, Error> {
    let exported =
        runtime_library::exported(runtime).map_err(|source| Error::Read { path: runtime.to_path_buf(), source })?;
    print(&text(program, &exported));
    Ok(exit_code::OK)
}

fn text(program: &Program, exported: &BTreeSet<String>) -> String {
    let mut out = String::new();
    let language = match program.language {
        Language::C => "C",
        Language::Cpp => "C++",
        Language::Rust => "Rust",
    };
    let yes_no = |yes, a, b| if yes { a } else { b };
    // Writing to a string cannot fail.
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<14} {value}");
    };
    fact("program", &program.path.display().to_string());
    fact("language", language);
    fact("build-id", program.build_id.as_deref().unwrap_or("none"));
    fact("libraries", &program.needed.join(", "));
    fact("debug info", yes_no(program.debug_info, "yes", "no: backtraces will have no lines (-g adds them)"));
    fact(
        "instrumented",
        yes_no(
            program.instrumented,
            "yes: it has memory and atomic schedule points",
            "no: calls and futexes are the schedule points",
        ),
    );

    let controlled: Vec<_> = program.undefined.iter().filter(|name| exported.contains(*name)).collect();
    section(&mut out, "controlled calls of the program", controlled.iter().map(|name| (*name).clone()));
    let reasons = program.undefined.iter().filter(|name| !exported.contains(*name)).filter_map(|name| {
        let (_, reason) = UNCONTROLLED.iter().find(|(start, _)| matches_name(start, name))?;
        Some(format!("{name}: {reason}"))
    });
    let mut reasons: Vec<_> = reasons.collect();
    if program.language == Language::Rust && !program.instrumented {
        reasons.push("uncontended locks are not schedule points".to_string());
    }
    section(&mut out, "not controlled", reasons.into_iter());
    if controlled.is_empty() {
        let _ = writeln!(
            out,
            "\nthe program itself calls nothing that is controlled; its libraries may (libstdc++, OpenMP, …)"
        );
    }
    out
}

fn matches_name(start: &str, name: &str) -> bool {
    name == start || (start.ends_with('_') && name.starts_with(start))
}

fn section(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<_> = lines.collect();
    let _ = writeln!(out, "\n{title}:{}", if lines.is_empty() { " nothing" } else { "" });
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_controlled_from_uncontrolled() {
        let program = Program {
            path: "/bin/bank".into(),
            build_id: Some("6f1c".into()),
            interpreter: None,
            needed: vec!["libc.so.6".into()],
            undefined: vec!["pthread_mutex_lock".into(), "timerfd_create".into(), "printf".into(), "clone".into()],
            language: Language::Rust,
            preload_first: Vec::new(),
            instrumented: false,
            debug_info: true,
        };
        let exported = BTreeSet::from(["pthread_mutex_lock".to_string()]);
        insta::assert_snapshot!(text(&program, &exported));
    }
}
