//! What the tests expect of a backtrace.

use raddle_inspect::stack::{Frame, Unwinder};

use crate::support::{Built, Running};

pub fn stack(unwinder: &mut Unwinder, running: &Running, name: &str) -> Vec<Frame> {
    let mut stacks = unwinder.stacks(running.pid(), &[running.tid(name)]);
    assert_eq!(stacks.len(), 1);
    stacks.pop().unwrap().unwrap()
}

pub fn show(frames: &[Frame]) -> String {
    let lines = frames.iter().map(|frame| format!("{frame:?}\n"));
    lines.collect()
}

/// Asserts that a stack has these functions of the program's source, in this order and with no
/// others between them, at the lines that are marked with their names.
pub fn assert_calls(built: &Built, frames: &[Frame], functions: &[&str]) {
    let own: Vec<_> = frames
        .iter()
        .filter(|frame| frame.file.as_ref().is_some_and(|file| file.contains("program.")))
        .map(|frame| (frame.function.as_deref().unwrap_or("?"), frame.line.unwrap_or(0)))
        .collect();
    let expected: Vec<_> = functions.iter().map(|name| (*name, built.line(name))).collect();
    assert_eq!(own, expected, "in the stack\n{}", show(frames));
}

/// Asserts that a stack has these functions in this order, whatever else is between them, at the
/// lines that are marked with their names.
pub fn assert_has(built: &Built, frames: &[Frame], functions: &[&str]) {
    let found: Vec<_> = frames
        .iter()
        .filter_map(|frame| Some((frame.function.as_deref()?, frame.line?)))
        .filter(|(name, _)| functions.contains(name))
        .collect();
    let expected: Vec<_> = functions.iter().map(|name| (*name, built.line(name))).collect();
    assert_eq!(found, expected, "in the stack\n{}", show(frames));
}
