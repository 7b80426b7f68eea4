//! Names what lies at an address of static storage: `counter`, `queue.head`, `ns::table[3].next`.
//!
//! Debug information tells the variable and the way into it; where there is none, the symbol tables
//! tell the variable alone. Thread-local variables have no address in the file and are not named.
//!
//! | file | one idea |
//! |---|---|
//! | `debug_info` | entries of DWARF, and the references between them |
//! | `index` | which variables have an address, and where |
//! | `storage` | from a location expression to addresses |
//! | `types` | sizes of types, and the way to a byte inside of one |
//! | `names` | the name of a variable, and where it is declared |
//! | `line_files` | the file names of a line table |
//! | `objects` | variables of the symbol tables, and the sections that hold data |
//! | `signature` | the parameters of a function and what it returns |
//!
//! Debug information may be damaged or hostile. Nothing here recurses, and whatever follows
//! references has a budget (see `debug_info`); what cannot be read is as good as not there.

mod debug_info;
mod index;
mod line_files;
mod names;
mod objects;
mod signature;
mod storage;
mod types;

use std::cell::OnceCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::debug_file;
use super::held::Held;
use debug_info::DebugInfo;
use index::{Index, Stored};
use names::{Function, Named};
use objects::Objects;
pub use signature::{Signature, Value};

/// What lies at an address of static storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The variable and the way into it, as far as it is known: `counter`, `queue.head`,
    /// `table[3].next`, `ns::config.flags`, `count (static in worker)`.
    pub name: String,
    /// The name of the whole variable, without the way into it and without its function.
    pub whole: String,
    /// The size of the whole variable; 0 if it is not known.
    pub size: u64,
    /// How many bytes into the whole variable the address is.
    pub offset: u64,
    /// The source file, as the compiler wrote it down, and the line of the declaration.
    pub declared: Option<(String, u32)>,
}

/// What is known of the variables of one program or library.
///
/// Nothing is read before the first question.
#[derive(Default)]
pub struct Variables {
    /// `None` when there is nothing to read.
    file: Option<Arc<Held>>,
    info: OnceCell<Option<DebugInfo>>,
    index: OnceCell<Index>,
    objects: OnceCell<Objects>,
}

/// The variables that debug information describes.
#[derive(Clone, Copy)]
struct Described<'a> {
    info: &'a DebugInfo,
    index: &'a Index,
}

impl Variables {
    /// The variables of an ELF file.
    pub fn of_file(path: &Path) -> Variables {
        Held::open(path).map_or_else(|_| Self::default(), |held| Self::of_held(Arc::new(held)))
    }

    /// The variables of an ELF file that is held open.
    pub(super) fn of_held(held: Arc<Held>) -> Variables {
        Variables { file: Some(held), ..Self::default() }
    }

    /// What lies at an address.
    ///
    /// The address is one of the file, not of the process that it is mapped into.
    pub fn at(&self, address: u64) -> Option<Variable> {
        let described = self.described();
        let whole = described.and_then(|described| {
            let stored = described.index.covering(address)?;
            self.variable(described, stored, address, stored.whole)
        });
        if whole.is_some() {
            return whole;
        }
        let object = self.objects().covering(address)?;
        // Debug information may know the variable but not its size: an incomplete type, or a
        // structure that ends with an array of as many elements as its initializer has.
        let variable = described.and_then(|described| {
            let stored = described.index.starting_at(object.start)?;
            self.variable(described, stored, address, object.size)
        });
        Some(variable.unwrap_or_else(|| object.variable(address)))
    }

    fn variable(&self, described: Described<'_>, stored: &Stored, address: u64, size: u64) -> Option<Variable> {
        let Described { info, index } = described;
        info.refuel();
        let offset = stored.bias.checked_add(address.checked_sub(stored.start)?)?;
        let Named { name: whole, function } = names::of(info, index, stored)?;
        let function = match function {
            Some(Function::Unnamed) => {
                let symbol = self.objects().covering(address).map(|object| crate::names::demangled(&object.name));
                symbol.and_then(|symbol| names::function_of_symbol(&symbol, &whole).map(str::to_owned))
            }
            Some(Function::Named(function)) => Some(function),
            None => None,
        };
        let way = types::way(info, stored.die, offset);
        let name = match function {
            Some(function) => format!("{whole}{way} (static in {function})"),
            None => format!("{whole}{way}"),
        };
        Some(Variable { name, whole, size, offset, declared: names::declared(info, stored.die) })
    }

    /// The parameters and the result of the function that begins at an address, if debug information tells.
    pub fn signature(&self, address: u64) -> Option<Signature> {
        signature::at(self.info()?, address)
    }

    fn described(&self) -> Option<Described<'_>> {
        let info = self.info()?;
        let sections = || self.path().map(|path| objects::data_sections(&path)).unwrap_or_default();
        Some(Described { info, index: self.index.get_or_init(|| Index::new(info, &sections())) })
    }

    fn info(&self) -> Option<&DebugInfo> {
        let read = || {
            let path = self.file.as_ref()?.debug_path()?;
            DebugInfo::read(&path, debug_file::supplement(&path).as_deref())
        };
        self.info.get_or_init(read).as_ref()
    }

    fn objects(&self) -> &Objects {
        self.objects.get_or_init(|| {
            let separate = self.file.as_ref().and_then(|file| file.separate().cloned());
            Objects::read([self.path(), separate].into_iter().flatten())
        })
    }

    fn path(&self) -> Option<PathBuf> {
        self.file.as_ref()?.path()
    }
}

/// A part of the address space.
trait Span {
    fn start(&self) -> u64;
    /// The address after its last.
    fn end(&self) -> u64;
}

impl Span for Range<u64> {
    fn start(&self) -> u64 {
        self.start
    }

    fn end(&self) -> u64 {
        self.end
    }
}

/// How many spans before an address are looked at: one that covers it may be hidden by others that
/// start later and end earlier.
const NESTED: usize = 64;

/// Of spans that are sorted by their start, the one that covers an address; the nearest start if
/// several do, and of those with the same start the first.
fn covering<T: Span>(spans: &[T], address: u64) -> Option<&T> {
    let before = &spans[..spans.partition_point(|span| span.start() <= address)];
    let mut found: Option<&T> = None;
    for span in before.iter().rev().take(NESTED).filter(|span| address < span.end()) {
        if found.is_some_and(|found| found.start() != span.start()) {
            break;
        }
        found = Some(span);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Span for (u64, u64, &str) {
        fn start(&self) -> u64 {
            self.0
        }
        fn end(&self) -> u64 {
            self.1
        }
    }

    #[test]
    fn the_nearest_span_that_covers_an_address() {
        let spans = [(10, 100, "outer"), (20, 24, "first"), (20, 28, "second"), (40, 40, "empty"), (100, 101, "last")];
        let name = |address| covering(&spans, address).map(|span| span.2);
        assert_eq!(name(9), None);
        assert_eq!(name(10), Some("outer"));
        assert_eq!(name(23), Some("first"));
        assert_eq!(name(24), Some("second"));
        assert_eq!(name(40), Some("outer"));
        assert_eq!(name(100), Some("last"));
        assert_eq!(name(101), None);
    }

    #[test]
    fn a_file_that_is_not_there_has_no_variables() {
        assert_eq!(Variables::of_file(Path::new("/no/such/file")).at(0x4000), None);
    }
}
