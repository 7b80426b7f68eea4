//! `cargo raddle` on real projects, which are written here and have no dependencies from outside.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use object::{Object, ObjectSection, ObjectSymbol};
use support::{outcome, runtime, Folder};

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A folder with a project, and `cargo raddle` in it.
struct Project(Folder);

impl Project {
    /// From files by their paths.
    fn new(files: &[(&str, &str)]) -> Project {
        let folder = Folder::new();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        Project(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// As cargo starts it.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
        command.arg("raddle").args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command.env("RADDLE_RUNTIME", runtime()).env("CARGO_NET_OFFLINE", "true");
        // What the cargo of this test has set is none of the project's.
        for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_INCREMENTAL"] {
            command.env_remove(name);
        }
        command
    }

    /// The exit status and all that was printed.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        outcome(&mut self.command(arguments))
    }

    /// What must succeed.
    fn good(&self, arguments: &[&str]) -> String {
        let (status, text) = self.run(arguments);
        assert_eq!(status, 0, "{arguments:?}: {text}");
        text
    }

    /// What was built for the target.
    fn built(&self, visible: &str, path: &str) -> PathBuf {
        self.path().join("target/raddle").join(visible).join(TARGET).join(path)
    }
}

/// A workspace of three packages: a library with a build script, a macro, and a program that uses both.
fn shop() -> &'static Project {
    static SHOP: OnceLock<Project> = OnceLock::new();
    SHOP.get_or_init(|| {
        Project::new(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"ledger\", \"macros\", \"shop\"]\nresolver = \"2\"\n"),
            ("ledger/Cargo.toml", &manifest("ledger", "[features]\nstrict = []\n")),
            ("ledger/build.rs", BUILD_SCRIPT),
            ("ledger/src/lib.rs", LEDGER),
            ("ledger/data.txt", "seven"),
            ("macros/Cargo.toml", &manifest("macros", "[lib]\nproc-macro = true\n")),
            ("macros/src/lib.rs", MACROS),
            (
                "shop/Cargo.toml",
                &manifest(
                    "shop",
                    "[dependencies]\nledger = { path = \"../ledger\" }\nmacros = { path = \"../macros\" }\n",
                ),
            ),
            ("shop/src/main.rs", SHOP_MAIN),
            ("shop/tests/whole.rs", WHOLE),
        ])
    })
}

fn manifest(name: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"1.2.3\"\nedition = \"2021\"\n{more}")
}

const BUILD_SCRIPT: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering};
static STEPS: AtomicU32 = AtomicU32::new(0);
fn main() {
    STEPS.fetch_add(1, Ordering::SeqCst);
    println!("cargo::rustc-env=LEDGER_STEPS={}", STEPS.load(Ordering::SeqCst));
}
"#;

const LEDGER: &str = r#"//! ```
//! assert_eq!(ledger::total(2), 2);
//! ```
use std::sync::{Arc, Mutex};
pub fn total(threads: u64) -> u64 {
    let total = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..threads)
        .map(|_| Arc::clone(&total))
        .map(|total| std::thread::spawn(move || *total.lock().unwrap() += 1))
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let total = *total.lock().unwrap();
    total
}
#[cfg(test)]
mod tests {
    #[test]
    fn adds_up() {
        assert_eq!(super::total(2), 2);
    }
    #[test]
    fn alone() {
        assert_eq!(1 + 1, 2);
    }
    #[test]
    #[should_panic(expected = "broke")]
    fn panics() {
        let thread = std::thread::spawn(|| 1);
        assert_eq!(thread.join().unwrap(), 1);
        panic!("broke");
    }
    #[test]
    #[ignore]
    fn slow() {
        assert_eq!(super::total(1), 1);
    }
    #[test]
    fn returns() -> Result<(), std::num::ParseIntError> {
        assert_eq!("2".parse::<u64>()?, super::total(2));
        Ok(())
    }
    #[test]
    fn finds_what_cargo_sets() {
        let variable = |name: &str| std::env::var(name).unwrap();
        assert_eq!(variable("CARGO_PKG_NAME"), "ledger");
        assert_eq!(variable("CARGO_PKG_VERSION_MINOR"), "2");
        assert_eq!(variable("LEDGER_STEPS"), "1");
        assert!(variable("LD_LIBRARY_PATH").contains("rustlib/"));
        assert_eq!(std::env::current_dir().unwrap().to_str(), Some(&*variable("CARGO_MANIFEST_DIR")));
        assert!(std::env::var("RADDLE_CARGO_WRAPPER").is_err() && std::env::var("RUSTC_WRAPPER").is_err());
        assert_eq!(std::fs::read_to_string("data.txt").unwrap(), "seven");
    }
    #[cfg(feature = "strict")]
    #[test]
    fn strict() {
        assert_eq!(super::total(3), 3);
    }
}
"#;

