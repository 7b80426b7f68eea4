//! What is left of a failure: its report, its schedule, and the results in JUnit's XML and in JSON.

use std::process::Command;

use super::project::shop;
use super::support::{outcome, runtime};

#[test]
fn a_failure_has_its_report_and_replays() {
    let shop = shop();
    let junit = shop.path().join("junit.xml");
    let json = shop.path().join("results.json");
    let files = ["--junit", junit.to_str().expect("text"), "--json", json.to_str().expect("text")];
    let arguments = [&["test", "-p", "shop", "--test", "whole", "--seed", "1", "--runs", "200"], &files[..]].concat();
    let (status, text) = shop.run(&arguments);
    assert_eq!(status, 101, "{text}");
    for part in [
        "test finds_the_program ... not concurrent (10 runs)",
        "test takes_turns ... FAILED (",
        "---- takes_turns ----\ndeadlock found in run ",
        "failures:\n    takes_turns\n",
        "test result: FAILED. 0 passed; 1 failed; 1 not concurrent; 0 ignored; 0 filtered out",
        "error: test failed",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let schedule = text.split("replay it: raddle replay ").nth(1).and_then(|rest| rest.lines().next());
    let (status, replayed) = outcome(
        Command::new(env!("CARGO_BIN_EXE_raddle"))
            .args(["replay", schedule.expect("a schedule")])
            .current_dir(shop.path())
            .env("RADDLE_RUNTIME", runtime()),
    );
    assert_eq!(status, 1, "{replayed}");

    let xml = std::fs::read_to_string(junit).expect("a file");
    let elements = well_formed(&xml);
    let count = |name: &str| elements.iter().filter(|element| *element == name).count();
    assert_eq!((count("testsuite"), count("testcase"), count("failure"), count("skipped")), (1, 2, 1, 1), "{xml}");
    assert!(xml.contains("name=\"shop::whole\"") && xml.contains("<failure type=\"deadlock\" message=\""), "{xml}");
    assert!(xml.contains("<skipped message=\"not concurrent: "), "{xml}");

    let value: serde_json::Value = serde_json::from_slice(&std::fs::read(json).expect("a file")).expect("JSON");
    let verdicts: Vec<_> = value["tests"].as_array().expect("a list").iter().map(|t| t["verdict"].clone()).collect();
    assert_eq!(verdicts, ["not_concurrent", "failed"]);
    assert_eq!(value["tests"][1]["failures"][0]["kind"], "deadlock");
}

/// The names of all elements of an XML document, in the order of their beginnings.
fn well_formed(xml: &str) -> Vec<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut names = Vec::new();
    let body = xml.split_once("?>").expect("a declaration").1;
    for part in body.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag has an end");
        assert!(!text.contains('>'), "{text}");
        for entity in part.split('&').skip(1) {
            let name = entity.split_once(';').expect("an entity has an end").0;
            assert!(["amp", "lt", "gt", "quot", "apos"].contains(&name) || name.starts_with('#'), "{name}");
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let name = tag.split([' ', '/']).next().expect("a name");
        names.push(name.to_string());
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    names
}
