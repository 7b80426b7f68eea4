//! The threads of a failed run, for a person.

use raddle_core::event::DESCRIPTORS;
use raddle_core::EventKind;
use raddle_protocol::{ThreadReport, ThreadState};
use serde::{Deserialize, Serialize};

use super::frames::{self, FrameView, Frames};
use super::library_waits::{self, LockWord, Wait};
use raddle_inspect::stack::{Frame, Thread, Unwinder};

/// The state of a thread that has not had its first turn.
pub const NOT_STARTED: &str = "not started";

/// The state of a thread that has returned from its function.
const ENDING: &str = "ending";

/// One thread of a failed run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadView {
    /// Its number in the order of creation; the main thread is 0.
    pub id: u16,
    pub name: String,
    /// Blocked, enabled and so on.
    pub state: String,
    /// What it waits for, and who holds it.
    pub waits_for: Option<String>,
    /// Who holds what it waits for.
    pub holder: Option<u16>,
    /// The kind of its next event, or what it does in a library that waits by futexes.
    pub event: String,
    /// It waits for a lock of Rust's library, whose holder only the steps of the run tell.
    pub lock: Option<LockWord>,
    /// It is the main thread of a test harness, which waits for the test.
    pub is_harness: bool,
    /// The innermost frame of the program's own.
    pub place: Option<String>,
    /// The calls of functions named by `--sync-function` that it is in or has made.
    pub calls: Vec<String>,
    /// Where it stands, the innermost frame first.
    pub frames: Vec<FrameView>,
    /// Why that is not known.
    pub unseen: Option<String>,
    /// Of the thread that used a destroyed object or freed memory: who destroyed or freed that, and where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

impl ThreadView {
    /// Whether it waits for something, inside or outside the model.
    pub fn waits(&self) -> bool {
        self.waits_for.is_some()
    }

    /// Says what it waits for in the words of the library that it is in.
    fn name_wait(&mut self, wait: Wait, report: &ThreadReport) {
        let on = match wait.object {
            "" => String::new(),
            "channel" | "future" => format!(" on a {}", wait.object),
            object => {
                let before = wait.lock.map_or(0, |lock| 4 * lock.words_before as u64);
                format!(" on {object} {:#x}", report.object.saturating_sub(before))
            }
        };
        self.event = wait.event.to_string();
        self.lock = wait.lock;
        self.waits_for = Some(format!("{}{on}{}", wait.event, limited(report)));
    }

    /// Names the thread that holds what this one waits for.
    pub fn hold(&mut self, holder: u16, name: &str) {
        self.holder = Some(holder);
        if let Some(waits_for) = &mut self.waits_for {
            *waits_for += &format!(", last locked by {}", named(holder.into(), name));
        }
    }

    /// Leaves out what says nothing: where a harness waits, and where a thread ends.
    fn shorten(&mut self) {
        if self.is_harness && self.waits() {
            self.waits_for = Some("end of the test".to_string());
            self.frames.clear();
        } else if self.state == ENDING && self.place.is_none() {
            self.frames.clear();
        }
    }

    /// Its calls and its stack, in lines.
    pub fn backtrace(&self) -> Vec<String> {
        let unseen = self.unseen.iter().map(|reason| format!("no backtrace: {reason}"));
        self.calls.iter().cloned().chain(unseen).chain(frames::lines(&self.frames)).collect()
    }
}

/// Looks at the threads of a run that has stopped at a failure.
pub fn look(unwinder: &mut Unwinder, frames: &Frames, pid: i32, reports: &[ThreadReport]) -> Vec<ThreadView> {
    let alive =
        |report: &ThreadReport| report.state != ThreadState::None as u8 && report.state != ThreadState::Exited as u8;
    // A thread that has not had its first turn has no stack worth a look.
    let started = |report: &ThreadReport| alive(report) && report.tid != 0;
    let threads: Vec<Thread> =
        reports.iter().filter(|r| started(r)).map(|r| Thread { tid: r.tid, context: r.context }).collect();
    let mut stacks = unwinder.stacks_of(pid, &threads).into_iter();
    let mut views = Vec::new();
    for (id, report) in reports.iter().enumerate() {
        if alive(report) {
            let stack = if started(report) { stacks.next() } else { None };
            views.push(view(id as u16, report, reports, frames, stack));
        }
    }
    for view in &mut views {
        let report = &reports[usize::from(view.id)];
        let Some(taker) = view.lock.map(|lock| report.takers[lock.words_before]) else { continue };
        if let Some(other) = reports.get(taker as usize) {
            view.hold(taker as u16, &name(other));
        }
    }
    views
}

