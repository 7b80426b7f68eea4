//! Policies of a runtime library that was built out of tree.
//!
//! The engine knows the policies that come with raddle. For others it asks the runtime: it
//! starts a harmless program with the runtime preloaded and a variable set that makes the runtime
//! list its policies and end the process before main. The format is that of
//! [`raddle_protocol::policy_list`].

use std::alloc::Layout;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use raddle_core::policy::{Descriptor, Kind, Learns, Parameter, Policy, MAX_PARAMETERS};
use raddle_protocol::block::FD_VARIABLE;
use raddle_protocol::policy_list::{is_name, END, HEADER, VARIABLE};
use raddle_protocol::PolicySettings;

use crate::os::ask::{ask, Answer};
use crate::os::scratch::Scratch;
use crate::runtime::{self, RuntimeError};

const LIMIT: Duration = Duration::from_secs(10);

/// Why it is not known which policies a runtime has.
#[derive(Debug, thiserror::Error)]
pub enum OwnPoliciesError {
    /// The runtime is not there.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// No process could be started.
    #[error("{runtime} cannot be asked for its policies: {source}")]
    NotStarted { runtime: PathBuf, source: io::Error },
    /// The process did not end.
    #[error("{runtime} was asked for its policies and did not answer within {} s", limit.as_secs())]
    Slow {
        runtime: PathBuf,
        /// How long it was given.
        limit: Duration,
    },
    /// The process failed.
    #[error("{runtime} was asked for its policies and ended with {status}: {message}")]
    Failed {
        runtime: PathBuf,
        /// How the process ended.
        status: ExitStatus,
        /// The last of what it wrote to standard error.
        message: String,
    },
    /// The process did something else: the runtime was not loaded, or does not know the question.
    #[error(
        "{runtime} does not say which policies it has ({message}); is it a runtime library of the same release as \
         this program?"
    )]
    Silent {
        runtime: PathBuf,
        /// The last of what it wrote to standard error.
        message: String,
    },
    /// The answer is wrong.
    #[error(
        "{runtime} lists its policies in a way that this program cannot read ({problem}); build it from the sources \
         of the same release"
    )]
    Malformed {
        runtime: PathBuf,
        /// Where and how.
        problem: Malformed,
    },
}

/// What is wrong with a list of policies.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: expected {expected}")]
pub struct Malformed {
    /// The line, counted from 1.
    pub line: usize,
    /// What would do.
    pub expected: &'static str,
}

/// The policies of the runtime that the user has named by the option or the variable; `None` when
/// the user has named none.
pub fn of_named_runtime(option: Option<&Path>) -> Result<Option<&'static [Descriptor]>, OwnPoliciesError> {
    runtime::named(option)?.map(|runtime| list(&runtime)).transpose()
}

/// The policies of a runtime library, its own ones first.
fn list(runtime: &Path) -> Result<&'static [Descriptor], OwnPoliciesError> {
    let runtime = runtime.to_path_buf();
    let answer = match question(&runtime) {
        Ok(answer) => answer,
        Err(source) => return Err(OwnPoliciesError::NotStarted { runtime, source }),
    };
    match answer.status {
        None => return Err(OwnPoliciesError::Slow { runtime, limit: LIMIT }),
        Some(status) if !status.success() => {
            return Err(OwnPoliciesError::Failed { runtime, status, message: answer.message() });
        }
        Some(_) if answer.output.lines().next() != Some(HEADER) => {
            return Err(OwnPoliciesError::Silent { runtime, message: answer.message() });
        }
        Some(_) => {}
    }
    match parse(&answer.output) {
        Ok(policies) => Ok(policies.leak()),
        Err(problem) => Err(OwnPoliciesError::Malformed { runtime, problem }),
    }
}

fn question(runtime: &Path) -> io::Result<Answer> {
    let scratch = Scratch::new()?;
    // What is asked is answered before main; a runtime that does not know the question lets the program do nothing.
    let mut command = Command::new("/bin/true");
    command.env_remove(FD_VARIABLE);
    command.env("LD_PRELOAD", scratch.preloadable(runtime)?).env(VARIABLE, "1");
    ask(&mut command, LIMIT)
}

