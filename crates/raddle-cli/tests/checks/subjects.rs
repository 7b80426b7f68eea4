//! Programs with checks, built once for all tests, and raddle on them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use serde_json::Value;

use super::support::{outcome, Folder};

pub const POLICIES: [&str; 2] = ["random", "pct"];
pub const SWITCHES: [&str; 2] = ["fiber", "os"];

/// The folder of the programs.
pub fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/checks").canonicalize().expect("the programs")
}

/// Where they are built.
pub fn build_folder() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_raddle")).ancestors().nth(2).expect("the target folder");
    let folder = target.join("programs/checks");
    std::fs::create_dir_all(&folder).expect("a folder for the binaries");
    folder
}

/// Compiles a program, once for all tests.
pub fn build(source: &str) -> PathBuf {
    static BUILT: LazyLock<Mutex<HashMap<String, Arc<OnceLock<PathBuf>>>>> = LazyLock::new(Mutex::default);
    let built = Arc::clone(BUILT.lock().expect("no panic").entry(source.to_owned()).or_default());
    let path = built.get_or_init(|| {
        let binary = build_folder().join(source.replace('.', "_"));
        let age = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
        let parts = [source, "body.h", "race.h", "../../include/raddle.h"];
        if parts.iter().all(|part| age(&binary) > age(&sources().join(part))) {
            return binary;
        }
        let (compiler, standard) = if source.ends_with(".cc") { ("g++", "c++20") } else { ("gcc", "gnu17") };
        let mut command = Command::new(compiler);
        command.arg(format!("-std={standard}")).args(["-O1", "-g", "-pthread", "-Wall", "-Wextra", "-Werror", "-I"]);
        command.arg(sources().join("../../include")).arg(sources().join(source)).arg("-o").arg(&binary);
        assert!(command.status().expect("the compiler runs").success(), "{source} does not compile");
        binary
    });
    path.clone()
}

/// A test binary of the Rust package.
pub fn rust(name: &str) -> PathBuf {
    static BUILT: LazyLock<HashMap<String, PathBuf>> = LazyLock::new(|| {
        let output = cargo(&["test", "--no-run", "--message-format", "json"]).output().expect("cargo runs");
        assert!(output.status.success(), "the tests do not build: {}", String::from_utf8_lossy(&output.stderr));
        let messages = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>().flatten();
        let built = messages.filter_map(|message| {
            let name = message["target"]["name"].as_str()?.to_owned();
            Some((name, PathBuf::from(message["executable"].as_str()?)))
        });
        built.collect()
    });
    BUILT[name].clone()
}

/// cargo, for the Rust package.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).args(["--quiet", "--locked", "--manifest-path"]).arg(sources().join("rust/Cargo.toml"));
    command.env("CARGO_TARGET_DIR", build_folder().join("rust")).env_remove("RUSTFLAGS").env_remove("RUST_BACKTRACE");
    command
}

/// What the header of a program says.
pub fn header(source: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(sources().join(source)).expect("the program");
    let lines = text.lines().map_while(|line| line.strip_prefix("//"));
    let entries = lines.filter_map(|line| line.split_once(':'));
    entries.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
}

/// raddle with these options and a command.
pub fn raddle(folder: &Folder, options: &[&str], command: &[&str]) -> Command {
    let mut raddle = folder.raddle_with_runtime(&[options, &["--"], command].concat());
    // With backtraces, panics do many things more.
    raddle.env_remove("RUST_BACKTRACE");
    raddle
}

/// A campaign: the exit status, and the JSON without what differs from time to time.
pub fn campaign(folder: &Folder, options: &[&str], command: &[&str]) -> (i32, Value) {
    let seed: &[&str] = if options.contains(&"--seed") { &[] } else { &["--seed", "1"] };
    let options = [&["test", "--quiet", "--json", "-"], seed, options].concat();
    let output = raddle(folder, &options, command).output().expect("raddle runs");
    let parsed = serde_json::from_slice(&output.stdout);
    let mut report: Value =
        parsed.unwrap_or_else(|error| panic!("{command:?}: {error}: {}", String::from_utf8_lossy(&output.stderr)));
    let one = |report: &mut Value| {
        for key in ["seconds", "runs_per_second"] {
            report.as_object_mut().expect("an object").remove(key).expect("a time");
        }
    };
    match report["tests"].as_array_mut() {
        Some(tests) => tests.iter_mut().for_each(one),
        None => one(&mut report),
    }
    (output.status.code().unwrap_or(-1), report)
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

/// Replays a schedule 20 times by each way to switch threads.
#[track_caller]
pub fn replays(folder: &Folder, report: &Value) {
    let schedule = report["failures"][0]["schedule"].as_str().unwrap_or_else(|| panic!("no schedule: {report}"));
    for switch in SWITCHES {
        let mut replay = folder.raddle_with_runtime(&["replay", schedule, "--switch", switch, "--runs", "20"]);
        let (status, said) = outcome(replay.env_remove("RUST_BACKTRACE"));
        assert_eq!(status, 1, "{switch}: {said}");
        assert!(said.contains(" happened in 20 of 20 runs"), "{switch}: {said}");
    }
}

/// A program that passes, natively and under raddle, where all that there is to say is the same whatever switches threads.
#[track_caller]
pub fn passes(source: &str) {
    let (folder, binary) = (Folder::new(), build(source));
    assert!(Command::new(&binary).stdout(Stdio::null()).status().expect("it runs").success(), "{source} natively");
    let header = header(source);
    assert!(header.contains_key("passes"), "{source} does not say what it shows");
    let runs = header.get("runs").map_or("1000", String::as_str);
    for policy in POLICIES {
        let reports = SWITCHES.map(|switch| {
            let options = ["--policy", policy, "--runs", runs, "--switch", switch];
            let (status, report) = campaign(&folder, &options, &[text(&binary)]);
            assert_eq!(status, 0, "{source}, {policy}, {switch}: {report}");
            report
        });
        assert_eq!(reports[0], reports[1], "{source}, {policy}");
    }
}

/// A program that fails as its header says, with every policy and by each way to switch threads, and whose failure
/// replays.
#[track_caller]
pub fn fails(source: &str) {
    let (folder, binary, header) = (Folder::new(), build(source), header(source));
    let get = |key: &str| header.get(key).map_or("", String::as_str);
    assert!(header.contains_key("fails"), "{source} does not say what it shows");
    for policy in POLICIES {
        let mut traces = Vec::new();
        for switch in SWITCHES {
            let mut options = vec!["--policy", policy, "--runs", "2000", "--switch", switch];
            options.extend(get("options").split_whitespace());
            let (status, report) = campaign(&folder, &options, &[text(&binary)]);
            let failure = &report["failures"][0];
            assert_eq!(status, 1, "{source}, {policy}, {switch}: {report}");
            assert_eq!(failure["kind"], get("expect"), "{source}, {policy}, {switch}: {report}");
            let message = failure["message"].as_str().expect("a message");
            assert!(message.contains(get("message")), "{source}, {policy}, {switch}: {message}");
            assert_eq!(report["first_failing_run"], report["runs"], "{report}");
            traces.push((report["trace"].clone(), report["runs"].clone()));
            // The other one finds the same.
            if get("replays") != "0" && switch == "fiber" {
                replays(&folder, &report);
            }
        }
        assert_eq!(traces[0], traces[1], "{source}, {policy}");
    }
}
