//! What is known of a build: the same wherever its file is, and never that of another build.

use std::fs;
use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSymbol};
use raddle_inspect::builds::{Build, Builds};

use crate::support::{c, compile, cpp, rust, tool, Built};

const LIBRARY: &[&str] = &["-g", "-shared", "-fPIC"];

fn library(function: &str, flags: &[&str]) -> Built {
    c(&format!("int count; int {function}(void) {{ return ++count; }}"), &[LIBRARY, flags].concat())
}

fn symbol(path: &Path, name: &str) -> u64 {
    let bytes = fs::read(path).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let found = file.symbols().find(|symbol| symbol.name() == Ok(name));
    found.unwrap_or_else(|| panic!("no symbol {name}")).address()
}

fn function(builds: &Builds, build: Build, address: u64) -> Option<String> {
    builds.places(build, address).pop()?.function
}

#[test]
fn the_same_library_at_two_paths_is_one_build() {
    let built = library("first", &[]);
    let copy = built.folder.path().join("copy.so");
    fs::copy(&built.path, &copy).unwrap();
    let link = built.folder.path().join("link.so");
    std::os::unix::fs::symlink(&copy, &link).unwrap();
    let builds = Builds::default();
    let build = builds.at(&built.path).unwrap();
    assert_eq!(builds.at(&copy), Some(build));
    assert_eq!(builds.at(&link), Some(build));
    // Those who know only the build-id find it too, whatever is at the path by now.
    let id = Command::new("readelf").arg("-n").arg(&built.path).output().unwrap();
    let id = String::from_utf8(id.stdout).unwrap();
    let id = id.split("Build ID: ").nth(1).unwrap().trim_end().lines().next().unwrap();
    let id: Vec<u8> = (0..id.len()).step_by(2).map(|at| u8::from_str_radix(&id[at..at + 2], 16).unwrap()).collect();
    assert_eq!(builds.with_id(Path::new("/no/such/file"), &id), Some(build));
    assert_eq!(builds.with_id(&built.path, &id[1..]), None);
}

#[test]
fn another_build_at_the_same_path_is_another_build() {
    for flags in [&[][..], &["-Wl,--build-id=none"]] {
        let (built, next) = (library("first", flags), library("second", flags));
        let builds = Builds::default();
        let old = builds.at(&built.path).unwrap();
        let address = symbol(&built.path, "first");
        let variable = symbol(&built.path, "count");
        // As linkers do it: a new file under the old name. Nothing of the old one was read but its headers.
        fs::remove_file(&built.path).unwrap();
        fs::copy(&next.path, &built.path).unwrap();
        let new = builds.at(&built.path).unwrap();
        assert_ne!(old, new, "{flags:?}");
        assert_eq!(function(&builds, old, address).as_deref(), Some("first"));
        assert_eq!(function(&builds, new, symbol(&next.path, "second")).as_deref(), Some("second"));
        assert_eq!(builds.variable(old, variable).unwrap().name, "count");
        fs::remove_file(&built.path).unwrap();
        assert_eq!(builds.at(&built.path), None);
        assert_eq!(function(&builds, old, address).as_deref(), Some("first"));
    }
}

#[test]
fn a_library_that_was_written_over_has_no_names_left() {
    let (built, next) = (library("first", &[]), library("second_and_longer", &[]));
    let builds = Builds::default();
    let old = builds.at(&built.path).unwrap();
    let address = symbol(&built.path, "first");
    fs::write(&built.path, fs::read(&next.path).unwrap()).unwrap();
    assert_ne!(builds.at(&built.path), Some(old));
    assert_eq!(function(&builds, old, address), None);
}

#[test]
fn a_stripped_copy_takes_no_names_away() {
    let built = library("first", &[]);
    let stripped = built.folder.path().join("stripped.so");
    fs::copy(&built.path, &stripped).unwrap();
    tool("strip", &[&stripped]);
    let builds = Builds::default();
    let address = symbol(&built.path, "first");
    let line = |path: &Path| builds.places(builds.at(path).unwrap(), address)[0].line;
    assert_eq!(line(&stripped), None);
    assert_eq!(line(&built.path), Some(1));
}

/// The arguments and the result of a function, if the integer registers are 1 to 6 and rax is -2.
fn told(built: &Built, name: &str) -> String {
    let builds = Builds::default();
    let build = builds.at(&built.path).unwrap();
    let signature = builds.signature(build, symbol(&built.path, name)).unwrap_or_else(|| panic!("no function {name}"));
    let value = signature.returned(-2i64 as u64);
    format!("({}) {}", signature.arguments(&[1, 2, 3, 4, 5, 6]), value.as_deref().unwrap_or("-"))
}

