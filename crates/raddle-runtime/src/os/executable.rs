//! What exec would make of a file: a program into which the loader loads what LD_PRELOAD names, another one, or an error.

use core::ffi::{c_char, c_int, CStr};

use crate::os::sys;
use crate::syscall;

/// A file that the kernel executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// glibc's loader loads the runtime into it.
    Dynamic,
    /// It is linked statically or for another libc, is for another kind of processor, or gains rights when it starts.
    Foreign,
}

/// Scripts whose interpreters are scripts: the kernel follows so many.
const DEEPEST: usize = 5;

/// What execveat(2) with these arguments would start; `None`: nothing.
///
/// # Safety
/// `name` is ended by a zero, or whatever the kernel is to find wrong.
pub unsafe fn kind(directory: c_int, name: *const c_char, flags: c_int) -> Option<Kind> {
    // SAFETY: the caller's path, which the kernel reads first; a descriptor of ours.
    unsafe {
        let ways = flags & (libc::AT_EMPTY_PATH | libc::AT_SYMLINK_NOFOLLOW) | libc::AT_EACCESS;
        if syscall!(libc::SYS_faccessat2, directory, name, libc::X_OK, ways) != 0 {
            return None;
        }
        let fd = match *name {
            0 => open(libc::AT_FDCWD, sys::descriptor_path(directory).as_ptr().cast()),
            _ => open(directory, name),
        };
        let kind = fd.map_or(Some(Kind::Foreign), |fd| kind_of_open(fd, DEEPEST));
        fd.into_iter().for_each(sys::close);
        kind
    }
}

unsafe fn open(directory: c_int, name: *const c_char) -> Option<c_int> {
    // SAFETY: the caller's path.
    let fd =
        unsafe { syscall!(libc::SYS_openat, directory, name, libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK) };
    (fd >= 0).then_some(fd as c_int)
}

unsafe fn kind_of_open(fd: c_int, depth: usize) -> Option<Kind> {
    let mut start = [0u8; 256];
    // SAFETY: a buffer of the length given, whose last byte stays zero.
    unsafe {
        let mut stat: libc::stat = core::mem::zeroed();
        if syscall!(libc::SYS_fstat, fd, &mut stat as *mut _) != 0 || stat.st_mode & libc::S_IFMT != libc::S_IFREG {
            return None;
        }
        let length = read_at(fd, &mut start[..255], 0);
        if start.starts_with(b"#!") {
            let interpreter = interpreter(&mut start).filter(|_| depth > 0)?;
            let fd = open(libc::AT_FDCWD, interpreter.as_ptr());
            let kind = fd.and_then(|fd| kind_of_open(fd, depth - 1));
            fd.into_iter().for_each(sys::close);
            return kind;
        }
        if !start.starts_with(b"\x7fELF") || length < 64 {
            return None;
        }
        let ordinary = is_of_this_machine(&start) && !gains_rights(fd, &stat) && has_loader(fd, &start);
        Some(if ordinary { Kind::Dynamic } else { Kind::Foreign })
    }
}

fn read_at(fd: c_int, buffer: &mut [u8], offset: u64) -> usize {
    // SAFETY: a buffer of the length given.
    unsafe { syscall!(libc::SYS_pread64, fd, buffer.as_mut_ptr(), buffer.len(), offset) }.max(0) as usize
}

/// The interpreter that the first line of a script names.
fn interpreter(line: &mut [u8; 256]) -> Option<&CStr> {
    let is_blank = |byte: &u8| b" \t".contains(byte);
    let from = 2 + line[2..].iter().position(|byte| !is_blank(byte))?;
    let to = from + line[from..].iter().position(|byte| is_blank(byte) || b"\n\0".contains(byte))?;
    line[to] = 0;
    CStr::from_bytes_until_nul(&line[from..]).ok()
}

fn is_of_this_machine(header: &[u8; 256]) -> bool {
    const CLASS_64: u8 = 2;
    const X86_64: u16 = 62;
    header[4] == CLASS_64 && u16::from_le_bytes([header[18], header[19]]) == X86_64
}

/// setuid, setgid and file capabilities: the loader loads nothing into such a program.
unsafe fn gains_rights(fd: c_int, stat: &libc::stat) -> bool {
    // SAFETY: plain system calls; a name ended by zero.
    unsafe {
        let (user, group) = (syscall!(libc::SYS_geteuid) as u32, syscall!(libc::SYS_getegid) as u32);
        let capable = || syscall!(libc::SYS_fgetxattr, fd, c"security.capability".as_ptr(), 0, 0) > 0;
        stat.st_mode & libc::S_ISUID != 0 && stat.st_uid != user
            || stat.st_mode & libc::S_ISGID != 0 && stat.st_gid != group
            || user != 0 && capable()
    }
}

/// Whether the program is started by glibc's loader.
fn has_loader(fd: c_int, header: &[u8; 256]) -> bool {
    const SIZE: usize = 56;
    const INTERPRETER: u32 = 3;
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    let (table, count) = (number(&header[32..40]), number(&header[56..58]));
    for i in 0..count {
        let mut entry = [0u8; SIZE];
        if read_at(fd, &mut entry, table.wrapping_add(i * SIZE as u64)) < SIZE {
            return false;
        }
        if number(&entry[..4]) as u32 == INTERPRETER {
            let mut path = [0u8; 128];
            let length = read_at(fd, &mut path, number(&entry[8..16])).min(number(&entry[32..40]) as usize);
            return path[..length].windows(LOADER.len()).any(|part| part == LOADER);
        }
    }
    false
}

const LOADER: &[u8] = b"/ld-linux-x86-64.so";

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::os::unix::fs::PermissionsExt;

    fn kind_of(path: &str) -> Option<Kind> {
        let path = CString::new(path).expect("no zero byte");
        // SAFETY: ended by a zero.
        unsafe { kind(libc::AT_FDCWD, path.as_ptr(), 0) }
    }

    fn script(folder: &std::path::Path, name: &str, text: &str) -> String {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("executable");
        path.to_str().expect("text").to_owned()
    }

    #[test]
    fn programs_and_scripts_are_told_apart() {
        let folder = std::env::temp_dir().join(format!("raddle-executable-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder");
        let shell = script(&folder, "shell", "#!/bin/sh -e\nexit\n");
        let cases = [
            ("/bin/sh".to_owned(), Some(Kind::Dynamic)),
            (shell.clone(), Some(Kind::Dynamic)),
            (script(&folder, "deep", &format!("#! {shell}")), Some(Kind::Dynamic)),
            (script(&folder, "lost", "#!/no/such/interpreter\n"), None),
            (script(&folder, "text", "echo without a first line\n"), None),
            // The header of a program without a table.
            (script(&folder, "static", &format!("\x7fELF\x02{:13}\x3e\0{:60}", "", "")), Some(Kind::Foreign)),
            ("/".to_owned(), None),
            ("/no/such/program".to_owned(), None),
            ("/etc/passwd".to_owned(), None),
        ];
        let found: Vec<_> = cases.iter().map(|(path, _)| kind_of(path)).collect();
        std::fs::remove_dir_all(&folder).expect("removed");
        assert_eq!(found, cases.map(|(_, kind)| kind));
    }

    #[test]
    fn a_descriptor_may_stand_for_the_file() {
        use std::os::fd::AsRawFd;
        let file = std::fs::File::open("/bin/sh").expect("opened");
        // SAFETY: a text ended by a zero.
        let kind = unsafe { kind(file.as_raw_fd(), c"".as_ptr(), libc::AT_EMPTY_PATH) };
        assert_eq!(kind, Some(Kind::Dynamic));
    }
}
