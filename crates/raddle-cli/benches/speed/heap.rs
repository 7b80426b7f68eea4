//! What holding freed memory back costs.

use super::bench::{cpu_time, Bench};

/// Whole runs whose freed memory is held back, all of them or half, against runs that leave the heap alone, in processor
/// time. Each way is measured next to what it is compared with, and the median of the ratios counts.
pub fn heap(bench: &mut Bench) {
    const TIMES: usize = 9;
    for frees in [0, 50, 100, 500, 1000, 5000, 10_000] {
        // About the same time for each.
        let runs = (200_000 / (100 + frees)).max(60).to_string();
        let bar = if frees <= 100 { "1.10x" } else { "-" };
        let frees = frees.to_string();
        let time = |how: &str| {
            let start = cpu_time();
            bench.raddle(&["--runs", &runs, "--heap", how], "frees", &[&frees]);
            cpu_time() - start
        };
        let [mixed, hold, reuse] = ["mixed", "hold", "reuse"].map(|how| {
            let mut ratios = [0f64; TIMES].map(|_| time(how) / time("off"));
            ratios.sort_by(f64::total_cmp);
            ratios[TIMES / 2]
        });
        bench.row(
            &format!("a run with {frees} frees, freed memory held back in half of the runs"),
            format!("{mixed:.2}x"),
            format!("the heap left alone; {hold:.2}x held back in all, {reuse:.2}x in none"),
            bar,
        );
    }
}
