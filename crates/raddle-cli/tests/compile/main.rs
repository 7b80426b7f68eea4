//! `raddle cc` and `raddle c++` with real compilers, linkers and build systems. Which packages have them
//! is in the Makefile.

mod bench;
mod build_systems;
mod compilers;
mod linking;
#[path = "../support/mod.rs"]
mod support;

use bench::{Bench, COMPILERS, SAID};
use support::{outcome, runtime, DEADLOCK};

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
