//! Entries of DWARF, and the references between them.
//!
//! All sections are read once and kept. A reference may lead to another unit, to a type unit by its
//! signature, or into the file that `dwz` moved common parts to.
//!
//! What bounds the work in hostile files: each table of abbreviations ends where the next begins, so
//! that all of them are read in linear time; an abbreviation has at most [`ATTRIBUTES`]; and every
//! entry that is read by reference costs fuel. The line tables, in which gimli follows a count of
//! entries without size for ever, are not given to it; see `line_files`.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::fs::File;
use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::sync::Arc;

use gimli::{
    self, Abbreviations, AttributeValue, DebugAbbrev, DebugInfoOffset, DebugLineOffset, DebugStrOffsetsBase, Dwarf,
    DwarfFileType, EndianArcSlice, LittleEndian, Reader as _, Section, SectionId, UnitHeader, UnitOffset,
    UnitSectionOffset, UnitType,
};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ReadCache};

use crate::debug_file;

/// What sections are read through.
pub(super) type Reader = EndianArcSlice<LittleEndian>;

/// A value of an attribute.
pub(super) type Value = AttributeValue<Reader>;

/// The most attributes that an entry may have; compilers use about twenty.
pub(super) const ATTRIBUTES: usize = 256;

/// How many entries one question may read.
const FUEL: u64 = 1 << 20;

/// How many entries a name or a type may be passed through by specifications and origins.
const ORIGINS: usize = 8;

/// The debug information of a file.
pub(super) struct DebugInfo {
    parts: Vec<Part>,
    fuel: Cell<u64>,
}

/// The file itself, or the one that it shares with others.
struct Part {
    dwarf: Arc<Dwarf<Reader>>,
    /// Those of `.debug_info`, by offset, then those of `.debug_types`.
    units: Vec<Unit>,
    /// Type units by their signatures: the index of the unit, and the type in it.
    signatures: HashMap<u64, (usize, UnitOffset)>,
}

/// A unit whose root has been read.
pub(super) struct Unit {
    pub(super) unit: gimli::Unit<Reader>,
    /// The folder that it was compiled in.
    pub(super) folder: Option<String>,
    /// The offset of the line table.
    pub(super) lines: Option<DebugLineOffset>,
    pub(super) is_rust: bool,
}

/// Where an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Die {
    part: usize,
    unit: usize,
    offset: UnitOffset,
}

/// An entry that has been read.
pub(super) struct Entry {
    pub(super) die: Die,
    pub(super) tag: gimli::DwTag,
    attributes: Vec<(gimli::DwAt, Value)>,
}

impl Entry {
    /// The value of an attribute.
    pub(super) fn get(&self, name: gimli::DwAt) -> Option<&Value> {
        self.attributes.iter().find(|(at, _)| *at == name).map(|(_, value)| value)
    }

    /// The value of an attribute that is a number.
    pub(super) fn number(&self, name: gimli::DwAt) -> Option<u64> {
        number(self.get(name)?)
    }

    /// Whether an attribute is there and not false.
    pub(super) fn is(&self, name: gimli::DwAt) -> bool {
        self.get(name).is_some_and(|value| !matches!(value, AttributeValue::Flag(false)))
    }
}

/// A number, whatever its form.
pub(super) fn number(value: &Value) -> Option<u64> {
    match value {
        AttributeValue::FileIndex(index) => Some(*index),
        value => value.udata_value().or_else(|| value.sdata_value().and_then(|value| u64::try_from(value).ok())),
    }
}

impl DebugInfo {
    /// Reads a file with debug information, and the one that it shares parts with.
    pub(super) fn read(path: &Path, supplement: Option<&Path>) -> Option<DebugInfo> {
        let mut dwarf = sections(path)?;
        dwarf.sup = supplement.and_then(sections).map(Arc::new);
        let shared = dwarf.sup.clone().map(Part::new);
        let parts = std::iter::once(Part::new(Arc::new(dwarf))).chain(shared).collect();
        Some(DebugInfo { parts, fuel: Cell::new(FUEL) })
    }

