//! The header in folders of all kinds.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::process::geteuid;
use tempfile::tempdir;

use crate::folder::Folder;
use crate::{Header, NoFolder, HEADER};

fn provide(folders: &[PathBuf]) -> Result<PathBuf, NoFolder> {
    let folders: Vec<_> = folders.iter().cloned().map(Folder::at).collect();
    HEADER.folder_in(&folders, geteuid())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("is there").permissions().mode() & 0o7777
}

#[test]
fn it_has_a_folder_of_its_own() {
    let home = tempdir().expect("a folder");
    let folder = provide(&[home.path().join("cache/raddle")]).expect("a folder");
    assert_eq!(folder.parent(), Some(&*home.path().join("cache/raddle")));
    let entries: Vec<_> = fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(entries, [Header::NAME]);
    assert_eq!(fs::read_to_string(folder.join(Header::NAME)).expect("a file"), HEADER.text());
    assert_eq!((mode(&folder), mode(&folder.join(Header::NAME))), (0o700, 0o400));
}

#[test]
fn build_systems_see_no_change() {
    let home = tempdir().expect("a folder");
    let folders = [home.path().join("raddle")];
    let header = provide(&folders).expect("a folder").join(Header::NAME);
    let old = SystemTime::now() - Duration::from_secs(100 * 24 * 60 * 60);
    File::open(&header).expect("a file").set_modified(old).expect("a file of ours");
    assert_eq!(provide(&folders).expect("a folder").join(Header::NAME), header);
    assert_eq!(fs::metadata(&header).expect("a file").modified().expect("a time"), old);
}

#[test]
fn a_changed_header_is_replaced() {
    let home = tempdir().expect("a folder");
    let folders = [home.path().join("raddle")];
    let header = provide(&folders).expect("a folder").join(Header::NAME);
    fs::set_permissions(&header, Permissions::from_mode(0o600)).expect("a file of ours");
    fs::write(&header, "#error").expect("a file of ours");
    provide(&folders).expect("a folder");
    assert_eq!(fs::read_to_string(&header).expect("a file"), HEADER.text());
}

#[test]
fn unsafe_folders_are_refused() {
    let home = tempdir().expect("a folder");
    let (colon, shared, good) = (home.path().join("a:b"), home.path().join("shared"), home.path().join("good"));
    fs::create_dir(&shared).expect("a folder");
    fs::set_permissions(&shared, Permissions::from_mode(0o777)).expect("a folder of ours");
    let folder = provide(&[colon.clone(), shared.clone(), good.clone()]).expect("a folder");
    assert_eq!(folder.parent(), Some(&*good));
    let error = provide(&[colon, shared]).expect_err("there is no other").to_string();
    assert!(error.contains("a:b has a colon in its name") && error.contains("(mode 777)"), "{error}");
    assert!(error.ends_with("set XDG_CACHE_HOME to a folder that you own"), "{error}");
    // Another user could have put a header into a folder that was made before.
    let folder = provide(std::slice::from_ref(&good)).expect("a folder");
    fs::set_permissions(&folder, Permissions::from_mode(0o777)).expect("a folder of ours");
    assert!(provide(&[good]).is_err());
}
