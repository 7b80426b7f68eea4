//! What becomes of freed memory is a choice of the run: drawn from its seed, the same for every way to make the runs,
//! and nothing that the policy draws depends on it. Programs whose heap is misused are in `programs/fail`.

mod support;

use serde_json::Value;
use support::{counting, outcome, Folder};

/// Ends with 3 when a block that was freed is given again at once.
const REUSES: &str = r#"
    char *one = malloc(100);
    free(one);
    char *other = malloc(100);
    return one == other ? 3 : 0;
"#;

const RUNS: u64 = 200;

fn explored(folder: &Folder, options: &[&str]) -> Value {
    let common = ["--seed", "5", "--runs", "200", "--keep-going", "--policy", "pct", "--out", "found"];
    let mut report = folder.json(&[&common, options].concat(), "./reuses");
    // Where the schedule is written depends on what is there.
    if let Some(failures) = report["failures"].as_array_mut() {
        failures.iter_mut().for_each(|failure| failure["schedule"] = Value::Null);
    }
    report
}

fn failing(report: &Value) -> u64 {
    report["failing_runs"].as_u64().expect("a number")
}

#[test]
fn half_of_the_runs_hold_memory_back_whatever_makes_them() {
    let folder = Folder::new();
    folder.program("reuses", &counting(REUSES));
    let report = explored(&folder, &[]);
    // Four standard deviations.
    assert!((72..=128).contains(&failing(&report)), "{report:#}");
    for options in [&["--jobs", "2"][..], &["--exec"], &["--switch", "os"], &["--heap", "mixed"]] {
        assert_eq!(explored(&folder, options), report, "{options:?}");
    }
    for (how, expected) in [("hold", 0), ("reuse", RUNS), ("off", RUNS)] {
        assert_eq!(failing(&explored(&folder, &["--heap", how])), expected, "{how}");
    }
}

#[test]
fn policies_draw_the_same() {
    let folder = Folder::new();
    folder.program("reuses", &counting(""));
    let [mixed, hold, off] = ["mixed", "hold", "off"].map(|how| explored(&folder, &["--heap", how]));
    assert!(mixed == off && hold == off, "{mixed:#}{hold:#}{off:#}");
}

#[test]
fn a_schedule_keeps_the_choice() {
    let folder = Folder::new();
    folder.program("reuses", &counting(REUSES));
    let test = ["test", "--quiet", "--seed", "5", "--out", "found", "--", "./reuses"];
    assert_eq!(outcome(&mut folder.raddle_with_runtime(&test)).0, 1);
    let mut files = std::fs::read_dir(folder.path().join("found")).expect("schedules").flatten();
    let path = files.find(|file| file.path().extension().is_some_and(|e| e == "schedule")).expect("one").path();
    let text = std::fs::read_to_string(&path).expect("text");
    assert!(text.contains("\nheap mixed\n"), "{text}");
    for (heap, again) in [("mixed", 1), ("hold", 0), ("reuse", 1), ("off", 1)] {
        let body =
            text.rsplit_once("checksum").expect("the last line").0.replace("heap mixed", &format!("heap {heap}"));
        let edited = folder.file("edited.schedule", format!("{body}checksum edited\n"));
        let edited = edited.to_str().expect("a path in UTF-8");
        for switch in ["fiber", "os"] {
            let replay = ["replay", "--quiet", "--switch", switch, edited];
            let (status, said) = outcome(&mut folder.raddle_with_runtime(&replay));
            assert_eq!(status, again, "{heap}, {switch}: {said}");
        }
    }
}
