//! Function, file and line of an address in a program or library.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use addr2line::Loader;

use super::debug_file;
use super::held::Held;
use super::names::demangled;
use super::symbol_table::SymbolTable;

/// Where an address lies in the source. A function that was inlined has a place of its own, before
/// the place of the function that it was inlined into.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The demangled name of the function, if anything tells it.
    pub function: Option<String>,
    /// The source file, as the compiler wrote it down.
    pub file: Option<String>,
    /// The line, counted from 1.
    pub line: Option<u32>,
}

/// What is known of the functions and lines of one program or library.
///
/// Debug information is read when the first address is asked for, from the file itself or from a
/// separate file; the symbol tables only when debug information does not cover an address.
#[derive(Default)]
pub struct Symbols {
    source: Source,
    debug: OnceCell<Option<Loader>>,
    table: OnceCell<SymbolTable>,
}

#[derive(Default)]
enum Source {
    /// Nothing can be read: a file that was deleted or is damaged.
    #[default]
    Nowhere,
    File(Arc<Held>),
    Bytes(Vec<u8>),
}

impl Symbols {
    /// The symbols of an ELF file.
    pub fn of_file(path: &Path) -> Self {
        Held::open(path).map_or_else(|_| Self::default(), |held| Self::of_held(Arc::new(held)))
    }

    /// The symbols of an ELF file that is held open.
    pub(super) fn of_held(held: Arc<Held>) -> Self {
        Symbols { source: Source::File(held), ..Self::default() }
    }

    /// The symbols of an ELF file that is in memory.
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        Symbols { source: Source::Bytes(bytes), ..Self::default() }
    }

    /// The places of an address, the innermost first; one place with nothing in it if nothing is
    /// known.
    ///
    /// The address is one of the file, not of the process that it is mapped into.
    pub fn places(&self, address: u64) -> Vec<Place> {
        let mut places = self.debug().and_then(|debug| from_debug_info(debug, address)).unwrap_or_default();
        if places.is_empty() {
            places.push(Place::default());
        }
        // The outermost place is the function that the symbol table knows; inlined ones have no symbol.
        // Of a lambda debug information only tells that it is one.
        let is_vague = |function: &Option<String>| function.as_ref().is_none_or(|name| name == "operator()");
        if let Some(last) = places.last_mut().filter(|place| is_vague(&place.function)) {
            last.function = self.table().name(address).or_else(|| last.function.take());
        }
        places
    }

    fn debug(&self) -> Option<&Loader> {
        let open = || match &self.source {
            Source::File(held) => {
                let path = held.debug_path()?;
                let supplement = debug_file::supplement(&path);
                let files = || std::iter::once(&path).chain(&supplement);
                if !files().all(|path| debug_file::has_plausible_sections(path)) {
                    return None;
                }
                Loader::new_with_sup(&path, supplement).ok()
            }
            Source::Nowhere | Source::Bytes(_) => None,
        };
        self.debug.get_or_init(open).as_ref()
    }

    fn table(&self) -> &SymbolTable {
        self.table.get_or_init(|| match &self.source {
            Source::Nowhere => SymbolTable::default(),
            Source::Bytes(bytes) => SymbolTable::parse(bytes),
            Source::File(held) => {
                let bytes = held.debug_path().and_then(|path| std::fs::read(path).ok());
                bytes.map(|bytes| SymbolTable::parse(&bytes)).unwrap_or_default()
            }
        })
    }
}

/// Damaged debug information is as good as none: the symbol table is asked instead.
fn from_debug_info(debug: &Loader, address: u64) -> Option<Vec<Place>> {
    // addr2line looks for what ends behind the address, and nothing can.
    address.checked_add(1)?;
    let mut frames = debug.find_frames(address).ok()?;
    let mut places = Vec::new();
    while let Some(frame) = frames.next().ok()? {
        let location = frame.location;
        let function =
            frame.function.as_ref().and_then(|function| function.raw_name().ok().map(|name| demangled(&name)));
        places.push(Place {
            function,
            file: location.as_ref().and_then(|location| location.file).map(str::to_owned),
            line: location.as_ref().and_then(|location| location.line).filter(|&line| line > 0),
        });
    }
    Some(places)
}
