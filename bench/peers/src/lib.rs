//! What the peers' measurements share: the line of JSON that each prints.

/// What one peer did within one measurement.
pub struct Rate {
    pub tool: &'static str,
    pub policy: String,
    pub iterations: usize,
    pub seconds: f64,
    /// Scheduling decisions of a run, where the tool tells.
    pub steps_per_run: Option<f64>,
}

impl Rate {
    pub fn print(&self) {
        let Self { tool, policy, iterations, seconds, steps_per_run } = self;
        let (version, rate) = (locked_version(tool), *iterations as f64 / seconds);
        let steps = steps_per_run.map(|steps| format!(r#","steps_per_run":{steps:.2}"#)).unwrap_or_default();
        print!(r#"{{"tool":"{tool}","version":"{version}","policy":"{policy}","iterations":{iterations},"#);
        println!(r#""seconds":{seconds:.6},"runs_per_second":{rate:.1}{steps}}}"#);
    }
}

/// The version of a crate that this package is built with: no environment variable has it.
fn locked_version(name: &str) -> &'static str {
    let package = format!("name = \"{name}\"\nversion = \"");
    let (_, rest) = include_str!("../Cargo.lock").split_once(&package).expect("a dependency");
    rest.split_once('"').expect("a quoted version").0
}