const MACROS: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering};
static CALLS: AtomicU32 = AtomicU32::new(41);
#[proc_macro]
pub fn answer(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
    CALLS.fetch_add(1, Ordering::SeqCst);
    CALLS.load(Ordering::SeqCst).to_string().parse().unwrap()
}
"#;

const SHOP_MAIN: &str = r#"
fn main() {
    let words: Vec<_> = std::env::args().skip(1).collect();
    println!("total {} answer {} words {}", ledger::total(2), macros::answer!(), words.join(","));
    assert!(!words.contains(&"fail".to_string()));
}
"#;

/// A deadlock that needs no visible atomics: the calls of `yield_now` are schedule points.
const WHOLE: &str = r#"
use std::sync::{Arc, Mutex};
#[test]
fn takes_turns() {
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let (c, d) = (Arc::clone(&a), Arc::clone(&b));
    let thread = std::thread::spawn(move || {
        let _c = c.lock().unwrap();
        std::thread::yield_now();
        let _d = d.lock().unwrap();
    });
    {
        let _b = b.lock().unwrap();
        std::thread::yield_now();
        let _a = a.lock().unwrap();
    }
    thread.join().unwrap();
}
#[test]
fn finds_the_program() {
    assert!(std::path::Path::new(env!("CARGO_BIN_EXE_shop")).exists());
}
"#;

/// The names of a file's symbols that begin with `__tsan_`.
fn hooks(file: &Path) -> Vec<String> {
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let object = object::File::parse(&*bytes).expect("an ELF file");
    let names = object.symbols().filter_map(|symbol| symbol.name().ok().map(str::to_owned));
    names.filter(|name| name.starts_with("__tsan_")).collect()
}

/// The only file in a folder, at any depth, whose name begins and ends like this.
fn find(folder: &Path, beginning: &str, end: &str) -> PathBuf {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => walk(&entry.path(), found),
                _ => found.push(entry.path()),
            }
        }
    }
    let mut files = Vec::new();
    walk(folder, &mut files);
    let fits = |file: &&PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(beginning) && name.ends_with(end)
    };
    files.iter().find(fits).unwrap_or_else(|| panic!("no {beginning}…{end} in {}", folder.display())).clone()
}

#[test]
fn programs_are_instrumented_and_what_builds_them_is_not() {
    let shop = shop();
    shop.good(&["build", "--workspace"]);
    let program = shop.built("atomics", "debug/shop");
    let found = hooks(&program);
    assert!(found.iter().any(|name| name == "__tsan_atomic32_compare_exchange_val"), "{found:?}");
    // The hooks are there; without raddle they do what the program asks for.
    let alone = Command::new(&program).arg("a").output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&alone.stdout), "total 2 answer 42 words a\n");
    let host = shop.path().join("target/raddle/atomics/debug");
    let script = find(&host.join("build"), "build_script_build-", "");
    assert_eq!(hooks(&script), Vec::<String>::new());
    assert_eq!(hooks(&find(&host, "libmacros-", ".so")), Vec::<String>::new());
    // Nothing of the user's own builds is touched.
    assert!(!shop.path().join("target/debug").exists());
}