/// Reads a list. Of several policies with one name the first is kept, as in the runtime.
fn parse(text: &str) -> Result<Vec<Descriptor>, Malformed> {
    let mut lines = text.lines().zip(1..);
    let last = text.lines().count().max(1);
    if lines.next().map(|(line, _)| line) != Some(HEADER) {
        return Err(Malformed { line: 1, expected: "the first line of a list of policies" });
    }
    let mut listed: Vec<(Descriptor, Vec<Parameter>)> = Vec::new();
    for (text, line) in lines {
        let wrong = |expected| Malformed { line, expected };
        let fields: Vec<_> = text.split('\t').collect();
        match (fields.as_slice(), listed.last_mut()) {
            ([END], _) if line == last => return Ok(finish(listed)),
            (["policy", fields @ ..], _) => listed.push((policy(fields).map_err(wrong)?, Vec::new())),
            (["parameter", fields @ ..], Some((_, parameters))) if parameters.len() < MAX_PARAMETERS => {
                parameters.push(parameter(fields).map_err(wrong)?);
            }
            (["parameter", ..], Some(_)) => return Err(wrong("16 parameters at most")),
            _ => return Err(wrong("a policy, a parameter or the end")),
        }
    }
    Err(Malformed { line: last + 1, expected: "the end of the list" })
}

fn policy(fields: &[&str]) -> Result<Descriptor, &'static str> {
    let &[name, kind, learns, summary, source] = fields else {
        return Err("five fields of a policy");
    };
    let kind = Kind::ALL.into_iter().find(|k| k.name() == kind).ok_or("a kind of policy in the second field")?;
    let learns = Learns::ALL.into_iter().find(|l| l.name() == learns);
    let learns = learns.ok_or("what the policy learns in the third field")?;
    Ok(Descriptor { kind, learns, summary: leak(summary), source: leak(source), ..named(checked(name)?) })
}

fn parameter(fields: &[&str]) -> Result<Parameter, &'static str> {
    let &[name, default, min, max, whole, choices, help] = fields else {
        return Err("seven fields of a parameter");
    };
    let number = |text: &str| text.parse::<f64>().map_err(|_| "a number as default, min and max");
    let (default, min, max) = (number(default)?, number(min)?, number(max)?);
    let whole = whole.parse().map_err(|_| "true or false in the fifth field")?;
    if !(min <= default && default <= max) {
        return Err("a default from min to max");
    }
    let choices = choices.split('|').filter(|choice| !choice.is_empty());
    let choices = choices.map(|choice| checked(choice).map(leak)).collect::<Result<Vec<_>, _>>()?.leak();
    Ok(Parameter { name: leak(checked(name)?), help: leak(help), default, min, max, whole, choices })
}

fn checked(name: &str) -> Result<&str, &'static str> {
    if is_name(name) {
        return Ok(name);
    }
    Err("a name of 1 to 31 letters, digits, `-`, `_` and `.`")
}

fn finish(listed: Vec<(Descriptor, Vec<Parameter>)>) -> Vec<Descriptor> {
    let mut policies: Vec<Descriptor> = Vec::new();
    for (policy, parameters) in listed {
        if !policies.iter().any(|known| known.name == policy.name) {
            policies.push(Descriptor { parameters: parameters.leak(), ..policy });
        }
    }
    policies
}

/// The policy of a schedule file, of which no more is known than what the file says.
pub fn recorded(policy: &PolicySettings) -> &'static Descriptor {
    let parameter = |(name, _): (&str, f64)| Parameter {
        name: leak(name),
        help: "",
        // Whatever the value is, it is shown.
        default: f64::NAN,
        min: f64::NEG_INFINITY,
        max: f64::INFINITY,
        whole: false,
        choices: &[],
    };
    let parameters: Vec<_> = policy.parameters().map(parameter).collect();
    Box::leak(Box::new(Descriptor { parameters: parameters.leak(), ..named(policy.name.as_str()) }))
}

/// A policy that exists elsewhere.
fn named(name: &str) -> Descriptor {
    Descriptor {
        name: leak(name),
        summary: "",
        source: "",
        parameters: &[],
        kind: Kind::Sampling,
        learns: Learns::Nothing,
        layout: Layout::new::<()>(),
        build: elsewhere,
    }
}

/// invariant: only the runtime builds policies, and from its own descriptors.
unsafe fn elsewhere(_: *mut u8) -> *mut dyn Policy {
    unreachable!("a policy of a runtime is built by that runtime")
}

