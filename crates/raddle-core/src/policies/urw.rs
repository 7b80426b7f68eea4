//! URW: uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS'25).
//!
//! A thread is drawn with probability proportional to the events that it has left, so that on a program without
//! blocking every interleaving is equally likely; a plain random walk prefers those in which short threads end
//! late. The events left come from the first runs. A thread that has yet to create others counts their events too,
//! because they can only happen after its own. Blocked threads keep their weight but cannot be drawn.
//!
//! Deviations: a thread that takes more steps than it ever did, or was never seen, has the weight of one step.

use crate::lessons::{KnownThreads, Lessons, ThreadLesson};
use crate::policy::{Descriptor, Kind, Learns, Point, Policy, Run};
use crate::rng::Rng;
use crate::thread::{ThreadId, MAX_THREADS};

/// How the command line knows this policy.
pub const DESCRIPTOR: Descriptor = crate::descriptor!(
    zeroed Urw,
    name: "urw",
    summary: "random walk in which each thread is as likely as it has events left: every interleaving is equally likely",
    source: "Zhao et al., ASPLOS'25",
    kind: Kind::Sampling,
    learns: Learns::Lengths,
    parameters: &[]
);

/// How many events each thread of a run has left, with those of the threads that it has yet to create. Valid when
/// zeroed.
#[repr(C)]
pub struct Weights {
    threads: KnownThreads,
    /// By thread id; 0 where nothing is known.
    left: [u64; MAX_THREADS],
    seen: usize,
    /// By the place of a thread in the lessons: its events and those of all its descendants.
    family: [u64; MAX_THREADS],
}

impl Weights {
    /// A run starts; `events` says how many events a thread of the lessons has.
    pub fn start(&mut self, lessons: &Lessons, events: impl Fn(usize, &ThreadLesson) -> u64) {
        self.threads.start(lessons);
        self.left[..self.seen].fill(0);
        self.seen = 1;
        let threads = lessons.threads();
        for (i, thread) in threads.iter().enumerate() {
            self.family[i] = events(i, thread);
        }
        // Creators come first, so that the last ones have no descendants.
        for i in (1..threads.len()).rev() {
            let parent = threads[i].parent as usize;
            if parent < i {
                self.family[parent] += self.family[i];
            }
        }
        self.left[0] = if threads.is_empty() { 0 } else { self.family[0] };
    }

    /// A thread has been created: what it has left is no longer its creator's.
    pub fn created(&mut self, parent: ThreadId, child: ThreadId) {
        self.threads.created(parent, child);
        let family = self.threads.lesson(child).map_or(0, |(place, _)| self.family[place]);
        self.seen = self.seen.max(child.index() + 1);
        self.left[child.index()] = family;
        self.left[parent.index()] = self.left[parent.index()].saturating_sub(family);
    }

    /// What a thread has left.
    pub fn of(&self, t: ThreadId) -> u64 {
        self.left[t.index()]
    }

    /// A thread takes one of its steps.
    pub fn take(&mut self, t: ThreadId) {
        self.left[t.index()] = self.left[t.index()].saturating_sub(1);
    }

    /// One of these threads, with a probability proportional to what it has left but at least `least`; `None` when
    /// all have nothing.
    pub fn draw(&self, rng: &mut Rng, threads: impl Iterator<Item = ThreadId> + Clone, least: u64) -> Option<ThreadId> {
        let weight = |t: &ThreadId| self.of(*t).max(least);
        let total: u64 = threads.clone().map(|t| weight(&t)).sum();
        if total == 0 {
            return None;
        }
        let mut at = rng.below(total);
        threads.into_iter().find(|t| match at.checked_sub(weight(t)) {
            Some(rest) => {
                at = rest;
                false
            }
            None => true,
        })
    }
}

/// The policy's state. Valid when zeroed.
#[repr(C)]
pub struct Urw {
    rng: Rng,
    weights: Weights,
}

impl Policy for Urw {
    fn start(&mut self, run: &Run<'_>) {
        self.rng = Rng::new(run.seed);
        self.weights.start(run.lessons, |_, thread| thread.steps.into());
    }

    fn created(&mut self, parent: ThreadId, child: ThreadId) {
        self.weights.created(parent, child);
    }

    fn choose(&mut self, point: &Point<'_>) -> ThreadId {
        let enabled = (0..point.pending.len() as u16).map(ThreadId).filter(|t| point.enabled.contains(*t));
        let chosen = self.weights.draw(&mut self.rng, enabled, 1).unwrap_or(point.current);
        self.weights.take(chosen);
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons::{path_of_child, MAIN_PATH};
    use crate::toy;
    use std::collections::HashMap;

    #[test]
    fn every_interleaving_is_equally_likely() {
        // Threads of 2, 3 and 1 steps: 6!/(2!·3!·1!) = 60 interleavings. The last steps are taken by one thread
        // alone and are not drawn, which changes nothing.
        let lengths = [2, 3, 1];
        let program = toy::Program::straight(&lengths);
        // SAFETY: documented as valid when zeroed.
        let mut lessons: Box<Lessons> = unsafe { Box::new(core::mem::zeroed()) };
        // The toy says that main creates the others before its first step.
        let paths = [MAIN_PATH, path_of_child(MAIN_PATH, 0), path_of_child(MAIN_PATH, 1)];
        let thread = |i: usize| ThreadLesson { path: paths[i], parent: 0, steps: lengths[i] as u32 };
        lessons.set_threads(&[thread(0), thread(1), thread(2)]);
        let known = toy::Known { profile: Default::default(), lessons: Some(&lessons) };
        // SAFETY: documented as valid when zeroed.
        let mut policy: Box<Urw> = unsafe { Box::new(core::mem::zeroed()) };
        let mut seen: HashMap<Vec<usize>, u32> = HashMap::new();
        let runs = 60_000;
        for seed in 0..runs {
            *seen.entry(toy::run_with(&mut *policy, &program, seed, &[], known, |_, _| {}).schedule).or_default() += 1;
        }
        assert_eq!(seen.len(), 60);
        // Chi-squared with 59 degrees of freedom: 98.3 is exceeded with probability 0.1%.
        let expected = runs as f64 / 60.0;
        let chi: f64 = seen.values().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        assert!(chi < 98.3, "{chi}");
    }
}
