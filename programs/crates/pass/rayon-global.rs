// pass: rayon's global pool, as large as the machine: its threads are never joined and outlive main
// uncontrolled: uncontended locks are not schedule points

use rayon::prelude::*;

fn main() {
    let mut words = vec!["weft", "warp", "raddle", "heddle", "shuttle", "reed"];
    let lengths: Vec<usize> = words.par_iter().map(|word| word.len()).collect();
    assert_eq!(lengths, [4, 4, 6, 6, 7, 4]); // In order, whoever did the work.
    words.par_sort();
    assert_eq!(
        words,
        ["heddle", "raddle", "reed", "shuttle", "warp", "weft"]
    );
    let (longest, count) = rayon::join(
        || words.par_iter().map(|word| word.len()).max(),
        || words.len(),
    );
    assert_eq!((longest, count), (Some(7), 6));
}
