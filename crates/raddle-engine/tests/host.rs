//! The engine in a process that is not its own: one with threads, signal handlers, children and a directory that are none
//! of the engine's business.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use raddle_engine::plan::stdin::Stdin;
use raddle_engine::{Builder, Campaign, End, Event, Outcome};
use tempfile::TempDir;

/// A limit for tests that hang; whatever ends takes far less time.
const WATCHDOG: Duration = Duration::from_secs(120);

/// The tests look at the whole process, so they take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Waits until something is true.
fn wait_for(what: &str, mut is_true: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_true() {
        assert!(started.elapsed() < WATCHDOG, "the watchdog bit: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A program that fails on some schedules: two threads, one lock, and an order that matters.
const ORDER: &str = r#"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first;
static void *notes(void *number) {
    pthread_mutex_lock(&lock);
    if (!first) first = (int)(long)number;
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, notes, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return first == 2 ? 3 : 0;
}
"#;

/// A program that writes its TMPDIR into the file that its argument names, and then sleeps in the kernel.
const SLEEPS: &str = r#"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int ends[2];
static void *reads(void *unused) { char c; read(ends[0], &c, 1); return unused; }
int main(int argc, char **argv) {
    pthread_t thread;
    if (argc < 2 || pipe(ends)) return 1;
    int file = open(argv[1], O_CREAT | O_WRONLY | O_TRUNC, 0600);
    write(file, getenv("TMPDIR"), strlen(getenv("TMPDIR")));
    close(file);
    if (fork() == 0) { setsid(); for (;;) pause(); }
    pthread_create(&thread, 0, reads, 0);
    pthread_join(thread, 0);
    return 0;
}
"#;

/// A program that leaves a daemon behind in each run: a child of a child, in a session of its own.
const DAEMON: &str = r#"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void *nothing(void *unused) { return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, nothing, 0);
    pthread_join(thread, 0);
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) for (;;) pause();
        _exit(0);
    }
    waitpid(child, 0, 0);
    return 0;
}
"#;

/// A program that prints what it reads.
const ECHO: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *copies(void *unused) {
    char text[100];
    int length = read(0, text, sizeof text);
    fwrite(text, 1, length < 0 ? 0 : length, stdout);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, copies, 0);
    pthread_join(thread, 0);
    return 0;
}
"#;

/// No process.
const NONE: [u32; 0] = [];

/// A folder with a program.
struct Target {
    folder: TempDir,
}

impl Target {
    fn new(source: &str) -> Target {
        let target = Target { folder: tempfile::tempdir().expect("a folder") };
        let file = target.at("program.c");
        fs::write(&file, source).expect("a file");
        let built = Command::new("cc").args(["-g", "-pthread", "-w", "-o"]).arg(target.program()).arg(file).status();
        assert!(built.expect("cc runs").success());
        target
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self) -> PathBuf {
        self.at("program")
    }

    /// A campaign of the program, with a seed that is always the same.
    fn campaign(&self) -> Builder {
        Campaign::builder(self.program()).seed(1).out(self.at("found")).directory(self.folder.path())
    }

    /// The processes that run the program.
    fn processes(&self) -> Vec<u32> {
        let program = self.program();
        numbers("/proc")
            .filter(|pid| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program))
            .collect()
    }
}

/// The entries of a folder of the kernel that are numbers.
fn numbers(folder: &str) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).expect("a folder of the kernel").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The names of this process's threads that belong to the engine.
fn engine_threads() -> Vec<String> {
    let names =
        numbers("/proc/self/task").filter_map(|tid| fs::read_to_string(format!("/proc/self/task/{tid}/comm")).ok());
    names.map(|name| name.trim().to_string()).filter(|name| name.starts_with("raddle-")).collect()
}

/// What the open descriptors of this process lead to, by their numbers.
fn descriptors() -> BTreeSet<(u32, PathBuf)> {
    // The listing's own descriptor is gone by the time it is looked up.
    let all: Vec<u32> = numbers("/proc/self/fd").collect();
    all.into_iter().filter_map(|fd| Some((fd, fs::read_link(format!("/proc/self/fd/{fd}")).ok()?))).collect()
}

