//! `raddle test --dry-run`: what would and would not be controlled, without running anything.

use std::fmt::Write;
use std::path::Path;

use raddle_engine::preview::Preview;
use raddle_inspect::elf::{Language, Program};
use raddle_protocol::hooks::offers;
use raddle_protocol::Points;
use raddle_report::exit_code;

use super::print;
use crate::error::Error;

/// Prints what would be controlled, with these points or else the richest that there are.
pub fn run(program: &Program, runtime: &Path, points: Option<Points>) -> Result<u8, Error> {
    print(&text(program, points, Preview::of(program, runtime)?));
    Ok(exit_code::OK)
}

fn text(program: &Program, points: Option<Points>, preview: Preview) -> String {
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

    section(&mut out, "controlled calls of the program", preview.controlled);
    let through = preview.through_libraries.iter().map(|(library, names)| format!("{library}: {}", names.join(", ")));
    section(&mut out, "controlled calls of its libraries", through.collect());
    section(&mut out, "not controlled, if it is called", preview.outside);
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
            needed: vec!["libc.so.6".into()],
            language: Language::Rust,
            ..sample::program()
        };
        let preview = Preview {
            controlled: vec!["pthread_mutex_lock".into()],
            through_libraries: vec![("libstdc++.so.6".into(), vec!["pthread_create".into()])],
            outside: vec![
                "timerfd_create: timers run on the real clock".into(),
                "clone: threads made by clone itself run outside control".into(),
                "io_uring_enter in libstdc++.so.6: io_uring completes behind the program's back".into(),
                raddle_protocol::Escape::Futex.text().into(),
            ],
        };
        insta::assert_snapshot!(text(&program, None, preview));
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
