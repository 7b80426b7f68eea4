//! Real programs, damaged in many ways: ELF headers, tables of sections and symbols, debug information. What can be read of
//! them does not matter; that it comes to an end does, without a panic and without taking all memory.
//!
//! Each test makes a number of inputs from a fixed seed; RADDLE_FUZZ_CASES sets another number. An input that breaks
//! something is kept in the folder for temporary files, and named.

#[allow(dead_code)]
#[path = "support/mutate.rs"]
mod mutate;
#[allow(dead_code)]
#[path = "processes/support.rs"]
mod programs;

use std::fs;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::{Mutex, Once};

use object::{Object, ObjectSection, ObjectSymbol};
use raddle_inspect::build_id::build_id;
use raddle_inspect::builds::Builds;
use raddle_inspect::symbols::Symbols;
use raddle_inspect::{dynamic_symbols, elf};
use tempfile::TempDir;

use mutate::{cases, forget_peak, peak, Mutator};
use programs::{c, cpp, Built};

/// Seconds of computing after which the watchdog ends this process. It only guards against a parser that never ends: all
/// inputs together take a small part of it, unless RADDLE_FUZZ_CASES asks for more.
const WATCHDOG: u64 = 900;

/// More than any of the small programs here is worth.
const MEMORY: u64 = 256 << 20;

const C: &str = r#"
#include <pthread.h>
#include <stdio.h>
typedef struct node { struct node *next; int value; } node_t;
static struct { int length; node_t table[4]; union { long whole; char bytes[8]; }; } queue;
static const volatile node_t grid[2][3];
int counter = 7;
static inline __attribute__((always_inline)) int twice(int x) { return counter += 2 * x; }
static long step(const char *name, unsigned long size, _Bool flag, double real) {
    static int calls;
    return ++calls + queue.table[flag].value + size + (long)real + name[0] + grid[1][2].value;
}
int main(int count, char **words) { return twice(count) + step(words[0], 3, 1, 2.0) > 0 ? 0 : 1; }
"#;

const CPP: &str = r#"
#include <atomic>
#include <mutex>
#include <string>
namespace ns { struct Base { long base; virtual ~Base() {} }; struct Config : virtual Base { int list[3]; static int shared; }; }
int ns::Config::shared = 4;
static ns::Config config;
namespace { std::atomic<int> hidden; std::mutex lock; }
template <class T> struct Holder { T inner; T get() { static T kept; return kept = inner; } };
int main() { Holder<int> h{3}; std::lock_guard<std::mutex> guard(lock); return hidden + h.get() + config.list[0] > 0; }
"#;

/// A program as it was built, and where what is in it lies.
struct Subject {
    bytes: Vec<u8>,
    /// The headers, and the sections that are worth damaging.
    parts: Vec<Range<usize>>,
    /// The entries of the table of sections.
    headers: Vec<Range<usize>>,
    addresses: Vec<u64>,
}

impl Subject {
    fn new(built: &Built) -> Subject {
        let bytes = fs::read(&built.path).expect("read");
        let file = object::File::parse(&*bytes).expect("a program");
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) as usize;
        let count = usize::from(u16::from_le_bytes([bytes[60], bytes[61]]));
        let headers: Vec<_> = (0..count).map(|index| word(40) + 64 * index).map(|at| at..at + 64).collect();
        let telling =
            [".debug", ".symtab", ".strtab", ".dyn", ".shstrtab", ".note", ".eh_frame", ".interp", ".comment"];
        let sections = file
            .sections()
            .filter(|section| section.name().is_ok_and(|name| telling.iter().any(|start| name.starts_with(start))));
        let ranges = sections.filter_map(|section| section.file_range());
        let sections = ranges.map(|(start, length)| start as usize..(start + length) as usize);
        let mut parts: Vec<_> = sections.filter(|part| !part.is_empty()).collect();
        parts.extend([0..64, 64..64 + 56 * usize::from(bytes[56])]);
        let mut addresses: Vec<u64> = file
            .symbols()
            .filter(|symbol| symbol.size() > 0)
            .flat_map(|symbol| [symbol.address(), symbol.address() + symbol.size() / 2])
            .collect();
        addresses.extend([0, 1, 0x1000, u64::MAX, u64::MAX - 7]);
        addresses.sort_unstable();
        addresses.dedup();
        drop(file);
        Subject { bytes, parts, headers, addresses }
    }

    /// A damaged copy.
    fn damaged(&self, mutator: &mut Mutator) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for _ in 0..=mutator.below(3) {
            match mutator.below(8) {
                0 => {
                    // A word of a section's header: its name, kind, flags, address, place, size and so on.
                    let header = mutator.one(&self.headers).clone();
                    let at = header.start + 8 * mutator.below(8);
                    let number = mutator.edge().to_le_bytes();
                    if let Some(word) = bytes.get_mut(at..at + 8) {
                        word.copy_from_slice(&number);
                    }
                }
                1 => {
                    // Two sections change places.
                    let (one, other) = (mutator.one(&self.headers).start, mutator.one(&self.headers).start);
                    for at in 24..40 {
                        if one.max(other) + at < bytes.len() {
                            bytes.swap(one + at, other + at);
                        }
                    }
                }
                2 if mutator.below(4) == 0 => {
                    let length = mutator.below(bytes.len());
                    bytes.truncate(length);
                }
                _ => {
                    let part = mutator.one(&self.parts).clone();
                    mutator.damage(&mut bytes, part);
                }
            }
        }
        bytes
    }
}