/// What must not differ between two campaigns with one seed.
fn essence(outcome: &Outcome) -> (u64, u64, u64, Vec<(String, u64, u64)>) {
    let findings = outcome.findings.iter().map(|f| (f.failure.message.clone(), f.count, f.first_run)).collect();
    (outcome.tally.runs, outcome.tally.failing_runs, outcome.tally.distinct_schedules(), findings)
}

static CHILD_SIGNALS: AtomicU64 = AtomicU64::new(0);
static INTERRUPTS: AtomicU64 = AtomicU64::new(0);
static ON_ENGINE: AtomicBool = AtomicBool::new(false);

/// The host's handler. It may only touch atomics; the name of a thread is a system call away.
extern "C" fn heard(signal: libc::c_int) {
    let counter = if signal == libc::SIGCHLD { &CHILD_SIGNALS } else { &INTERRUPTS };
    counter.fetch_add(1, Ordering::Relaxed);
    let mut name = [0u8; 16];
    // SAFETY: the kernel writes at most 16 bytes.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    if name.starts_with(b"raddle-") {
        ON_ENGINE.store(true, Ordering::Relaxed);
    }
}

/// Installs a handler of the host.
fn listen(signal: libc::c_int) {
    // SAFETY: the handler keeps to what handlers may do.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = heard as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
    }
}

/// Whether the handler is still the host's.
fn listens(signal: libc::c_int) -> bool {
    // SAFETY: asks only.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action);
        action.sa_sigaction == heard as *const () as usize
    }
}

/// A host with threads that allocate all the time, handlers, and children of its own.
struct Host {
    busy: &'static AtomicBool,
    threads: Vec<thread::JoinHandle<()>>,
    directory: PathBuf,
    sleeper: Child,
    ended: Child,
}

impl Host {
    fn new() -> Host {
        static BUSY: AtomicBool = AtomicBool::new(false);
        BUSY.store(true, Ordering::Relaxed);
        let allocate = || {
            let mut kept: Vec<Vec<u8>> = Vec::new();
            while BUSY.load(Ordering::Relaxed) {
                kept.push(vec![1; 1 + kept.len() * 37 % 5000]);
                if kept.len() == 1000 {
                    kept.clear();
                    // The machine has few cores, and the runs need them.
                    thread::sleep(Duration::from_millis(1));
                }
            }
        };
        listen(libc::SIGCHLD);
        listen(libc::SIGINT);
        Host {
            busy: &BUSY,
            threads: (0..2).map(|_| thread::spawn(allocate)).collect(),
            directory: std::env::current_dir().expect("a directory"),
            sleeper: Command::new("sleep").arg("1000").spawn().expect("sleep starts"),
            ended: Command::new("sh").args(["-c", "exit 7"]).spawn().expect("a shell starts"),
        }
    }

    /// Everything is as it was.
    fn check(mut self) {
        self.busy.store(false, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().expect("allocates"));
        assert!(listens(libc::SIGCHLD) && listens(libc::SIGINT));
        assert_eq!(INTERRUPTS.load(Ordering::Relaxed), 0);
        assert!(!ON_ENGINE.load(Ordering::Relaxed), "a handler of the host ran on a thread of the engine");
        assert_eq!(std::env::current_dir().expect("a directory"), self.directory);
        assert!(self.sleeper.try_wait().expect("is ours to wait for").is_none(), "a child of the host was killed");
        assert_eq!(self.ended.wait().expect("is ours to wait for").code(), Some(7));
        self.sleeper.kill().expect("killed");
        self.sleeper.wait().expect("has ended");
    }
}

#[test]
fn campaigns_can_be_moved_to_other_threads() {
    fn is_send<T: Send>() {}
    is_send::<Campaign>();
    is_send::<Event>();
}

