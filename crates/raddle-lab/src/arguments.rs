//! The command line of `raddle-lab`, as clap reads it.

use std::path::PathBuf;

use clap::Parser;
use raddle_cli::arguments::Compare;

/// Makes experiments of the papers on the programs that stand for the papers' own.
#[derive(Parser, Debug)]
#[command(name = "raddle-lab", version, max_term_width = 100)]
pub struct Lab {
    /// The experiments, separated by commas; `list` lists them, `papers`, `ours` and `all` make several, `packages-needed`
    /// prints what `packages` needs
    #[arg(value_name = "NAME,…")]
    pub experiments: String,
    /// Write the tables, ours next to the papers', as a page in Markdown; - is standard output
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// The options of `raddle compare`.
    #[command(flatten)]
    pub compare: Compare,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Lab::command().debug_assert();
        let lab = Lab::try_parse_from(["raddle-lab", "papers", "--seed", "1", "--limit", "2"]).expect("is right");
        assert_eq!((lab.experiments.as_str(), lab.compare.run.seed), ("papers", Some(1)));
    }
}
