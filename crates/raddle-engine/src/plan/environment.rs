//! The environment of the program: what it gets, and which part of it a schedule file keeps.
//!
//! A program gets the user's environment, the variables of `--env`, and what raddle itself needs
//! (the preloaded runtime, the block's descriptor, a private TMPDIR).
//!
//! A schedule file keeps what was set by `--env`, and of the user's environment the families that
//! change what a program computes: see [`matters`]. PATH and HOME are not among them: they name
//! places of one machine, and a replay elsewhere needs that machine's. Of all others it keeps the names and hashes
//! only, because values may be secrets; `--keep-env` adds to those that are kept.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub type Variables = Vec<(OsString, OsString)>;

const NAMES: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "TZDIR",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LD_BIND_NOW",
    "GLIBC_TUNABLES",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "RUST_MIN_STACK",
    "RUST_LOG",
    "RAYON_NUM_THREADS",
];

/// Beginnings of names that matter.
const PREFIXES: &[&str] = &["LC_", "MALLOC_", "OMP_", "GOMP_", "GTEST_", "RUST_TEST_", "TCMALLOC_", "JEMALLOC_"];

/// Whether a variable of the user's environment is kept in schedule files.
pub fn matters(name: &OsStr) -> bool {
    let name = name.as_bytes();
    NAMES.iter().any(|known| known.as_bytes() == name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
        // ASAN_OPTIONS, UBSAN_OPTIONS, ….
        || name.ends_with(b"SAN_OPTIONS")
}

/// Variables that shells, terminals, sessions and tools that start raddle set for themselves: programs whose outcome
/// depends on them are rare, and they differ from window to window.
const SESSION: &[&str] = &[
    "_",
    "SHLVL",
    "PWD",
    "OLDPWD",
    "TERM",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "LS_COLORS",
    "PS1",
    "DISPLAY",
    "WINDOWID",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "TMPDIR",
    "TMUX",
    "STY",
    "CARGO",
    "MAKELEVEL",
    "MAKEFLAGS",
    "MFLAGS",
    "RUST_RECURSION_COUNT",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
];

/// Beginnings of such names.
const SESSION_PREFIXES: &[&str] =
    &["XDG_SESSION_", "XDG_SEAT", "XDG_VTNR", "SSH_", "GPG_", "TERM_", "VTE_", "TMUX_", "HIST", "RADDLE_", "RUSTUP_"];

/// Whether a variable belongs to the session and not to the program.
pub fn of_a_session(name: &OsStr) -> bool {
    let name = name.as_bytes();
    SESSION.iter().any(|known| known.as_bytes() == name)
        || SESSION_PREFIXES.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
}

/// Whether a name is one of these; one that ends with * stands for all that begin like it.
fn is_among(name: &OsStr, patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(start) => name.as_bytes().starts_with(start.as_bytes()),
        None => name == OsStr::new(pattern),
    })
}

/// The user's environment with the variables of `--env`.
pub fn for_test(extra: &[(String, String)]) -> Variables {
    let mut variables: Variables = std::env::vars_os().collect();
    for (name, value) in extra {
        set(&mut variables, OsStr::new(name), value.into());
    }
    variables
}

/// What a schedule file keeps, with the values. `kept` are the patterns of `--keep-env`.
pub fn recorded(variables: &Variables, extra: &[(String, String)], kept: &[String]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let set_by_option = |name: &OsStr| extra.iter().any(|(n, _)| OsStr::new(n) == name);
    let mut kept: Vec<_> = variables
        .iter()
        .filter(|(name, _)| matters(name) || set_by_option(name) || is_among(name, kept))
        .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
        .collect();
    kept.sort();
    kept
}

/// The user's environment with what a schedule file kept in place of what it would have kept.
pub fn for_replay(recorded: &[(Vec<u8>, Vec<u8>)]) -> Variables {
    let mut variables: Variables = std::env::vars_os().filter(|(name, _)| !matters(name)).collect();
    for (name, value) in recorded {
        set(&mut variables, OsStr::from_bytes(name), OsString::from_vec(value.clone()));
    }
    variables
}

/// Sets a variable, in its old place if it has one.
pub fn set(variables: &mut Variables, name: &OsStr, value: OsString) {
    match variables.iter_mut().find(|(n, _)| n == name) {
        Some((_, old)) => *old = value,
        None => variables.push((name.to_os_string(), value)),
    }
}

/// The value of LD_PRELOAD: libraries that must be first, the runtime, and what the user has there.
pub fn preload(first: &[PathBuf], runtime: &Path, users: Option<&OsStr>) -> OsString {
    let mut value = OsString::new();
    let ours = first.iter().map(PathBuf::as_path).chain([runtime]).map(Path::as_os_str);
    for library in ours.chain(users.filter(|users| !users.is_empty())) {
        if !value.is_empty() {
            value.push(":");
        }
        value.push(library);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_a_program_matters() {
        for name in ["LANG", "LC_ALL", "ASAN_OPTIONS", "LD_LIBRARY_PATH", "OMP_NUM_THREADS"] {
            assert!(matters(OsStr::new(name)), "{name}");
        }
        for name in ["PATH", "HOME", "TERM", "LANGUAGES", "SSH_AUTH_SOCK"] {
            assert!(!matters(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn the_runtime_comes_before_the_users_libraries_and_after_asan() {
        let value = preload(&["/libasan.so".into()], Path::new("/r.so"), Some(OsStr::new("/u.so /v.so")));
        assert_eq!(value, "/libasan.so:/r.so:/u.so /v.so");
        assert_eq!(preload(&[], Path::new("/r.so"), None), "/r.so");
    }

    #[test]
    fn options_are_recorded_whatever_their_name() {
        let extra = vec![("MY_SWITCH".to_string(), "1".to_string())];
        let variables =
            vec![("MY_SWITCH".into(), "1".into()), ("HOME".into(), "/root".into()), ("LANG".into(), "C".into())];
        let (lang, switch) = ((b"LANG".to_vec(), b"C".to_vec()), (b"MY_SWITCH".to_vec(), b"1".to_vec()));
        assert_eq!(recorded(&variables, &extra, &[]), [lang.clone(), switch.clone()]);
        let home = (b"HOME".to_vec(), b"/root".to_vec());
        for pattern in ["HOME", "HO*", "*"] {
            assert_eq!(recorded(&variables, &extra, &[pattern.into()]), [home.clone(), lang.clone(), switch.clone()]);
        }
    }
}
