//! Signals as they are natively: every program in `programs/signals` prints the same without raddle and with it. And
//! what programs do with signals, or with the memory that they share with raddle, reaches no other process. All of this
//! runs in PID namespaces.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::programs::{root, runtime};
use support::{namespace, Folder};

/// Compiles a program of `programs/signals`.
fn compiled(folder: &Folder, name: &str) -> PathBuf {
    let source = root().join("programs/signals").join(name).with_extension("c");
    let program = folder.path().join(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu2x", "-O1", "-g", "-pthread", "-D_GNU_SOURCE", "-o"]).arg(&program).arg(&source);
    assert!(compiler.status().expect("cc runs").success(), "{} does not compile", source.display());
    program
}

fn raddle_test(options: &str, command: &str) -> String {
    let (raddle, runtime) = (env!("CARGO_BIN_EXE_raddle"), runtime());
    format!("{raddle} test --quiet --seed 1 --runtime {} {options} -- {command}", runtime.display())
}

fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    format!("{}\n{}", output.status, String::from_utf8_lossy(&text))
}

/// A program must print the same natively and under control, whatever the schedule and the way to switch threads.
fn is_as_natively(name: &str, arguments: &str, runs: u32) {
    let folder = Folder::new();
    let command = format!("{} {arguments}", compiled(&folder, name).display());
    // A first process is spared by signals of its own, so the shell must be that.
    let Some(native) = namespace::run(folder.path(), &format!("{command} > native; exit $?")) else { return };
    assert!(native.status.success(), "{name} {arguments} natively: {}", said(&native));
    for switch in ["fiber", "os"] {
        for policy in ["random", "pct"] {
            let options = format!("--runs {runs} --policy {policy} --switch {switch} --expect-output native");
            let script = format!("{}; exit $?", raddle_test(&options, &command));
            let Some(output) = namespace::run(folder.path(), &script) else { return };
            assert!(output.status.success(), "{name} {arguments}, {switch}, {policy}: {}", said(&output));
        }
    }
}

#[test]
fn signals_of_one_thread_have_the_kernels_order() {
    is_as_natively("table", "main 0 400", 3);
    is_as_natively("table", "thread 400 800", 3);
}

#[test]
fn calls_are_interrupted_and_restarted_as_natively() {
    let folder = Folder::new();
    let program = compiled(&folder, "interrupted");
    // On a busy machine a native run may be late somewhere: all that any of them says is right.
    let native = format!("for i in 1 2 3 4 5 6; do {} >> native || exit 1; done", program.display());
    let Some(output) = namespace::run(folder.path(), &native) else { return };
    assert!(output.status.success(), "{}", said(&output));
    let native = std::fs::read_to_string(folder.path().join("native")).expect("native answers");
    for switch in ["fiber", "os"] {
        // The native runs have been late now and then; this one is to be as most of them are.
        let options =
            format!("--runs 1 --policy random --lag 0 --switch {switch} --check 'cp $RADDLE_STDOUT {switch}'");
        let test = raddle_test(&options, &program.display().to_string());
        let Some(output) = namespace::run(folder.path(), &format!("{test}; exit $?")) else { return };
        assert!(output.status.success(), "{switch}: {}", said(&output));
        let answers = std::fs::read_to_string(folder.path().join(switch)).expect("answers");
        let strange: Vec<_> = answers.lines().filter(|line| !native.lines().any(|known| known == *line)).collect();
        assert!(strange.is_empty() && answers.lines().count() > 50, "{switch}: {strange:#?}\nnatively:\n{native}");
    }
}

#[test]
fn sigsys_is_a_signal_like_any_other() {
    is_as_natively("sigsys", "main", 40);
    is_as_natively("sigsys", "thread", 40);
}

#[test]
fn children_made_by_system_calls_are_ordinary_processes() {
    is_as_natively("raw-children", "", 40);
}

#[test]
fn filters_of_the_program_raise_their_own_sigsys() {
    is_as_natively("filter", "", 20);
}

#[test]
fn a_sigsys_that_is_not_handled_ends_the_program() {
    let folder = Folder::new();
    let command = format!("{} main", compiled(&folder, "sigsys").display());
    for way in ["raise", "kill", "unblock"] {
        for switch in ["fiber", "os"] {
            let test = raddle_test(&format!("--runs 2 --switch {switch} --env DIE={way}"), &command);
            let Some(output) = namespace::run(folder.path(), &format!("{test}; exit $?")) else { return };
            assert_eq!(output.status.code(), Some(1), "{way}, {switch}: {}", said(&output));
            assert!(said(&output).contains("SIGSYS"), "{way}, {switch}: {}", said(&output));
        }
    }
}

/// Runs `raddle test` on a program that writes over all that it can reach, with a process beside it that must survive.
fn overwrite(folder: &Path, program: &Path, value: &str, range: &str, ending: &str, options: &str) {
    let command = format!("{} {value} {range} {ending}", program.display());
    let test = raddle_test(&format!("--runs 2 --policy random --run-timeout 1 {options}"), &command);
    let script = format!(
        "sleep 1000 & bystander=$!; {test}; status=$?; read _ _ state _ < /proc/$bystander/stat || exit 90; \
         [ $state = S ] || exit 91; exit $status"
    );
    // What names a process is known there only.
    let script = script.replace("BYSTANDER", "$bystander").replace("SHELL", "$$");
    let Some(output) = namespace::run(folder, &script) else { return };
    // Whatever it says of such a program, it says it itself.
    assert!(matches!(output.status.code(), Some(0..=5)), "{command} {options}: {}", said(&output));
}

#[test]
fn a_program_that_overwrites_the_block_harms_no_other_process() {
    let folder = Folder::new();
    let program = compiled(&folder, "overwrites");
    for value in ["-1", "0", "1", "BYSTANDER", "SHELL", "parent"] {
        for range in ["0 100000000", "0 4096", "64 4096"] {
            for ending in ["exit", "abort", "deadlock"] {
                for options in ["", "--exec"] {
                    overwrite(folder.path(), &program, value, range, ending, options);
                }
            }
        }
        overwrite(folder.path(), &program, value, "0 100000000", "hang", "");
        overwrite(folder.path(), &program, value, "64 4096", "hang", "--exec");
    }
}
