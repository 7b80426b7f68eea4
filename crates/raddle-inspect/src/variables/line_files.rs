//! The file names of a line table, of DWARF 2 to 5.
//!
//! Only the header is read, and of it only what leads to the one name that is wanted.

use gimli::{self, AttributeValue, Dwarf, Format, Reader as _, Section};

use super::debug_info::{text, Reader, Unit, Value};

/// The name of a file by its number in a unit's line table, with its folder.
pub(super) fn name(dwarf: &Dwarf<Reader>, unit: &Unit, file: u64) -> Option<String> {
    let mut section = dwarf.debug_line.reader().clone();
    section.skip(unit.lines?.0).ok()?;
    let (length, format) = section.read_initial_length().ok()?;
    let mut header = section.split(length).ok()?;
    let version = header.read_u16().ok()?;
    if version >= 5 {
        // The sizes of addresses and of segment selectors.
        header.skip(2).ok()?;
    }
    let length = header.read_length(format).ok()?;
    let mut header = header.split(length).ok()?;
    // The length of instructions, from version 4 on the operations of one, whether a line is a
    // statement, and the two numbers of special opcodes.
    header.skip(if version >= 4 { 5 } else { 4 }).ok()?;
    let opcodes = header.read_u8().ok()?;
    header.skip(usize::from(opcodes.saturating_sub(1))).ok()?;

    let (name, folder) = match version {
        2..=4 => before_version_5(&mut header, file)?,
        5 => version_5(&mut header, format, file)?,
        _ => return None,
    };
    let mut path = unit.folder.clone();
    let folder = folder.and_then(|folder| text(dwarf, &unit.unit, &folder));
    for part in [folder, Some(text(dwarf, &unit.unit, &name)?)].into_iter().flatten() {
        path = Some(joined(path, &part));
    }
    path
}

fn joined(folder: Option<String>, name: &str) -> String {
    match folder {
        Some(folder) if !name.starts_with('/') && !folder.is_empty() => {
            format!("{}/{name}", folder.strip_suffix('/').unwrap_or(&folder))
        }
        _ => name.to_owned(),
    }
}

/// Files count from 1. Folders do, too, and 0 is the folder of the compilation.
fn before_version_5(header: &mut Reader, file: u64) -> Option<(Value, Option<Value>)> {
    let mut folders = Vec::new();
    loop {
        let folder = header.read_null_terminated_slice().ok()?;
        if folder.is_empty() {
            break;
        }
        folders.push(folder);
    }
    let mut number = 0;
    loop {
        let name = header.read_null_terminated_slice().ok()?;
        if name.is_empty() {
            return None;
        }
        let folder = header.read_uleb128().ok()?;
        // The time and the size.
        header.read_uleb128().ok()?;
        header.read_uleb128().ok()?;
        number += 1;
        if number == file {
            let folder = folder.checked_sub(1).and_then(|folder| folders.get(usize::try_from(folder).ok()?).cloned());
            return Some((AttributeValue::String(name), folder.map(AttributeValue::String)));
        }
    }
}

/// Files and folders count from 0, and folder 0 is that of the compilation.
fn version_5(header: &mut Reader, format: Format, file: u64) -> Option<(Value, Option<Value>)> {
    let folders = entries(header, format)?;
    let files = entries(header, format)?;
    let file = files.into_iter().nth(usize::try_from(file).ok()?)?;
    let folder = usize::try_from(file.folder).ok().filter(|folder| *folder > 0);
    Some((file.name?, folder.and_then(|folder| folders.into_iter().nth(folder)?.name)))
}

#[derive(Default)]
struct FileEntry {
    name: Option<Value>,
    folder: u64,
}

fn entries(header: &mut Reader, format: Format) -> Option<Vec<FileEntry>> {
    let mut fields = Vec::new();
    for _ in 0..header.read_u8().ok()? {
        fields.push((header.read_uleb128().ok()?, header.read_uleb128().ok()?));
    }
    let count = header.read_uleb128().ok()?;
    // Each entry has at least a byte.
    if count > header.len() as u64 {
        return None;
    }
    let mut entries = Vec::new();
    for _ in 0..count {
        let mut entry = FileEntry::default();
        for &(content, form) in &fields {
            let value = field(header, format, gimli::DwForm(u16::try_from(form).ok()?))?;
            match u16::try_from(content).map(gimli::DwLnct) {
                Ok(gimli::DW_LNCT_path) => entry.name = Some(value),
                Ok(gimli::DW_LNCT_directory_index) => entry.folder = value.udata_value()?,
                _ => {}
            }
        }
        entries.push(entry);
    }
    Some(entries)
}

/// A value of one of the forms that the standard allows here.
fn field(header: &mut Reader, format: Format, form: gimli::DwForm) -> Option<Value> {
    let index =
        |value: u64| Some(AttributeValue::DebugStrOffsetsIndex(gimli::DebugStrOffsetsIndex(value.try_into().ok()?)));
    match form {
        gimli::DW_FORM_string => Some(AttributeValue::String(header.read_null_terminated_slice().ok()?)),
        gimli::DW_FORM_strp => {
            Some(AttributeValue::DebugStrRef(gimli::DebugStrOffset(header.read_offset(format).ok()?)))
        }
        gimli::DW_FORM_line_strp => {
            Some(AttributeValue::DebugLineStrRef(gimli::DebugLineStrOffset(header.read_offset(format).ok()?)))
        }
        gimli::DW_FORM_strp_sup => {
            Some(AttributeValue::DebugStrRefSup(gimli::DebugStrOffset(header.read_offset(format).ok()?)))
        }
        gimli::DW_FORM_strx => index(header.read_uleb128().ok()?),
        gimli::DW_FORM_strx1 => index(header.read_u8().ok()?.into()),
        gimli::DW_FORM_strx2 => index(header.read_u16().ok()?.into()),
        gimli::DW_FORM_strx4 => index(header.read_u32().ok()?.into()),
        gimli::DW_FORM_udata => Some(AttributeValue::Udata(header.read_uleb128().ok()?)),
        gimli::DW_FORM_data1 => Some(AttributeValue::Udata(header.read_u8().ok()?.into())),
        gimli::DW_FORM_data2 => Some(AttributeValue::Udata(header.read_u16().ok()?.into())),
        gimli::DW_FORM_data4 => Some(AttributeValue::Udata(header.read_u32().ok()?.into())),
        gimli::DW_FORM_data8 => Some(AttributeValue::Udata(header.read_u64().ok()?)),
        gimli::DW_FORM_data16 => Some(AttributeValue::Block(header.split(16).ok()?)),
        gimli::DW_FORM_block => {
            let length = header.read_uleb128().ok()?;
            Some(AttributeValue::Block(header.split(length.try_into().ok()?).ok()?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_folders() {
        assert_eq!(joined(Some("/src".into()), "a.c"), "/src/a.c");
        assert_eq!(joined(Some("/src/".into()), "a.c"), "/src/a.c");
        assert_eq!(joined(Some("/src".into()), "/usr/a.h"), "/usr/a.h");
        assert_eq!(joined(Some(String::new()), "a.c"), "a.c");
        assert_eq!(joined(None, "a.c"), "a.c");
    }

    #[test]
    fn a_count_without_entries() {
        // One field, of a form without size, and more entries than any memory has room for.
        let header: &[u8] = &[1, 1, 0x19, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        let mut header = Reader::new(header.into(), gimli::LittleEndian);
        assert!(entries(&mut header, Format::Dwarf32).is_none());
    }
}