#[test]
fn tests_are_explored_one_by_one() {
    let explore = |jobs| {
        let text = shop().good(&["test", "-p", "ledger", "--seed", "1", "--runs", "25", "--jobs", jobs]);
        let lines: Vec<_> =
            text.lines().filter(|line| line.starts_with("test ") && !line.contains("result:")).collect();
        (lines.join("\n"), text)
    };
    let (lines, text) = explore("1");
    for line in [
        "test tests::alone ... not concurrent (10 runs)",
        "test tests::finds_what_cargo_sets ... not concurrent (10 runs)",
        "test tests::slow ... ignored",
        "running 6 tests",
        "note: doctests of ledger are not explored; `cargo test --doc` runs them",
    ] {
        assert!(text.contains(line), "{line} is missing in {text}");
    }
    for concurrent in ["adds_up", "panics", "returns"] {
        assert!(lines.contains(&format!("test tests::{concurrent} ... ok (25 runs, ")), "{lines}");
    }
    let result = "test result: ok. 3 passed; 0 failed; 2 not concurrent; 1 ignored; 0 filtered out; finished in ";
    assert!(text.contains(result), "{text}");
    assert_eq!(explore("3").0, lines);
}

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

#[test]
fn tests_are_chosen_as_with_cargo_test() {
    let shop = shop();
    let listed = |before: &[&str], after: &[&str]| {
        let text = shop.good(&[&["test", "-p", "ledger"], before, &["--", "--list"], after].concat());
        let names = text.lines().filter_map(|line| line.strip_suffix(": test")?.strip_prefix("tests::"));
        names.map(str::to_string).collect::<Vec<_>>()
    };
    let all = ["adds_up", "alone", "finds_what_cargo_sets", "panics", "returns", "slow"];
    assert_eq!(listed(&[], &[]), all);
    assert_eq!(listed(&["a"], &["--skip", "panic", "--skip", "cargo"]), ["adds_up", "alone"]);
    assert_eq!(listed(&["tests::a"], &["--exact"]), Vec::<String>::new());
    assert_eq!(listed(&[], &["--exact", "tests::alone", "tests::slow"]), ["alone", "slow"]);
    assert_eq!(listed(&[], &["--ignored"]), ["slow"]);
    assert_eq!(listed(&["--features", "strict", "strict"], &[]), ["strict"]);

    let explore =
        |arguments: &[&str]| shop.good(&[&["test", "-p", "ledger", "--seed", "1", "--runs", "12"], arguments].concat());
    let text = explore(&["adds", "slow", "--", "--include-ignored"]);
    assert!(text.contains("running 2 tests") && text.contains("test tests::slow ... ok (12 runs, "), "{text}");
    assert!(text.contains("2 passed; 0 failed; 0 not concurrent; 0 ignored; 4 filtered out"), "{text}");
    let text = explore(&["no-such-name"]);
    assert!(text.contains("running 0 tests") && text.contains("6 filtered out"), "{text}");
}

#[test]
fn a_pass_needs_something_under_control() {
    let (status, text) = shop().run(&["test", "-p", "ledger", "alone", "--runs", "5"]);
    assert_eq!(status, 3, "{text}");
    assert!(text.contains("test tests::alone ... not concurrent (5 runs)"), "{text}");
    assert!(text.contains("nothing was under control"), "{text}");
}

