//! The command line of `cargo raddle`, as clap reads it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};

use super::TestOptions;
use crate::compile::rustc::Visible;

/// Explores schedules of a cargo project's tests and programs, with their atomics or all of their memory visible.
#[derive(Parser, Debug)]
#[command(name = "cargo raddle", bin_name = "cargo raddle", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The command line; what `raddle test` has and makes no sense here is not shown.
pub fn command() -> clap::Command {
    Cli::command().mut_subcommand("test", |test| {
        test.mut_arg("each_test", |argument| argument.hide(true)).mut_arg("jobs", |argument| {
            argument.help("Explore N tests at once, each on a core of its own [default: 1]")
        })
    })
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Explore schedules of each #[test]
    Test(Box<Test>),
    /// Explore schedules of a program
    Run(Box<Run>),
    /// Build so that `raddle test` sees what the program does
    Build(Box<Build>),
}

/// `cargo raddle test`.
#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
pub struct Test {
    /// What is visible.
    #[command(flatten)]
    pub visibility: Visibility,
    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Continue with the next test executable after one with failures
    #[arg(long)]
    pub no_fail_fast: bool,
    /// The options of `raddle test`.
    #[command(flatten)]
    pub options: TestOptions,
    /// Which packages, and how they are built.
    #[command(flatten)]
    pub packages: Packages,
    /// Which targets of them.
    #[command(flatten)]
    pub targets: Targets,
    /// Only tests with one of these in their names
    #[arg(value_name = "FILTERS")]
    pub filters: Vec<String>,
    /// Options of the test harness: --exact, --skip NAME, --ignored, --include-ignored, --list
    #[arg(last = true, value_name = "HARNESS OPTIONS")]
    pub harness: Vec<OsString>,
}

/// `cargo raddle run`.
#[derive(Args, Debug)]
#[command(allow_negative_numbers = true)]
pub struct Run {
    /// What is visible.
    #[command(flatten)]
    pub visibility: Visibility,
    /// The options of `raddle test`.
    #[command(flatten)]
    pub options: TestOptions,
    /// Report what would and would not be controlled, without running anything
    #[arg(long)]
    pub dry_run: bool,
    /// Which package, and how it is built.
    #[command(flatten)]
    pub packages: Packages,
    /// The binary
    #[arg(long, value_name = "NAME", help_heading = CARGO)]
    pub bin: Option<String>,
    /// The example
    #[arg(long, value_name = "NAME", help_heading = CARGO)]
    pub example: Option<String>,
    /// The program's arguments
    #[arg(last = true, value_name = "ARGS")]
    pub arguments: Vec<OsString>,
}

/// `cargo raddle build`.
#[derive(Args, Debug)]
pub struct Build {
    /// What is visible.
    #[command(flatten)]
    pub visibility: Visibility,
    /// Print nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Print more
    #[arg(long, short)]
    pub verbose: bool,
    /// Which packages, and how they are built.
    #[command(flatten)]
    pub packages: Packages,
    /// Which targets of them.
    #[command(flatten)]
    pub targets: Targets,
}

/// What the compiler makes visible.
#[derive(Args, Debug, Clone)]
pub struct Visibility {
    /// Make every memory access visible, not only atomics
    #[arg(long)]
    pub memory: bool,
    /// Make the standard library's code visible too, by compiling it (needs the component rust-src)
    #[arg(long)]
    pub std: bool,
}

impl Visibility {
    /// What is to be visible, for these options.
    pub fn visible(&self, options: &TestOptions) -> Visible {
        let needed = matches!(options.run.points.as_deref(), Some("memory" | "race")) || options.fail_on.is_some();
        Visible { memory: self.memory || needed, std: self.std }
    }
}

/// The heading of what cargo understands.
const CARGO: &str = "Options of cargo";

/// Options of cargo that choose packages and say how to build them.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = CARGO)]
pub struct Packages {
    /// Only these packages
    #[arg(long, short, value_name = "SPEC")]
    pub package: Vec<String>,
    /// All packages of the workspace
    #[arg(long)]
    pub workspace: bool,
    /// Not these packages
    #[arg(long, value_name = "SPEC")]
    pub exclude: Vec<String>,
    /// Features to switch on
    #[arg(long, short = 'F', value_name = "FEATURES")]
    pub features: Vec<String>,
    /// Switch all features on
    #[arg(long)]
    pub all_features: bool,
    /// Switch the default features off
    #[arg(long)]
    pub no_default_features: bool,
    /// Optimise
    #[arg(long, short)]
    pub release: bool,
    /// The profile to build with
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// How many jobs build
    #[arg(short = 'j', value_name = "N")]
    pub build_jobs: Option<String>,
    /// The target to build for
    #[arg(long, value_name = "TRIPLE")]
    pub target: Option<String>,
    /// The target directory; what is built goes to raddle/ in it
    #[arg(long, value_name = "DIR")]
    pub target_dir: Option<PathBuf>,
    /// The manifest
    #[arg(long, value_name = "FILE")]
    pub manifest_path: Option<PathBuf>,
    /// Do not use the network
    #[arg(long)]
    pub offline: bool,
    /// Do not change Cargo.lock
    #[arg(long)]
    pub locked: bool,
    /// As --locked and --offline
    #[arg(long)]
    pub frozen: bool,
    /// Override a value of cargo's configuration
    #[arg(long, value_name = "KEY=VALUE")]
    pub config: Vec<OsString>,
}

