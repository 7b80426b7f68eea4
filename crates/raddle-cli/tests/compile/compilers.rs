//! The compiler behind `raddle cc`: which one it is, and that its messages, answers and end are its own.

use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::bench::{Bench, COMPILERS, RADDLE};
use super::support::WATCHDOG;

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
fn the_help_names_them() {
    let bench = Bench::new();
    let help = bench.good("$RADDLE --help");
    assert!(help.contains("\n  cc ") && help.contains("\n  c++ "), "{help}");
    assert!(bench.good("$RADDLE cc gcc --help").starts_with("Usage: gcc [options] file..."));
}
