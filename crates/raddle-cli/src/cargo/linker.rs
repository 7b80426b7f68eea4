//! Whether the linker can export the hooks of a program, so that instrumented libraries which it loads later find them.
//!
//! GNU ld knows the option since 2.35, lld since 11, gold only for single names. It is asked once for each choice of
//! linker, by linking an empty program, and the answer is kept in the target directory.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

use raddle_schedule::checksum;

use super::wrapper::Settings;
use crate::compile::rustc::TARGET;

/// What is asked for.
pub const EXPORT: &str = "-Clink-arg=-Wl,--export-dynamic-symbol=__tsan_*";

/// Whether the linker that these options choose, in the command line of a compiler, knows [`EXPORT`].
pub fn exports_symbols(settings: &Settings, words: &[OsString], options: &[String]) -> bool {
    let known = settings.directory.join(format!("linker-{:016x}", checksum(options.join("\0").as_bytes())));
    match std::fs::read_to_string(&known).as_deref() {
        Ok("yes") => return true,
        Ok("no") => return false,
        _ => {}
    }
    let answer = ask(words, options).unwrap_or(false);
    // Without the file, the next call asks again.
    let _ = std::fs::write(known, if answer { "yes" } else { "no" });
    answer
}

fn ask(words: &[OsString], options: &[String]) -> std::io::Result<bool> {
    // The compiler may stand behind the workspace's wrapper.
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let compiler = words.split(is_option).next().unwrap_or_default();
    let Some((program, rest)) = compiler.split_first() else { return Ok(false) };
    let folder = tempfile::tempdir()?;
    let mut child = Command::new(program)
        .args(rest)
        .args(["-", "--crate-name=probe", "--crate-type=bin", "--target", TARGET, EXPORT])
        .args(options)
        .arg("-o")
        .arg(folder.path().join("probe"))
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(mut source) = child.stdin.take() {
        source.write_all(b"fn main() {}\n")?;
    }
    Ok(child.wait()?.success())
}
