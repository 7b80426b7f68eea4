//! The engine's side of the shared block: a memfd and its mapping.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::{addr_of, addr_of_mut, NonNull};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use raddle_core::policies::portfolio;
use raddle_core::policy::Learns;
use raddle_core::{Decision, Delay, MAX_THREADS};
use raddle_protocol::block::{LAYOUT, MAGIC};
use raddle_protocol::races::{FILES, LEARNED, PLACES, RACES};
use raddle_protocol::results::{MESSAGE, SUMMARIES};
use raddle_protocol::trace::DELAYS;
use raddle_protocol::{text, Block, Control, Escape, Results, Settings, Summary, ThreadReport};

use super::observed::{self, Knowledge, Observed};
use super::races::Seen;
use super::report::CheckRequest;
use crate::os::sys;
use crate::plan::place::Place;

/// The memory of a block.
struct Mapping {
    file: File,
    at: NonNull<Block>,
    size: usize,
}

// SAFETY: other threads than the one that has the `SharedBlock` see the control part only, which is atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn control(&self) -> &Control {
        // SAFETY: the mapping lives as long as self, and the control part is atomics only.
        unsafe { &*addr_of!((*self.at.as_ptr()).control) }
    }

    /// What stands at the start of every block of this size.
    fn intact_header(&self) -> [u64; 3] {
        [MAGIC, LAYOUT, self.size as u64]
    }

    fn write_header(&self) {
        let [magic, layout, size] = self.intact_header();
        let base = self.at.as_ptr();
        // SAFETY: inside the mapping; plain numbers.
        unsafe {
            addr_of_mut!((*base).magic).write_volatile(magic);
            addr_of_mut!((*base).layout).write_volatile(layout);
            addr_of_mut!((*base).size).write_volatile(size);
        }
    }

    fn header(&self) -> [u64; 3] {
        let base = self.at.as_ptr();
        // SAFETY: as above.
        unsafe {
            [
                addr_of!((*base).magic).read_volatile(),
                addr_of!((*base).layout).read_volatile(),
                addr_of!((*base).size).read_volatile(),
            ]
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping of this size is ours.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.size) };
    }
}

/// Wakes the thread that waits for something to happen in a block.
#[derive(Clone)]
pub struct Bell(Arc<Mapping>);

impl Bell {
    /// Tells of an [`event`](raddle_protocol::control::event).
    pub fn ring(&self, event: u32) {
        let control = self.0.control();
        // Changing the word keeps a wait from starting; the wake-up ends one that has started.
        control.event.fetch_or(event, Ordering::AcqRel);
        sys::futex_wake(&control.event);
    }

    /// The same, as long as the block is in use.
    pub fn downgrade(&self) -> DistantBell {
        DistantBell(Arc::downgrade(&self.0))
    }
}

/// A [`Bell`] that does not keep its block alive.
pub struct DistantBell(Weak<Mapping>);

impl DistantBell {
    /// The bell, if its block is still in use.
    pub fn upgrade(&self) -> Option<Bell> {
        self.0.upgrade().map(Bell)
    }
}

/// A block that a target can map.
pub struct SharedBlock {
    map: Arc<Mapping>,
    log_capacity: u64,
}

