//! Schedule files of every release are read, and say what they said.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use raddle_protocol::{Heap, Points, RunSettings};
use raddle_schedule::{parse, write, Schedule, Stdin};

/// The files of a release, by their names without the ending.
fn release(name: &str) -> BTreeMap<String, Schedule> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut all = BTreeMap::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        let bytes = fs::read(&path).expect("read");
        let schedule = parse(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let again = parse(write(&schedule).as_bytes()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(again, schedule, "{}", path.display());
        all.insert(path.file_stem().expect("a name").to_string_lossy().into_owned(), schedule);
    }
    all
}

fn releases() -> Vec<(String, BTreeMap<String, Schedule>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.map(|name| (name.clone(), release(&name))).collect()
}

#[test]
fn files_of_every_release_are_read() {
    for (release, files) in releases() {
        assert!(!files.is_empty(), "{release}");
        for (name, schedule) in files {
            let name = format!("{release}/{name}");
            assert_eq!((schedule.raddle.as_str(), schedule.settings.seed), ("0.1.0", 1), "{name}");
            assert_eq!((schedule.settings.cpus, schedule.settings.yields), (4, RunSettings::YIELDS), "{name}");
            // Files without the key: what was recorded before freed memory was held back.
            assert_eq!(schedule.settings.heap, Heap::Off, "{name}");
            assert_eq!(schedule.directory, b"/home/ada/work", "{name}");
            assert!(schedule.settings.realtime > 0 && schedule.settings.dispatch, "{name}");
            assert!(schedule.run > 0 && !schedule.decisions.is_empty() && !schedule.build_id.is_empty(), "{name}");
            assert!(!schedule.failure.kind.is_empty() && !schedule.failure.message.is_empty(), "{name}");
            assert!(schedule.decisions.iter().all(|decision| decision.kind().is_some()), "{name}");
            assert!(schedule.environment.contains(&(b"LANG".to_vec(), b"C.UTF-8".to_vec())), "{name}");
        }
    }
}

#[test]
fn the_files_of_0_1_0_say_what_they_said() {
    let files = release("0.1.0");
    for kind in ["deadlock", "assert", "exit", "livelock", "signal", "output", "check", "timeout", "race", "threads"] {
        assert_eq!(files[kind].failure.kind, kind);
    }
    assert_eq!(files["sanitizer"].failure.kind, "sanitizer");
    assert_eq!(files["abort"].failure.message, "SIGABRT");
    for (name, schedule) in &files {
        if let Some(policy) = name.strip_prefix("policy-") {
            assert_eq!(schedule.settings.policy.name.as_str(), policy);
            assert_eq!(schedule.failure.kind, "deadlock");
        }
    }
    let pct = &files["signal"].settings.policy;
    assert!(pct.parameters().any(|parameter| parameter == ("d", 3.0)), "{pct:?}");

    let check = &files["check"];
    assert_eq!(check.sync_functions, ["commit"]);
    assert!(check.environment.contains(&(b"GREETING".to_vec(), b"good day".to_vec())));
    assert_eq!(check.expect.check.as_deref(), Some(&b"grep -q ^1 $RADDLE_STDOUT"[..]));
    let output = &files["output"];
    assert!(output.own_directory);
    assert_eq!(output.expect.output.as_deref(), Some(&b"/home/ada/work/expected"[..]));

    assert_eq!(files["stdin"].stdin, Stdin::Bytes(b"hello".to_vec()));
    assert_eq!(files["stdin-file"].stdin, Stdin::File(b"/home/ada/work/input.txt".to_vec()));
    assert!(matches!(&files["stdin-beside"].stdin, Stdin::Beside(name) if name.ends_with(b".stdin")));
    assert_eq!(files["deadlock"].stdin, Stdin::Null);

    let race = &files["race"];
    assert!(race.settings.fail_on_race);
    assert_eq!(race.suppressions.as_deref(), Some(&b"/home/ada/work/known-races"[..]));
    assert_eq!(files["points-race"].settings.points, Points::Race);
    assert_eq!(files["points-memory"].settings.points, Points::Memory);
    assert!(files.values().any(|schedule| !schedule.racing.is_empty()), "no file knows places that race");
    assert!(files.values().any(|schedule| !schedule.identities.is_empty()), "no file has identities");
    assert_eq!(files["check-deadlock"].check, 1);
    assert_eq!(files["deadlock"].check, 0);
    assert_eq!(files["deadlock"].command, [b"./deadlock"]);
}
