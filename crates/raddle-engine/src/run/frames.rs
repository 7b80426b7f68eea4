//! Which frames of a backtrace are the program's own, and how frames are written.

use std::fmt;
use std::path::Path;

use raddle_inspect::names;
use raddle_inspect::stack::Frame;
use raddle_report::words::count;
use serde::{Deserialize, Serialize};

/// What the names of raddle's own runtime begin with, in a file and in memory.
const RUNTIME: &str = "libraddle_runtime";

/// Files whose frames are not the program's, by the beginning of their names.
const LIBRARIES: &[&str] = &[
    "libc.so",
    "libc-2.",
    "ld-linux",
    "ld-2.",
    "libstdc++",
    "libpthread",
    "libgcc_s",
    "libm.so",
    "libasan",
    "libubsan",
    "libtsan",
    "libclang_rt",
    "[vdso]",
    "linux-vdso",
    "libc++",
];

/// Namespaces of standard libraries, whose functions are compiled into a program.
const NAMESPACES: &[&str] = &[
    "std::",
    "core::",
    "alloc::",
    "<std::",
    "<core::",
    "<alloc::",
    "__gnu_cxx::",
    "parking_lot::",
    "parking_lot_core::",
    "lock_api::",
];

/// What names begin with that only compilers and their libraries may use.
const RESERVED: &[&str] = &["__gthread_", "__rust", "_Unwind_", "__cxa_", "__interceptor_", "__libc_start", "<signal "];

/// Other functions of theirs.
const LIBRARY_FUNCTIONS: &[&str] =
    &["rust_begin_unwind", "rust_panic", "rust_panic_with_hook", "_start", "start_thread", "clone", "clone3"];

/// Folders of standard libraries' sources, whose functions are compiled into a program, too.
const SOURCES: &[&str] = &["/include/c++/", "/rustc/", "/rust/library/", "/lib/rustlib/"];

/// The most frames that are shown of one thread.
const DEPTH: usize = 16;

/// Tells the program's frames from others.
#[derive(Clone, Debug)]
pub struct Frames {
    runtime: String,
}

impl Frames {
    /// For a runtime library with this path.
    pub fn new(runtime: &Path) -> Frames {
        Frames { runtime: runtime.file_name().unwrap_or_default().to_string_lossy().into_owned() }
    }

    fn in_runtime(&self, frame: &Frame) -> bool {
        let file = file_name(frame);
        file == self.runtime || file.starts_with(RUNTIME)
    }

    fn in_library(&self, frame: &Frame) -> bool {
        let file = file_name(frame);
        self.in_runtime(frame) || LIBRARIES.iter().any(|name| file.starts_with(name))
    }

    /// Whether a frame is the program's own code.
    fn is_own(&self, frame: &Frame) -> bool {
        let copied = |file: &String| SOURCES.iter().any(|folder| file.contains(folder));
        !self.in_library(frame) && !is_of_library(frame) && !frame.file.as_ref().is_some_and(copied)
    }

    /// The innermost frame of the program's own, for the place of a failure: function, file name
    /// and line, without folders, which differ between machines.
    pub fn place(&self, stack: &[Frame]) -> Option<String> {
        let frame = stack.iter().find(|frame| self.is_own(frame))?;
        let mut view = FrameView::from(frame);
        view.file = view.file.map(|file| file.rsplit('/').next().unwrap_or(&file).to_string());
        Some(view.to_string())
    }

