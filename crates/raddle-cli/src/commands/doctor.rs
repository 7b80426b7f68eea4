//! `raddle doctor`: what works on this machine and what does not, why it matters, and what to do.

mod toolchains;

use std::ffi::{CStr, OsString};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use raddle_engine::campaign::{Campaign, End, Outcome};
use raddle_engine::options::Options;
use raddle_engine::os::sys;
use raddle_engine::plan::coverage::Coverage;
use raddle_engine::runtime::{locate, RuntimeError, Source};
use raddle_inspect::stack::Unwinder;
use raddle_protocol::Points;
use raddle_report::exit_code;
use raddle_runtime_image::{NoFolder, HEADER};

use super::print;
use crate::arguments;
use crate::error::Error;

/// The oldest glibc that has all that the runtime interposes in one library.
const GLIBC: (u32, u32) = (2, 34);

/// prctl's PR_SET_SYSCALL_USER_DISPATCH and PR_SYS_DISPATCH_ON (linux/prctl.h).
const SYSCALL_USER_DISPATCH: libc::c_int = 59;
const DISPATCH_ON: libc::c_ulong = 1;

/// HWCAP2_FSGSBASE (asm/hwcap2.h).
const FSGSBASE: libc::c_ulong = 2;

/// One thing that was looked at.
struct Probe {
    name: String,
    /// `None` when it is there, else what is missing.
    problem: Option<Problem>,
}

/// How bad it is that something is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// raddle is of no use without it.
    Fatal,
    /// raddle works, with a limit.
    Limit,
    /// As before, and the limit is one of permissions, which a container can be given.
    Forbidden,
    /// Something more could be had.
    Note,
}

/// Something that is not there.
struct Problem {
    /// How bad that is.
    weight: Weight,
    seen: String,
    /// Why it matters, and what to do.
    advice: &'static str,
}

pub fn run(args: &arguments::Doctor) -> Result<u8, Error> {
    let option = args.runtime.as_deref();
    let located = locate(option);
    let (runtime, fibers) = runtime(option, &located);
    // A library that does not work is not tried again with each compiler.
    let usable = located.as_ref().ok().filter(|_| runtime.problem.is_none()).map(|(path, _)| path.as_path());
    let mut probes = vec![this_program(), machine(), kernel(), glibc(), memory_files(), addresses(), runtime];
    probes.extend(refused(&located));
    probes.extend([dispatch(), backtraces(), fsgsbase(), fibers, cores(), header(HEADER.folder())]);
    probes.extend(toolchains::compilers(usable));
    probes.extend(toolchains::rust());
    print(&text(&probes, in_container()));
    let usable = !probes.iter().any(|probe| probe.problem.as_ref().is_some_and(|p| p.weight == Weight::Fatal));
    Ok(if usable { exit_code::OK } else { exit_code::USAGE })
}

fn text(probes: &[Probe], container: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    for probe in probes {
        let _ = match &probe.problem {
            None => writeln!(out, "ok       {}", probe.name),
            Some(problem) => {
                let word = if problem.weight == Weight::Note { "note" } else { "missing" };
                writeln!(out, "{word:<8} {}: {}\n         {}", probe.name, problem.seen, problem.advice)
            }
        };
    }
    let missing = probes.iter().filter_map(|probe| probe.problem.as_ref().filter(|p| p.weight != Weight::Note));
    let _ = match (missing.clone().count(), missing.clone().any(|p| p.weight == Weight::Fatal)) {
        (0, _) => writeln!(out, "\nraddle works here"),
        (_, false) => writeln!(out, "\nraddle works here, with the limits above"),
        (_, true) => writeln!(out, "\nraddle does not work here"),
    };
    if container && missing.clone().any(|p| p.weight == Weight::Forbidden) {
        let _ = writeln!(
            out,
            "this is a container: `docker run --security-opt seccomp=unconfined` lifts most of what it forbids"
        );
    }
    out
}

fn good(name: impl Into<String>) -> Probe {
    Probe { name: name.into(), problem: None }
}

fn bad(name: impl Into<String>, weight: Weight, seen: impl Into<String>, advice: &'static str) -> Probe {
    Probe { name: name.into(), problem: Some(Problem { weight, seen: seen.into(), advice }) }
}

fn note(name: impl Into<String>, seen: impl Into<String>, advice: &'static str) -> Probe {
    bad(name, Weight::Note, seen, advice)
}

fn this_program() -> Probe {
    let version = concat!("raddle ", env!("CARGO_PKG_VERSION"));
    // A program that cannot name its own file has none any more.
    good(match std::env::current_exe() {
        Ok(path) => format!("{version} ({})", path.display()),
        Err(_) => version.to_string(),
    })
}

fn machine() -> Probe {
    match std::env::consts::ARCH {
        "x86_64" => good("x86-64"),
        other => bad("x86-64", Weight::Fatal, format!("this is {other}"), "no other processor is supported"),
    }
}

