//! Function names from the symbol tables of an ELF file: what is left without debug information.
//!
//! A symbol covers as many bytes as it says. The nearest symbol before an address, whatever its
//! size, would name the wrong function for every static function of a stripped program.

use object::elf::SHF_EXECINSTR;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};

use super::names::demangled;

/// The functions of a file by address.
#[derive(Debug, Default)]
pub(super) struct SymbolTable(Vec<Function>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    start: u64,
    /// Where it ends; for a label, which has no size of its own, where its section ends.
    end: u64,
    is_label: bool,
    name: String,
}

impl SymbolTable {
    /// Reads the symbol tables of an ELF file; empty if there are none or the file is damaged.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else {
            return Self::default();
        };
        let symbols = file.symbols().chain(file.dynamic_symbols());
        Self::new(symbols.filter_map(|symbol| function(&file, &symbol)).collect())
    }

    fn new(mut functions: Vec<Function>) -> Self {
        functions.sort_unstable();
        // A label inside a function is no function.
        let mut covered = 0;
        functions.retain(|function| {
            if !function.is_label {
                covered = covered.max(function.end);
            }
            !function.is_label || function.start >= covered
        });
        // A label reaches to the next symbol.
        for index in 1..functions.len() {
            let next = functions[index].start;
            let label = &mut functions[index - 1];
            if label.is_label && label.start < next {
                label.end = label.end.min(next);
            }
        }
        SymbolTable(functions)
    }

    /// The demangled name of the function that covers an address.
    pub(super) fn name(&self, address: u64) -> Option<String> {
        let before = &self.0[..self.0.partition_point(|function| function.start <= address)];
        let nearest = before.last()?.start;
        // Aliases share a start; the first of those that cover the address, in the order of their
        // names, is as good as any and always the same.
        let name = before
            .iter()
            .rev()
            .take_while(|function| function.start == nearest)
            .filter(|function| address < function.end)
            .last()?
            .name
            .as_str();
        Some(demangled(name))
    }
}

fn function<'data>(file: &ElfFile64<'data, Endianness>, symbol: &impl ObjectSymbol<'data>) -> Option<Function> {
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let is_code = match symbol.kind() {
        SymbolKind::Text => true,
        // Assembly labels often have no type.
        SymbolKind::Unknown => is_executable(section.flags()),
        _ => false,
    };
    let name = symbol.name().ok().filter(|name| is_code && !name.is_empty())?;
    let start = symbol.address();
    let is_label = symbol.size() == 0;
    Some(Function {
        start,
        end: match is_label {
            true => section.address().checked_add(section.size())?,
            false => start.checked_add(symbol.size())?,
        },
        is_label,
        // The symbol tables of debug files carry versions: `pthread_create@@GLIBC_2.34`.
        name: name.split('@').next().unwrap_or(name).to_owned(),
    })
}

fn is_executable(flags: SectionFlags) -> bool {
    matches!(flags, SectionFlags::Elf { sh_flags, .. } if sh_flags.0 & SHF_EXECINSTR.0 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(start: u64, size: u64, name: &str) -> Function {
        let is_label = size == 0;
        let end = if is_label { 1000 } else { start + size };
        Function { start, end, is_label, name: name.into() }
    }

    fn table() -> SymbolTable {
        SymbolTable::new(vec![
            symbol(300, 0, "label"),
            symbol(100, 50, "_ZN4bank8transferEi"),
            symbol(120, 0, "label_inside"),
            symbol(200, 10, "b_alias"),
            symbol(200, 10, "a_alias"),
            symbol(400, 8, "last"),
        ])
    }

    #[test]
    fn a_symbol_covers_no_more_than_it_says() {
        assert_eq!(table().name(99), None);
        assert_eq!(table().name(100).as_deref(), Some("bank::transfer(int)"));
        assert_eq!(table().name(149).as_deref(), Some("bank::transfer(int)"));
        assert_eq!(table().name(150), None, "a static function whose symbol was stripped");
        assert_eq!(table().name(408), None);
    }

    #[test]
    fn a_label_reaches_to_the_next_symbol_and_hides_no_function() {
        assert_eq!(table().name(125).as_deref(), Some("bank::transfer(int)"));
        assert_eq!(table().name(399).as_deref(), Some("label"));
        assert_eq!(table().name(400).as_deref(), Some("last"));
    }

    #[test]
    fn of_aliases_the_same_one_is_always_named() {
        assert_eq!(table().name(205).as_deref(), Some("a_alias"));
    }

    #[test]
    fn damaged_files_have_no_symbols() {
        assert_eq!(SymbolTable::parse(b"\x7fELF").name(0), None);
    }
}
