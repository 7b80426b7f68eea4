//! CMake, autoconf and libtool.

use std::os::unix::fs::symlink;

use super::bench::{Bench, RADDLE, SAID};

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
