//! The places that are known to race: where plain accesses are schedule points at the level `race`.
//!
//! The command line names them by file and address in it, so that they hold on every machine; here they
//! become addresses in memory, in a small hash set.

use core::ffi::{c_int, c_void, CStr};

use raddle_protocol::races::{RacyPlaces, PLACES};
use raddle_protocol::text;

use crate::control::state;

/// Slots of the set: never more than half full.
const SLOTS: usize = 2 * PLACES;

/// A set of addresses. Valid when zeroed.
#[repr(C)]
pub struct RacyPlaceSet {
    /// One bit for every slot of a hash: most places are in none.
    bits: [u64; 64],
    slot: [usize; SLOTS],
    count: usize,
}

fn hash(pc: usize) -> usize {
    pc.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40
}

impl RacyPlaceSet {
    /// Whether the place is known.
    #[inline(always)]
    pub fn contains(&self, pc: usize) -> bool {
        let hash = hash(pc);
        self.bits[hash / 64 % 64] & 1 << (hash % 64) != 0 && self.find(pc, hash)
    }

    fn find(&self, pc: usize, hash: usize) -> bool {
        let mut at = hash % SLOTS;
        while self.slot[at] != 0 {
            if self.slot[at] == pc {
                return true;
            }
            at = (at + 1) % SLOTS;
        }
        false
    }

    fn insert(&mut self, pc: usize) {
        let hash = hash(pc);
        if self.count >= PLACES || self.find(pc, hash) {
            return;
        }
        let mut at = hash % SLOTS;
        while self.slot[at] != 0 {
            at = (at + 1) % SLOTS;
        }
        self.slot[at] = pc;
        self.bits[hash / 64 % 64] |= 1 << (hash % 64);
        self.count += 1;
    }
}

extern "C" {
    fn dl_iterate_phdr(
        visit: unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

/// Finds the places in memory. It costs a walk over the loaded files, so it is done before a fork where there
/// is one.
pub fn load(places: &RacyPlaces) {
    // SAFETY: the caller holds the baton, or there is no thread yet.
    let known = unsafe { &mut state().access.racy_places };
    if known.count != 0 {
        // SAFETY: valid when zeroed.
        *known = unsafe { core::mem::zeroed() };
    }
    if places.count == 0 {
        return;
    }
    // SAFETY: the walk calls us back during the call only.
    unsafe { dl_iterate_phdr(visit, places as *const RacyPlaces as *mut c_void) };
}

/// The files of a program, the program itself first.
unsafe extern "C" fn visit(file: *mut libc::dl_phdr_info, _size: usize, places: *mut c_void) -> c_int {
    // SAFETY: the loader's description, whose name ends with a zero; the caller's places; the baton, or no
    // thread yet.
    unsafe {
        let (file, places) = (&*file, &*places.cast::<RacyPlaces>());
        let path = if file.dlpi_name.is_null() { &[] } else { CStr::from_ptr(file.dlpi_name).to_bytes() };
        let mut link = [0u8; 512];
        // The program itself has no name for the loader.
        let path = if path.is_empty() { program(&mut link) } else { path };
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        let known = &mut state().access.racy_places;
        for (number, offset) in &places.at[..(places.count as usize).min(PLACES)] {
            let wanted = places.files.get(*number as usize).map_or("", |wanted| text(wanted));
            if is_called(name, wanted.as_bytes()) {
                known.insert(file.dlpi_addr as usize + *offset as usize);
            }
        }
    }
    0
}

/// Whether a file has the wanted name, which may have been cut between two characters.
fn is_called(name: &[u8], wanted: &[u8]) -> bool {
    const CUT: usize = 60;
    name == wanted || wanted.len() >= CUT && name.starts_with(wanted)
}

/// The path of the program's own file.
fn program(buffer: &mut [u8]) -> &[u8] {
    // SAFETY: a path ended by zero, and a buffer of the length given.
    let n =
        unsafe { crate::syscall!(libc::SYS_readlink, c"/proc/self/exe".as_ptr(), buffer.as_mut_ptr(), buffer.len()) };
    &buffer[..n.max(0) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_found() {
        // SAFETY: valid when zeroed.
        let mut known: Box<RacyPlaceSet> = unsafe { super::super::zeroed() };
        let places: Vec<usize> = (0..PLACES).map(|i| 0x5555_5555_0000 + 7 * i).collect();
        for &pc in &places {
            assert!(!known.contains(pc));
            known.insert(pc);
        }
        assert!(places.iter().all(|&pc| known.contains(pc)));
        assert!(!known.contains(0x5555_5555_0001));
        // Full: nothing is overwritten, and looking for what is not there ends.
        known.insert(1);
        assert!(!known.contains(1));
    }
}
