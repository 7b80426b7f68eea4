//! `raddle cc` and `raddle c++` with real compilers, linkers and build systems. Which packages have them
//! is in the Makefile.

mod support;

use std::os::unix::fs::{symlink, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{outcome, runtime, Folder, DEADLOCK, WATCHDOG};

const RADDLE: &str = env!("CARGO_BIN_EXE_raddle");
const COMPILERS: [&str; 2] = ["gcc", "clang-19"];

/// A folder with a place for temporary files, in which nothing may be left.
struct Bench(Folder);

impl Bench {
    fn new() -> Bench {
        let folder = Folder::new();
        std::fs::create_dir(folder.path().join("tmp")).expect("a folder");
        Bench(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        self.0.file(name, text)
    }

    fn script(&self, name: &str, text: &str) -> String {
        let path = self.file(name, &format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("permissions");
        path.display().to_string()
    }

    fn prepared(&self, mut command: Command) -> Command {
        for variable in ["RADDLE_CC", "RADDLE_CXX", "RADDLE_VISIBLE", "CC", "CXX", "CFLAGS", "LDFLAGS"] {
            command.env_remove(variable);
        }
        command.env("TMPDIR", self.path("tmp")).env("CCACHE_DIR", self.path("ccache")).env("LC_ALL", "C");
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    fn raddle(&self, line: &str) -> Command {
        let mut command = Command::new(RADDLE);
        command.args(line.split_whitespace());
        self.prepared(command)
    }

    /// Runs a line of a shell, in which $RADDLE is raddle.
    fn shell(&self, line: &str) -> (i32, String) {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        let result = outcome(self.prepared(command).env("RADDLE", RADDLE));
        self.nothing_left();
        result
    }

    /// Runs a line of a shell that must work, and gives what it prints.
    fn good(&self, line: &str) -> String {
        let (status, said) = self.shell(line);
        assert_eq!(status, 0, "{line}: {said}");
        said
    }

    /// The same for one that must work in silence.
    fn quiet(&self, line: &str) {
        let said = self.good(line);
        assert_eq!(said, "", "{line}");
    }

    fn nothing_left(&self) {
        let left: Vec<_> = std::fs::read_dir(self.path("tmp")).expect("the folder").collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }

    /// A program, or a library, that carries the hooks, and nothing of libtsan.
    fn has_hooks(&self, name: &str) {
        let headers = self.good(&format!("readelf -dSW {name}"));
        assert!(headers.contains(".note.raddle.offers"), "{name} has no note: {headers}");
        assert!(!headers.contains("tsan"), "{name} needs libtsan: {headers}");
    }

    fn has_none(&self, name: &str) {
        let headers = self.good(&format!("readelf -dSW {name}"));
        assert!(!headers.contains(".note.raddle.offers") && !headers.contains("tsan"), "{name}: {headers}");
    }

    /// The hooks that an object calls, and the functions that are wrapped.
    fn calls(&self, object: &str) -> Vec<String> {
        let symbols = self.good(&format!("nm -u {object}"));
        let names = symbols.lines().filter_map(|line| line.split_whitespace().last());
        names.map(str::to_owned).collect()
    }

    fn sees_memory(&self, object: &str) -> bool {
        self.calls(object).iter().any(|name| name.starts_with("__tsan_read") || name.starts_with("__tsan_write"))
    }

    /// Writes the program that most tests build: two files and a library.
    fn sources(&self) {
        self.file("main.c", MAIN);
        self.file("other.c", OTHER);
        self.file("library.c", LIBRARY);
    }
}

const MAIN: &str = r#"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
int other(int by);
int library(int by);
static atomic_int counter;
static volatile int flag;
int plain;
extern char block[200];
static char copy[200];
int main(int argc, char **argv) {
    memcpy(copy, block, sizeof copy);
    memset(block, argc, sizeof block);
    plain++;
    flag = 1;
    atomic_fetch_add(&counter, 1);
    atomic_thread_fence(memory_order_seq_cst);
    printf("%d %d %d %d %d\n", plain, copy[199] + block[199], counter + flag, other(1), library(1));
    (void)argv;
    return 0;
}
"#;
const OTHER: &str = "char block[200]; int shared; int other(int by) { shared += by; return shared; }\n";
const LIBRARY: &str = "int in_library = 4; int library(int by) { in_library += by; return in_library; }\n";
const SAID: &str = "1 1 2 1 5\n";

#[test]
fn both_compilers_at_every_level() {
    let bench = Bench::new();
    bench.sources();
    for cc in COMPILERS {
        for level in ["-O0", "-O1", "-O2", "-O3", "-Os", "-Ofast", "-Og"] {
            let cc = format!("$RADDLE cc {cc} -Wall -Wextra -Werror -Wno-deprecated-ofast -pipe {level}");
            for name in ["main", "other"] {
                bench.quiet(&format!("{cc} -c {name}.c -o {name}.o"));
                assert!(bench.sees_memory(&format!("{name}.o")), "{cc}");
            }
            bench.quiet(&format!("{cc} -fPIC -shared library.c -o liblibrary.so"));
            bench.quiet(&format!("{cc} main.o other.o -L. -llibrary -Wl,-rpath,. -o program"));
            let calls = bench.calls("main.o");
            for hook in ["__tsan_read4", "__tsan_write4", "__tsan_volatile_write4", "__tsan_atomic32_fetch_add"] {
                assert!(calls.iter().any(|name| name == hook), "{cc}: {calls:?}");
            }
            // Blocks of a known size are not copied in place.
            for block in ["memset", "memcpy"] {
                assert!(calls.iter().any(|name| name.ends_with(block)), "{cc}: {calls:?}");
            }
            assert_eq!(bench.good("./program"), SAID, "{cc}");
            bench.has_hooks("program");
            bench.has_hooks("liblibrary.so");
            let library = bench.good("nm -D liblibrary.so");
            assert!(!library.contains("__tsan"), "the library keeps its hooks to itself: {library}");
            assert!(bench.good("nm -D program").contains(" T __tsan_read4"), "{cc}");
        }
    }
}

#[test]
fn wide_loops_are_seen() {
    let bench = Bench::new();
    bench.file("loop.c", "int sum(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }");
    for cc in COMPILERS {
        bench.quiet(&format!("$RADDLE cc {cc} -O3 -march=haswell -c loop.c"));
        assert!(!bench.good("objdump -d loop.o").contains("ymm"), "{cc} reads more at once than a hook tells of");
        assert!(bench.sees_memory("loop.o"), "{cc}");
    }
}

#[test]
fn compiling_and_linking_in_one_command() {
    let bench = Bench::new();
    bench.sources();
    for cc in COMPILERS {
        let cc = format!("$RADDLE cc {cc}");
        bench.quiet(&format!("{cc} -c library.c"));
        bench.quiet(&format!("{cc} -O1 -Wall -Wextra -Werror main.c other.c library.o -o program"));
        assert_eq!(bench.good("./program"), SAID, "{cc}");
        bench.has_hooks("program");
        // Without a name, and from standard input.
        bench.quiet(&format!("cat main.c | {cc} -x c - -x none other.c library.o && ./a.out >/dev/null && rm a.out"));
        // What else the command writes is named as ever.
        bench.good(&format!("{cc} -MMD -MF deps main.c other.c library.o -o program 2>&1 && rm -f deps"));
        bench.quiet(&format!("{cc} -MMD main.c -c -o sub.o && grep -q '^sub.o: main.c' sub.d"));
    }
    let listing = |cc: &str| {
        let line =
            format!("rm -rf out && mkdir out && cd out && {cc} -MMD --coverage ../main.c ../other.c ../library.c -o p");
        bench.good(&format!("{line} && cat *.d && ls"))
    };
    assert_eq!(listing("$RADDLE cc gcc"), listing("gcc"));
    assert_eq!(listing("$RADDLE cc clang-19"), listing("clang-19"));
}

#[test]
fn the_header_is_found() {
    let bench = Bench::new();
    bench.file("check.c", CHECK);
    bench.file("check.cc", CHECK);
    std::fs::create_dir(bench.path("mine")).expect("a folder");
    for cc in COMPILERS {
        let cxx = cc.replace("gcc", "g++").replace("clang", "clang++");
        for line in [format!("cc {cc} check.c"), format!("c++ {cxx} check.cc")] {
            bench.quiet(&format!("$RADDLE {line} -Wall -Wextra -Werror -Wmissing-include-dirs -o check && ./check"));
            // What is not compiled to code, or not instrumented, finds it too.
            bench.good(&format!("$RADDLE {line} -E && $RADDLE {line} -fno-sanitize=thread -fsyntax-only"));
        }
        // A plain compiler is told where it is.
        bench.quiet(&format!("{cc} -I\"$($RADDLE header)\" -Wall -Wextra check.c -o check && ./check"));
        // The user's own comes first, and build systems are told of no file in the cache.
        bench.file("mine/raddle.h", "#define MINE\n");
        bench.quiet(&format!(
            "$RADDLE cc {cc} -isystem mine -DOWN -c check.c && C_INCLUDE_PATH=mine $RADDLE cc {cc} -DOWN -c check.c"
        ));
        assert!(!bench.good(&format!("$RADDLE cc {cc} -MMD -c check.c && cat check.d")).contains("raddle.h"), "{cc}");
    }
    let text = bench.good("$RADDLE header --text");
    assert_eq!(text, std::fs::read_to_string(support::programs::root().join("include/raddle.h")).expect("the header"));
}

#[test]
fn a_header_that_cannot_be_written_is_told_of() {
    let bench = Bench::new();
    bench.file("check.c", CHECK);
    bench.file("plain.c", "int main(void) { return 0; }");
    bench.file("file", "not a folder");
    let nowhere = "HOME=$PWD/file XDG_CACHE_HOME=$PWD/file TMPDIR=$PWD/file $RADDLE";
    bench.quiet(&format!("{nowhere} cc gcc -c plain.c"));
    let (status, said) = bench.shell(&format!("{nowhere} cc gcc -nostdinc -c check.c"));
    assert_eq!(status, 1, "{said}");
    assert!(
        said.contains("raddle: note: #include <raddle.h> may not have been found: cannot write raddle.h"),
        "{said}"
    );
    let (status, said) = bench.shell(&format!("{nowhere} header"));
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("set XDG_CACHE_HOME to a folder that you own"), "{said}");
}

const CHECK: &str = "#include <raddle.h>
#if defined(OWN) != defined(MINE)
#error another raddle.h was found
#endif
#ifndef MINE
static void body(void *unused) { (void)unused; }
int main(void) { return raddle_check(body, NULL); }
#endif
";

#[test]
fn errors_are_the_compilers() {
    let bench = Bench::new();
    bench.sources();
    bench.file("wrong.c", "int main(void) { return x; }\n");
    bench.file("warns.c", "int main(void) { int unused; return 0; }\n");
    for cc in COMPILERS {
        for line in [
            "wrong.c -o wrong",
            "-c wrong.c",
            "main.c wrong.c -o wrong",
            "-Wall warns.c -o warns",
            "-fdiagnostics-color=always -Wall -c warns.c",
            "-Wall -Werror warns.c",
            "-c main.c -o /no/such/folder/main.o",
            "-fno-such-option -c main.c",
            "",
            "-c -o",
        ] {
            let plain = bench.shell(&format!("{cc} {line}"));
            assert_eq!(bench.shell(&format!("$RADDLE cc {cc} {line}")), plain, "{cc} {line}");
        }
        // Linking fails: the same status, and the missing function is named.
        let (status, said) = bench.shell(&format!("$RADDLE cc {cc} main.c other.c -o program"));
        assert!(status == 1 && said.contains("undefined reference to `library'"), "{cc}: {status} {said}");
    }
}

#[test]
fn questions_pass_untouched() {
    let bench = Bench::new();
    bench.sources();
    bench.file("code.S", ".globl f\nf: ret\n.section .note.GNU-stack\n");
    for cc in COMPILERS {
        for line in [
            "--version",
            "-v",
            "-dumpmachine",
            "-dumpversion",
            "-print-prog-name=ld",
            "-print-search-dirs",
            "--help",
            "-Wl,--version",
            "-E main.c",
            "-E -dM -x c /dev/null",
            "-M main.c",
            "-MM main.c",
            "-fsyntax-only main.c",
            "-c code.S -o /dev/stdout",
            "-V",
            "-qversion",
        ] {
            // gcc names temporary files when it links.
            let filter = "2>&1 | grep -v /tmp/";
            let plain = bench.shell(&format!("{cc} {line} {filter}"));
            assert_eq!(bench.shell(&format!("$RADDLE cc {cc} {line} {filter}")), plain, "{cc} {line}");
        }
    }
}

#[test]
fn precompiled_headers() {
    let bench = Bench::new();
    let header = "#ifndef ALL\n#define ALL\nstatic int x; static inline int next(void) { return ++x; }\n#endif\n";
    bench.file("all.h", header);
    bench.file("main.c", "#include \"all.h\"\nint main(void) { return next() - 1; }\n");
    for line in [
        "$RADDLE cc gcc -O1 all.h && $RADDLE cc gcc -O1 -Winvalid-pch -Werror -c main.c && $RADDLE cc gcc main.o -o p",
        "$RADDLE cc gcc -O1 -x c-header all.h -o all.h.gch && $RADDLE cc gcc -O1 -Winvalid-pch -Werror main.c -o p",
        "$RADDLE cc clang-19 -O1 -x c-header all.h -o all.pch && $RADDLE cc clang-19 -O1 -include-pch all.pch main.c -o p",
    ] {
        bench.quiet(&format!("rm -f *.gch *.pch p; {line} && ./p"));
        bench.has_hooks("p");
    }
}

#[test]
fn sanitizers_of_the_user() {
    let bench = Bench::new();
    bench.sources();
    for cc in COMPILERS {
        let cc = format!("$RADDLE cc {cc}");
        let all = "main.c other.c library.c -o program";
        // The same sanitizer.
        bench.quiet(&format!("{cc} -fsanitize=thread -c main.c"));
        bench.quiet(&format!("{cc} -fsanitize=thread -c other.c library.c"));
        bench.quiet(&format!("{cc} -fsanitize=thread main.o other.o library.o -o program"));
        bench.has_hooks("program");
        assert_eq!(bench.good("./program"), SAID);
        // With one that goes along.
        bench.quiet(&format!("{cc} -fsanitize=thread,undefined {all}"));
        assert_eq!(bench.good("./program"), SAID);
        bench.has_hooks("program");
        assert!(bench.good("nm program").contains("__ubsan"), "{cc}");
        // Switched off for a file.
        bench.quiet(&format!("{cc} -fsanitize=thread -c main.c -fno-sanitize=thread"));
        assert!(!bench.sees_memory("main.o"), "{cc}");
        bench.quiet(&format!("{cc} main.o other.o library.o -o program && ./program > /dev/null"));
        // One that does not go along.
        let said = bench.good(&format!("{cc} -fsanitize=address {all}"));
        assert!(said.starts_with("raddle cc: warning: -fsanitize=address excludes"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!(bench.good("ASAN_OPTIONS=detect_leaks=0 ./program"), SAID);
        bench.has_none("program");
    }
    let gcc_libraries = "-static-libtsan -ltsan -Wl,-z,now,-ltsan $(gcc -print-file-name=libtsan.so)";
    bench.quiet(&format!("$RADDLE cc gcc main.c other.c library.c {gcc_libraries} -o program"));
    bench.has_hooks("program");
}

#[test]
fn optimisation_at_link_time_is_left_out() {
    let bench = Bench::new();
    bench.sources();
    for cc in COMPILERS {
        bench.quiet(&format!("$RADDLE cc {cc} -O2 -flto -ffat-lto-objects -c main.c other.c library.c"));
        assert!(!bench.good("readelf -SW main.o").contains(".gnu.lto"), "{cc}");
        assert!(bench.sees_memory("main.o"), "{cc}");
        bench.quiet(&format!("$RADDLE cc {cc} -O2 -flto main.o other.o library.o -o program"));
        assert_eq!(bench.good("./program"), SAID);
        bench.quiet(&format!("$RADDLE cc {cc} -O2 -flto=auto main.c other.c library.c -o program"));
        assert_eq!(bench.good("./program"), SAID);
        bench.has_hooks("program");
    }
}

#[test]
fn atomics_alone() {
    let bench = Bench::new();
    bench.sources();
    bench.quiet("RADDLE_VISIBLE=atomics $RADDLE cc clang-19 -O1 -c main.c other.c library.c");
    assert!(!bench.sees_memory("main.o"));
    assert!(bench.calls("main.o").iter().any(|name| name.starts_with("__tsan_atomic")));
    bench.quiet("RADDLE_VISIBLE=atomics $RADDLE cc clang-19 main.o other.o library.o -o program");
    assert_eq!(bench.good("./program"), SAID);
    assert!(bench.good("readelf -n program").contains("description data: 01 00 00 00"));
    let said = bench.good("RADDLE_VISIBLE=atomics $RADDLE cc gcc main.c other.c library.c -o program");
    assert!(said.contains("gcc cannot show atomics alone"), "{said}");
    assert!(bench.good("readelf -n program").contains("description data: 03 00 00 00"));
    let (status, said) = bench.shell("RADDLE_VISIBLE=some $RADDLE cc -c main.c");
    assert!(status == 2 && said.contains("expected memory or atomics"), "{status} {said}");
}

#[test]
fn everything_that_can_be_linked() {
    let bench = Bench::new();
    bench.sources();
    bench.file("bare.c", "int x; void _start(void) { x++; __asm__(\"mov $60, %eax; mov $7, %edi; syscall\"); }");
    for cc in COMPILERS {
        let cc = format!("$RADDLE cc {cc}");
        let all = "main.c other.c library.c -o program";
        for options in ["-pie -fPIE", "-no-pie -fno-pie", "-pthread", "-ffunction-sections -Wl,--gc-sections -s -O2"] {
            bench.quiet(&format!("{cc} {options} {all}"));
            assert_eq!(bench.good("./program"), SAID, "{cc} {options}");
            bench.has_hooks("program");
        }
        for options in ["-static", "-static-pie"] {
            let said = bench.good(&format!("{cc} {options} {all}"));
            assert!(
                said.contains("warning: a static program cannot be controlled") && said.lines().count() == 1,
                "{said}"
            );
            assert_eq!(bench.good("./program"), SAID, "{cc} {options}");
        }
        // An object made of objects has no hooks yet.
        bench.quiet(&format!("{cc} -r -nostdlib other.c library.c -o both.o && {cc} main.c both.o -o program"));
        assert!(bench.calls("both.o").iter().any(|name| name == "__tsan_read4"), "{cc}");
        assert_eq!(bench.good("./program"), SAID);
        bench.has_hooks("program");
        // Without libc, or with libc named.
        let (status, said) =
            bench.shell(&format!("{cc} -O1 -static -nostdlib -fno-stack-protector bare.c -o bare 2>&1; ./bare"));
        assert_eq!(status, 7, "{cc}: {said}");
        bench.quiet(&format!("{cc} -O1 -nostdlib -fno-stack-protector bare.c -o bare"));
        assert_eq!(bench.shell("./bare").0, 7, "{cc}");
        bench.quiet(&format!("{cc} -fPIC -shared -nostdlib library.c -lc -o liblibrary.so"));
        // A version script that hides everything else.
        bench.file("map", "{ global: library; local: *; };");
        bench.quiet(&format!("{cc} -fPIC -shared library.c -Wl,--version-script=map -o liblibrary.so"));
        bench.quiet(&format!("{cc} main.c other.c -L. -llibrary -Wl,-rpath,. -o program"));
        assert_eq!(bench.good("./program"), SAID);
        bench.has_hooks("liblibrary.so");
    }
}

#[test]
fn every_linker_exports_the_hooks() {
    let bench = Bench::new();
    bench.file("plugin.c", "int x; int plugin(void) { x++; return x; }");
    let host = "#include <dlfcn.h>\nint y;\nint main(void) { y++; void *l = dlopen(\"./plugin.so\", RTLD_NOW); \
                return l ? ((int (*)(void))dlsym(l, \"plugin\"))() - 1 : 9; }";
    bench.file("host.c", host);
    // Instrumented, and linked without the hooks by somebody else.
    bench.quiet("$RADDLE cc -fPIC -c plugin.c && gcc -shared plugin.o -o plugin.so");
    for (cc, linkers) in [("gcc", &["bfd", "gold"][..]), ("clang-19", &["bfd", "gold", "lld"])] {
        for linker in linkers {
            bench.quiet(&format!("$RADDLE cc {cc} -fuse-ld={linker} host.c -o host"));
            assert_eq!(bench.shell("./host").0, 0, "{cc} {linker}");
            bench.has_hooks("host");
        }
    }
}

#[test]
fn response_files() {
    let bench = Bench::new();
    bench.sources();
    std::fs::create_dir(bench.path("with space")).expect("a folder");
    for cc in COMPILERS {
        bench.file("inner", "other.c library.c");
        bench.file("words", "main.c @inner -DX='a b' \"-DY=\\\"q\\\"\"\n-flto -o 'with space/program'\n");
        bench.quiet(&format!("$RADDLE cc {cc} @words"));
        assert_eq!(bench.good("'./with space/program'"), SAID, "{cc}");
        bench.has_hooks("'with space/program'");
        bench.file("compile", "-c other.c -o 'with space/other.o'");
        bench.quiet(&format!("$RADDLE cc {cc} @compile"));
        assert!(bench.sees_memory("'with space/other.o'"), "{cc}");
    }
    // More than fits a command line.
    let long = "./".repeat(1500) + "nothing.a\n";
    bench.file("many", &format!("main.o other.o library.o -o program\n{}", long.repeat(1000)));
    for cc in COMPILERS {
        bench
            .quiet(&format!("ar cr nothing.a && $RADDLE cc {cc} -c main.c other.c library.c && $RADDLE cc {cc} @many"));
        bench.has_hooks("program");
    }
    let (status, said) = bench.shell("$RADDLE cc -c other.c @missing");
    assert!(status == 1 && said.contains("missing"), "{said}");
}

#[test]
fn compilers_by_name() {
    let bench = Bench::new();
    bench.sources();
    bench.file("main.cc", "#include <string>\nstd::string s; int main() { s += \"x\"; return s.size() != 1; }");
    // By the environment, with a launcher, as the first words, and by the own name.
    let is_clang = |line: &str| {
        bench.quiet(&format!("rm -f other.o; {line} -c other.c -o other.o"));
        assert!(bench.sees_memory("other.o"), "{line}");
        bench.good("readelf -p .comment other.o").contains("clang")
    };
    assert!(!is_clang("$RADDLE cc"));
    assert!(is_clang("RADDLE_CC=clang-19 $RADDLE cc"));
    assert!(is_clang("RADDLE_CC='ccache clang-19' $RADDLE cc"));
    assert!(is_clang("RADDLE_CC='clang-19 -fsanitize=thread -g0' $RADDLE cc"));
    assert!(is_clang("RADDLE_CC=gcc $RADDLE cc clang-19"));
    assert!(is_clang("$RADDLE cc ccache clang-19"));
    assert!(is_clang("$RADDLE cc /usr/bin/clang-19"));
    assert!(!is_clang("PATH=/usr/lib/ccache:$PATH $RADDLE cc gcc"));
    let script = bench.script("gcc-of-mine", "exec clang-19 \"$@\"");
    assert!(is_clang(&format!("$RADDLE cc {script}")), "a script is asked");
    symlink(RADDLE, bench.path("raddle-cc")).expect("a link");
    symlink(RADDLE, bench.path("raddle-c++")).expect("a link");
    assert!(!is_clang("./raddle-cc"));
    assert!(!is_clang("ccache ./raddle-cc"));
    assert!(is_clang("RADDLE_CC=clang-19 ./raddle-cc"));
    for cxx in ["$RADDLE c++", "./raddle-c++", "$RADDLE c++ clang++-19", "RADDLE_CXX=clang++-19 $RADDLE c++"] {
        bench.quiet(&format!("{cxx} main.cc -o program && ./program"));
        bench.has_hooks("program");
    }
    // The cache works in the order that the documentation advises.
    bench.quiet("ccache -Cz > /dev/null; for i in 1 2; do $RADDLE cc ccache gcc -O2 -c main.c; done");
    let hits = bench.good("ccache --print-stats");
    assert!(hits.contains("direct_cache_hit\t1"), "{hits}");
}

#[test]
fn compilers_that_do_not_work() {
    let bench = Bench::new();
    bench.sources();
    let check = |line: &str, status: i32, text: &str| {
        let (found, said) = bench.shell(line);
        assert!(found == status && said.contains(text), "{line}: {found} {said}");
    };
    let killed = bench.script("killed-gcc", "case $1 in --version) gcc --version;; *) kill -SEGV $$;; esac");
    let unknown = bench.script("unknown", "echo some compiler 1.0");
    let status = bench.script("status-gcc", "case $1 in --version) gcc --version;; *) exit 42;; esac");
    check("RADDLE_CC=no-such-compiler $RADDLE cc -c main.c", 2, "there is no compiler `no-such-compiler`");
    check("RADDLE_CC=no-such-compiler $RADDLE cc --version", 2, "RADDLE_CC and RADDLE_CXX name the compilers");
    check("RADDLE_CC=./main.c $RADDLE cc -c main.c", 2, "cannot be started: Permission denied");
    check(&format!("$RADDLE cc {killed} main.o"), 139, "was ended by signal 11 (segmentation fault)");
    check(&format!("$RADDLE cc {unknown} main.o"), 2, "is neither gcc nor clang: to --version it says \"some compiler");
    check(&format!("$RADDLE cc {status} main.o"), 42, "");
    check("RADDLE_CC=$RADDLE $RADDLE cc main.c", 2, "the compiler is raddle itself; RADDLE_CC names the real one");
    check("$RADDLE cc $RADDLE cc main.c", 2, "the compiler is raddle itself");
}

#[test]
fn a_signal_leaves_nothing_behind() {
    let bench = Bench::new();
    let script =
        bench.script("slow-gcc", "case $1 in --version) gcc --version;; *) echo $$ > pid; exec sleep 60;; esac");
    let mut child = bench.raddle(&format!("cc {script} main.o")).spawn().expect("raddle runs");
    let start = Instant::now();
    while std::fs::read_to_string(bench.path("pid")).unwrap_or_default().is_empty() {
        assert!(start.elapsed() < WATCHDOG, "the compiler was not started");
        std::thread::sleep(Duration::from_millis(10));
    }
    let hooks = std::fs::read_dir(bench.path("tmp")).expect("the folder").count();
    assert_eq!(hooks, 1, "the hooks are there while the compiler runs");
    // SAFETY: sends a signal to a child.
    unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    let status = child.wait().expect("it ends");
    assert_eq!(status.signal(), Some(libc::SIGTERM));
    let compiler = std::fs::read_to_string(bench.path("pid")).expect("a number");
    assert!(!Path::new(&format!("/proc/{}", compiler.trim())).exists(), "the compiler is gone, too");
    bench.nothing_left();
}

#[test]
fn cmake() {
    let bench = Bench::new();
    bench.sources();
    bench.file(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.21)\nproject(p C CXX)\ninclude(CheckFunctionExists)\n\
         check_function_exists(mempcpy HAVE_MEMPCPY)\ncheck_function_exists(no_such HAVE_NONE)\n\
         if(NOT HAVE_MEMPCPY OR HAVE_NONE)\nmessage(FATAL_ERROR wrong)\nendif()\n\
         find_package(Threads REQUIRED)\nadd_library(library SHARED library.c)\nadd_library(other STATIC other.c)\n\
         add_library(cxx STATIC cxx.cc)\nadd_executable(program main.c)\n\
         target_link_libraries(program library other cxx Threads::Threads)\n",
    );
    bench.file("cxx.cc", "#include <string>\nstd::string s; extern \"C\" void cxx() { s += 'x'; }");
    symlink(RADDLE, bench.path("raddle-cc")).expect("a link");
    symlink(RADDLE, bench.path("raddle-c++")).expect("a link");
    let launchers = "-DCMAKE_C_COMPILER_LAUNCHER=\"$RADDLE;cc\" -DCMAKE_C_LINKER_LAUNCHER=\"$RADDLE;cc\" \
                     -DCMAKE_CXX_COMPILER_LAUNCHER=\"$RADDLE;c++\" -DCMAKE_CXX_LINKER_LAUNCHER=\"$RADDLE;c++\"";
    let own_names = "-DCMAKE_C_COMPILER=$PWD/raddle-cc -DCMAKE_CXX_COMPILER=$PWD/raddle-c++";
    let clang = "-DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19";
    for options in [
        format!("-G Ninja {launchers}"),
        format!("-G 'Unix Makefiles' {launchers} {clang}"),
        format!("-G Ninja {launchers} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON"),
        format!("-G Ninja {own_names}"),
    ] {
        bench.good(&format!("rm -rf build; cmake -B build {options} 2>&1 && cmake --build build 2>&1"));
        assert_eq!(bench.good("build/program"), SAID, "{options}");
        bench.has_hooks("build/program");
        bench.has_hooks("build/liblibrary.so");
    }
}

#[test]
fn configure_and_libtool() {
    let bench = Bench::new();
    bench.sources();
    let files = ["libtool", "ltoptions", "ltsugar", "ltversion", "lt~obsolete"];
    let macros: String = files.map(|name| format!("m4_include([/usr/share/aclocal/{name}.m4])\n")).concat();
    bench.file(
        "configure.ac",
        &("AC_INIT([p], [1])\nAC_CONFIG_MACRO_DIRS([m4])\n".to_owned()
            + &macros
            + "AC_PROG_CC\nAC_CHECK_HEADERS([stdatomic.h])\nAC_CHECK_FUNCS([memcpy mempcpy no_such_function])\n\
               AC_SEARCH_LIBS([sqrt], [m])\nAC_CHECK_SIZEOF([long])\nLT_INIT\n\
               AC_CONFIG_HEADERS([config.h])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n"),
    );
    bench.file("config.h.in", "#undef HAVE_MEMPCPY\n#undef HAVE_NO_SUCH_FUNCTION\n#undef SIZEOF_LONG\n");
    bench.file(
        "Makefile.in",
        "program: main.lo other.lo liblibrary.la\n\t./libtool --tag=CC --mode=link @CC@ @CFLAGS@ -o $@ $^\n\
         liblibrary.la: library.lo\n\t./libtool --tag=CC --mode=link @CC@ @CFLAGS@ -o $@ $^ -rpath /usr/local/lib\n\
         %.lo: %.c\n\t./libtool --tag=CC --mode=compile @CC@ @CFLAGS@ -c $<\n",
    );
    bench.good("libtoolize --install --copy 2>&1 && autoconf 2>&1");
    for cc in ["$RADDLE cc", "$RADDLE cc clang-19"] {
        let said = bench.good(&format!("./configure CC=\"{cc}\" 2>&1 && make -B 2>&1"));
        assert!(said.contains("whether we are cross compiling... no"), "{said}");
        assert!(said.contains("whether to build shared libraries... yes"), "{said}");
        let header = std::fs::read_to_string(bench.path("config.h")).expect("a header");
        assert!(header.contains("#define HAVE_MEMPCPY 1") && header.contains("#define SIZEOF_LONG 8"), "{header}");
        assert!(header.contains("/* #undef HAVE_NO_SUCH_FUNCTION */"), "{header}");
        assert_eq!(bench.good("./program"), SAID, "{cc}");
        bench.has_hooks(".libs/liblibrary.so");
        bench.has_hooks(".libs/program");
    }
}

#[test]
fn a_program_under_raddle() {
    let bench = Bench::new();
    bench.file("deadlock.c", DEADLOCK);
    for cc in COMPILERS {
        bench.quiet(&format!("$RADDLE cc {cc} -O1 -pthread deadlock.c -o deadlock"));
        bench.has_hooks("deadlock");
        let mut test = bench.raddle("test --seed 1 --runs 500 -- ./deadlock");
        let (status, said) = outcome(test.env("RADDLE_RUNTIME", runtime()));
        assert_eq!(status, 1, "{said}");
        assert!(said.contains("deadlock found in run"), "{said}");
    }
}

#[test]
fn the_help_names_them() {
    let bench = Bench::new();
    let help = bench.good("$RADDLE --help");
    assert!(help.contains("\n  cc ") && help.contains("\n  c++ "), "{help}");
    assert!(bench.good("$RADDLE cc gcc --help").starts_with("Usage: gcc [options] file..."));
}
