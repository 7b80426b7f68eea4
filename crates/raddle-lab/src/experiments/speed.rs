//! NeedlePoint, section 7.2: what PCT and PPCT cost on programs that compute between their points, on all cores and
//! on one, and what the points alone cost.
//!
//! The programs are the kernels in `programs/parallel`, with eight workers. Times are those of an average run, in which
//! each thread is the low one about equally often, the best of several campaigns that take turns with what they are
//! compared with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use raddle_protocol::Points;

use super::compile::compile;
use super::{Experiment, Shown, ALONE};
use raddle_cli::arguments;
use raddle_cli::commands::compare::Setup;
use raddle_cli::compare::Candidate;
use raddle_cli::error::Error;
use raddle_engine::os::sys;

/// The folder of the kernels, seen from where the experiment is made, as the suite of bugs is.
const KERNELS: &str = "programs/parallel";

/// Workers of each kernel.
const WORKERS: u64 = 8;

/// Campaigns of which the best counts.
const REPETITIONS: usize = 3;

/// A kernel: its name, its arguments after the number of workers, and its threads beside these.
struct Kernel {
    name: &'static str,
    arguments: &'static [&'static str],
    others: u64,
}

const ALL: [Kernel; 6] = [
    Kernel { name: "fork-join", arguments: &["1000000", "4"], others: 1 },
    Kernel { name: "barrier", arguments: &["1000000", "4"], others: 1 },
    Kernel { name: "pipeline", arguments: &["300000", "12"], others: 2 },
    Kernel { name: "stencil", arguments: &["512", "200"], others: 1 },
    Kernel { name: "create-join", arguments: &["4000000"], others: 1 },
    Kernel { name: "stages", arguments: &["300000", "12"], others: 2 },
];

/// What all experiments here have in common.
const COMMON: Experiment = Experiment { policies: &["pct", "ppct", "stress"], runs: 20, bare: true, ..ALONE };

pub const FIGURE_7: Experiment = Experiment {
    name: "needlepoint-7",
    title: "NeedlePoint, figure 7: time of a run under PCT and PPCT, as multiples of the bare program's",
    alone: Some(slowdown),
    ..COMMON
};

pub const FIGURE_8: Experiment = Experiment {
    name: "needlepoint-8",
    title: "NeedlePoint, figure 8: speed of PPCT over PCT with depths 1 to 4",
    alone: Some(depths),
    ..COMMON
};

/// Section 7.2.
pub const OVERHEAD: Experiment = Experiment {
    name: "needlepoint-overhead",
    title: "NeedlePoint, section 7.2: what points cost at which nothing is decided",
    alone: Some(overhead),
    ..COMMON
};

impl Kernel {
    fn threads(&self) -> u64 {
        WORKERS + self.others
    }

    fn compile(&self, folder: &Path, compiler: &[OsString], suffix: &str) -> Result<PathBuf, Error> {
        let source = Path::new(KERNELS).join(format!("{}.c", self.name));
        let binary = folder.join(format!("kernel-{}{suffix}", self.name));
        compile(compiler, &["-O2"], &source, &binary)
    }

    fn command(&self, binary: &Path) -> Vec<OsString> {
        let words = self.arguments.iter().map(OsString::from);
        [binary.as_os_str().to_owned(), WORKERS.to_string().into()].into_iter().chain(words).collect()
    }
}

/// A kernel that was compiled, and how to measure it.
struct Measured<'a> {
    kernel: &'a Kernel,
    binary: PathBuf,
    args: &'a arguments::Compare,
    setup: &'a Setup,
}

