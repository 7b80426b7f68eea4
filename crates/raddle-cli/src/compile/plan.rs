//! What to run in place of a compiler's command line: one command, with other words.
//!
//! - Compiling alone: `-fsanitize=thread`, and what makes its hooks complete.
//! - Linking: raddle's hooks, and nothing of libtsan.
//! - Both at once: a driver that saw `-fsanitize=thread` would link libtsan, so only the compiler proper
//!   is told: by a specs file for gcc, with `-Xclang` for clang. It stays one command, whose diagnostics,
//!   exit status and side products (`-MMD`, `-save-temps`, `--coverage`) are as ever.
//!
//! What is needed beyond the one option was found by looking at the code that gcc 12 and clang 19 make:
//!
//! - gcc copies and clears blocks of a known size in place, without a hook, so it must call the functions
//!   (`-fno-builtin-…`), which the linker is told to wrap. Checked functions would go past that
//!   (`-U_FORTIFY_SOURCE`).
//! - clang has no hook for accesses of more than 16 bytes, which loops become with AVX
//!   (`-fno-vectorize`, `-fno-slp-vectorize`), and leaves out the read of `x++`.
//! - With LTO, the hooks would be put in at the link, where the options are not.

use std::ffi::OsString;
use std::fmt;

use super::arguments::{Arguments, Input, Item, Product, Purpose};
use super::compiler::Family;
use super::sanitizers::{without_thread, Thread};

/// What a program shows of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visible {
    Atomics,
    Memory,
}

/// What has to be known about the compiler.
#[derive(Clone, Copy, Debug)]
pub struct Tools {
    /// Whose compiler it is.
    pub family: Family,
    /// Whether the linker is gold.
    pub gold: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub words: Vec<Word>,
    /// What to tell the user.
    pub notices: Vec<Notice>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    Plain(OsString),
    /// The path of a file that is there while the compiler runs, with something before it.
    File(&'static str, TemporaryFile),
}

/// A file that is there while the compiler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemporaryFile {
    Hooks(Visible),
    /// A specs file for gcc.
    Specs,
    /// For a linker that takes no patterns otherwise: the symbols that a program exports.
    DynamicList,
}

impl TemporaryFile {
    /// Its name. The archive's does not end in `.a`: CMake takes such a file for one of the compiler's own
    /// libraries when it looks at how a compiler links, and would ask for it later, when it is gone.
    pub fn name(self) -> &'static str {
        match self {
            TemporaryFile::Hooks(_) => "raddle-hooks",
            TemporaryFile::Specs => "specs",
            TemporaryFile::DynamicList => "dynamic-list",
        }
    }

    /// What is in it.
    pub fn contents(self) -> &'static [u8] {
        match self {
            TemporaryFile::Hooks(visible) => raddle_hooks::archive(visible == Visible::Memory, false),
            TemporaryFile::Specs => b"*cc1:\n+ -fsanitize=thread\n\n",
            TemporaryFile::DynamicList => b"{ __tsan_*; };\n",
        }
    }
}

/// Something that the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A sanitizer that cannot be combined.
    Sanitizer(String),
    /// Code for another machine.
    Machine(String),
    /// A program that raddle cannot control.
    Static,
    /// gcc cannot show atomics alone.
    NotOnlyAtomics,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const CALLS: &str = "atomics and memory accesses are not visible to raddle, only calls are schedule points";
        match self {
            Notice::Sanitizer(name) => write!(f, "-fsanitize={name} excludes raddle's instrumentation: {CALLS}"),
            Notice::Machine(option) => write!(f, "{option} is not x86-64, and is not instrumented"),
            Notice::Static => write!(f, "a static program cannot be controlled by raddle; link it without -static"),
            Notice::NotOnlyAtomics => {
                write!(f, "gcc cannot show atomics alone: in spite of RADDLE_VISIBLE=atomics, all accesses are visible")
            }
        }
    }
}

/// Whether code gets instrumented.
enum Instrument {
    Yes,
    /// The user does not want it here.
    Unwanted,
    Impossible(Notice),
}