fn kernel() -> Probe {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    if version(release) >= Some((5, 11)) {
        return good(format!("kernel {release}"));
    }
    bad(
        format!("kernel {release}"),
        Weight::Limit,
        "older than 5.11",
        "system calls that programs make outside of libc are not seen; use a newer kernel",
    )
}

fn glibc() -> Probe {
    // SAFETY: glibc returns a static string.
    let text = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) }.to_string_lossy();
    if version(&text) >= Some(GLIBC) {
        return good(format!("glibc {text}"));
    }
    bad(format!("glibc {text}"), Weight::Fatal, "older than 2.34", "the runtime needs a newer glibc; update the system")
}

/// The first two numbers of a version.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn memory_files() -> Probe {
    match sys::memfd(c"raddle-doctor") {
        Ok(_) => good("files in memory"),
        Err(error) => bad(
            "files in memory",
            Weight::Fatal,
            format!("memfd_create failed: {error}"),
            "raddle communicates with programs through them; allow memfd_create",
        ),
    }
}

fn addresses() -> Probe {
    let name = "fixed addresses";
    if sys::can_fix_addresses() {
        return good(name);
    }
    bad(
        name,
        Weight::Forbidden,
        "personality(ADDR_NO_RANDOMIZE) is not permitted",
        "programs whose behaviour depends on addresses may differ from start to start; allow personality",
    )
}

/// The path and the origin of the runtime library, or why there is none.
type Located = Result<(PathBuf, Source), RuntimeError>;

/// Starts a tiny program, this one, with the runtime in it.
fn runtime(option: Option<&Path>, located: &Located) -> (Probe, Probe) {
    let name = "runtime library";
    let unknown = || fibers(&["the runtime library does not work".to_string()]);
    let (path, source) = match located {
        Ok(located) => located,
        Err(error) => {
            let advice = "nothing can be controlled without it";
            return (bad(name, Weight::Fatal, error.to_string(), advice), unknown());
        }
    };
    let name = format!("{name} {} ({})", path.display(), origin(source, option));
    match load(path) {
        Ok(obstacles) => (good(name), fibers(&obstacles)),
        Err(reason) => {
            let advice = "nothing can be controlled without it; is it from the same release as this program?";
            (bad(name, Weight::Fatal, reason, advice), unknown())
        }
    }
}

/// Where the library comes from.
fn origin(source: &Source, option: Option<&Path>) -> &'static str {
    match (source, option) {
        (Source::Embedded { .. }, _) => "a copy of the embedded one",
        (Source::Named, Some(_)) => "named by --runtime",
        (Source::Named, None) => "named by RADDLE_RUNTIME",
    }
}

/// The folders that the copy of the library could not be written to.
fn refused(located: &Located) -> Vec<Probe> {
    let refused = match located {
        Ok((_, Source::Embedded { refused })) => refused.as_slice(),
        _ => &[],
    };
    let advice = "the library was written to another place that works";
    refused.iter().map(|reason| note("cache folder", reason, advice)).collect()
}

/// The header for tests of C and C++.
fn header(folder: Result<PathBuf, NoFolder>) -> Probe {
    match folder {
        Ok(folder) => good(format!("raddle.h in {}", folder.display())),
        Err(error) => {
            note("raddle.h", error.to_string(), "#include <raddle.h> is not found; raddle header --text prints it")
        }
    }
}

/// Whether threads can be switched as fibers, as the runtime found out.
fn fibers(obstacles: &[String]) -> Probe {
    let name = "fibers (a program that cannot use them gets OS threads; the summary says why)";
    match obstacles.first() {
        None => good(name),
        Some(reason) => bad(
            name,
            Weight::Limit,
            reason.clone(),
            "threads are switched as OS threads: the same results, but two to forty times slower",
        ),
    }
}

/// Runs a program with the runtime in it; says what stands in the way of fibers.
fn load(runtime: &Path) -> Result<Vec<String>, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let outcome = try_runs(&[this.into_os_string(), "--version".into()], runtime, |options| {
        (options.runs, options.points, options.exec) = (Some(1), Some(Points::Sync), true);
    })?;
    match (outcome.end, outcome.findings.first()) {
        (End::Broken(error), _) => Err(error.to_string()),
        (_, Some(finding)) => Err(format!("a program with it fails: {}", finding.failure.message)),
        (_, None) => Ok(outcome.os_threads),
    }
}

/// A few runs of a program, without a trace of them.
fn try_runs(command: &[OsString], runtime: &Path, change: impl FnOnce(&mut Options)) -> Result<Outcome, String> {
    let campaign = Campaign::builder(command[0].clone()).arguments(&command[1..]).seed(1).options(|options| {
        options.run_timeout = Duration::from_secs(5);
        options.coverage = Coverage::Every(0);
        options.record = false;
        options.directory = Some("/".into());
        options.runtime = Some(runtime.to_path_buf());
        change(options);
    });
    Ok(campaign.start().map_err(|error| error.to_string())?.outcome())
}

