//! The variables of real programs, by the addresses that the programs themselves tell.

use std::fs;
use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSection, ObjectSymbol};
use raddle_inspect::variables::{Variable, Variables};

use crate::support::{c, compile, cpp, rust, tool, Built};

const C: &str = r#"
#include <stdatomic.h>
#include <stdio.h>
extern char __executable_start;
#define SHOW(text, what) printf("%s=%lx\n", text, (unsigned long)((char *)&(what) - &__executable_start))

int counter = 7; // at: counter
static volatile int quiet;
static _Atomic int ready;
const int fixed = 5;
typedef struct node { struct node *next; int value; } node_t;
struct { int unused; struct { node_t *head; int length; } inner; node_t table[4]; } queue; // at: queue
node_t table[5];
static const volatile node_t grid[2][3][4];
union { long whole; char bytes[8]; } both;
struct { char tag; union { int number; char text[12]; }; struct { short low, high; }; } mixed;
struct { int plain; unsigned first : 3, second : 4, third : 20; int after; } bits;
struct { char size; char flexible[]; } open_ended = {3, {1, 2, 3, 4, 5}};
struct padded { char small; long large; } padding;
__thread int own;
__attribute__((noinline)) int step(void) {
  static int calls; // at: calls
  static node_t memory[2];
  SHOW("calls (static in step)", calls);
  SHOW("memory[1].value (static in step)", memory[1].value);
  return ++calls + ++memory[1].value;
}
int main(void) {
  SHOW("counter", counter);
  SHOW("quiet", quiet);
  SHOW("ready", ready);
  SHOW("fixed", fixed);
  SHOW("queue.inner.head", queue.inner.head);
  SHOW("queue.inner.length", queue.inner.length);
  SHOW("queue.table[3].next", queue.table[3].next);
  SHOW("table[2].value", table[2].value);
  SHOW("grid[1][2][3].value", grid[1][2][3].value);
  SHOW("both.whole", both.bytes[3]);
  SHOW("mixed.tag", mixed.tag);
  SHOW("mixed.number", mixed.number);
  SHOW("mixed.text[5]", mixed.text[5]);
  SHOW("mixed.high", mixed.high);
  SHOW("bits.plain", bits.plain);
  SHOW("bits.{first,second,third}", *(&bits.plain + 1));
  SHOW("bits.third", *((char *)(&bits.plain + 1) + 1));
  SHOW("bits.after", bits.after);
  SHOW("open_ended.size", open_ended.size);
  SHOW("open_ended.flexible[4]", open_ended.flexible[4]);
  SHOW("padding", *(&padding.small + 1));
  SHOW("padding.large", padding.large);
  counter += ready++ + quiet++ + step() + mixed.number + bits.second + own + both.whole;
  return 0;
}
"#;

const CPP: &str = r#"
#include <atomic>
#include <cstdio>
#include <mutex>
extern char __executable_start;
#define SHOW(text, what) std::printf("%s=%lx\n", text, (unsigned long)((char *)&(what) - &__executable_start))

namespace ns {
struct Base { long base; };
struct Other { int other; };
struct Config : Base, Other { int flags; static int shared; int list[3]; };
Config config; // at: config
int Config::shared = 4; // at: shared
inline int everywhere = 3;
template <class T> struct Holder { static T held; };
template <class T> T Holder<T>::held;
namespace { int hidden; }
static int quiet;
}
struct Shape { virtual ~Shape() {} int corners; } shape;
struct Virtual : virtual ns::Base { int mine; } diamond;
static std::atomic<int> hits;
static int plain;
struct { std::atomic<bool> done; std::mutex lock; } state;
int calls() {
  static int count; // at: count
  SHOW("count (static in calls())", count);
  return ++count;
}
struct Method {
  int run() { static int runs; SHOW("runs (static in Method::run())", runs); return ++runs; }
};
int main() {
  SHOW("ns::config.base", ns::config.base);
  SHOW("ns::config.other", ns::config.other);
  SHOW("ns::config.flags", ns::config.flags);
  SHOW("ns::config.list[2]", ns::config.list[2]);
  SHOW("ns::Config::shared", ns::Config::shared);
  SHOW("ns::everywhere", ns::everywhere);
  SHOW("ns::Holder<int>::held", ns::Holder<int>::held);
  SHOW("ns::(anonymous namespace)::hidden", ns::hidden);
  SHOW("ns::quiet", ns::quiet);
  SHOW("shape.corners", shape.corners);
  SHOW("diamond.mine", diamond.mine);
  SHOW("hits", hits);
  SHOW("plain", plain);
  SHOW("state.done", state.done);
  Method method;
  return hits++ + plain++ + ns::quiet++ + calls() + method.run() > 100;
}
"#;