fn instrument(arguments: &Arguments) -> Instrument {
    let sanitizers = arguments.sanitizers();
    if let Some(option) = arguments.other_machine() {
        return Instrument::Impossible(Notice::Machine(option));
    }
    if let Some(name) = sanitizers.excluding() {
        return Instrument::Impossible(Notice::Sanitizer(name.to_owned()));
    }
    match sanitizers.thread() {
        Thread::Off => Instrument::Unwanted,
        Thread::On | Thread::Unsaid => Instrument::Yes,
    }
}

/// What to run for these arguments. `None`: what was given, as it was given.
pub fn plan(arguments: &Arguments, tools: Tools, visible: Visible) -> Option<Plan> {
    let instrument = instrument(arguments);
    let mut plan = Plan::default();
    let purpose = arguments.purpose();
    let compiles = arguments.has_input(|input| !matches!(input, Input::Assembler | Input::Linked));
    let visible = match (&instrument, tools.family) {
        (Instrument::Yes, Family::Gcc) if visible == Visible::Atomics => {
            plan.notices.extend(compiles.then_some(Notice::NotOnlyAtomics));
            Visible::Memory
        }
        _ => visible,
    };
    if let Instrument::Impossible(notice) = &instrument {
        plan.notices.extend(compiles.then(|| notice.clone()));
    }
    let instrumented = matches!(instrument, Instrument::Yes);
    match (purpose, &instrument) {
        (Purpose::Other, _) => return None,
        (Purpose::Compile, Instrument::Unwanted) => return None,
        (Purpose::Link, Instrument::Impossible(Notice::Machine(_))) | (Purpose::Compile, Instrument::Impossible(_)) => {
            plan.words = arguments.items().iter().flat_map(words_of).collect();
            return Some(plan);
        }
        _ => {}
    }
    if compiles && instrumented {
        plan.before(arguments, tools.family, visible, purpose);
    }
    plan.words.extend(arguments.items().iter().flat_map(|item| kept(item, instrumented)));
    if compiles && instrumented {
        plan.after(arguments, tools.family, visible);
    }
    if purpose == Purpose::Link {
        plan.link(arguments, tools, visible, instrumented);
    }
    Some(plan)
}

impl Plan {
    fn add(&mut self, words: &[&str]) {
        self.words.extend(words.iter().map(|word| Word::Plain(word.into())));
    }

    /// Options for compiling that the user's may override.
    fn before(&mut self, arguments: &Arguments, family: Family, visible: Visible, purpose: Purpose) {
        match (family, purpose) {
            (Family::Gcc, Purpose::Link) => self.words.push(Word::File("-specs=", TemporaryFile::Specs)),
            (Family::Clang, Purpose::Link) => self.add(&["-Xclang", "-fsanitize=thread"]),
            _ => self.add(&["-fsanitize=thread"]),
        }
        match (family, visible) {
            // gcc warns of fences, which libtsan does not understand; the hooks do.
            (Family::Gcc, _) => self.add(&["--param", "tsan-distinguish-volatile=1", "-Wno-tsan"]),
            (Family::Clang, Visible::Memory) => {
                self.llvm(arguments, "-tsan-distinguish-volatile=1");
                self.llvm(arguments, "-tsan-instrument-read-before-write=1");
            }
            (Family::Clang, Visible::Atomics) => {
                self.llvm(arguments, "-tsan-instrument-memory-accesses=0");
                self.llvm(arguments, "-tsan-instrument-memintrinsics=0");
            }
        }
        if !arguments.says_debug() {
            self.add(&["-g"]);
        }
        // A link may meet other objects that need LTO.
        if purpose == Purpose::Compile {
            self.add(&["-fno-lto"]);
        }
    }

    /// An option for LLVM, which does not take one twice.
    fn llvm(&mut self, arguments: &Arguments, option: &str) {
        let name = option.split('=').next().unwrap_or(option);
        let given = |item: &Item| matches!(item, Item::Option(_, Some(v)) if v.to_string_lossy().starts_with(name));
        if !arguments.items().iter().any(given) {
            self.add(&["-mllvm", option]);
        }
    }

