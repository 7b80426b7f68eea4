//! What decides a run: with the same settings, the same number and the same lessons of earlier runs, a run takes the same
//! steps on every machine.
//!
//! One type goes all the way: options produce [`RunSettings`], the plan of a campaign holds them, the block carries them
//! to the runtime, the schedule file stores them, and the command line that is printed for a person is made from them.
//! [`Setting`] names each of them, so that none of these places can forget one: each has a `match` over all of them.

use core::fmt;

use raddle_core::decorators::guard;
use raddle_core::policy::MAX_PARAMETERS;

use crate::heap::Heap;
use crate::settings::Points;
use crate::shared;

/// A name of at most 31 bytes, padded with zeros.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Name([u8; 32]);

impl Name {
    /// No name.
    pub const NONE: Name = Name([0; 32]);

    /// This name; what does not fit is cut off.
    pub fn new(text: &str) -> Name {
        let mut name = [0; 32];
        let mut length = text.len().min(name.len() - 1);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        name[..length].copy_from_slice(&text.as_bytes()[..length]);
        Name(name)
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        crate::text(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

shared! {
    /// A policy with a value for each of its parameters.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PolicySettings {
        /// The policy's name.
        pub name: Name,
        count: u32,
        values: [f64; MAX_PARAMETERS],
        names: [Name; MAX_PARAMETERS],
    }
}

impl PolicySettings {
    /// A policy with these parameters, in the order in which it declares them; of too many, the first.
    pub fn new<'a>(name: &str, parameters: impl IntoIterator<Item = (&'a str, f64)>) -> PolicySettings {
        let mut settings = PolicySettings {
            name: Name::new(name),
            count: 0,
            values: [0.0; MAX_PARAMETERS],
            names: [Name::NONE; MAX_PARAMETERS],
        };
        for (at, (name, value)) in parameters.into_iter().take(MAX_PARAMETERS).enumerate() {
            (settings.names[at], settings.values[at]) = (Name::new(name), value);
            settings.count += 1;
        }
        settings
    }

    fn count(&self) -> usize {
        (self.count as usize).min(MAX_PARAMETERS)
    }

    /// The values, one for each parameter.
    pub fn values(&self) -> &[f64] {
        &self.values[..self.count()]
    }

    /// The parameters with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, f64)> {
        self.names[..self.count()].iter().map(Name::as_str).zip(self.values.iter().copied())
    }
}

macro_rules! run_settings {
    ($($(#[$doc:meta])* $field:ident: $type:ty = $setting:ident;)*) => {
        shared! {
            /// What decides a run.
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub struct RunSettings {
                $($(#[$doc])* pub $field: $type,)*
            }
        }

        /// One of the [`RunSettings`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Setting {
            $($(#[$doc])* $setting,)*
        }

        impl Setting {
            /// All of them.
            pub const ALL: &'static [Setting] = &[$(Setting::$setting,)*];

            /// Whether both have it alike.
            pub fn is_alike(self, one: &RunSettings, other: &RunSettings) -> bool {
                match self {
                    $(Setting::$setting => one.$field == other.$field,)*
                }
            }
        }
    };
}

run_settings! {
    /// The policy that decides which thread goes next.
    policy: PolicySettings = Policy;
    /// The starvation guard.
    guard: guard::Settings = Guard;
    /// The seed of the campaign, from which each run takes its own.
    seed: u64 = Seed;
    /// Which operations are schedule points.
    points: Points = Points;
    /// Whether a data race is a failure.
    fail_on_race: bool = FailOnRace;
    /// How many CPUs the program is told that there are.
    cpus: u32 = Cpus;
    /// CLOCK_REALTIME at the start of every run, in nanoseconds since 1970.
    realtime: u64 = Realtime;
    /// Counted steps after which a run is cut.
    max_steps: u64 = MaxSteps;
    /// After how many polls an OS thread that sleeps in the kernel for a reason outside the model counts as blocked.
    yields: u32 = Yields;
    /// How many milliseconds may pass in a run while threads can run: see [`raddle_core::delays`].
    lag: u64 = Lag;
    /// Whether system calls that are made outside libc's functions are trapped.
    dispatch: bool = Dispatch;
    /// What becomes of freed memory.
    heap: Heap = Heap;
}

impl RunSettings {
    /// The number of steps after which a run is cut, unless asked otherwise.
    pub const MAX_STEPS: u64 = 1_000_000;
    /// The number of polls after which a sleeping OS thread counts as blocked, unless asked otherwise.
    pub const YIELDS: u32 = 10;
    /// The lag, unless asked otherwise.
    pub const LAG: u64 = 100;
    /// The CPUs that a program is told of, unless asked otherwise.
    pub const CPUS: u32 = 4;

    /// What holds for a policy when nothing else is asked for. The seed and the clock are 0.
    pub fn of(policy: PolicySettings) -> RunSettings {
        RunSettings {
            policy,
            guard: guard::Settings::DEFAULT,
            seed: 0,
            points: Points::Sync,
            max_steps: RunSettings::MAX_STEPS,
            realtime: 0,
            yields: RunSettings::YIELDS,
            cpus: RunSettings::CPUS,
            lag: RunSettings::LAG,
            dispatch: true,
            fail_on_race: false,
            heap: Heap::Mixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_at_a_character() {
        assert_eq!(Name::new("pct").as_str(), "pct");
        assert_eq!(Name::new(&"é".repeat(20)).as_str(), "é".repeat(15));
        assert_eq!(Name::NONE.as_str(), "");
    }

    #[test]
    fn parameters_keep_their_order() {
        let policy = PolicySettings::new("pct", [("d", 3.0), ("k", 0.0)]);
        assert_eq!(policy.parameters().collect::<Vec<_>>(), [("d", 3.0), ("k", 0.0)]);
        assert_eq!(policy.values(), [3.0, 0.0]);
        let many = (0..MAX_PARAMETERS + 3).map(|i| ("x", i as f64));
        assert_eq!(PolicySettings::new("own", many).values().len(), MAX_PARAMETERS);
    }
}
