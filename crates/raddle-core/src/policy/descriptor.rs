//! How a policy is described to the command line and the runtime.

use super::Policy;

/// The most parameters that a policy can have.
pub const MAX_PARAMETERS: usize = 16;

/// One parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name on the command line.
    pub name: &'static str,
    /// What it means, in one line.
    pub help: &'static str,
    /// The value when none is given.
    pub default: f64,
    /// The smallest value that makes sense.
    pub min: f64,
    /// The largest value that makes sense.
    pub max: f64,
    /// Whether only whole numbers make sense.
    pub whole: bool,
    /// The names of the values 0, 1, …; empty when the value is a number.
    pub choices: &'static [&'static str],
}

impl Parameter {
    pub const fn number(name: &'static str, default: f64, min: f64, max: f64, help: &'static str) -> Parameter {
        Parameter { name, help, default, min, max, whole: false, choices: &[] }
    }

    /// A whole number.
    pub const fn whole(name: &'static str, default: f64, min: f64, max: f64, help: &'static str) -> Parameter {
        Parameter { name, help, default, min, max, whole: true, choices: &[] }
    }

    /// One of several names, of which the first has the value 0.
    pub const fn choice(
        name: &'static str,
        default: usize,
        choices: &'static [&'static str],
        help: &'static str,
    ) -> Parameter {
        let max = (choices.len() - 1) as f64;
        Parameter { name, help, default: default as f64, min: 0.0, max, whole: true, choices }
    }

    /// Something that is on or off.
    pub const fn switch(name: &'static str, default: bool, help: &'static str) -> Parameter {
        Parameter::choice(name, default as usize, &["off", "on"], help)
    }
}

/// What a policy needs to know of earlier runs; each includes what stands above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Learns {
    Nothing = 0,
    /// The [`Profile`](super::Profile).
    Steps,
    /// The steps of each thread: [`Lessons::threads`](crate::lessons::Lessons::threads).
    Lengths,
    /// Which objects threads share: [`Lessons::object_uses`](crate::lessons::Lessons::object_uses). In such a policy's runs events have names of objects in
    /// the place of addresses, and no identities are made ready, so that the heap is the same in all runs.
    Objects,
    /// Pairs of operations in an order that no run has shown: [`Lessons::untested_pairs`](crate::lessons::Lessons::untested_pairs).
    Pairs,
}

impl Learns {
    /// All of them.
    pub const ALL: [Learns; 5] = [Learns::Nothing, Learns::Steps, Learns::Lengths, Learns::Objects, Learns::Pairs];

    /// The name in a list of policies.
    pub fn name(self) -> &'static str {
        ["nothing", "steps", "lengths", "objects", "orders"][self as usize]
    }
}

/// How the runs of a policy are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Each run is drawn by its seed; threads take turns.
    Sampling = 0,
    /// Each run depends on the one before it: the policy's state outlives the run, and there is one job. The
    /// state must be valid when zeroed: [`Descriptor::build`] is called in many processes, and must not touch it.
    Systematic,
    /// Threads really run at the same time; the order that happened is recorded.
    Parallel,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Sampling, Kind::Systematic, Kind::Parallel];

    /// The name in a list of policies.
    pub fn name(self) -> &'static str {
        ["sampling", "systematic", "parallel"][self as usize]
    }
}

/// What the command line and the runtime must know of a policy.
#[derive(Clone, Copy)]
pub struct Descriptor {
    /// The name on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    pub parameters: &'static [Parameter],
    /// How its runs are made.
    pub kind: Kind,
    /// What it needs to know of earlier runs.
    pub learns: Learns,
    /// Bytes and alignment of the policy's state.
    pub layout: core::alloc::Layout,
    /// Builds the policy in zeroed memory of that layout.
    ///
    /// # Safety
    /// The memory must be zeroed, of the layout above, and live as long as the policy is used.
    pub build: unsafe fn(*mut u8) -> *mut dyn Policy,
}

/// Describes a policy. Its state is made by `Default`; after the word `zeroed` it is taken as it is in
/// zeroed memory, which saves touching it at the start of every run.
#[macro_export]
macro_rules! descriptor {
    (zeroed $type:ty, $($rest:tt)*) => {
        // The state is documented as valid when zeroed.
        $crate::descriptor!(@ $type, |_memory: *mut $type| (), $($rest)*)
    };
    (@ $type:ty, $init:expr, name: $name:expr, summary: $summary:expr, source: $source:expr,
     kind: $kind:expr, learns: $learns:expr, parameters: $parameters:expr) => {
        $crate::policy::Descriptor {
            name: $name,
            summary: $summary,
            source: $source,
            parameters: $parameters,
            kind: $kind,
            learns: $learns,
            layout: ::core::alloc::Layout::new::<$type>(),
            build: {
                #[link_section = "raddle_run"]
                unsafe fn build(memory: *mut u8) -> *mut dyn $crate::policy::Policy {
                    let typed = memory.cast::<$type>();
                    ($init)(typed);
                    typed
                }
                build
            },
        }
    };
    ($type:ty, $($rest:tt)*) => {
        // SAFETY: the caller of `build` gives memory of this type's layout.
        $crate::descriptor!(@ $type, |memory: *mut $type| unsafe { memory.write(<$type>::default()) }, $($rest)*)
    };
}
