//! Projects that the tests write, without dependencies from outside, and `cargo raddle` in them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::support::{outcome, runtime, Folder};

pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A folder with a project, and `cargo raddle` in it.
pub struct Project(Folder);

impl Project {
    /// From files by their paths.
    pub fn new(files: &[(&str, &str)]) -> Project {
        let folder = Folder::new();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        Project(folder)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// As cargo starts it.
    pub fn command(&self, arguments: &[&str]) -> Command {
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
    pub fn run(&self, arguments: &[&str]) -> (i32, String) {
        outcome(&mut self.command(arguments))
    }

    /// What must succeed.
    pub fn good(&self, arguments: &[&str]) -> String {
        let (status, text) = self.run(arguments);
        assert_eq!(status, 0, "{arguments:?}: {text}");
        text
    }

    /// What was built for the target.
    pub fn built(&self, visible: &str, path: &str) -> PathBuf {
        self.path().join("target/raddle").join(visible).join(TARGET).join(path)
    }
}

/// A workspace of three packages: a library with a build script, a macro, and a program that uses both.
pub fn shop() -> &'static Project {
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

pub fn manifest(name: &str, more: &str) -> String {
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