const RUST: &str = r#"
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::*;
use std::sync::Mutex;
extern "C" { static __executable_start: u8; }
fn show<T>(text: &str, what: *const T) {
    println!("{text}={:x}", what as usize - &raw const __executable_start as usize);
}
pub static FLAG: AtomicBool = AtomicBool::new(false); // at: FLAG
static POINTER: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static mut COUNTER: u64 = 7;
static mut PAIR: (u8, u32) = (1, 2);
struct Point { x: u32, y: AtomicU64 }
struct Shared<T>(T);
unsafe impl<T> Sync for Shared<T> {}
static POINTS: Shared<UnsafeCell<[Point; 3]>> = Shared(UnsafeCell::new([const { Point { x: 1, y: AtomicU64::new(2) } }; 3]));
static CELL: Shared<Cell<u32>> = Shared(Cell::new(1));
static LOCK: Mutex<(u64, u64)> = Mutex::new((1, 2));
static mut MAYBE: Option<(u64, u64)> = Some((1, 2));
#[no_mangle] pub static mut EXPORTED: [u16; 4] = [1, 2, 3, 4];
mod inner { pub static LEVEL: super::AtomicUsize = super::AtomicUsize::new(5); }
fn step() -> usize {
    static LOCAL: AtomicUsize = AtomicUsize::new(5);
    show("program::step::LOCAL", &LOCAL);
    LOCAL.fetch_add(1, Ordering::SeqCst)
}
fn main() {
    show("program::FLAG", &FLAG);
    show("program::POINTER", &POINTER);
    show("program::COUNTER", &raw const COUNTER);
    show("program::inner::LEVEL", &inner::LEVEL);
    let guard = LOCK.lock().unwrap();
    show("program::LOCK.data.1", &raw const guard.1);
    unsafe {
        show("program::PAIR.0", &raw const PAIR.0);
        show("program::PAIR.1", &raw const PAIR.1);
        let points = POINTS.0.get();
        show("program::POINTS.0[1].x", &raw const (*points)[1].x);
        show("program::POINTS.0[2].y", &raw const (*points)[2].y);
        show("program::CELL.0", CELL.0.as_ptr());
        show("program::EXPORTED[3]", &raw const EXPORTED[3]);
        show("program::MAYBE", &raw const MAYBE);
        COUNTER += step() as u64 + FLAG.load(Ordering::SeqCst) as u64 + inner::LEVEL.load(Ordering::SeqCst) as u64;
        (*points)[1].x += (*points)[2].y.load(Ordering::SeqCst) as u32;
        PAIR.1 += CELL.0.get();
        POINTER.store(&raw mut PAIR.0, Ordering::SeqCst);
        MAYBE = MAYBE.map(|(a, b)| (b, a));
        EXPORTED[3] += 1;
    }
}
"#;

/// The addresses that a program prints, with what has to be found there.
fn addresses(built: &Built) -> Vec<(String, u64)> {
    let output = Command::new(&built.path).output().unwrap();
    assert!(output.status.success());
    // A program that is not position-independent starts at an address of its own.
    let start = symbol(&built.path, "__executable_start").unwrap_or(0);
    let line = |line: &str| {
        let (name, address) = line.rsplit_once('=').unwrap();
        (name.to_owned(), start + u64::from_str_radix(address, 16).unwrap())
    };
    String::from_utf8(output.stdout).unwrap().lines().map(line).collect()
}

/// The address of a symbol.
fn symbol(path: &Path, name: &str) -> Option<u64> {
    let bytes = fs::read(path).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let found = file.symbols().find(|symbol| symbol.name() == Ok(name));
    found.map(|symbol| symbol.address())
}

fn at(built: &Built, address: u64) -> Variable {
    Variables::of_file(&built.path).at(address).unwrap()
}

