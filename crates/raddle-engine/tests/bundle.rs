//! Failures packed here and run as if elsewhere.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use raddle_engine::bundle::{open, pack, BundleError, Manifest, Opened, Role};
use raddle_inspect::build_id::build_id;
use raddle_protocol::{PolicySettings, RunSettings};
use raddle_schedule::{Schedule, Stdin};
use tempfile::TempDir;

// The tests of raddle-inspect compile programs, too.
#[allow(dead_code)]
#[path = "../../raddle-inspect/tests/processes/support.rs"]
mod support;

use support::c;

const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
int answer(void);
static void *run(void *p) { return p; }
int main(int count, char **arguments) {
  char line[80] = "";
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
  FILE *input = count > 1 ? fopen(arguments[1], "r") : 0;
  if (input && fgets(line, sizeof line, input)) printf("input %s", line);
  if (fgets(line, sizeof line, stdin)) printf("stdin %s", line);
  printf("name %s\n", strrchr(arguments[0], '/') + 1);
  return answer();
}
"#;

/// A folder with a program, its library, its inputs and a schedule that names them.
struct Recorded {
    folder: TempDir,
}

impl Recorded {
    fn new() -> Self {
        let library = c("int answer(void) { return 42; }", &["-shared", "-fPIC"]);
        let folder = tempfile::tempdir().unwrap();
        let recorded = Recorded { folder };
        fs::create_dir(recorded.at("libs")).unwrap();
        fs::copy(&library.path, recorded.at("libs/libanswer.so")).unwrap();
        let search = format!("-L{}", recorded.at("libs").display());
        let built = c(PROGRAM, &["-g", &search, "-lanswer"]);
        fs::copy(&built.path, recorded.at("program")).unwrap();
        fs::create_dir(recorded.at("data")).unwrap();
        fs::write(recorded.at("data/input"), "from a file\n").unwrap();
        fs::write(recorded.at("captured"), "from standard input\n").unwrap();
        recorded.write_schedule(|_| {});
        recorded
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_schedule(&self, change: impl FnOnce(&mut Schedule)) {
        let bytes = |path: PathBuf| path.as_os_str().as_bytes().to_vec();
        let mut schedule = Schedule {
            raddle: "0.1.0".into(),
            command: vec![b"./program".to_vec(), b"data/input".to_vec()],
            directory: bytes(self.folder.path().into()),
            environment: vec![(b"LD_LIBRARY_PATH".to_vec(), bytes(self.at("libs")))],
            build_id: build_id(&self.at("program")).unwrap(),
            settings: RunSettings::of(PolicySettings::new("pct", [])),
            stdin: Stdin::Beside(b"captured".to_vec()),
            ..Schedule::default()
        };
        schedule.failure.kind = "exit".into();
        change(&mut schedule);
        fs::write(self.at("failure.schedule"), raddle_schedule::write(&schedule)).unwrap();
    }

    fn pack(&self, output: &Path) -> Result<Manifest, BundleError> {
        pack(&self.at("failure.schedule"), output)
    }
}

/// Runs an unpacked bundle as a replay would, but without control.
fn replay(opened: &Opened, name: &str) -> Output {
    let text = fs::read(&opened.schedule).unwrap();
    let schedule = raddle_schedule::parse(&text).unwrap();
    let arguments: Vec<OsString> = schedule.command[1..].iter().map(|word| OsStr::from_bytes(word).into()).collect();
    let (file, words) = opened.command(OsStr::new(name), &arguments);
    let Stdin::Beside(stdin) = &schedule.stdin else { panic!("{:?}", schedule.stdin) };
    let stdin = opened.schedule.with_file_name(OsStr::from_bytes(stdin));
    let mut command = Command::new(file);
    std::os::unix::process::CommandExt::arg0(&mut command, &words[0]);
    command
        .args(&words[1..])
        .current_dir(OsStr::from_bytes(&schedule.directory))
        .env_remove("LD_LIBRARY_PATH")
        .envs(
            schedule
                .environment
                .iter()
                .map(|(name, value)| (OsStr::from_bytes(name).to_owned(), OsStr::from_bytes(value).to_owned())),
        )
        .stdin(fs::File::open(stdin).unwrap())
        .output()
        .unwrap()
}

fn assert_replays(opened: &Opened) {
    let output = replay(opened, "./program");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(42), "{text}{errors}");
    assert_eq!(text, "input from a file\nstdin from standard input\nname program\n", "{errors}");
}