    /// The frames of libraries above the program's innermost one.
    pub fn library<'a>(&self, stack: &'a [Frame]) -> &'a [Frame] {
        let own = stack.iter().position(|frame| self.is_own(frame)).unwrap_or(stack.len());
        &stack[..own]
    }

    /// A backtrace for a person, from the program's innermost frame to its outermost one.
    pub fn backtrace(&self, stack: &[Frame]) -> Vec<FrameView> {
        let first = stack.iter().position(|frame| self.is_own(frame)).unwrap_or(0);
        self.down_to_main(&stack[first..])
    }

    /// A backtrace that starts where the thread left the program's world: for threads that hang in a
    /// library. Empty for a thread that waits for its turn in the runtime and has not yet run.
    pub fn backtrace_from_library(&self, stack: &[Frame]) -> Vec<FrameView> {
        let outside = stack.iter().position(|frame| !self.in_runtime(frame)).unwrap_or(stack.len());
        if !stack.iter().any(|frame| self.is_own(frame)) && outside > 0 {
            return Vec::new();
        }
        self.down_to_main(&stack[outside..])
    }

    fn down_to_main(&self, stack: &[Frame]) -> Vec<FrameView> {
        // The main that rustc adds around the program's own has no source.
        let outermost = |known: bool| stack.iter().rposition(|f| self.is_own(f) && (!known || f.file.is_some()));
        let last = outermost(true).or_else(|| outermost(false)).map_or(stack.len(), |i| i + 1);
        // What raddle itself puts between frames of the program says nothing to its author.
        let ours =
            |f: &&Frame| self.in_runtime(f) || f.function.as_ref().is_some_and(|name| name.starts_with("raddle_"));
        let shown: Vec<&Frame> = stack[..last].iter().filter(|f| !ours(f)).collect();
        let mut views = Vec::new();
        if !shown.iter().any(|frame| self.is_own(frame)) {
            return shown.into_iter().map(FrameView::from).collect();
        }
        for stretch in shown.chunk_by(|a, b| self.is_own(a) == self.is_own(b)) {
            match stretch {
                [.., called] if !self.is_own(called) => {
                    // Where a thread hangs in a library is worth a line.
                    let innermost = if views.is_empty() { &stretch[..1] } else { &[] };
                    views.extend(innermost.iter().map(|frame| FrameView::from(*frame)));
                    let folded = (stretch.len() - 1).saturating_sub(innermost.len());
                    if stretch.len() > innermost.len() {
                        views.push(FrameView { folded, ..FrameView::from(*called) });
                    }
                }
                _ => views.extend(stretch.iter().map(|frame| FrameView::from(*frame))),
            }
        }
        views
    }
}

/// Whether a function belongs to a library, as far as its name tells.
fn is_of_library(frame: &Frame) -> bool {
    let Some(function) = &frame.function else { return false };
    let named = |names: &[&str]| names.iter().any(|name| function.starts_with(name));
    // A program may add to a namespace of C++'s library, `std::hash<Key>`: the file tells.
    let added = frame.file.as_ref().is_some_and(|file| !file.ends_with(".rs"));
    LIBRARY_FUNCTIONS.contains(&function.as_str()) || named(RESERVED) || named(NAMESPACES) && !added
}

/// A frame of a backtrace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameView {
    /// The function without its parameters, or an address.
    pub function: String,
    /// The source file, where it is known.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
    /// The name of the program's or the library's file.
    pub module: String,
    /// Further frames of libraries between this one and the one before it in the list.
    pub folded: usize,
}

impl From<&Frame> for FrameView {
    fn from(frame: &Frame) -> FrameView {
        FrameView {
            function: frame.function.as_deref().map_or_else(|| format!("{:#x}", frame.address), names::short),
            file: frame.file.clone(),
            line: frame.line,
            module: file_name(frame).to_string(),
            folded: 0,
        }
    }
}

impl fmt::Display for FrameView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FrameView { function, file, line, module, folded } = self;
        match (file, line) {
            _ if *folded > 0 => write!(f, "{function} (+{} in the library)", count(*folded as u64, "frame")),
            (Some(file), Some(line)) => write!(f, "{function} ({file}:{line})"),
            (Some(file), None) => write!(f, "{function} ({file})"),
            (None, _) => write!(f, "{function} ({module})"),
        }
    }
}

/// The name of the file that a frame's code is in.
fn file_name(frame: &Frame) -> &str {
    frame.module.rsplit('/').next().unwrap_or_default()
}

