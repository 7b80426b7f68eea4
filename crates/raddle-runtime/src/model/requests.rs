//! Requests that threads of their own perform, as in libc's asynchronous input and output and its lookups of addresses.
//! Pure.
//!
//! As in glibc, the requests of one line (a descriptor) are performed one after the other: the oldest of the first ones
//! is at the head of its line and stays there; behind it they stand by priority, and then by arrival. A worker takes the
//! head of a line that no other worker is at. Here a request counts as running once a worker has taken it. In glibc it
//! counts as running from the start if a worker was created for it, and not if a worker was idle.

use core::num::NonZeroU16;

use super::signal_event::SignalEvent;

/// Requests that can be under way at once.
const MOST: usize = 4096;
/// Lists of requests that can be under way at once.
const MOST_GROUPS: usize = 256;
/// Workers at once, unless the program asks for another number: glibc's number.
const WORKERS: u32 = 20;

/// A request.
#[derive(Clone, Copy, Debug)]
struct Request {
    /// The program's control block; 0: the entry is free.
    control: usize,
    /// Requests of the same line are performed one after the other.
    line: u64,
    priority: i32,
    /// The order of arrival.
    number: u64,
    /// The order of coming to the head of a line.
    turn: u64,
    is_head: bool,
    is_running: bool,
    group: Option<Group>,
}

/// A list of requests that were made together: its place among the groups, plus one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group(NonZeroU16);

/// What is known of a group.
#[derive(Clone, Copy)]
struct Members {
    is_used: bool,
    /// A thread waits for it, and closes it.
    is_awaited: bool,
    failed: bool,
    left: u32,
    /// How the program is told that all of it is done.
    event: SignalEvent,
}

/// All requests of one kind. Valid when zeroed.
#[repr(C)]
pub struct Requests {
    /// Entries from here on are free.
    used: usize,
    arrivals: u64,
    /// Threads that perform requests, or are about to.
    workers: u32,
    /// How many there may be; 0: as many as usual.
    most_workers: u32,
    entries: [Request; MOST],
    groups: [Members; MOST_GROUPS],
}

impl Requests {
    /// Limits the number of workers. Has no effect once there was a request.
    pub fn limit_workers(&mut self, most: u32) {
        if self.arrivals == 0 {
            self.most_workers = most.max(1);
        }
    }

