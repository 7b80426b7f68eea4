//! The tests of real test programs, listed and run one by one.
//!
//! The frameworks are those of Debian's libgtest-dev, catch2 and doctest-dev; a test whose framework
//! is not installed says so and passes.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use raddle_engine::each_test::{list, EachTestError, TestCase};

// The tests of raddle-inspect compile programs, too.
#[allow(dead_code)]
#[path = "../../raddle-inspect/tests/processes/support.rs"]
mod support;

use support::{c, cpp, rust, Built};

/// Whether a C++ header is installed; prints a note if not.
fn is_installed(header: &str, package: &str) -> bool {
    let program = format!("#if !__has_include(<{header}>)\n#error missing\n#endif\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("probe.cc");
    std::fs::write(&path, program).unwrap();
    let output = Command::new("g++").arg("-fsyntax-only").arg(path).output().unwrap();
    if !output.status.success() {
        println!("skipped: <{header}> is not installed (Debian has it in {package})");
    }
    output.status.success()
}

fn cases(built: &Built, arguments: &[&str]) -> Vec<TestCase> {
    let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
    list(&built.path, &arguments).unwrap().expect("a test framework")
}

fn names(cases: &[TestCase]) -> Vec<&str> {
    cases.iter().map(|case| case.name.as_str()).collect()
}

/// Runs each case and asserts that it ran one test: each test prints `ran` and its name.
fn assert_each_runs_alone(built: &Built, cases: &[TestCase]) {
    for case in cases {
        let output = Command::new(&built.path).args(&case.arguments).output().unwrap();
        let output = String::from_utf8_lossy(&output.stdout);
        let ran: Vec<_> = output.lines().filter_map(|line| line.split("ran: ").nth(1)).collect();
        assert_eq!(ran, [case.name.as_str()], "with {:?}:\n{output}", case.arguments);
    }
}

const GOOGLETEST: &str = r#"
#include <gtest/gtest.h>
#include <cstdio>
static void ran() {
  auto info = testing::UnitTest::GetInstance()->current_test_info();
  std::printf("ran: %s.%s\n", info->test_suite_name(), info->name());
}
TEST(Plain, One) { ran(); }
TEST(Plain, OneMore) { ran(); }
TEST(Plain, DISABLED_Two) { ran(); }
TEST(DISABLED_Suite, Three) { ran(); }
class Param : public testing::TestWithParam<const char *> {};
TEST_P(Param, Works) { ran(); }
INSTANTIATE_TEST_SUITE_P(Inst, Param, testing::Values("a  # b", "c\nd"));
template <class T> class Typed : public testing::Test {};
typedef testing::Types<int, char> Types;
TYPED_TEST_SUITE(Typed, Types);
TYPED_TEST(Typed, Case) { ran(); }
"#;

#[test]
fn googletest() {
    if !is_installed("gtest/gtest.h", "libgtest-dev") {
        return;
    }
    let built = cpp(GOOGLETEST, &["-lgtest_main", "-lgtest"]);
    let all = cases(&built, &[]);
    assert_eq!(
        names(&all),
        ["Plain.One", "Plain.OneMore", "Typed/0.Case", "Typed/1.Case", "Inst/Param.Works/0", "Inst/Param.Works/1"]
    );
    assert_each_runs_alone(&built, &all);
    let some = cases(&built, &["--gtest_filter=Plain.*", "--gtest_also_run_disabled_tests"]);
    assert_eq!(names(&some), ["Plain.One", "Plain.OneMore", "Plain.DISABLED_Two"]);
    assert_each_runs_alone(&built, &some);

    let stripped = cpp(GOOGLETEST, &["-O2", "-s", "-lgtest_main", "-lgtest"]);
    assert_eq!(cases(&stripped, &[]).len(), all.len(), "a stripped program is recognised");
}

const CATCH2: &str = r##"
#define CASE(name, ...) TEST_CASE(name, __VA_ARGS__) { std::puts("ran: " name); CHECK(true); }
CASE("plain", "")
CASE("plain two", "[tag]")
CASE("with, comma [and] brackets", "[tag]")
CASE("[starts] with a bracket", "")
CASE("a \"quoted\" word", "")
CASE("back\\slash", "")
CASE("in * side", "")
CASE("~tilde", "")
CASE("exclude:me", "")
CASE("# hash", "")
CASE("-dash", "")
CASE("a name that is much longer than the eighty columns after which a listing for people is broken", "")
CASE("hidden", "[.]")
"##;

fn check_catch2(built: &Built) {
    let all = cases(built, &[]);
    assert_eq!(all.len(), 12, "all but the hidden one: {:?}", names(&all));
    assert_each_runs_alone(built, &all);
    let tagged = cases(built, &["[tag]", "-r", "console", "-s"]);
    assert_eq!(names(&tagged), ["plain two", "with, comma [and] brackets"]);
    assert_each_runs_alone(built, &tagged);
}

#[test]
fn catch2_version_2() {
    if !is_installed("catch2/catch.hpp", "catch2 before version 3") {
        return;
    }
    let head = "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n#include <cstdio>\n";
    check_catch2(&cpp(&format!("{head}{CATCH2}"), &[]));
}

#[test]
fn catch2_version_3() {
    if !is_installed("catch2/catch_all.hpp", "catch2 from version 3") {
        return;
    }
    let head = "#include <catch2/catch_all.hpp>\n#include <cstdio>\n";
    let flags = ["-std=c++17", "-lCatch2Main", "-lCatch2"];
    check_catch2(&cpp(&format!("{head}{CATCH2}"), &flags));
}

#[test]
fn doctest() {
    if !is_installed("doctest/doctest.h", "doctest-dev") {
        return;
    }
    let source = r#"
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <cstdio>
TEST_CASE("plain") { std::puts("ran: plain"); }
TEST_CASE("with, comma * and [brackets]") { std::puts("ran: with, comma * and [brackets]"); }
TEST_CASE("skipped" * doctest::skip()) { std::puts("ran: skipped"); }
TEST_SUITE("suite") {
  TEST_CASE("plain two") { std::puts("ran: plain two"); }
}
"#;
    let built = cpp(source, &[]);
    let all = cases(&built, &[]);
    assert_eq!(names(&all), ["plain", "with, comma * and [brackets]", "plain two"]);
    assert_each_runs_alone(&built, &all);
    let some = cases(&built, &["--test-case=plain*"]);
    assert_eq!(names(&some), ["plain", "plain two"]);
    assert_each_runs_alone(&built, &some);
}

const LIBTEST: &str = r#"
mod bank {
    #[test]
    fn one() { println!("ran: bank::one"); }
    #[test]
    fn one_more() { println!("ran: bank::one_more"); }
    #[test]
    #[ignore]
    fn later() { println!("ran: bank::later"); }
    #[test]
    #[should_panic]
    fn panics() { println!("ran: bank::panics"); panic!() }
}
#[test]
fn outside() { println!("ran: outside"); }
"#;

#[test]
fn libtest() {
    for flags in [&["--test"][..], &["--test", "-O", "-C", "strip=symbols"]] {
        let built = rust(LIBTEST, flags);
        let all = cases(&built, &[]);
        assert_eq!(names(&all), ["bank::one", "bank::one_more", "bank::panics", "outside"]);
        assert_each_runs_alone(&built, &all);
        let some = cases(&built, &["one", "--test-threads", "2", "--include-ignored"]);
        assert_eq!(names(&some), ["bank::one", "bank::one_more"]);
        assert_each_runs_alone(&built, &some);
        assert_eq!(names(&cases(&built, &["--ignored"])), ["bank::later"]);
    }
}

/// A program without a framework must not even be started: who knows what it does with options.
#[test]
fn ordinary_programs_are_not_started() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("started");
    let source =
        format!("#include <stdio.h>\nint main(void) {{ return fclose(fopen(\"{}\", \"w\")); }}", trace.display());
    for built in [c(&source, &[]), cpp("int main() {}", &[]), rust("fn main() { println!(\"hello\"); }", &[])] {
        assert!(list(&built.path, &[]).unwrap().is_none());
    }
    assert!(!trace.exists());
    assert!(list(Path::new("/etc/passwd"), &[]).unwrap().is_none());
    assert!(matches!(list(Path::new("/no/such"), &[]), Err(EachTestError::Unreadable { .. })));
}

#[test]
fn a_test_program_that_cannot_list() {
    let built = rust(LIBTEST, &["--test"]);
    let error = list(&built.path, &["--no-such-option".into()]).unwrap_err().to_string();
    assert!(error.contains("--list --format terse ended with exit status: 101"), "{error}");
    assert!(error.contains("no-such-option"), "{error}");
}
