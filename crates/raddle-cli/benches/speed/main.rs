//! `make bench`: what control costs, as ratios within one run, because machines are shared and noisy.
//!
//! Every figure is the best of several measurements, interleaved with what it is compared with.

mod bench;
mod decisions;
mod heap;
mod memory;
mod parallel;
mod points;
mod runs;

use std::fs;

use comfy_table::{presets, Table};

use bench::{pin, Bench};
use decisions::decisions;
use heap::heap;
use memory::{accesses, deque, memory};
use parallel::parallel;
use points::{points, switches};
use runs::{cores, in_process, whole_runs};

fn main() {
    pin();
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(["what", "measured", "against", "bar"]);
    let mut bench = Bench { folder: tempfile::tempdir().expect("a folder"), table };
    // `cargo bench --bench speed -- in_process cores` measures these only.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    type Section = (&'static str, fn(&mut Bench));
    let sections: [Section; 11] = [
        ("whole_runs", whole_runs),
        ("heap", heap),
        ("in_process", in_process),
        ("cores", cores),
        ("points", points),
        ("switches", switches),
        ("memory", memory),
        ("accesses", accesses),
        ("deque", deque),
        ("decisions", decisions),
        ("parallel", parallel),
    ];
    for (name, measure) in sections {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            measure(&mut bench);
        }
    }
    println!("{}", bench.table);
    println!("{}", machine());
}

fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = cpu.lines().filter(|line| line.starts_with("processor")).count();
    format!("{}, {cores} cores, Linux {}", model.trim_start_matches([' ', '\t', ':']), kernel.trim())
}
