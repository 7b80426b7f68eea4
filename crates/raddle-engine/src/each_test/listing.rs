//! Starting a test program to list its tests.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::EachTestError;
use crate::os::ask::ask;

/// Listing takes milliseconds; a program that takes longer runs its tests instead.
const LIMIT: Duration = Duration::from_secs(60);

/// What a listing must end with to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// The exit status 0.
    Success,
    /// Any exit status: Catch2 before version 3 returns the number of tests.
    AnyExit,
}

/// What a program prints when started with these arguments. `options` are those of them that ask
/// for the list, for messages.
pub(super) fn listing(
    program: &Path,
    arguments: &[OsString],
    options: &str,
    expect: Expect,
) -> Result<String, EachTestError> {
    let answer = ask(Command::new(program).args(arguments), LIMIT)
        .map_err(|source| EachTestError::NotStarted { path: program.into(), source })?;
    let Some(status) = answer.status else {
        return Err(EachTestError::Slow { path: program.into(), options: options.into(), limit: LIMIT });
    };
    let is_listing = match expect {
        Expect::Success => status.success(),
        Expect::AnyExit => status.code().is_some(),
    };
    if !is_listing {
        let message = answer.message();
        return Err(EachTestError::Failed { path: program.into(), options: options.into(), status, message });
    }
    Ok(answer.output)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, expect: Expect) -> Result<String, EachTestError> {
        listing(Path::new("/bin/sh"), &["-c".into(), script.into()], "-c", expect)
    }

    #[test]
    fn what_is_printed_and_how_it_ends() {
        assert_eq!(shell("echo a; echo b >&2", Expect::Success).unwrap(), "a\n");
        assert_eq!(shell("echo a; exit 16", Expect::AnyExit).unwrap(), "a\n");
        let error = shell("echo why >&2; exit 3", Expect::Success).unwrap_err().to_string();
        assert_eq!(error, "/bin/sh -c ended with exit status: 3 instead of listing its tests: why");
        assert!(matches!(shell("kill -9 $$", Expect::AnyExit), Err(EachTestError::Failed { .. })));
    }
}
