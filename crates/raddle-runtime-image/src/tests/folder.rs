//! Folders that are fit for the library, and others.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{chown, symlink, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use rustix::process::{geteuid, Uid};
use tempfile::tempdir;

use super::{again, text, SMALL};
use crate::folder::{candidates, Folder, Refusal};

/// The folder for the processes that this test starts.
const VARIABLE: &str = "RADDLE_TEST_FOLDER";

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("is there").mode() & 0o7777
}

fn provide(folder: &Path) -> Result<PathBuf, Refusal> {
    Folder::at(folder.to_path_buf()).provide(&SMALL.file_name(), SMALL.bytes, geteuid())
}

fn paths(variables: &[(&str, &str)], temporary: &str) -> Vec<PathBuf> {
    let value = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
    let folders = candidates(Uid::from_raw(1000), value, Path::new(temporary));
    folders.iter().map(|folder| folder.path().to_path_buf()).collect()
}

#[test]
fn the_cache_comes_before_temporary_files() {
    let all = [("XDG_CACHE_HOME", "/cache"), ("HOME", "/home/ada")];
    let expected = ["/cache/raddle", "/home/ada/.cache/raddle", "/tmp/raddle-1000"];
    assert_eq!(paths(&all, "/tmp"), expected.map(PathBuf::from));
    assert_eq!(paths(&all[1..], "/tmp"), [&expected[1], &expected[2]].map(PathBuf::from));
}

#[test]
fn paths_that_are_not_absolute_do_not_count() {
    assert_eq!(paths(&[], "/tmp"), [PathBuf::from("/tmp/raddle-1000")]);
    assert_eq!(paths(&[("XDG_CACHE_HOME", "cache"), ("HOME", "")], "/tmp"), [PathBuf::from("/tmp/raddle-1000")]);
    assert_eq!(paths(&[("HOME", "ada")], "tmp"), [] as [PathBuf; 0]);
}

#[test]
fn the_folder_is_made_for_the_user_alone() {
    let home = tempdir().expect("a folder");
    let folder = home.path().join(".cache/raddle");
    let path = provide(&folder).expect("a file");
    assert_eq!(path, folder.join("libraddle_runtime-0123456789abcdef.so"));
    assert_eq!(fs::read(&path).expect("a file"), SMALL.bytes);
    assert_eq!((mode(&home.path().join(".cache")), mode(&folder), mode(&path)), (0o700, 0o700, 0o400));
    let inode = || fs::metadata(&path).expect("a file").ino();
    let before = inode();
    provide(&folder).expect("a file");
    assert_eq!(inode(), before, "an intact file is left alone");
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1, "nothing else is left there");
}

#[test]
fn a_home_is_not_made() {
    let root = tempdir().expect("a folder");
    let refused = provide(&root.path().join("nobody/.cache/raddle"));
    assert!(matches!(refused, Err(Refusal::Io { .. })), "{refused:?}");
}

#[test]
fn a_damaged_file_is_replaced() {
    let home = tempdir().expect("a folder");
    let folder = home.path().join("raddle");
    let path = provide(&folder).expect("a file");
    let replace = |content: &[u8]| {
        fs::remove_file(&path).expect("a file of ours");
        fs::write(&path, content).expect("a file of ours");
        fs::set_permissions(&path, Permissions::from_mode(0o400)).expect("a file of ours");
    };
    let elsewhere = home.path().join("elsewhere");
    fs::write(&elsewhere, SMALL.bytes).expect("a file");
    let damages: [&dyn Fn(); 7] = [
        &|| replace(b"not really a librarY"),
        &|| replace(b"not really"),
        &|| replace(b""),
        &|| replace(&[SMALL.bytes, b"!"].concat()),
        &|| fs::set_permissions(&path, Permissions::from_mode(0o620)).expect("a file of ours"),
        &|| {
            fs::remove_file(&path).expect("a file of ours");
            symlink(&elsewhere, &path).expect("a link");
        },
        &|| {
            // Only root can give a file away.
            let _ = chown(&path, Some(1), None);
        },
    ];
    for (i, damage) in damages.into_iter().enumerate() {
        damage();
        assert_eq!(provide(&folder).expect("a file"), path, "{i}");
        let metadata = fs::symlink_metadata(&path).expect("a file");
        assert_eq!(fs::read(&path).expect("a file"), SMALL.bytes, "{i}");
        assert_eq!((metadata.is_file(), mode(&path), metadata.uid()), (true, 0o400, geteuid().as_raw()), "{i}");
    }
}

