//! The program and the libraries that are loaded, and what they define: the loader's list, read without its locks.
//!
//! The loader's own dlsym looks behind the library that calls it, allocates when it finds nothing, and is one of the
//! functions that the runtime stands for.

use core::ffi::{c_char, c_void, CStr};

/// An entry of the loader's list, which is in the order of its search.
#[repr(C)]
pub struct Object {
    /// What is added to the addresses in its file.
    base: usize,
    name: *const c_char,
    dynamic: *const Entry,
    next: *const Object,
}

/// An entry of an object's dynamic section.
#[repr(C)]
struct Entry {
    tag: i64,
    value: usize,
}

#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: usize,
}

/// What debuggers read.
#[repr(C)]
struct LoaderNote {
    version: i32,
    objects: *const Object,
}

extern "C" {
    static _r_debug: LoaderNote;
    static _DYNAMIC: Entry;
}

const DT_NULL: i64 = 0;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_GNU_HASH: i64 = 0x6fff_fef5;
const DT_VERSYM: i64 = 0x6fff_fff0;

impl Object {
    /// The program, which is the first.
    pub fn first() -> Option<&'static Object> {
        // SAFETY: the loader fills in its list before it calls anything, and unloads nothing that is linked to the
        // program.
        unsafe { _r_debug.objects.as_ref() }
    }

    /// This library.
    pub fn own() -> Option<&'static Object> {
        let here = |object: &&Object| core::ptr::eq(object.dynamic, &raw const _DYNAMIC);
        Object::first()?.and_those_behind().find(here)
    }

    /// This one and all that the loader looks at after it.
    pub fn and_those_behind(&'static self) -> impl Iterator<Item = &'static Object> {
        // SAFETY: as above.
        core::iter::successors(Some(self), |object| unsafe { object.next.as_ref() })
    }

    /// Those that the loader looks at after it.
    pub fn behind(&'static self) -> impl Iterator<Item = &'static Object> {
        self.and_those_behind().skip(1)
    }

    /// Where it was loaded from; the program's is empty.
    pub fn path(&self) -> Option<&[u8]> {
        // SAFETY: the loader's text, ended by a zero, or null.
        (!self.name.is_null()).then(|| unsafe { CStr::from_ptr(self.name) }.to_bytes())
    }

    /// Whether its path contains a text.
    pub fn is_named(&self, text: &[u8]) -> bool {
        self.path().is_some_and(|path| path.windows(text.len()).any(|part| part == text))
    }

    /// The address of what the object defines under a name, in its newest version; `None`: nothing.
    pub fn definition(&self, name: &CStr) -> Option<usize> {
        // SAFETY: the tables of an object that is loaded.
        unsafe {
            let (symbols, texts) = (self.table::<Symbol>(DT_SYMTAB)?, self.table::<c_char>(DT_STRTAB)?);
            let versions = self.table::<u16>(DT_VERSYM);
            let index = of_this_hash(self.table(DT_GNU_HASH)?, hash(name), |index| {
                let symbol = &*symbols.add(index);
                /// An old version, for programs that were linked with it.
                const HIDDEN: u16 = 0x8000;
                let is_newest = versions.is_none_or(|versions| *versions.add(index) & HIDDEN == 0);
                symbol.is_code_or_data() && is_newest && CStr::from_ptr(texts.add(symbol.name as usize)) == name
            })?;
            Some((*symbols.add(index)).address(self.base))
        }
    }

    /// A table that the dynamic section names. The loader makes addresses of most of its numbers.
    unsafe fn table<T>(&self, tag: i64) -> Option<*const T> {
        // SAFETY: the section ends with DT_NULL.
        unsafe {
            let mut entry = self.dynamic.as_ref()?;
            while entry.tag != tag {
                if entry.tag == DT_NULL {
                    return None;
                }
                entry = &*(&raw const *entry).add(1);
            }
            let at = if entry.value < self.base { entry.value + self.base } else { entry.value };
            Some(at as *const T)
        }
    }
}

impl Symbol {
    fn is_code_or_data(&self) -> bool {
        const THREAD_LOCAL: u8 = 6;
        self.section != 0 && self.info & 15 != THREAD_LOCAL
    }

    /// Where it is; some functions are chosen by another one.
    unsafe fn address(&self, base: usize) -> usize {
        const CHOOSES: u8 = 10;
        let at = base + self.value;
        if self.info & 15 != CHOOSES {
            return at;
        }
        // SAFETY: the object's own function, which may be called once the object is relocated.
        unsafe { core::mem::transmute::<usize, extern "C" fn() -> usize>(at)() }
    }
}

fn hash(name: &CStr) -> u32 {
    name.to_bytes().iter().fold(5381, |hash: u32, &byte| hash.wrapping_mul(33).wrapping_add(u32::from(byte)))
}

/// The first symbol with this hash that `is_wanted`, by its index. The table: the number of chains, the index of the first
/// symbol, the words of a filter and its shift, the filter, where each chain starts, and the chains: hashes whose last bit
/// ends the chain.
unsafe fn of_this_hash(table: *const u32, hash: u32, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
    // SAFETY: the caller's table.
    unsafe {
        let [chains, first, filter] = [0, 1, 2].map(|i| *table.add(i) as usize);
        let starts = table.add(4 + 2 * filter);
        let hashes = starts.add(chains);
        if chains == 0 {
            return None;
        }
        let mut index = *starts.add(hash as usize % chains) as usize;
        if index < first {
            return None;
        }
        loop {
            let found = *hashes.add(index - first);
            if found | 1 == hash | 1 && is_wanted(index) {
                return Some(index);
            }
            if found & 1 == 1 {
                return None;
            }
            index += 1;
        }
    }
}

/// The next definition of a name after this library's; 0: there is none.
#[cold]
pub fn next_definition(name: &CStr) -> usize {
    let behind = || Object::own()?.behind().find_map(|object| object.definition(name));
    behind().unwrap_or(0)
}

/// The object that an address lies in.
pub fn containing(address: usize) -> Option<&'static Object> {
    #[repr(C)]
    struct Found {
        path: *const c_char,
        base: usize,
        name: *const c_char,
        at: usize,
    }
    extern "C" {
        fn dladdr1(address: usize, found: *mut Found, object: *mut *const Object, what: i32) -> i32;
    }
    const OBJECT: i32 = 2;
    let mut object = core::ptr::null::<Object>();
    // SAFETY: the loader writes both.
    unsafe {
        let mut found: Found = core::mem::zeroed();
        match dladdr1(address, &mut found, &mut object, OBJECT) {
            0 => None,
            _ => object.as_ref(),
        }
    }
}

/// RTLD_NEXT and RTLD_DEFAULT, which are no objects.
pub const HANDLE_NEXT: *mut c_void = -1isize as *mut c_void;
/// See [`HANDLE_NEXT`].
pub const HANDLE_DEFAULT: *mut c_void = core::ptr::null_mut();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libc_defines_is_found_where_the_loader_finds_it() {
        for name in [c"pthread_create", c"pthread_cond_wait", c"getpid", c"memcpy", c"environ"] {
            // SAFETY: looks for a name.
            let found = unsafe { libc::dlsym(HANDLE_NEXT, name.as_ptr()) } as usize;
            assert_ne!(found, 0);
            assert_eq!(next_definition(name), found, "{name:?}");
        }
        assert_eq!(next_definition(c"nothing_of_this_name"), 0);
    }

    #[test]
    fn objects_are_known_by_their_addresses() {
        let own = containing(hash as *const () as usize).expect("the test itself");
        assert!(core::ptr::eq(own, Object::own().expect("the same")));
        let libc = containing(libc::getpid as *const () as usize).expect("libc");
        assert!(libc.is_named(b"libc.so"));
        assert!(containing(0x10).is_none());
    }
}
