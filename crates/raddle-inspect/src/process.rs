//! A process that holds still, and the images that its addresses lie in.

use std::collections::HashMap;
use std::io;

use super::builds::Builds;
use super::image::{Head, Image, Key};
use super::maps::Maps;
use super::memory::Memory;

/// What can be read of a process while its threads are held.
pub(super) struct Process {
    pid: i32,
    maps: Maps,
    pub memory: Memory,
    /// For the start of each mapped file: the image, and how much higher it lies than its file says.
    placed: HashMap<u64, Option<(usize, u64)>>,
}

impl Process {
    /// The process of this number, or the one that a thread of this number belongs to.
    pub(super) fn of(pid: i32) -> io::Result<Self> {
        Ok(Process { pid, maps: Maps::of(pid)?, memory: Memory::of(pid), placed: HashMap::new() })
    }

    /// Whether there is code at an address.
    pub(super) fn is_code(&self, address: u64) -> bool {
        self.maps.at(address).is_some_and(|mapping| mapping.executable)
    }

    /// What a person calls the memory at an address.
    pub(super) fn module(&self, address: u64) -> String {
        self.maps.at(address).map_or_else(|| "[unmapped]".into(), |mapping| mapping.short_name())
    }
}

/// An address as the file of an image has it: the same in every process that maps the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct InImage {
    image: usize,
    pub address: u64,
}

/// All images that were ever met, each read once.
#[derive(Default)]
pub(super) struct Images {
    all: Vec<Image>,
    by_key: HashMap<Key, usize>,
    pub builds: Builds,
}

impl Images {
    /// None yet; their symbols come from those builds.
    pub(super) fn new(builds: Builds) -> Images {
        Images { builds, ..Images::default() }
    }

    /// The image that an address of a process lies in, and the address in it.
    pub(super) fn find(&mut self, process: &mut Process, address: u64) -> Option<InImage> {
        let start = process.maps.start_of_file(address)?.start;
        let placed = match process.placed.get(&start) {
            Some(&placed) => placed,
            None => {
                let placed = self.place(process, start);
                process.placed.insert(start, placed);
                placed
            }
        };
        let (image, bias) = placed?;
        Some(InImage { image, address: address.wrapping_sub(bias) })
    }

    /// The image at an address that [`find`](Self::find) gave.
    pub(super) fn get(&self, at: InImage) -> &Image {
        &self.all[at.image]
    }

    fn place(&mut self, process: &Process, start: u64) -> Option<(usize, u64)> {
        let Process { pid, maps, memory, .. } = process;
        let mapping = maps.at(start)?;
        let head = Head::read(mapping, memory)?;
        let index = *self.by_key.entry(head.key(mapping, memory)).or_insert_with(|| {
            self.all.push(Image::read(&head, mapping, *pid, memory, &self.builds));
            self.all.len() - 1
        });
        Some((index, head.bias()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vdso_has_tables_and_names_in_memory() {
        let mut process = Process::of(std::process::id() as i32).unwrap();
        let mut images = Images::default();
        // SAFETY: reads a number that the kernel passed to this process.
        let start = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) };
        assert_eq!(process.module(start), "[vdso]");
        let at = images.find(&mut process, start).unwrap();
        let vdso = images.get(at);
        assert!(vdso.tables.is_some());
        let places = |offset| images.builds.places(vdso.build.unwrap(), at.address + offset);
        let names = (0..0x2000).filter_map(|offset| places(offset).pop()?.function);
        let names: std::collections::BTreeSet<_> = names.collect();
        assert!(names.iter().any(|name| name.contains("gettimeofday")), "{names:?}");
    }

    #[test]
    fn an_image_is_read_once() {
        let mut images = Images::default();
        let code = Process::of as *const () as u64;
        let mut find = || {
            let mut process = Process::of(std::process::id() as i32).unwrap();
            images.find(&mut process, code).unwrap()
        };
        assert_eq!(find(), find());
        assert_eq!(images.all.len(), 1);
    }
}