#[test]
fn a_test_that_was_always_cut_has_not_passed() {
    let shop = shop();
    let junit = shop.path().join("cut.xml");
    let files = ["--junit", junit.to_str().expect("text")];
    let arguments = ["test", "-p", "ledger", "tests::a", "--runs", "12", "--seed", "1", "--max-steps", "3"];
    let (status, text) = shop.run(&[&arguments[..], &files].concat());
    assert_eq!(status, 3, "{text}");
    assert!(text.contains("test result: cut. "), "{text}");
    assert!(text.contains("test tests::adds_up ... cut (12 runs, all cut at the limit of steps)"), "{text}");
    assert!(
        text.contains("0 passed; 0 failed; 1 not concurrent; 0 ignored; 4 filtered out; 1 cut; finished"),
        "{text}"
    );
    assert!(text.contains("note: 1 test never came to an end"), "{text}");
    let xml = std::fs::read_to_string(junit).expect("a file");
    assert!(xml.contains("<skipped message=\"cut: every run was cut"), "{xml}");
}

const LATE: &str = r#"
#[cfg(test)]
mod tests {
    #[test]
    fn quick() {
        std::thread::spawn(|| 1).join().unwrap();
    }
    #[test]
    fn slow() {
        std::thread::spawn(|| loop { std::hint::black_box(0); }).join().unwrap();
    }
}
"#;

#[test]
fn a_test_without_a_run_has_not_passed() {
    let late = Project::new(&[("Cargo.toml", &manifest("late", "")), ("src/lib.rs", LATE)]);
    let options = ["test", "--runs", "1000000", "--time", "0.5", "--run-timeout", "60"];
    let (status, text) = late.run(&[&options[..], &["--junit", "it.xml", "--json", "it.json"]].concat());
    assert_eq!(status, 3, "{text}");
    assert!(text.contains("test tests::slow ... not explored (0 runs: the time was over before"), "{text}");
    assert!(text.contains("test result: not explored. 1 passed; 0 failed;"), "{text}");
    let read = |name: &str| std::fs::read_to_string(late.path().join(name)).expect("a file");
    assert!(read("it.xml").contains("<skipped message=\"not explored: "), "{}", read("it.xml"));
    assert!(read("it.json").contains("\"verdict\": \"not_explored\""), "{}", read("it.json"));
}

#[test]
fn a_program_is_explored_with_its_arguments() {
    let shop = shop();
    let run = |words: &[&str]| shop.run(&[&["run", "-p", "shop", "--runs", "20", "--seed", "1", "--"], words].concat());
    let (status, text) = run(&["a", "b"]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("no failure in 20 runs"), "{text}");
    let (status, text) = run(&["fail"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("assertion failure found in run 1"), "{text}");
}

#[test]
fn users_flags_and_wrappers_stay() {
    let main = "use std::sync::atomic::*; static A: AtomicU8 = AtomicU8::new(0);\n\
                fn main() { A.store(1, Ordering::SeqCst); println!(\"{} {}\", cfg!(special), cfg!(configured)); }\n";
    let project = Project::new(&[
        ("Cargo.toml", &manifest("flags", "[lints.rust]\nunexpected_cfgs = \"allow\"\n")),
        ("src/main.rs", main),
        ("wrap/wrap.sh", "#!/bin/sh\necho \"$@\" >> \"$(dirname \"$0\")/log\"\nexec \"$@\"\n"),
    ]);
    let wrapper = project.path().join("wrap/wrap.sh");
    std::fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
    let log = || std::fs::read_to_string(project.path().join("wrap/log")).unwrap_or_default();
    let printed = |program: &Path| {
        let output = Command::new(program).output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).trim().to_string()
    };

    let mut command = project.command(&["build"]);
    let (status, text) = outcome(command.env("RUSTFLAGS", "--cfg special").env("RUSTC_WRAPPER", &wrapper));
    assert_eq!(status, 0, "{text}");
    let program = project.built("atomics", "debug/flags");
    assert_eq!(printed(&program), "true false");
    assert!(hooks(&program).contains(&"__tsan_atomic8_store".to_string()));
    assert!(log().contains("--crate-name flags"), "{}", log());

    // In the project's configuration, with a target directory of its own, optimised and without debug information.
    std::fs::remove_file(project.path().join("wrap/log")).expect("removed");
    let config = "[build]\nrustflags = [\"--cfg\", \"configured\"]\nrustc-wrapper = \"wrap/wrap.sh\"\n\
                  target-dir = \"elsewhere\"\n";
    std::fs::create_dir(project.path().join(".cargo")).expect("a folder");
    std::fs::write(project.path().join(".cargo/config.toml"), config).expect("a file");
    project.good(&["build", "--memory", "--release"]);
    let program = project.path().join("elsewhere/raddle/memory").join(TARGET).join("release/flags");
    assert_eq!(printed(&program), "false true");
    assert!(log().contains("--crate-name flags"), "{}", log());
    let bytes = std::fs::read(&program).expect("read");
    let object = object::File::parse(&*bytes).expect("an ELF file");
    assert!(object.section_by_name(".debug_line").is_some());
    assert!(object.section_by_name(".note.raddle.offers").is_some_and(|note| note.size() == 24));
}