/// Names the thread that failed, and puts it first.
pub fn mark_failed(views: &mut [ThreadView], id: u32) {
    if let Some(at) = views.iter().position(|view| u32::from(view.id) == id) {
        views[at].state = if views[at].state == ENDING { "failed at its end" } else { "failed" }.to_string();
        views[..=at].rotate_right(1);
    }
}

/// The name of a thread that is still there.
pub fn name_of(views: &[ThreadView], thread: u16) -> Option<String> {
    let name = views.iter().find(|view| view.id == thread).map(|view| view.name.clone());
    name.filter(|name| !name.is_empty())
}

/// Says which thread destroyed or freed what the failed thread uses, and where.
pub fn name_origin(views: &mut [ThreadView], thread: u16, deed: &str, place: Option<String>) {
    let who = match name_of(views, thread) {
        Some(name) => format!("t{thread} ({name})"),
        None => format!("t{thread}"),
    };
    let place = place.map_or(String::new(), |place| format!(" in {place}"));
    if let Some(failed) = views.first_mut() {
        failed.origin = Some(format!("{who} {deed}{place}"));
    }
}

/// Looks at the threads of a process that does not answer: only names and stacks are known.
pub fn look_from_outside(unwinder: &mut Unwinder, frames: &Frames, pid: i32) -> Vec<ThreadView> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut tids: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    tids.sort_unstable();
    let stacks = unwinder.stacks(pid, &tids);
    let named = tids.iter().zip(stacks).enumerate().map(|(id, (tid, stack))| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).unwrap_or_default();
        let mut view = ThreadView {
            id: id as u16,
            name: name.trim_end().to_string(),
            state: "running".to_string(),
            ..ThreadView::default()
        };
        match &stack {
            Ok(stack) => view.frames = frames.backtrace_from_library(stack),
            Err(error) => view.unseen = Some(error.to_string()),
        }
        view
    });
    named.collect()
}

fn view<E: std::fmt::Display>(
    id: u16,
    report: &ThreadReport,
    all: &[ThreadReport],
    frames: &Frames,
    stack: Option<Result<Vec<Frame>, E>>,
) -> ThreadView {
    let waits = [ThreadState::Blocked as u8, ThreadState::Outside as u8].contains(&report.state);
    let holder = (report.holder != u16::MAX).then_some(report.holder);
    let event = EventKind::from_u8(report.kind);
    let mut view = ThreadView {
        id,
        name: name(report),
        state: match event {
            _ if report.tid == 0 => NOT_STARTED,
            Some(EventKind::Exit) if report.state == ThreadState::Enabled as u8 => ENDING,
            _ => state(report.state),
        }
        .to_string(),
        waits_for: waits.then(|| waits_for(report, event, all)),
        holder: holder.filter(|_| waits),
        event: event.map_or("unknown", wait_name).to_string(),
        ..ThreadView::default()
    };
    match stack {
        Some(Ok(stack)) => {
            view.place = frames.place(&stack);
            view.frames = frames.backtrace(&stack);
            view.is_harness = library_waits::is_harness(&stack);
            if let Some(wait) = event.filter(|_| waits).and_then(|event| library_wait(event, frames.library(&stack))) {
                view.name_wait(wait, report);
            }
            view.shorten();
        }
        Some(Err(error)) => view.unseen = Some(error.to_string()),
        None => {}
    }
    view
}

/// What a wait of the model is for, where it is inside of something larger: a futex is nearly always, and a condition
/// variable may be that of a future.
fn library_wait(event: EventKind, library: &[Frame]) -> Option<Wait> {
    let found = library_waits::find(library)?;
    match event {
        EventKind::FutexWait | EventKind::FutexResume => Some(found),
        EventKind::CondWait => Some(found).filter(|wait| wait.object != "condition variable"),
        _ => None,
    }
}