    /// Options for compiling that go before the user's.
    fn after(&mut self, arguments: &Arguments, family: Family, visible: Visible) {
        let c = arguments.has_input(|input| matches!(input, Input::Source | Input::Header));
        if visible == Visible::Atomics || !c {
            return;
        }
        match family {
            Family::Gcc => self.add(&[
                "-fno-builtin-memcpy",
                "-fno-builtin-memmove",
                "-fno-builtin-memset",
                "-fno-builtin-mempcpy",
                "-U_FORTIFY_SOURCE",
            ]),
            Family::Clang => self.add(&["-fno-vectorize", "-fno-slp-vectorize", "-U_FORTIFY_SOURCE"]),
        }
    }

    fn link(&mut self, arguments: &Arguments, tools: Tools, visible: Visible, instrumented: bool) {
        let product = arguments.product();
        if product == Product::Relocatable {
            return;
        }
        // As a word for the linker, because a file would be taken for a source after `-x c`.
        self.add(&["-Xlinker"]);
        self.words.push(Word::File("", TemporaryFile::Hooks(visible)));
        // clang has hooks for these functions; a static libc would call the wrappers, too, before it has set
        // itself up. Without libc, the wrappers save a program from needing all four functions.
        let wrap = tools.family == Family::Gcc && product != Product::StaticExecutable || arguments.without_libc();
        if wrap && visible == Visible::Memory && instrumented {
            self.add(&["-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=mempcpy"]);
        }
        match product {
            Product::Relocatable => {}
            Product::StaticExecutable => self.notices.push(Notice::Static),
            // A library keeps its hooks to itself: a program that is linked with it must get its own, with
            // the note that says so, and the library's constructors run before the program's.
            Product::SharedLibrary => self.add(&["-Wl,--exclude-libs=raddle-hooks"]),
            // A library that the program loads may be linked without hooks, and finds them here.
            Product::Executable if tools.gold => {
                self.add(&["-Xlinker"]);
                self.words.push(Word::File("--dynamic-list=", TemporaryFile::DynamicList));
            }
            Product::Executable => self.add(&["-Wl,--export-dynamic-symbol=__tsan_*"]),
        }
    }
}

fn words_of(item: &Item) -> Vec<Word> {
    match item {
        Item::Input(_, word) => vec![Word::Plain(word.clone())],
        Item::Option(option, value) => {
            [Some(option), value.as_ref()].into_iter().flatten().cloned().map(Word::Plain).collect()
        }
    }
}

/// What stays of a file or an option.
fn kept(item: &Item, instrumented: bool) -> Vec<Word> {
    match item {
        Item::Input(_, word) if is_libtsan(&word.to_string_lossy()) => Vec::new(),
        Item::Input(..) => words_of(item),
        Item::Option(option, value) => {
            let text = option.to_string_lossy();
            let value = value.as_ref().map(|value| value.to_string_lossy());
            let value = value.as_deref().unwrap_or("");
            let of_libtsan = ["-static-libtsan", "-shared-libtsan", "-ltsan"].contains(&&*text)
                || (text == "-l" && value == "tsan")
                || (text == "-Xlinker" && (value == "-ltsan" || is_libtsan(value)));
            if of_libtsan || (instrumented && is_lto(&text)) {
                return Vec::new();
            }
            if let Some(list) = text.strip_prefix("-fsanitize=") {
                let rest = without_thread(list).map(|rest| Word::Plain(format!("-fsanitize={rest}").into()));
                return rest.into_iter().collect();
            }
            if let Some(list) = text.strip_prefix("-Wl,") {
                let parts: Vec<&str> = list.split(',').filter(|part| *part != "-ltsan" && !is_libtsan(part)).collect();
                if parts.len() < list.split(',').count() {
                    let rest = (!parts.is_empty()).then(|| Word::Plain(format!("-Wl,{}", parts.join(",")).into()));
                    return rest.into_iter().collect();
                }
            }
            words_of(item)
        }
    }
}