#[test]
fn several_campaigns_at_once_are_as_good_as_one() {
    let _turn = alone();
    let host = Host::new();
    let target = Target::new(ORDER);
    let runs = |builder: Builder| builder.runs(150).keep_going().start().expect("starts").outcome();
    let exec = |builder: Builder| builder.options(|options| options.exec = true);
    let expected = essence(&runs(target.campaign()));
    assert!(expected.0 == 150 && expected.1 > 0, "{expected:?}");
    thread::scope(|scope| {
        let all = [
            scope.spawn(|| runs(target.campaign())),
            scope.spawn(|| runs(target.campaign().jobs(3))),
            scope.spawn(|| runs(exec(target.campaign()))),
            scope.spawn(|| runs(exec(target.campaign().jobs(2)))),
        ];
        for (number, campaign) in all.into_iter().enumerate() {
            let outcome = campaign.join().expect("no thread of the host panics");
            assert!(matches!(outcome.end, End::Complete), "campaign {number}: {:?}", outcome.end);
            assert_eq!(essence(&outcome), expected, "campaign {number}");
        }
        // Threads that really run at once, beside all of this.
        let parallel = target.campaign().policy("stress").runs(20).keep_going().start().expect("starts").outcome();
        assert_eq!(parallel.tally.runs, 20);
    });
    assert!(CHILD_SIGNALS.load(Ordering::Relaxed) > 0, "the engine's children are children of this process");
    assert_eq!(target.processes(), NONE);
    host.check();
}

#[test]
fn a_campaign_that_is_over_leaves_no_thread_and_no_descriptor() {
    let _turn = alone();
    let target = Target::new(ORDER);
    let run = |exec: bool| {
        let builder = target.campaign().runs(60).jobs(3).keep_going().options(|options| options.exec = exec);
        builder.start().expect("starts").outcome()
    };
    // What is opened once and kept, such as the runtime library, is open from here on.
    run(false);
    let before = descriptors();
    for round in 0..6 {
        run(round % 2 == 0);
        assert_eq!(engine_threads(), Vec::<String>::new());
    }
    assert_eq!(descriptors(), before);
}

/// Starts a campaign of [`SLEEPS`], drops it in the middle of a run, and looks at what is left.
fn drop_early(change: impl FnOnce(Builder) -> Builder) {
    let target = Target::new(SLEEPS);
    let note = target.at("tmpdir");
    let builder = target.campaign().argument(note.as_os_str()).runs(100);
    let builder = builder.options(|options| options.run_timeout = WATCHDOG * 2);
    let mut campaign = change(builder).start().expect("starts");
    // The program has a thread, and a child in a session of its own.
    wait_for("the program does not start", || {
        let event = campaign.next();
        assert!(matches!(event, Some(Event::Progress(_) | Event::Note(_))), "{event:?}");
        fs::metadata(&note).is_ok_and(|note| note.len() > 0) && target.processes().len() >= 2
    });
    let scratch = PathBuf::from(OsString::from(fs::read_to_string(&note).expect("the program's TMPDIR")));
    assert!(scratch.is_dir());
    drop(campaign);
    assert_eq!(target.processes(), NONE, "a process outlived its campaign");
    assert_eq!(engine_threads(), Vec::<String>::new());
    assert!(!scratch.parent().is_some_and(Path::exists), "{} was left behind", scratch.display());
}

#[test]
fn dropping_a_campaign_ends_its_fork_server() {
    let _turn = alone();
    drop_early(|builder| builder);
}

#[test]
fn dropping_a_campaign_ends_a_run_of_its_own_process() {
    let _turn = alone();
    drop_early(|builder| builder.options(|options| options.exec = true));
}

#[test]
fn dropping_a_campaign_ends_several_jobs() {
    let _turn = alone();
    drop_early(|builder| builder.jobs(3));
}

