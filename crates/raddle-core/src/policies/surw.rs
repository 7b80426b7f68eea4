//! SURW: selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS'25).
//!
//! Uniform over the interleavings of a few interesting events only: all those on one shared object, another one in
//! each run. The thread that is to have the next interesting event is drawn by [`super::urw`]'s rule over the
//! interesting events that are left. A thread whose next event is interesting waits unless it is that thread;
//! everything else is a random walk. When no other thread can run, the waiting ones are let go.
//!
//! Deviations: objects are known by the names that the runtime gives them (see [`crate::lessons`]); one that is named
//! after the first thread that touched it has another name when another thread was faster. While nothing is known, in
//! the first runs, it is a random walk.

use super::random::any;
use super::urw::Weights;
use crate::lessons::ObjectUse;
use crate::policy::{Descriptor, Kind, Learns, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::ThreadId;

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed Surw,
    name: "surw",
    summary: "every interleaving of the events on one shared object, another one in each run, is equally likely",
    source: "Zhao et al., ASPLOS'25",
    kind: Kind::Sampling,
    learns: Learns::Objects,
    parameters: &[]
);

/// The policy's state. Valid when zeroed.
#[repr(C)]
pub struct Surw {
    rng: Rng,
    /// The object of this run; 0 when there is none.
    object: usize,
    /// The thread that is to have the next interesting event.
    intended: Option<ThreadId>,
    /// How often a waiting thread had to be let go.
    mistakes: u64,
    weights: Weights,
}

/// The uses of an object drawn from those that threads share.
fn draw<'a>(rng: &mut Rng, uses: &'a [ObjectUse]) -> &'a [ObjectUse] {
    let starts = |i: &usize| *i == 0 || uses[*i].object != uses[*i - 1].object;
    let objects = (0..uses.len()).filter(starts).count();
    if objects == 0 {
        return &[];
    }
    let chosen = rng.below(objects as u64) as usize;
    let first = (0..uses.len()).filter(starts).nth(chosen).unwrap_or(0);
    let length = uses[first..].iter().take_while(|one| one.object == uses[first].object).count();
    &uses[first..first + length]
}

impl Policy for Surw {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        let uses = draw(&mut self.rng, run.lessons.object_uses());
        self.object = uses.first().map_or(0, |one| one.object as usize);
        self.intended = None;
        self.mistakes = 0;
        self.weights.start(run.lessons, |i, _| {
            uses.iter().find(|one| one.thread as usize == i).map_or(0, |one| one.events.into())
        });
    }

    fn created(&mut self, parent: ThreadId, child: ThreadId) {
        self.weights.created(parent, child);
        if self.intended == Some(parent) {
            // What was meant may be what the new thread does.
            let both = [parent, child].into_iter();
            self.intended = self.weights.draw(&mut self.rng, both, 0);
        }
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        let all = (0..point.pending.len() as u16).map(ThreadId);
        if self.object == 0 {
            return any(point, &mut self.rng);
        }
        if self.intended.is_none_or(|t| self.weights.of(t) == 0) {
            self.intended = self.weights.draw(&mut self.rng, all.clone(), 0);
        }
        let interesting = |t: ThreadId| point.pending[t.index()].object == self.object;
        let waits = |t: ThreadId| interesting(t) && self.intended.is_some_and(|intended| intended != t);
        let free = all.filter(|t| point.enabled.contains(*t) && !waits(*t));
        let chosen = match free.clone().count() {
            0 => {
                self.mistakes += 1;
                any(point, &mut self.rng)
            }
            count => {
                let k = self.rng.below(count as u64) as usize;
                let mut free = free;
                free.nth(k).unwrap_or(point.current)
            }
        };
        if interesting(chosen) {
            self.weights.take(chosen);
            self.intended = None;
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons::{path_of_child, Lessons, ThreadLesson, MAIN_PATH};
    use crate::toy::{self, Op};
    use std::collections::HashMap;

    #[test]
    fn the_orders_at_one_lock_are_equally_likely() {
        // Thread 0 comes to the lock after 30 steps, thread 1 at once; each locks it twice. Interesting are eight
        // events, four of each thread, of which whole critical sections can be interleaved in six ways.
        let section = [Op::Lock(2), Op::Unlock(2)];
        let long = [vec![Op::Step; 30], section.to_vec(), section.to_vec()].concat();
        let program = toy::Program { threads: vec![long, [section, section].concat()] };
        // SAFETY: documented as valid when zeroed.
        let mut lessons: Box<Lessons> = unsafe { Box::new(core::mem::zeroed()) };
        let child = path_of_child(MAIN_PATH, 0);
        let thread = |path, steps| ThreadLesson { path, parent: 0, steps };
        lessons.set_threads(&[thread(MAIN_PATH, 34), thread(child, 4)]);
        let count = |thread| ObjectUse { object: 3, thread, events: 4 };
        lessons.set_object_uses(&[count(0), count(1)]);
        let known = toy::Known { profile: Default::default(), lessons: Some(&lessons) };
        // SAFETY: documented as valid when zeroed.
        let mut policy: Box<Surw> = unsafe { Box::new(core::mem::zeroed()) };
        let mut seen: HashMap<Vec<usize>, u32> = HashMap::new();
        for seed in 0..6_000 {
            let s = toy::run_with(&mut *policy, &program, seed, &[], known, |_, _| {}).schedule;
            let mut left = 30;
            let at_lock: Vec<usize> = s
                .into_iter()
                .filter(|&t| {
                    let step = t == 0 && left > 0;
                    left -= usize::from(step);
                    !step
                })
                .collect();
            *seen.entry(at_lock).or_default() += 1;
        }
        // All six orders of sections, none of them rare: a random walk gives thread 1 the lead nearly always. They
        // are not quite uniform, because inside a section no other thread can have the lock.
        assert_eq!(seen.len(), 6, "{seen:?}");
        assert!(seen.values().all(|&n| n > 300), "{seen:?}");
    }
}
