//! Experiments on real programs, with the real runtime.

use std::path::Path;
use std::process::{Command, Stdio};

use raddle_engine::statistics::proportion::clopper_pearson;
use serde_json::Value;

/// Two threads that take two locks in opposite orders.
const DEADLOCK: &str = r#"
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *left(void *unused) { both(&a, &b); return unused; }
static void *right(void *unused) { both(&b, &a); return unused; }
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, left, 0);
    pthread_create(&two, 0, right, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"#;

/// The exit status of raddle-lab, and all that it printed.
fn lab(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle-lab"));
    let output = command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().expect("raddle-lab runs");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn wrong_input_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |arguments: &[&str], text: &str| {
        let (status, said) = lab(folder.path(), arguments);
        assert_eq!(status, 2, "{arguments:?}: {said}");
        assert!(said.contains(text), "{arguments:?}: {said}");
    };
    check(&["pct-12"], "there is no experiment `pct-12`");
    check(&["all", "--json", "-"], "several experiments and --json, --csv, --html and --raw exclude each other");
}

#[test]
fn equation_3_holds_on_a_real_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["stride-equation-3", "--seed", "1", "--runs", "1500", "--no-guard"];
    let (status, said) = lab(folder.path(), &[&arguments[..], &["--json", "out.json"]].concat());
    assert_eq!(status, 0, "{said}");
    let text = std::fs::read_to_string(folder.path().join("out.json")).expect("JSON");
    let rows: Vec<Value> = serde_json::from_str(&text).expect("rows");
    assert_eq!(rows.len(), 9, "{said}");
    for row in &rows {
        let number = |value: &Value| value.as_f64().expect("a number");
        let (exact, equation) = (number(&row["exact"]), number(&row["equation"]));
        for share in [&row["toy"], &row["program"]] {
            let (hits, runs) = (share["hits"].as_u64().expect("hits"), share["runs"].as_u64().expect("runs"));
            // 18 such checks, each of which fails by chance in one of 10,000 seeds.
            assert!(clopper_pearson(hits, runs, 0.9999).contains(exact), "{row}");
        }
        assert!((exact - equation).abs() < 0.05, "{row}");
    }
}

#[test]
fn an_experiment_takes_its_programs_by_their_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = folder.path().join("suite");
    std::fs::create_dir(&suite).expect("a folder");
    let header = "// bug: x\n// kind: deadlock\n// depth: 2\n// row: needlepoint:NSPR\n";
    std::fs::write(suite.join("monitor.c"), format!("{header}{DEADLOCK}")).expect("written");
    std::fs::write(suite.join("other.c"), format!("// bug: y\n// kind: deadlock\n{DEADLOCK}")).expect("written");
    let arguments = ["needlepoint-table-2", "--suite", "suite", "--seed", "1", "--runs", "80"];
    let (status, said) = lab(folder.path(), &arguments);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("NeedlePoint, table 2: is the bug found in 1,000 runs?"), "{said}");
    let row = said.lines().find(|line| line.contains("│ NSPR")).unwrap_or_else(|| panic!("no row: {said}"));
    assert!(row.contains("monitor") && row.contains("yes / yes"), "{row}");
    assert!(!said.contains("│ other") && !said.contains("other.c"), "{said}");
}

#[test]
fn several_experiments_make_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = folder.path().join("suite");
    std::fs::create_dir(&suite).expect("a folder");
    let header = "// bug: x\n// kind: deadlock\n// depth: 2\n// row: needlepoint:NSPR\n";
    std::fs::write(suite.join("monitor.c"), format!("{header}{DEADLOCK}")).expect("written");
    let experiments = "needlepoint-table-2,pct-table-3,guarantee,portfolio,needlepoint-7";
    let arguments = [experiments, "--suite", "suite", "--seed", "1", "--runs", "400"];
    let more = ["--repeat", "3", "--limit", "20", "--markdown", "page.md"];
    let (status, said) = lab(folder.path(), &[&arguments[..], &more].concat());
    assert_eq!(status, 0, "{said}");
    let page = std::fs::read_to_string(folder.path().join("page.md")).expect("the page");
    // The guarantee holds for both, and the portfolio finds it.
    let guaranteed = |line: &&str| line.starts_with("| monitor |") && line.matches("| yes |").count() == 2;
    assert_eq!(page.lines().filter(guaranteed).count(), 1, "{page}");
    assert!(page.contains("missed by the portfolio and found by another: none"), "{page}");
    // What has no programs there, or no kernels, is named and does not stop the others.
    assert_eq!(page.matches("\n## ").count(), 3, "{page}");
    assert!(said.contains("PCT, table 3") && said.contains("no program of suite stands for a row of it"), "{said}");
    assert!(said.contains("fork-join.c cannot be compared"), "{said}");
}