    fn all(&self) -> impl Iterator<Item = &Request> {
        self.entries[..self.used].iter().filter(|request| request.control != 0)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Request> {
        self.entries[..self.used].iter_mut().filter(|request| request.control != 0)
    }

    /// Adds a request at its place in its line. Returns whether there was room.
    pub fn add(&mut self, control: usize, line: u64, priority: i32, group: Option<Group>) -> bool {
        let free = self.entries[..self.used].iter().position(|request| request.control == 0).unwrap_or(self.used);
        if free == MOST {
            return false;
        }
        let is_head = self.all().all(|request| request.line != line);
        self.arrivals += 1;
        self.used = self.used.max(free + 1);
        let number = self.arrivals;
        self.entries[free] =
            Request { control, line, priority, number, turn: number, is_head, is_running: false, group };
        if let Some(group) = group {
            self.members(group).left += 1;
        }
        true
    }

    /// Whether the request is known, and then whether a worker has taken it.
    pub fn is_running(&self, control: usize) -> Option<bool> {
        self.all().find(|request| request.control == control).map(|request| request.is_running)
    }

    /// The number of the request that came last.
    pub fn last_arrival(&self) -> u64 {
        self.arrivals
    }

    /// Whether a request of a line is running.
    pub fn is_busy(&self, line: u64) -> bool {
        self.all().any(|request| request.line == line && request.is_running)
    }

    /// The next request of a line that no worker has taken, among those up to a number.
    pub fn waiting(&self, line: u64, up_to: u64) -> Option<usize> {
        let waits = |request: &&Request| request.line == line && !request.is_running && request.number <= up_to;
        self.all().filter(waits).min_by_key(place_in_line).map(|request| request.control)
    }

    /// Whether another worker is needed. If so, it is counted already.
    pub fn needs_worker(&mut self) -> bool {
        let most = if self.most_workers == 0 { WORKERS } else { self.most_workers };
        let lines = self.all().filter(|request| request.is_head).count();
        let needed = self.workers < most && (self.workers as usize) < lines;
        self.workers += u32::from(needed);
        needed
    }

    /// A worker ends, or could not be created. Returns how many are left.
    pub fn worker_ends(&mut self) -> u32 {
        self.workers -= 1;
        self.workers
    }

    /// A worker takes the next request; `None`: it has nothing to do.
    pub fn take(&mut self) -> Option<usize> {
        let waits = |request: &&mut Request| request.is_head && !request.is_running;
        let next = self.all_mut().filter(waits).min_by_key(|request| (-i64::from(request.priority), request.turn))?;
        next.is_running = true;
        Some(next.control)
    }

    /// A request is done, or was cancelled. Returns how the program is told that all of its group is done, if it is.
    pub fn remove(&mut self, control: usize, failed: bool) -> Option<SignalEvent> {
        self.take_out(control).and_then(|group| self.leave(group, failed))
    }

    /// A request was cancelled, and its group never comes to its end.
    pub fn forget(&mut self, control: usize) {
        let Some(group) = self.take_out(control) else { return };
        self.members(group).event = SignalEvent::NONE;
        if !self.members(group).is_awaited {
            self.leave(group, true);
        }
    }

    /// Returns the group of the request.
    fn take_out(&mut self, control: usize) -> Option<Group> {
        let at = self.entries[..self.used].iter().position(|request| request.control == control)?;
        let removed = self.entries[at];
        self.entries[at].control = 0;
        while self.used > 0 && self.entries[self.used - 1].control == 0 {
            self.used -= 1;
        }
        if removed.is_head {
            self.choose_head(removed.line);
        }
        removed.group
    }

    fn choose_head(&mut self, line: u64) {
        self.arrivals += 1;
        let turn = self.arrivals;
        let next =
            self.all_mut().filter(|request| request.line == line).min_by_key(|request| place_in_line(&&**request));
        if let Some(next) = next {
            next.is_head = true;
            next.turn = turn;
        }
    }

    /// Opens a group; `None` when there is no room. `event` says how the program is told that all of it is done, and
    /// `None` that a thread waits for that.
    pub fn open_group(&mut self, event: Option<SignalEvent>) -> Option<Group> {
        let free = self.groups.iter().position(|group| !group.is_used)?;
        self.groups[free] = Members {
            is_used: true,
            is_awaited: event.is_none(),
            failed: false,
            left: 0,
            event: event.unwrap_or(SignalEvent::NONE),
        };
        NonZeroU16::new(free as u16 + 1).map(Group)
    }

    fn members(&mut self, group: Group) -> &mut Members {
        &mut self.groups[usize::from(group.0.get()) - 1]
    }

    /// How many requests of a group are not done.
    pub fn left(&self, group: Group) -> u32 {
        self.groups[usize::from(group.0.get()) - 1].left
    }

    fn leave(&mut self, group: Group, failed: bool) -> Option<SignalEvent> {
        let members = self.members(group);
        members.left -= 1;
        members.failed |= failed;
        if members.left > 0 || members.is_awaited {
            return None;
        }
        members.is_used = false;
        Some(members.event)
    }

    /// The thread that waits for a group goes on, or the group is empty. Returns whether one of its requests has failed.
    pub fn close_group(&mut self, group: Group) -> bool {
        let members = self.members(group);
        // After a signal some requests may not be done: the last one of them frees the entry.
        members.is_awaited = false;
        members.is_used = members.left > 0;
        members.failed
    }
}

/// Requests of a line are sorted by this.
fn place_in_line(request: &&Request) -> (bool, i64, u64) {
    (!request.is_head, -i64::from(request.priority), request.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Box<Requests> {
        // SAFETY: documented as valid when zeroed.
        unsafe { Box::new(core::mem::zeroed()) }
    }

    fn taken(requests: &mut Requests) -> Vec<usize> {
        core::iter::from_fn(|| {
            let control = requests.take()?;
            requests.remove(control, false);
            Some(control)
        })
        .collect()
    }

    #[test]
    fn a_line_is_served_by_priority_behind_its_head() {
        let mut requests = empty();
        for (control, priority) in [(1, -5), (2, -9), (3, 0), (4, 0), (5, -1)] {
            assert!(requests.add(control, 7, priority, None));
        }
        assert_eq!(taken(&mut requests), [1, 3, 4, 5, 2]);
        assert_eq!(requests.used, 0);
    }

    #[test]
    fn lines_are_served_beside_each_other() {
        let mut requests = empty();
        for (control, line, priority) in [(1, 7, 0), (2, 7, 0), (3, 8, 0), (4, 9, 3)] {
            requests.add(control, line, priority, None);
        }
        assert_eq!(
            [requests.take(), requests.take(), requests.take(), requests.take()],
            [Some(4), Some(1), Some(3), None]
        );
        assert!(requests.is_busy(7) && requests.is_running(1) == Some(true) && requests.is_running(2) == Some(false));
        requests.remove(1, false);
        assert!(!requests.is_busy(7));
        assert_eq!((requests.take(), requests.is_running(1)), (Some(2), None));
    }

    #[test]
    fn there_is_a_worker_for_each_line_up_to_a_limit() {
        let mut requests = empty();
        requests.limit_workers(2);
        requests.add(1, 7, 0, None);
        requests.add(2, 7, 0, None);
        assert!(requests.needs_worker() && !requests.needs_worker());
        requests.add(3, 8, 0, None);
        requests.add(4, 9, 0, None);
        assert!(requests.needs_worker() && !requests.needs_worker());
        requests.limit_workers(20);
        assert!(!requests.needs_worker());
        assert_eq!(taken(&mut requests).len(), 4);
        assert_eq!((requests.worker_ends(), requests.worker_ends()), (1, 0));
        assert!(!requests.needs_worker());
    }

    #[test]
    fn what_waits_can_be_cancelled() {
        let mut requests = empty();
        for control in [1, 2, 3] {
            requests.add(control, 7, 0, None);
        }
        requests.take();
        let last = requests.last_arrival();
        requests.add(4, 7, 0, None);
        assert_eq!(requests.waiting(7, last), Some(2));
        requests.remove(2, true);
        assert_eq!(requests.waiting(7, last), Some(3));
        requests.remove(3, true);
        assert_eq!((requests.waiting(7, last), requests.waiting(8, u64::MAX)), (None, None));
        requests.remove(1, false);
        requests.add(5, 7, 0, None);
        assert_eq!(requests.waiting(7, last + 1), Some(4));
        requests.remove(4, true);
        assert_eq!((requests.waiting(7, last + 1), requests.take()), (None, Some(5)));
    }

    #[test]
    fn a_head_that_is_cancelled_makes_room_for_the_next() {
        let mut requests = empty();
        requests.add(1, 7, 0, None);
        requests.add(2, 7, 0, None);
        let last = requests.last_arrival();
        requests.remove(1, true);
        assert_eq!((requests.waiting(7, last), requests.take()), (Some(2), Some(2)));
    }

    #[test]
    fn the_last_of_a_group_tells_of_it() {
        let mut requests = empty();
        let event = SignalEvent { signal: 10, kind: libc::SIGEV_SIGNAL, ..SignalEvent::NONE };
        let told = requests.open_group(Some(event)).expect("room");
        let awaited = requests.open_group(None).expect("room");
        requests.add(1, 7, 0, Some(told));
        requests.add(2, 8, 0, Some(told));
        requests.add(3, 9, 0, Some(awaited));
        assert_eq!((requests.remove(2, false), requests.left(told)), (None, 1));
        assert_eq!(requests.remove(1, true), Some(event));
        assert_eq!((requests.remove(3, true), requests.left(awaited)), (None, 0));
        assert!(requests.close_group(awaited));
        assert!(requests.groups.iter().all(|group| !group.is_used));
    }

    #[test]
    fn a_group_that_was_left_early_is_freed_by_its_last_request() {
        let mut requests = empty();
        let group = requests.open_group(None).expect("room");
        requests.add(1, 7, 0, Some(group));
        assert!(!requests.close_group(group));
        assert_ne!(requests.open_group(None), Some(group));
        assert_eq!(requests.remove(1, false), Some(SignalEvent::NONE));
        assert_eq!(requests.open_group(None), Some(group));
    }

    #[test]
    fn a_group_of_which_a_request_is_forgotten_is_never_done() {
        let mut requests = empty();
        let event = SignalEvent { signal: 10, kind: libc::SIGEV_SIGNAL, ..SignalEvent::NONE };
        let (told, awaited) =
            (requests.open_group(Some(event)).expect("room"), requests.open_group(None).expect("room"));
        requests.add(1, 1, 0, Some(told));
        requests.add(2, 2, 0, Some(told));
        requests.add(3, 3, 0, Some(awaited));
        requests.forget(1);
        requests.forget(3);
        assert_eq!((requests.remove(2, false), requests.left(awaited)), (Some(SignalEvent::NONE), 1));
        assert_eq!(requests.open_group(None), Some(told));
    }

    #[test]
    fn there_is_room_for_many_and_not_for_all() {
        let mut requests = empty();
        assert!((1..=MOST).all(|control| requests.add(control, control as u64, 0, None)));
        assert!(!requests.add(MOST + 1, 0, 0, None));
        requests.remove(17, false);
        assert!(requests.add(MOST + 1, 0, 0, None));
        let mut groups = 0;
        while requests.open_group(None).is_some() {
            groups += 1;
        }
        assert_eq!(groups, MOST_GROUPS);
    }
}