#[test]
fn a_folder_that_others_can_write_to_is_refused() {
    let home = tempdir().expect("a folder");
    let folder = home.path().join("raddle");
    fs::create_dir(&folder).expect("a folder");
    for bits in [0o777, 0o770, 0o1777, 0o702] {
        fs::set_permissions(&folder, Permissions::from_mode(bits)).expect("a folder of ours");
        let refused = provide(&folder).expect_err("is not safe");
        assert!(matches!(refused, Refusal::WritableByOthers { mode, .. } if mode == bits), "{refused}");
        assert!(refused.to_string().contains(&format!("(mode {bits:o}); run `chmod 700` on it")), "{refused}");
    }
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0);
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("a folder of ours");
    provide(&folder).expect("others may look");
}

#[test]
fn a_folder_of_another_user_is_refused() {
    let home = tempdir().expect("a folder");
    let folder = home.path().join("raddle");
    fs::create_dir(&folder).expect("a folder");
    // To a user with another number, the folder of this process is foreign.
    let other = Uid::from_raw(geteuid().as_raw() + 1);
    let refused = Folder::at(folder).provide(&SMALL.file_name(), SMALL.bytes, other).expect_err("is foreign");
    assert!(matches!(refused, Refusal::Foreign { .. }), "{refused}");
    assert!(refused.to_string().contains("belongs to user"), "{refused}");
}

#[test]
fn a_link_is_refused() {
    let home = tempdir().expect("a folder");
    let (real, link, file) = (home.path().join("real"), home.path().join("link"), home.path().join("file"));
    fs::create_dir(&real).expect("a folder");
    symlink(&real, &link).expect("a link");
    symlink("nowhere", home.path().join("dangling")).expect("a link");
    File::create(&file).expect("a file");
    for path in [link, home.path().join("dangling"), file] {
        let refused = provide(&path);
        assert!(matches!(refused, Err(Refusal::NotAFolder { .. })), "{refused:?}");
    }
}

#[test]
fn the_next_folder_is_used_when_one_is_refused() {
    let home = tempdir().expect("a folder");
    let (unsafe_one, good) = (home.path().join("unsafe"), home.path().join("good"));
    fs::create_dir(&unsafe_one).expect("a folder");
    fs::set_permissions(&unsafe_one, Permissions::from_mode(0o777)).expect("a folder of ours");
    let folders = [unsafe_one, good.clone()].map(Folder::at);
    let library = SMALL.file_in(&folders, geteuid()).expect("a file");
    assert_eq!(library.path().parent(), Some(&*good));
    assert!(!library.is_in_memory());
    assert!(matches!(library.refusals(), [Refusal::WritableByOthers { .. }]));
}

#[test]
fn libraries_that_nobody_uses_are_removed() {
    let home = tempdir().expect("a folder");
    let folder = home.path().join("raddle");
    fs::create_dir(&folder).expect("a folder");
    let file = |name: &str, days: u64| {
        let file = File::create(folder.join(name)).expect("a file");
        file.set_modified(SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60)).expect("a file of ours");
    };
    let kept = ["libraddle_runtime-1.so", "something-else.so"];
    file(kept[0], 20);
    file(kept[1], 100);
    file("libraddle_runtime-2.so", 40);
    file(".libraddle_runtime-x7Kp2q", 40);
    let path = provide(&folder).expect("a file");
    let entries = fs::read_dir(&folder).expect("a folder").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names, [path.file_name().expect("a name"), kept[0].as_ref(), kept[1].as_ref()]);
    // Being used is what keeps a file young.
    let modified = || fs::metadata(&path).expect("a file").modified().expect("a time");
    let old = SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60);
    File::open(&path).expect("a file").set_modified(old).expect("a file of ours");
    provide(&folder).expect("a file");
    assert!(modified() > old + Duration::from_secs(1000));
}

#[test]
fn many_processes_at_once_get_whole_files() {
    if let Some(folder) = std::env::var_os(VARIABLE) {
        let folder = Folder::at(folder.into());
        for round in 0..200 {
            let name = format!("{round}-{}", SMALL.file_name());
            let path = folder.provide(&name, SMALL.bytes, geteuid()).expect("a file");
            assert_eq!(fs::read(path).expect("a file"), SMALL.bytes);
        }
        return;
    }
    let home = tempdir().expect("a folder");
    let folder = home.path().join("raddle");
    let test = "tests::folder::many_processes_at_once_get_whole_files";
    let start = |_| {
        let mut command = again(test, (VARIABLE, &folder));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("this program")
    };
    let processes: Vec<_> = (0..4).map(start).collect();
    for process in processes {
        let output = process.wait_with_output().expect("this program");
        assert!(output.status.success(), "{}", text(&output));
    }
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 200, "temporary files are left");
}
