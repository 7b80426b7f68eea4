//! The report of a race: both accesses with their stacks, and the heap allocation.

use core::ops::Range;

use raddle_protocol::races::{LoadedFile, Race, RaceAccess, Races, FILES, FRAMES, RACES};
use raddle_protocol::Block;

use super::build_id;
use super::shadow::Cell;
use super::{detector, heap, DEPOT};
use crate::control::{scheduler, state};
use crate::os::memory::each_mapping;

/// Pairs of places that were seen to race in this run. Valid when zeroed.
#[repr(C)]
pub struct Pairs {
    count: usize,
    pair: [(usize, usize); PAIRS],
}

const PAIRS: usize = 4 * RACES;

impl Pairs {
    pub fn clear(&mut self) {
        self.count = 0;
    }

    fn contains(&self, pair: (usize, usize)) -> bool {
        self.pair[..self.count].contains(&pair)
    }

    /// Notes a pair. Returns whether there was room.
    fn insert(&mut self, pair: (usize, usize)) -> bool {
        let Some(free) = self.pair.get_mut(self.count) else { return false };
        *free = pair;
        self.count += 1;
        true
    }
}

/// Whether the last run had a race that must be reported.
pub fn has_reportable(block: &Block) -> bool {
    let fails = block.settings.run.fail_on_race;
    block.races.learned_count > 0 || fails && block.races.count > 0
}

/// A run starts.
///
/// # Safety
/// There is one thread.
pub(super) unsafe fn start_run() {
    // SAFETY: the block is mapped.
    unsafe {
        let races = &raw mut (*scheduler().block()).races;
        (*races).count = 0;
        (*races).learned_count = 0;
        (*races).loaded = 0;
    }
}

/// Two accesses to a word race: `old` came first.
///
/// # Safety
/// The caller holds the baton.
#[cold]
#[inline(never)]
pub unsafe fn race(word: usize, old: Cell, now: Cell) {
    // SAFETY: the caller's promise; the block is mapped.
    unsafe {
        let pair = (old.pc(), now.pc());
        if detector().pairs.contains(pair) {
            return;
        }
        let races = &mut (*scheduler().block()).races;
        for cell in [old, now].into_iter().filter(|cell| !cell.how().atomic()) {
            learn(races, cell.pc());
        }
        if !detector().pairs.insert(pair) || !(*scheduler().block()).settings.run.fail_on_race {
            return;
        }
        let step = scheduler().results().steps;
        let Some(race) = races.race.get_mut(races.count as usize) else { return };
        races.count += 1;
        *race = Race::default();
        race.address = (word + (old.bytes() & now.bytes()).trailing_zeros() as usize) as u64;
        race.step = step;
        race.first = access(old);
        race.second = access(now);
        describe_heap(race);
        describe_file(race.address as usize);
        for i in 0..FRAMES {
            for frame in [race.first.frames[i], race.second.frames[i], race.heap_frames[i]] {
                describe_file(frame as usize);
            }
        }
    }
}

/// A plain access at this place takes part in a race: later runs are told.
unsafe fn learn(races: &mut Races, pc: usize) {
    // SAFETY: the caller holds the baton.
    let known = unsafe { state() }.access.racy_places.contains(pc);
    if known || races.learned[..races.learned_count as usize].contains(&(pc as u64)) {
        return;
    }
    let Some(free) = races.learned.get_mut(races.learned_count as usize) else { return };
    *free = pc as u64;
    races.learned_count += 1;
    // SAFETY: the caller holds the baton, and the block is mapped.
    unsafe { describe_file(pc) };
}

unsafe fn access(cell: Cell) -> RaceAccess {
    let mut access = RaceAccess {
        thread: u32::from(cell.thread().0),
        size: cell.bytes().count_ones(),
        writes: u32::from(cell.how().writes()),
        atomic: u32::from(cell.how().atomic()),
        ..RaceAccess::default()
    };
    // SAFETY: the caller holds the baton.
    unsafe {
        let frames = detector().depot.frames(DEPOT as *const u8, cell.stack());
        for (to, pc) in access.frames.iter_mut().zip(core::iter::once(cell.pc()).chain(frames)) {
            *to = pc as u64;
            access.depth += 1;
        }
    }
    access
}

