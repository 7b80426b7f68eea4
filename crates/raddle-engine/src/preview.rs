//! What of a program would and would not be controlled, said without running it.

use std::collections::BTreeSet;
use std::path::Path;

use raddle_inspect::elf::{Language, Program};
use raddle_inspect::{dynamic_symbols, libraries};
use raddle_protocol::Escape;

use crate::error::Error;

/// Functions that are known to stay outside control, by the beginnings of their names, with the
/// reason.
const UNCONTROLLED: &[(&str, &str)] = &[
    ("timer_create", "timers run on the real clock"),
    ("timer_settime", "timers run on the real clock"),
    ("timerfd_", "timers run on the real clock"),
    ("io_uring_", "io_uring completes behind the program's back"),
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

/// What would and would not be controlled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Functions that the program calls and that are controlled.
    pub controlled: Vec<String>,
    /// The same for its libraries, each with its functions.
    pub through_libraries: Vec<(String, Vec<String>)>,
    /// What would stay outside control if it were called, with the reason.
    pub outside: Vec<String>,
}

impl Preview {
    /// Of a program under this runtime library.
    pub fn of(program: &Program, runtime: &Path) -> Result<Preview, Error> {
        let failed = |source| Error::Read { path: runtime.to_path_buf(), source };
        let exported = dynamic_symbols::exported(runtime).map_err(failed)?;
        Ok(Preview::with(program, &libraries_of(program), &exported))
    }

    fn with(program: &Program, libraries: &[Library], exported: &BTreeSet<String>) -> Preview {
        let controlled = program.undefined.iter().filter(|name| exported.contains(*name)).cloned();
        let through = libraries.iter().filter_map(|library| {
            let names: Vec<_> = library.undefined.intersection(exported).cloned().collect();
            (!names.is_empty()).then(|| (library.name.clone(), names))
        });
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
        Preview { controlled: controlled.collect(), through_libraries: through.collect(), outside }
    }
}

/// The libraries that may act for the program; those that cannot be read are left out, because
/// starting the program will say so.
fn libraries_of(program: &Program) -> Vec<Library> {
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

/// Why a function stays outside control, if it does.
fn reason(name: &str) -> Option<&'static str> {
    UNCONTROLLED.iter().find(|(start, _)| matches_name(start, name)).map(|(_, reason)| *reason)
}

fn matches_name(start: &str, name: &str) -> bool {
    name == start || (start.ends_with('_') && name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn tells_controlled_from_uncontrolled() {
        let undefined = ["pthread_mutex_lock", "timerfd_create", "printf", "clone"].map(String::from).into();
        let program = Program { undefined, language: Language::Rust, ..sample::program() };
        let exported = BTreeSet::from(["pthread_mutex_lock".to_string(), "pthread_create".to_string()]);
        let library = Library {
            name: "libstdc++.so.6".into(),
            undefined: BTreeSet::from(["pthread_create".to_string(), "io_uring_enter".to_string()]),
        };
        let preview = Preview::with(&program, &[library], &exported);
        assert_eq!(preview.controlled, ["pthread_mutex_lock"]);
        assert_eq!(preview.through_libraries, [("libstdc++.so.6".to_string(), vec!["pthread_create".to_string()])]);
        let starts: Vec<_> = preview.outside.iter().map(|text| text.split(':').next().unwrap_or_default()).collect();
        assert_eq!(starts, ["timerfd_create", "clone", "io_uring_enter in libstdc++.so.6", Escape::Futex.text()]);
    }
}
