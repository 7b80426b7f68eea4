//! A file in memory (memfd_create(2)), for machines where no folder can be used.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{fcntl_add_seals, memfd_create, MemfdFlags, SealFlags};
use rustix::io::Errno;

/// A file in memory that has a path, for as long as this value lives.
#[derive(Debug)]
pub struct MemoryFile {
    file: File,
}

impl MemoryFile {
    /// A file with this content, sealed against changes.
    pub fn new(name: &str, content: &[u8]) -> io::Result<MemoryFile> {
        let mut file = File::from(create(name)?);
        file.write_all(content)?;
        fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        Ok(MemoryFile { file })
    }

    /// The path. It names this process, not the one that opens it, so that programs need not inherit the descriptor: an
    /// extra descriptor is something that a program can observe.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }
}

fn create(name: &str) -> rustix::io::Result<OwnedFd> {
    // With the slash, /proc/PID/maps says /memfd:/NAME: code that looks for a file name there finds NAME.
    let name = format!("/{name}");
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // The file is mapped, not executed, and a system may insist on the flag that says so. Linux before 6.3 lacks it.
    match memfd_create(&name, flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => memfd_create(&name, flags),
        result => result,
    }
}
