//! Compiling and starting the programs of the tests.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A limit for tests that hang; whatever ends takes far less time.
const WATCHDOG: Duration = Duration::from_secs(120);

/// A program whose threads all wait.
pub const BLOCKED: &str = include_str!("blocked.c");

/// A compiled program in a folder of its own.
pub struct Built {
    pub folder: TempDir,
    pub path: PathBuf,
    source: String,
}

impl Built {
    /// The line of the source that carries a mark: a comment `// at: MARK`.
    pub fn line(&self, mark: &str) -> u32 {
        let wanted = format!("// at: {mark}");
        let at = self.source.lines().position(|line| line.trim_end().ends_with(&wanted));
        at.unwrap_or_else(|| panic!("no line is marked {mark}")) as u32 + 1
    }

    pub fn start(&self) -> Running {
        Running::start(Command::new(&self.path))
    }
}

/// Compiles C.
pub fn c(source: &str, flags: &[&str]) -> Built {
    compile("gcc", "program.c", source, &[&["-pthread"], flags].concat())
}

/// Compiles C++.
pub fn cpp(source: &str, flags: &[&str]) -> Built {
    compile("g++", "program.cc", source, &[&["-pthread"], flags].concat())
}

/// Compiles Rust.
pub fn rust(source: &str, flags: &[&str]) -> Built {
    compile("rustc", "program.rs", source, &[&["--edition=2021"], flags].concat())
}

/// Compiles with a compiler of choice.
pub fn compile(compiler: &str, name: &str, source: &str, flags: &[&str]) -> Built {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), source).unwrap();
    let path = folder.path().join("program");
    let output = Command::new(compiler)
        .current_dir(folder.path())
        .arg(name)
        .arg("-o")
        .arg(&path)
        .args(flags)
        .output()
        .unwrap_or_else(|error| panic!("{compiler} cannot be started: {error}"));
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler} failed:\n{messages}");
    Built { folder, path, source: source.to_owned() }
}

/// Runs a tool such as `strip` and expects it to succeed.
pub fn tool(name: &str, arguments: &[&Path]) {
    let status = Command::new(name).args(arguments).status().unwrap();
    assert!(status.success(), "{name} failed: {status}");
}

/// A program that runs until it is told to end by the end of its standard input, or is dropped.
pub struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Running { child, output }
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Waits until the program has printed a line, has so many threads, and all of them sleep.
    pub fn settled(mut self, threads: usize) -> Self {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        self.wait_for_states(&"S".repeat(threads));
        self
    }

    /// Waits until the threads are, and stay for a moment, in these states (proc(5), a letter each).
    pub fn wait_for_states(&self, expected: &str) {
        let deadline = Instant::now() + WATCHDOG;
        let mut calm = 0;
        while calm < 3 {
            let states: String = self.tids().iter().map(|&tid| self.state(tid)).collect();
            calm = if states == expected { calm + 1 } else { 0 };
            assert!(Instant::now() < deadline, "the threads are in the states {states}");
            sleep(Duration::from_millis(5));
        }
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: signals a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(self.pid(), signal) }, 0);
    }

    pub fn tids(&self) -> Vec<i32> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        let mut tids: Vec<i32> =
            tasks.map(|task| task.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect();
        tids.sort_unstable();
        tids
    }

    /// The thread of that name.
    pub fn tid(&self, name: &str) -> i32 {
        let has_name = |tid: &i32| {
            let path = format!("/proc/{}/task/{tid}/comm", self.pid());
            fs::read_to_string(path).is_ok_and(|comm| comm.trim_end() == name)
        };
        self.tids().into_iter().find(has_name).unwrap_or_else(|| panic!("no thread is called {name}"))
    }

    fn state(&self, tid: i32) -> char {
        let stat = fs::read_to_string(format!("/proc/{}/task/{tid}/stat", self.pid()));
        let stat = stat.unwrap_or_default();
        stat.rsplit(") ").next().and_then(|rest| rest.chars().next()).unwrap_or('?')
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Ends the program's standard input, and returns how it ended and what else it printed.
    pub fn finish(mut self) -> (ExitStatus, String) {
        drop(self.child.stdin.take());
        let mut output = String::new();
        self.output.read_to_string(&mut output).unwrap();
        (self.child.wait().unwrap(), output)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Already ended programs cannot be killed, and need not be.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