    /// Fills the tank for a question.
    pub(super) fn refuel(&self) {
        self.fuel.set(FUEL);
    }

    /// Fills the tank for as many entries as the file can have.
    pub(super) fn refuel_for_all(&self) {
        let bytes: usize = self.parts.iter().map(|part| part.dwarf.debug_info.reader().len()).sum();
        self.fuel.set(FUEL.saturating_add(bytes as u64));
    }

    fn burn(&self) -> Option<()> {
        self.fuel.set(self.fuel.get().checked_sub(1)?);
        Some(())
    }

    /// The units of the file itself, with the place of each one's root.
    pub(super) fn units(&self) -> impl Iterator<Item = (&Unit, Die)> {
        self.parts[0].units.iter().enumerate().map(|(index, unit)| {
            let root = UnitOffset(unit.unit.header.header_size());
            (unit, Die { part: 0, unit: index, offset: root })
        })
    }

    /// An address by its index, in a unit of the file itself.
    pub(super) fn address(&self, unit: &Unit, index: u64) -> Option<u64> {
        let dwarf = &self.parts[0].dwarf;
        let index = in_section(index, dwarf.debug_addr.reader())?;
        dwarf.address(&unit.unit, gimli::DebugAddrIndex(index)).ok()
    }

    /// The unit and the sections that an entry is in.
    pub(super) fn home(&self, die: Die) -> (&Unit, &Dwarf<Reader>) {
        let part = &self.parts[die.part];
        (&part.units[die.unit], &part.dwarf)
    }

    pub(super) fn entry(&self, die: Die) -> Option<Entry> {
        self.burn()?;
        let (home, _) = self.home(die);
        let mut entries = home.unit.entries_raw(Some(die.offset)).ok()?;
        let abbreviation = entries.read_abbreviation().ok()??;
        read(&mut entries, abbreviation, die)
    }

    /// Reads the children of an entry, in their order, until one is enough.
    pub(super) fn children(&self, die: Die, mut each: impl FnMut(Entry) -> ControlFlow<()>) -> Option<()> {
        let (home, _) = self.home(die);
        let mut entries = home.unit.entries_raw(Some(die.offset)).ok()?;
        let parent = entries.read_abbreviation().ok()??;
        check(parent)?;
        entries.skip_attributes(parent.attributes()).ok()?;
        while entries.next_depth() > 0 && !entries.is_empty() {
            self.burn()?;
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation().ok()? else {
                continue;
            };
            if depth == 1 {
                let child = read(&mut entries, abbreviation, die.with(offset))?;
                if each(child).is_break() {
                    return Some(());
                }
            } else {
                check(abbreviation)?;
                entries.skip_attributes(abbreviation.attributes()).ok()?;
            }
        }
        Some(())
    }

    /// The entry that an attribute of an entry refers to.
    pub(super) fn refers(&self, entry: &Entry, name: gimli::DwAt) -> Option<Die> {
        let from = entry.die;
        match *entry.get(name)? {
            AttributeValue::UnitRef(offset) => Some(from.with(offset)),
            AttributeValue::DebugInfoRef(offset) => self.at_offset(from.part, offset),
            AttributeValue::DebugInfoRefSup(offset) => self.at_offset(1, offset),
            AttributeValue::DebugTypesRef(signature) => {
                let &(unit, offset) = self.parts[from.part].signatures.get(&signature.0)?;
                Some(Die { part: from.part, unit, offset })
            }
            _ => None,
        }
    }

    fn at_offset(&self, part: usize, offset: DebugInfoOffset) -> Option<Die> {
        let units = &self.parts.get(part)?.units;
        let start = |unit: &Unit| match unit.unit.header.offset() {
            UnitSectionOffset::DebugInfoOffset(start) => start.0,
            UnitSectionOffset::DebugTypesOffset(_) => usize::MAX,
        };
        let unit = units.partition_point(|unit| start(unit) <= offset.0).checked_sub(1)?;
        let offset = offset.to_unit_offset(&units[unit].unit.header)?;
        Some(Die { part, unit, offset })
    }