fn dispatch() -> Probe {
    let name = "syscall user dispatch";
    static ALLOW: u8 = 0;
    let worked = in_child(|| {
        let selector: *const u8 = &ALLOW;
        // SAFETY: the selector lives for ever and allows everything.
        unsafe { libc::prctl(SYSCALL_USER_DISPATCH, DISPATCH_ON, 0, 0, selector) == 0 }
    });
    if worked {
        return good(name);
    }
    bad(
        name,
        Weight::Limit,
        "prctl(PR_SET_SYSCALL_USER_DISPATCH) failed",
        "futexes that programs use outside of libc are not seen, and there are no fibers; needs a kernel from 5.11 on",
    )
}

fn backtraces() -> Probe {
    let name = "backtraces (ptrace, process_vm_readv)";
    // SAFETY: the child only waits to be killed.
    let child = unsafe { libc::fork() };
    if child == 0 {
        loop {
            // SAFETY: waits.
            unsafe { libc::pause() };
        }
    }
    let stacks = Unwinder::new().stacks(child, &[child]);
    sys::kill(child);
    wait(child);
    match stacks.into_iter().next() {
        Some(Ok(_)) => good(name),
        Some(Err(error)) => {
            bad(name, Weight::Forbidden, error.to_string(), "failures are shown without backtraces; allow ptrace")
        }
        None => bad(name, Weight::Limit, "no thread was found", "failures are shown without backtraces"),
    }
}

fn fsgsbase() -> Probe {
    let name = "fsgsbase instructions";
    // SAFETY: reads a value that the kernel passed.
    if unsafe { libc::getauxval(libc::AT_HWCAP2) } & FSGSBASE != 0 {
        return good(name);
    }
    bad(
        name,
        Weight::Limit,
        "the kernel does not offer them",
        "there are no fibers, so switching threads is slower; needs a kernel from 5.9 on",
    )
}

fn cores() -> Probe {
    let cores = sys::allowed_cores();
    let first = cores.first().copied();
    if first.is_some_and(|core| in_child(|| sys::pin_to(&[core]).is_ok())) {
        return good(format!("pinning to a core ({} allowed: --jobs up to that many)", cores.len()));
    }
    bad(
        "pinning to a core",
        Weight::Forbidden,
        "sched_setaffinity failed",
        "switching threads is up to ten times slower; allow sched_setaffinity",
    )
}

/// Tries something in a child process, which it may change or break.
fn in_child(try_it: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child makes a few system calls and leaves.
    match unsafe { libc::fork() } {
        // SAFETY: leaves without running anything of the parent's.
        0 => unsafe { libc::_exit(i32::from(!try_it())) },
        child => wait(child) == Some(0),
    }
}

/// The status of a child that has ended.
fn wait(child: libc::pid_t) -> Option<libc::c_int> {
    let mut status = 0;
    // SAFETY: the status is a local.
    (unsafe { libc::waitpid(child, &mut status, 0) } == child).then_some(status)
}

fn in_container() -> bool {
    Path::new("/.dockerenv").exists() || Path::new("/run/.containerenv").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_why_and_what_to_do() {
        let probes = [good("x86-64"), bad("cores", Weight::Limit, "it failed", "it is slower; allow it")];
        let expected = "ok       x86-64\n\
                        missing  cores: it failed\n         it is slower; allow it\n\n\
                        raddle works here, with the limits above\n";
        assert_eq!(text(&probes, false), expected);
        let forbidden = [bad("x", Weight::Forbidden, "y", "allow z")];
        assert!(text(&forbidden, true).contains("with the limits above\nthis is a container"));
        assert!(text(&[bad("x", Weight::Fatal, "y", "z")], true).ends_with("raddle does not work here\n"));
        let noted = text(&[note("clang", "it was not found", "install it")], true);
        assert_eq!(noted, "note     clang: it was not found\n         install it\n\nraddle works here\n");
    }

    #[test]
    fn says_where_the_library_comes_from() {
        let refused_folder = "/x is writable by other users (mode 777); run `chmod 700` on it".to_string();
        let embedded = Source::Embedded { refused: vec![refused_folder] };
        assert_eq!(origin(&embedded, None), "a copy of the embedded one");
        assert_eq!(origin(&Source::Named, Some(Path::new("a.so"))), "named by --runtime");
        assert_eq!(origin(&Source::Named, None), "named by RADDLE_RUNTIME");
        let expected =
            "note     cache folder: /x is writable by other users (mode 777); run `chmod 700` on it\n         \
                        the library was written to another place that works\n\nraddle works here\n";
        assert_eq!(text(&refused(&Ok(("/y.so".into(), embedded))), false), expected);
        assert!(refused(&Ok(("/y.so".into(), Source::Named))).is_empty());
    }

    #[test]
    fn says_where_the_header_is() {
        assert_eq!(header(Ok("/cache/raddle/include-1".into())).name, "raddle.h in /cache/raddle/include-1");
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(version("6.18.44-fc") > version("5.11"));
        assert!(version("2.36") >= Some(GLIBC));
        assert!(version("2.9") < Some(GLIBC));
        assert_eq!(version("none"), None);
    }
}