fn name(report: &ThreadReport) -> String {
    let length = report.name.iter().position(|&b| b == 0).unwrap_or(report.name.len());
    String::from_utf8_lossy(&report.name[..length]).into_owned()
}

fn state(state: u8) -> &'static str {
    const STATES: &[(ThreadState, &str)] = &[
        (ThreadState::Enabled, "enabled"),
        (ThreadState::Blocked, "blocked"),
        (ThreadState::Exited, "exited"),
        (ThreadState::Outside, "outside"),
    ];
    STATES.iter().find(|(s, _)| *s as u8 == state).map_or("unknown", |(_, name)| name)
}

/// Such as `lock on mutex 0x4040c0, held by t2 (worker)`.
fn waits_for(report: &ThreadReport, event: Option<EventKind>, all: &[ThreadReport]) -> String {
    let Some(event) = event else {
        return "something that this version does not know".to_string();
    };
    let what_for = wait_name(event);
    let named = |id: u64| thread(id, all.get(id as usize));
    let holder = (report.holder != u16::MAX).then(|| named(report.holder.into()));
    let mut text = match (object(event), holder) {
        (Object::Thread, Some(other)) => format!("{what_for} of {other}"),
        (Object::Thread, None) => format!("{what_for} of a thread"),
        (Object::Address(what), holder) if report.object != 0 => {
            let held = holder.map_or(String::new(), |holder| format!(", held by {holder}"));
            format!("{what_for} on {what} {:#x}{held}", report.object)
        }
        (Object::Descriptor, _) => {
            let number = report.object.wrapping_sub(DESCRIPTORS as u64) as u32 as i32;
            format!("{what_for} on descriptor {number}")
        }
        (Object::Address(_) | Object::None, _) => what_for.to_string(),
    };
    text += limited(report);
    text
}

fn limited(report: &ThreadReport) -> &'static str {
    if report.deadline != u64::MAX && report.deadline != 0 {
        ", with a time limit"
    } else {
        ""
    }
}

/// The name of a wait. Some are events of their own, after the operation that started to wait.
fn wait_name(event: EventKind) -> &'static str {
    match event {
        EventKind::FutexResume => EventKind::FutexWait.name(),
        EventKind::BarrierLeave => EventKind::Barrier.name(),
        other => other.name(),
    }
}

fn thread(id: u64, report: Option<&ThreadReport>) -> String {
    named(id, &report.map(name).unwrap_or_default())
}

fn named(id: u64, name: &str) -> String {
    match name {
        "" => format!("t{id}"),
        name => format!("t{id} ({name})"),
    }
}