impl Packages {
    /// What the commands that read a manifest understand.
    pub fn for_manifest(&self) -> Words {
        let mut words = Words::default();
        words.value("--manifest-path", &self.manifest_path);
        words.flag("--offline", self.offline).flag("--locked", self.locked).flag("--frozen", self.frozen);
        words.values("--config", &self.config);
        words
    }

    /// What the commands that build understand, but for where and for what it is built.
    pub fn for_build(&self) -> Words {
        let mut words = self.for_manifest();
        words
            .values("--package", &self.package)
            .values("--exclude", &self.exclude)
            .values("--features", &self.features);
        words.flag("--workspace", self.workspace).flag("--all-features", self.all_features);
        words.flag("--no-default-features", self.no_default_features).flag("--release", self.release);
        words.value("--profile", &self.profile).value("--jobs", &self.build_jobs);
        words
    }
}

/// Options of cargo that choose targets.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = CARGO)]
pub struct Targets {
    /// The library
    #[arg(long)]
    pub lib: bool,
    /// These binaries
    #[arg(long, value_name = "NAME")]
    pub bin: Vec<String>,
    /// All binaries
    #[arg(long)]
    pub bins: bool,
    /// These integration tests
    #[arg(long, value_name = "NAME")]
    pub test: Vec<String>,
    /// All targets with tests
    #[arg(long)]
    pub tests: bool,
    /// These examples
    #[arg(long, value_name = "NAME")]
    pub example: Vec<String>,
    /// All examples
    #[arg(long)]
    pub examples: bool,
    /// These benchmarks
    #[arg(long, value_name = "NAME")]
    pub bench: Vec<String>,
    /// All benchmarks
    #[arg(long)]
    pub benches: bool,
    /// All targets
    #[arg(long)]
    pub all_targets: bool,
}

impl Targets {
    /// As cargo reads them.
    pub fn words(&self) -> Words {
        let mut words = Words::default();
        words.flag("--lib", self.lib).flag("--bins", self.bins).flag("--tests", self.tests);
        words.flag("--examples", self.examples).flag("--benches", self.benches).flag("--all-targets", self.all_targets);
        words.values("--bin", &self.bin).values("--test", &self.test);
        words.values("--example", &self.example).values("--bench", &self.bench);
        words
    }
}

/// Words of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(pub Vec<OsString>);

impl Words {
    /// Adds an option without a value.
    pub fn flag(&mut self, name: &str, given: bool) -> &mut Words {
        if given {
            self.0.push(name.into());
        }
        self
    }

    /// Adds an option for each value.
    pub fn values<'a, T: Into<OsString> + Clone + 'a>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = &'a T>,
    ) -> &mut Words {
        for value in values {
            self.0.extend([name.into(), value.clone().into()]);
        }
        self
    }

    /// Adds an option that was given, perhaps.
    pub fn value<T: Into<OsString> + Clone>(&mut self, name: &str, value: &Option<T>) -> &mut Words {
        self.values(name, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;

    fn test(words: &[&str]) -> Test {
        let matches = command().try_get_matches_from([&["cargo-raddle", "test"], words].concat()).expect("is right");
        match Cli::from_arg_matches(&matches).expect("is right").command {
            Command::Test(test) => *test,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn both_sides_of_the_dashes() {
        let test = test(&["--runs", "5", "bank", "-p", "a", "transfer", "-j2", "--jobs", "3", "--", "--skip", "slow"]);
        assert_eq!(test.filters, ["bank", "transfer"]);
        assert_eq!(test.harness, ["--skip", "slow"]);
        assert_eq!((test.options.runs, test.options.run.jobs), (Some(5), Some(3)));
        assert_eq!(test.packages.for_build().0, ["--package", "a", "--jobs", "2"]);
    }

    #[test]
    fn points_at_memory_need_visible_memory() {
        let visible = |words: &[&str]| {
            let test = test(words);
            test.visibility.visible(&test.options).name()
        };
        assert_eq!(visible(&[]), "atomics");
        assert_eq!(visible(&["--points", "race"]), "memory");
        assert_eq!(visible(&["--memory", "--std"]), "memory-std");
    }

    #[test]
    fn help() {
        let mut command = command();
        command.build();
        let build = command.find_subcommand_mut("build").expect("a command");
        insta::assert_snapshot!(build.clone().term_width(100).render_help().to_string());
    }
}
