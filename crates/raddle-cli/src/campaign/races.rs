//! Data races that a run saw: where they are, and how they are told.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSegment};
use raddle_core::block;
use raddle_core::races::{Loaded, Race, RaceAccess, FRAMES};
use serde::{Deserialize, Serialize};

use super::classify::Symptom;
use super::frames::Frames;
use super::run_report::Kind;
use super::threads::ThreadView;
use crate::inspect::stack::Frame;
use crate::inspect::symbols::Symbols;
use crate::inspect::variables::{Variable, Variables};
use crate::report::count;
use crate::suppressions::{FrameNames, Suppressions};

/// A place in the program that is known to race; the same on every machine that has this build.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The name of the file, without its folder.
    pub file: String,
    /// The address in the file, behind the access.
    pub address: u64,
}

/// Races of one run, as they are in the block.
pub struct Seen {
    /// The races.
    pub races: Vec<Race>,
    /// The files that their addresses lie in.
    pub loaded: Vec<Loaded>,
}

/// A race as it is told.
pub struct Told {
    /// What is wrong.
    pub symptom: Symptom,
    /// The two threads, with their stacks at the time of their accesses.
    pub threads: Vec<ThreadView>,
    stacks: [Vec<Frame>; 2],
    /// The name of the whole variable, where it has one.
    variable: Option<String>,
}

impl Told {
    /// The pattern that says that this race is none.
    pub fn suppressed_by<'a>(&self, suppressions: &'a Suppressions) -> Option<&'a str> {
        let [first, second] = self.stacks.each_ref().map(|stack| names(stack));
        let by_stack = suppressions.suppresses(&[&first, &second]);
        by_stack.or_else(|| suppressions.suppresses_variable(self.variable.as_deref()?))
    }
}

fn names(stack: &[Frame]) -> Vec<FrameNames<'_>> {
    stack
        .iter()
        .map(|frame| FrameNames {
            function: frame.function.as_deref(),
            file: frame.file.as_deref(),
            module: Some(&frame.module),
        })
        .collect()
}

/// Bytes of a file's name that a block has room for.
const MOST: usize = 63;

/// Reads the files of a program when they are asked for.
#[derive(Default)]
pub struct Files {
    known: HashMap<PathBuf, File>,
}

struct File {
    /// The lowest address that the file asks to be loaded at.
    first: u64,
    symbols: Symbols,
    variables: Variables,
}

impl Files {
    fn get(&mut self, path: &Path) -> &File {
        self.known.entry(path.to_path_buf()).or_insert_with(|| File {
            first: first_address(path).unwrap_or(0),
            symbols: Symbols::of_file(path),
            variables: Variables::of_file(path),
        })
    }

    /// The file that an address lies in, and the address there.
    fn locate(&mut self, loaded: &[Loaded], address: u64) -> Option<(PathBuf, u64)> {
        let file = loaded.iter().find(|file| (file.start..file.end).contains(&address))?;
        let path = PathBuf::from(block::text(&file.path));
        let first = self.get(&path).first;
        Some((path, address - file.start + first))
    }

    /// The places of both accesses of every race.
    pub fn places(&mut self, seen: &Seen) -> Vec<Place> {
        let accesses = seen.races.iter().flat_map(|race| [race.first, race.second]);
        let mut places: Vec<_> = accesses
            .filter(|access| access.atomic == 0)
            .filter_map(|access| {
                let (path, address) = self.locate(&seen.loaded, access.frames[0])?;
                Some(Place { file: file_name(&path)?, address })
            })
            .collect();
        places.sort();
        places.dedup();
        places
    }

    /// Frames for a person. All addresses are those behind a call or an access.
    fn stack(&mut self, loaded: &[Loaded], addresses: &[u64]) -> Vec<Frame> {
        let mut frames = Vec::new();
        for &address in addresses {
            let Some((path, there)) = self.locate(loaded, address) else { continue };
            let module = path.to_string_lossy().into_owned();
            for place in self.get(&path).symbols.places(there.saturating_sub(1)) {
                let (function, file, line) = (place.function, place.file, place.line);
                frames.push(Frame { address, function, file, line, module: module.clone() });
            }
        }
        frames
    }

    /// Puts a race into words.
    pub fn tell(&mut self, seen: &Seen, race: &Race, frames: &Frames) -> Told {
        let mut stack_of = |access: &RaceAccess| {
            let depth = (access.depth as usize).min(FRAMES);
            self.stack(&seen.loaded, &access.frames[..depth])
        };
        let stacks = [stack_of(&race.first), stack_of(&race.second)];
        let [first, second] =
            [&stacks[0], &stacks[1]].map(|stack| frames.place(stack).unwrap_or_else(|| "unknown code".to_string()));
        let variable = self.static_variable(seen, race.address);
        let what = match &variable {
            Some(variable) => format!("`{}`", variable.name),
            None => self.memory(seen, race, frames),
        };
        let message = format!(
            "{what}: {} by t{} in {first}, and {} by t{} in {second}; no lock, atomic or join orders the first before the second",
            deed(&race.first),
            race.first.thread,
            deed(&race.second),
            race.second.thread,
        );
        let view = |access: &RaceAccess, place: &String, stack: &[Frame], order: &str| ThreadView {
            id: access.thread as u16,
            name: order.to_string(),
            state: format!("{} of {}", deed(access), count(access.size.into(), "byte")),
            waits_for: None,
            holder: None,
            event: String::new(),
            place: Some(place.clone()),
            backtrace: frames.backtrace(stack),
        };
        let threads =
            vec![view(&race.first, &first, &stacks[0], "first"), view(&race.second, &second, &stacks[1], "second")];
        let mut places = [first, second];
        places.sort();
        Told {
            symptom: Symptom { kind: Kind::Race, message, place: places.join("; ") },
            threads,
            stacks,
            variable: variable.map(|variable| variable.whole),
        }
    }

    /// The variable that lies at an address of the program's own files.
    fn static_variable(&mut self, seen: &Seen, address: u64) -> Option<Variable> {
        let (path, address) = self.locate(&seen.loaded, address)?;
        self.get(&path).variables.at(address)
    }

    /// What lies at the address of a race that is in no variable.
    fn memory(&mut self, seen: &Seen, race: &Race, frames: &Frames) -> String {
        if race.heap == 0 {
            return format!("memory at {:#x}", race.address);
        }
        let offset = race.address - race.heap;
        let depth = (race.heap_depth as usize).min(FRAMES);
        let stack = self.stack(&seen.loaded, &race.heap_frames[..depth]);
        let by = match frames.place(&stack) {
            Some(place) => format!(", allocated by t{} in {place}", race.heap_thread),
            None => String::new(),
        };
        format!("byte {offset} of a heap block of {}{by}", count(race.heap_size, "byte"))
    }
}

/// The name of a file as places have it; the block has no room for longer ones.
pub fn file_name(path: &Path) -> Option<String> {
    let mut name = path.file_name()?.to_string_lossy().into_owned();
    while name.len() > MOST {
        name.pop();
    }
    Some(name)
}

fn deed(access: &RaceAccess) -> &'static str {
    match (access.writes != 0, access.atomic != 0) {
        (false, false) => "read",
        (true, false) => "write",
        (false, true) => "atomic read",
        (true, true) => "atomic write",
    }
}

fn first_address(path: &Path) -> Option<u64> {
    let bytes = std::fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    // Pages are mapped whole.
    file.segments().map(|segment| segment.address() & !0xfff).min()
}