/// A command reads one list, which is used until it ends.
fn leak(text: &str) -> &'static str {
    Box::leak(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::policy_choice::PolicyChoice;
    use raddle_core::policies;
    use raddle_protocol::policy_list;

    const LIST: &str = "raddle policies\t2\n\
        policy\tsticky\tsampling\tsteps\tstays\tan example\n\
        parameter\tstay\t0.9\t0\t1\tfalse\t\tthe probability\n\
        parameter\thow\t1\t0\t2\ttrue\tnever|often|always\thow\n\
        policy\trandom\tsampling\tnothing\ta random walk\tfolklore\n\
        policy\tsticky\tparallel\tnothing\tthe second of its name\tanother\n\
        end\n";

    fn error(text: &str) -> (usize, &'static str) {
        let Malformed { line, expected } = parse(text).err().expect("is wrong");
        (line, expected)
    }

    #[test]
    fn what_a_runtime_writes_is_read() {
        let mut text = String::new();
        policy_list::write(&mut text, policies::ALL.iter()).expect("a string takes all");
        let read = parse(&text).expect("is right");
        let mut again = String::new();
        policy_list::write(&mut again, read.iter()).expect("a string takes all");
        assert_eq!(again, text);
    }

    #[test]
    fn own_policies_are_chosen_and_suggested() {
        let all = parse(LIST).expect("is right").leak();
        assert_eq!(all.iter().map(|policy| policy.name).collect::<Vec<_>>(), ["sticky", "random"]);
        assert!(all[0].learns == Learns::Steps && all[0].summary == "stays" && all[0].source == "an example");
        let choose = |text| PolicyChoice::parse_among(text, all);
        assert_eq!(choose("sticky").expect("is right").to_string(), "sticky:stay=0.9");
        assert_eq!(choose("sticky:stay=0.5,how=never").expect("is right").to_string(), "sticky:stay=0.5,how=never");
        let wrong = choose("sticky:how=seldom").expect_err("is wrong").to_string();
        assert!(wrong.contains("expected never, often or always"), "{wrong}");
        assert!(choose("sticky:stay=2").expect_err("is wrong").to_string().contains("a number from 0 to 1"));
        assert!(choose("stiky").expect_err("is wrong").to_string().contains("did you mean `sticky`?"));
    }

    #[test]
    fn a_list_must_be_whole() {
        assert_eq!(error("").0, 1);
        assert_eq!(error("raddle 0.1.0\n").0, 1);
        assert_eq!(error("raddle policies\t2\n"), (2, "the end of the list"));
        for (end, _) in LIST.char_indices().filter(|(end, _)| *end < LIST.len() - "\n".len()) {
            assert!(parse(&LIST[..end]).is_err(), "{:?}", &LIST[..end]);
        }
        assert_eq!(error(&format!("{LIST}policy\ta\tsampling\tsteps\t\t\n")).1, "a policy, a parameter or the end");
    }

    #[test]
    fn garbage_is_refused_where_it_is() {
        let line = |line: &str| error(&format!("raddle policies\t2\npolicy\tp\tsampling\tsteps\t\t\n{line}\nend\n"));
        assert_eq!(line(""), (3, "a policy, a parameter or the end"));
        assert_eq!(line("\u{fffd}\0\u{1b}[31m"), (3, "a policy, a parameter or the end"));
        assert_eq!(line("policy\tp\tsampling"), (3, "five fields of a policy"));
        assert_eq!(line("policy\tp\tyes\tsteps\t\t"), (3, "a kind of policy in the second field"));
        assert_eq!(
            line("policy\ttwo words\tsampling\tsteps\t\t").1,
            "a name of 1 to 31 letters, digits, `-`, `_` and `.`"
        );
        assert_eq!(line("parameter\tx\t1\t0\t2\ttrue"), (3, "seven fields of a parameter"));
        assert_eq!(line("parameter\tx\tone\t0\t2\ttrue\t\t"), (3, "a number as default, min and max"));
        assert_eq!(line("parameter\tx\tNaN\t0\t2\ttrue\t\t"), (3, "a default from min to max"));
        assert_eq!(line("parameter\tx\t1\t0\t2\t1\t\t"), (3, "true or false in the fifth field"));
        let many = vec!["parameter\tx\t1\t0\t2\ttrue\t\t"; MAX_PARAMETERS + 1].join("\n");
        assert_eq!(line(&many), (3 + MAX_PARAMETERS, "16 parameters at most"));
        let first = error("raddle policies\t2\nparameter\tx\t1\t0\t2\ttrue\t\t\nend\n");
        assert_eq!(first, (2, "a policy, a parameter or the end"));
    }

    #[test]
    fn a_recorded_policy_needs_no_runtime() {
        let recorded = PolicySettings::new("sticky", [("stay", 0.25), ("other", -1.0)]);
        let choice = PolicyChoice::from_recording(&recorded).expect("is taken at its word");
        assert_eq!(choice.to_string(), "sticky:stay=0.25,other=-1");
    }
}
