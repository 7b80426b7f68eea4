//! Which test framework a program contains, found without starting it.
//!
//! A framework that is linked in leaves the texts of its options in the read-only data, stripped or
//! not; one in a shared library leaves its functions among the undefined symbols.

use std::fs::File;
use std::io;
use std::path::Path;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, ReadCache};

/// A test framework that can list its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framework {
    GoogleTest,
    Catch2(Catch2),
    Doctest,
    Libtest,
}

/// The versions of Catch2 list their tests by different options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Catch2 {
    Two,
    Three,
}

/// What gives a framework away: all of these texts, or one undefined symbol of this beginning.
struct Mark {
    framework: Framework,
    texts: &'static [&'static str],
    symbol: Option<&'static str>,
}

/// Rust first: tests of a program that knows about other frameworks contain their texts too.
const MARKS: &[Mark] = &[
    Mark { framework: Framework::Libtest, texts: &["RUST_TEST_THREADS", "RUST_TEST_NOCAPTURE"], symbol: None },
    Mark {
        framework: Framework::GoogleTest,
        texts: &["--gtest_list_tests", "gtest_streaming_protocol_version"],
        symbol: Some("_ZN7testing8internal23MakeAndRegisterTestInfo"),
    },
    Mark {
        framework: Framework::Catch2(Catch2::Two),
        texts: &["--list-test-names-only", "--list-reporters"],
        symbol: None,
    },
    Mark {
        framework: Framework::Catch2(Catch2::Three),
        texts: &["--list-tests", "--benchmark-no-analysis"],
        symbol: Some("_ZN5Catch7AutoRegC"),
    },
    Mark {
        framework: Framework::Doctest,
        texts: &["[doctest] ", "list-test-cases"],
        symbol: Some("_ZN7doctest6detail8TestCaseC"),
    },
];

/// The framework that a program contains; `None` for a program without one and for a file that is
/// no 64-bit ELF program.
pub(super) fn framework(program: &Path) -> io::Result<Option<Framework>> {
    let cache = ReadCache::new(File::open(program)?);
    let Ok(file) = ElfFile64::<Endianness, _>::parse(&cache) else {
        return Ok(None);
    };
    let data: Vec<&[u8]> = file
        .sections()
        .filter(|section| section.name().is_ok_and(|name| name.starts_with(".rodata")))
        .filter_map(|section| section.data().ok())
        .collect();
    let has_text = |text: &&str| data.iter().any(|data| contains(data, text.as_bytes()));
    let has_symbol = |prefix: &str| {
        let mut undefined = file.dynamic_symbols().filter(|symbol| symbol.is_undefined());
        undefined.any(|symbol| symbol.name().is_ok_and(|name| name.starts_with(prefix)))
    };
    let found = MARKS.iter().find(|mark| mark.texts.iter().all(has_text) || mark.symbol.is_some_and(has_symbol));
    Ok(found.map(|mark| mark.framework))
}

fn contains(data: &[u8], text: &[u8]) -> bool {
    data.windows(text.len()).any(|part| part == text)
}