/// The lines of a backtrace that has at most so many.
pub fn lines(frames: &[FrameView]) -> Vec<String> {
    let mut lines: Vec<_> = frames.iter().take(DEPTH).map(FrameView::to_string).collect();
    if frames.len() > DEPTH {
        lines.push(format!("… {} more", frames.len() - DEPTH));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, module: &str) -> Frame {
        Frame {
            address: 0x1234,
            function: Some(function.to_string()),
            file: Some("/src/bank.c".to_string()),
            line: Some(31),
            module: module.to_string(),
        }
    }

    fn stack() -> Vec<Frame> {
        vec![
            frame("futex", "/opt/my_runtime.so"),
            frame("pthread_mutex_lock", "/opt/my_runtime.so"),
            Frame { file: Some("/usr/include/c++/12/mutex".into()), ..frame("std::mutex::lock()", "/home/ada/bank") },
            frame("deposit", "/home/ada/bank"),
            frame("qsort", "/lib/libc.so.6"),
            frame("main", "/home/ada/bank"),
            frame("__libc_start_main", "/lib/libc.so.6"),
        ]
    }

    #[test]
    fn the_place_is_the_innermost_own_frame() {
        let frames = Frames::new(Path::new("/opt/my_runtime.so"));
        assert_eq!(frames.place(&stack()).as_deref(), Some("deposit (bank.c:31)"));
        assert_eq!(frames.place(&[]), None);
    }

    #[test]
    fn a_backtrace_has_the_program_at_both_ends() {
        let frames = Frames::new(Path::new("/opt/my_runtime.so"));
        let lines = lines(&frames.backtrace(&stack()));
        assert_eq!(lines, ["deposit (/src/bank.c:31)", "qsort (/src/bank.c:31)", "main (/src/bank.c:31)"]);
    }

    #[test]
    fn a_thread_that_hangs_in_a_library_is_shown_there() {
        let frames = Frames::new(Path::new("/opt/my_runtime.so"));
        let mut stack = stack();
        stack[1] = frame("read", "/lib/libc.so.6");
        assert_eq!(lines(&frames.backtrace_from_library(&stack))[0], "read (/src/bank.c:31)");
        let parked = [frame("take", "/opt/my_runtime.so"), frame("start_thread", "/lib/libc.so.6")];
        assert_eq!(frames.backtrace_from_library(&parked), []);
    }

    #[test]
    fn what_a_header_of_libstdcxx_adds_is_not_the_programs_own() {
        let invoke = Frame {
            file: Some("/usr/include/c++/12/bits/invoke.h".into()),
            ..frame("__invoke_impl<void>", "/home/ada/bank")
        };
        let lines = lines(&Frames::new(Path::new("r.so")).backtrace(&[frame("transfer", "/home/ada/bank"), invoke]));
        assert_eq!(lines, ["transfer (/src/bank.c:31)"]);
    }

    #[test]
    fn a_frame_without_debug_information_has_its_address() {
        let bare = Frame { address: 0x5555, function: None, file: None, line: None, module: "/x/prog".into() };
        assert_eq!(FrameView::from(&bare).to_string(), "0x5555 (prog)");
    }

    #[test]
    fn a_deep_stack_is_cut() {
        let deep = vec![frame("recurse", "/home/ada/bank"); 40];
        let lines = lines(&Frames::new(Path::new("r.so")).backtrace(&deep));
        assert_eq!(lines.len(), DEPTH + 1);
        assert_eq!(lines[DEPTH], "… 24 more");
    }

    #[test]
    fn what_the_library_does_between_frames_of_the_program_is_one_line() {
        let inside =
            |function: &str| Frame { file: Some("/usr/include/c++/12/x.h".into()), ..frame(function, "/bank") };
        let stack = [
            frame("main::{lambda(int)#1}::operator()(int) const", "/bank"),
            inside("__invoke_impl<void, int>(std::__invoke_other, int&&)"),
            inside(
                "std::_Function_handler<void (int), main::{lambda(int)#1}>::_M_invoke(std::_Any_data const&, int&&)",
            ),
            inside("std::function<void (int)>::operator()(int) const"),
            frame("Pool::run(std::function<void (int)>)", "/bank"),
            frame("main", "/bank"),
        ];
        assert_eq!(
            lines(&Frames::new(Path::new("r.so")).backtrace(&stack)),
            [
                "main::{lambda#1} (/src/bank.c:31)",
                "std::function<void (int)>::operator() (+2 frames in the library)",
                "Pool::run (/src/bank.c:31)",
                "main (/src/bank.c:31)"
            ]
        );
        let hangs = [frame("poll", "/libc.so.6"), frame("g_poll", "/libc.so.6"), frame("wait", "/libc.so.6")];
        let hangs: Vec<_> = hangs.into_iter().chain(stack[5..].iter().cloned()).collect();
        let lines = lines(&Frames::new(Path::new("r.so")).backtrace_from_library(&hangs));
        assert_eq!(lines, ["poll (/src/bank.c:31)", "wait (+1 frame in the library)", "main (/src/bank.c:31)"]);
    }

    #[test]
    fn a_function_is_the_programs_own_whatever_its_name_begins_with() {
        let frames = Frames::new(Path::new("r.so"));
        for name in ["clone_account", "_start_work", "start_threads", "rust_panic_button", "std::hash<Key>::operator()"]
        {
            assert!(frames.is_own(&frame(name, "/home/ada/bank")), "{name}");
        }
        let bare = |name| Frame { file: None, line: None, ..frame(name, "/home/ada/bank") };
        for name in ["clone", "_start", "std::mutex::lock()", "__cxa_throw", "<core::x as y>::z"] {
            assert!(!frames.is_own(&bare(name)), "{name}");
        }
    }
}