#[test]
fn a_failure_replays_when_everything_else_is_gone() {
    for name in ["failure.tar", "failure.tar.gz", "failure.tgz"] {
        let recorded = Recorded::new();
        let elsewhere = tempfile::tempdir().unwrap();
        let bundle = elsewhere.path().join(name);
        assert!(!recorded.pack(&bundle).unwrap().files.is_empty());
        drop(recorded);

        let opened = open(&bundle).unwrap().expect("a bundle");
        assert_eq!(opened.interpreter, None, "this machine's C library is the recorded one");
        assert!(opened.differences().is_empty(), "{:?}", opened.differences());
        assert!(opened.preload_first().is_empty());
        assert_replays(&opened);
        let place = opened.directory.path().to_owned();
        drop(opened);
        assert!(!place.exists(), "nothing is left behind");
    }
}

#[test]
fn the_manifest_says_what_came_from_where() {
    let recorded = Recorded::new();
    let bundle = recorded.at("failure.tar");
    recorded.pack(&bundle).unwrap();
    let opened = open(&bundle).unwrap().unwrap();
    let manifest = &opened.manifest;
    let file = |name: &str| manifest.files.iter().find(|file| file.file == name).unwrap();
    assert_eq!(file("bin/program").identity, build_id(&recorded.at("program")).unwrap());
    assert_eq!(file("lib/libanswer.so").role, Role::Library);
    assert_eq!(Path::new(&file("lib/libanswer.so").from), recorded.at("libs/libanswer.so"));
    assert_eq!(file("lib/libc.so.6").role, Role::CLibrary);
    assert_eq!(file("lib/ld-linux-x86-64.so.2").role, Role::Loader);
    assert_eq!(file("work/data/input").role, Role::Input);
    assert!(manifest.glibc.as_deref().is_some_and(|version| version.starts_with("2.")));
}

#[test]
fn where_it_was_recorded_the_directory_is_kept() {
    let recorded = Recorded::new();
    let bundle = recorded.at("failure.tar");
    recorded.pack(&bundle).unwrap();
    let opened = open(&bundle).unwrap().unwrap();
    let text = fs::read(&opened.schedule).unwrap();
    let schedule = raddle_schedule::parse(&text).unwrap();
    assert_eq!(OsStr::from_bytes(&schedule.directory), recorded.folder.path());
}

/// Changes the manifest of an uncompressed bundle, and leaves the rest as it is.
fn rewrite(bundle: &Path, change: impl FnOnce(&mut Manifest)) {
    let mut archive = tar::Archive::new(fs::File::open(bundle).unwrap());
    let mut entries = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut contents = Vec::new();
        entry.read_to_end(&mut contents).unwrap();
        entries.push((entry.header().clone(), entry.path().unwrap().into_owned(), contents));
    }
    let mut manifest: Manifest = serde_json::from_slice(&entries[0].2).unwrap();
    change(&mut manifest);
    entries[0].2 = serde_json::to_vec(&manifest).unwrap();
    let mut builder = tar::Builder::new(fs::File::create(bundle).unwrap());
    for (mut header, path, contents) in entries {
        header.set_size(contents.len() as u64);
        builder.append_data(&mut header, path, &contents[..]).unwrap();
    }
    builder.finish().unwrap();
}

/// Makes this machine look too old for a bundle.
fn from_the_future(manifest: &mut Manifest) {
    manifest.glibc = Some("2.999".into());
    for file in manifest.files.iter_mut().filter(|file| file.role == Role::Loader) {
        file.identity = "another".into();
    }
}

#[test]
fn by_the_bundles_own_loader_on_an_older_machine() {
    let recorded = Recorded::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let bundle = elsewhere.path().join("failure.tar");
    recorded.pack(&bundle).unwrap();
    drop(recorded);
    rewrite(&bundle, from_the_future);
    let opened = open(&bundle).unwrap().unwrap();
    let loader = opened.interpreter.as_ref().expect("the bundle's loader");
    assert!(loader.starts_with(opened.directory.path()));
    assert!(opened.library_path.join("libc.so.6").exists());
    assert!(opened.differences().is_empty(), "nothing is used from this machine");
    assert_replays(&opened);
}

