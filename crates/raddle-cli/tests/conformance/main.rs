//! Every call of POSIX threads, semaphores, signals, timers and cancellation, and of C11's threads, does under raddle
//! what it does natively. The rows are in `conformance/` at the top of the repository, whose `conformance.h` says how to
//! write one.
//!
//! `cargo test` runs each row in one way; `make conformance` runs all rows in all ways. RADDLE_CONFORMANCE_ONLY leaves
//! only the rows whose name, FILE/ROW, contains the text; RADDLE_CONFORMANCE_RUNS sets the runs of a campaign.

mod limits;
mod native;
mod rows;
#[path = "../support/mod.rs"]
mod support;
mod symbols;
mod under;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use rows::Row;
use under::{Difference, Way, WAYS};

#[test]
fn every_symbol_has_a_row() {
    let (rows, declared) = (rows::all(), symbols::declared());
    let covered: BTreeSet<&str> = rows.iter().flat_map(|row| row.covers.iter().map(String::as_str)).collect();
    let known: BTreeSet<&str> = declared.iter().map(String::as_str).collect();
    let missing: Vec<_> = known.difference(&covered).collect();
    let unknown: Vec<_> = covered.difference(&known).collect();
    let mut unused = Vec::new();
    for row in &rows {
        let imported = symbols::imported(&row.program);
        let calls = |symbol: &String| imported.iter().any(|name| name == symbol || *name == format!("__xpg_{symbol}"));
        unused
            .extend(row.covers.iter().filter(|symbol| !calls(symbol)).map(|symbol| format!("{}: {symbol}", row.name)));
    }
    println!("{} symbols, {} rows", known.len(), rows.len());
    assert!(
        missing.is_empty() && unknown.is_empty() && unused.is_empty(),
        "symbols without a row: {missing:?}\nrows cover what is no symbol of theirs: {unknown:?}\nrows cover what their \
         program does not call: {unused:?}"
    );
}

#[test]
fn limits_are_in_the_book() {
    limits::compare_with_the_book();
}

/// One way for each row: which, depends on its place in the list.
#[test]
fn rows_answer_as_natively() {
    compare(|index| vec![WAYS[index % WAYS.len()]], 3, false);
}

#[test]
#[ignore = "takes minutes: make conformance"]
fn rows_answer_as_natively_in_all_ways() {
    compare(|_| WAYS.to_vec(), 10, true);
}

/// Compares the rows, each in the ways that belong to its place, and prints a table of the differences.
fn compare(ways: impl Fn(usize) -> Vec<Way> + Sync, runs: u32, complete: bool) {
    let runs = std::env::var("RADDLE_CONFORMANCE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(runs);
    let (only, limits) = (std::env::var("RADDLE_CONFORMANCE_ONLY").unwrap_or_default(), limits::all());
    let rows = rows::all();
    let known = |limit: &limits::Limit| rows.iter().any(|row| row.name == limit.row);
    let unknown: Vec<_> = limits.iter().filter(|limit| !known(limit)).map(|limit| &limit.row).collect();
    assert!(unknown.is_empty(), "limits.toml names rows that are not there: {unknown:?}");

    let named = |row: &Row| limits.iter().any(|limit| limit.row == row.name);
    // A limit is only looked at where it would show in one of the ways.
    let work: Vec<(usize, &Row)> =
        rows.iter().enumerate().filter(|(_, row)| row.name.contains(&only) && (complete || !named(row))).collect();
    let (next, comparisons) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let differences: Mutex<Vec<Difference>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&(index, row)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let ways = ways(index);
                    comparisons.fetch_add(ways.len() * runs as usize, Ordering::Relaxed);
                    let found = under::differences(row, &ways, runs, named(row));
                    differences.lock().expect("no worker panicked").extend(found);
                }
            });
        }
    });
    let mut differences = differences.into_inner().expect("no worker panicked");
    differences.sort_by(|a, b| a.row.cmp(&b.row));
    let differing: BTreeSet<&str> = differences.iter().map(|difference| difference.row.as_str()).collect();
    println!("{} rows, {} comparisons, {} rows differ", work.len(), comparisons.into_inner(), differing.len());
    let healed: Vec<_> = work
        .iter()
        .map(|(_, row)| row.name.as_str())
        .filter(|name| limits.iter().any(|limit| limit.row == *name) && !differing.contains(name))
        .collect();
    let fresh: Vec<String> = differences
        .iter()
        .filter(|difference| !limits.iter().any(|limit| limit.row == difference.row))
        .map(ToString::to_string)
        .collect();
    assert!(
        fresh.is_empty() && healed.is_empty(),
        "differences from the native answers:\n\n{}\n\nlimits that no longer differ: {healed:?}",
        fresh.join("\n")
    );
}
