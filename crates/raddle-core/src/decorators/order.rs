//! The order of a parallel run, followed by a serial one: one decision for every point, also for those where only
//! one thread could go on.
//!
//! Threads that really ran at the same time may have done something between two points that one thread at a time
//! cannot do, so the order is followed as far as it goes, and from there on nobody is preempted. Whether the run
//! was worth it is known at its end: when the same failure has happened, the run's own decisions are a schedule
//! like any other.

use super::replay::Decision;
use crate::policy::Point;
use crate::thread::ThreadId;

/// An order that is followed.
#[derive(Debug)]
pub struct Order<'a> {
    order: &'a [Decision],
    at: usize,
}

impl<'a> Order<'a> {
    /// Follows this order.
    pub fn new(order: &'a [Decision]) -> Order<'a> {
        Order { order, at: 0 }
    }

    /// Who comes next; `None` when the order is over or has been left.
    pub fn next(&self) -> Option<ThreadId> {
        self.order.get(self.at).map(|decision| decision.thread())
    }

    /// The thread of this decision takes a step: the order goes on if it says the same, and is left if not.
    pub fn pass(&mut self, decision: Decision) {
        match self.order.get(self.at) {
            Some(expected) if *expected == decision => self.at += 1,
            _ => self.at = self.order.len(),
        }
    }

    /// Decides at a point, which may have only one enabled thread.
    pub fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        let chosen = self.next().filter(|&t| point.enabled.contains(t));
        let chosen = chosen.unwrap_or_else(|| without_preemption(point));
        self.pass(Decision::new(chosen, point.pending[chosen.index()].kind));
        chosen
    }
}

/// The current thread if it can go on and does not spin; else the next one in turn.
pub fn without_preemption(point: &Point<'_>) -> ThreadId {
    if point.spins == 0 && point.enabled.contains(point.current) {
        return point.current;
    }
    let after = point.enabled.iter().find(|t| *t > point.current);
    after.or_else(|| point.enabled.nth(0)).unwrap_or(point.current)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::EnabledSet;
    use crate::event::{Event, EventKind};

    /// Who is chosen at each of these points of three threads that all lock, by an order of such steps.
    fn chosen(order: &[u16], points: &[(u16, &[u16])]) -> Vec<u16> {
        let lock = |t: &u16| Decision::new(ThreadId(*t), EventKind::Lock);
        let order: Vec<_> = order.iter().map(lock).collect();
        let mut order = Order::new(&order);
        let pending = [Event::new(EventKind::Lock, 8); 3];
        let choose = |(current, able): &(u16, &[u16])| {
            let mut enabled = EnabledSet::new();
            able.iter().for_each(|&t| _ = enabled.set(ThreadId(t), true));
            let current = ThreadId(*current);
            let point =
                Point { current, enabled: &enabled, pending: &pending, spins: 0, step: 0, opened: false, points: 0 };
            order.choose(&point).0
        };
        points.iter().map(choose).collect()
    }

    #[test]
    fn follows_also_where_there_is_no_choice() {
        let points: [(u16, &[u16]); 4] = [(0, &[0]), (0, &[0, 1, 2]), (2, &[0, 1, 2]), (2, &[1])];
        assert_eq!(chosen(&[0, 2, 0, 1], &points), [0, 2, 0, 1]);
    }

    #[test]
    fn an_order_that_cannot_be_followed_is_left_for_good() {
        // Thread 2 cannot go: from there on nobody is preempted, also where the order could be followed again.
        let points: [(u16, &[u16]); 3] = [(0, &[0, 1]), (0, &[0, 1, 2]), (1, &[1, 2])];
        assert_eq!(chosen(&[2, 2, 2], &points), [0, 0, 1]);
    }

    #[test]
    fn goes_on_after_the_end() {
        assert_eq!(chosen(&[1], &[(0, &[0, 1]), (1, &[0, 2])]), [1, 2]);
    }
}