const C: &str = r#"
#include <stdbool.h>
#include <stdint.h>
struct small { int a, b; };
struct large { long a, b, c; };
typedef const unsigned char octet;
enum colour { RED, GREEN };
enum below { LOW = -1, HIGH };
#define APART __attribute__((noinline, noclone))
APART int add(int a, long b) { return a + b; }
APART double scale(double by, int count) { return by * count; }
APART int rounded(int a, float b, int c) { return a * b + c; }
APART struct large fill(int a, char *b) { struct large l = {a, *b, 0}; return l; }
APART struct small pair(int a) { struct small s = {a, a}; return s; }
APART long sum(struct large l, int a) { return l.a + a; }
APART void nothing(enum colour c, enum below b, octet o) { __asm__ volatile("" :: "r"(c), "r"(b), "r"(o)); }
APART bool truth(_Bool b) { return !b; }
APART uint16_t many(char a, short b, int c, long d, int *e, int f, int g) { return a + b + c + d + *e + f + g; }
APART int open(int a, ...) { return a; }
APART __int128 wide(int a) { return a; }
APART long double extended(int a) { return a; }
int main(void) { return 0; }
"#;

#[test]
fn arguments_and_results_of_c() {
    for (compiler, flags) in [("gcc", ["-g", "-O0"]), ("gcc", ["-g", "-O2"]), ("clang-19", ["-g", "-O1"])] {
        if Command::new(compiler).arg("--version").output().is_err() {
            continue;
        }
        let built = compile(compiler, "program.c", C, &flags);
        for (name, expected) in [
            ("add", "(1, 2) -2"),
            ("scale", "(…, 1) -"),
            ("rounded", "(1, …, 2) -2"),
            // The first register says where the result goes.
            ("fill", "(2, 0x3) -"),
            ("pair", "(…) -"),
            ("sum", "(…) -2"),
            ("nothing", "(1, 2, 3) -"),
            ("truth", "(true) true"),
            ("many", "(1, 2, 3, 4, 0x5, 6, …) 65534"),
            ("open", "(1, …) -2"),
            ("wide", "(…) -"),
            ("extended", "(…) -"),
        ] {
            assert_eq!(told(&built, name), expected, "{name}, {compiler} {flags:?}");
        }
    }
}

#[test]
fn arguments_and_results_of_cpp_and_rust() {
    let built = cpp(
        "struct Text { char *at; Text(const Text &); ~Text(); };\n\
         struct Bank { int sum; int add(int amount) { return sum += amount; } Text name(int); };\n\
         Text::Text(const Text &other) : at(other.at) {} Text::~Text() {}\n\
         int length(Text text, int more) { return *text.at + more; }\n\
         int &chosen(int &a, bool b) { return b ? a : *new int; }\n\
         int main() { Bank bank{}; return bank.add(2); }\n",
        &["-g"],
    );
    assert_eq!(told(&built, "_ZN4Bank3addEi"), "(0x1, 2) -2");
    assert_eq!(told(&built, "_Z6length4Texti"), "(…) -2");
    assert_eq!(told(&built, "_Z6chosenRib"), "(0x1, true) 0xfffffffffffffffe");
    let built = rust(
        "#[no_mangle] #[inline(never)] pub fn add(a: u32, b: i8, c: &u8) -> i64 { (a as i64) + b as i64 + *c as i64 }\n\
         #[no_mangle] #[inline(never)] pub fn slice(a: u8, b: &[u8], c: u8) -> usize { b.len() + (a + c) as usize }\n\
         #[no_mangle] #[inline(never)] pub fn nothing(a: u8) { std::hint::black_box(a); }\n\
         #[no_mangle] #[inline(never)] pub fn maybe(a: u8) -> Option<u64> { (a > 1).then_some(2) }\n\
         fn main() { nothing(slice(1, &[2], 3) as u8 + add(1, 2, &3) as u8 + maybe(2).unwrap() as u8); }\n",
        &["-g"],
    );
    assert_eq!(told(&built, "add"), "(1, 2, 0x3) -2");
    assert_eq!(told(&built, "slice"), "(1, …) 18446744073709551614");
    assert_eq!(told(&built, "nothing"), "(1) -");
    assert_eq!(told(&built, "maybe"), "(…) -");
}

#[test]
fn without_debug_information_nothing_is_said_of_parameters() {
    let built = c(C, &[]);
    let builds = Builds::default();
    let build = builds.at(&built.path).unwrap();
    assert_eq!(builds.signature(build, symbol(&built.path, "add")), None);
}