unsafe fn describe_heap(race: &mut Race) {
    race.heap_thread = u32::MAX;
    // SAFETY: the caller holds the baton.
    unsafe {
        let Some((start, block)) = heap::containing(race.address as usize) else { return };
        race.heap = start;
        race.heap_size = block.size;
        race.heap_thread = block.made.thread.wrapping_sub(1);
        race.heap_depth = heap::write_frames(block.made, &mut race.heap_frames);
    }
}

/// Makes sure that the command line knows which file an address lies in.
unsafe fn describe_file(pc: usize) {
    // SAFETY: the block is mapped, and the caller holds the baton.
    let races = unsafe { &mut (*scheduler().block()).races };
    let known = &races.files[..races.loaded as usize];
    if pc == 0 || known.iter().any(|file| (file.start..file.end).contains(&(pc as u64))) {
        return;
    }
    let Some(free) = races.files.get_mut(races.loaded as usize) else { return };
    if let Some(file) = file_at(pc) {
        *free = file;
        races.loaded += 1;
    }
}

/// The file that is mapped at an address. Asks the kernel: the loader's lists have a lock, which a parked
/// thread may hold.
fn file_at(pc: usize) -> Option<LoadedFile> {
    let mut file = LoadedFile::NONE;
    let mut head = 0..0;
    let mut found = false;
    each_mapping(&mut |line| {
        let mut fields = line.split(|&byte| byte == b' ').filter(|field| !field.is_empty());
        let mut range = fields.next().unwrap_or_default().splitn(2, |&byte| byte == b'-').map(number);
        let (start, end) = (range.next().unwrap_or(0), range.next().unwrap_or(0));
        let readable = fields.next().is_some_and(|rights| rights.first() == Some(&b'r'));
        let offset = fields.next().map_or(0, number);
        let path = fields.nth(2).map_or(&[][..], |path| {
            // A path may have spaces: it goes on to the end of the line.
            let at = path.as_ptr() as usize - line.as_ptr() as usize;
            &line[at..]
        });
        let own = &path[..path.len().min(file.path.len() - 1)];
        if path.first() == Some(&b'/') && offset == 0 {
            file = LoadedFile { start, end, ..LoadedFile::NONE };
            head = if readable { start as usize..end as usize } else { 0..0 };
            file.path[..own.len()].copy_from_slice(own);
        } else if raddle_protocol::text(&file.path).as_bytes() == own || own.is_empty() && start == file.end {
            // What follows a file without a name is its zeroed data.
            file.end = end;
        }
        found = (start..end).contains(&(pc as u64)) && file.end == end;
        !found && start <= pc as u64
    });
    if !found {
        return None;
    }
    // SAFETY: the kernel has just said that this is mapped and can be read.
    if let Some(id) = build_id::of_image(unsafe { slice(&head) }) {
        if let Some(room) = file.build_id.get_mut(..id.len()) {
            room.copy_from_slice(id);
            file.build_id_len = id.len() as u32;
        }
    }
    Some(file)
}

unsafe fn slice(range: &Range<usize>) -> &[u8] {
    // SAFETY: the caller's promise; a file that is loaded is not written to.
    match range.is_empty() {
        true => &[],
        false => unsafe { core::slice::from_raw_parts(range.start as *const u8, range.len()) },
    }
}

fn number(hex: &[u8]) -> u64 {
    core::str::from_utf8(hex).ok().and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or(0)
}

const _: () = assert!(FILES > 8 && RACES >= 8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_file_of_a_function() {
        let file = file_at(finds_the_file_of_a_function as *const () as usize).unwrap();
        let own = std::env::current_exe().unwrap();
        assert_eq!(raddle_protocol::text(&file.path), own.to_str().unwrap());
        assert!(file.start < file.end);
        // As the linker wrote it into the file: cc asks for SHA-1.
        let id = file.build_id().unwrap();
        assert_eq!(id.len(), 20);
        assert!(std::fs::read(own).unwrap().windows(id.len()).any(|bytes| bytes == id));
        assert!(file_at(1).is_none());
        // Anonymous memory has no file.
        let memory = vec![0u8; 1 << 20];
        assert!(file_at(memory.as_ptr() as usize + 5000).is_none());
    }
}
