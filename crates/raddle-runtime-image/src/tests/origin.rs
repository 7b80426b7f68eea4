//! Libraries of this build, of another one, and other files.

use std::fs;

use raddle_protocol::block::LAYOUT;
use tempfile::tempdir;

use crate::{check_layout, LayoutError, Origin, RUNTIME};

#[test]
fn the_embedded_library_comes_from_this_build() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("runtime.so");
    fs::write(&path, RUNTIME.bytes()).expect("a file");
    let origin = Origin::of_library(&path).expect("a file");
    assert_eq!(origin, Some(Origin { layout: LAYOUT, version: env!("CARGO_PKG_VERSION").into() }));
    check_layout(&path).expect("the same layout");
}

#[test]
fn a_library_of_another_build_is_refused() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("runtime.so");
    let mut content = RUNTIME.bytes().to_vec();
    let owner = b"\x03\0\0\0raddle\0\0";
    let note = content.windows(owner.len()).position(|window| window == owner).expect("a note");
    content[note + owner.len()..][..8].copy_from_slice(&0x1234u64.to_le_bytes());
    fs::write(&path, content).expect("a file");
    let refused = check_layout(&path).expect_err("another layout");
    assert!(matches!(&refused, LayoutError::Other { origin, .. } if origin.layout == 0x1234), "{refused}");
    for part in ["runtime.so was built from different sources", "0000000000001234", &format!("expected {LAYOUT:016x}")]
    {
        assert!(refused.to_string().contains(part), "{refused}");
    }
}

#[test]
fn what_does_not_say_where_it_comes_from_is_let_through() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("file");
    // Program headers that are not there, and a note that is cut.
    for content in [&b""[..], b"#!/bin/sh\n", &RUNTIME.bytes()[..64], &RUNTIME.bytes()[..540]] {
        fs::write(&path, content).expect("a file");
        assert_eq!(Origin::of_library(&path).expect("a file"), None);
        check_layout(&path).expect("not refused");
    }
    assert!(check_layout(std::path::Path::new("/bin/true")).is_ok());
    assert!(matches!(check_layout(&folder.path().join("none")), Err(LayoutError::Unreadable { .. })));
}