#[test]
fn every_access_is_visible_with_memory_in_every_profile() {
    let main = "use std::sync::Mutex; pub static mut PLAIN: u32 = 0; static LOCK: Mutex<u64> = Mutex::new(0);\n\
                #[inline(never)] fn add() { unsafe { PLAIN += 1; } }\n\
                fn main() { add(); *LOCK.lock().unwrap() += 1; println!(\"{}\", unsafe { PLAIN }); }\n";
    let profiles = "[profile.thin]\ninherits = \"release\"\nlto = \"thin\"\n\
                    [profile.fat]\ninherits = \"release\"\nlto = true\ncodegen-units = 1\npanic = \"abort\"\nstrip = true\n";
    let project = Project::new(&[("Cargo.toml", &manifest("plain", profiles)), ("src/main.rs", main)]);
    for profile in ["dev", "release", "thin", "fat"] {
        project.good(&["build", "--memory", "--profile", profile]);
        let folder = if profile == "dev" { "debug" } else { profile };
        let program = project.built("memory", &format!("{folder}/plain"));
        let output = Command::new(&program).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n", "{profile}");
        // That hooks are linked in says little: they come all together. That they are called is in the code.
        let code = Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(&program).output().expect("objdump");
        let code = String::from_utf8_lossy(&code.stdout).into_owned();
        for hook in ["__tsan_read4", "__tsan_write4", "__tsan_atomic32_compare_exchange_val"] {
            assert!(code.contains(&format!("<{hook}>\n")), "{profile}: {hook}");
        }
    }
}

/// Two threads that each read a counter and write it, in atomics alone.
#[test]
fn a_race_between_atomics_is_found() {
    let library = "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};\n\
                   #[test]\nfn counts() {\n    static N: AtomicU32 = AtomicU32::new(0);\n    \
                   let add = || N.store(N.load(SeqCst) + 1, SeqCst);\n    \
                   let thread = std::thread::spawn(add);\n    add();\n    thread.join().unwrap();\n    \
                   assert_eq!(N.load(SeqCst), 2);\n}\n";
    let project = Project::new(&[("Cargo.toml", &manifest("race", "")), ("src/lib.rs", library)]);
    let (status, text) = project.run(&["test", "--seed", "1", "--runs", "200"]);
    assert_eq!(status, 101, "{text}");
    assert!(text.contains("test counts ... FAILED") && text.contains("replay it: raddle replay"), "{text}");
}