#[test]
fn an_interrupted_campaign_ends_with_what_it_has() {
    let _turn = alone();
    let target = Target::new(ORDER);
    let mut campaign = target.campaign().runs(u64::MAX / 4).keep_going().start().expect("starts");
    wait_for("no run counts", || matches!(campaign.next(), Some(Event::Run(_))));
    campaign.interrupt();
    let outcome = campaign.outcome();
    assert!(matches!(outcome.end, End::Interrupted) && outcome.tally.runs > 0, "{:?}", outcome.end);
    assert_eq!(target.processes(), NONE);
}

#[test]
fn daemons_end_with_their_runs() {
    let _turn = alone();
    let host = Host::new();
    let target = Target::new(DAEMON);
    for exec in [false, true] {
        let outcome =
            target.campaign().runs(20).options(|options| options.exec = exec).start().expect("starts").outcome();
        assert_eq!((outcome.tally.runs, outcome.findings.len()), (20, 0), "exec: {exec}, {:?}", outcome.end);
        assert_eq!(target.processes(), NONE, "exec: {exec}");
    }
    host.check();
}

#[test]
fn the_outcome_is_the_last_event() {
    let _turn = alone();
    let target = Target::new(ORDER);
    let mut campaign = target.campaign().runs(5).keep_going().start().expect("starts");
    let events: Vec<Event> = campaign.by_ref().collect();
    assert!(matches!(events.last(), Some(Event::Over(_))));
    assert!(campaign.next().is_none());
    // Asking for it again is a mistake of the host, which must not wait for ever.
    assert!(thread::spawn(move || campaign.outcome().end).join().is_err());
}

/// Whether a run of [`ECHO`] reads what it is given and is heard.
fn echoes(program: impl Into<OsString>) -> bool {
    let captured = Stdin::from_bytes(b"all of it").expect("captured");
    let builder = Campaign::builder(program).seed(1).runs(3).options(|options| {
        (options.stdin, options.record) = (captured, false);
        options.expect.output = Some(("expected".into(), b"all of it".to_vec()));
    });
    let outcome = builder.start().expect("starts").outcome();
    matches!(outcome.end, End::Complete) && outcome.tally.runs == 3 && outcome.findings.is_empty()
}

#[test]
fn many_open_files_are_not_in_the_way() {
    let _turn = alone();
    let target = Target::new(ECHO);
    raise_limit();
    // What the engine opens next gets, among others, the numbers that a target's own descriptors have.
    let null = fs::File::open("/dev/null").expect("opened");
    for last in 885..=901 {
        let filled = fill_up_to(&null, last);
        assert!(echoes(target.program()), "all descriptors up to {last} are in use");
        drop(filled);
    }
}

/// Descriptors for all free numbers up to one.
fn fill_up_to(file: &fs::File, last: i32) -> Vec<OwnedFd> {
    let mut filled = Vec::new();
    loop {
        // SAFETY: the descriptor is new and ours.
        let fd = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 3) };
        assert!(fd >= 0, "the limit of open files is too low for this test");
        // SAFETY: as above.
        filled.push(unsafe { OwnedFd::from_raw_fd(fd) });
        if fd >= last {
            return filled;
        }
    }
}

fn raise_limit() {
    // SAFETY: plain system calls.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        limit.rlim_cur = limit.rlim_max.min(4096);
        libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
    }
}

/// The variable that makes this program a host without standard streams.
const CLOSED: &str = "RADDLE_TEST_CLOSED_STREAMS";

#[test]
fn a_host_without_standard_streams_is_served() {
    let _turn = alone();
    // A process of its own: this one needs its streams.
    if let Some(program) = std::env::var_os(CLOSED) {
        // SAFETY: nobody uses them any more.
        (0..3).for_each(|fd| _ = unsafe { libc::close(fd) });
        std::process::exit(if echoes(program) { 42 } else { 1 });
    }
    let target = Target::new(ECHO);
    let mut us = Command::new(std::env::current_exe().expect("a program"));
    us.args(["--exact", "a_host_without_standard_streams_is_served"]).env(CLOSED, target.program());
    assert_eq!(us.output().expect("runs").status.code(), Some(42));
}