impl Measured<'_> {
    /// Seconds of an average run under a policy.
    fn under(&self, policy: &str, points: Option<Points>, runs: u64) -> Result<f64, Error> {
        let mut setup = self.setup.with(&[policy.to_string()], runs).afresh();
        setup.options.jobs = 1;
        setup.options.max_steps = Some(raddle_schedule::MAX_DECISIONS);
        setup.quiet = true;
        let command = self.kernel.command(&self.binary);
        let candidate = Candidate { points, ..Candidate::new(self.kernel.name.to_string(), command) };
        let comparison = setup.compare(self.args, &[candidate], Vec::new())?;
        let failed = |reason: &str| Error::NotCompared { program: self.kernel.name.into(), reason: reason.into() };
        if let Some(skipped) = comparison.skipped.first() {
            return Err(failed(&skipped.reason));
        }
        let cell = comparison.programs.first().and_then(|program| program.cells.first());
        let cell = cell.filter(|cell| cell.runs > 0).ok_or_else(|| failed("there was no run"))?;
        if cell.failing_runs > 0 {
            return Err(failed(&format!("a correct program failed under {policy}: {:?}", cell.kinds)));
        }
        Ok(1.0 / cell.runs_per_second)
    }

    /// Each thread is the low one twice.
    fn run(&self, policy: &str) -> Result<f64, Error> {
        self.under(policy, None, 2 * self.kernel.threads())
    }

    /// Seconds of the bare program.
    fn bare(&self) -> Result<f64, Error> {
        let words = self.kernel.command(&self.binary);
        let failed = |reason: String| Error::NotCompared { program: self.kernel.name.into(), reason };
        let start = Instant::now();
        let status = Command::new(&words[0]).args(&words[1..]).status();
        match status {
            Ok(status) if status.success() => Ok(start.elapsed().as_secs_f64()),
            Ok(status) => Err(failed(status.to_string())),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

type Times<'a> = [&'a dyn Fn() -> Result<f64, Error>; 5];

/// The best of several measurements, which take turns.
fn best(measures: Times<'_>) -> Result<[f64; 5], Error> {
    let mut best = [f64::MAX; 5];
    for _ in 0..REPETITIONS {
        for (best, measure) in best.iter_mut().zip(measures) {
            *best = best.min(measure()?);
        }
    }
    Ok(best)
}

/// Calls a function for each kernel, compiled as usual.
fn each(
    args: &arguments::Compare,
    setup: &Setup,
    mut visit: impl FnMut(&Measured<'_>) -> Result<Vec<String>, Error>,
) -> Result<Vec<Vec<String>>, Error> {
    let folder = setup.build_folder()?;
    let mut rows = Vec::new();
    for kernel in &ALL {
        if args.only.as_ref().is_some_and(|only| !kernel.name.contains(only.as_str())) {
            continue;
        }
        if !setup.quiet {
            eprintln!("{}", kernel.name);
        }
        let binary = kernel.compile(&folder, &["gcc".into()], "")?;
        rows.push(visit(&Measured { kernel, binary, args, setup })?);
    }
    Ok(rows)
}

/// Does something on one core only.
fn on_one_core<T>(what: impl FnOnce() -> T) -> Result<T, Error> {
    let cores = sys::cores_from_here();
    sys::pin_to(&cores[..1]).map_err(cores_cannot_be_chosen)?;
    let result = what();
    sys::pin_to(&cores).map_err(cores_cannot_be_chosen)?;
    Ok(result)
}

fn text(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

fn times(ratio: f64) -> String {
    format!("{ratio:.2}x")
}

/// The mean of ratios.
fn mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp()
}

fn cores_cannot_be_chosen(error: std::io::Error) -> Error {
    anyhow::anyhow!("cannot choose the cores to run on: {error}").into()
}

fn cores_remark() -> String {
    format!(
        "measured on {} cores with {WORKERS} workers; the paper has eight cores and the Parsec programs, of which many \
         wait busily",
        sys::allowed_cores().len()
    )
}

fn slowdown(args: &arguments::Compare, setup: &Setup) -> Result<Shown, Error> {
    let mut ratios: [Vec<f64>; 4] = Default::default();
    let mut rows = vec![text(&["kernel", "bare", "pct", "ppct on one core", "ppct", "stress"])];
    rows.extend(each(args, setup, |m| {
        let ppct = format!("ppct:d=1,n={}", m.kernel.threads());
        let [bare, others @ ..] =
            best([&|| m.bare(), &|| m.run("pct:d=1"), &|| on_one_core(|| m.run(&ppct))?, &|| m.run(&ppct), &|| {
                m.run("stress")
            }])?;
        ratios.iter_mut().zip(others).for_each(|(ratios, seconds)| ratios.push(seconds / bare));
        let cells = others.iter().map(|seconds| times(seconds / bare));
        Ok([m.kernel.name.to_string(), format!("{:.1} ms", 1e3 * bare)].into_iter().chain(cells).collect())
    })?);
    let paper = ["34x", "11x", "6x", "–"];
    let means = ratios.iter().zip(paper).map(|(ratios, paper)| format!("{} / {paper}", times(mean(ratios))));
    rows.push(text(&["mean: ours / the paper's", ""]).into_iter().chain(means).collect());
    let remarks = vec![
        cores_remark(),
        "depth 1, without the starvation guard; `stress` has the points but decides nothing".to_string(),
        "the paper's PCT loses most in programs that wait busily, and it finds blocked threads by waiting for them; \
         here blocking is modelled, so PCT costs what one core costs"
            .to_string(),
        "in `create-join` and `stages` the low thread holds others up, whatever the scheduler does: a main thread that \
         creates the others one by one, a stage before which items pile up and behind which stages wait"
            .to_string(),
    ];
    Ok(Shown { title: FIGURE_7.title, rows, remarks })
}

/// What more cores would give: Amdahl's law with the serial share that these cores show.
fn modelled(speed: f64, measured_on: f64, cores: f64) -> f64 {
    if measured_on < 2.0 {
        return 1.0;
    }
    let serial = ((measured_on / speed - 1.0) / (measured_on - 1.0)).clamp(0.0, 1.0);
    1.0 / (serial + (1.0 - serial) / cores)
}

fn depths(args: &arguments::Compare, setup: &Setup) -> Result<Shown, Error> {
    let cores = sys::allowed_cores().len() as f64;
    let mut ratios: [Vec<f64>; 4] = Default::default();
    let mut rows = vec![text(&["kernel", "d=1", "d=2", "d=3", "d=4", "one core, d=1"])];
    rows.extend(each(args, setup, |m| {
        let mut cells = vec![m.kernel.name.to_string()];
        let ppct = |depth: usize| format!("ppct:d={depth},n={}", m.kernel.threads());
        for depth in 1..=4 {
            let none = || Ok(0.0);
            let pct = format!("pct:d={depth}");
            let [serial, parallel, ..] = best([&|| m.run(&pct), &|| m.run(&ppct(depth)), &none, &none, &none])?;
            ratios[depth - 1].push(serial / parallel);
            cells.push(times(serial / parallel));
        }
        let none = || Ok(0.0);
        let one = || on_one_core(|| m.run(&ppct(1)))?;
        let [serial, parallel, ..] = best([&|| m.run("pct:d=1"), &one, &none, &none, &none])?;
        cells.push(times(serial / parallel));
        Ok(cells)
    })?);
    let paper = ["439%", "353%", "278%", "168%"];
    let means = ratios.iter().zip(paper).map(|(ratios, paper)| format!("{} / {paper}", times(mean(ratios))));
    rows.push(text(&["mean: ours / the paper's"]).into_iter().chain(means).chain(text(&["–"])).collect());
    for more in [8.0, 64.0] {
        let cells = ratios.iter().map(|ratios| times(modelled(mean(ratios), cores, more)));
        let name = format!("a model, not measured: {more} cores");
        rows.push(std::iter::once(name).chain(cells).chain(text(&["–"])).collect());
    }
    let remarks = vec![
        cores_remark(),
        "the model is Amdahl's law with the serial share that follows from the mean above; the paper's figures are of \
         eight cores"
            .to_string(),
        "at depth 1 one of W equal workers runs alone while the others have been in parallel on two cores: at most \
         2W/(W+1) times PCT's speed, 1.78 for eight"
            .to_string(),
    ];
    Ok(Shown { title: FIGURE_8.title, rows, remarks })
}

/// With a point at each access of the stencil a run takes minutes.
fn fewer(kernel: &Kernel) -> &'static [&'static str] {
    match kernel.name {
        "stencil" => &["256", "20"],
        _ => kernel.arguments,
    }
}

fn overhead(args: &arguments::Compare, setup: &Setup) -> Result<Shown, Error> {
    /// Few: a point at each access takes its time.
    const RUNS: u64 = 4;
    let folder = setup.build_folder()?;
    let raddle = std::env::current_exe().map_err(Error::Directory)?;
    let visible: [OsString; 3] = [raddle.into_os_string(), "cc".into(), "gcc".into()];
    let header =
        ["kernel", "bare", "hooks, without raddle", "points at synchronization", "at atomics, too", "at every access"];
    let mut rows = vec![text(&header)];
    rows.extend(each(args, setup, |m| {
        let kernel = Kernel { arguments: fewer(m.kernel), ..*m.kernel };
        let m = &Measured { kernel: &kernel, binary: m.binary.clone(), ..*m };
        let hooks = Measured { binary: m.kernel.compile(&folder, &visible, "-hooks")?, ..*m };
        let points = |level: Points| hooks.under("stress", Some(level), RUNS);
        let [bare, others @ ..] = best([
            &|| m.bare(),
            &|| hooks.bare(),
            &|| m.under("stress", None, RUNS),
            &|| points(Points::Atomic),
            &|| points(Points::Memory),
        ])?;
        let cells = others.iter().map(|seconds| times(seconds / bare));
        Ok([m.kernel.name.to_string(), format!("{:.1} ms", 1e3 * bare)].into_iter().chain(cells).collect())
    })?);
    rows.push(text(&["the paper, mean", "", "–", "2x", "2x", "10x"]));
    let remarks = vec![
        cores_remark(),
        "under `stress`: a thread that comes to a point takes the gate's lock, is recorded, and goes on".to_string(),
        "the paper's points are put in by Pin, and cost 2x at synchronization and 5x more at every access, recording \
         nothing. Only `stencil` does much with memory here: its threads meet at the gate at every access, which costs \
         more than the hooks; the other kernels compute in registers"
            .to_string(),
    ];
    Ok(Shown { title: OVERHEAD.title, rows, remarks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_gives_back_what_was_measured() {
        assert!((modelled(1.6, 2.0, 2.0) - 1.6).abs() < 1e-12);
        // A quarter is serial.
        assert!((modelled(1.6, 2.0, 8.0) - 1.0 / (0.25 + 0.75 / 8.0)).abs() < 1e-12);
        assert_eq!(modelled(2.5, 2.0, 64.0), 64.0);
        assert_eq!(modelled(0.9, 1.0, 64.0), 1.0);
    }

    #[test]
    fn the_mean_of_ratios() {
        assert!((mean(&[2.0, 0.5]) - 1.0).abs() < 1e-12);
    }
}
