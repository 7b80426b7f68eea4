//! What is linked, and by what.

use super::bench::{Bench, COMPILERS, SAID};

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
