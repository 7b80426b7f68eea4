//! `raddle test --dry-run`: what would and would not be controlled, without running anything.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use raddle_protocol::{Escape, Points};

use raddle_protocol::hooks::offers;

use super::print;
use crate::error::Error;
use raddle_inspect::dynamic_symbols;
use raddle_inspect::elf::{Language, Program};
use raddle_inspect::libraries;
use raddle_report::exit_code;

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

/// Libraries whose own calls say nothing about the program.
const SYSTEM: &[&str] = &["libc.so", "ld-linux", "libm.so", "libgcc_s", "libpthread.so", "libdl.so", "librt.so"];

/// A library of the program, and what it leaves to others.
struct Library {
    name: String,
    undefined: BTreeSet<String>,
}

/// Prints what would be controlled, with these points or else the richest that there are.
pub fn run(program: &Program, runtime: &Path, points: Option<Points>) -> Result<u8, Error> {
    let failed = |source| Error::Read { path: runtime.to_path_buf(), source };
    let exported = dynamic_symbols::exported(runtime).map_err(failed)?;
    print(&text(program, points, &libraries(program), &exported));
    Ok(exit_code::OK)
}

/// The libraries that may act for the program; those that cannot be read are left out, because
/// starting the program will say so.
fn libraries(program: &Program) -> Vec<Library> {
    let Some(loader) = &program.interpreter else {
        return Vec::new();
    };
    let loaded = libraries::loaded(&program.path, loader, None).unwrap_or_default();
    let others = loaded.into_iter().filter(|library| !SYSTEM.iter().any(|name| library.name.starts_with(name)));
    let read = others.filter_map(|library| {
        let undefined = dynamic_symbols::undefined(library.path.as_deref()?).ok()?;
        Some(Library { name: library.name, undefined })
    });
    read.collect()
}

fn text(program: &Program, points: Option<Points>, libraries: &[Library], exported: &BTreeSet<String>) -> String {
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
    fact("instrumented", offered(program));
    fact("points", &points_text(program, points));

    let controlled = program.undefined.iter().filter(|name| exported.contains(*name)).cloned();
    section(&mut out, "controlled calls of the program", controlled.collect());
    let through = libraries.iter().filter_map(|library| {
        let names: Vec<_> = library.undefined.intersection(exported).map(String::as_str).collect();
        (!names.is_empty()).then(|| format!("{}: {}", library.name, names.join(", ")))
    });
    section(&mut out, "controlled calls of its libraries", through.collect());

    let own = program.undefined.iter().map(|name| (name, String::new()));
    let theirs = libraries.iter().flat_map(|l| l.undefined.iter().map(|name| (name, format!(" in {}", l.name))));
    let mut outside: Vec<_> = own
        .chain(theirs)
        .filter(|(name, _)| !exported.contains(*name))
        .filter_map(|(name, place)| Some(format!("{name}{place}: {}", reason(name)?)))
        .collect();
    if program.language == Language::Rust && !program.instrumented() {
        outside.push(Escape::Futex.text().to_string());
    }
    section(&mut out, "not controlled, if it is called", outside);
    out
}

/// What of its accesses to memory the program shows.
fn offered(program: &Program) -> &'static str {
    let std = program.offers & offers::STD != 0;
    match (program.offers & offers::MEMORY != 0, program.instrumented()) {
        (_, false) => "no: raddle cc, raddle c++ and cargo raddle make atomics and memory visible",
        (false, true) if std => "atomics, Rust's standard library included",
        (false, true) => "atomics",
        (true, true) if std => "atomics and every plain access, Rust's standard library included",
        (true, true) => "atomics and every plain access",
    }
}

/// The level that would be used, and why.
fn points_text(program: &Program, asked: Option<Points>) -> String {
    let Some(points) = asked else {
        return format!("{} (the default for this program)", program.richest_points().name());
    };
    match program.lacks(points) {
        Some(lack) => format!("{}, but {lack}", points.name()),
        None => points.name().to_string(),
    }
}

/// Why a function stays outside control, if it does.
fn reason(name: &str) -> Option<&'static str> {
    UNCONTROLLED.iter().find(|(start, _)| matches_name(start, name)).map(|(_, reason)| *reason)
}

fn matches_name(start: &str, name: &str) -> bool {
    name == start || (start.ends_with('_') && name.starts_with(start))
}

fn section(out: &mut String, title: &str, lines: Vec<String>) {
    let _ = writeln!(out, "\n{title}:{}", if lines.is_empty() { " nothing" } else { "" });
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_engine::report::sample;

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
            offers: 0,
            debug_info: true,
            checks: false,
        };
        let exported = BTreeSet::from(["pthread_mutex_lock".to_string(), "pthread_create".to_string()]);
        let library = Library {
            name: "libstdc++.so.6".into(),
            undefined: BTreeSet::from(["pthread_create".to_string(), "aio_read".to_string()]),
        };
        insta::assert_snapshot!(text(&program, None, &[library], &exported));
    }

    #[test]
    fn says_what_is_visible_and_which_level_is_used() {
        let mut program = sample::plan().target.program;
        let mut said = |offers: u32, asked: Option<Points>| {
            program.offers = offers;
            format!("{}; {}", offered(&program), points_text(&program, asked))
        };
        let (atomics, memory, std) = (offers::ATOMICS, offers::ATOMICS | offers::MEMORY, offers::STD);
        let all = [
            said(0, None),
            said(0, Some(Points::Atomic)),
            said(atomics, None),
            said(atomics, Some(Points::Memory)),
            said(atomics | std, None),
            said(memory, None),
            said(memory | std, Some(Points::Sync)),
        ];
        insta::assert_snapshot!(all.join("\n"));
    }
}