/// The locks of an instrumented crate are points; what the compiled standard library does alone is not.
#[test]
fn what_is_hidden_is_said_and_nothing_else() {
    let library = "use std::sync::{Mutex, RwLock};\nuse std::thread;\n\
                   static LOCK: Mutex<u32> = Mutex::new(0);\nstatic MANY: RwLock<u32> = RwLock::new(0);\n\
                   fn add() { for _ in 0..3 { *LOCK.lock().unwrap() += 1; *MANY.write().unwrap() += 1; } }\n\
                   #[test]\nfn locks() {\n    let threads = [thread::spawn(add), thread::spawn(add)];\n    \
                   add();\n    assert!(*MANY.read().unwrap() > 0);\n    \
                   threads.into_iter().for_each(|thread| thread.join().unwrap());\n}\n\
                   #[test]\nfn parks() {\n    let main = thread::current();\n    \
                   let other = thread::spawn(move || main.unpark());\n    thread::park();\n    \
                   other.join().unwrap();\n}\n";
    let project = Project::new(&[("Cargo.toml", &manifest("hidden", "")), ("src/lib.rs", library)]);
    let uncontrolled = |more: &[&str]| {
        let json = project.path().join("results.json");
        let common = ["test", "--seed", "1", "--runs", "200", "--json", json.to_str().expect("text")];
        project.good(&[&common[..], more].concat());
        let value: serde_json::Value = serde_json::from_slice(&std::fs::read(json).expect("a file")).expect("JSON");
        ["locks", "parks"].map(|name| {
            let tests = value["tests"].as_array().expect("a list");
            let test = tests.iter().find(|test| test["test"] == name).expect("the test");
            assert!(test["distinct_schedules"].as_u64() > Some(1), "{test}");
            test["uncontrolled"].to_string()
        })
    };
    let [locks, parks] = uncontrolled(&[]);
    assert_eq!(locks, "[]");
    assert!(parks.contains("atomics inside the precompiled standard library are not schedule points"), "{parks}");
    // Without points at atomics, they are hidden as in any program.
    let [locks, _] = uncontrolled(&["--points", "sync"]);
    assert_eq!(locks, "[\"uncontended locks are not schedule points\"]");
}

/// What the standard library orders would not be seen.
#[test]
fn races_are_no_failures_without_an_instrumented_standard_library() {
    let library = "#[test]\nfn joins() {\n    std::thread::spawn(|| ()).join().unwrap();\n}\n";
    let project = Project::new(&[("Cargo.toml", &manifest("races", "")), ("src/lib.rs", library)]);
    let (status, text) = project.run(&["test", "--fail-on", "race"]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("cargo raddle --std"), "{text}");
}

/// One race, and what the standard library orders: each hands plain memory from thread to thread.
const ORDERED: &str = r#"
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{mpsc, Arc, Condvar, Mutex};
use std::thread;

static mut PLAIN: u32 = 0;
fn add() {
    unsafe { PLAIN += 1 };
}
#[test]
fn races() {
    let other = thread::spawn(add);
    add();
    other.join().unwrap();
}
#[test]
fn channel() {
    let (sender, receiver) = mpsc::channel();
    let (bounded, answers) = mpsc::sync_channel(1);
    let other = thread::spawn(move || {
        for message in receiver {
            let message: Box<u32> = message;
            bounded.send(vec![*message; 3]).unwrap();
        }
    });
    for i in 0..3 {
        sender.send(Box::new(i)).unwrap();
    }
    drop(sender);
    assert_eq!(answers.iter().map(|answer| answer[2]).sum::<u32>(), 3);
    other.join().unwrap();
}
#[test]
fn park() {
    static mut SHARED: u32 = 0;
    // No order but that of unpark and park.
    static READY: AtomicBool = AtomicBool::new(false);
    let main = thread::current();
    let other = thread::spawn(move || {
        unsafe { SHARED = 7 };
        READY.store(true, Relaxed);
        main.unpark();
    });
    thread::park();
    if READY.load(Relaxed) {
        assert_eq!(unsafe { *&raw const SHARED }, 7);
    }
    other.join().unwrap();
}
#[test]
fn mutex_and_condvar() {
    let both = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
    let theirs = Arc::clone(&both);
    let other = thread::spawn(move || {
        theirs.0.lock().unwrap().push(1);
        theirs.1.notify_one();
    });
    let mut list = both.0.lock().unwrap();
    while list.is_empty() {
        list = both.1.wait(list).unwrap();
    }
    list.push(2);
    drop(list);
    other.join().unwrap();
    assert_eq!(*both.0.lock().unwrap(), [1, 2]);
}
"#;