#[track_caller]
fn assert_names(built: &Built, how: &str) {
    let variables = Variables::of_file(&built.path);
    let (expected, found): (Vec<_>, Vec<_>) = addresses(built)
        .into_iter()
        .map(|(name, address)| {
            let found = variables.at(address).map_or("nothing".into(), |variable| variable.name);
            (name, found)
        })
        .unzip();
    assert!(expected.len() > 10);
    assert_eq!(found, expected, "{how}");
}

/// The ways of compiling C and C++ that change how debug information looks.
const FLAGS: [&[&str]; 6] = [
    &["-g", "-O0"],
    &["-g", "-O2"],
    &["-gdwarf-4", "-O0"],
    &["-gdwarf-4", "-O2", "-no-pie", "-gz"],
    &["-gdwarf-5", "-O1", "-fdebug-types-section"],
    &["-gdwarf-4", "-O1", "-fdebug-types-section", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
];

/// Compiles with clang; says so and gives nothing if it is not installed.
fn with_clang(compiler: &str, name: &str, source: &str, flags: &[&str]) -> Option<Built> {
    if Command::new(compiler).arg("--version").output().is_err() {
        println!("skipped: {compiler} is not installed (Debian has it in clang-19)");
        return None;
    }
    Some(compile(compiler, name, source, &[&["-pthread"], flags].concat()))
}

#[test]
fn of_c() {
    for flags in FLAGS {
        assert_names(&c(C, flags), &format!("gcc {flags:?}"));
    }
}

#[test]
fn of_c_by_clang() {
    for flags in FLAGS {
        if let Some(built) = with_clang("clang-19", "program.c", C, flags) {
            assert_names(&built, &format!("clang {flags:?}"));
        }
    }
}

#[test]
fn of_cpp() {
    for flags in FLAGS {
        let flags = [&["-std=c++17"], flags].concat();
        assert_names(&cpp(CPP, &flags), &format!("g++ {flags:?}"));
    }
}

#[test]
fn of_cpp_by_clang() {
    for flags in FLAGS {
        let flags = [&["-std=c++17"], flags].concat();
        if let Some(built) = with_clang("clang++-19", "program.cc", CPP, &flags) {
            assert_names(&built, &format!("clang++ {flags:?}"));
        }
    }
}

#[test]
fn of_rust() {
    let ways: [&[&str]; 3] = [&["-g"], &["-g", "-O"], &["-g", "-O", "-C", "symbol-mangling-version=v0"]];
    for flags in ways {
        assert_names(&rust(RUST, flags), &format!("rustc {flags:?}"));
    }
}

#[test]
fn sizes_offsets_and_declarations() {
    let built = c(C, &["-g"]);
    let addresses = addresses(&built);
    let find = |name: &str| {
        let (_, address) = addresses.iter().find(|(shown, _)| shown == name).unwrap();
        at(&built, *address)
    };
    let declared = |mark: &str| {
        let folder = built.folder.path().canonicalize().unwrap();
        Some((folder.join("program.c").display().to_string(), built.line(mark)))
    };

    let counter = find("counter");
    assert_eq!((counter.size, counter.offset, counter.declared), (4, 0, declared("counter")));
    let length = find("queue.inner.length");
    assert_eq!((length.size, length.offset, length.declared), (88, 16, declared("queue")));
    assert_eq!(length.whole, "queue");
    let calls = find("calls (static in step)");
    assert_eq!((calls.size, calls.offset, calls.declared), (4, 0, declared("calls")));
    assert_eq!(calls.whole, "calls");
    let open_ended = find("open_ended.flexible[4]");
    assert_eq!((open_ended.size, open_ended.offset), (6, 5), "the symbol table knows more than the type");

    let built = cpp(CPP, &["-g", "-std=c++17"]);
    let (_, config) = addresses_of(&built, "ns::config.flags");
    assert_eq!(config.declared.unwrap().1, built.line("config"));
    let (_, shared) = addresses_of(&built, "ns::Config::shared");
    assert_eq!(shared.declared.unwrap().1, built.line("shared"));
}

fn addresses_of(built: &Built, name: &str) -> (u64, Variable) {
    let (_, address) = addresses(built).into_iter().find(|(shown, _)| shown == name).unwrap();
    (address, at(built, address))
}

#[test]
fn in_a_separate_file() {
    for flags in [&["-g", "-O0"], &["-g", "-O2"]] {
        let built = c(C, flags);
        let debug = built.folder.path().join("program.debug");
        let link = format!("--add-gnu-debuglink={}", debug.display());
        tool("objcopy", &[Path::new("--only-keep-debug"), &built.path, &debug]);
        tool("strip", &[&built.path]);
        tool("objcopy", &[Path::new(&link), &built.path]);
        assert_names(&built, &format!("{flags:?}, separate"));
    }
}

#[test]
fn without_debug_information() {
    let built = c(C, &["-rdynamic"]);
    let (table, quiet) = (symbol(&built.path, "table").unwrap(), symbol(&built.path, "quiet").unwrap());
    let expected = Variable { name: "table".into(), whole: "table".into(), size: 80, offset: 17, declared: None };
    assert_eq!(at(&built, table + 17), expected);
    assert_eq!(at(&built, quiet).name, "quiet");
    let variables = Variables::of_file(&built.path);
    assert_eq!(variables.at(symbol(&built.path, "main").unwrap()), None, "a function is no variable");
    assert_eq!(variables.at(symbol(&built.path, "own").unwrap()), None, "thread-local");
    assert_eq!(variables.at(0), None);
    assert_eq!(variables.at(u64::MAX), None);

    tool("strip", &[&built.path]);
    assert_eq!(at(&built, table).name, "table", "the dynamic symbols are left");
    assert_eq!(Variables::of_file(&built.path).at(quiet), None);

    let built = cpp(CPP, &["-std=c++17"]);
    let config = symbol(&built.path, "_ZN2ns6configE").unwrap();
    let config = at(&built, config + 12);
    assert_eq!((config.name.as_str(), config.size, config.offset), ("ns::config", 32, 12));
}

const SPLIT: &str = r#"
static struct { int left, right; } pair; // at: pair
static int shrunk; // at: shrunk
__attribute__((noinline)) void set(int x) { pair.left = x; pair.right = x + 1; shrunk = 9; }
__attribute__((noinline)) int get(void) { return pair.left * pair.right + shrunk; }
int main(int count, char **arguments) { (void)arguments; if (count > 1) set(count); return get(); }
"#;

#[test]
fn variables_that_an_optimizer_took_apart() {
    let Some(built) = with_clang("clang-19", "program.c", SPLIT, &["-g", "-O2"]) else {
        return;
    };
    let right = at(&built, symbol(&built.path, "pair.1").unwrap());
    assert_eq!((right.name.as_str(), right.size, right.offset), ("pair.right", 8, 4));
    assert_eq!(right.declared.unwrap().1, built.line("pair"));
    let shrunk = at(&built, symbol(&built.path, "shrunk").unwrap());
    assert_eq!((shrunk.name.as_str(), shrunk.size), ("shrunk", 1));
    assert_eq!(shrunk.declared.unwrap().1, built.line("shrunk"));
}

/// Numbers that are the same in every run (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}

/// Asks for all addresses of a program with flipped bytes in some sections.
fn ask_damaged(built: &Built, sections: &[&str], flips: usize, rounds: u64) {
    let bytes = fs::read(&built.path).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let parts: Vec<_> = sections.iter().filter_map(|name| file.section_by_name(name)?.file_range()).collect();
    assert!(!parts.is_empty());
    let asked: Vec<_> = addresses(built).into_iter().map(|(_, address)| address).collect();
    let copy = built.folder.path().join("damaged");
    for seed in 1..=rounds {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut damaged = bytes.clone();
        for _ in 0..flips {
            let (offset, size) = parts[numbers.next(parts.len())];
            let at = offset as usize + numbers.next(size as usize);
            damaged[at] = numbers.next(256) as u8;
        }
        fs::write(&copy, damaged).unwrap();
        let variables = Variables::of_file(&copy);
        for address in &asked {
            for near in 0..16 {
                // That it answers, and comes to an end, is the test: what it says may be wrong.
                let _ = variables.at(address + near);
            }
        }
    }
}

#[test]
fn damaged_debug_information() {
    let programs = [c(C, &["-g"]), c(C, &["-gdwarf-4"]), cpp(CPP, &["-g", "-std=c++17", "-fdebug-types-section"])];
    for built in programs {
        ask_damaged(&built, &[".debug_info"], 1, 60);
        ask_damaged(&built, &[".debug_info"], 20, 60);
        let all = [".debug_info", ".debug_abbrev", ".debug_line", ".debug_line_str", ".debug_str", ".debug_types"];
        ask_damaged(&built, &all, 10, 60);
        ask_damaged(&built, &[".symtab", ".strtab", ".shstrtab"], 10, 20);
    }
}

/// Debug information that leads nowhere, or back to where it was.
const LOOPS: &str = r#"
.globl main
.text
main: xorl %eax, %eax
 ret
.macro variable name
.globl \name
.type \name, @object
.size \name, 16
\name: .skip 16
.endm
.data
variable same
variable nest
variable array
variable own
variable deep
.section .debug_abbrev
.byte 1,0x11,1, 0,0
.byte 2,0x34,0, 3,8, 0x49,0x13, 2,0x18, 0,0
.byte 3,0x16,0, 0x49,0x13, 0,0
.byte 4,0x13,1, 0x0b,0x0b, 0,0
.byte 5,0x0d,0, 3,8, 0x49,0x13, 0x38,0x0b, 0,0
.byte 6,0x01,1, 0x49,0x13, 0,0
.byte 7,0x21,0, 0x37,0x0f, 0,0
.byte 8,0x39,1, 3,8, 0,0
.byte 9,0x34,0, 0x47,0x13, 2,0x18, 0,0
.byte 0
.macro described name, type
.byte 2
.asciz "\name"
.long \type - unit
.byte 9, 3
.quad \name
.endm
.section .debug_info
unit: .long end - unit - 4
.value 4
.long .debug_abbrev
.byte 8
.byte 1
described same, Lsame
described nest, Lnest
described array, Larray
Lown: .byte 9
.long Lown - unit
.byte 9, 3
.quad own
Lsame: .byte 3
.long Lsame - unit
Lnest: .byte 4, 16, 5
.asciz "again"
.long Lnest - unit
.byte 0, 0
Larray: .byte 6
.long Larray - unit
.byte 7, 2, 7, 2, 0
.rept 200000
.byte 8
.asciz "n"
.endr
described deep, Lnest
.fill 200001, 1, 0
end:
.section .note.GNU-stack
"#;

/// Units whose tables of abbreviations are each a part of the one before.
const OVERLAPS: &str = r#"
.globl main
.text
main: xorl %eax, %eax
 ret
.set code, 128
.section .debug_abbrev
.rept 16000
.uleb128 code
.byte 0x11, 0, 0, 0
.set code, code + 1
.endr
.byte 0
.section .debug_info
.set table, 0
.rept 16000
.long 9
.value 4
.long .debug_abbrev + table
.byte 8
.uleb128 128 + table / 6
.set table, table + 6
.endr
.section .note.GNU-stack
"#;

#[test]
fn hostile_debug_information() {
    // Followed without a budget, these would take for ever.
    let built = compile("gcc", "program.s", LOOPS, &[]);
    let name = |name: &str| at(&built, symbol(&built.path, name).unwrap()).name;
    assert_eq!(name("same"), "same");
    assert!(name("nest").starts_with("nest.again.again"), "{}", name("nest"));
    assert_eq!(name("array"), "array");
    assert_eq!(name("own"), "own");
    assert!(name("deep").starts_with("n::n::"));
    assert!(name("deep").contains("::deep.again"), "{}", name("deep"));

    let built = compile("gcc", "program.s", OVERLAPS, &[]);
    assert_eq!(Variables::of_file(&built.path).at(symbol(&built.path, "main").unwrap()), None);
}

#[test]
fn a_file_that_was_cut_off() {
    let built = c(C, &["-g"]);
    let bytes = fs::read(&built.path).unwrap();
    let (address, _) = addresses_of(&built, "counter");
    for length in (0..bytes.len()).step_by(bytes.len() / 40) {
        let copy = built.folder.path().join("cut");
        fs::write(&copy, &bytes[..length]).unwrap();
        let _ = Variables::of_file(&copy).at(address);
    }
}
