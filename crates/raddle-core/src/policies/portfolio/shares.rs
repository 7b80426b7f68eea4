//! Who makes which runs, in hundredths, by class and by [slot](ENDS).
//!
//! Written by `crates/raddle-cli/examples/shares.rs`, whose head says how. Not to be edited.

use super::Name::*;
use super::{Row, CLASSES, ENDS};

#[rustfmt::skip]
pub(super) static COMPUTED: [[Row; ENDS.len()]; CLASSES.len()] = [
    // two threads, short runs
    [
        // Run 2.
        &[(Always, 88), (LastTwo, 9), (Last, 3)],
        // Run 3.
        &[(Newest, 87), (LastTwo, 12), (Pct1, 1)],
        // Run 4.
        &[(LastTwo, 100)],
        // Run 5.
        &[(Last, 94), (LastTwo, 6)],
        // Run 6.
        &[(Last, 99), (LastTwo, 1)],
        // Runs 7 to 9.
        &[(Short, 78), (Stride, 10), (Random, 10), (Urw, 1), (Pos, 1)],
        // Runs 10 to 12.
        &[(Short, 60), (Stride, 20), (Random, 20)],
        // Runs 13 to 18.
        &[(Urw, 70), (Stride, 11), (Pct2, 9), (Short, 3), (Pct3, 2), (Pos, 2), (Random, 2), (Delays, 1)],
        // Runs 19 to 36.
        &[(Urw, 35), (Short, 23), (Pct2, 14), (Random, 9), (Pos, 7), (Stride, 4), (Pct3, 2), (Delays, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Always, 1)],
        // Runs 37 to 63.
        &[(Urw, 52), (Pct2, 22), (Random, 11), (Pos, 7), (Stride, 3), (Pct3, 2), (Short, 1), (Delays, 1), (Always, 1)],
        // Runs 64 to 120.
        &[(Urw, 83), (Pct2, 7), (Stride, 3), (Pct3, 2), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 121 to 228.
        &[(Pct2, 67), (Pct3, 6), (Stride, 4), (Urw, 3), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Rpro, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
    ],
    // two threads, long runs
    [
        // Run 2.
        &[(Urw, 79), (Always, 5), (Pct2, 2), (Stride, 2), (Pos, 2), (Random, 2), (Pct3, 1), (Pct1, 1), (Short, 1), (Delays, 1), (Delay, 1), (Rpro, 1), (Bound2, 1), (Bound3, 1)],
        // Run 3.
        &[(Pos, 31), (Newest, 9), (LastTwo, 8), (Rpro, 8), (Urw, 5), (Delay, 5), (Pct2, 4), (Pct3, 4), (Pct1, 4), (Stride, 4), (Random, 4), (Bound2, 4), (Bound3, 4), (Short, 3), (Delays, 3)],
        // Run 4.
        &[(LastTwo, 74), (Pct2, 2), (Pct3, 2), (Short, 2), (Urw, 2), (Pos, 2), (Random, 2), (Delays, 2), (Delay, 2), (Rpro, 2), (Pct1, 1), (Newest, 1), (Stride, 1), (Last, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Run 5.
        &[(Short, 64), (Newest, 7), (Urw, 5), (LastTwo, 4), (Pct2, 2), (Pct3, 2), (Pct1, 2), (Delays, 2), (Bound3, 2), (Stride, 1), (Pos, 1), (Random, 1), (Delay, 1), (Last, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Run 6.
        &[(Urw, 78), (Pct2, 2), (Pct3, 2), (Pos, 2), (Random, 2), (Delays, 2), (Delay, 2), (Rpro, 2), (Pct1, 1), (Newest, 1), (Stride, 1), (Short, 1), (Last, 1), (LastTwo, 1), (Bound2, 1), (Bound3, 1)],
        // Runs 7 to 9.
        &[(Urw, 47), (Short, 31), (Bound3, 6), (Pct2, 1), (Pct3, 1), (Pct1, 1), (Newest, 1), (Stride, 1), (Pos, 1), (Random, 1), (Delays, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 10 to 12.
        &[(LastTwo, 75), (Short, 8), (Pct2, 1), (Pct3, 1), (Pct1, 1), (Newest, 1), (Stride, 1), (Urw, 1), (Pos, 1), (Random, 1), (Delays, 1), (Delay, 1), (Last, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 13 to 18.
        &[(Stride, 39), (Urw, 19), (Pct2, 17), (Short, 7), (Pct3, 2), (Pos, 2), (Random, 2), (Pct1, 1), (Newest, 1), (Delays, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 19 to 36.
        &[(Short, 38), (Pct2, 36), (Stride, 4), (Pct3, 3), (Urw, 3), (Pos, 2), (Random, 2), (Pct1, 1), (Newest, 1), (Delays, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 37 to 63.
        &[(Pct2, 84), (Stride, 4), (Urw, 3), (Pct3, 2), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1), (Delay, 1), (Rpro, 1)],
        // Runs 64 to 120.
        &[(Pct2, 75), (Urw, 12), (Pct3, 4), (Stride, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1), (Rpro, 1)],
        // Runs 121 to 228.
        &[(Pct2, 84), (Pct3, 5), (Stride, 3), (Urw, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
    ],
    // three or four threads, short runs
    [
        // Run 2.
        &[(Always, 100)],
        // Run 3.
        &[(Newest, 83), (Short, 16), (Pct3, 1)],
        // Run 4.
        &[(Short, 100)],
        // Run 5.
        &[(Urw, 100)],
        // Run 6.
        &[(Urw, 100)],
        // Runs 7 to 9.
        &[(Pct2, 38), (Urw, 35), (Short, 27)],
        // Runs 10 to 12.
        &[(Pct2, 100)],
        // Runs 13 to 18.
        &[(Stride, 83), (Pct2, 7), (Urw, 3), (Pct3, 2), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 19 to 36.
        &[(Pct3, 67), (Pct2, 15), (Stride, 10), (Urw, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 37 to 63.
        &[(Pct2, 87), (Stride, 3), (Urw, 3), (Pct3, 2), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 64 to 120.
        &[(Pct2, 69), (Urw, 18), (Stride, 4), (Pct3, 3), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1), (Rpro, 1)],
        // Runs 121 to 228.
        &[(Pct2, 69), (Pct3, 5), (Stride, 4), (Urw, 3), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
    ],
    // three or four threads, long runs
    [
        // Run 2.
        &[(Urw, 89), (Delays, 10), (Short, 1)],
        // Run 3.
        &[(Delays, 100)],
        // Run 4.
        &[(LastTwo, 90), (Bound2, 4), (Delay, 2), (Last, 2), (Bound3, 1), (Nobody, 1)],
        // Run 5.
        &[(Bound3, 42), (Pct3, 33), (Pct2, 17), (LastTwo, 3), (Bound2, 2), (Delay, 1), (Last, 1), (Rpro, 1)],
        // Run 6.
        &[(Bound3, 43), (Pct3, 34), (Pct2, 17), (Bound2, 2), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1)],
        // Runs 7 to 9.
        &[(Bound3, 97), (Pct3, 2), (Pct2, 1)],
        // Runs 10 to 12.
        &[(Pct2, 87), (Pct3, 10), (Rpro, 3)],
        // Runs 13 to 18.
        &[(Pct2, 86), (Stride, 3), (Urw, 3), (Pct3, 2), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1), (Rpro, 1)],
        // Runs 19 to 36.
        &[(Pct2, 87), (Stride, 3), (Urw, 3), (Pct3, 2), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 37 to 63.
        &[(Pct2, 87), (Stride, 3), (Urw, 3), (Pct3, 2), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 64 to 120.
        &[(Pct2, 71), (Urw, 15), (Pct3, 4), (Stride, 3), (Pos, 2), (Rpro, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 121 to 228.
        &[(Pct2, 67), (Pct3, 6), (Stride, 4), (Urw, 3), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Rpro, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
    ],
    // five threads or more, short runs
    [
        // Run 2.
        &[(Urw, 100)],
        // Run 3.
        &[(Newest, 76), (Urw, 24)],
        // Run 4.
        &[(Urw, 100)],
        // Run 5.
        &[(Urw, 100)],
        // Run 6.
        &[(Urw, 100)],
        // Runs 7 to 9.
        &[(Urw, 100)],
        // Runs 10 to 12.
        &[(Short, 87), (Urw, 13)],
        // Runs 13 to 18.
        &[(Short, 81), (Pct2, 7), (Stride, 3), (Urw, 3), (Pct3, 2), (Pos, 2), (Random, 1), (Delays, 1)],
        // Runs 19 to 36.
        &[(Short, 81), (Pct2, 7), (Stride, 3), (Urw, 3), (Pct3, 2), (Pos, 2), (Random, 1), (Delays, 1)],
        // Runs 37 to 63.
        &[(Short, 81), (Pct2, 7), (Stride, 3), (Urw, 3), (Pct3, 2), (Pos, 2), (Random, 1), (Delays, 1)],
        // Runs 64 to 120.
        &[(Urw, 56), (Pct2, 20), (Stride, 4), (Pct3, 2), (Short, 2), (Pos, 2), (Random, 2), (Pct1, 1), (Newest, 1), (Delays, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 121 to 228.
        &[(Pct2, 67), (Pct3, 6), (Stride, 4), (Urw, 3), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Rpro, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
    ],
    // five threads or more, long runs
    [
        // Run 2.
        &[(Urw, 99), (Always, 1)],
        // Run 3.
        &[(Urw, 32), (Newest, 23), (LastTwo, 21), (Pos, 9), (Pct2, 1), (Pct3, 1), (Pct1, 1), (Stride, 1), (Short, 1), (Random, 1), (Delays, 1), (Delay, 1), (Last, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Run 4.
        &[(LastTwo, 51), (Urw, 32), (Pct2, 1), (Pct3, 1), (Pct1, 1), (Newest, 1), (Stride, 1), (Short, 1), (Pos, 1), (Random, 1), (Delays, 1), (Delay, 1), (Last, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Run 5.
        &[(Urw, 87), (Short, 10), (Newest, 2), (LastTwo, 1)],
        // Run 6.
        &[(Urw, 100)],
        // Runs 7 to 9.
        &[(Urw, 100)],
        // Runs 10 to 12.
        &[(Urw, 95), (LastTwo, 4), (Short, 1)],
        // Runs 13 to 18.
        &[(Urw, 83), (Pct2, 7), (Stride, 3), (Pct3, 2), (Pos, 2), (Short, 1), (Random, 1), (Delays, 1)],
        // Runs 19 to 36.
        &[(Short, 51), (Pct2, 23), (Stride, 4), (Urw, 3), (Pct3, 2), (Pos, 2), (Random, 2), (Delays, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 37 to 63.
        &[(Pct2, 72), (Stride, 4), (Urw, 3), (Pct3, 2), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 64 to 120.
        &[(Urw, 56), (Pct2, 20), (Stride, 4), (Pct3, 2), (Short, 2), (Pos, 2), (Random, 2), (Pct1, 1), (Newest, 1), (Delays, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Rpro, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
        // Runs 121 to 228.
        &[(Pct2, 67), (Pct3, 6), (Stride, 4), (Urw, 3), (Short, 2), (Pos, 2), (Random, 2), (Delays, 2), (Rpro, 2), (Pct1, 1), (Newest, 1), (Delay, 1), (Last, 1), (LastTwo, 1), (Always, 1), (Bound2, 1), (Bound3, 1), (AtomFuzzer, 1), (Nobody, 1)],
    ],
];
