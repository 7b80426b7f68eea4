//! What is instrumented, and what of the user's own flags, wrappers and profiles stays.

use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSection, ObjectSymbol};

use super::project::{manifest, shop, Project, TARGET};
use super::support::outcome;

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