    /// An attribute of an entry, or of the declaration or the abstract instance that it completes.
    pub(super) fn inherited(&self, die: Die, name: gimli::DwAt) -> Option<(Entry, Value)> {
        let mut entry = self.entry(die)?;
        for _ in 0..ORIGINS {
            if let Some(value) = entry.get(name).cloned() {
                return Some((entry, value));
            }
            let origin = self.refers(&entry, gimli::DW_AT_specification);
            let origin = origin.or_else(|| self.refers(&entry, gimli::DW_AT_abstract_origin));
            entry = self.entry(origin?)?;
        }
        None
    }

    /// The text of an attribute of an entry.
    pub(super) fn text(&self, die: Die, value: &Value) -> Option<String> {
        let (home, dwarf) = self.home(die);
        text(dwarf, &home.unit, value).filter(|text| !text.is_empty())
    }
}

/// The text of an attribute.
pub(super) fn text(dwarf: &Dwarf<Reader>, unit: &gimli::Unit<Reader>, value: &Value) -> Option<String> {
    if let AttributeValue::DebugStrOffsetsIndex(index) = value {
        in_section(index.0 as u64, dwarf.debug_str_offsets.reader())?;
    }
    let text = dwarf.attr_string(unit, value.clone()).ok()?;
    text.to_string_lossy().ok().map(|text| text.into_owned())
}

/// An index that may be of a table in a section: gimli multiplies it without a look.
fn in_section(index: u64, section: &Reader) -> Option<usize> {
    usize::try_from(index).ok().filter(|index| *index < section.len())
}

impl Die {
    /// Another entry of the same unit.
    pub(super) fn with(self, offset: UnitOffset) -> Die {
        Die { offset, ..self }
    }
}

/// An abbreviation that no compiler would have made is an error, whatever it is for.
pub(super) fn check(abbreviation: &gimli::Abbreviation) -> Option<()> {
    (abbreviation.attributes().len() <= ATTRIBUTES).then_some(())
}

fn read(
    entries: &mut gimli::EntriesRaw<'_, '_, Reader>,
    abbreviation: &gimli::Abbreviation,
    die: Die,
) -> Option<Entry> {
    check(abbreviation)?;
    let mut attributes = Vec::with_capacity(abbreviation.attributes().len());
    for &specification in abbreviation.attributes() {
        let attribute = entries.read_attribute(specification).ok()?;
        attributes.push((attribute.name(), attribute.value()));
    }
    Some(Entry { die, tag: abbreviation.tag(), attributes })
}

impl Part {
    fn new(dwarf: Arc<Dwarf<Reader>>) -> Part {
        let mut headers = Vec::new();
        let mut iterator = dwarf.units();
        while let Ok(Some(header)) = iterator.next() {
            headers.push(header);
        }
        let mut iterator = dwarf.type_units();
        while let Ok(Some(header)) = iterator.next() {
            headers.push(header);
        }
        let mut tables = Tables::new(&dwarf, &headers);
        let mut part = Part { units: Vec::new(), signatures: HashMap::new(), dwarf };
        for header in headers {
            let Some(abbreviations) = tables.get(&part.dwarf, &header) else {
                continue;
            };
            let Some(unit) = Unit::new(&part.dwarf, header, abbreviations) else {
                continue;
            };
            if let UnitType::Type { type_signature, type_offset } = unit.unit.header.type_() {
                part.signatures.insert(type_signature.0, (part.units.len(), type_offset));
            }
            part.units.push(unit);
        }
        part
    }
}

/// The tables of abbreviations, which units may share.
struct Tables {
    offsets: BTreeSet<usize>,
    read: HashMap<usize, Option<Arc<Abbreviations>>>,
}

impl Tables {
    fn new(dwarf: &Dwarf<Reader>, headers: &[UnitHeader<Reader>]) -> Tables {
        let end = dwarf.debug_abbrev.reader().len();
        let offsets = headers.iter().map(|header| header.debug_abbrev_offset().0).chain([end]).collect();
        Tables { offsets, read: HashMap::new() }
    }

