//! Which member makes which runs, in hundredths, by class and by [slot](ENDS).
//!
//! Written by `crates/raddle-lab/src/bin/raddle-shares.rs`, whose head says how, except for the shares of `Last` in runs 11
//! to 36 of programs with three threads or more: `docs/src/policies.md` says why. Not to be edited.

use super::Name::*;
use super::{Row, CLASSES, ENDS};

#[rustfmt::skip]
pub(super) static COMPUTED: [[Row; ENDS.len()]; CLASSES.len()] = [
    // two threads, short runs
    [
        // Run 2.
        &[(Always, 88), (LastTwo, 12)],
        // Run 3.
        &[(Newest, 87), (LastTwo, 11), (Pct1, 1), (Last, 1)],
        // Run 4.
        &[(LastTwo, 100)],
        // Run 5.
        &[(Last, 95), (LastTwo, 5)],
        // Run 6.
        &[(LastTwo, 90), (Last, 10)],
        // Runs 7 to 9.
        &[(Stride, 39), (Random, 39), (Short, 21), (Pos, 1)],
        // Run 10.
        &[(Pct1, 100)],
        // Runs 11 to 18.
        &[(Stride, 50), (Short, 26), (Pct2, 7), (Urw, 7), (Random, 5), (Pct3, 2), (Pos, 2), (Delays, 1)],
        // Runs 19 to 36.
        &[(Urw, 40), (Short, 23), (Random, 10), (Pct3, 8), (Pct2, 7), (Pos, 7), (Stride, 3), (Delays, 1), (Always, 1)],
        // Runs 37 to 63.
        &[(Urw, 57), (Pct3, 14), (Random, 11), (Pct2, 7), (Pos, 6), (Stride, 3), (Short, 1), (Delays, 1)],
        // Runs 64 to 120.
        &[(Urw, 83), (Pct2, 7), (Stride, 3), (Pct3, 2), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 121 to 228.
        &[(Pct2, 67), (Pct3, 6), (Stride, 4), (Urw, 3), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Rpro, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
    ],
    // two threads, long runs
    [
        // Run 2.
        &[(LastTwo, 28), (Always, 25), (Stride, 6), (Random, 5), (Pct2, 3), (Pct3, 3), (Pct1, 3), (Short, 3), (Urw, 3), (Delays, 3), (Delay, 3), (Rpro, 3), (Bound2, 3), (Bound3, 3), (Pos, 2), (Newest, 1), (Last, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Run 3.
        &[(Urw, 83), (Rpro, 5), (Short, 3), (Delays, 2), (Pct2, 1), (Pct3, 1), (Stride, 1), (Pos, 1), (Random, 1), (Delay, 1), (Bound2, 1)],
        // Run 4.
        &[(Stride, 46), (Random, 18), (Newest, 10), (LastTwo, 8), (Urw, 4), (Pct2, 1), (Pct3, 1), (Pct1, 1), (Short, 1), (Pos, 1), (Delays, 1), (Delay, 1), (Last, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Run 5.
        &[(Urw, 76), (Pct2, 2), (Pct3, 2), (Pos, 2), (Random, 2), (Delays, 2), (Delay, 2), (Rpro, 2), (Pct1, 1), (Newest, 1), (Stride, 1), (Short, 1), (Last, 1), (LastTwo, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Run 6.
        &[(LastTwo, 77), (Pct2, 2), (Pct3, 2), (Pos, 2), (Random, 2), (Delays, 2), (Delay, 2), (Rpro, 2), (Pct1, 1), (Newest, 1), (Stride, 1), (Short, 1), (Urw, 1), (Last, 1), (Always, 1), (Bound2, 1), (Bound3, 1)],
        // Runs 7 to 9.
        &[(Urw, 38), (Bound3, 36), (LastTwo, 7), (Pos, 3), (Short, 2), (Pct2, 1), (Pct3, 1), (Pct1, 1), (Newest, 1), (Stride, 1), (Random, 1), (Delays, 1), (Delay, 1), (Last, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Run 10.
        &[(Pct1, 100)],
        // Runs 11 to 18.
        &[(Stride, 21), (Short, 19), (Pct3, 18), (Urw, 15), (Pct2, 8), (LastTwo, 4), (Pos, 2), (Random, 2), (Pct1, 1), (Newest, 1), (Delays, 1), (Delay, 1), (Last, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 19 to 36.
        &[(Short, 40), (Pct3, 29), (Pct2, 7), (Stride, 4), (Urw, 3), (Pos, 2), (Random, 2), (Delays, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 37 to 63.
        &[(Pct3, 78), (Pct2, 9), (Stride, 4), (Urw, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1), (Rpro, 1)],
        // Runs 64 to 120.
        &[(Pct2, 76), (Urw, 12), (Pct3, 3), (Stride, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1), (Rpro, 1)],
        // Runs 121 to 228.
        &[(Pct2, 84), (Pct3, 5), (Stride, 3), (Urw, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
    ],
    // three or four threads, short runs
    [
        // Run 2.
        &[(Always, 84), (Short, 16)],
        // Run 3.
        &[(Newest, 64), (Short, 36)],
        // Run 4.
        &[(Short, 100)],
        // Run 5.
        &[(Urw, 100)],
        // Run 6.
        &[(Urw, 100)],
        // Runs 7 to 9.
        &[(Pct2, 67), (Urw, 33)],
        // Run 10.
        &[(Pct1, 100)],
        // Runs 11 to 18.
        &[(Stride, 57), (Last, 25), (Pct2, 7), (Pct3, 3), (Urw, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 19 to 36.
        &[(Pct3, 82), (Pct2, 7), (Stride, 3), (Urw, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 37 to 63.
        &[(Pct3, 51), (Pct2, 37), (Stride, 3), (Urw, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1), (Delay, 1)],
        // Runs 64 to 120.
        &[(Pct2, 74), (Urw, 13), (Stride, 4), (Pct3, 2), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1), (Delay, 1), (Rpro, 1)],
        // Runs 121 to 228.
        &[(Pct2, 69), (Pct3, 6), (Stride, 4), (Urw, 3), (Short, 2), (Pos, 2), (Random, 2), (Pct1, 1), (Newest, 1), (Delays, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
    ],
    // three or four threads, long runs
    [
        // Run 2.
        &[(Urw, 71), (Delays, 22), (Short, 7)],
        // Run 3.
        &[(Delays, 49), (Urw, 31), (Last, 14), (LastTwo, 6)],
        // Run 4.
        &[(Bound2, 51), (Urw, 29), (LastTwo, 12), (Delay, 3), (Last, 2), (Nobody, 2), (Bound3, 1)],
        // Run 5.
        &[(Pct3, 85), (Bound3, 12), (Pct2, 2), (Rpro, 1)],
        // Run 6.
        &[(Pct3, 84), (Bound3, 14), (Pct2, 1), (Rpro, 1)],
        // Runs 7 to 9.
        &[(Bound3, 100)],
        // Run 10.
        &[(Pct1, 100)],
        // Runs 11 to 18.
        &[(Pct3, 62), (Rpro, 20), (Pct2, 7), (Stride, 3), (Urw, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 19 to 36.
        &[(Rpro, 65), (Pct3, 17), (Pct2, 7), (Stride, 3), (Urw, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 37 to 63.
        &[(Rpro, 59), (Pct3, 23), (Pct2, 7), (Stride, 3), (Urw, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 64 to 120.
        &[(Pct2, 86), (Stride, 3), (Urw, 3), (Pct3, 2), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1), (Delay, 1)],
        // Runs 121 to 228.
        &[(Pct2, 67), (Pct3, 6), (Stride, 4), (Urw, 3), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Rpro, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
    ],
    // five threads or more, short runs
    [
        // Run 2.
        &[(Urw, 100)],
        // Run 3.
        &[(Newest, 60), (Urw, 40)],
        // Run 4.
        &[(Urw, 100)],
        // Run 5.
        &[(Urw, 100)],
        // Run 6.
        &[(Urw, 100)],
        // Runs 7 to 9.
        &[(Urw, 66), (Bound3, 34)],
        // Run 10.
        &[(Pct1, 100)],
        // Runs 11 to 18.
        &[(Last, 45), (Short, 36), (Pct2, 7), (Stride, 3), (Urw, 3), (Pct3, 2), (Pos, 2), (Random, 1), (Delays, 1)],
        // Runs 19 to 36.
        &[(Short, 61), (Last, 20), (Pct2, 7), (Stride, 3), (Urw, 3), (Pct3, 2), (Pos, 2), (Random, 1), (Delays, 1)],
        // Runs 37 to 63.
        &[(Short, 81), (Pct2, 7), (Stride, 3), (Urw, 3), (Pct3, 2), (Pos, 2), (Random, 1), (Delays, 1)],
        // Runs 64 to 120.
        &[(Urw, 50), (Pct2, 25), (Stride, 4), (Pct3, 2), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 121 to 228.
        &[(Pct2, 67), (Pct3, 6), (Stride, 4), (Urw, 3), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Rpro, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
    ],
    // five threads or more, long runs
    [
        // Run 2.
        &[(Urw, 32), (Always, 30), (LastTwo, 22), (Pct2, 1), (Pct3, 1), (Pct1, 1), (Newest, 1), (Stride, 1), (Short, 1), (Pos, 1), (Random, 1), (Delays, 1), (Delay, 1), (Last, 1), (Rpro, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Run 3.
        &[(Urw, 98), (Newest, 1), (Pos, 1)],
        // Run 4.
        &[(Urw, 76), (Stride, 12), (Random, 5), (Newest, 4), (LastTwo, 3)],
        // Run 5.
        &[(Urw, 100)],
        // Run 6.
        &[(LastTwo, 56), (Urw, 27), (Pct2, 1), (Pct3, 1), (Pct1, 1), (Newest, 1), (Stride, 1), (Short, 1), (Pos, 1), (Random, 1), (Delays, 1), (Delay, 1), (Last, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 7 to 9.
        &[(Urw, 100)],
        // Run 10.
        &[(Pct1, 100)],
        // Runs 11 to 18.
        &[(Urw, 83), (Pct2, 7), (Stride, 3), (Pct3, 2), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 19 to 36.
        &[(Short, 52), (Pct3, 17), (Pct2, 8), (Stride, 4), (Urw, 3), (Pos, 2), (Random, 2), (Pct1, 1), (Newest, 1), (Delays, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 37 to 63.
        &[(Pct3, 66), (Pct2, 8), (Stride, 4), (Urw, 3), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 64 to 120.
        &[(Urw, 50), (Pct2, 25), (Stride, 4), (Pct3, 2), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 121 to 228.
        &[(Pct2, 67), (Pct3, 6), (Stride, 4), (Urw, 3), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Rpro, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
    ],
];