impl SharedBlock {
    /// Makes a block with these settings and the decisions to follow, if any.
    pub fn new(settings: Settings, recording: &[Decision]) -> io::Result<SharedBlock> {
        let size = Block::size_for(&settings);
        let file = sys::memfd(c"raddle-block")?;
        file.set_len(size as u64)?;
        // SAFETY: a new mapping of a file that has this size.
        let at = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), size, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let at = NonNull::new(at.cast::<Block>())
            .ok_or_else(|| io::Error::other("the kernel mapped the block at address 0"))?;
        let map = Mapping { file, at, size };
        let base = at.as_ptr();
        map.write_header();
        // SAFETY: the mapping is as large as the block with both logs, zero bytes are valid for all
        // of it, and no target maps it yet.
        unsafe {
            addr_of_mut!((*base).settings).write(settings);
            let follow = base.cast::<u8>().add((*base).replay_offset()).cast::<Decision>();
            std::ptr::copy_nonoverlapping(recording.as_ptr(), follow, recording.len());
        }
        Ok(SharedBlock { map: Arc::new(map), log_capacity: settings.log_capacity })
    }

    /// The path by which a target opens the block again.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.descriptor())
    }

    /// Has the next run follow these decisions, for which there is room.
    pub fn follow(&mut self, decisions: &[Decision]) {
        let base = self.map.at.as_ptr();
        // SAFETY: between two runs only this side touches the settings and the decisions.
        unsafe {
            let room = (self.map.size - (*base).replay_offset()) / size_of::<Decision>();
            let count = decisions.len().min(room);
            let follow = base.cast::<u8>().add((*base).replay_offset()).cast::<Decision>();
            std::ptr::copy_nonoverlapping(decisions.as_ptr(), follow, count);
            addr_of_mut!((*base).settings.replay_len).write(count as u64);
        }
    }

    /// Wakes the thread that waits for this block.
    pub fn bell(&self) -> Bell {
        Bell(self.map.clone())
    }

    /// The descriptor that a target inherits.
    pub fn descriptor(&self) -> RawFd {
        self.map.file.as_raw_fd()
    }

    pub fn control(&self) -> &Control {
        self.map.control()
    }

    /// What the check that was reached asks for.
    pub fn check_request(&self) -> CheckRequest {
        // SAFETY: the mapping lives as long as self; the target has written them before it said so.
        let request = unsafe { addr_of!((*self.map.at.as_ptr()).check_request).read_volatile() };
        let text = |field: &[u8]| Some(text(field).to_string()).filter(|text| !text.is_empty());
        CheckRequest {
            name: text(&request.name),
            policy: text(&request.policy),
            runs: Some(request.runs).filter(|&runs| runs != 0),
            seed: (request.has_seed != 0).then_some(request.seed),
            max_steps: Some(request.max_steps).filter(|&steps| steps != 0),
        }
    }

    /// What the runs of the last order did, as far as so many are over.
    pub fn summaries(&self, count: usize) -> Vec<Summary> {
        // SAFETY: the target writes them only during an order; plain numbers.
        let written = unsafe { &(&*addr_of!((*self.map.at.as_ptr()).summaries))[..count.min(SUMMARIES)] };
        written.iter().map(|summary| Summary { member: possible_member(summary.member), ..*summary }).collect()
    }

    /// Says what a failed check is to report.
    pub fn say(&mut self, text: &str) {
        // SAFETY: the target waits for a command.
        let field = unsafe { &mut *addr_of_mut!((*self.map.at.as_ptr()).check_report) };
        let mut end = text.len().min(field.len() - 1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        put(field, &text.as_bytes()[..end]);
    }

    pub fn settings(&self) -> &Settings {
        // SAFETY: the mapping lives as long as self, and only this side writes the settings.
        unsafe { &*addr_of!((*self.map.at.as_ptr()).settings) }
    }

    /// Changes the settings, between two runs.
    pub fn set(&mut self, change: impl FnOnce(&mut Settings)) {
        let at = self.map.at.as_ptr();
        // SAFETY: between two runs only this side touches the settings.
        unsafe {
            let mut settings = addr_of!((*at).settings).read_volatile();
            change(&mut settings);
            addr_of_mut!((*at).settings).write_volatile(settings);
        }
    }

    /// Lets a policy whose state outlives its runs start afresh, between two runs.
    pub fn forget_search(&mut self) -> io::Result<()> {
        let (offset, bytes) = (Block::search_offset(self.settings()), self.settings().search_bytes as usize);
        if bytes == 0 {
            return Ok(());
        }
        let start = self.map.at.as_ptr().cast::<u8>().wrapping_add(offset);
        // SAFETY: whole pages at the end of our mapping; what is removed reads as zero, which is valid.
        match unsafe { libc::madvise(start.cast(), bytes, libc::MADV_REMOVE) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Says which places are known to race, between two runs. What does not fit is left out.
    pub fn set_places(&mut self, places: &[Place]) {
        let at = self.map.at.as_ptr();
        // SAFETY: between two runs only this side touches the places; zero bytes are valid.
        let to = unsafe { &mut *addr_of_mut!((*at).racy_places) };
        to.count = 0;
        let mut files: Vec<&str> = Vec::new();
        for place in places.iter().take(PLACES) {
            let file = files.iter().position(|name| *name == place.file).unwrap_or_else(|| {
                files.push(&place.file);
                files.len() - 1
            });
            let Some(name) = to.files.get_mut(file) else { continue };
            put(name, place.file.as_bytes());
            let Ok(address) = u32::try_from(place.address) else { continue };
            to.at[to.count as usize] = (file as u32, address);
            to.count += 1;
        }
    }

    /// Tells the policy of earlier runs, between two runs.
    pub fn teach(&mut self, knowledge: &Knowledge) {
        // SAFETY: between two runs only this side touches the lessons; zero bytes are valid.
        knowledge.write(unsafe { &mut *addr_of_mut!((*self.map.at.as_ptr()).lessons) });
    }

    /// What later runs can learn from the last one, which was traced.
    pub fn observed(&self, learns: Learns) -> Observed {
        let (length, threads) = (self.results().log_len.min(self.log_capacity), self.results().threads);
        let start = self.map.at.as_ptr().cast::<u8>().wrapping_add(Block::LOG_OFFSET).cast::<u32>();
        // SAFETY: inside the mapping, which has room for log_capacity decisions there; the run is over.
        unsafe {
            let (log, trace) =
                (std::slice::from_raw_parts(start, length as usize), &*addr_of!((*self.map.at.as_ptr()).trace));
            let threads = (threads as usize).min(MAX_THREADS);
            let mut observed = observed::observe(log, &trace.objects, &trace.parents[..threads], learns);
            observed.alone.extend(&trace.points_without_choice[..threads]);
            observed
        }
    }

    /// The delays that were possible in the last run, which noted them.
    pub fn possible_delays(&self) -> Vec<Delay> {
        // SAFETY: inside the mapping; plain numbers, copied. The run is over.
        let trace = unsafe { &*addr_of!((*self.map.at.as_ptr()).trace) };
        trace.delays[..(trace.delay_count as usize).min(DELAYS)].to_vec()
    }

    /// The races that the last run saw.
    pub fn races(&self) -> Seen {
        let at = self.map.at.as_ptr();
        // SAFETY: inside the mapping; plain numbers, copied. The run is over.
        unsafe {
            let races = &*addr_of!((*at).races);
            let (count, loaded) = ((races.count as usize).min(RACES), (races.loaded as usize).min(FILES));
            let learned = races.learned[..(races.learned_count as usize).min(LEARNED)].to_vec();
            Seen { races: races.race[..count].to_vec(), learned, loaded: races.files[..loaded].to_vec() }
        }
    }

    /// Whether a program has written where only this side writes.
    pub fn is_overwritten(&self) -> bool {
        self.map.header() != self.map.intact_header()
    }

    /// Makes the block ready for a new target process.
    pub fn reset(&mut self) {
        self.map.write_header();
        let control = self.control();
        for word in [&control.attached, &control.command, &control.event, &control.release] {
            word.store(0, Ordering::Relaxed);
        }
        for word in [&control.os_reason, &control.switch, &control.fallback, &control.strays, &control.preemptions] {
            word.store(0, Ordering::Relaxed);
        }
        for word in [&control.execs, &control.followed] {
            word.store(0, Ordering::Relaxed);
        }
        for word in [&control.alarm, &control.alarm_interval, &control.clock] {
            word.store(0, Ordering::Relaxed);
        }
        control.run_pid.store(0, Ordering::Relaxed);
        control.wait_status.store(0, Ordering::Relaxed);
        self.clear_results();
    }

    /// Forgets the last run.
    pub fn clear_results(&mut self) {
        // SAFETY: between two runs only this side touches the results; zero bytes are valid.
        unsafe {
            addr_of_mut!((*self.map.at.as_ptr()).results).write_bytes(0, 1);
            addr_of_mut!((*self.map.at.as_ptr()).child_command).write_bytes(0, 1);
            let races = addr_of_mut!((*self.map.at.as_ptr()).races);
            ((*races).count, (*races).learned_count, (*races).loaded) = (0, 0, 0);
            addr_of_mut!((*self.map.at.as_ptr()).trace.delay_count).write(0);
        }
    }

    /// What the run did so far. A program may have written over it, so numbers that something is sized by are kept
    /// within what is possible.
    pub fn results(&self) -> Results {
        // SAFETY: plain numbers; a copy, because the target may still write them.
        let mut results = unsafe { addr_of!((*self.map.at.as_ptr()).results).read_volatile() };
        results.threads = results.threads.min(MAX_THREADS as u32);
        results.threads_alive = results.threads_alive.min(MAX_THREADS as u32);
        results.member = possible_member(results.member.into()) as u32;
        for stacks in &mut results.stacks {
            stacks.count = stacks.count.min(MAX_THREADS as u32);
        }
        results
    }

    /// What changes whenever the program reaches a point: how many it has reached, and how many runs came before this
    /// one.
    pub fn beat(&self) -> (u32, u64) {
        // SAFETY: a plain number, copied, because the target may write it at this moment.
        let points = unsafe { addr_of!((*self.map.at.as_ptr()).results.points).read_volatile() };
        let control = self.control();
        let preemptions = control.preemptions.load(Ordering::Relaxed);
        (control.completed.load(Ordering::Relaxed), points.wrapping_sub(preemptions.into()))
    }

    /// What a child process of the last run has started last, as words of a shell.
    pub fn child_command(&self) -> Option<String> {
        // SAFETY: inside the mapping; plain bytes, copied.
        let command = unsafe { addr_of!((*self.map.at.as_ptr()).child_command).read_volatile() };
        let length = command.iter().position(|&byte| byte == 0).unwrap_or(command.len());
        Some(String::from_utf8_lossy(&command[..length]).into_owned()).filter(|command| !command.is_empty())
    }

    /// The bit of [`Escape::Exec`], if a program was started in the place of another one and has not mapped the block.
    pub fn escaped_by_exec(&self) -> u64 {
        let [started, followed] = [&self.control().execs, &self.control().followed].map(|n| n.load(Ordering::Acquire));
        u64::from(started != followed) << Escape::Exec as u32
    }

    /// The states of the run's threads, the main one first.
    pub fn threads(&self, count: u32) -> Vec<ThreadReport> {
        let count = (count as usize).min(MAX_THREADS);
        let first = self.map.at.as_ptr().cast::<u8>();
        let first = first.wrapping_add(std::mem::offset_of!(Block, threads)).cast::<ThreadReport>();
        // SAFETY: inside the mapping; plain numbers, copied.
        (0..count).map(|i| unsafe { first.add(i).read_volatile() }).collect()
    }

    /// The recorded decisions of the last run.
    pub fn log(&self) -> Vec<u32> {
        let length = self.results().log_len.min(self.log_capacity) as usize;
        let start = self.map.at.as_ptr().cast::<u8>().wrapping_add(Block::LOG_OFFSET).cast::<u32>();
        // SAFETY: the mapping has room for log_capacity decisions there; the run is over.
        unsafe { std::slice::from_raw_parts(start, length).to_vec() }
    }

    /// Who passed each point of the last run, which was to note it; `None`: there were more than there is room for.
    pub fn passed(&self) -> Option<Vec<u32>> {
        // SAFETY: inside the mapping; plain numbers. The run is over.
        let trace = unsafe { &*addr_of!((*self.map.at.as_ptr()).trace) };
        let passed = trace.point_threads.get(..trace.points as usize)?;
        Some(passed.iter().map(|&t| t.into()).collect())
    }

    /// Whether the last run had more decisions than there was room for.
    pub fn log_is_full(&self) -> bool {
        self.results().log_len >= self.log_capacity
    }
}

/// The number of a policy in a portfolio, if it is one.
fn possible_member(member: u64) -> u64 {
    if member < portfolio::MEMBERS.len() as u64 {
        member
    } else {
        0
    }
}

/// The message of a run's results.
pub fn message(results: &Results) -> String {
    let length = (results.message_len as usize).min(MESSAGE);
    String::from_utf8_lossy(&results.message[..length]).trim_end().to_string()
}

/// Puts a text into a field of a block; says whether it fits.
pub fn put(field: &mut [u8], text: &[u8]) -> bool {
    field.fill(0);
    let fits = text.len() < field.len();
    if fits {
        field[..text.len()].copy_from_slice(text);
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::{EventKind, ThreadId};

    fn settings() -> Settings {
        // SAFETY: zero bytes are valid settings.
        let mut settings: Settings = unsafe { std::mem::zeroed() };
        settings.log_capacity = 100;
        settings.replay_len = 2;
        settings
    }

    #[test]
    fn the_runtime_would_find_what_was_put_there() {
        let recording = [Decision::new(ThreadId(3), EventKind::Lock); 2];
        let mut block = SharedBlock::new(settings(), &recording).expect("a block");
        block.set(|settings| settings.seed = 42);
        // SAFETY: the test plays the runtime: it maps nothing, it reads the same memory.
        let seen = unsafe { block.map.at.as_ref() };
        assert_eq!((seen.magic, seen.layout, seen.settings.seed), (MAGIC, LAYOUT, 42));
        assert_eq!(seen.size, block.map.size as u64);
        // SAFETY: as above.
        let followed = unsafe { block.map.at.as_ptr().cast::<u8>().add(seen.replay_offset()).cast::<u32>().read() };
        assert_eq!(followed, recording[0].0);
    }

    #[test]
    fn a_search_starts_afresh_when_it_is_told_to() {
        let mut block =
            SharedBlock::new(Settings { search_bytes: 8192, replay_len: 0, ..settings() }, &[]).expect("a block");
        let search = block.map.at.as_ptr().cast::<u8>().wrapping_add(Block::search_offset(block.settings()));
        // SAFETY: the test plays the runtime, inside the mapping.
        unsafe {
            search.wrapping_add(8191).write(7);
            block.forget_search().expect("forgotten");
            assert_eq!(search.wrapping_add(8191).read(), 0);
        }
    }

    #[test]
    fn a_broken_runtime_cannot_make_us_read_too_far() {
        let block = SharedBlock::new(settings(), &[Decision(0); 2]).expect("a block");
        // SAFETY: the test plays a runtime that writes nonsense.
        unsafe {
            let results = addr_of_mut!((*block.map.at.as_ptr()).results);
            (*results).log_len = u64::MAX;
            (*results).message_len = u32::MAX;
        }
        assert_eq!(block.log().len(), 100);
        assert!(block.log_is_full());
        assert!(message(&block.results()).len() <= MESSAGE);
        assert_eq!(block.threads(u32::MAX).len(), MAX_THREADS);
    }

    #[test]
    fn texts_that_are_too_long_are_refused() {
        let mut field = [1; 4];
        assert!(put(&mut field, b"abc"));
        assert_eq!(&field, b"abc\0");
        assert!(!put(&mut field, b"abcd"));
        assert_eq!(field, [0; 4]);
    }
}