/// What the object of an event is.
enum Object {
    Address(&'static str),
    Descriptor,
    Thread,
    None,
}

fn object(event: EventKind) -> Object {
    use EventKind::*;
    match event {
        Lock | TryLock | Unlock | Relock => Object::Address("mutex"),
        CondWait | CondSignal | CondBroadcast => Object::Address("condition variable"),
        ReadLock | WriteLock | TryRwLock | RwUnlock => Object::Address("rwlock"),
        SemWait | SemTry | SemPost => Object::Address("semaphore"),
        Destroy => Object::Address("object"),
        Barrier | BarrierLeave => Object::Address("barrier"),
        SpinLock | SpinTry | SpinUnlock => Object::Address("spin lock"),
        Once => Object::Address("once flag"),
        FutexWait | FutexResume | FutexWake | FutexRequeue => Object::Address("futex"),
        Read | Write | Accept | Connect => Object::Descriptor,
        Join | Detach | Cancel => Object::Thread,
        _ => Object::None,
    }
}

/// Who waits for whom, in a sentence: the circle if there is one.
pub fn deadlock_message(threads: &[ThreadView]) -> String {
    let blocked: Vec<_> = threads.iter().filter(|t| t.waits() && !t.is_harness).collect();
    if let Some(circle) = circle(&blocked) {
        let links = circle.iter().zip(circle.iter().cycle().skip(1));
        let texts: Vec<_> = links.map(|(a, b)| format!("t{a} waits for t{b}")).collect();
        return texts.join(", ");
    }
    let shown = 6;
    let mut texts: Vec<_> = blocked.iter().take(shown).map(|t| format!("t{} waits in {}", t.id, t.event)).collect();
    if blocked.len() > shown {
        texts.push(format!("{} more wait", blocked.len() - shown));
    }
    if texts.is_empty() {
        return "no thread can go on".to_string();
    }
    format!("no thread can go on: {}", texts.join(", "))
}

/// Threads of which each waits for what the next one holds.
fn circle(blocked: &[&ThreadView]) -> Option<Vec<u16>> {
    let holder_of = |id: u16| blocked.iter().find(|t| t.id == id)?.holder;
    blocked.iter().find_map(|start| {
        let mut path = vec![start.id];
        while let Some(next) = holder_of(*path.last()?) {
            if let Some(at) = path.iter().position(|&id| id == next) {
                return Some(path.split_off(at));
            }
            path.push(next);
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(kind: EventKind, object: u64, holder: u16, text: &[u8]) -> ThreadReport {
        let mut name = [0; 16];
        name[..text.len()].copy_from_slice(text);
        ThreadReport {
            state: ThreadState::Blocked as u8,
            kind: kind as u8,
            holder,
            tid: 1,
            object,
            deadline: u64::MAX,
            name,
            start: 0,
            context: 0,
            takers: [u32::MAX; 2],
            call: Default::default(),
            returned: Default::default(),
        }
    }

    fn describe(reports: &[ThreadReport]) -> Vec<ThreadView> {
        let frames = Frames::new(std::path::Path::new("r.so"));
        let one = |(id, r)| view(id as u16, r, reports, &frames, None::<Result<_, String>>);
        reports.iter().enumerate().map(one).collect()
    }

    #[test]
    fn says_what_a_thread_waits_for_and_who_holds_it() {
        let views = describe(&[
            report(EventKind::Join, 0, 1, b"main"),
            report(EventKind::Lock, 0x4040c0, 2, b"left"),
            report(EventKind::Lock, 0x404100, 1, b""),
        ]);
        let texts: Vec<_> = views.iter().map(|v| v.waits_for.as_deref().unwrap_or("")).collect();
        assert_eq!(
            texts,
            ["join of t1 (left)", "lock on mutex 0x4040c0, held by t2", "lock on mutex 0x404100, held by t1 (left)"]
        );
        assert_eq!(deadlock_message(&views), "t1 waits for t2, t2 waits for t1");
    }

    #[test]
    fn a_thread_without_a_first_turn_has_not_started() {
        let mut new = report(EventKind::Start, 0, u16::MAX, b"");
        new.tid = 0;
        assert_eq!(describe(&[new])[0].state, "not started");
    }

    #[test]
    fn a_thread_that_crashes_as_it_ends_is_the_one_that_failed() {
        let mut last = report(EventKind::Exit, 0, u16::MAX, b"w");
        last.state = ThreadState::Enabled as u8;
        let mut views = describe(&[last]);
        assert_eq!(views[0].state, "ending");
        mark_failed(&mut views, 0);
        assert_eq!(views[0].state, "failed at its end");
    }

    #[test]
    fn a_lost_wake_up_has_no_circle() {
        let views = describe(&[
            report(EventKind::Join, 1, u16::MAX, b"main"),
            report(EventKind::CondWait, 0x10, u16::MAX, b"w"),
        ]);
        assert_eq!(deadlock_message(&views), "no thread can go on: t0 waits in join, t1 waits in cond-wait");
    }

    #[test]
    fn the_thread_that_failed_comes_first() {
        let mut views = describe(&[report(EventKind::Lock, 1, u16::MAX, b""); 3]);
        mark_failed(&mut views, 1);
        let order: Vec<_> = views.iter().map(|view| (view.id, view.state.as_str())).collect();
        assert_eq!(order, [(1, "failed"), (0, "blocked"), (2, "blocked")]);
    }

    #[test]
    fn a_thread_can_wait_for_itself() {
        let views = describe(&[report(EventKind::Lock, 0x10, 0, b"main")]);
        assert_eq!(deadlock_message(&views), "t0 waits for t0");
    }
}