/// Whether the toolchain has the sources of the standard library (`rustup component add rust-src`).
fn has_std_sources() -> bool {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().expect("rustc").stdout;
    Path::new(String::from_utf8_lossy(&sysroot).trim()).join("lib/rustlib/src/rust/library/std").is_dir()
}

#[test]
fn an_instrumented_standard_library_orders_what_it_should() {
    let project = Project::new(&[("Cargo.toml", &manifest("ordered", "")), ("src/lib.rs", ORDERED)]);
    let mut command = project.command(&["test", "--std", "--fail-on", "race", "--seed", "1", "--runs", "200"]);
    // The standard library has dependencies, which cargo fetches where it has not built one before.
    let (status, text) = outcome(command.env_remove("CARGO_NET_OFFLINE"));
    if !has_std_sources() {
        assert_eq!(status, 2, "{text}");
        assert!(text.contains("--std compiles the standard library anew, and its sources are not installed"), "{text}");
        assert!(text.contains("`rustup component add rust-src` installs them"), "{text}");
        return;
    }
    assert_eq!(status, 101, "{text}");
    for part in [
        "test channel ... ok (200 runs, ",
        "test mutex_and_condvar ... ok (200 runs, ",
        "test park ... ok (200 runs, ",
        "test races ... FAILED (",
        "data race: `ordered::PLAIN`: ",
        "in ordered::add (lib.rs:",
        "test result: FAILED. 3 passed; 1 failed; 0 not concurrent; 0 ignored; 0 filtered out",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[test]
fn tests_of_the_crate_raddle_run_as_checks() {
    let raddle = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates").join("raddle");
    let dependencies =
        format!("[dependencies]\nraddle = {{ path = {raddle:?} }}\n[profile.test]\npanic = \"unwind\"\n");
    let library = "#[raddle::test(runs = 5000)]\nfn hands_over() {\n    let (sender, receiver) = std::sync::mpsc::channel();\n    \
                   let thread = std::thread::spawn(move || sender.send(1).unwrap());\n    \
                   assert_eq!(receiver.recv(), Ok(1));\n    thread.join().unwrap();\n}\n\
                   #[raddle::test]\nfn alone() {}\n#[test]\nfn plain() {}\n";
    let project = Project::new(&[("Cargo.toml", &manifest("checks", &dependencies)), ("src/lib.rs", library)]);
    // With seed 3, the sender unparks a receiver that does not park after all, before a run that is made twice.
    project.good(&["test", "--seed", "3"]);
    let text = project.good(&["test", "--seed", "1"]);
    assert!(text.contains("test hands_over ... ok (5,000 runs, "), "{text}");
    assert!(text.contains("test alone ... not concurrent (10 runs)"), "{text}");
    assert!(text.contains("test plain ... not concurrent (10 runs)"), "{text}");
}

/// Tests that fail in the ways of Rust's test harness, and one that prints.
const HARNESS: &str = r#"
use std::sync::{Arc, Mutex};
use std::thread;
fn both() -> u32 {
    let sum = Arc::new(Mutex::new(0));
    let add = |sum: Arc<Mutex<u32>>| {
        let old = *sum.lock().unwrap();
        *sum.lock().unwrap() = old + 1;
    };
    let threads: Vec<_> = (0..2).map(|_| Arc::clone(&sum)).map(|sum| thread::spawn(move || add(sum))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let sum = *sum.lock().unwrap();
    sum
}
#[test]
fn counts() {
    println!("counting");
    assert_eq!(both(), 2, "one was lost");
}
#[test]
#[should_panic(expected = "broke")]
fn breaks() {
    if both() != 2 {
        panic!("broke");
    }
}
#[test]
fn returns() -> Result<(), String> {
    if both() == 2 { Ok(()) } else { Err("no money".into()) }
}
#[test]
fn mutexes() {
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let (c, d) = (Arc::clone(&a), Arc::clone(&b));
    let left = move || {
        let c = c.lock().unwrap();
        *c + *d.lock().unwrap()
    };
    let left = thread::Builder::new().name("left".into()).spawn(left).unwrap();
    {
        let b = b.lock().unwrap();
        let _ = *b + *a.lock().unwrap();
    }
    left.join().unwrap();
}
#[test]
fn prints() {
    thread::spawn(|| ()).join().unwrap();
    println!("all is well");
    eprintln!("and said so");
}
"#;

#[test]
fn failures_are_told_as_the_harness_tells_them() {
    let project = Project::new(&[("Cargo.toml", &manifest("bank", "")), ("src/lib.rs", HARNESS)]);
    let run = |arguments: &[&str], backtrace: Option<&str>| {
        let mut command = project.command(&[&["test", "--seed", "1"], arguments].concat());
        command.env_remove("RUST_BACKTRACE").envs(backtrace.map(|value| ("RUST_BACKTRACE", value)));
        outcome(&mut command)
    };
    let (status, text) = run(&[], None);
    assert_eq!(status, 101, "{text}");
    for part in [
        "assertion failure: thread 'counts' panicked at src/lib.rs:18:5: assertion `left == right` failed: one was lost; \
         left: 1; right: 2",
        "         bank::counts (",
        "blocked  end of the test",
        "    counting\n",
        "assertion failure: src/lib.rs:22:4: breaks: test did not panic as expected",
        "assertion failure: returns: Error: \"no money\"",
        "deadlock: t1 waits for t2, t2 waits for t1",
        "last locked by t2 (left)",
        "last locked by t1 (mutexes)",
        "test prints ... ok (",
    ] {
        assert!(text.contains(part), "{part:?} is missing: {text}");
    }
    for part in ["RUST_BACKTRACE", "stack backtrace:", "futex", "all is well", "exit status"] {
        assert!(!text.contains(part), "{part:?} is there: {text}");
    }
    let (_, text) = run(&["counts"], Some("1"));
    assert!(text.contains("    stack backtrace:\n") && text.contains("bank::counts\n"), "{text}");
    let (status, text) = run(&["prints", "--", "--nocapture"], None);
    assert!(status == 0 && text.contains("\nall is well\nand said so\ntest prints ... ok ("), "{text}");
    let (_, text) = run(&["prints", "--", "--show-output"], None);
    assert!(text.contains("\nsuccesses:\n\n---- prints stdout ----\nall is well\nand said so\n"), "{text}");
}

#[test]
fn what_is_wrong_is_said() {
    let empty = Project::new(&[]);
    let (status, text) = empty.run(&["test"]);
    assert_eq!(status, 101, "{text}");
    assert!(text.contains("could not find `Cargo.toml`"), "{text}");

    let project = Project::new(&[("Cargo.toml", &manifest("wrong", "")), ("src/lib.rs", "pub fn good() {}\n")]);
    let says = |arguments: &[&str], status: i32, part: &str| {
        let (found, text) = project.run(arguments);
        assert_eq!(found, status, "{arguments:?}: {text}");
        assert!(text.contains(part), "{arguments:?} did not say {part:?} but {text}");
    };
    says(&["test"], 3, "there are no tests here");
    says(&["test", "--target", "wasm32-unknown-unknown"], 2, "--target wasm32-unknown-unknown does not work");
    says(&["test", "--runs", "0"], 2, "--runs 0 makes no sense");
    says(&["run"], 101, "a bin target must be available");
    says(&["build", "--features", "none"], 101, "none");
    says(&["tset"], 2, "unrecognized subcommand");
    if !has_std_sources() {
        says(&["build", "--std"], 2, "`rustup component add rust-src` installs them");
    }
    std::fs::write(project.path().join("src/lib.rs"), "pub fn bad() -> u32 {}\n").expect("a file");
    says(&["test"], 101, "mismatched types");
}
