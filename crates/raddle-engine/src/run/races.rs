//! Data races that a run saw: where they are, and how they are told.

use std::path::PathBuf;

use raddle_protocol::races::{LoadedFile, Race, RaceAccess, FRAMES};
use raddle_protocol::text;

use super::classify::Symptom;
use super::frames::Frames;
use super::threads::ThreadView;
use crate::plan::place::{self, Place};
use crate::plan::suppressions::{FrameNames, Suppressions};
use raddle_inspect::builds::{Build, Builds};
use raddle_inspect::stack::Frame;
use raddle_inspect::variables::Variable;
use raddle_report::words::count;
use raddle_report::FailureKind;

/// Races of one run, as they are in the block.
pub struct Seen {
    pub races: Vec<Race>,
    /// The places of plain accesses that no run was told of.
    pub learned: Vec<u64>,
    /// The files that their addresses lie in.
    pub loaded: Vec<LoadedFile>,
}

/// A race as it is shown.
pub struct RaceView {
    pub symptom: Symptom,
    /// The two threads, with their stacks at the time of their accesses.
    pub threads: Vec<ThreadView>,
    stacks: [Vec<Frame>; 2],
    /// The name of the whole variable, where it has one.
    variable: Option<String>,
}

impl RaceView {
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

/// Finds addresses of a run in the files of the program.
pub struct Files {
    builds: Builds,
}

/// An address of a run in a file.
struct Located {
    path: PathBuf,
    /// `None` when the file that was loaded cannot be read any more.
    build: Option<Build>,
    address: u64,
}

impl Files {
    /// With what is known of these builds.
    pub fn new(builds: Builds) -> Files {
        Files { builds }
    }

    /// The file that an address lies in, and the address there.
    fn locate(&self, loaded: &[LoadedFile], address: u64) -> Option<Located> {
        let file = loaded.iter().find(|file| (file.start..file.end).contains(&address))?;
        let name = text(&file.path);
        // A fork server still runs what was there when it started; the kernel marks what is gone.
        let deleted = name.strip_suffix(" (deleted)");
        let path = PathBuf::from(deleted.unwrap_or(name));
        let build = match file.build_id() {
            Some(id) => self.builds.with_id(&path, id),
            None if deleted.is_none() => self.builds.at(&path),
            None => None,
        };
        let first = build.map_or(0, |build| self.builds.first_address(build));
        Some(Located { path, build, address: address - file.start + first })
    }

    /// The places that a run teaches.
    pub fn places(&self, seen: &Seen) -> Vec<Place> {
        let place = |&address| {
            let Located { path, address, .. } = self.locate(&seen.loaded, address)?;
            Some(Place { file: place::file_name(&path)?, address })
        };
        let mut places: Vec<_> = seen.learned.iter().filter_map(place).collect();
        places.sort();
        places.dedup();
        places
    }

    /// Frames for a person. All addresses are those behind a call or an access.
    fn stack(&self, loaded: &[LoadedFile], addresses: &[u64]) -> Vec<Frame> {
        let mut frames = Vec::new();
        for &address in addresses {
            let Some(there) = self.locate(loaded, address) else { continue };
            let module = there.path.to_string_lossy().into_owned();
            let places = there.build.map(|build| self.builds.places(build, there.address.saturating_sub(1)));
            for place in places.unwrap_or_else(|| vec![Default::default()]) {
                let (function, file, line) = (place.function, place.file, place.line);
                frames.push(Frame { address, function, file, line, module: module.clone() });
            }
        }
        frames
    }

    /// Puts a race into words.
    pub fn view(&self, seen: &Seen, race: &Race, frames: &Frames) -> RaceView {
        let stack_of = |access: &RaceAccess| {
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
            place: Some(place.clone()),
            frames: frames.backtrace(stack),
            ..ThreadView::default()
        };
        let threads =
            vec![view(&race.first, &first, &stacks[0], "first"), view(&race.second, &second, &stacks[1], "second")];
        let mut places = [first, second];
        places.sort();
        RaceView {
            symptom: Symptom::at(places.join("; "), FailureKind::Race, message),
            threads,
            stacks,
            variable: variable.map(|variable| variable.whole),
        }
    }

    /// The variable that lies at an address of the program's own files.
    fn static_variable(&self, seen: &Seen, address: u64) -> Option<Variable> {
        let there = self.locate(&seen.loaded, address)?;
        self.builds.variable(there.build?, there.address)
    }

    /// What lies at the address of a race that is in no variable.
    fn memory(&self, seen: &Seen, race: &Race, frames: &Frames) -> String {
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

fn deed(access: &RaceAccess) -> &'static str {
    match (access.writes != 0, access.atomic != 0) {
        (false, false) => "read",
        (true, false) => "write",
        (false, true) => "atomic read",
        (true, true) => "atomic write",
    }
}
