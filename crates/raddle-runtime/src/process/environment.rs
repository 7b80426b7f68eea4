//! What raddle has put into the environment is taken out of it before main, so that the program sees the user's
//! environment, and its children run as if alone.
//!
//! The kernel puts the auxiliary vector behind the environment, and language runtimes look for it there: behind the null
//! pointer that ends the list, which they reach from main's arguments. When the list becomes shorter, its end moves. So
//! raddle starts the program with room to spare in the list, and a copy of the vector goes where the new end is. The
//! vector itself stays: libc has a pointer to it.

use core::ffi::{c_char, CStr};

use raddle_protocol::block::{FD_VARIABLE, LATE_BINDING, ROOM, USERS_PRELOAD};

/// What is taken out, and what becomes of the user's own LD_PRELOAD.
pub struct Cleaner {
    /// LD_BIND_NOW is raddle's, not the user's.
    pub bound: bool,
    original: Option<Original>,
}

/// The variable in which raddle has kept the user's LD_PRELOAD.
#[derive(Clone, Copy)]
struct Original {
    kept: *mut c_char,
    /// The same text from where the name was cut down to that of the variable.
    restored: *mut c_char,
}

impl Cleaner {
    pub fn new(bound: bool) -> Cleaner {
        Cleaner { bound, original: None }
    }

    /// Cleans the environment of the process: the list that the kernel has made, which lies behind the arguments, and
    /// the one that libc uses now, which is another one when a constructor has set a variable.
    ///
    /// # Safety
    /// Both are lists that are ended by null, and the first is the kernel's; nobody else uses them meanwhile.
    pub unsafe fn clean(&mut self, of_kernel: *mut *mut c_char, of_libc: *mut *mut c_char) {
        // SAFETY: the caller's promise.
        unsafe {
            let vector = end_of(of_kernel).add(1).cast::<u64>();
            let end = self.clean_list(of_kernel);
            copy_vector(vector, end.add(1).cast());
            if of_libc != of_kernel {
                self.clean_list(of_libc);
            }
        }
    }

    /// Cleans a list and returns where its end is now.
    unsafe fn clean_list(&mut self, list: *mut *mut c_char) -> *mut *mut c_char {
        // SAFETY: the caller's promise; the list becomes no longer.
        unsafe {
            let (mut from, mut to) = (list, list);
            let mut restored = None;
            while !(*from).is_null() {
                if let Some(original) = self.original(*from) {
                    restored = Some(original);
                } else if !self.is_ours(CStr::from_ptr(*from).to_bytes()) {
                    *to = *from;
                    to = to.add(1);
                }
                from = from.add(1);
            }
            if let Some(original) = restored {
                *to = original;
                to = to.add(1);
            }
            *to = core::ptr::null_mut();
            to
        }
    }

    /// The user's LD_PRELOAD, if it is kept in this entry. The name is changed where it lies, once.
    unsafe fn original(&mut self, entry: *mut c_char) -> Option<*mut c_char> {
        if let Some(original) = self.original.filter(|original| original.kept == entry) {
            return Some(original.restored);
        }
        const NAME: &CStr = c"LD_PRELOAD";
        // SAFETY: a text ended by zero, with the other variable's longer name before the sign.
        unsafe {
            let value = CStr::from_ptr(entry).to_bytes().strip_prefix(USERS_PRELOAD.as_bytes())?;
            if value.first() != Some(&b'=') {
                return None;
            }
            let length = NAME.to_bytes().len();
            let restored = entry.add(USERS_PRELOAD.len() - length);
            core::ptr::copy_nonoverlapping(NAME.as_ptr(), restored, length);
            self.original = Some(Original { kept: entry, restored });
            Some(restored)
        }
    }

    fn is_ours(&self, entry: &[u8]) -> bool {
        entry.starts_with(b"LD_PRELOAD=")
            || entry.strip_prefix(FD_VARIABLE.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
            || [ROOM, LATE_BINDING].iter().any(|ours| entry == ours.as_bytes())
            || self.bound && entry == b"LD_BIND_NOW=1"
    }
}

/// The null pointer that ends a list.
unsafe fn end_of(mut list: *mut *mut c_char) -> *mut *mut c_char {
    // SAFETY: the caller's list.
    unsafe {
        while !(*list).is_null() {
            list = list.add(1);
        }
    }
    list
}

/// Copies an auxiliary vector to an earlier place, if it does not reach into itself there.
unsafe fn copy_vector(vector: *const u64, to: *mut u64) {
    const AT_NULL: u64 = 0;
    // SAFETY: the vector is a list of pairs, the last of which is AT_NULL; before it lies what was the environment.
    unsafe {
        let mut words = 2;
        while *vector.add(words - 2) != AT_NULL {
            words += 2;
        }
        if to.add(words).cast_const() <= vector {
            core::ptr::copy_nonoverlapping(vector, to, words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    /// An environment as the kernel lays it out, with an auxiliary vector of two pairs behind it.
    fn laid_out(variables: &[&str]) -> (Vec<CString>, Vec<u64>) {
        let texts: Vec<_> = variables.iter().map(|text| CString::new(*text).expect("no zero byte")).collect();
        let mut words: Vec<u64> = texts.iter().map(|text| text.as_ptr() as u64).collect();
        words.extend([0, 6, 4096, 0, 0]);
        (texts, words)
    }

    unsafe fn texts(list: *mut *mut c_char) -> Vec<String> {
        // SAFETY: ended by null.
        unsafe {
            let length = end_of(list).offset_from(list) as usize;
            (0..length).map(|i| CStr::from_ptr(*list.add(i)).to_str().expect("text").to_owned()).collect()
        }
    }

    #[test]
    fn the_vector_follows_the_end() {
        let ours = ["LD_PRELOAD=/r.so:/u.so", "RADDLE_PRELOAD=/u.so", "RADDLE_BLOCK=900", "LD_BIND_NOW=1"];
        let room = [ROOM; 8];
        let variables = [&["A=1"], &ours[..], &["B=2"], &room[..]].concat();
        let (_strings, mut words) = laid_out(&variables);
        let list = words.as_mut_ptr().cast::<*mut c_char>();
        // A constructor has set a variable.
        let mut copy: Vec<*mut c_char> = (0..=variables.len()).map(|i| words[i] as *mut c_char).collect();
        copy.insert(0, c"C=3".as_ptr().cast_mut());
        // SAFETY: both are ended by null, and the vector follows the first.
        unsafe {
            Cleaner::new(true).clean(list, copy.as_mut_ptr());
            assert_eq!(texts(list), ["A=1", "B=2", "LD_PRELOAD=/u.so"]);
            assert_eq!(texts(copy.as_mut_ptr()), ["C=3", "A=1", "B=2", "LD_PRELOAD=/u.so"]);
        }
        assert_eq!(words[3..8], [0, 6, 4096, 0, 0]);
        assert_eq!(words[words.len() - 4..], [6, 4096, 0, 0]);
    }

    #[test]
    fn what_is_the_users_stays() {
        let variables = ["LD_BIND_NOW=1", "RADDLE_BLOCKS=1", "RADDLE_OUT=x", "A="];
        let (_strings, mut words) = laid_out(&variables);
        let list = words.as_mut_ptr().cast::<*mut c_char>();
        // SAFETY: as above.
        unsafe {
            Cleaner::new(false).clean(list, list);
            assert_eq!(texts(list), variables);
        }
        assert_eq!(words[4..], [0, 6, 4096, 0, 0]);
    }
}
