//! Which frames of a backtrace are the program's own, and how frames are written.

use std::path::Path;

use raddle_inspect::stack::Frame;

/// What the names of raddle's own runtime begin with, in a file and in memory.
const RUNTIME: &str = "libraddle_runtime";

/// Files whose frames are not the program's, by the beginning of their names.
const LIBRARIES: &[&str] = &[
    "libc.so",
    "libc-",
    "ld-linux",
    "ld-",
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

/// Functions that are compiled into a program but belong to a standard library.
const STANDARD: &[&str] = &[
    "std::",
    "core::",
    "alloc::",
    "<std::",
    "<core::",
    "<alloc::",
    "__gnu_cxx::",
    "__gthread_",
    "__rust",
    "rust_begin_unwind",
    "rust_panic",
    "_Unwind_",
    "__cxa_",
    "__interceptor_",
    "parking_lot::",
    "parking_lot_core::",
    "lock_api::",
    "<signal handler called>",
    "__libc_start",
    "_start",
    "start_thread",
    "clone",
];

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
        let standard = |function: &String| STANDARD.iter().any(|name| function.starts_with(name));
        let copied = |file: &String| SOURCES.iter().any(|folder| file.contains(folder));
        !self.in_library(frame)
            && !frame.function.as_ref().is_some_and(standard)
            && !frame.file.as_ref().is_some_and(copied)
    }

    /// The innermost frame of the program's own, for the place of a failure: function, file name
    /// and line, without folders, which differ between machines.
    pub fn place(&self, stack: &[Frame]) -> Option<String> {
        let frame = stack.iter().find(|frame| self.is_own(frame))?;
        let file = frame.file.as_deref().map(|f| f.rsplit('/').next().unwrap_or(f).to_string());
        Some(format_frame(frame, file))
    }

    /// A backtrace for a person, from the program's innermost frame to its outermost one.
    pub fn backtrace(&self, stack: &[Frame]) -> Vec<String> {
        let first = stack.iter().position(|frame| self.is_own(frame)).unwrap_or(0);
        self.down_to_main(&stack[first..])
    }

    /// A backtrace that starts where the thread left the program's world: for threads that hang in a
    /// library. Empty for a thread that waits for its turn in the runtime and has not yet run.
    pub fn backtrace_from_library(&self, stack: &[Frame]) -> Vec<String> {
        let outside = stack.iter().position(|frame| !self.in_runtime(frame)).unwrap_or(stack.len());
        if !stack.iter().any(|frame| self.is_own(frame)) && outside > 0 {
            return Vec::new();
        }
        self.down_to_main(&stack[outside..])
    }

    fn down_to_main(&self, stack: &[Frame]) -> Vec<String> {
        // The main that rustc adds around the program's own has no source.
        let outermost = |known: bool| stack.iter().rposition(|f| self.is_own(f) && (!known || f.file.is_some()));
        let last = outermost(true).or_else(|| outermost(false)).map_or(stack.len(), |i| i + 1);
        // What raddle itself puts between frames of the program says nothing to its author.
        let ours =
            |f: &&Frame| self.in_runtime(f) || f.function.as_ref().is_some_and(|name| name.starts_with("raddle_"));
        let shown: Vec<&Frame> = stack[..last].iter().filter(|f| !ours(f)).collect();
        let frames = shown.iter().take(DEPTH);
        let mut lines: Vec<_> = frames.map(|frame| format_frame(frame, frame.file.clone())).collect();
        if shown.len() > DEPTH {
            lines.push(format!("… {} more", shown.len() - DEPTH));
        }
        lines
    }
}

/// The name of the file that a frame's code is in.
fn file_name(frame: &Frame) -> &str {
    frame.module.rsplit('/').next().unwrap_or_default()
}

/// `function (file:line)`, or what is known.
fn format_frame(frame: &Frame, file: Option<String>) -> String {
    let function = match &frame.function {
        Some(function) => function.clone(),
        None => format!("{:#x}", frame.address),
    };
    match (file, frame.line) {
        (Some(file), Some(line)) => format!("{function} ({file}:{line})"),
        (Some(file), None) => format!("{function} ({file})"),
        (None, _) => format!("{function} ({})", file_name(frame)),
    }
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
            frame("std::mutex::lock()", "/home/ada/bank"),
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
        let lines = frames.backtrace(&stack());
        assert_eq!(lines, ["deposit (/src/bank.c:31)", "qsort (/src/bank.c:31)", "main (/src/bank.c:31)"]);
    }

    #[test]
    fn a_thread_that_hangs_in_a_library_is_shown_there() {
        let frames = Frames::new(Path::new("/opt/my_runtime.so"));
        let mut stack = stack();
        stack[1] = frame("read", "/lib/libc.so.6");
        assert_eq!(frames.backtrace_from_library(&stack)[0], "read (/src/bank.c:31)");
        let parked = [frame("take", "/opt/my_runtime.so"), frame("start_thread", "/lib/libc.so.6")];
        assert_eq!(frames.backtrace_from_library(&parked), Vec::<String>::new());
    }

    #[test]
    fn what_a_header_of_libstdcxx_adds_is_not_the_programs_own() {
        let invoke = Frame {
            file: Some("/usr/include/c++/12/bits/invoke.h".into()),
            ..frame("__invoke_impl<void>", "/home/ada/bank")
        };
        let lines = Frames::new(Path::new("r.so")).backtrace(&[frame("transfer", "/home/ada/bank"), invoke]);
        assert_eq!(lines, ["transfer (/src/bank.c:31)"]);
    }

    #[test]
    fn a_frame_without_debug_information_has_its_address() {
        let bare = Frame { address: 0x5555, function: None, file: None, line: None, module: "/x/prog".into() };
        assert_eq!(format_frame(&bare, None), "0x5555 (prog)");
    }

    #[test]
    fn a_deep_stack_is_cut() {
        let deep = vec![frame("recurse", "/home/ada/bank"); 40];
        let lines = Frames::new(Path::new("r.so")).backtrace(&deep);
        assert_eq!(lines.len(), DEPTH + 1);
        assert_eq!(lines[DEPTH], "… 24 more");
    }
}
