//! What is mapped where in a process: `/proc/PID/maps`.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// One line of `/proc/PID/maps`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapping {
    pub start: u64,
    pub end: u64,
    pub executable: bool,
    /// Where in the file the mapping starts.
    pub offset: u64,
    pub inode: u64,
    /// The file, or a name in brackets such as `[vdso]`; empty for anonymous memory. A file that
    /// was deleted keeps the mark that the kernel appends.
    pub name: OsString,
}

impl Mapping {
    /// What a person calls it: the name of the file without its folders.
    pub(super) fn short_name(&self) -> String {
        let bytes = self.name.as_bytes();
        let path = Path::new(OsStr::from_bytes(bytes.strip_suffix(b" (deleted)").unwrap_or(bytes)));
        match path.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => "[anonymous]".into(),
        }
    }
}

/// All mappings of a process, in the order of their addresses.
#[derive(Debug, Default)]
pub(super) struct Maps(Vec<Mapping>);

impl Maps {
    pub(super) fn of(pid: i32) -> io::Result<Self> {
        Ok(Self::parse(&std::fs::read(format!("/proc/{pid}/maps"))?))
    }

    fn parse(text: &[u8]) -> Self {
        Maps(text.split(|&byte| byte == b'\n').filter_map(line).collect())
    }

    /// The mapping that an address lies in.
    pub(super) fn at(&self, address: u64) -> Option<&Mapping> {
        self.index(address).map(|index| &self.0[index])
    }

    /// The mapping of the start of the file that an address lies in: where its ELF header is.
    pub(super) fn start_of_file(&self, address: u64) -> Option<&Mapping> {
        let index = self.index(address)?;
        let wanted = &self.0[index];
        if wanted.name.is_empty() {
            return None;
        }
        self.0[..=index]
            .iter()
            .rev()
            .find(|other| other.offset == 0 && other.name == wanted.name && other.inode == wanted.inode)
    }

    fn index(&self, address: u64) -> Option<usize> {
        let index = self.0.partition_point(|mapping| mapping.end <= address);
        (self.0.get(index)?.start <= address).then_some(index)
    }
}

/// Reads a line such as `7f12a000-7f12b000 r-xp 00001000 08:01 1234   /lib/libc.so.6`.
fn line(line: &[u8]) -> Option<Mapping> {
    let (range, rest) = word(line)?;
    let (permissions, rest) = word(rest)?;
    let (offset, rest) = word(rest)?;
    let (_device, rest) = word(rest)?;
    let (inode, rest) = word(rest)?;
    let (start, end) = std::str::from_utf8(range).ok()?.split_once('-')?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    Some(Mapping {
        start: hex(start)?,
        end: hex(end)?,
        executable: permissions.get(2) == Some(&b'x'),
        offset: hex(std::str::from_utf8(offset).ok()?)?,
        inode: std::str::from_utf8(inode).ok()?.parse().ok()?,
        name: OsString::from_vec(unescape(rest.trim_ascii_start())),
    })
}

fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// The kernel writes a newline in a name as `\012`, and nothing else is escaped.
fn unescape(name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&first, tail)) = rest.split_first() {
        match rest.strip_prefix(b"\\012") {
            Some(tail) => {
                plain.push(b'\n');
                rest = tail;
            }
            None => {
                plain.push(first);
                rest = tail;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"\
555555554000-555555555000 r--p 00000000 fe:00 77                         /home/me/a b\\012c
555555555000-555555556000 r-xp 00001000 fe:00 77                         /home/me/a b\\012c
7ffff7d00000-7ffff7d01000 rw-p 00000000 00:00 0 \n\
7ffff7fc9000-7ffff7fcb000 r-xp 00000000 00:00 0                          [vdso]
7ffff7fcb000-7ffff7fcc000 r--p 00000000 fe:00 12                         /lib/old.so (deleted)
";

    #[test]
    fn a_file_is_found_from_any_of_its_parts() {
        let maps = Maps::parse(TEXT);
        let code = maps.at(0x5555_5555_5010).unwrap();
        assert!(code.executable);
        assert_eq!(code.name, "/home/me/a b\nc");
        assert_eq!(maps.start_of_file(0x5555_5555_5010).unwrap().start, 0x5555_5555_4000);
    }

    #[test]
    fn names_for_people() {
        let maps = Maps::parse(TEXT);
        assert_eq!(maps.at(0x7fff_f7d0_0000).unwrap().short_name(), "[anonymous]");
        assert_eq!(maps.at(0x7fff_f7fc_9000).unwrap().short_name(), "[vdso]");
        assert_eq!(maps.at(0x7fff_f7fc_b000).unwrap().short_name(), "old.so");
    }

    #[test]
    fn addresses_outside_are_nowhere() {
        let maps = Maps::parse(TEXT);
        assert!(maps.at(0).is_none());
        assert!(maps.at(0x5555_5555_6000).is_none());
        assert!(maps.at(u64::MAX).is_none());
        assert!(maps.start_of_file(0x7fff_f7d0_0000).is_none(), "anonymous memory has no start");
    }
}
