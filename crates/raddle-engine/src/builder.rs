//! A campaign in a few lines: the program, what to change of the defaults, and [`Builder::start`].

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use raddle_protocol::Points;

use crate::campaign::Campaign;
use crate::error::Error;
use crate::options::{self, Options};
use crate::plan::Plan;
use crate::subject::Subject;

/// What a campaign is to be. Everything but the program has a default.
#[derive(Clone, Debug)]
pub struct Builder {
    command: Vec<OsString>,
    policy: Option<String>,
    options: Options,
}

impl Campaign {
    /// A campaign of this program, which is found as a shell finds it.
    pub fn builder(program: impl Into<OsString>) -> Builder {
        Builder { command: vec![program.into()], policy: None, options: Options::default() }
    }
}

impl Builder {
    /// Adds an argument for the program.
    pub fn argument(mut self, argument: impl Into<OsString>) -> Builder {
        self.command.push(argument.into());
        self
    }

    /// Adds arguments for the program.
    pub fn arguments(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Builder {
        self.command.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Chooses the policy: `NAME[:key=value,…]`.
    pub fn policy(mut self, text: impl Into<String>) -> Builder {
        self.policy = Some(text.into());
        self
    }

    /// Sets the number of runs.
    pub fn runs(mut self, runs: u64) -> Builder {
        self.options.runs = Some(runs);
        self
    }

    /// Sets the seed that all choices come from.
    pub fn seed(mut self, seed: u64) -> Builder {
        (self.options.seed, self.options.seed_given) = (seed, true);
        self
    }

    /// Chooses which operations are schedule points.
    pub fn points(mut self, points: Points) -> Builder {
        self.options.points = Some(points);
        self
    }

    /// Sets how many runs go on at once, each on a core of its own.
    pub fn jobs(mut self, jobs: usize) -> Builder {
        self.options.jobs = jobs;
        self
    }

    /// Stops exploring after this time.
    pub fn time(mut self, time: Duration) -> Builder {
        self.options.time = Some(time);
        self
    }

    /// Goes on after a failure, and counts how often each one happens.
    pub fn keep_going(mut self) -> Builder {
        self.options.keep_going = true;
        self
    }

    /// Sets a variable in the program's environment.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Builder {
        self.options.env.push((name.into(), value.into()));
        self
    }

    /// Sets the directory that the program runs in.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Builder {
        self.options.directory = Some(directory.into());
        self
    }

    /// Sets the folder for the schedules of failures.
    pub fn out(mut self, folder: impl Into<PathBuf>) -> Builder {
        self.options.out = folder.into();
        self
    }

    /// Everything else.
    pub fn options(mut self, change: impl FnOnce(&mut Options)) -> Builder {
        change(&mut self.options);
        self
    }

    /// Looks at the program and plans the campaign. A program with checks is planned for the first of them.
    pub fn plan(mut self) -> Result<Plan, Error> {
        if let Some(text) = &self.policy {
            self.options.policy = Some(options::policy(text, self.options.runtime.as_deref())?);
        }
        let subject = Subject::new(self.command, self.options)?;
        subject.plan_of_test(subject.command.clone(), || false)
    }

    pub fn start(self) -> Result<Campaign, Error> {
        Ok(Campaign::start(self.plan()?)?)
    }
}