fn is_lto(option: &str) -> bool {
    let only_with_lto =
        ["-fwhole-program-vtables", "-fvirtual-function-elimination", "-ffat-lto-objects", "-funified-lto"];
    option == "-flto" || option.starts_with("-flto=") || option.starts_with("-flto-") || only_with_lto.contains(&option)
}

/// A file of ThreadSanitizer's own.
fn is_libtsan(word: &str) -> bool {
    let file = word.rsplit('/').next().unwrap_or(word);
    let path_or_library =
        |prefix: &str| file.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(['.', '_', '-']));
    path_or_library("libtsan") || path_or_library("libclang_rt.tsan")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GCC: Tools = Tools { family: Family::Gcc, gold: false };
    const CLANG: Tools = Tools { family: Family::Clang, gold: false };

    fn planned(line: &str, tools: Tools, visible: Visible) -> Option<Plan> {
        plan(&Arguments::parse(line.split_whitespace().map(OsString::from)), tools, visible)
    }

    /// The words, with the names of files in angle brackets; the notices after a bar.
    fn text(line: &str, tools: Tools, visible: Visible) -> String {
        let Some(plan) = planned(line, tools, visible) else { return "as given".to_owned() };
        let words = plan.words.iter().map(|word| match word {
            Word::Plain(word) => word.to_string_lossy().into_owned(),
            Word::File(before, file) => format!("{before}<{}>", file.name()),
        });
        let words = words.collect::<Vec<_>>().join(" ");
        plan.notices.iter().fold(words, |text, notice| format!("{text} | {notice:?}"))
    }

    fn gcc(line: &str) -> String {
        text(line, GCC, Visible::Memory)
    }

    fn clang(line: &str) -> String {
        text(line, CLANG, Visible::Memory)
    }

    const GCC_OPTIONS: &str = "--param tsan-distinguish-volatile=1 -Wno-tsan -g";
    const GCC_AFTER: &str =
        "-fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset -fno-builtin-mempcpy -U_FORTIFY_SOURCE";
    const CLANG_OPTIONS: &str = "-mllvm -tsan-distinguish-volatile=1 -mllvm -tsan-instrument-read-before-write=1 -g";
    const CLANG_AFTER: &str = "-fno-vectorize -fno-slp-vectorize -U_FORTIFY_SOURCE";
    const WRAP: &str = "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=mempcpy";
    const HOOKS: &str = "-Xlinker <raddle-hooks>";
    const EXPORT: &str = "-Wl,--export-dynamic-symbol=__tsan_*";

    #[test]
    fn compiling() {
        assert_eq!(gcc("-c a.c"), format!("-fsanitize=thread {GCC_OPTIONS} -fno-lto -c a.c {GCC_AFTER}"));
        assert_eq!(clang("-S a.c"), format!("-fsanitize=thread {CLANG_OPTIONS} -fno-lto -S a.c {CLANG_AFTER}"));
        let line = "-MMD -MF a.d -MT a.o -flto=auto -fsanitize=thread,undefined -c a.c -o a.o";
        let kept = "-MMD -MF a.d -MT a.o -fsanitize=undefined -c a.c -o a.o";
        assert_eq!(gcc(line), format!("-fsanitize=thread {GCC_OPTIONS} -fno-lto {kept} {GCC_AFTER}"));
        assert!(!gcc("-g1 -c a.c").contains("-g "), "debug information is as the user wants it");
        assert!(!gcc("-c a.f90").contains("-fno-builtin"), "Fortran has no such option");
        assert_eq!(clang("-mllvm -tsan-distinguish-volatile=0 -c a.c").matches("volatile").count(), 1);
    }

    #[test]
    fn atomics_alone() {
        let seen = text("-c a.c", CLANG, Visible::Atomics);
        let options = "-mllvm -tsan-instrument-memory-accesses=0 -mllvm -tsan-instrument-memintrinsics=0";
        assert_eq!(seen, format!("-fsanitize=thread {options} -g -fno-lto -c a.c"));
        assert!(text("-c a.c", GCC, Visible::Atomics).ends_with(&format!("{GCC_AFTER} | NotOnlyAtomics")));
        let plan = planned("a.o", CLANG, Visible::Atomics).expect("a plan");
        assert!(plan.words.contains(&Word::File("", TemporaryFile::Hooks(Visible::Atomics))));
        let plan = planned("a.o", GCC, Visible::Atomics).expect("a plan");
        assert!(plan.words.contains(&Word::File("", TemporaryFile::Hooks(Visible::Memory))));
    }

    #[test]
    fn linking() {
        assert_eq!(gcc("a.o -lm -o a"), format!("a.o -lm -o a {HOOKS} {WRAP} {EXPORT}"));
        assert_eq!(clang("a.o -lm"), format!("a.o -lm {HOOKS} {EXPORT}"));
        assert_eq!(gcc("-shared a.o"), format!("-shared a.o {HOOKS} {WRAP} -Wl,--exclude-libs=raddle-hooks"));
        assert_eq!(gcc("-r a.o b.o"), "-r a.o b.o");
        assert_eq!(gcc("-static a.o"), format!("-static a.o {HOOKS} | Static"));
        assert_eq!(clang("-nostdlib a.o"), format!("-nostdlib a.o {HOOKS} {WRAP} {EXPORT}"));
        assert_eq!(gcc("-static -nostdlib a.o"), format!("-static -nostdlib a.o {HOOKS} {WRAP} | Static"));
        let gold = text("a.o", Tools { gold: true, ..GCC }, Visible::Memory);
        assert_eq!(gold, format!("a.o {HOOKS} {WRAP} -Xlinker --dynamic-list=<dynamic-list>"));
    }

    #[test]
    fn libtsan_is_left_out() {
        let line = "-fsanitize=thread -static-libtsan a.o -ltsan -l tsan /usr/lib/libtsan.so.2 libtsan_preinit.o \
                    -Wl,-ltsan -Wl,-z,now,-ltsan -Xlinker -ltsan -flto libtsankit.a -fsanitize=undefined,thread";
        let kept = "a.o -Wl,-z,now libtsankit.a -fsanitize=undefined";
        assert_eq!(gcc(line), format!("{kept} {HOOKS} {WRAP} {EXPORT}"));
    }

    #[test]
    fn compiling_and_linking() {
        assert_eq!(
            gcc("a.c b.c c.o -o a"),
            format!("-specs=<specs> {GCC_OPTIONS} a.c b.c c.o -o a {GCC_AFTER} {HOOKS} {WRAP} {EXPORT}")
        );
        assert_eq!(
            clang("-x c -"),
            format!("-Xclang -fsanitize=thread {CLANG_OPTIONS} -x c - {CLANG_AFTER} {HOOKS} {EXPORT}")
        );
    }

    #[test]
    fn what_is_not_instrumented() {
        for line in [
            "-E a.c",
            "--version",
            "-c a.S",
            "-fno-sanitize=thread -c a.c",
            "-fsanitize=thread -fno-sanitize=all -c a.c",
        ] {
            assert_eq!(gcc(line), "as given", "{line}");
        }
        let address = "Sanitizer(\"address\")";
        assert_eq!(gcc("-fsanitize=address -flto -c a.c"), format!("-fsanitize=address -flto -c a.c | {address}"));
        assert_eq!(gcc("-fsanitize=address a.o"), format!("-fsanitize=address a.o {HOOKS} {EXPORT}"));
        assert_eq!(gcc("-fsanitize=address a.c"), format!("-fsanitize=address a.c {HOOKS} {EXPORT} | {address}"));
        assert_eq!(gcc("-fno-sanitize=thread a.c"), format!("-fno-sanitize=thread a.c {HOOKS} {EXPORT}"));
        assert_eq!(gcc("-m32 -c a.c"), "-m32 -c a.c | Machine(\"-m32\")");
        assert_eq!(gcc("-m32 a.o"), "-m32 a.o");
    }
}
