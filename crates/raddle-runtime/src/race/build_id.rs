//! The build-id of a file that is loaded: the note that the linker left in it (elf(5)).

const NOTES: u32 = 4;
const LOAD: u32 = 1;
const GNU_BUILD_ID: u32 = 3;

/// The build-id in the first part of a loaded file, which begins with the file's header. `None` for a file
/// without one, and for data that is not an ELF file.
pub fn of_image(image: &[u8]) -> Option<&[u8]> {
    if image.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let table = word(image, 32)? as usize;
    let (size, count) = (half(image, 54)?, half(image, 56)?);
    let segment = |i: u64| image.get(table.checked_add((i * size) as usize)?..);
    let segments = || (0..count).filter_map(segment);
    // The first part of the file is loaded first.
    let first = segments().find(|segment| number(segment, 0) == Some(LOAD))?;
    let base = word(first, 16)?.wrapping_sub(word(first, 8)?);
    segments().filter(|segment| number(segment, 0) == Some(NOTES)).find_map(|segment| {
        let at = word(segment, 16)?.wrapping_sub(base) as usize;
        let length = word(segment, 40)? as usize;
        let align = if word(segment, 48)? == 8 { 8 } else { 4 };
        build_id(image.get(at..at.checked_add(length)?)?, align)
    })
}

fn build_id(mut notes: &[u8], align: usize) -> Option<&[u8]> {
    loop {
        let (name, data) = (number(notes, 0)? as usize, number(notes, 4)? as usize);
        let start = 12usize.checked_add(name)?.checked_next_multiple_of(align)?;
        let end = start.checked_add(data)?;
        if number(notes, 8)? == GNU_BUILD_ID && notes.get(12..12 + name)? == b"GNU\0" {
            return notes.get(start..end);
        }
        notes = notes.get(end.checked_next_multiple_of(align)?..)?;
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?).into())
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(owner: &[u8], kind: u32, data: &[u8]) -> Vec<u8> {
        let numbers = [owner.len() as u32, data.len() as u32, kind];
        let mut note: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        for part in [owner, data] {
            note.extend(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    #[test]
    fn the_right_note_is_found() {
        let notes = [note(b"Go\0", 3, b"x"), note(b"GNU\0", 1, b"abi!"), note(b"GNU\0", 3, b"an id")].concat();
        assert_eq!(build_id(&notes, 4), Some(&b"an id"[..]));
        assert_eq!(build_id(&notes[..notes.len() - 8], 4), None);
        assert_eq!(build_id(&[0xff; 64], 4), None);
    }

    #[test]
    fn what_is_no_elf_file_has_none() {
        assert_eq!(of_image(b""), None);
        assert_eq!(of_image(&[0x7f; 4096]), None);
        let mut damaged = [0xff; 4096];
        damaged[..5].copy_from_slice(b"\x7fELF\x02");
        assert_eq!(of_image(&damaged), None);
    }
}