/// The user's own preloaded libraries come along, and preloading works under both loaders.
#[test]
fn preloaded_libraries() {
    let source = "#include <stdio.h>\n__attribute__((constructor)) static void hello(void) \
        { fputs(\"preloaded\\n\", stderr); }";
    let library = c(source, &["-shared", "-fPIC"]);
    for change in [|_: &mut Manifest| {}, from_the_future] {
        let recorded = Recorded::new();
        let elsewhere = tempfile::tempdir().unwrap();
        let bundle = elsewhere.path().join("failure.tar");
        fs::copy(&library.path, recorded.at("hello.so")).unwrap();
        recorded.write_schedule(|schedule| {
            schedule.environment.push((b"LD_PRELOAD".to_vec(), b"./hello.so /no/such.so".to_vec()));
        });
        recorded.pack(&bundle).unwrap();
        drop(recorded);
        rewrite(&bundle, change);
        let opened = open(&bundle).unwrap().unwrap();
        assert_eq!(opened.manifest.missing.iter().filter(|what| what.contains("/no/such.so")).count(), 1);
        let output = replay(&opened, "./program");
        assert_eq!(output.stderr, b"preloaded\n", "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(42));
    }
}

#[test]
fn a_program_that_has_changed_is_not_packed() {
    let recorded = Recorded::new();
    recorded.write_schedule(|schedule| schedule.build_id = "1234".into());
    let error = recorded.pack(&recorded.at("failure.tar")).unwrap_err();
    assert!(format!("{error:#}").contains("has changed since the recording"), "{error:#}");
    assert!(!recorded.at("failure.tar").exists(), "no half of a bundle is left");
}

#[test]
fn a_place_that_cannot_be_written() {
    let recorded = Recorded::new();
    let error = recorded.pack(Path::new("/no/such/folder/failure.tar")).unwrap_err();
    assert!(format!("{error:#}").contains("cannot be written"), "{error:#}");
}

#[test]
fn other_files_are_no_bundles() {
    let recorded = Recorded::new();
    assert!(open(&recorded.at("failure.schedule")).unwrap().is_none());
    assert!(open(&recorded.at("program")).unwrap().is_none());
    fs::write(recorded.at("empty"), "").unwrap();
    assert!(open(&recorded.at("empty")).unwrap().is_none());
    fs::write(recorded.at("gzip"), [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    assert!(open(&recorded.at("gzip")).unwrap().is_none());
    let mut other = tar::Builder::new(fs::File::create(recorded.at("other.tar")).unwrap());
    other.append_path_with_name(recorded.at("captured"), "readme").unwrap();
    other.finish().unwrap();
    drop(other);
    assert!(open(&recorded.at("other.tar")).unwrap().is_none());
    assert!(open(Path::new("/no/such/file")).is_err());
}

#[test]
fn damaged_and_hostile_bundles_are_refused() {
    let refused = |spoil: &dyn Fn(&Path), why: &str| {
        let recorded = Recorded::new();
        let bundle = recorded.at("failure.tar");
        recorded.pack(&bundle).unwrap();
        spoil(&bundle);
        let error = format!("{:#}", open(&bundle).map(|_| ()).expect_err(why));
        assert!(error.contains(why), "{error}");
    };
    let with_manifest = |change: fn(&mut Manifest)| move |bundle: &Path| rewrite(bundle, change);
    refused(&with_manifest(|m| m.version = 99), "this raddle knows formats up to 1");
    refused(&with_manifest(|m| m.files[1].file = "../program".into()), "would be written elsewhere");
    refused(&with_manifest(|m| m.files[1].file = "/tmp/program".into()), "would be written elsewhere");
    refused(&with_manifest(|m| m.files[1].size = u64::MAX), "larger than 16 GiB");
    refused(&with_manifest(|m| m.files.truncate(2)), "is not in its manifest");
    refused(&with_manifest(|m| m.files[1].hash.push('0')), "bin/program is damaged");
    refused(&|bundle| fs::write(bundle, &fs::read(bundle).unwrap()[..20_000]).unwrap(), "");
    let add = |kind: tar::EntryType| {
        move |bundle: &Path| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(0);
            let bytes = fs::read(bundle).unwrap();
            // The end of an archive is two empty blocks of 512 bytes.
            let file = fs::OpenOptions::new().write(true).open(bundle).unwrap();
            file.set_len(bytes.len() as u64 - 1024).unwrap();
            let mut file = fs::OpenOptions::new().append(true).open(bundle).unwrap();
            let mut builder = tar::Builder::new(&mut file);
            builder.append_link(&mut header, "raddle-bundle/schedule", "/etc/passwd").unwrap();
            builder.finish().unwrap();
        }
    };
    refused(&add(tar::EntryType::Symlink), "is not in its manifest, or there twice");
}