/// Where the damaged programs lie, one after the other.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Place {
        static GUARD: Once = Once::new();
        GUARD.call_once(|| {
            // SAFETY: limits this process only.
            unsafe {
                let limit = libc::rlimit { rlim_cur: WATCHDOG, rlim_max: libc::RLIM_INFINITY };
                if std::env::var_os("RADDLE_FUZZ_CASES").is_none() {
                    libc::setrlimit(libc::RLIMIT_CPU, &limit);
                }
            }
        });
        Place { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    /// Gives a program to everything that reads programs.
    fn read(&self, bytes: &[u8], addresses: &[u64], run_loader: bool) {
        let path = self.path();
        // A new file, as the one before it may still be known by its number.
        let _ = fs::remove_file(&path);
        fs::write(&path, bytes).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
        let read = || {
            let _ = build_id(&path);
            let _ = (dynamic_symbols::exported(&path), dynamic_symbols::undefined(&path));
            let builds = Builds::default();
            let build = builds.at(&path).expect("a file that is there");
            let _ = builds.first_address(build);
            let in_memory = Symbols::of_bytes(bytes.to_vec());
            for &address in addresses {
                let _ = builds.places(build, address);
                let _ = builds.variable(build, address);
                let _ = in_memory.places(address);
                if let Some(signature) = builds.signature(build, address) {
                    let _ = (signature.arguments(&[u64::MAX; 6]), signature.returned(u64::MAX));
                }
            }
            if run_loader {
                let _ = elf::inspect(&path);
            }
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(read)) {
            eprintln!("this program is kept in {}", mutate::keep("program", bytes).display());
            std::panic::resume_unwind(panic);
        }
    }
}

fn fuzz(built: &Built, seed: u64, usual: u64) {
    // The memory is that of the whole process.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (place, subject) = (Place::new(), Subject::new(built));
    place.read(&subject.bytes, &subject.addresses, true);
    let mut mutator = Mutator::new(seed);
    let before = forget_peak();
    for case in 0..cases(usual) {
        let bytes = subject.damaged(&mut mutator);
        let addresses: Vec<u64> = (0..4).map(|_| *mutator.one(&subject.addresses)).collect();
        place.read(&bytes, &addresses, case % 16 == 0);
        let more = peak().saturating_sub(before);
        assert!(more < MEMORY, "{} MiB for {}", more >> 20, mutate::keep("memory", &bytes).display());
    }
}

#[test]
fn c_with_dwarf_5() {
    fuzz(&c(C, &["-g", "-O1", "-gdwarf-5"]), 1, 400);
}

#[test]
fn c_with_dwarf_4() {
    fuzz(&c(C, &["-g", "-gdwarf-4", "-fdebug-types-section"]), 2, 300);
}

#[test]
fn c_with_compressed_sections() {
    fuzz(&c(C, &["-g", "-gz=zlib"]), 3, 300);
}

#[test]
fn cpp_with_templates() {
    fuzz(&cpp(CPP, &["-g", "-O1"]), 4, 150);
}

#[test]
fn a_program_without_debug_information() {
    fuzz(&c(C, &["-O2"]), 5, 400);
}
