//! Which shared libraries a program loads.
//!
//! The answer depends on RPATH, RUNPATH, `LD_LIBRARY_PATH`, the cache of `ldconfig`, the processor
//! (glibc-hwcaps) and the loader's own default folders. The only thing that has all of it right is
//! the loader itself, so the program's own loader is asked (`ld.so --list`, which is what `ldd`
//! does). It maps the program and its libraries but runs none of their code.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// A shared library that a program loads when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// The name that is asked for (DT_NEEDED), for example `libstdc++.so.6`.
    pub name: String,
    /// Where the loader finds it; `None` when it finds it nowhere.
    pub path: Option<PathBuf>,
}

/// Why the libraries of a program are not known.
#[derive(Debug, thiserror::Error)]
pub enum LibrariesError {
    /// The loader that the program names cannot be started.
    #[error("the program's loader {loader} cannot be started: {source}")]
    NoLoader {
        /// The loader, as the program names it (PT_INTERP).
        loader: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The loader refused the program.
    #[error("the loader {loader} cannot load the program ({status}): {message}")]
    Refused {
        /// The loader, as the program names it (PT_INTERP).
        loader: PathBuf,
        /// How the loader ended.
        status: ExitStatus,
        /// What it wrote to standard error.
        message: String,
    },
}

/// Asks a program's loader which libraries it would load, in its order. The loader
/// itself is one of them; what the kernel maps by itself (the vdso) is not.
///
/// `library_path` stands for `LD_LIBRARY_PATH`; without it, the environment's counts.
pub fn loaded(program: &Path, loader: &Path, library_path: Option<&OsStr>) -> Result<Vec<Library>, LibrariesError> {
    let mut command = Command::new(loader);
    if let Some(path) = library_path {
        command.env("LD_LIBRARY_PATH", path);
    }
    let output = command
        .arg("--list")
        .arg(program)
        // What is preloaded into raddle is not the program's own.
        .env_remove("LD_PRELOAD")
        .stdin(Stdio::null())
        .output()
        .map_err(|source| LibrariesError::NoLoader { loader: loader.into(), source })?;
    if !output.status.success() {
        return Err(LibrariesError::Refused {
            loader: loader.into(),
            status: output.status,
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        });
    }
    Ok(parse(&output.stdout))
}

/// Reads lines of the forms `NAME => PATH (0x…)`, `NAME => not found` and `PATH (0x…)`.
fn parse(listing: &[u8]) -> Vec<Library> {
    listing.split(|&byte| byte == b'\n').filter_map(line).collect()
}

fn line(line: &[u8]) -> Option<Library> {
    let line = line.trim_ascii();
    let arrow = line.windows(4).position(|part| part == b" => ");
    let (name, target) = match arrow {
        Some(at) => (&line[..at], &line[at + 4..]),
        None => {
            let path = without_address(line)?;
            // The kernel's own object has a name without a path; the loader has no arrow.
            let file = path.contains(&b'/').then(|| Path::new(OsStr::from_bytes(path)))?;
            (file.file_name()?.as_bytes(), line)
        }
    };
    let path = without_address(target).map(|path| PathBuf::from(OsStr::from_bytes(path)));
    Some(Library { name: String::from_utf8_lossy(name).into_owned(), path })
}

/// The path before ` (0x00007f…)`, which every line of a library that was found ends with.
fn without_address(text: &[u8]) -> Option<&[u8]> {
    let at = text.windows(4).rposition(|part| part == b" (0x")?;
    Some(&text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_listing() {
        let listing = b"\tlinux-vdso.so.1 (0x00007ffc9d5f2000)\n\
            \tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f1e5c8d0000)\n\
            \tlibours.so => /home/me/with space/libours.so (0x00007f1e5c000000)\n\
            \tlibgone.so.3 => not found\n\
            \t/opt/exact.so (0x00007f1e5bf00000)\n\
            \t/lib64/ld-linux-x86-64.so.2 (0x00007f1e5c9f5000)\n";
        let found = |name: &str, path: &str| Library { name: name.into(), path: Some(path.into()) };
        assert_eq!(
            parse(listing),
            [
                found("libm.so.6", "/lib/x86_64-linux-gnu/libm.so.6"),
                found("libours.so", "/home/me/with space/libours.so"),
                Library { name: "libgone.so.3".into(), path: None },
                found("exact.so", "/opt/exact.so"),
                found("ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2"),
            ]
        );
    }
}
