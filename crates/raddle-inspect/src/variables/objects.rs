//! Variables of the symbol tables, and the sections that hold data.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::elf::{SHF_ALLOC, SHF_EXECINSTR, SHF_TLS};
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection, ObjectSymbol, ReadCache, SectionFlags, SymbolKind};

use super::{covering, Span, Variable};
use crate::names::demangled;

/// The variables of a file that have symbols, sorted by their start.
#[derive(Debug, Default)]
pub(super) struct Objects(Vec<Object>);

/// A variable with a symbol.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Object {
    pub(super) start: u64,
    /// Of aliases, the plainest name comes first: `environ`, not `__environ`.
    underscores: usize,
    pub(super) name: String,
    pub(super) size: u64,
}

impl Span for Object {
    fn start(&self) -> u64 {
        self.start
    }

    fn end(&self) -> u64 {
        self.start.saturating_add(self.size)
    }
}

impl Object {
    /// What lies at an address of this variable.
    pub(super) fn variable(&self, address: u64) -> Variable {
        let name = demangled(&self.name);
        let offset = address.saturating_sub(self.start);
        Variable { whole: name.clone(), name, size: self.size, offset, declared: None }
    }
}

impl Objects {
    /// Reads the symbol tables of ELF files; what cannot be read has no symbols.
    pub(super) fn read(paths: impl Iterator<Item = PathBuf>) -> Objects {
        let mut objects = Vec::new();
        for path in paths {
            // Whether there was anything to read does not matter: other files may have symbols.
            let _ = add(&path, &mut objects);
        }
        objects.sort_unstable();
        objects.dedup();
        Objects(objects)
    }

    /// The variable that has an address.
    pub(super) fn covering(&self, address: u64) -> Option<&Object> {
        covering(&self.0, address)
    }
}

fn add(path: &Path, objects: &mut Vec<Object>) -> Option<()> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let is_object = symbol.kind() == SymbolKind::Data && symbol.is_definition() && symbol.size() > 0;
        let Some(name) = symbol.name().ok().filter(|name| is_object && !name.is_empty()) else {
            continue;
        };
        // `stdout@@GLIBC_2.2.5`
        let name = name.split('@').next().unwrap_or(name).to_owned();
        let underscores = name.len() - name.trim_start_matches('_').len();
        objects.push(Object { start: symbol.address(), underscores, name, size: symbol.size() });
    }
    Some(())
}

/// Where the variables of a file can be: the sections that are loaded and neither code nor
/// thread-local, sorted by their start.
pub(super) fn data_sections(path: &Path) -> Vec<Range<u64>> {
    let read = || {
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
        let is_data = |flags| match flags {
            SectionFlags::Elf { sh_flags, .. } => {
                sh_flags.0 & (SHF_ALLOC.0 | SHF_EXECINSTR.0 | SHF_TLS.0) == SHF_ALLOC.0
            }
            _ => false,
        };
        let sections = file.sections().filter(|section| is_data(section.flags()) && section.address() > 0);
        Some(sections.map(|section| section.address()..section.address().saturating_add(section.size())).collect())
    };
    let mut sections: Vec<_> = read().unwrap_or_default();
    sections.sort_unstable_by_key(|section| section.start);
    sections
}