    fn get(&mut self, dwarf: &Dwarf<Reader>, header: &UnitHeader<Reader>) -> Option<Arc<Abbreviations>> {
        let offset = header.debug_abbrev_offset();
        let read = || {
            let end = *self.offsets.range((Bound::Excluded(offset.0), Bound::Unbounded)).next()?;
            let mut section = dwarf.debug_abbrev.reader().clone();
            section.truncate(end).ok()?;
            DebugAbbrev::from(section).abbreviations(offset).ok().map(Arc::new)
        };
        self.read.entry(offset.0).or_insert_with(read).clone()
    }
}

impl Unit {
    /// Reads the root of a unit, without the line table that it refers to.
    fn new(dwarf: &Dwarf<Reader>, header: UnitHeader<Reader>, abbreviations: Arc<Abbreviations>) -> Option<Unit> {
        let encoding = header.encoding();
        let mut unit = gimli::Unit {
            abbreviations,
            name: None,
            comp_dir: None,
            low_pc: 0,
            str_offsets_base: DebugStrOffsetsBase::default_for_encoding_and_file(encoding, DwarfFileType::Main),
            addr_base: gimli::DebugAddrBase(0),
            loclists_base: gimli::DebugLocListsBase(0),
            rnglists_base: gimli::DebugRngListsBase(0),
            line_program: None,
            dwo_id: None,
            header,
        };
        let nowhere = Die { part: 0, unit: 0, offset: UnitOffset(0) };
        let mut entries = unit.entries_raw(None).ok()?;
        let abbreviation = entries.read_abbreviation().ok()??;
        let root = read(&mut entries, abbreviation, nowhere)?;
        if let Some(&AttributeValue::DebugStrOffsetsBase(base)) = root.get(gimli::DW_AT_str_offsets_base) {
            unit.str_offsets_base = base;
        }
        let base = root.get(gimli::DW_AT_addr_base).or_else(|| root.get(gimli::DW_AT_GNU_addr_base));
        if let Some(&AttributeValue::DebugAddrBase(base)) = base {
            unit.addr_base = base;
        }
        // Only now are the bases known that a text may need.
        let folder = root.get(gimli::DW_AT_comp_dir);
        let folder = folder.and_then(|folder| text(dwarf, &unit, folder));
        let lines = match root.get(gimli::DW_AT_stmt_list) {
            Some(&AttributeValue::DebugLineRef(offset)) => Some(offset),
            _ => None,
        };
        let language = root.get(gimli::DW_AT_language);
        let is_rust = matches!(language, Some(AttributeValue::Language(gimli::DW_LANG_Rust)));
        Some(Unit { unit, folder, lines, is_rust })
    }
}

/// The sections of an ELF file that has debug information.
fn sections(path: &Path) -> Option<Dwarf<Reader>> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    file.section_by_name(SectionId::DebugInfo.name())?;
    let load = |id: SectionId| -> Result<Reader, Infallible> {
        let data = wanted(id).then(|| data(&file, id.name())).flatten().unwrap_or_default();
        Ok(EndianArcSlice::new(data, LittleEndian))
    };
    match Dwarf::load(load) {
        Ok(dwarf) => Some(dwarf),
        Err(never) => match never {},
    }
}

fn wanted(id: SectionId) -> bool {
    matches!(
        id,
        SectionId::DebugAbbrev
            | SectionId::DebugAddr
            | SectionId::DebugInfo
            | SectionId::DebugLine
            | SectionId::DebugLineStr
            | SectionId::DebugStr
            | SectionId::DebugStrOffsets
            | SectionId::DebugTypes
    )
}

fn data<'a>(file: &ElfFile64<'a, Endianness, &'a ReadCache<File>>, name: &str) -> Option<Arc<[u8]>> {
    let data = file.section_by_name(name)?.compressed_data().ok()?;
    if !debug_file::is_plausible(&data) {
        return None;
    }
    data.decompress().ok().map(Arc::from)
}
